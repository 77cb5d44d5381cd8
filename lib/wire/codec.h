/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Fields of a message, one function for both directions: each call writes the value when encoding
 * and replaces it when decoding. So one description of a message serves both, and they
 * cannot disagree. The first failure sticks in `error`, and everything after it does nothing.
 *
 * Numbers are little endian at full width; strings and blobs are a u32 length and bytes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Codec {
        uint8_t *out;      /* encoding; NULL when decoding */
        const uint8_t *in; /* decoding */
        size_t size;
        size_t at;
        int error; /* -EMSGSIZE and -EINVAL when encoding, -EBADMSG and -ENOMEM when decoding */
} Codec;

static inline bool codec_is_decoding(const Codec *codec) {
        return !codec->out;
}

/* A value that no message may hold: -EINVAL when encoding, -EBADMSG when decoding. */
void codec_refuse(Codec *codec);

void codec_u32(Codec *codec, uint32_t *value);
void codec_u64(Codec *codec, uint64_t *value);
void codec_i64(Codec *codec, int64_t *value);
void codec_bool(Codec *codec, bool *value);

/* One byte, smaller than n. Returns the value, decoded or as given; 0 on failure. */
unsigned codec_enum(Codec *codec, unsigned value, unsigned n);

/* Decoding allocates. A string holds no NUL byte; an absent one (NULL) has the length UINT32_MAX. */
void codec_string(Codec *codec, char **value);
void codec_string_or_null(Codec *codec, char **value);

/* A NULL-terminated array; NULL is encoded as an empty one. */
void codec_strings(Codec *codec, char ***value);

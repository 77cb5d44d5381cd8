/* SPDX-License-Identifier: MIT */

#include "wire/codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/macro.h"

#define LENGTH_ABSENT UINT32_MAX

static void codec_fail(Codec *codec, int error) {
        if (codec->error == 0)
                codec->error = error;
}

void codec_refuse(Codec *codec) {
        codec_fail(codec, codec_is_decoding(codec) ? -EBADMSG : -EINVAL);
}

/* Whether n more bytes are there. */
static bool codec_has(Codec *codec, size_t n) {
        if (codec->error < 0)
                return false;
        if (n <= codec->size - codec->at)
                return true;

        codec_fail(codec, codec_is_decoding(codec) ? -EBADMSG : -EMSGSIZE);
        return false;
}

static void codec_number(Codec *codec, uint64_t *value, unsigned n_bytes) {
        if (!codec_has(codec, n_bytes))
                return;

        uint64_t decoded = 0;
        for (unsigned i = 0; i < n_bytes; i++)
                if (codec_is_decoding(codec))
                        decoded |= (uint64_t) codec->in[codec->at + i] << (8 * i);
                else
                        codec->out[codec->at + i] = (uint8_t) (*value >> (8 * i));

        if (codec_is_decoding(codec))
                *value = decoded;
        codec->at += n_bytes;
}

void codec_u32(Codec *codec, uint32_t *value) {
        uint64_t wide = *value;

        codec_number(codec, &wide, sizeof(*value));
        *value = (uint32_t) wide;
}

void codec_u64(Codec *codec, uint64_t *value) {
        codec_number(codec, value, sizeof(*value));
}

void codec_i64(Codec *codec, int64_t *value) {
        uint64_t bits = (uint64_t) *value;

        codec_number(codec, &bits, sizeof(*value));
        *value = (int64_t) bits;
}

unsigned codec_enum(Codec *codec, unsigned value, unsigned n) {
        uint64_t wide = value;

        codec_number(codec, &wide, 1);
        if (codec->error == 0 && wide >= n)
                codec_refuse(codec);
        return codec->error == 0 ? (unsigned) wide : 0;
}

void codec_bool(Codec *codec, bool *value) {
        *value = codec_enum(codec, *value, 2) == 1;
}

static void string_encode(Codec *codec, const char *value) {
        size_t n = strlen(value);
        if (n >= LENGTH_ABSENT) {
                codec_fail(codec, -EMSGSIZE);
                return;
        }

        uint32_t length = (uint32_t) n;
        codec_u32(codec, &length);
        if (!codec_has(codec, n))
                return;
        memcpy(codec->out + codec->at, value, n);
        codec->at += n;
}

static void string_decode(Codec *codec, char **value, bool may_be_absent) {
        uint32_t length = 0;

        codec_u32(codec, &length);
        if (codec->error == 0 && length == LENGTH_ABSENT && may_be_absent)
                return;
        if (!codec_has(codec, length))
                return;

        const uint8_t *bytes = codec->in + codec->at;
        if (memchr(bytes, 0, length)) {
                codec_refuse(codec);
                return;
        }

        *value = strndup((const char *) bytes, length);
        if (!*value)
                codec_fail(codec, -ENOMEM);
        codec->at += length;
}

void codec_string(Codec *codec, char **value) {
        if (codec_is_decoding(codec))
                string_decode(codec, value, false);
        else if (*value)
                string_encode(codec, *value);
        else
                codec_refuse(codec);
}

void codec_string_or_null(Codec *codec, char **value) {
        if (codec_is_decoding(codec))
                string_decode(codec, value, true);
        else if (*value)
                string_encode(codec, *value);
        else
                codec_u32(codec, &(uint32_t) { LENGTH_ABSENT });
}

void codec_strings(Codec *codec, char ***value) {
        uint32_t n = 0;

        if (!codec_is_decoding(codec) && *value)
                while ((*value)[n])
                        n++;
        codec_u32(codec, &n);

        if (codec_is_decoding(codec)) {
                /* Each takes at least its length's four bytes: no packet makes us allocate much more than it holds. */
                if (codec->error < 0 || !codec_has(codec, (size_t) n * sizeof(uint32_t)))
                        return;
                *value = calloc((size_t) n + 1, sizeof(**value));
                if (!*value) {
                        codec_fail(codec, -ENOMEM);
                        return;
                }
        }

        for (uint32_t i = 0; i < n && codec->error == 0; i++)
                codec_string(codec, *value + i);
}

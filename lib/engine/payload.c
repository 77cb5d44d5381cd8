/* SPDX-License-Identifier: MIT */

/*
 * A drive that compresses or deduplicates must find nothing, and filling must cost a fraction of what a random
 * generator costs. Every sector is a piece of one random tile XOR eight bytes of its own: a single pass of vector
 * loads and stores at memory speed, and what two sectors made of the same piece have in common is only visible to
 * somebody who XORs them. An LZ compressor looks for runs of equal bytes, and finds them no more often
 * than in noise. Stamping a few bytes into buffers that are used again does not achieve this.
 *
 * The header tells run, write and place, so two sectors are equal only if they are the same sector of
 * the same write: equal headers have equal nonces, hence equal masks, hence equal contents.
 */

#include "engine/payload.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"
#include "util/macro.h"

#define HEADER_WORDS 4
#define N_PIECES (PAYLOAD_TILE / PAYLOAD_SECTOR)

/* One register of every x86-64 and AArch64; wider ones go through the stack where there are none. */
typedef uint64_t Vector __attribute__((vector_size(16), may_alias));

#define SECTOR_VECTORS (PAYLOAD_SECTOR / sizeof(Vector))
#define HEADER_VECTORS (HEADER_WORDS * sizeof(uint64_t) / sizeof(Vector))

struct Payload {
        Vector tile[PAYLOAD_TILE / sizeof(Vector)];
        uint64_t run_tag;
        uint64_t key; /* of the run */
};

int payload_new(Payload **ret, uint64_t run_tag) {
        Payload *payload = aligned_alloc(64, (sizeof *payload + 63) / 64 * 64);

        if (!payload)
                return -ENOMEM;

        payload->run_tag = run_tag;
        payload->key = hash_mix64_2(run_tag, 0);
        for (size_t i = 0; i < PAYLOAD_TILE / sizeof(uint64_t); i++)
                ((uint64_t *) payload->tile)[i] = hash_mix64_2(run_tag, i + 1);

        *ret = payload;
        return 0;
}

Payload *payload_free(Payload *payload) {
        free(payload);
        return NULL;
}

/* What the header's words are XORed with; public, so that any reader can take it off again. */
static inline void header_masks(uint64_t nonce, uint64_t ret[static HEADER_WORDS - 1]) {
        uint64_t mixed = hash_mix64(nonce);

        ret[0] = mixed;
        ret[1] = mixed * UINT64_C(0x9fb21c651e98df25);
        ret[2] = mixed * UINT64_C(0xd6e8feb86659fd93);
}

static void fill_sector(const Payload *payload, Vector *sector, const Vector *piece, uint64_t number,
                        uint64_t write_key, uint64_t index) {
        uint64_t nonce = hash_mix64(write_key ^ number), masks[HEADER_WORDS - 1];

        header_masks(nonce, masks);
        sector[0] = (Vector){ htole64(nonce), htole64(payload->run_tag ^ masks[0]) };
        sector[1] = (Vector){ htole64(index ^ masks[1]), htole64(number ^ masks[2]) };

        uint64_t key = nonce ^ masks[0] ^ payload->key;
        Vector keys = { key, key };
#pragma GCC unroll 10 /* twice as fast, measured */
        for (size_t i = HEADER_VECTORS; i < SECTOR_VECTORS; i++)
                sector[i] = piece[i] ^ keys;
}

void payload_fill(const Payload *payload, void *buf, size_t length, uint64_t offset, uint64_t index) {
        uint64_t write_key = hash_mix64(payload->key ^ index);
        uint64_t first = offset / PAYLOAD_SECTOR;
        Vector *sector = buf;

        for (size_t i = 0; i < length / PAYLOAD_SECTOR; i++) {
                size_t piece = (write_key + i) % N_PIECES;

                fill_sector(payload, sector, payload->tile + piece * SECTOR_VECTORS, first + i, write_key, index);
                sector += SECTOR_VECTORS;
        }
}

/*
 * Zeros at the end of each sector of an I/O, for compressors to save so much percent: more than that by what they need
 * to say where the zeros are, in each sector and in each I/O (measured with lz4, zstd and zlib).
 */
#define SECTOR_COST 6U
#define IO_COST 17U

static size_t zeros_of(unsigned percent, size_t length) {
        size_t wanted = PAYLOAD_SECTOR * percent / 100 + SECTOR_COST + IO_COST * PAYLOAD_SECTOR / length;

        return MIN(wanted, PAYLOAD_SECTOR - HEADER_WORDS * sizeof(uint64_t));
}

static void fill_compressible(const Payload *payload, unsigned percent, uint8_t *buf, size_t length, uint64_t offset,
                              uint64_t index) {
        payload_fill(payload, buf, length, offset, index);
        if (percent == 0)
                return;

        size_t n_zeros = zeros_of(percent, length);
        for (size_t at = PAYLOAD_SECTOR; at <= length; at += PAYLOAD_SECTOR)
                memset(buf + at - n_zeros, 0, n_zeros);
}

static bool is_shared(const Payload *payload, unsigned percent, uint64_t offset, uint64_t index) {
        return percent > 0 && hash_below(hash_mix64(hash_mix64(payload->run_tag ^ index) ^ offset), 100) < percent;
}

void payload_fill_for(const Payload *payload, const PhasePlan *phase, void *buf, size_t length, uint64_t offset,
                      uint64_t index) {
        const Content *content = &phase->content;
        size_t piece = content->dedupe_percent > 0 ? phase->block_bytes[DIRECTION_WRITE] : length;

        if (content->is_zero) {
                memset(buf, 0, length);
                return;
        }
        for (size_t at = 0; at < length; at += piece) {
                size_t n = MIN(piece, length - at);
                bool shared = is_shared(payload, content->dedupe_percent, offset + at, index);

                fill_compressible(payload, content->compress_percent, (uint8_t *) buf + at, n, shared ? 0 : offset + at,
                                  shared ? PAYLOAD_INDEX_SHARED : index);
        }
}

void payload_read_stamp(const void *sector, PayloadStamp *ret) {
        uint64_t words[HEADER_WORDS], masks[HEADER_WORDS - 1];

        memcpy(words, sector, sizeof words);
        header_masks(le64toh(words[0]), masks);
        *ret = (PayloadStamp){
                .run_tag = le64toh(words[1]) ^ masks[0],
                .index = le64toh(words[2]) ^ masks[1],
                .sector = le64toh(words[3]) ^ masks[2],
        };
}

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

static uint64_t key_of_run(uint64_t run_tag) {
        return hash_mix64_2(run_tag, 0);
}

int payload_new(Payload **ret, uint64_t run_tag) {
        Payload *payload = aligned_alloc(64, (sizeof *payload + 63) / 64 * 64);

        if (!payload)
                return -ENOMEM;

        payload->run_tag = run_tag;
        payload->key = key_of_run(run_tag);
        for (size_t i = 0; i < PAYLOAD_TILE / sizeof(uint64_t); i++)
                ((uint64_t *) payload->tile)[i] = hash_mix64_2(run_tag, i + 1);

        *ret = payload;
        return 0;
}

Payload *payload_free(Payload *payload) {
        free(payload);
        return NULL;
}

uint64_t payload_run_tag(const Payload *payload) {
        return payload->run_tag;
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

/* Sectors from number `first` on of what a write puts to `offset`; n_bytes of them. */
static void fill_sectors(const Payload *payload, void *buf, size_t first, size_t n_bytes, uint64_t offset,
                         uint64_t index) {
        uint64_t write_key = hash_mix64(payload->key ^ index);
        uint64_t number = offset / PAYLOAD_SECTOR + first, place = write_key + first;
        Vector *sector = buf;

        for (size_t i = 0; i < n_bytes / PAYLOAD_SECTOR; i++) {
                size_t piece = (place + i) % N_PIECES;

                fill_sector(payload, sector, payload->tile + piece * SECTOR_VECTORS, number + i, write_key, index);
                sector += SECTOR_VECTORS;
        }
}

void payload_fill(const Payload *payload, void *buf, size_t length, uint64_t offset, uint64_t index) {
        fill_sectors(payload, buf, 0, length, offset, index);
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

/* Bytes [from, from + n) of a piece of `length` at `offset`. */
static void fill_compressible(const Payload *payload, unsigned percent, uint8_t *buf, size_t from, size_t n,
                              size_t length, uint64_t offset, uint64_t index) {
        fill_sectors(payload, buf, from / PAYLOAD_SECTOR, n, offset, index);
        if (percent == 0)
                return;

        size_t n_zeros = zeros_of(percent, length);
        for (size_t at = PAYLOAD_SECTOR; at <= n; at += PAYLOAD_SECTOR)
                memset(buf + at - n_zeros, 0, n_zeros);
}

static bool is_shared(const Payload *payload, unsigned percent, uint64_t offset, uint64_t index) {
        return percent > 0 && hash_below(hash_mix64(hash_mix64(payload->run_tag ^ index) ^ offset), 100) < percent;
}

/* Of a write of so many bytes: the pieces that may be alike in many places, each for itself. */
static size_t piece_bytes(const PhasePlan *phase, size_t length) {
        return phase->content.dedupe_percent > 0 ? phase->block_bytes[DIRECTION_WRITE] : length;
}

void payload_fill_part(const Payload *payload, const PhasePlan *phase, void *buf, size_t from, size_t n,
                       size_t length, uint64_t offset, uint64_t index) {
        const Content *content = &phase->content;
        size_t piece = piece_bytes(phase, length);
        uint8_t *to = buf;

        if (content->is_zero) {
                memset(buf, 0, n);
                return;
        }
        while (n > 0) {
                size_t start = from / piece * piece, within = from - start;
                size_t of_piece = MIN(piece, length - start), part = MIN(n, of_piece - within);
                bool shared = is_shared(payload, content->dedupe_percent, offset + start, index);

                fill_compressible(payload, content->compress_percent, to, within, part, of_piece,
                                  shared ? 0 : offset + start, shared ? PAYLOAD_INDEX_SHARED : index);
                to += part;
                from += part;
                n -= part;
        }
}

void payload_fill_for(const Payload *payload, const PhasePlan *phase, void *buf, size_t length, uint64_t offset,
                      uint64_t index) {
        payload_fill_part(payload, phase, buf, 0, length, length, offset, index);
}

bool payload_is_unstamped(const Payload *payload, const PhasePlan *phase, size_t from, size_t length, uint64_t offset,
                          uint64_t index) {
        size_t piece = piece_bytes(phase, length);

        return phase->content.is_zero ||
               is_shared(payload, phase->content.dedupe_percent, offset + from / piece * piece, index);
}

void payload_fill_shared(const Payload *payload, const PhasePlan *phase, void *sector, size_t from) {
        size_t piece = phase->block_bytes[DIRECTION_WRITE];

        fill_compressible(payload, phase->content.compress_percent, sector, from % piece, PAYLOAD_SECTOR, piece, 0,
                          PAYLOAD_INDEX_SHARED);
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

bool payload_stamp_is_whole(const void *sector, const PayloadStamp *stamp) {
        uint64_t write_key = hash_mix64(key_of_run(stamp->run_tag) ^ stamp->index), nonce;

        memcpy(&nonce, sector, sizeof nonce);
        return le64toh(nonce) == hash_mix64(write_key ^ stamp->sector);
}

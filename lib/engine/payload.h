/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What is written. Every 512-byte sector is a piece of a random tile of the run XOR a key of
 * (run, write index, sector), behind a header that tells which run wrote it, as which I/O, and
 * where. All of it looks random: no two sectors are alike, and LZ compressors find nothing from 512 bytes to
 * 128 KiB (measured: tests/unit/engine).
 *
 * Header, 32 bytes, little endian, at the start of each sector: nonce; and masked by functions of
 * the nonce: run tag, write index, sector number. The mask is public, so any plateau can tell
 * that a sector was stamped by a run, and by which.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/plan.h"

#define PAYLOAD_SECTOR 512U
#define PAYLOAD_TILE (16U * 1024U) /* with the buffer that is filled it stays in the first-level cache */

typedef struct Payload Payload;

/* run_tag: 64 random bits of the run, never 0. -ENOMEM. */
int payload_new(Payload **ret, uint64_t run_tag);
Payload *payload_free(Payload *payload);
uint64_t payload_run_tag(const Payload *payload);

/*
 * Fills buf, `length` bytes (a multiple of PAYLOAD_SECTOR, buf aligned to 64), as write number `index`
 * of the run at byte `offset` of the device. Pure, and allocates nothing.
 */
void payload_fill(const Payload *payload, void *buf, size_t length, uint64_t offset, uint64_t index);

/*
 * The same as a phase's options ask for. Zeros: nothing else, no stamps either. Compressible: the end of each sector is
 * zeros, so that compressors save about that much, from 512 bytes to 128 KiB. Deduplicable: so many percent of the
 * pieces of the smallest block size are all alike.
 */
void payload_fill_for(const Payload *payload, const PhasePlan *phase, void *buf, size_t length, uint64_t offset,
                      uint64_t index);

/*
 * Bytes [from, from + n) of what payload_fill_for() makes of a write of `length` bytes; all multiples of
 * PAYLOAD_SECTOR, n not 0.
 */
void payload_fill_part(const Payload *payload, const PhasePlan *phase, void *buf, size_t from, size_t n,
                       size_t length, uint64_t offset, uint64_t index);

/* Whether the sector at `from` of that write does not tell which one it is of: zeros, or a piece that is alike. */
bool payload_is_unstamped(const Payload *payload, const PhasePlan *phase, size_t from, size_t length, uint64_t offset,
                          uint64_t index);

/* The sector at `from` (bytes) of the piece that is alike in many places, as a phase with dedupe_percentage has it. */
void payload_fill_shared(const Payload *payload, const PhasePlan *phase, void *sector, size_t from);

typedef struct PayloadStamp {
        uint64_t run_tag;
        uint64_t index;  /* of the write; PAYLOAD_INDEX_SHARED: of none, a piece that is alike in many places */
        uint64_t sector; /* offset / PAYLOAD_SECTOR; of a piece that is alike in many places: from its start */
} PayloadStamp;

#define PAYLOAD_INDEX_SHARED UINT64_MAX

/* Reads a sector's header: whatever was there. It is plateau's if ret->sector is where it was read and the tag is
 * known. */
void payload_read_stamp(const void *sector, PayloadStamp *ret);

/* Whether that header is one that a run of plateau made, to the last bit. */
bool payload_stamp_is_whole(const void *sector, const PayloadStamp *stamp);

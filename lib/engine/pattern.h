/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The order of I/O: direction, offset and length of each one are a function of the plan of a slice (spec/share.h), its
 * number and the index alone. Nothing is remembered, so a sequence can be taken up again at any
 * index, and verification can recompute what was written where without a map.
 *
 * Indices of one slice count all its streams' I/O together, in the order of submission. Where streams are told apart
 * (in sequential order, and where each has a region of its own) index i belongs to stream i % numjobs.
 *
 * - Random with replacement: every I/O draws its direction, its place (engine/distribution.h) and its size anew.
 * - Random with random_map: a keyed permutation of the tiles (engine/tiling.h), another one for every pass; none comes
 *   again before all have come. Where reads and writes have the same sizes they share the permutation and
 *   each tile is either read or written in a pass, as in fio; where they do not, each has its own.
 * - Sequential: each stream starts at its region's first tile and wraps; reads and writes each keep their own position.
 */

#include "engine/distribution.h"
#include "engine/permutation.h"
#include "engine/tiling.h"
#include "sample/position.h"

typedef struct PatternOp {
        uint64_t offset; /* bytes */
        uint32_t length; /* bytes */
        Direction direction;
} PatternOp;

typedef struct Pattern {
        uint64_t block_key; /* of the draws, all from the seed and the slice */
        uint64_t direction_key;
        uint64_t size_key;
        uint64_t region_offset; /* of the first stream */
        uint64_t stream_step_bytes;
        Distribution distribution[N_DIRECTIONS]; /* of blocks of the smallest size, for draws */
        Tiling tiling[N_DIRECTIONS];
        Permutation order[N_DIRECTIONS]; /* of the tiles */
        uint32_t n_streams; /* that are told apart */
        uint32_t read_percent;
        Direction changes; /* what is not read: writes or trims */
        RwMode rw;
        bool random_map;
        bool shared_map; /* one permutation for both directions */
} Pattern;

void pattern_init(Pattern *ret, const PhasePlan *plan, unsigned slice);

/* Of the I/O with this index. Allocates nothing, takes constant expected time. */
PatternOp pattern_at(const Pattern *pattern, uint64_t index);

/*
 * Room for more I/Os than any run submits in the seconds that an interruption may lose while its samples are written
 * each second: 67 s at a million a second. Samples that wait in memory because the database cannot be written may tell
 * of hours; if those are lost, a run that goes on may draw places and number writes as it did in them.
 */
#define PATTERN_JUMP (UINT64_C(1) << 26)

/*
 * From where a phase stood, as far as that is known, to where it goes on. After a stop for which all I/O was waited
 * (drained) exactly there. Else more may have been submitted than is known: a random order without map jumps over it,
 * so that none of it is repeated; any other goes on at the lowest index that had not completed, and repeats at most
 * what was outstanding then and what came in the seconds that were lost, so that no block is left out. The numbers of
 * writes are no matter of a phase, and stay.
 */
void pattern_take_up(const PhasePlan *plan, bool drained, Position *position);

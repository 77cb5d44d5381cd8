/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The order of I/O: direction, offset and length of each one are a function of the plan, the
 * slice and the index alone. Nothing is remembered, so a sequence can be taken up again at any
 * index, and verification can recompute what was written where without a map.
 *
 * Indices of one slice count all its streams' I/O together, in the order of submission: index i
 * belongs to stream i % numjobs. Random order is uniform with replacement, or (random_map) a keyed permutation of
 * the blocks, another one for every pass.
 */

#include "spec/plan.h"

typedef struct PatternOp {
        uint64_t offset; /* bytes */
        uint32_t length; /* bytes */
        Direction direction;
} PatternOp;

typedef struct Pattern {
        uint64_t seed;
        uint64_t region_offset;
        uint64_t n_blocks[N_DIRECTIONS];
        uint64_t block_bytes[N_DIRECTIONS];
        uint32_t n_streams;
        uint32_t read_percent;
        uint32_t feistel_bits[N_DIRECTIONS]; /* half width of the permutation's domain, for random_map */
        RwMode rw;
        bool random_map;
} Pattern;

void pattern_init(Pattern *ret, const PhasePlan *plan, unsigned slice);

/* Of the I/O with this index. Allocates nothing, takes constant expected time. */
PatternOp pattern_at(const Pattern *pattern, uint64_t index);

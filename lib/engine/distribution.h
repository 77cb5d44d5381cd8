/* SPDX-License-Identifier: MIT */
#pragma once

/* Which blocks of a region random I/O goes to, and how often: random_distribution=. */

#include "engine/permutation.h"
#include "spec/plan.h"
#include "util/hash.h"

typedef struct Zone {
        uint64_t first, n; /* blocks; n at least 1 */
} Zone;

typedef struct Distribution {
        RandomDistribution kind;
        Permutation blocks;
        uint64_t key; /* of the order in which zipf's ranks lie */
        double zeta, eta, exponent, second; /* of zipf */
        Zone zones[SPLIT_WHOLE]; /* of zoned: one for each percent of the I/Os */
} Distribution;

void distribution_init(Distribution *ret, const PhasePlan *plan, Direction direction, uint64_t n_blocks);

/* Of one that is not uniform. */
uint64_t distribution_draw_uneven(const Distribution *distribution, uint64_t random);

/* The block that 64 random bits draw. In the ring thread, for each I/O: the usual case without a call. */
static inline uint64_t distribution_draw(const Distribution *distribution, uint64_t random) {
        if (distribution->kind == DISTRIBUTION_RANDOM)
                return hash_below(random, distribution->blocks.n);
        return distribution_draw_uneven(distribution, random);
}

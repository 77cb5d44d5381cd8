/* SPDX-License-Identifier: MIT */

#include "engine/tiling.h"

#include "util/hash.h"
#include "util/macro.h"

#define DRAWS_MAX 32U /* then it is the smallest; only near the region's end does a draw not fit */

/* The sizes of a hundred I/Os, in an order that is random and the same for both directions. */
static void lay_hundred(Tiling *t, const BlockSplit *split, uint64_t seed) {
        uint32_t sizes[SPLIT_WHOLE];
        unsigned n = 0;

        for (uint32_t i = 0; i < split->n; i++)
                for (unsigned k = 0; k < split->percent[i] && n < SPLIT_WHOLE; k++)
                        sizes[n++] = split->bytes[i];

        t->start[0] = 0;
        for (unsigned i = 0; i < n; i++) {
                unsigned other = i + (unsigned) hash_below(hash_mix64_2(seed, i), n - i);
                uint32_t size = sizes[other];

                sizes[other] = sizes[i];
                t->start[i + 1] = t->start[i] + size;
        }
}

static uint64_t count_tiles(const Tiling *t) {
        uint64_t hundreds = t->region_bytes / t->start[SPLIT_WHOLE], rest = t->region_bytes % t->start[SPLIT_WHOLE];
        unsigned n = 0;

        while (t->start[n] < rest)
                n++;
        return hundreds * SPLIT_WHOLE + n;
}

void tiling_init(Tiling *ret, const PhasePlan *plan, Direction direction) {
        const BlockSplit *split = &plan->split[direction];

        *ret = (Tiling){
                .region_bytes = plan->region_bytes,
                .n_tiles = plan->n_blocks[direction],
                .block_bytes = plan->block_bytes[direction],
                .is_split = split->n > 0,
        };
        if (ret->is_split) {
                lay_hundred(ret, split, plan->seed);
                ret->n_tiles = count_tiles(ret);
        }
}

/* Bytes before the n-th tile of a pass, if there were no end of the region. */
static uint64_t start_of(const Tiling *t, uint64_t n) {
        return n / SPLIT_WHOLE * t->start[SPLIT_WHOLE] + t->start[n % SPLIT_WHOLE];
}

Tile tiling_at(const Tiling *t, uint64_t number) {
        if (!t->is_split)
                return (Tile){ .start = number * t->block_bytes, .bytes = (uint32_t) t->block_bytes };

        uint64_t start = start_of(t, number), end = MIN(start_of(t, number + 1), t->region_bytes);

        return (Tile){ .start = start, .bytes = (uint32_t) (end - start) };
}

uint64_t tiling_bytes_before(const Tiling *t, uint64_t n) {
        if (!t->is_split)
                return n * t->block_bytes;
        return n / t->n_tiles * t->region_bytes + start_of(t, n % t->n_tiles);
}

uint32_t tiling_draw(const Tiling *t, uint64_t start, uint64_t random) {
        for (unsigned i = 0; i < DRAWS_MAX; i++, random = hash_mix64(random)) {
                unsigned k = (unsigned) hash_below(random, SPLIT_WHOLE);
                uint64_t bytes = t->start[k + 1] - t->start[k];

                if (bytes <= t->region_bytes - start)
                        return (uint32_t) bytes;
        }
        return (uint32_t) t->block_bytes;
}

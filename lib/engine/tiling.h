/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How one direction's I/Os of several sizes (bssplit) lie side by side in the region: a pass covers it without gap and
 * without overlap, and where the n-th of a pass lies is a function of n. Of each hundred tiles exactly as many have a
 * size as it has percent; the last tile of a pass is cut at the end of the region.
 *
 * With one size alone the tiles are the blocks of the region, and its tail is left out.
 */

#include "spec/plan.h"

typedef struct Tiling {
        uint64_t region_bytes;
        uint64_t n_tiles;     /* of a pass */
        uint64_t block_bytes; /* the smallest size */
        bool is_split;
        uint64_t start[SPLIT_WHOLE + 1]; /* if is_split: in bytes from the first of a hundred */
} Tiling;

typedef struct Tile {
        uint64_t start; /* bytes from the region's */
        uint32_t bytes;
} Tile;

void tiling_init(Tiling *ret, const PhasePlan *plan, Direction direction);

/* Of tile `number`, below n_tiles. */
Tile tiling_at(const Tiling *tiling, uint64_t number);

/* Bytes of the first n tiles of endless passes; modulo 2^64. */
uint64_t tiling_bytes_before(const Tiling *tiling, uint64_t n);

/*
 * A size drawn by the shares of a split, for an I/O at `start`, a multiple of the smallest size: one that fits in the
 * region. random: 64 random bits.
 */
uint32_t tiling_draw(const Tiling *tiling, uint64_t start, uint64_t random);

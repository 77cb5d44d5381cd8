/* SPDX-License-Identifier: MIT */

/*
 * Randomness comes from a hash of the index, not from a generator with state: the hash is a bijection whose
 * output passes the usual batteries for counters as input, and the 128-bit product of hash_below()
 * reaches every block of any device without the bias of a remainder.
 *
 * Where an I/O's place depends on how many of its direction came before it, directions alternate as evenly as
 * the percentage allows (Bresenham), because only then is that number a function of the index.
 */

#include "engine/pattern.h"

#include <string.h>

#include "util/hash.h"
#include "util/macro.h"

static bool has_same_sizes(const PhasePlan *plan, Direction a, Direction b) {
        return plan->block_bytes[a] == plan->block_bytes[b] &&
               memcmp(&plan->split[a], &plan->split[b], sizeof(plan->split[a])) == 0;
}

void pattern_init(Pattern *ret, const PhasePlan *plan, unsigned slice) {
        uint64_t key = hash_mix64_2(plan->seed, slice);
        bool told_apart = !rw_mode_is_random(plan->rw) || plan->stream_step_bytes > 0;

        *ret = (Pattern){
                .block_key = hash_mix64_2(key, 0),
                .direction_key = hash_mix64_2(key, 1),
                .size_key = hash_mix64_2(key, 2),
                .region_offset = plan->region_offset,
                .stream_step_bytes = plan->stream_step_bytes,
                .n_streams = told_apart ? MAX(plan->numjobs, 1U) : 1,
                .read_percent = plan->read_percent,
                .changes = rw_mode_trims(plan->rw) ? DIRECTION_TRIM : DIRECTION_WRITE,
                .rw = plan->rw,
                .random_map = plan->random_map,
                .shared_map = has_same_sizes(plan, DIRECTION_READ, DIRECTION_WRITE),
        };

        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                distribution_init(&ret->distribution[d], plan, d, plan->n_blocks[d]);
                tiling_init(&ret->tiling[d], plan, d);
                ret->order[d] = permutation_of(ret->tiling[d].n_tiles);
        }
}

/* How many of the first n I/Os are reads; no product overflows. */
static uint64_t reads_before(uint64_t n, uint32_t read_percent) {
        return n / 100 * read_percent + n % 100 * read_percent / 100;
}

/* The direction of the n-th I/O of an even alternation, and how many of its kind came before it. */
static Direction alternate(const Pattern *p, uint64_t n, uint64_t *ret_before) {
        uint64_t reads = reads_before(n, p->read_percent);

        if (reads_before(n + 1, p->read_percent) > reads) {
                *ret_before = reads;
                return DIRECTION_READ;
        }
        *ret_before = n - reads;
        return p->changes;
}

static Direction draw_direction(const Pattern *p, uint64_t index) {
        if (p->read_percent == 0)
                return p->changes;
        if (p->read_percent >= 100)
                return DIRECTION_READ;
        return hash_below(hash_mix64(p->direction_key ^ index), 100) < p->read_percent ? DIRECTION_READ : p->changes;
}

/* The tile at a place in the endless sequence of passes. */
static Tile permuted_tile(const Pattern *p, Direction direction, uint64_t stream, uint64_t place) {
        const Permutation *order = &p->order[direction];
        uint64_t stream_key = p->block_key + stream * N_DIRECTIONS + (p->shared_map ? 0 : direction);
        uint64_t key = hash_mix64_2(stream_key, place / order->n);

        return tiling_at(&p->tiling[direction], permutation_at(order, key, place % order->n));
}

static Tile drawn_tile(const Pattern *p, Direction direction, uint64_t index) {
        uint64_t block = distribution_draw(&p->distribution[direction], hash_mix64(p->block_key ^ index));
        const Tiling *tiling = &p->tiling[direction];
        Tile tile = { .start = block * tiling->block_bytes, .bytes = (uint32_t) tiling->block_bytes };

        if (tiling->is_split)
                tile.bytes = tiling_draw(tiling, tile.start, hash_mix64(p->size_key ^ index));
        return tile;
}

PatternOp pattern_at(const Pattern *p, uint64_t index) {
        uint64_t n = p->n_streams > 1 ? index / p->n_streams : index, stream = index - n * p->n_streams, place = n;
        Direction direction;
        Tile tile;

        if (!rw_mode_is_random(p->rw)) {
                direction = alternate(p, n, &place);
                tile = tiling_at(&p->tiling[direction], place % p->tiling[direction].n_tiles);
        } else if (!p->random_map) {
                direction = draw_direction(p, index);
                tile = drawn_tile(p, direction, index);
        } else {
                direction = p->shared_map ? draw_direction(p, index) : alternate(p, n, &place);
                tile = permuted_tile(p, direction, stream, place);
        }
        return (PatternOp){
                .offset = p->region_offset + stream * p->stream_step_bytes + tile.start,
                .length = tile.bytes,
                .direction = direction,
        };
}

/* Of the first n I/Os of a stream whose order never jumps; about, in a pass of a map of several sizes. */
static uint64_t stream_bytes_before(const Pattern *p, uint64_t n) {
        bool alike = rw_mode_is_random(p->rw) && p->shared_map;
        uint64_t reads = alike ? 0 : reads_before(n, p->read_percent);

        return tiling_bytes_before(&p->tiling[DIRECTION_READ], reads) +
               tiling_bytes_before(&p->tiling[p->changes], n - reads);
}

/* Of all I/Os before this index: some streams have done one more than the others. */
static uint64_t bytes_before(const Pattern *p, uint64_t index) {
        uint64_t n = index / p->n_streams, n_ahead = index % p->n_streams;

        return (p->n_streams - n_ahead) * stream_bytes_before(p, n) + n_ahead * stream_bytes_before(p, n + 1);
}

void pattern_take_up(const PhasePlan *plan, bool drained, Position *position) {
        Pattern pattern;

        if (drained || plan->iodepth == 0)
                return;

        if (rw_mode_is_random(plan->rw) && !plan->random_map) {
                position->next_index += PATTERN_JUMP;
                position->first_index = position->low_index = position->next_index;
        } else {
                position->next_index = position->low_index;
                pattern_init(&pattern, plan, 0); /* sizes are alike in all slices */
                position->done_bytes = bytes_before(&pattern, position->low_index);
        }
}

/* SPDX-License-Identifier: MIT */

/*
 * Randomness comes from a hash of the index, not from a generator with state: the hash is a bijection whose
 * output passes the usual batteries for counters as input, and the 128-bit product of hash_below()
 * reaches every block of any device without the bias of a remainder.
 *
 * The permutation is a balanced Feistel network over the next even power of two, walked until it lands
 * inside: a bijection of any number of blocks in constant memory, in fewer than four steps on average.
 *
 * Where an I/O's place depends on how many of its direction came before it, directions alternate as evenly as
 * the percentage allows (Bresenham), because only then is that number a function of the index.
 */

#include "engine/pattern.h"

#include "util/hash.h"
#include "util/macro.h"

#define FEISTEL_ROUNDS 6

void pattern_init(Pattern *ret, const PhasePlan *plan, unsigned slice) {
        uint64_t key = hash_mix64_2(plan->seed, slice);

        *ret = (Pattern){
                .block_key = hash_mix64_2(key, 0),
                .direction_key = hash_mix64_2(key, 1),
                .region_offset = plan->region_offset,
                .n_streams = MAX(plan->numjobs, 1U),
                .read_percent = plan->read_percent,
                .rw = plan->rw,
                .random_map = plan->random_map,
                .shared_map = plan->block_bytes[DIRECTION_READ] == plan->block_bytes[DIRECTION_WRITE],
        };

        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                unsigned bits = 2;

                ret->n_blocks[d] = plan->n_blocks[d];
                ret->block_bytes[d] = plan->block_bytes[d];
                while (bits < 64 && (plan->n_blocks[d] - 1) >> bits)
                        bits += 2;
                ret->feistel_bits[d] = bits / 2;
        }
}

/* How many of the first n I/Os are reads; no product overflows. */
static uint64_t reads_before(uint64_t n, uint32_t read_percent) {
        return n / 100 * read_percent + n % 100 * read_percent / 100;
}

/* The direction of the n-th I/O of an even alternation, and how many of its kind came before it. */
static Direction alternate(uint64_t n, uint32_t read_percent, uint64_t *ret_before) {
        uint64_t reads = reads_before(n, read_percent);

        if (reads_before(n + 1, read_percent) > reads) {
                *ret_before = reads;
                return DIRECTION_READ;
        }
        *ret_before = n - reads;
        return DIRECTION_WRITE;
}

static Direction draw_direction(const Pattern *p, uint64_t index) {
        if (p->read_percent == 0)
                return DIRECTION_WRITE;
        if (p->read_percent >= 100)
                return DIRECTION_READ;
        return hash_below(hash_mix64(p->direction_key ^ index), 100) < p->read_percent ? DIRECTION_READ :
                                                                                        DIRECTION_WRITE;
}

static uint64_t feistel(uint64_t x, unsigned half_bits, uint64_t key) {
        uint64_t mask = (UINT64_C(1) << half_bits) - 1;
        uint64_t left = x >> half_bits, right = x & mask;

        for (unsigned round = 0; round < FEISTEL_ROUNDS; round++) {
                uint64_t mixed = left ^ (hash_mix64(key + (right << 3) + round) & mask);
                left = right;
                right = mixed;
        }
        return left << half_bits | right;
}

/* The block at a place in the endless sequence of passes. */
static uint64_t permuted_block(const Pattern *p, Direction direction, uint64_t place) {
        uint64_t n = p->n_blocks[direction];
        uint64_t key = hash_mix64_2(p->block_key + (p->shared_map ? 0 : direction), place / n);
        uint64_t block = place % n;

        do
                block = feistel(block, p->feistel_bits[direction], key);
        while (block >= n);
        return block;
}

static PatternOp op_of(const Pattern *p, Direction direction, uint64_t block) {
        return (PatternOp){
                .offset = p->region_offset + block * p->block_bytes[direction],
                .length = (uint32_t) p->block_bytes[direction],
                .direction = direction,
        };
}

PatternOp pattern_at(const Pattern *p, uint64_t index) {
        Direction direction;
        uint64_t place;

        if (!rw_mode_is_random(p->rw)) {
                direction = alternate(index / p->n_streams, p->read_percent, &place);
                return op_of(p, direction, place % p->n_blocks[direction]);
        }

        if (!p->random_map) {
                direction = draw_direction(p, index);
                return op_of(p, direction, hash_below(hash_mix64(p->block_key ^ index), p->n_blocks[direction]));
        }

        if (p->shared_map) {
                direction = draw_direction(p, index);
                place = index;
        } else
                direction = alternate(index, p->read_percent, &place);
        return op_of(p, direction, permuted_block(p, direction, place));
}

/* Only of orders that never jump: of all I/Os before this index. */
static uint64_t bytes_before(const PhasePlan *plan, uint64_t index) {
        uint64_t n_streams = rw_mode_is_random(plan->rw) ? 1 : MAX(plan->numjobs, 1U);
        uint64_t n = index / n_streams, n_more = index % n_streams; /* a stream has done n, some of them one more */
        uint64_t reads = n_streams * reads_before(n, plan->read_percent) +
                         n_more * (reads_before(n + 1, plan->read_percent) - reads_before(n, plan->read_percent));

        return reads * plan->block_bytes[DIRECTION_READ] + (index - reads) * plan->block_bytes[DIRECTION_WRITE];
}

void pattern_take_up(const PhasePlan *plan, bool drained, Position *position) {
        if (drained)
                return;

        position->next_write += PATTERN_JUMP;
        if (rw_mode_is_random(plan->rw) && !plan->random_map) {
                position->next_index += PATTERN_JUMP;
                position->first_index = position->low_index = position->next_index;
        } else {
                position->next_index = position->low_index;
                position->issued_bytes = bytes_before(plan, position->low_index);
        }
}

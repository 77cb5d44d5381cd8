/* SPDX-License-Identifier: MIT */

#include "engine/pattern.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "unit.h"
#include "util/macro.h"

static PhasePlan plan(RwMode rw, uint64_t region_bytes, uint64_t read_bs, uint64_t write_bs, uint32_t read_percent) {
        PhasePlan p = {
                .rw = rw,
                .read_percent = read_percent,
                .block_bytes = { read_bs, write_bs, write_bs },
                .iodepth = 1,
                .numjobs = 1,
                .region_offset = 1 * MIB,
                .region_bytes = region_bytes,
                .seed = 42,
        };

        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                p.n_blocks[d] = region_bytes / p.block_bytes[d];
        return p;
}

/* The block's number; the checks speak only when they fail, since each ck_assert() costs a write to a pipe. */
static uint64_t block_of(const PatternOp *op, const PhasePlan *p) {
        uint64_t block = (op->offset - p->region_offset) / p->block_bytes[op->direction];

        if (op->length != p->block_bytes[op->direction] || block >= p->n_blocks[op->direction] ||
            op->offset != p->region_offset + block * op->length)
                ck_abort_msg("offset %" PRIu64 ", length %" PRIu32 ": not a block of the region", op->offset,
                             op->length);
        return block;
}

#define N_BINS 1024

/* The statistic's distance from its mean, in standard deviations. */
static double chi_square_z(const uint64_t bins[static N_BINS], uint64_t n) {
        double expected = (double) n / N_BINS, chi = 0;

        for (unsigned i = 0; i < N_BINS; i++)
                chi += ((double) bins[i] - expected) * ((double) bins[i] - expected) / expected;
        return (chi - (N_BINS - 1)) / sqrt(2.0 * (N_BINS - 1));
}

/* Both by the place on the device and by the low bits of the block number, on sizes of every kind. */
START_TEST(random_offsets_are_uniform) {
        static const uint64_t sizes[] = { 1024 * 4096, 120034123776, 3 * TIB + 12288, 64 * TIB };
        enum { N = 1 << 20 };

        for (size_t i = 0; i < ELEMENTSOF(sizes); i++)
                for (uint64_t bs = 512; bs <= 4096; bs *= 8) {
                        PhasePlan p = plan(RW_RANDWRITE, sizes[i], bs, bs, 0);
                        uint64_t high[N_BINS] = {}, low[N_BINS] = {};
                        Pattern pattern;

                        pattern_init(&pattern, &p, 0);
                        for (uint64_t n = 0; n < N; n++) {
                                PatternOp op = pattern_at(&pattern, n);
                                uint64_t block = block_of(&op, &p);

                                high[(uint64_t) ((unsigned __int128) block * N_BINS / p.n_blocks[DIRECTION_WRITE])]++;
                                low[block % N_BINS]++;
                        }
                        ck_assert_double_lt(fabs(chi_square_z(high, N)), 5);
                        ck_assert_double_lt(fabs(chi_square_z(low, N)), 5);
                }
}
END_TEST

/* With replacement: of as many draws as there are blocks, a share of 1/e of the blocks is not hit. */
START_TEST(random_is_with_replacement) {
        static bool hit[1 << 18];
        PhasePlan p = plan(RW_RANDWRITE, ELEMENTSOF(hit) * 4096, 4096, 4096, 0);
        unsigned n_hit = 0;
        Pattern pattern;

        pattern_init(&pattern, &p, 0);
        for (uint64_t n = 0; n < ELEMENTSOF(hit); n++) {
                PatternOp op = pattern_at(&pattern, n);
                bool *h = &hit[block_of(&op, &p)];

                n_hit += !*h;
                *h = true;
        }
        ck_assert_double_eq_tol(n_hit / (double) ELEMENTSOF(hit), 1 - exp(-1), 0.005);
}
END_TEST

START_TEST(consecutive_offsets_are_independent) {
        PhasePlan p = plan(RW_RANDWRITE, 64 * TIB, 4096, 4096, 0);
        uint64_t bins[N_BINS] = {}, last = 0;
        enum { N = 1 << 20 };
        Pattern pattern;

        pattern_init(&pattern, &p, 0);
        for (uint64_t n = 0; n <= N; n++) {
                PatternOp op = pattern_at(&pattern, n);
                uint64_t block = block_of(&op, &p);

                if (n > 0)
                        bins[(block - last) % N_BINS]++;
                last = block;
        }
        ck_assert_double_lt(fabs(chi_square_z(bins, N)), 5);
}
END_TEST

START_TEST(random_map_reaches_every_block_once_a_pass) {
        static const uint64_t counts[] = { 1, 2, 3, 4, 5, 16, 17, 1000, 4096, 65537, 100003 };
        static uint8_t seen[100003];

        for (size_t i = 0; i < ELEMENTSOF(counts); i++) {
                PhasePlan p = plan(RW_RANDRW, counts[i] * 4096, 4096, 4096, 30);
                unsigned n_same = 0;
                Pattern pattern;

                p.random_map = true;
                pattern_init(&pattern, &p, 0);
                for (unsigned pass = 0; pass < 3; pass++) {
                        memset(seen, 0, sizeof seen);
                        for (uint64_t n = 0; n < counts[i]; n++) {
                                PatternOp op = pattern_at(&pattern, pass * counts[i] + n);
                                PatternOp earlier = pattern_at(&pattern, n);

                                ck_assert_uint_eq(seen[block_of(&op, &p)]++, 0);
                                n_same += pass > 0 && op.offset == earlier.offset;
                        }
                }
                /* Another order in each pass: what two random orders of so many blocks have in common is few. */
                if (counts[i] >= 1000)
                        ck_assert_uint_lt(n_same, 20);
        }
}
END_TEST

START_TEST(random_map_of_unequal_blocks_reaches_every_one_of_each) {
        PhasePlan p = plan(RW_RANDRW, 1024 * 4096, 4096, 16384, 50);
        uint8_t seen[N_DIRECTIONS][1024] = {};
        unsigned left[N_DIRECTIONS] = { 1024, 256 };
        Pattern pattern;

        p.random_map = true;
        pattern_init(&pattern, &p, 0);
        for (uint64_t n = 0; n < 2048; n++) {
                PatternOp op = pattern_at(&pattern, n);

                if (left[op.direction] == 0)
                        continue;
                ck_assert_uint_eq(seen[op.direction][block_of(&op, &p)]++, 0);
                left[op.direction]--;
        }
        ck_assert_uint_eq(left[DIRECTION_READ], 0);
        ck_assert_uint_eq(left[DIRECTION_WRITE], 0);
}
END_TEST

START_TEST(random_map_looks_random) {
        PhasePlan p = plan(RW_RANDWRITE, 64 * TIB, 4096, 4096, 0);
        uint64_t high[N_BINS] = {}, step[N_BINS] = {}, last = 0;
        enum { N = 1 << 20 };
        Pattern pattern;

        p.random_map = true;
        pattern_init(&pattern, &p, 0);
        for (uint64_t n = 0; n < N; n++) {
                PatternOp op = pattern_at(&pattern, n);
                uint64_t block = block_of(&op, &p);

                high[block / (p.n_blocks[DIRECTION_WRITE] / N_BINS)]++;
                step[(block - last) % N_BINS]++;
                last = block;
        }
        ck_assert_double_lt(fabs(chi_square_z(high, N)), 5);
        ck_assert_double_lt(fabs(chi_square_z(step, N)), 5);
}
END_TEST

START_TEST(sequential_streams_go_up_and_wrap) {
        PhasePlan p = plan(RW_WRITE, 10 * 4096, 4096, 4096, 0);
        Pattern pattern;

        p.numjobs = 3;
        pattern_init(&pattern, &p, 0);
        for (uint64_t n = 0; n < 100; n++) {
                PatternOp op = pattern_at(&pattern, n);

                ck_assert_int_eq(op.direction, DIRECTION_WRITE);
                ck_assert_uint_eq(block_of(&op, &p), n / 3 % 10);
        }
}
END_TEST

/* Each stream has all of its region, and nothing but that. */
START_TEST(streams_with_regions_of_their_own_stay_apart) {
        enum { STREAMS = 3, BLOCKS = 50 };

        for (unsigned random = 0; random <= 2; random++) {
                PhasePlan p = plan(random > 0 ? RW_RANDWRITE : RW_WRITE, BLOCKS * 4096, 4096, 4096, 0);
                unsigned n_hit[STREAMS][BLOCKS] = {};
                Pattern pattern;

                p.numjobs = STREAMS;
                p.stream_step_bytes = 2 * MIB;
                p.random_map = random == 1;
                pattern_init(&pattern, &p, 0);
                for (uint64_t n = 0; n < UINT64_C(40) * STREAMS * BLOCKS; n++) {
                        PatternOp op = pattern_at(&pattern, n);
                        uint64_t stream = (op.offset - MIB) / (2 * MIB), block = (op.offset - MIB) % (2 * MIB) / 4096;

                        ck_assert_uint_eq(stream, n % STREAMS);
                        ck_assert_uint_lt(block, BLOCKS);
                        n_hit[stream][block]++;
                }
                for (unsigned s = 0; s < STREAMS; s++)
                        for (unsigned b = 0; b < BLOCKS; b++)
                                if (random < 2)
                                        ck_assert_uint_eq(n_hit[s][b], 40);
                                else
                                        ck_assert_uint_gt(n_hit[s][b], 0);
        }
}
END_TEST

START_TEST(sequential_mix_keeps_a_position_for_each_direction) {
        PhasePlan p = plan(RW_READWRITE, 100 * 4096, 4096, 8192, 70);
        uint64_t next[N_DIRECTIONS] = {};
        Pattern pattern;

        pattern_init(&pattern, &p, 0);
        for (uint64_t n = 0; n < 1000; n++) {
                PatternOp op = pattern_at(&pattern, n);

                ck_assert_uint_eq(block_of(&op, &p), next[op.direction]++ % p.n_blocks[op.direction]);
                /* Evenly: never further than one I/O from the share asked for. */
                ck_assert_double_le(fabs((double) next[DIRECTION_READ] - 0.7 * (double) (n + 1)), 1);
        }
        ck_assert_uint_eq(next[DIRECTION_READ], 700);
}
END_TEST

START_TEST(random_mix_has_the_share_asked_for) {
        for (uint32_t percent = 0; percent <= 100; percent += 10) {
                PhasePlan p = plan(RW_RANDRW, GIB, 4096, 8192, percent);
                unsigned n_reads = 0, n_same = 0, last = 0;
                enum { N = 1000000 };
                Pattern pattern;

                pattern_init(&pattern, &p, 0);
                for (uint64_t n = 0; n < N; n++) {
                        PatternOp op = pattern_at(&pattern, n);

                        (void) block_of(&op, &p);
                        n_reads += op.direction == DIRECTION_READ;
                        n_same += op.direction == last;
                        last = op.direction;
                }
                double share = percent / 100.0;
                ck_assert_double_eq_tol(n_reads / (double) N, share, 0.003);
                ck_assert_double_eq_tol(n_same / (double) N, share * share + (1 - share) * (1 - share), 0.003);
        }
}
END_TEST

START_TEST(direction_says_nothing_about_the_offset) {
        PhasePlan p = plan(RW_RANDRW, 64 * TIB, 4096, 4096, 50);
        uint64_t bins[N_BINS] = {}, n_reads = 0;
        Pattern pattern;

        pattern_init(&pattern, &p, 0);
        for (uint64_t n = 0; n < 2000000; n++) {
                PatternOp op = pattern_at(&pattern, n);

                if (op.direction != DIRECTION_READ)
                        continue;
                bins[block_of(&op, &p) / (p.n_blocks[DIRECTION_READ] / N_BINS)]++;
                n_reads++;
        }
        ck_assert_double_lt(fabs(chi_square_z(bins, n_reads)), 5);
}
END_TEST

static unsigned n_equal(const PhasePlan *a, unsigned slice_a, const PhasePlan *b, unsigned slice_b) {
        Pattern pa, pb;
        unsigned n = 0;

        pattern_init(&pa, a, slice_a);
        pattern_init(&pb, b, slice_b);
        for (uint64_t i = 0; i < 10000; i++)
                n += pattern_at(&pa, i).offset == pattern_at(&pb, i).offset;
        return n;
}

START_TEST(seed_and_slice_alone_decide) {
        for (unsigned map = 0; map <= 1; map++) {
                PhasePlan a = plan(RW_RANDWRITE, 64 * TIB, 4096, 4096, 0), b = a;

                a.random_map = b.random_map = map;
                ck_assert_uint_eq(n_equal(&a, 3, &b, 3), 10000);
                ck_assert_uint_lt(n_equal(&a, 3, &b, 4), 5);
                b.seed++;
                ck_assert_uint_lt(n_equal(&a, 3, &b, 3), 5);
        }
}
END_TEST

/* The far end of a run: nothing overflows, and all stays inside. */
START_TEST(the_largest_indices_stay_inside) {
        for (RwMode rw = 0; rw < N_RW_MODES; rw++)
                for (unsigned map = 0; map <= 1; map++) {
                        uint32_t percent = !rw_mode_is_random(rw) && rw == RW_READ ? 100 : 37;
                        PhasePlan p = plan(rw, 64 * TIB, 512, 4096, percent);
                        Pattern pattern;

                        p.random_map = map;
                        p.numjobs = 7;
                        pattern_init(&pattern, &p, UINT32_MAX);
                        for (uint64_t n = 0; n < 1000; n++) {
                                PatternOp op = pattern_at(&pattern, UINT64_MAX - n);
                                (void) block_of(&op, &p);
                        }
                }
}
END_TEST

/* Where a product of index and percentage would long have overflowed, the mix is still even and each position goes on.
 */
START_TEST(sequential_mix_at_the_far_end) {
        static const uint64_t starts[] = { UINT64_C(1) << 40, UINT64_MAX / 37 - 200, UINT64_MAX - 500 };
        PhasePlan p = plan(RW_READWRITE, 64 * TIB, 4096, 4096, 37);
        Pattern pattern;

        pattern_init(&pattern, &p, 0);
        for (size_t i = 0; i < ELEMENTSOF(starts); i++) {
                uint64_t last[N_DIRECTIONS] = {}, n[N_DIRECTIONS] = {};

                for (uint64_t k = 0; k < 400; k++) {
                        PatternOp op = pattern_at(&pattern, starts[i] + k);
                        uint64_t block = block_of(&op, &p);

                        if (n[op.direction]++ > 0)
                                ck_assert_uint_eq(block, (last[op.direction] + 1) % p.n_blocks[op.direction]);
                        last[op.direction] = block;
                }
                ck_assert_uint_eq(n[DIRECTION_READ], 4 * 37);
        }
}
END_TEST

static uint64_t lengths_before(const PhasePlan *p, uint64_t index) {
        Pattern pattern;
        uint64_t sum = 0;

        pattern_init(&pattern, p, 0);
        for (uint64_t i = 0; i < index; i++)
                sum += pattern_at(&pattern, i).length;
        return sum;
}

START_TEST(after_a_clean_stop_it_goes_on_exactly_there) {
        PhasePlan p = plan(RW_RANDWRITE, GIB, 4096, 4096, 0);
        const Position before = { 1, 5, 5, 8, 999, 2, 3 };
        Position position = before;

        pattern_take_up(&p, true, &position);
        ck_assert_int_eq(memcmp(&position, &before, sizeof before), 0);
}
END_TEST

START_TEST(random_order_jumps_over_what_is_not_known) {
        PhasePlan p = plan(RW_RANDWRITE, GIB, 4096, 4096, 0);
        Position position = {
                .low_index = 40, .next_index = 50, .next_write = 60, .done_bytes = 999, .settled_to = 30,
        };

        pattern_take_up(&p, false, &position);
        ck_assert_uint_eq(position.next_index, 50 + PATTERN_JUMP);
        ck_assert_uint_eq(position.first_index, position.next_index);
        ck_assert_uint_eq(position.low_index, position.next_index);
        ck_assert_uint_eq(position.done_bytes, 999);
        ck_assert_uint_eq(position.settled_to, 30); /* that was written all the same */
}
END_TEST

/* Each with blocks of unequal size and several streams, so that what was issued is no simple product. */
START_TEST(other_orders_repeat_what_is_not_known) {
        PhasePlan plans[3] = {
                plan(RW_READWRITE, GIB, 8192, 4096, 37), plan(RW_RANDRW, GIB, 8192, 4096, 37),
                plan(RW_WRITE, GIB, 4096, 4096, 0),
        };

        plans[0].numjobs = plans[2].numjobs = 3;
        plans[1].random_map = true;
        for (size_t i = 0; i < ELEMENTSOF(plans); i++)
                for (uint64_t low = 0; low < 1000; low += 7) {
                        Position position = { .low_index = low, .next_index = low + 9, .next_write = 60 };

                        pattern_take_up(&plans[i], false, &position);
                        ck_assert_uint_eq(position.next_index, low);
                        ck_assert_uint_eq(position.low_index, low);
                        ck_assert_uint_eq(position.first_index, 0);
                        ck_assert_uint_eq(position.done_bytes, lengths_before(&plans[i], low));
                }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("pattern");
        TCase *c = tcase_create("pattern");

        tcase_set_timeout(c, 60);
        tcase_add_test(c, random_offsets_are_uniform);
        tcase_add_test(c, random_is_with_replacement);
        tcase_add_test(c, consecutive_offsets_are_independent);
        tcase_add_test(c, random_map_reaches_every_block_once_a_pass);
        tcase_add_test(c, random_map_of_unequal_blocks_reaches_every_one_of_each);
        tcase_add_test(c, random_map_looks_random);
        tcase_add_test(c, sequential_streams_go_up_and_wrap);
        tcase_add_test(c, streams_with_regions_of_their_own_stay_apart);
        tcase_add_test(c, sequential_mix_keeps_a_position_for_each_direction);
        tcase_add_test(c, random_mix_has_the_share_asked_for);
        tcase_add_test(c, direction_says_nothing_about_the_offset);
        tcase_add_test(c, seed_and_slice_alone_decide);
        tcase_add_test(c, the_largest_indices_stay_inside);
        tcase_add_test(c, sequential_mix_at_the_far_end);
        tcase_add_test(c, after_a_clean_stop_it_goes_on_exactly_there);
        tcase_add_test(c, random_order_jumps_over_what_is_not_known);
        tcase_add_test(c, other_orders_repeat_what_is_not_known);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include "engine/tiling.h"

#include <inttypes.h>

#include "engine/pattern.h"
#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"

static PhasePlan plan(RwMode rw, const char *bssplit, uint64_t region_bytes) {
        PhasePlan p = {
                .rw = rw,
                .read_percent = 0,
                .iodepth = 1,
                .numjobs = 1,
                .region_offset = MIB,
                .region_bytes = region_bytes,
                .seed = 42,
        };

        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                ck_assert_int_eq(block_split_parse(&p.split[d], bssplit), 0);
                p.block_bytes[d] = block_smallest(&p.split[d], 0);
                p.n_blocks[d] = region_bytes / p.block_bytes[d];
        }
        return p;
}

static Tiling tiling(const char *bssplit, uint64_t region_bytes) {
        PhasePlan p = plan(RW_WRITE, bssplit, region_bytes);
        Tiling t;

        tiling_init(&t, &p, DIRECTION_WRITE);
        return t;
}

START_TEST(tiles_cover_the_region_without_gap_or_overlap) {
        static const uint64_t regions[] = { 64 * KIB, 1000 * KIB, 3 * MIB + 4 * KIB, 64 * MIB - 4 * KIB };

        for (size_t i = 0; i < ELEMENTSOF(regions); i++) {
                Tiling t = tiling("4k/60:16k/30:64k/10", regions[i]);
                uint64_t end = 0;

                for (uint64_t n = 0; n < t.n_tiles; n++) {
                        Tile tile = tiling_at(&t, n);

                        ck_assert_uint_eq(tile.start, end);
                        ck_assert_uint_eq(tiling_bytes_before(&t, n), end);
                        ck_assert_uint_gt(tile.bytes, 0);
                        ck_assert_uint_eq(tile.bytes % (4 * KIB), 0);
                        end += tile.bytes;
                }
                ck_assert_uint_eq(end, regions[i]);
                ck_assert_uint_eq(tiling_bytes_before(&t, 3 * t.n_tiles + 1), 3 * end + tiling_at(&t, 0).bytes);
        }
}
END_TEST

START_TEST(each_hundred_has_the_exact_shares) {
        Tiling t = tiling("4k/57:16k/33:64k/10", 64 * MIB);

        for (uint64_t first = 0; first + 100 < t.n_tiles; first += 100) {
                unsigned n_small = 0, n_large = 0, n_in_row = 0;

                for (uint64_t n = first; n < first + 100; n++) {
                        n_small += tiling_at(&t, n).bytes == 4 * KIB;
                        n_large += tiling_at(&t, n).bytes == 64 * KIB;
                        n_in_row += tiling_at(&t, n).bytes == tiling_at(&t, n + 1).bytes;
                }
                ck_assert_uint_eq(n_small, 57);
                ck_assert_uint_eq(n_large, 10);
                ck_assert_uint_lt(n_in_row, 70); /* not one size after the other: 97 */
        }
}
END_TEST

START_TEST(draws_have_the_shares_and_stay_inside) {
        Tiling t = tiling("4k/60:16k/40", 64 * MIB);
        unsigned n_small = 0;
        enum { N = 200000 };

        for (uint64_t i = 0; i < N; i++) {
                uint64_t start = hash_below(hash_mix64(i), 16 * KIB) * 4 * KIB;
                uint32_t bytes = tiling_draw(&t, start, hash_mix64_2(1, i));

                if ((bytes != 4 * KIB && bytes != 16 * KIB) || start + bytes > 64 * MIB)
                        ck_abort_msg("%" PRIu32 " bytes at %" PRIu64, bytes, start);
                n_small += bytes == 4 * KIB;
        }
        ck_assert_double_eq_tol(n_small / (double) N, 0.6, 0.005);
        for (uint64_t i = 0; i < 100; i++)
                ck_assert_uint_eq(tiling_draw(&t, 64 * MIB - 4 * KIB, hash_mix64(i)), 4 * KIB);
}
END_TEST

/* The smallest size aligns even where none has it. */
START_TEST(where_nothing_fits_the_smallest_is_taken) {
        Tiling t = tiling("4k:64k/100", 64 * MIB);

        ck_assert_uint_eq(tiling_draw(&t, 64 * MIB - 8 * KIB, 1), 4 * KIB);
        ck_assert_uint_eq(tiling_draw(&t, 0, 1), 64 * KIB);
}
END_TEST

static void check_pass_covers_all(const Pattern *pattern, uint64_t n_tiles, uint64_t region_bytes, uint64_t pass) {
        static uint8_t written[4096];
        uint64_t n_bytes = 0;

        memset(written, 0, sizeof(written));
        for (uint64_t n = pass * n_tiles; n < (pass + 1) * n_tiles; n++) {
                PatternOp op = pattern_at(pattern, n);

                for (uint64_t k = (op.offset - MIB) / 4096; k < (op.offset - MIB + op.length) / 4096; k++)
                        ck_assert_uint_eq(written[k]++, 0);
                n_bytes += op.length;
        }
        ck_assert_uint_eq(n_bytes, region_bytes);
}

START_TEST(random_map_writes_everything_once_a_pass) {
        PhasePlan p = plan(RW_RANDWRITE, "4k/60:16k/30:64k/10", 10 * MIB + 4 * KIB);
        Pattern pattern;

        p.random_map = true;
        pattern_init(&pattern, &p, 0);
        for (uint64_t pass = 0; pass < 3; pass++)
                check_pass_covers_all(&pattern, pattern.tiling[DIRECTION_WRITE].n_tiles, 10 * MIB + 4 * KIB, pass);
}
END_TEST

/*
 * What is taken up again goes on where the bytes issued say that it stood. In the middle of a pass of a map nobody
 * knows without adding up which sizes have come.
 */
START_TEST(taking_up_knows_the_bytes_before) {
        static const RwMode modes[] = { RW_WRITE, RW_READWRITE, RW_RANDWRITE, RW_RANDRW };

        for (size_t i = 0; i < ELEMENTSOF(modes); i++)
                for (uint64_t low = 0; low < 3000; low += 777) {
                        PhasePlan p = plan(modes[i], "4k/60:16k/40", 4 * MIB + 4 * KIB);
                        Position position = { .low_index = low, .next_index = low + 5 };
                        uint64_t bytes = 0;
                        Pattern pattern;

                        p.random_map = true;
                        p.numjobs = 3;
                        p.read_percent = modes[i] == RW_READWRITE || modes[i] == RW_RANDRW ? 30 : 0;
                        pattern_init(&pattern, &p, 0);
                        for (uint64_t n = 0; n < low; n++)
                                bytes += pattern_at(&pattern, n).length;
                        pattern_take_up(&p, false, &position);
                        ck_assert_uint_eq(position.next_index, low);
                        if (rw_mode_is_random(modes[i]))
                                ck_assert_double_eq_tol((double) position.done_bytes, (double) bytes, 300 * KIB);
                        else
                                ck_assert_uint_eq(position.done_bytes, bytes);
                }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("tiling");
        TCase *c = tcase_create("tiling");

        tcase_add_test(c, tiles_cover_the_region_without_gap_or_overlap);
        tcase_add_test(c, each_hundred_has_the_exact_shares);
        tcase_add_test(c, draws_have_the_shares_and_stay_inside);
        tcase_add_test(c, where_nothing_fits_the_smallest_is_taken);
        tcase_add_test(c, random_map_writes_everything_once_a_pass);
        tcase_add_test(c, taking_up_knows_the_bytes_before);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include "analysis/iops-test.h"

#include <math.h>

#include "unit.h"
#include "util/macro.h"

#define N_ROUNDS 8

static const double levels[N_ROUNDS] = { 4000, 2500, 1050, 1000, 990, 1000, 980, 1000 };

/* Rounds of three points, a minute each: reads of 4 KiB, tracked writes, half and half of 8 KiB (twice the tracked). */
static size_t make_passes(IopsPass passes[static 3 * N_ROUNDS]) {
        for (size_t i = 0; i < 3 * N_ROUNDS; i++) {
                static const unsigned percents[] = { 100, 0, 50 };
                static const uint64_t blocks[] = { 4 * KIB, 4 * KIB, 8 * KIB };
                double level = levels[i / 3];

                passes[i] = (IopsPass){
                        .from_s = 60.0 * (double) i,
                        .to_s = 60.0 * (double) (i + 1),
                        .block_bytes = blocks[i % 3],
                        .read_percent = percents[i % 3],
                        .iops = i % 3 == 0 ? 50000 : i % 3 == 1 ? level : 2 * level,
                        .complete = true,
                };
        }
        return 3 * N_ROUNDS;
}

static const IopsPoint *point_at(const IopsTest *test, uint64_t block_bytes, unsigned read_percent) {
        for (size_t i = 0; i < test->n_points; i++)
                if (test->points[i].block_bytes == block_bytes && test->points[i].read_percent == read_percent)
                        return &test->points[i];
        ck_abort_msg("no such point");
}

START_TEST(the_table_is_the_mean_of_the_steady_window) {
        IopsPass passes[3 * N_ROUNDS];
        _cleanup_iops_test_ IopsTest test = {};

        ck_assert_int_eq(iops_test_judge(passes, make_passes(passes), NULL, 0, &test), 1);
        ck_assert_uint_eq(test.snia.n_rounds, N_ROUNDS);
        ck_assert_uint_eq(test.snia.first.first_round, 3);
        ck_assert_double_eq_tol(test.snia.first.average, 1004, 1e-9);
        for (size_t i = 0; i < N_ROUNDS; i++)
                ck_assert_double_eq(test.rounds[i].iops, levels[i]);

        /* Small blocks first, most reads first. */
        ck_assert_uint_eq(test.n_points, 3);
        ck_assert(test.points[0].read_percent == 100 && test.points[1].read_percent == 0);
        ck_assert_uint_eq(test.points[2].block_bytes, 8 * KIB);
        ck_assert_double_eq_tol(test.points[0].iops, 50000, 1e-9);
        ck_assert_double_eq_tol(test.points[1].iops, 1004, 1e-9);
        ck_assert_double_eq_tol(test.points[2].iops, 2008, 1e-9);
}
END_TEST

/* Rounds 1 to 5 of a drive that still falls: reported, and told not to be steady. */
START_TEST(without_a_steady_window_it_is_the_last_one) {
        IopsPass passes[3 * N_ROUNDS];
        _cleanup_iops_test_ IopsTest test = {};

        make_passes(passes);
        ck_assert_int_eq(iops_test_judge(passes, 3 * 5, NULL, 0, &test), 1);
        ck_assert_uint_eq(test.snia.first.first_round, 0);
        ck_assert_uint_eq(test.snia.last.last_round, 5);
        ck_assert_double_eq_tol(point_at(&test, 8 * KIB, 50)->iops, 2 * (4000 + 2500 + 1050 + 1000 + 990) / 5.0, 1e-9);
}
END_TEST

START_TEST(four_rounds_make_no_table) {
        IopsPass passes[3 * N_ROUNDS];
        _cleanup_iops_test_ IopsTest test = {};

        make_passes(passes);
        ck_assert_int_eq(iops_test_judge(passes, 3 * 4, NULL, 0, &test), 1);
        ck_assert_uint_eq(test.snia.n_rounds, 4);
        for (size_t i = 0; i < test.n_points; i++)
                ck_assert(isnan(test.points[i].iops));
}
END_TEST

/* A point that lacks a pass of the window, or one that was broken off, has no mean. */
START_TEST(what_is_missing_is_not_guessed) {
        IopsPass passes[3 * N_ROUNDS];
        _cleanup_iops_test_ IopsTest test = {}, broken = {};

        make_passes(passes);
        ck_assert_int_eq(iops_test_judge(passes, 3 * 7 - 1, NULL, 0, &test), 1);
        ck_assert_uint_eq(test.snia.first.last_round, 7);
        ck_assert(isnan(point_at(&test, 8 * KIB, 50)->iops));
        ck_assert_double_eq_tol(point_at(&test, 4 * KIB, 100)->iops, 50000, 1e-9);

        passes[3 * 4].complete = false;
        ck_assert_int_eq(iops_test_judge(passes, 3 * N_ROUNDS, NULL, 0, &broken), 1);
        ck_assert(isnan(point_at(&broken, 4 * KIB, 100)->iops));
        ck_assert_double_eq_tol(point_at(&broken, 8 * KIB, 50)->iops, 2008, 1e-9);
}
END_TEST

/* In a tracked pass, between two, at its very ends, and in another point beside it. */
START_TEST(no_window_goes_across_a_pause) {
        static const struct {
                double cut_s;
                unsigned n_rounds, first;
        } cases[] = {
                { 60 * (3 * 4 + 1) + 30, 7, 0 }, /* the pass itself is no round */
                { 60 * (3 * 4 + 1), 8, 0 },      /* it begins anew */
                { 60 * (3 * 4 + 2), 8, 0 },      /* the next one does */
                { 60 * (3 * 4) + 30, 8, 0 },
                { 60 * (3 * 2) + 30, 8, 3 },     /* before the window */
                { 60 * (3 * 7) + 30, 8, 3 },     /* after it */
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                IopsPass passes[3 * N_ROUNDS];
                _cleanup_iops_test_ IopsTest test = {};

                ck_assert_int_eq(iops_test_judge(passes, make_passes(passes), &cases[i].cut_s, 1, &test), 1);
                ck_assert_msg(test.snia.n_rounds == cases[i].n_rounds, "case %zu: %u rounds", i, test.snia.n_rounds);
                ck_assert_msg(test.snia.first.first_round == cases[i].first, "case %zu: from %u", i,
                              test.snia.first.first_round);
        }
}
END_TEST

/* The passes of the table are those of the rounds, also where one of them counts not. */
START_TEST(an_interrupted_pass_moves_the_others_not) {
        IopsPass passes[3 * N_ROUNDS];
        _cleanup_iops_test_ IopsTest test = {};

        make_passes(passes);
        passes[1].complete = false; /* round 1; so passes 3 to 7 are rounds 2 to 6 */
        ck_assert_int_eq(iops_test_judge(passes, 3 * N_ROUNDS, NULL, 0, &test), 1);
        ck_assert_uint_eq(test.snia.first.first_round, 2);
        ck_assert_double_eq_tol(test.snia.first.average, 1004, 1e-9);
        ck_assert_double_eq_tol(point_at(&test, 8 * KIB, 50)->iops, 2008, 1e-9);
}
END_TEST

START_TEST(what_is_no_iops_test) {
        IopsPass passes[3 * N_ROUNDS];
        _cleanup_iops_test_ IopsTest test = {};

        make_passes(passes);
        ck_assert_int_eq(iops_test_judge(passes, 0, NULL, 0, &test), 0);
        ck_assert_int_eq(iops_test_judge(passes, 3, NULL, 0, &test), 0);
        /* Writes, something else, and writes again; with something else twice it is one. */
        ck_assert_int_eq(iops_test_judge(passes + 1, 4, NULL, 0, &test), 0);
        ck_assert_ptr_null(test.points);
        ck_assert_int_eq(iops_test_judge(passes + 1, 5, NULL, 0, &test), 1);
}
END_TEST

static Suite *iops_test_suite(void) {
        Suite *suite = suite_create("analysis/iops-test");
        TCase *tcase = tcase_create("iops-test");

        tcase_add_test(tcase, the_table_is_the_mean_of_the_steady_window);
        tcase_add_test(tcase, without_a_steady_window_it_is_the_last_one);
        tcase_add_test(tcase, four_rounds_make_no_table);
        tcase_add_test(tcase, what_is_missing_is_not_guessed);
        tcase_add_test(tcase, no_window_goes_across_a_pause);
        tcase_add_test(tcase, an_interrupted_pass_moves_the_others_not);
        tcase_add_test(tcase, what_is_no_iops_test);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(iops_test_suite)

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

/* --- its end --- */

/* With which pass it ends after so many; -1: it goes on. */
static int end_after(const IopsPass *passes, size_t n_ended, size_t n, const double *cut_s) {
        SniaWindow window;
        size_t last;
        int r = iops_test_end(passes, n_ended, n, cut_s, cut_s ? 1 : 0, &last, &window);

        ck_assert_int_ge(r, 0);
        if (r == 0)
                return -1;
        ck_assert(window.steady);
        return (int) last;
}

/* Round 7 is the last of the steady ones: known with its second pass, and complete with its third. */
START_TEST(it_ends_with_the_round_in_which_it_is_steady) {
        IopsPass passes[3 * N_ROUNDS];
        const int last = 3 * 7 - 1;

        make_passes(passes);
        for (size_t i = 0; i < 3 * N_ROUNDS; i++)
                passes[i].complete = passes[i].complete && i < 3 * 7 - 1; /* as while it goes on */
        for (size_t i = 0; i < 3 * 7 - 1; i++)
                ck_assert_int_eq(end_after(passes, i, 3 * N_ROUNDS, NULL), -1);
        ck_assert_int_eq(end_after(passes, 3 * 7 - 1, 3 * N_ROUNDS, NULL), last);
        /* It stays so, whatever comes later: who asks late hears that it is over. */
        ck_assert_int_eq(end_after(passes, 3 * 7, 3 * N_ROUNDS, NULL), last);
        ck_assert_int_eq(end_after(passes, 3 * N_ROUNDS, 3 * N_ROUNDS, NULL), last);
}
END_TEST

START_TEST(a_pause_puts_its_end_off) {
        IopsPass passes[3 * N_ROUNDS];
        const double in_round_2 = 60 * (3 * 1) + 30, in_round_4 = 60 * (3 * 3) + 30;

        size_t n = make_passes(passes);
        for (size_t i = 0; i < n; i++)
                passes[i].iops = 1000;
        ck_assert_int_eq(end_after(passes, n, n, NULL), 3 * 5 - 1);
        ck_assert_int_eq(end_after(passes, n, n, &in_round_2), 3 * 6 - 1);
        ck_assert_int_eq(end_after(passes, n, n, &in_round_4), 3 * 8 - 1);
        ck_assert_int_eq(end_after(passes, n - 3, n, &in_round_4), -1);
}
END_TEST

/* The passes of a round are counted, so one that was broken off is one, and the round of the others is the same. */
START_TEST(an_interrupted_pass_moves_its_end_with_the_others) {
        IopsPass passes[3 * N_ROUNDS];

        size_t n = make_passes(passes);
        for (size_t i = 0; i < n; i++)
                passes[i].iops = 1000;
        passes[1].complete = false;
        ck_assert_int_eq(end_after(passes, n, n, NULL), 3 * 6 - 1);
}
END_TEST

/* What comes seldom in the job is waited for as long as more of it comes. */
START_TEST(a_round_is_complete_with_what_there_is) {
        IopsPass passes[3 * N_ROUNDS];

        size_t n = make_passes(passes);
        for (size_t i = 0; i < n; i++)
                passes[i].iops = 1000;
        passes[2].block_bytes = 64 * KIB;
        ck_assert_int_eq(end_after(passes, n, n, NULL), 3 * 6 - 1); /* the third point has its fifth pass then */
        ck_assert_int_eq(end_after(passes, 3 * 5, 3 * 6 - 1, NULL), 3 * 5 - 1); /* it never has */
}
END_TEST

START_TEST(points_of_phases) {
        const uint64_t blocks[N_DIRECTIONS] = { 8 * KIB, 4 * KIB, 512 };
        static const struct {
                PhaseAction action;
                RwMode rw;
                int percent; /* -1: no point */
                uint64_t block_bytes;
        } cases[] = {
                { PHASE_ACTION_IO, RW_RANDREAD, 100, 8 * KIB },    { PHASE_ACTION_IO, RW_RANDWRITE, 0, 4 * KIB },
                { PHASE_ACTION_MATRIX, RW_RANDRW, 65, 4 * KIB },   { PHASE_ACTION_IO, RW_WRITE, -1, 0 },
                { PHASE_ACTION_IO, RW_READ, -1, 0 },               { PHASE_ACTION_IO, RW_READWRITE, -1, 0 },
                { PHASE_ACTION_IO, RW_RANDTRIM, -1, 0 },           { PHASE_ACTION_IDLE, RW_RANDWRITE, -1, 0 },
                { PHASE_ACTION_DISCARD, RW_RANDWRITE, -1, 0 },
        };
        IopsPass pass = {};

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                bool is_point = iops_test_point(cases[i].action, cases[i].rw, 65, blocks, &pass);

                ck_assert_msg(is_point == (cases[i].percent >= 0), "case %zu", i);
                ck_assert(!is_point || (int) pass.read_percent == cases[i].percent);
                ck_assert(!is_point || pass.block_bytes == cases[i].block_bytes);
        }
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
        tcase_add_test(tcase, it_ends_with_the_round_in_which_it_is_steady);
        tcase_add_test(tcase, a_pause_puts_its_end_off);
        tcase_add_test(tcase, an_interrupted_pass_moves_its_end_with_the_others);
        tcase_add_test(tcase, a_round_is_complete_with_what_there_is);
        tcase_add_test(tcase, points_of_phases);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(iops_test_suite)

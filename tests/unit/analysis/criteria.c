/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "analysis/criteria.h"
#include "curve.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/hash.h"
#include "util/macro.h"

static SniaWindow window_of(double a, double b, double c, double d, double e) {
        SniaWindow w = { .first_round = 1, .last_round = 5 };
        const double values[] = { a, b, c, d, e };
        snia_window_set(&w, values);
        return w;
}

START_TEST(snia_numbers) {
        /* Ave 1000, range 100; the fit rises by 10 a round. */
        SniaWindow w = window_of(950, 1010, 1000, 1050, 990);
        ck_assert_double_eq_tol(w.average, 1000, 1e-9);
        ck_assert_double_eq_tol(w.data_excursion_allowed, 200, 1e-9);
        ck_assert_double_eq_tol(w.data_excursion, 100, 1e-9);
        ck_assert_double_eq_tol(w.slope_excursion_allowed, 100, 1e-9);
        ck_assert_double_eq_tol(w.fit_slope, 12, 1e-9);
        ck_assert_double_eq_tol(w.slope_excursion, 48, 1e-9);
        ck_assert_double_eq_tol(w.fit_intercept + 3 * w.fit_slope, 1000, 1e-9);
        ck_assert(w.steady);
}
END_TEST

START_TEST(snia_bounds_belong_to_it) {
        ck_assert(window_of(900, 1100, 1000, 1000, 1000).steady);  /* range exactly 20 % */
        ck_assert(!window_of(899, 1101, 1000, 1000, 1000).steady);
        ck_assert(window_of(950, 975, 1000, 1025, 1050).steady);   /* fit changes by exactly 10 % */
        ck_assert(!window_of(949, 974, 1000, 1026, 1051).steady);
        ck_assert(!window_of(0, 0, 0, 0, 0).steady);
        /* Whatever the binary digits. */
        ck_assert(window_of(0.9 * 0.03, 1.1 * 0.03, 0.03, 0.03, 0.03).steady);
        ck_assert(window_of(0.95 * 0.01, 0.975 * 0.01, 0.01, 1.025 * 0.01, 1.05 * 0.01).steady);
}
END_TEST

START_TEST(snia_finds_the_first_window) {
        const CurveStep steps[] = { { 300, 5000, 300 } };
        _cleanup_(curve_done) Curve curve = curve_make(10000, steps, 1, NULL, 1800, 1, 1);
        curve.points[30].ios = 0; /* 1/60 of a round */
        Series series;
        SniaResult result;
        ck_assert_int_eq(series_init(&series, curve.points, curve.n), 0);
        ck_assert_int_eq(snia_judge(&series, &result), 0);
        series_done(&series);
        ck_assert_uint_eq(result.n_rounds, 30);
        ck_assert_uint_eq(result.first.first_round, 1);
        ck_assert_uint_eq(result.first.last_round, 5);
        ck_assert_double_eq_tol(result.first.to_s, 300, 1e-6);
        ck_assert_uint_eq(result.last.last_round, 30);
        ck_assert_double_eq_tol(result.last.average, 5000, 1);
}
END_TEST

START_TEST(snia_needs_five_rounds) {
        _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, NULL, 299, 1, 1);
        Series series;
        SniaResult result;
        ck_assert_int_eq(series_init(&series, curve.points, curve.n), 0);
        ck_assert_int_eq(snia_judge(&series, &result), 0);
        series_done(&series);
        ck_assert_uint_eq(result.n_rounds, 4);
        ck_assert_uint_eq(result.first.first_round, 0);
        ck_assert_uint_eq(result.last.first_round, 0);
}
END_TEST

static SniaResult judge_minutes(const SeriesPoint *points, size_t n) {
        Series series;
        SniaResult result;
        ck_assert_int_eq(series_init(&series, points, n), 0);
        ck_assert_int_eq(snia_judge(&series, &result), 0);
        series_done(&series);
        return result;
}

static void cut_out(Curve *curve, size_t from, size_t to) {
        for (size_t i = from; i < to; i++)
                curve->points[i].cut = true;
}

START_TEST(snia_drops_a_round_that_a_pause_interrupts) {
        /* Cut from 200 s to 231 s, and 30 s more: three rounds before, and from 261 s on 2 of 60 s. */
        _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, NULL, 400, 1, 1);
        cut_out(&curve, 200, 231);
        SniaResult result = judge_minutes(curve.points, curve.n);
        ck_assert_uint_eq(result.n_rounds, 5);
        ck_assert_uint_eq(result.first.first_round, 0); /* five, but not in a row */
        ck_assert_uint_eq(result.last.first_round, 0);
}
END_TEST

START_TEST(snia_window_begins_anew_after_a_pause) {
        _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, NULL, 900, 1, 1);
        cut_out(&curve, 200, 231);
        SniaResult result = judge_minutes(curve.points, curve.n);
        ck_assert_uint_eq(result.n_rounds, 13);
        ck_assert_uint_eq(result.first.first_round, 4);
        ck_assert_double_eq_tol(result.first.from_s, 261, 1e-6);
        ck_assert_double_eq_tol(result.first.to_s, 561, 1e-6);
        ck_assert_uint_eq(result.last.last_round, 13);

        /* Of an end that is too short for a window the last one before it is told. */
        cut_out(&curve, 700, 701);
        result = judge_minutes(curve.points, curve.n);
        ck_assert_uint_eq(result.n_rounds, 12);
        ck_assert_uint_eq(result.last.last_round, 10);
        ck_assert_double_eq_tol(result.last.to_s, 681, 1e-6);
}
END_TEST

START_TEST(snia_rounds_of_passes) {
        /* Passes of the IOPS test, an hour apart: it settles from the third on. */
        SniaRound rounds[] = {
                { 0, 60, 4000 }, { 3600, 3660, 2500 }, { 7200, 7260, 1050 }, { 10800, 10860, 1000 },
                { 14400, 14460, 990 }, { 18000, 18060, 1000 }, { 21600, 21660, 980 }, { 25200, 25260, 1000 },
        };
        SniaResult result;
        snia_judge_rounds(rounds, ELEMENTSOF(rounds), &result);
        ck_assert_uint_eq(result.n_rounds, 8);
        ck_assert_uint_eq(result.first.first_round, 3);
        ck_assert_uint_eq(result.first.last_round, 7);
        ck_assert_double_eq_tol(result.first.from_s, 7200, 1e-9);
        ck_assert_double_eq_tol(result.first.to_s, 21660, 1e-9);
        ck_assert_double_eq_tol(result.first.average, 1004, 1e-9);
        ck_assert_double_eq_tol(result.first.data_excursion, 70, 1e-9);
        ck_assert_double_eq_tol(result.first.fit_slope, -14, 1e-9);
        ck_assert_double_eq_tol(result.first.slope_excursion, 56, 1e-9);
        ck_assert_double_eq_tol(result.first.fit_intercept, 1004 + 5 * 14, 1e-9);
        ck_assert_uint_eq(result.last.first_round, 4);

        rounds[6].after_pause = true;
        snia_judge_rounds(rounds, ELEMENTSOF(rounds), &result);
        ck_assert_uint_eq(result.first.first_round, 0);
        ck_assert_uint_eq(result.last.first_round, 2);
        snia_judge_rounds(rounds, 0, &result);
        ck_assert_uint_eq(result.n_rounds + result.last.first_round, 0);
}
END_TEST

/* As fio computes it, over one window, without any cleverness. */
static double fio_plainly(const double *y, size_t n, bool slope) {
        double sum_x = 0, sum_y = 0, sum_xy = 0, sum_xx = 0, deviation = 0;
        for (size_t i = 0; i < n; i++) {
                double x = (double) i;
                sum_x += x;
                sum_y += y[i];
                sum_xy += x * y[i];
                sum_xx += x * x;
        }
        for (size_t i = 0; i < n; i++)
                deviation = fmax(deviation, fabs(y[i] - sum_y / (double) n));
        double b = (sum_xy - sum_x * sum_y / (double) n) / (sum_xx - sum_x * sum_x / (double) n);
        return 100 * (slope ? fabs(b) / floor(sum_y / (double) n) : deviation / (sum_y / (double) n));
}

START_TEST(fio_agrees_with_the_plain_formula) {
        enum { N = 400, WINDOW = 60 };
        const CurveStep step = { 0, 4000, N };
        const CurveNoise noise = { .sigma = 0.05, .phi = 0.7 };
        for (int slope = 0; slope <= 1; slope++)
                for (uint64_t seed = 0; seed < 20; seed++) {
                        _cleanup_(curve_done) Curve curve = curve_make(5000, &step, 1, &noise, N, 1, seed);
                        double y[N];
                        for (size_t i = 0; i < N; i++)
                                y[i] = curve.points[i].ios;

                        /* The limit lies just above the least value of all windows, so the whole way there is taken. */
                        double least = INFINITY, at = NAN;
                        for (size_t i = 0; i + WINDOW <= N; i++) {
                                double v = fio_plainly(y + i, WINDOW, slope);
                                if (v < least) {
                                        least = v;
                                        at = (double) (i + WINDOW);
                                }
                        }
                        FioCriterion criterion = {
                                .slope = slope, .limit_percent = least + 1e-9, .duration_s = WINDOW,
                        };
                        Series series;
                        FioResult result;
                        ck_assert_int_eq(series_init(&series, curve.points, curve.n), 0);
                        ck_assert_int_eq(fio_judge(&series, &criterion, &result), 0);
                        ck_assert(result.attained);
                        ck_assert_double_eq_tol(result.attained_at_s, at, 1e-6);
                        ck_assert_double_eq_tol(result.value_percent, least, 1e-8);

                        criterion.limit_percent = least - 1e-9;
                        ck_assert_int_eq(fio_judge(&series, &criterion, &result), 0);
                        ck_assert(!result.attained && isnan(result.attained_at_s));
                        series_done(&series);
                }
}
END_TEST

START_TEST(fio_slope_is_that_of_a_second) {
        /* 100 more every 10 s on a mean of 1000 are 1 % a second. */
        SeriesPoint points[11];
        for (size_t i = 0; i < ELEMENTSOF(points); i++)
                points[i] = (SeriesPoint){ .from_s = 10 * (double) i, .to_s = 10 * (double) (i + 1),
                                           .ios = 5000 + 1000 * (double) i };
        FioCriterion criterion = { .slope = true, .limit_percent = 1.001, .duration_s = 110 };
        Series series;
        FioResult result;
        ck_assert_int_eq(series_init(&series, points, ELEMENTSOF(points)), 0);
        ck_assert_int_eq(fio_judge(&series, &criterion, &result), 0);
        series_done(&series);
        ck_assert(result.attained);
        ck_assert_double_eq_tol(result.value_percent, 1, 1e-9);
}
END_TEST

START_TEST(fio_limit_itself_is_not_enough) {
        _cleanup_(curve_done) Curve curve = curve_make(1000, NULL, 0, NULL, 100, 1, 1);
        Series series;
        FioResult result;
        ck_assert_int_eq(series_init(&series, curve.points, curve.n), 0);
        ck_assert_int_eq(fio_judge(&series, &(FioCriterion){ .limit_percent = 0, .duration_s = 30 }, &result), 0);
        ck_assert(!result.attained);
        ck_assert_double_eq_tol(result.value_percent, 0, 1e-9);
        ck_assert_int_eq(fio_judge(&series, &(FioCriterion){ .limit_percent = 0.001, .duration_s = 30 }, &result), 0);
        ck_assert(result.attained);
        ck_assert_double_eq_tol(result.attained_at_s, 30, 1e-6);
        series_done(&series);
}
END_TEST

START_TEST(fio_window_is_as_long_as_told) {
        /* 0.3 s and 0.7 s do not divide a second. */
        static const double steps[] = { 0.1, 0.3, 0.7, 1, 10 };
        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                _cleanup_(curve_done) Curve curve = curve_make(1000, NULL, 0, NULL, 4000, steps[i], 1);
                FioCriterion criterion = { .slope = true, .limit_percent = 0.3, .duration_s = 1800 };
                Series series;
                FioResult result;
                ck_assert_int_eq(series_init(&series, curve.points, curve.n), 0);
                ck_assert_int_eq(fio_judge(&series, &criterion, &result), 0);
                ck_assert(result.attained);
                ck_assert_double_eq_tol(result.attained_at_s, 1800, 1);
                ck_assert_double_eq_tol(result.mean_iops, 1000, 1e-9); /* whatever the binary digits of the times */
                series_done(&series);
        }
}
END_TEST

/* One window of seconds with so many I/Os. */
static FioResult fio_window(const double *ios, size_t n, bool slope, double limit_percent) {
        SeriesPoint points[32];
        for (size_t i = 0; i < n; i++)
                points[i] = (SeriesPoint){ .from_s = (double) i, .to_s = (double) i + 1, .ios = ios[i] };
        FioCriterion criterion = { .slope = slope, .limit_percent = limit_percent, .duration_s = (double) n };
        Series series;
        FioResult result;
        ck_assert_int_eq(series_init(&series, points, n), 0);
        ck_assert_int_eq(fio_judge(&series, &criterion, &result), 0);
        series_done(&series);
        return result;
}

START_TEST(fio_agrees_with_fio) {
        /* The windows of two jobs of fio 3.33, and what it said: -0.025547 %, mean 699; 0.142857 %, mean 700. */
        static const double falling[] = { 701, 699, 701, 698, 702, 700, 700, 698 };
        FioResult result = fio_window(falling, ELEMENTSOF(falling), true, 3);
        ck_assert(result.attained);
        ck_assert_double_eq_tol(result.value_percent, 0.025547, 5e-7);
        ck_assert_double_eq_tol(result.mean_iops, 699, 1e-9);

        static const double even[] = { 700, 700, 699, 701, 700, 700, 700, 700 };
        result = fio_window(even, ELEMENTSOF(even), false, 10);
        ck_assert(result.attained);
        ck_assert_double_eq_tol(result.value_percent, 0.142857, 5e-7);
        ck_assert_double_eq_tol(result.mean_iops, 700, 1e-9);
}
END_TEST

START_TEST(fio_rounds_down) {
        /* 1.9 is 1: five of them do not deviate from their mean. */
        static const double values[] = { 1.1, 1.9, 1.5, 1.2, 1.7 };
        FioResult result = fio_window(values, ELEMENTSOF(values), false, 0.1);
        ck_assert(result.attained);
        ck_assert_double_eq_tol(result.mean_iops, 1, 1e-9);

        /* 1 1 2 2 2 rise by 0.3 a second, held against a mean of 1.6 that counts as 1; and a whole number stays one. */
        static const double rising[] = { 1, 1.9, 2, 2, 2 };
        result = fio_window(rising, ELEMENTSOF(rising), true, 100);
        ck_assert_double_eq_tol(result.value_percent, 30, 1e-9);
        static const double binary[] = { 0.1 + 0.2 + 0.7, 0.1 + 0.2 + 0.7, 0.7 + 0.1 + 0.2 };
        ck_assert_double_eq_tol(fio_window(binary, 3, false, 1).mean_iops, 1, 1e-9);
}
END_TEST

START_TEST(fio_attains_nothing_on_a_dead_drive) {
        static const double dead[5] = {}, almost[] = { 1, 1, 0, 1, 1 }, dying[] = { 1, 1, 1, 0, 0 };
        for (int slope = 0; slope <= 1; slope++) {
                FioResult result = fio_window(dead, ELEMENTSOF(dead), slope, 90);
                ck_assert(!result.attained && isnan(result.value_percent));
                ck_assert_double_eq(result.mean_iops, 0);
        }
        ck_assert(!fio_window(almost, ELEMENTSOF(almost), true, 90).attained);
        ck_assert(isnan(fio_window(dying, ELEMENTSOF(dying), true, 90).value_percent));
        ck_assert(fio_window(almost, ELEMENTSOF(almost), false, 101).attained); /* held against 0.8 */
}
END_TEST

START_TEST(fio_window_begins_anew_after_a_pause) {
        _cleanup_(curve_done) Curve curve = curve_make(1000, NULL, 0, NULL, 200, 1, 1);
        cut_out(&curve, 40, 41);
        FioCriterion criterion = { .slope = true, .limit_percent = 0.3, .duration_s = 60 };
        Series series;
        FioResult result;
        ck_assert_int_eq(series_init(&series, curve.points, curve.n), 0);
        ck_assert_int_eq(fio_judge(&series, &criterion, &result), 0);
        series_done(&series);
        ck_assert(result.attained);
        ck_assert_double_eq_tol(result.attained_at_s, 71 + 60, 1e-6);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("criteria");
        TCase *t = tcase_create("criteria");
        tcase_add_test(t, snia_numbers);
        tcase_add_test(t, snia_bounds_belong_to_it);
        tcase_add_test(t, snia_finds_the_first_window);
        tcase_add_test(t, snia_needs_five_rounds);
        tcase_add_test(t, snia_drops_a_round_that_a_pause_interrupts);
        tcase_add_test(t, snia_window_begins_anew_after_a_pause);
        tcase_add_test(t, snia_rounds_of_passes);
        tcase_add_test(t, fio_agrees_with_fio);
        tcase_add_test(t, fio_rounds_down);
        tcase_add_test(t, fio_attains_nothing_on_a_dead_drive);
        tcase_add_test(t, fio_window_begins_anew_after_a_pause);
        tcase_add_test(t, fio_agrees_with_the_plain_formula);
        tcase_add_test(t, fio_slope_is_that_of_a_second);
        tcase_add_test(t, fio_limit_itself_is_not_enough);
        tcase_add_test(t, fio_window_is_as_long_as_told);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

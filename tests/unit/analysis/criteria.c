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
        ck_assert(window_of(0.09, 0.11, 0.1, 0.1, 0.1).steady);    /* whatever the binary digits */
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
        return 100 * (slope ? fabs(b) : deviation) / (sum_y / (double) n);
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
                series_done(&series);
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("criteria");
        TCase *t = tcase_create("criteria");
        tcase_add_test(t, snia_numbers);
        tcase_add_test(t, snia_bounds_belong_to_it);
        tcase_add_test(t, snia_finds_the_first_window);
        tcase_add_test(t, snia_needs_five_rounds);
        tcase_add_test(t, fio_agrees_with_the_plain_formula);
        tcase_add_test(t, fio_limit_itself_is_not_enough);
        tcase_add_test(t, fio_window_is_as_long_as_told);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

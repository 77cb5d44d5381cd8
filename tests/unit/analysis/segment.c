/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "analysis/noise.h"
#include "analysis/segment.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/hash.h"
#include "util/macro.h"

static double uniform(uint64_t seed, uint64_t i) {
        return (double) (hash_mix64_2(seed, i) >> 11) * 0x1p-53;
}

static double cost_of(const double *y, size_t from, size_t to) {
        double sum = 0, squares = 0;
        for (size_t i = from; i < to; i++) {
                sum += y[i];
                squares += y[i] * y[i];
        }
        return squares - sum * sum / (double) (to - from);
}

/* The least cost of any partition, by trying all last pieces: quadratic, and plain. */
static double best_cost(const double *y, size_t n, double penalty) {
        _cleanup_free_ double *best = calloc(n + 1, sizeof(double));
        best[0] = -penalty;
        for (size_t t = 1; t <= n; t++) {
                best[t] = INFINITY;
                for (size_t s = 0; s < t; s++)
                        best[t] = fmin(best[t], best[s] + cost_of(y, s, t) + penalty);
        }
        return best[n];
}

START_TEST(is_optimal) {
        for (uint64_t seed = 0; seed < 60; seed++) {
                size_t n = 1 + (size_t) (uniform(seed, 1000000) * 250), n_starts;
                double y[256], penalty = 0.01 + 3 * uniform(seed, 1000001), cost = -penalty;
                for (size_t i = 0; i < n; i++)
                        y[i] = 10 + 2 * floor(3 * uniform(seed, 500000 + i / 37)) + uniform(seed, i);

                _cleanup_free_ size_t *starts = NULL;
                ck_assert_int_eq(segment_fpop(y, n, penalty, &starts, &n_starts), 0);
                ck_assert_uint_eq(starts[0], 0);
                for (size_t i = 0; i < n_starts; i++) {
                        size_t end = i + 1 < n_starts ? starts[i + 1] : n;
                        ck_assert_uint_lt(starts[i], end);
                        cost += cost_of(y, starts[i], end) + penalty;
                }
                ck_assert_double_eq_tol(cost, best_cost(y, n, penalty), 1e-6);
        }
}
END_TEST

START_TEST(constant_is_one_piece) {
        double y[100];
        size_t n_starts;
        _cleanup_free_ size_t *starts = NULL;
        for (size_t i = 0; i < ELEMENTSOF(y); i++)
                y[i] = 12.5;
        ck_assert_int_eq(segment_fpop(y, ELEMENTSOF(y), 0.001, &starts, &n_starts), 0);
        ck_assert_uint_eq(n_starts, 1);
}
END_TEST

START_TEST(quantiles) {
        for (uint64_t seed = 0; seed < 200; seed++) {
                double x[64], sorted[64];
                size_t n = 1 + (size_t) (uniform(seed, 99) * 63);
                for (size_t i = 0; i < n; i++)
                        x[i] = sorted[i] = floor(10 * uniform(seed, i));
                for (size_t i = 1; i < n; i++)
                        for (size_t k = i; k > 0 && sorted[k] < sorted[k - 1]; k--) {
                                double t = sorted[k];
                                sorted[k] = sorted[k - 1];
                                sorted[k - 1] = t;
                        }
                double p = uniform(seed, 100), at = p * (double) (n - 1);
                size_t k = (size_t) at;
                double wanted = k + 1 < n ? sorted[k] + (at - (double) k) * (sorted[k + 1] - sorted[k]) : sorted[k];
                ck_assert_double_eq_tol(quantile_inplace(x, n, p), wanted, 1e-12);
                ck_assert_double_eq_tol(median_inplace(x, n), (sorted[(n - 1) / 2] + sorted[n / 2]) / 2, 1e-12);
        }
}
END_TEST

START_TEST(long_run_variance_sees_correlation) {
        enum { N = 4096 };
        static double white[N], slow[N];
        double x = 0;
        for (size_t i = 0; i < N; i++) {
                double e = sqrt(12) * (uniform(1, i) - 0.5); /* unit variance */
                white[i] = 0.1 * e;
                x = 0.9 * x + sqrt(1 - 0.81) * e;
                slow[i] = 0.1 * x;
        }
        /* White noise: its variance, the largest of eight estimates; AR(1) with 0.9: 1.9 / 0.1 = 19 times as much. */
        ck_assert_double_gt(long_run_variance(white, N), 0.008);
        ck_assert_double_lt(long_run_variance(white, N), 0.025);
        ck_assert_double_gt(long_run_variance(slow, N), 0.06); /* 64 times that of neighbours is the most */
        ck_assert_double_lt(long_run_variance(slow, N), 0.4);

        /* A few jumps do not count, and there is a floor. */
        for (size_t i = N / 2; i < N; i++)
                white[i] += 5;
        ck_assert_double_lt(long_run_variance(white, N), 0.03);
        ck_assert_double_eq_tol(long_run_variance((double[]){ 1, 1, 1 }, 3), NOISE_FLOOR * NOISE_FLOOR, 1e-12);
}
END_TEST

/* Levels of 128 values, 0 1 0 2 0 3 ...: only the means of 128 see them, and by so little that they are not capped. */
START_TEST(long_run_variance_has_its_bounds) {
        const double floor_v = NOISE_FLOOR * NOISE_FLOOR, sigma = 1.4826 * 3 * 0.001; /* of 1 -1 2 -2 3 ... 6 */
        double y[12 * 128];
        for (size_t i = 0; i < ELEMENTSOF(y); i++)
                y[i] = i / 128 % 2 ? 0.001 * (double) (i / 256 + 1) : 0;
        ck_assert_double_eq_tol(long_run_variance(y, 12 * 128), 128 * sigma * sigma / 2, 1e-6);
        ck_assert_double_lt(long_run_variance(y, 12 * 128 - 1), 40 * floor_v); /* eleven means are too few */

        for (size_t i = 0; i < ELEMENTSOF(y); i++)
                y[i] = 0.02 * sin((double) i / 80);
        ck_assert_double_eq_tol(long_run_variance(y, ELEMENTSOF(y)), 64 * floor_v, 1e-9);
}
END_TEST

START_TEST(line_goes_beyond_three_point_three_errors) {
        static const struct { double sigmas; int direction; } cases[] = {
                { 3.25, 0 }, { 3.35, 1 }, { -3.25, 0 }, { -3.35, -1 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                double y[11];
                Line l;
                int direction;
                for (size_t k = 0; k < ELEMENTSOF(y); k++)
                        y[k] = cases[i].sigmas * NOISE_FLOOR / sqrt(110) * (double) k;
                ck_assert_int_eq(line_direction(y, ELEMENTSOF(y), &l, &direction), 0);
                ck_assert_double_eq_tol(l.sum_tt, 110, 1e-9);
                ck_assert_int_eq(direction, cases[i].direction);
        }
}
END_TEST

START_TEST(line) {
        Line l = line_fit((double[]){ 1, 3, 5, 7 }, 4);
        ck_assert_double_eq_tol(l.slope, 2, 1e-12);
        ck_assert_double_eq_tol(l.intercept, 1, 1e-12);
        ck_assert_double_eq_tol(l.sum_tt, 5, 1e-12);
        ck_assert_double_eq_tol(l.sum_rr, 0, 1e-12);
        l = line_fit((double[]){ 1, -1, -1, 1 }, 4);
        ck_assert_double_eq_tol(l.slope, 0, 1e-12);
        ck_assert_double_eq_tol(l.sum_rr, 4, 1e-12);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("segment");
        TCase *t = tcase_create("segment");
        tcase_set_timeout(t, 60);
        tcase_add_test(t, is_optimal);
        tcase_add_test(t, constant_is_one_piece);
        tcase_add_test(t, quantiles);
        tcase_add_test(t, long_run_variance_sees_correlation);
        tcase_add_test(t, long_run_variance_has_its_bounds);
        tcase_add_test(t, line_goes_beyond_three_point_three_errors);
        tcase_add_test(t, line);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

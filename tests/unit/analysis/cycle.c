/* SPDX-License-Identifier: MIT */

/* What counts as a cycle: pairs of curves just on either side of each bound, waves in noise, and bursts before them. */

#include <inttypes.h>
#include <math.h>

#include "analysis/cycle.h"
#include "curve.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define HOUR 3600.0

/* Blocks of 10 s that fall from 10000 to `low` at each of `falls` (ends with a 0), for `low_blocks`. */
typedef struct Wave {
        size_t n;
        size_t falls[32];
        size_t low_blocks;
        double low;
} Wave;

static bool cycles(const Wave *wave, Cycle *ret) {
        _cleanup_free_ double *levels = calloc(wave->n, sizeof(double));
        for (size_t i = 0; i < wave->n; i++)
                levels[i] = 10000;
        for (size_t k = 0; k < ELEMENTSOF(wave->falls) && wave->falls[k] > 0; k++)
                for (size_t i = 0; i < wave->low_blocks && wave->falls[k] + i < wave->n; i++)
                        levels[wave->falls[k] + i] = wave->low;
        int r = cycle_find(levels, wave->n, 10, ret);
        ck_assert_int_ge(r, 0);
        return r;
}

START_TEST(takes_ten_minutes_and_thirty_blocks) {
        double levels[60];
        for (size_t i = 0; i < ELEMENTSOF(levels); i++)
                levels[i] = i % 6 >= 3 ? 1000 : 10000;
        for (int enough = 0; enough < 2; enough++) {
                Cycle cycle = {};
                ck_assert_int_eq(cycle_find(levels, enough ? 60 : 59, 10, &cycle), enough);
                cycle_done(&cycle);
                ck_assert_int_eq(cycle_find(levels, enough ? 30 : 29, 60, &cycle), enough);
                cycle_done(&cycle);
        }
}
END_TEST

START_TEST(has_its_bounds) {
        static const struct { const char *what; Wave wave; bool wanted;
        } cases[] = {
                { "depth", { 120, { 10, 30, 50, 70, 90 }, 10, 7050 }, false },
                { "depth", { 120, { 10, 30, 50, 70, 90 }, 10, 6950 }, true },
                { "four falls", { 120, { 10, 30, 50, 70 }, 10, 1000 }, false },
                { "five, over less than half", { 165, { 10, 30, 50, 70, 90 }, 10, 1000 }, false },
                { "five, over half", { 160, { 10, 30, 50, 70, 90 }, 10, 1000 }, true },
                { "nine of 110 s", { 110, { 10, 21, 32, 43, 54, 65, 76, 87, 98 }, 5, 1000 }, false },
                { "ten of 110 s", { 115, { 10, 21, 32, 43, 54, 65, 76, 87, 98, 109 }, 5, 1000 }, true },
                { "five of 120 s", { 70, { 10, 22, 34, 46, 58 }, 5, 1000 }, true },
                { "eleven of 50 s", { 70, { 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55 }, 2, 1000 }, false },
                { "eleven of 60 s", { 80, { 6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66 }, 3, 1000 }, true },
                { "two of ten odd", { 260, { 10, 30, 50, 70, 90, 110, 130, 150, 170, 196, 222 }, 10, 1000 }, true },
                { "three of ten odd", { 260, { 10, 30, 50, 70, 90, 110, 130, 150, 176, 202, 228 }, 10, 1000 }, false },
                { "three a quarter off",
                  { 260, { 10, 30, 50, 70, 90, 110, 130, 150, 175, 200, 225 }, 10, 1000 },
                  true },
                { "low for one in 30", { 300, { 10, 40, 70, 100, 130, 160, 190, 220, 250, 280 }, 1, 1000 }, false },
                { "low for two in 30", { 300, { 10, 40, 70, 100, 130, 160, 190, 220, 250, 280 }, 2, 1000 }, true },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Cycle cycle = {};
                bool found = cycles(&cases[i].wave, &cycle);
                cycle_done(&cycle);
                ck_assert_msg(found == cases[i].wanted, "%s: %d", cases[i].what, found);
        }
}
END_TEST

/* Every second time it comes back, or goes down, only so far. On the way from 1000 to 10000 a third is 2154. */
START_TEST(falls_go_from_the_upper_to_the_lower_third) {
        static const struct { double high, low; size_t n_falls; } cases[] = {
                { 10000, 1000, 12 }, { 4800, 1000, 12 }, { 4500, 1000, 6 }, { 10000, 2100, 12 }, { 10000, 2250, 6 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                double levels[240];
                Cycle cycle = {};
                for (size_t k = 0; k < ELEMENTSOF(levels); k++) {
                        bool second = k / 20 % 2, low = k % 20 >= 10;
                        levels[k] = low ? (second ? cases[i].low : 1000) : (second ? cases[i].high : 10000);
                }
                ck_assert_int_eq(cycle_find(levels, ELEMENTSOF(levels), 10, &cycle), 1);
                ck_assert_msg(cycle.n_falls == cases[i].n_falls, "case %zu: %zu", i, cycle.n_falls);
                ck_assert_double_eq_tol(cycle.period_s, 2400.0 / (double) cases[i].n_falls, 1e-9);
                ck_assert_double_eq_tol(cycle.depth, 0.9, 1e-9);
                cycle_done(&cycle);
        }
}
END_TEST

START_TEST(dead_stop_is_not_endlessly_deep) {
        const Wave wave = { 120, { 10, 30, 50, 70, 90 }, 8, 0 };
        Cycle cycle = {};
        ck_assert(cycles(&wave, &cycle));
        ck_assert_double_eq_tol(cycle.depth, 0.99, 1e-9);
        ck_assert_double_eq_tol(cycle.hi_y, log(10000), 1e-9);
        cycle_done(&cycle);
}
END_TEST

static Analysis *judge_wave(double period_s, double duty, double low, const CurveStep *burst, const CurveNoise *noise,
                            double length_s, uint64_t seed) {
        _cleanup_(curve_done) Curve curve = curve_make(burst ? 40000 : 10000, burst, burst ? 1 : 0, noise, length_s, 1,
                                                       seed);
        for (size_t i = burst ? (size_t) burst->at_s : 0; i < curve.n; i++)
                if (fmod((double) i, period_s) >= duty * period_s)
                        curve.points[i].ios = floor(curve.points[i].ios * low / 10000);
        return curve_judge(&curve, 0);
}

START_TEST(no_collapse_comes_of_a_quick_cycle) {
        static const CurveNoise noises[] = { {}, { .sigma = 0.05 }, { .sigma = 0.12, .heavy_tails = true } };
        for (size_t n = 0; n < ELEMENTSOF(noises); n++)
                for (double period_s = 60; period_s < 130; period_s += 5) {
                        Analysis *a = judge_wave(period_s, 0.5, 500, NULL, &noises[n], 2 * HOUR, 1);
                        ck_assert_msg(a->collapse == COLLAPSE_NONE, "%g s: %s", period_s,
                                      collapse_verdict_name(a->collapse));
                        ck_assert_int_eq(a->steady, STEADY_CYCLING);
                        ck_assert_double_eq_tol(a->cycle_period_s, period_s, 5.1);
                        analysis_free(a);
                }
}
END_TEST

START_TEST(waves_show_in_noise) {
        static const struct { CurveNoise noise; double period_s; } cases[] = {
                { { .sigma = 0.2, .heavy_tails = true, .amplitude = 0.6, .period_s = 900 }, 900 },
                { { .sigma = 0.2, .heavy_tails = true, .amplitude = 0.6, .period_s = 3600 }, 3600 },
                { { .sigma = 0.2, .phi = 0.8, .amplitude = 0.6, .period_s = 300 }, 300 },
                { { .sigma = 0.2, .phi = 0.8, .amplitude = 0.6, .period_s = 1800 }, 1800 },
                { { .sigma = 0.2, .phi = 0.8, .amplitude = 0.35, .period_s = 1800 }, 1800 },
                { { .sigma = 0.6, .phi = 0.9, .amplitude = 0.5, .period_s = 3600 }, 3600 }, /* needs all smoothing */
                { { .sigma = 0.3, .phi = 0.8, .amplitude = 0.4, .period_s = 300 }, 300 },   /* needs a little */
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                for (uint64_t seed = 1; seed <= 10; seed++) {
                        _cleanup_(curve_done) Curve curve = curve_make(6000, NULL, 0, &cases[i].noise, 10 * HOUR, 1,
                                                                       seed);
                        Analysis *a = curve_judge(&curve, 0);
                        ck_assert_msg(a->steady == STEADY_CYCLING, "case %zu, seed %" PRIu64 ": %s", i, seed,
                                      steady_state_name(a->steady));
                        ck_assert_double_eq_tol(a->cycle_period_s, cases[i].period_s, 0.1 * cases[i].period_s);
                        ck_assert_int_eq(a->collapse, COLLAPSE_NONE);
                        analysis_free(a);
                }
}
END_TEST

/* However long it lasts, and whether the cycle begins with its height or with its low. */
START_TEST(burst_before_a_cycle_counts) {
        for (double burst_s = 300; burst_s <= 5000; burst_s += 700) {
                const CurveStep end = { burst_s, 10000, 0 };
                Analysis *a = judge_wave(900, 0.5, 2000, &end, &(CurveNoise){ .sigma = 0.1 }, 5 * HOUR, 1);
                ck_assert_int_eq(a->steady, STEADY_CYCLING);
                ck_assert_double_eq_tol(a->cycle_period_s, 900, 1e-9);
                ck_assert_double_eq_tol(a->burst_iops, 40000, 1000);
                ck_assert_double_eq_tol(a->collapse_at_s, burst_s, 15);
                ck_assert_double_eq_tol(a->collapse_ratio, 0.15, 0.02);
                ck_assert_int_eq(a->collapse, COLLAPSE_COLLAPSE);
                analysis_free(a);
        }
}
END_TEST

START_TEST(what_stands_little_above_a_cycle_is_no_burst) {
        static const struct { double iops; bool burst; } cases[] = { { 10800, false }, { 11300, true } };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(curve_done) Curve curve = curve_make(cases[i].iops, NULL, 0, NULL, 3 * HOUR, 1, 1);
                for (size_t k = 400; k < curve.n; k++)
                        curve.points[k].ios = (k - 400) % 600 < 300 ? 2000 : 10000;
                Analysis *a = curve_judge(&curve, 0);
                ck_assert_int_eq(a->steady, STEADY_CYCLING);
                ck_assert_int_eq(a->burst_iops > 10000, cases[i].burst);
                ck_assert_int_eq(a->collapse != COLLAPSE_NONE, cases[i].burst);
                analysis_free(a);
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("cycle");
        TCase *t = tcase_create("cycle");
        tcase_set_timeout(t, 60);
        tcase_add_test(t, takes_ten_minutes_and_thirty_blocks);
        tcase_add_test(t, has_its_bounds);
        tcase_add_test(t, falls_go_from_the_upper_to_the_lower_third);
        tcase_add_test(t, dead_stop_is_not_endlessly_deep);
        tcase_add_test(t, no_collapse_comes_of_a_quick_cycle);
        tcase_add_test(t, waves_show_in_noise);
        tcase_add_test(t, burst_before_a_cycle_counts);
        tcase_add_test(t, what_stands_little_above_a_cycle_is_no_burst);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

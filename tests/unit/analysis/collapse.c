/* SPDX-License-Identifier: MIT */

/* Regimes and falls: pairs of curves without noise just on either side of each bound. All begin at 10000 IOPS. */

#include <math.h>

#include "curve.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define HOUR 3600.0

static Analysis *judge(const CurveStep *steps, size_t n, double length_s, double step_s) {
        _cleanup_(curve_done) Curve curve = curve_make(10000, steps, n, NULL, length_s, step_s, 1);
        return curve_judge(&curve, 0);
}

START_TEST(words_have_their_ratios) {
        static const struct { double to; CollapseVerdict verdict; } cases[] = {
                { 8010, COLLAPSE_NONE },     { 7990, COLLAPSE_DEGRADED }, { 5010, COLLAPSE_DEGRADED },
                { 4990, COLLAPSE_CLIFF },    { 2010, COLLAPSE_CLIFF },    { 1990, COLLAPSE_COLLAPSE },
                { 501, COLLAPSE_COLLAPSE },  { 499, COLLAPSE_SEVERE },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Analysis *a = judge(&(CurveStep){ 600, cases[i].to, 0 }, 1, 2 * HOUR, 1);
                ck_assert_msg(a->collapse == cases[i].verdict, "%g: %s", cases[i].to,
                              collapse_verdict_name(a->collapse));
                ck_assert_int_eq(isnan(a->collapse_at_s), a->collapse == COLLAPSE_NONE);
                analysis_free(a);
        }
}
END_TEST

/* What lies on the boundary, but for its noise, is not beyond it. */
START_TEST(a_half_in_noise_is_a_half) {
        static const CurveNoise noise = { .sigma = 0.03 };
        for (uint64_t seed = 1; seed <= 20; seed++) {
                _cleanup_(curve_done) Curve curve =
                        curve_make(16000, &(CurveStep){ 60, 8000, 0 }, 1, &noise, 10 * HOUR, 1, seed);
                Analysis *a = curve_judge(&curve, 0);
                ck_assert_msg(a->collapse == COLLAPSE_DEGRADED, "%g", a->collapse_ratio);
                analysis_free(a);
        }
}
END_TEST

START_TEST(regimes_differ_by_a_tenth) {
        static const struct {
                double to;
                size_t n;
        } cases[] = { { 9110, 1 }, { 9080, 2 }, { 10990, 1 }, { 11010, 2 } };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Analysis *a = judge(&(CurveStep){ HOUR, cases[i].to, 0 }, 1, 2 * HOUR, 1);
                ck_assert_msg(a->n_regimes == cases[i].n, "%g: %zu", cases[i].to, a->n_regimes);
                analysis_free(a);
        }
}
END_TEST

/* A burst at the very beginning, to a tenth of it. */
START_TEST(regimes_have_their_shortest_length) {
        static const struct { double burst_s, length_s; size_t n;
        } cases[] = {
                { 20, HOUR, 1 }, { 30, HOUR, 2 }, { 4, 299, 1 },  { 5, 299, 2 },
                { 20, 299, 2 },  { 20, 300, 1 },  { 30, 300, 2 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Analysis *a = judge(&(CurveStep){ cases[i].burst_s, 1000, 0 }, 1, cases[i].length_s, 1);
                ck_assert_msg(a->n_regimes == cases[i].n, "case %zu: %zu", i, a->n_regimes);
                analysis_free(a);
        }
}
END_TEST

/* Less than half of the window of the running median, which is 31 blocks, 11 of half a minute, or five of one. */
START_TEST(outliers_are_no_regimes) {
        static const struct { double dip_s, step_s; size_t n; } cases[] = {
                { 150, 1, 1 }, { 160, 1, 3 }, { 150, 30, 1 }, { 180, 30, 3 }, { 120, 60, 1 }, { 180, 60, 3 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const CurveStep dip[] = { { HOUR, 1000, 0 }, { HOUR + cases[i].dip_s, 10000, 0 } };
                Analysis *a = judge(dip, 2, 3 * HOUR, cases[i].step_s);
                ck_assert_msg(a->n_regimes == cases[i].n, "case %zu: %zu", i, a->n_regimes);
                analysis_free(a);
        }
}
END_TEST

/* One dead block of 360 counts as three sigma of the least noise there is. */
START_TEST(outliers_are_clipped_to_three_sigma) {
        _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, NULL, HOUR, 1, 1);
        for (size_t i = 1000; i < 1010; i++)
                curve.points[i].ios = 0;
        Analysis *a = curve_judge(&curve, 0);
        ck_assert_uint_eq(a->n_regimes, 1);
        ck_assert_double_eq_tol(a->regimes[0].mean_y, log(10000) - 3 * 0.005 / 360, 1e-7);
        analysis_free(a);
}
END_TEST

/* One sample in 17 is more than a twentieth, one in 23 is less. */
START_TEST(regimes_tell_their_outer_twentieths) {
        static const struct { size_t every; double ios, p05, p95; } cases[] = {
                { 17, 9000, 9000, 10000 }, { 23, 9000, 10000, 10000 },
                { 17, 11000, 10000, 11000 }, { 23, 11000, 10000, 10000 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, NULL, HOUR, 1, 1);
                for (size_t k = 0; k < curve.n; k += cases[i].every)
                        curve.points[k].ios = cases[i].ios;
                Analysis *a = curve_judge(&curve, 0);
                ck_assert_uint_eq(a->n_regimes, 1);
                ck_assert_double_eq_tol(a->regimes[0].iops_p05, cases[i].p05, 1e-6);
                ck_assert_double_eq_tol(a->regimes[0].iops_p95, cases[i].p95, 1e-6);
                analysis_free(a);
        }
}
END_TEST

/* Burst, shelf, end: the greater fall is that from the shelf. Whether it fell from there depends on how long that was.
 */
START_TEST(height_of_a_fall_has_lasted) {
        static const struct { double shelf_s, from_iops; } cases[] = { { 290, 10000 }, { 300, 5000 } };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const CurveStep steps[] = { { 600, 5000, 0 }, { 600 + cases[i].shelf_s, 1000, 0 } };
                Analysis *a = judge(steps, 2, 2 * HOUR, 1);
                ck_assert_double_eq_tol(a->collapse_at_s, 600 + cases[i].shelf_s, 1e-6);
                ck_assert_double_eq_tol(a->collapse_from_iops, cases[i].from_iops, 1);
                if (cases[i].shelf_s >= 300) /* from one block to the next, which is not at once */
                        ck_assert_double_eq_tol(a->collapse_fall_s, 10, 1e-6);
                analysis_free(a);
        }
}
END_TEST

/* The shelf goes down by 0.15 (ln) by itself; what follows lies by `fall` below its mean. */
START_TEST(height_of_a_fall_is_level) {
        static const struct { double fall; bool level; } cases[] = { { 0.29, false }, { 0.31, true } };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const double shelf = 10000 * exp(-0.14);
                const CurveStep steps[] = { { 600, shelf, 0 }, { 600, shelf * exp(-0.15), 600 },
                                            { 1200, shelf * exp(-0.075 - cases[i].fall), 0 } };
                Analysis *a = judge(steps, 3, 2 * HOUR, 1);
                ck_assert_double_eq_tol(a->collapse_at_s, 1200, 1e-6);
                ck_assert_double_eq_tol(a->collapse_from_iops, cases[i].level ? shelf * exp(-0.075) : 10000, 20);
                analysis_free(a);
        }
}
END_TEST

/* A straight way to a tenth in 1000 s, from 600 on; single blocks that stand out of it change nothing. */
START_TEST(fall_goes_from_nine_tenths_to_one) {
        for (int outliers = 0; outliers <= 1; outliers++) {
                _cleanup_(curve_done) Curve curve = curve_make(10000, &(CurveStep){ 600, 1000, 1000 }, 1, NULL,
                                                               2 * HOUR, 1, 1);
                for (size_t i = 0; i < 10 && outliers; i++) {
                        curve.points[760 + i].ios = 10000;
                        curve.points[1000 + i].ios = 1000;
                }
                Analysis *a = curve_judge(&curve, 0);
                ck_assert_double_eq_tol(a->collapse_from_iops, 10000, 20);
                ck_assert_double_eq_tol(a->collapse_from_s, 700, 11);
                ck_assert_double_eq_tol(a->collapse_fall_s, 800, 21);
                analysis_free(a);
        }
}
END_TEST

/* Twenty seconds at 1000 among 4000 are 2000 in the mean of thirty; in a short run three of five seconds. */
START_TEST(trough_is_that_of_half_a_minute) {
        static const struct { double at_s, dip_s, length_s, trough; } cases[] = {
                { 600, 20, 2 * HOUR, 2000 }, { 100, 3, 299, 2200 }, { 100, 20, 400, 2000 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const double dip_s = cases[i].at_s + 60;
                const CurveStep steps[] = { { cases[i].at_s, 4000, 0 }, { dip_s, 1000, 0 },
                                            { dip_s + cases[i].dip_s, 4000, 0 } };
                Analysis *a = judge(steps, 3, cases[i].length_s, 1);
                ck_assert_double_eq_tol(a->collapse_at_s, cases[i].at_s, 1e-6);
                ck_assert_double_eq_tol(a->collapse_trough_iops, cases[i].trough, 1e-6);
                ck_assert_double_eq_tol(a->collapse_recovered_ratio,
                                        (a->steady_iops - cases[i].trough) / (10000 - cases[i].trough), 1e-6);
                analysis_free(a);
        }
}
END_TEST

START_TEST(dip_that_was_regained_is_not_where_it_fell) {
        const CurveStep steps[] = { { HOUR, 1000, 0 }, { HOUR + 400, 10000, 0 }, { 2 * HOUR, 4000, 0 } };
        Analysis *a = judge(steps, ELEMENTSOF(steps), 4 * HOUR, 1);
        ck_assert_int_eq(a->collapse, COLLAPSE_CLIFF);
        ck_assert_double_eq_tol(a->collapse_ratio, 0.4, 1e-3);
        ck_assert(isnan(a->collapse_at_s)); /* it had been lower than it is at the end */
        analysis_free(a);
}
END_TEST

static Analysis *judge_with_cut(const CurveStep *steps, size_t n, size_t cut) {
        _cleanup_(curve_done) Curve curve = curve_make(10000, steps, n, NULL, 2 * HOUR, 1, 1);
        curve.points[cut].cut = true;
        return curve_judge(&curve, 0);
}

START_TEST(fall_across_a_cut_is_told_without_its_time) {
        const CurveStep steps[] = { { 1000, 3000, 0 } };
        Analysis *a = judge_with_cut(steps, 1, 999);
        ck_assert_int_eq(a->collapse, COLLAPSE_CLIFF);
        ck_assert_double_eq_tol(a->collapse_ratio, 0.3, 1e-3);
        ck_assert(a->collapse_across_cut);
        ck_assert(isnan(a->collapse_at_s) && isnan(a->collapse_from_s) && isnan(a->collapse_from_iops));
        ck_assert(isnan(a->collapse_fall_s) && isnan(a->collapse_trough_iops) && isnan(a->collapse_recovered_ratio));
        analysis_free(a);
}
END_TEST

START_TEST(fall_elsewhere_is_told_beside_a_cut) {
        static const struct { double shelf_iops; bool across_cut; } cases[] = { { 3000, true }, { 6000, false } };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const CurveStep steps[] = { { 1000, cases[i].shelf_iops, 0 }, { 3000, 2100, 0 } };
                Analysis *a = judge_with_cut(steps, 2, 999);
                ck_assert_int_eq(a->collapse, COLLAPSE_CLIFF);
                ck_assert_double_eq_tol(a->collapse_at_s, 3000, 11);
                ck_assert_int_eq(a->collapse_across_cut, cases[i].across_cut);
                analysis_free(a);
        }
}
END_TEST

/* --- stalls, floor, silence --- */

/* Flat, but each `every` seconds one of so many I/Os. */
static Analysis *judge_stalls(double iops, size_t every, double ios, double length_s) {
        _cleanup_(curve_done) Curve curve = curve_make(iops, NULL, 0, NULL, length_s, 1, 1);
        for (size_t i = every / 2; i < curve.n; i += every)
                curve.points[i].ios = ios;
        return curve_judge(&curve, 0);
}

START_TEST(a_passage_later_on_is_no_burst) {
        static const struct { double begin_s, end_s, burst; } cases[] = {
                { 0, 200, 20000 },     /* the first thing it did */
                { 200, 400, 20000 },   /* after a passage */
                { 1000, 1200, 10000 }, /* after a state of its own */
                { 1000, 1400, 20000 }, /* which is one, too */
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const CurveStep steps[] = { { cases[i].begin_s, 20000, 0 }, { cases[i].end_s, 10000, 0 } };
                _cleanup_(curve_done) Curve curve = curve_make(cases[i].begin_s > 500 ? 10000 : 5000, steps,
                                                               ELEMENTSOF(steps), NULL, 2 * HOUR, 1, 1);
                Analysis *a = curve_judge(&curve, 0);
                ck_assert_uint_eq(a->n_regimes, i == 0 ? 2 : 3);
                ck_assert_double_eq_tol(a->burst_iops, cases[i].burst, 1e-6);
                analysis_free(a);
        }
}
END_TEST

/* Levels among which a drive wanders after its cliff, each too short to be a state. */
static const double low_levels[] = { 400, 1200, 2000, 700 };

START_TEST(a_fall_to_passages_is_a_fall) {
        unsigned n_none = 0, n = 0;
        for (size_t length_s = 60; length_s < 290; length_s += 10)
                for (size_t burst_s = 600; burst_s <= 3600; burst_s += 1500, n++) {
                        _cleanup_(curve_done) Curve curve = curve_make(20000, NULL, 0, NULL, 2 * HOUR, 1, 1);
                        for (size_t k = burst_s; k < curve.n; k++) {
                                size_t i = (k - burst_s) / length_s;
                                curve.points[k].ios = low_levels[(i * i + i / 3) % ELEMENTSOF(low_levels)];
                        }
                        Analysis *a = curve_judge(&curve, MIB);
                        n_none += a->collapse < COLLAPSE_CLIFF;
                        ck_assert_int_ne(a->steady, STEADY_STEADY);
                        analysis_free(a);
                }
        ck_assert_msg(n_none == 0, "%u of %u", n_none, n);
}
END_TEST

START_TEST(passages_are_a_state_when_they_take_as_long) {
        static const struct { CurveStep steps[4]; double length_s, level; int trend; } cases[] = {
                { { { 36000, 500, 0 }, { 36170, 1500, 0 }, { 36180, 1500, 0 }, { 36190, 1500, 0 } }, 36290, 20000, -1 },
                { { { 36000, 500, 0 }, { 36170, 1500, 0 }, { 36340, 600, 0 }, { 36510, 1500, 0 } }, 36680, 1025, 0 },
                { { { 36000, 500, 0 }, { 36200, 1500, 0 }, { 36210, 1500, 0 }, { 36220, 1500, 0 } }, 36400, 1500, 1 },
                { { { 36000, 1500, 0 }, { 36200, 500, 0 }, { 36210, 500, 0 }, { 36220, 500, 0 } }, 36400, 500, -1 },
                /* One side is left alone: back at the old level there is no new one. */
                { { { 36000, 500, 0 }, { 36170, 20000, 0 }, { 36340, 600, 0 }, { 36350, 600, 0 } }, 36510, 20000, -1 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(curve_done) Curve curve = curve_make(20000, cases[i].steps, ELEMENTSOF(cases[i].steps), NULL,
                                                               cases[i].length_s, 1, 1);
                Analysis *a = curve_judge(&curve, MIB);
                ck_assert_msg(fabs(a->steady_iops / cases[i].level - 1) < 0.05 && a->steady == STEADY_DRIFTING,
                              "case %zu: %g, %s", i, a->steady_iops, steady_state_name(a->steady));
                ck_assert_int_eq(a->trend, cases[i].trend);
                if (i == 0) /* they took less: what it did last is the last of them */
                        ck_assert_double_eq_tol(a->end_iops, 1500, 75);
                analysis_free(a);
        }
}
END_TEST

START_TEST(stalls_have_their_bounds) {
        static const struct { double iops, ios; bool stall; } cases[] = {
                { 1000, 98, true }, { 1000, 102, false }, { 10, 0, true }, { 9, 0, false },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Analysis *a = judge_stalls(cases[i].iops, 600, cases[i].ios, HOUR);
                ck_assert_msg(a->n_stalls == (cases[i].stall ? 6 : 0), "case %zu: %u", i, a->n_stalls);
                ck_assert_double_eq_tol(a->longest_stall_s, cases[i].stall, 1e-9);
                analysis_free(a);
        }
}
END_TEST

START_TEST(floor_is_that_of_the_stalls_from_a_twentieth_on) {
        static const struct { size_t every; bool floor; } cases[] = { { 21, false }, { 19, true } };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Analysis *a = judge_stalls(1000, cases[i].every, 50, 2 * HOUR);
                ck_assert_int_eq(a->steady, STEADY_STEADY);
                ck_assert_double_eq_tol(a->stalled_share, 1.0 / (double) cases[i].every, 0.001);
                ck_assert_double_eq_tol(a->floor_iops, cases[i].floor ? 50 : a->steady_iops, 1e-6);
                analysis_free(a);
        }
}
END_TEST

START_TEST(silence_is_told_of_a_drive_that_would_have_done_something) {
        static const struct { double iops; size_t silent; bool told; } cases[] = {
                { 10, 9, false }, { 10, 11, true }, { 1000, 1, true }, { 50, 1, false },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(curve_done) Curve curve = curve_make(cases[i].iops, NULL, 0, NULL, HOUR, 1, 1);
                for (size_t k = curve.n - cases[i].silent; k < curve.n; k++)
                        curve.points[k].ios = 0;
                Analysis *a = curve_judge(&curve, 0);
                ck_assert_double_eq_tol(a->end_silent_s, cases[i].told ? (double) cases[i].silent : 0, 1e-9);
                analysis_free(a);
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("collapse");
        TCase *t = tcase_create("collapse");
        tcase_set_timeout(t, 60);
        tcase_add_test(t, words_have_their_ratios);
        tcase_add_test(t, a_half_in_noise_is_a_half);
        tcase_add_test(t, regimes_differ_by_a_tenth);
        tcase_add_test(t, regimes_have_their_shortest_length);
        tcase_add_test(t, outliers_are_no_regimes);
        tcase_add_test(t, outliers_are_clipped_to_three_sigma);
        tcase_add_test(t, regimes_tell_their_outer_twentieths);
        tcase_add_test(t, height_of_a_fall_has_lasted);
        tcase_add_test(t, height_of_a_fall_is_level);
        tcase_add_test(t, fall_goes_from_nine_tenths_to_one);
        tcase_add_test(t, trough_is_that_of_half_a_minute);
        tcase_add_test(t, dip_that_was_regained_is_not_where_it_fell);
        tcase_add_test(t, fall_across_a_cut_is_told_without_its_time);
        tcase_add_test(t, fall_elsewhere_is_told_beside_a_cut);
        tcase_add_test(t, a_passage_later_on_is_no_burst);
        tcase_add_test(t, a_fall_to_passages_is_a_fall);
        tcase_add_test(t, passages_are_a_state_when_they_take_as_long);
        tcase_add_test(t, stalls_have_their_bounds);
        tcase_add_test(t, floor_is_that_of_the_stalls_from_a_twentieth_on);
        tcase_add_test(t, silence_is_told_of_a_drive_that_would_have_done_something);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/analysis.h"
#include "curve.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define HOUR 3600.0

static const CurveNoise usual = { .sigma = 0.05, .phi = 0.5, .heavy_tails = true };

static Analysis *judge_steps(double iops, const CurveStep *steps, size_t n, const CurveNoise *noise, double length_s,
                             uint64_t capacity) {
        _cleanup_(curve_done) Curve curve = curve_make(iops, steps, n, noise, length_s, 1, 1);
        return curve_judge(&curve, capacity);
}

#define assert_near(x, wanted, tolerance) ck_assert_double_eq_tol(x, wanted, (tolerance) * (wanted))

START_TEST(sandforce_is_severe) {
        const CurveStep steps[] = { { 120, 9000, 5 }, { 1800, 1500, 600 }, { 4 * HOUR, 800, HOUR },
                                    { 8 * HOUR, 500, HOUR } };
        Analysis *a = judge_steps(35000, steps, ELEMENTSOF(steps), &usual, 10 * HOUR, 120 * GIB);
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "severe");
        ck_assert_double_lt(a->collapse_ratio, 0.05);
        assert_near(a->burst_iops, 35000, 0.03);
        ck_assert_double_eq_tol(a->burst_to_s, 120, 15);
        ck_assert_int_ne(a->steady, STEADY_STEADY);
        analysis_free(a);
}
END_TEST

START_TEST(slc_drive_is_degraded) {
        const CurveStep steps[] = { { 60, 8000, 3 } };
        Analysis *a = judge_steps(16000, steps, ELEMENTSOF(steps), &usual, 10 * HOUR, 32 * GIB);
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "degraded");
        ck_assert_double_eq_tol(a->collapse_at_s, 60, 15);
        ck_assert_double_le(a->collapse_fall_s, 30);
        assert_near(a->steady_iops, 8000, 0.01);
        ck_assert_str_eq(steady_state_name(a->steady), "steady");
        ck_assert_double_eq_tol(a->steady_since_s, 60, 60);
        analysis_free(a);
}
END_TEST

START_TEST(trough_and_hump_are_no_steady_state) {
        /* Burst, a trough below the later level, a hump, then flat: as a real drive did. */
        const CurveStep steps[] = { { 250, 115000, 10 }, { 380, 190000, 30 }, { 600, 160000, 60 } };
        Analysis *a = judge_steps(350000, steps, ELEMENTSOF(steps), &usual, 1.3 * HOUR, 745 * GIB);
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "cliff");
        ck_assert_double_eq_tol(a->collapse_at_s, 250, 20);
        assert_near(a->collapse_trough_iops, 115000, 0.05);
        ck_assert_double_gt(a->steady_since_s, 550);
        assert_near(a->steady_iops, 160000, 0.02);
        analysis_free(a);
}
END_TEST

START_TEST(slow_decline_drifts) {
        const CurveStep steps[] = { { 0, 6000, 10 * HOUR } };
        Analysis *a = judge_steps(10000, steps, ELEMENTSOF(steps), &usual, 10 * HOUR, 32 * GIB);
        ck_assert_str_eq(steady_state_name(a->steady), "drifting");
        analysis_free(a);
}
END_TEST

/* A fast decline falls apart into short regimes, each of which moves little by itself. */
START_TEST(decline_within_an_hour_drifts) {
        const CurveStep steps[] = { { 0, 6000, HOUR } };

        for (uint64_t seed = 1; seed <= 20; seed++) {
                _cleanup_(curve_done) Curve curve = curve_make(10000, steps, ELEMENTSOF(steps), &usual, HOUR, 1, seed);
                Analysis *a = curve_judge(&curve, GIB);
                ck_assert_str_eq(steady_state_name(a->steady), "drifting");
                ck_assert_int_eq(a->trend, -1);
                analysis_free(a);
        }
}
END_TEST

START_TEST(what_came_to_rest_is_steady) {
        const CurveStep steps[] = { { 0, 6000, HOUR / 2 } };

        for (uint64_t seed = 1; seed <= 20; seed++) {
                _cleanup_(curve_done) Curve curve = curve_make(10000, steps, ELEMENTSOF(steps), &usual, HOUR, 1, seed);
                Analysis *a = curve_judge(&curve, GIB);
                ck_assert_str_eq(steady_state_name(a->steady), "steady");
                analysis_free(a);
        }
}
END_TEST

START_TEST(the_end_goes_up_or_down_or_nowhere) {
        static const struct {
                CurveStep step;
                int trend;
        } cases[] = {
                { { 0, 6000, 10 * HOUR }, -1 },      { { 0, 16000, 10 * HOUR }, 1 }, /* all the time */
                { { 0, 8700, 5 * HOUR }, -1 },       { { 0, 11500, 5 * HOUR }, 1 },  /* and came to rest half way */
                { { 10 * HOUR - 120, 5000, 0 }, -1 }, { { 10 * HOUR - 120, 20000, 0 }, 1 }, /* just at the end */
                { { HOUR, 5000, 0 }, 0 },            { { 0, 10000, 0 }, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Analysis *a = judge_steps(10000, &cases[i].step, 1, &usual, 10 * HOUR, GIB);
                ck_assert_msg(a->trend == cases[i].trend, "case %zu: %d", i, a->trend);
                ck_assert_str_eq(steady_state_name(a->steady), cases[i].trend == 0 ? "steady" : "drifting");
                analysis_free(a);
        }
}
END_TEST

START_TEST(end_state_must_last_to_be_steady) {
        /* A small drive has moved its volume at once; the level is still too young to be one: under 0.15 T. */
        const CurveStep young[] = { { 10 * HOUR - 5000, 4000, 1 } }, old[] = { { 10 * HOUR - 5800, 4000, 1 } };
        Analysis *a = judge_steps(10000, young, 1, &usual, 10 * HOUR, GIB);
        ck_assert_str_eq(steady_state_name(a->steady), "drifting");
        analysis_free(a);
        a = judge_steps(10000, old, 1, &usual, 10 * HOUR, GIB);
        ck_assert_str_eq(steady_state_name(a->steady), "steady");
        analysis_free(a);
}
END_TEST

START_TEST(low_of_a_cycle_is_no_death) {
        /* It stops for three minutes of each 630 s, and is watched until it has stopped for two of them. */
        _cleanup_(curve_done) Curve curve = curve_make(40000, NULL, 0, &usual, 10 * 630 + 570, 1, 1);
        for (size_t i = 0; i < curve.n; i++)
                if (fmod((double) i, 630) >= 450)
                        curve.points[i].ios = 0;
        Analysis *a = curve_judge(&curve, 0);
        ck_assert(a->has_cycle);
        ck_assert_double_eq_tol(a->end_silent_s, 0, 1e-9);
        analysis_free(a);
}
END_TEST

START_TEST(flat_without_volume_is_not_steady) {
        Analysis *a = judge_steps(1000, NULL, 0, &usual, HOUR, 1024 * GIB);
        ck_assert_str_eq(steady_state_name(a->steady), "not-enough-volume");
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "none");
        assert_near(a->steady_iops, 1000, 0.01);
        analysis_free(a);
}
END_TEST

START_TEST(short_run_is_too_short) {
        const CurveStep steps[] = { { 45, 600, 1 } };
        Analysis *a = judge_steps(7000, steps, 1, &usual, 120, GIB);
        ck_assert_str_eq(steady_state_name(a->steady), "too-short");
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "collapse");
        ck_assert_double_eq_tol(a->collapse_at_s, 45, 3);
        analysis_free(a);
}
END_TEST

START_TEST(cycle_is_no_collapse) {
        /* To near zero and back about every 630 s. */
        _cleanup_(curve_done) Curve curve = curve_make(40000, NULL, 0, &usual, 1.5 * HOUR, 1, 1);
        for (size_t i = 0; i < curve.n; i++)
                if (fmod((double) i, 630) > 450)
                        curve.points[i].ios = floor(curve.points[i].ios / 20);
        Analysis *a = curve_judge(&curve, 0);
        ck_assert_str_eq(steady_state_name(a->steady), "cycling");
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "none");
        ck_assert(a->has_cycle);
        ck_assert_double_eq_tol(a->cycle_period_s, 630, 20);
        ck_assert_double_gt(a->cycle_depth, 0.9);
        analysis_free(a);
}
END_TEST

START_TEST(two_dips_are_no_cycle) {
        const CurveStep steps[] = { { 1000, 2000, 1 }, { 1300, 40000, 1 }, { 2600, 2000, 1 }, { 2900, 40000, 1 } };
        Analysis *a = judge_steps(40000, steps, ELEMENTSOF(steps), &usual, 1.5 * HOUR, 0);
        ck_assert(!a->has_cycle);
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "none");
        analysis_free(a);
}
END_TEST

START_TEST(single_digits_do_not_collapse) {
        /* 1 to 6 I/Os a second, as a floppy. */
        _cleanup_(curve_done) Curve curve = curve_make(3, NULL, 0, &(CurveNoise){ .sigma = 0.5 }, 114, 1, 7);
        Analysis *a = curve_judge(&curve, 1440 * KIB);
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "none");
        ck_assert(isfinite(a->steady_iops) && a->steady_iops > 1 && a->steady_iops < 6);
        ck_assert_uint_eq(a->n_stalls, 0);
        analysis_free(a);
}
END_TEST

START_TEST(dead_drive_gives_numbers_or_nothing) {
        _cleanup_(curve_done) Curve curve = curve_make(0, NULL, 0, NULL, HOUR, 1, 1);
        for (size_t i = 0; i < curve.n; i++)
                curve.points[i].ios = 0;
        Analysis *a = curve_judge(&curve, GIB);
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "none");
        ck_assert(isnan(a->collapse_ratio));
        ck_assert_int_eq(a->steady, STEADY_NOT_ENOUGH_VOLUME);
        ck_assert_double_eq(a->end_silent_s, HOUR);
        analysis_free(a);
}
END_TEST

/* One I/O in some seconds: at regular distances, or by chance. */
START_TEST(slow_drives_have_levels_too) {
        static const struct { double before, fall_s, after, length_s; const char *verdict; } cases[] = {
                { 0.9, HOUR, 0.9, 2 * HOUR, "none" },      { 0.3, HOUR, 0.3, 4 * HOUR, "none" },
                { 0.05, HOUR, 0.05, 10 * HOUR, "none" },   { 0.9, HOUR, 0.3, 2 * HOUR, "cliff" },
                { 2, 1800, 0.6, 2 * HOUR, "cliff" },       { 0.9, HOUR, 0.1, 4 * HOUR, "collapse" },
                { 10, 600, 0.2, HOUR, "severe" },          { 5000, 120, 0.2, HOUR, "severe" },
                { 1, 2 * HOUR, 0, 3 * HOUR, "severe" },    { 0.8, HOUR, 0, 2 * HOUR, "severe" },
                { 0.2, 2 * HOUR, 0, 4 * HOUR, "severe" },  { 5000, 120, 0, HOUR, "severe" },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                for (uint64_t seed = 0; seed <= 10; seed++) {
                        _cleanup_(curve_done) Curve curve = curve_make(0, NULL, 0, NULL, cases[i].length_s, 1, seed);
                        curve_set_rare(&curve, cases[i].before, cases[i].fall_s, cases[i].after, seed);
                        Analysis *a = curve_judge(&curve, GIB);
                        ck_assert_msg(strcmp(collapse_verdict_name(a->collapse), cases[i].verdict) == 0,
                                      "case %zu, seed %" PRIu64 ": %s", i, seed, collapse_verdict_name(a->collapse));
                        ck_assert_double_le(fabs(a->steady_iops - cases[i].after), 0.25 * cases[i].after);
                        if (cases[i].after <= 0) {
                                ck_assert_double_eq_tol(a->end_silent_s, cases[i].length_s - cases[i].fall_s, 30);
                                ck_assert_double_eq_tol(a->collapse_at_s, cases[i].fall_s, 120);
                        }
                        analysis_free(a);
                }
}
END_TEST

START_TEST(few_blocks_tell_nothing) {
        for (size_t n = 0; n < 10; n++) {
                _cleanup_(curve_done) Curve curve = curve_make(1000, NULL, 0, NULL, (double) n, 1, 1);
                Analysis *a = curve_judge(&curve, GIB);
                ck_assert_str_eq(collapse_verdict_name(a->collapse), "none");
                ck_assert(isnan(a->steady_iops) && isnan(a->burst_iops) && isnan(a->collapse_ratio));
                ck_assert_uint_eq(a->n_regimes, 0);
                analysis_free(a);
        }
}
END_TEST

START_TEST(pause_is_no_collapse) {
        /* The drive rests from 1000 s on, and is faster for a while: neither the rest nor what follows is a fall. */
        const CurveStep steps[] = { { 1000, 16000, 0 }, { 1028, 8000, 0 } };
        _cleanup_(curve_done) Curve curve = curve_make(8000, steps, ELEMENTSOF(steps), &usual, 1.5 * HOUR, 1, 1);
        for (size_t i = 990; i < 1000; i++) {
                curve.points[i].ios = 0;
                curve.points[i].cut = true;
        }
        Analysis *a = curve_judge(&curve, 0);
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "none");
        ck_assert_uint_eq(a->n_regimes, 1);
        ck_assert_uint_eq(a->n_stalls, 0);
        analysis_free(a);
}
END_TEST

START_TEST(fall_at_a_cut_is_not_claimed) {
        const CurveStep steps[] = { { 1000, 2000, 0 } };
        _cleanup_(curve_done) Curve curve = curve_make(8000, steps, ELEMENTSOF(steps), &usual, 1.5 * HOUR, 1, 1);
        for (size_t i = 990; i < 1000; i++)
                curve.points[i].cut = true;
        Analysis *a = curve_judge(&curve, 0);
        ck_assert(isnan(a->collapse_at_s));
        analysis_free(a);
}
END_TEST

START_TEST(stalls_are_counted) {
        _cleanup_(curve_done) Curve curve = curve_make(5000, NULL, 0, &usual, HOUR, 1, 1);
        const size_t at[] = { 100, 1000, 1001, 1002, 3000 };
        for (size_t i = 0; i < ELEMENTSOF(at); i++)
                curve.points[at[i]].ios = i % 2 ? 0 : 20;
        Analysis *a = curve_judge(&curve, 0);
        ck_assert_uint_eq(a->n_stalls, 3);
        ck_assert_double_eq_tol(a->longest_stall_s, 3, 1e-9);
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "none");
        analysis_free(a);
}
END_TEST

START_TEST(verdicts_have_their_bounds) {
        static const struct { double to; CollapseVerdict verdict; } cases[] = {
                { 8200, COLLAPSE_NONE }, { 7800, COLLAPSE_DEGRADED }, { 5200, COLLAPSE_DEGRADED },
                { 4800, COLLAPSE_CLIFF }, { 2100, COLLAPSE_CLIFF }, { 1900, COLLAPSE_COLLAPSE },
                { 530, COLLAPSE_COLLAPSE }, { 470, COLLAPSE_SEVERE },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const CurveStep steps[] = { { 600, cases[i].to, 0 } };
                Analysis *a = judge_steps(10000, steps, 1, &(CurveNoise){ .sigma = 0.01 }, 2 * HOUR, 0);
                ck_assert_msg(a->collapse == cases[i].verdict, "%g: %s", cases[i].to,
                              collapse_verdict_name(a->collapse));
                analysis_free(a);
        }
}
END_TEST

START_TEST(gradual_decay_has_its_length) {
        const CurveStep steps[] = { { 600, 2500, HOUR } };
        Analysis *a = judge_steps(10000, steps, 1, &usual, 4 * HOUR, 0);
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "cliff");
        ck_assert_double_gt(a->collapse_fall_s, 1000);
        ck_assert_double_lt(a->collapse_fall_s, 3800);
        analysis_free(a);
}
END_TEST

START_TEST(what_it_did_last_is_told_however_short) {
        const CurveStep steps[] = { { HOUR - 240, 2000, 0 } };
        Analysis *a = judge_steps(50000, steps, 1, &usual, HOUR, GIB);
        ck_assert_str_eq(collapse_verdict_name(a->collapse), "none");
        ck_assert_str_eq(steady_state_name(a->steady), "drifting");
        assert_near(a->steady_iops, 50000, 0.02);
        assert_near(a->end_iops, 2000, 0.02);
        assert_near(a->end_ratio, 0.04, 0.05);
        ck_assert_double_eq_tol(a->end_from_s, HOUR - 240, 10);
        ck_assert_double_eq_tol(a->end_to_s, HOUR, 1e-9);
        ck_assert_double_eq(a->end_silent_s, 0);
        analysis_free(a);
}
END_TEST

START_TEST(silence_at_the_end_is_told_to_the_second) {
        _cleanup_(curve_done) Curve curve = curve_make(5000, NULL, 0, &usual, HOUR, 1, 1);
        for (size_t i = curve.n - 65; i < curve.n; i++)
                curve.points[i].ios = 0;
        Analysis *a = curve_judge(&curve, GIB);
        ck_assert_double_eq_tol(a->end_silent_s, 65, 1e-9);
        analysis_free(a);
}
END_TEST

START_TEST(silence_of_a_slow_drive_says_nothing) {
        _cleanup_(curve_done) Curve curve = curve_make(3, NULL, 0, NULL, HOUR, 1, 1);
        for (size_t i = curve.n - 20; i < curve.n; i++)
                curve.points[i].ios = 0;
        Analysis *a = curve_judge(&curve, GIB);
        ck_assert_double_eq(a->end_silent_s, 0);
        analysis_free(a);
}
END_TEST

START_TEST(a_cycle_has_its_range_and_its_trough_is_the_floor) {
        _cleanup_(curve_done) Curve curve = curve_make(40000, NULL, 0, NULL, 3 * HOUR, 1, 1);
        for (size_t i = 0; i < curve.n; i++)
                if (i % 600 > 450)
                        curve.points[i].ios = 5000; /* no stall */
        Analysis *a = curve_judge(&curve, 0);
        ck_assert_str_eq(steady_state_name(a->steady), "cycling");
        assert_near(a->cycle_low_iops, 5000, 0.01);
        assert_near(a->cycle_high_iops, 40000, 0.01);
        ck_assert_double_eq(a->floor_iops, a->cycle_low_iops);
        ck_assert_double_gt(a->collapse_ratio, 0.9);
        ck_assert_double_lt(a->floor_ratio, 0.2);
        analysis_free(a);
}
END_TEST

/* Ten seconds of each thirty: too quick for a cycle, and its blocks are steady. */
START_TEST(stalls_that_take_their_time_are_the_floor) {
        _cleanup_(curve_done) Curve curve = curve_make(5000, NULL, 0, &usual, 2 * HOUR, 1, 1);
        for (size_t i = 0; i < curve.n; i++)
                if (i % 30 >= 20)
                        curve.points[i].ios = 0;
        Analysis *a = curve_judge(&curve, 0);
        ck_assert_uint_eq(a->n_stalls, 240);
        ck_assert_double_eq_tol(a->stalled_share, 1.0 / 3, 0.01);
        ck_assert_str_eq(steady_state_name(a->steady), "steady");
        ck_assert_double_eq(a->floor_iops, 0);
        ck_assert_double_eq(a->floor_ratio, 0);
        analysis_free(a);
}
END_TEST

START_TEST(rare_stalls_leave_the_floor_where_it_is) {
        _cleanup_(curve_done) Curve curve = curve_make(5000, NULL, 0, &usual, 2 * HOUR, 1, 1);
        for (size_t i = 0; i < curve.n; i += 30)
                curve.points[i].ios = 0;
        Analysis *a = curve_judge(&curve, 0);
        ck_assert_uint_eq(a->n_stalls, 240);
        ck_assert_double_eq(a->floor_iops, a->steady_iops);
        analysis_free(a);
}
END_TEST

START_TEST(slopes_are_told_where_they_mean_something) {
        const CurveStep falls[] = { { 0, 9300, 2 * HOUR } };
        Analysis *a = judge_steps(10000, NULL, 0, &usual, 2 * HOUR, 0); /* flat: noise */
        ck_assert_uint_eq(a->n_regimes, 1);
        ck_assert(isnan(a->regimes[0].slope_percent_per_hour));
        analysis_free(a);

        a = judge_steps(10000, falls, 1, &usual, 2 * HOUR, 0);
        ck_assert_uint_eq(a->n_regimes, 1);
        ck_assert_double_eq_tol(a->regimes[0].slope_percent_per_hour, 100 * (sqrt(0.93) - 1), 0.5);
        analysis_free(a);

        a = judge_steps(10000, falls, 1, &(CurveNoise){ .sigma = 0.01 }, SLOPE_MIN_S - 60, 0); /* too short */
        for (size_t i = 0; i < a->n_regimes; i++)
                ck_assert(isnan(a->regimes[i].slope_percent_per_hour));
        analysis_free(a);
}
END_TEST

START_TEST(a_fall_begins_where_it_begins) {
        const CurveStep steps[] = { { 600, 2500, HOUR } };
        Analysis *a = judge_steps(10000, steps, 1, &usual, 4 * HOUR, 0);
        assert_near(a->collapse_from_iops, 10000, 0.05);
        ck_assert_double_ge(a->collapse_from_s, 600);
        ck_assert_double_le(a->collapse_from_s + a->collapse_fall_s, 600 + HOUR + 60);
        analysis_free(a);
}
END_TEST

START_TEST(the_peak_is_that_of_ten_seconds) {
        _cleanup_(curve_done) Curve curve = curve_make(5000, NULL, 0, NULL, HOUR, 1, 1);
        for (size_t i = 1000; i < 1010; i++)
                curve.points[i].ios = 6000;
        curve.points[2005].ios = 9000;
        Analysis *a = curve_judge(&curve, 0);
        ck_assert_double_eq_tol(a->peak_iops, 6000, 1e-6);
        analysis_free(a);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("analysis");
        TCase *t = tcase_create("analysis");
        tcase_set_timeout(t, 60);
        tcase_add_test(t, sandforce_is_severe);
        tcase_add_test(t, slc_drive_is_degraded);
        tcase_add_test(t, trough_and_hump_are_no_steady_state);
        tcase_add_test(t, slow_decline_drifts);
        tcase_add_test(t, decline_within_an_hour_drifts);
        tcase_add_test(t, what_came_to_rest_is_steady);
        tcase_add_test(t, the_end_goes_up_or_down_or_nowhere);
        tcase_add_test(t, end_state_must_last_to_be_steady);
        tcase_add_test(t, low_of_a_cycle_is_no_death);
        tcase_add_test(t, flat_without_volume_is_not_steady);
        tcase_add_test(t, short_run_is_too_short);
        tcase_add_test(t, cycle_is_no_collapse);
        tcase_add_test(t, two_dips_are_no_cycle);
        tcase_add_test(t, single_digits_do_not_collapse);
        tcase_add_test(t, dead_drive_gives_numbers_or_nothing);
        tcase_add_test(t, slow_drives_have_levels_too);
        tcase_add_test(t, few_blocks_tell_nothing);
        tcase_add_test(t, pause_is_no_collapse);
        tcase_add_test(t, fall_at_a_cut_is_not_claimed);
        tcase_add_test(t, stalls_are_counted);
        tcase_add_test(t, verdicts_have_their_bounds);
        tcase_add_test(t, gradual_decay_has_its_length);
        tcase_add_test(t, what_it_did_last_is_told_however_short);
        tcase_add_test(t, silence_at_the_end_is_told_to_the_second);
        tcase_add_test(t, silence_of_a_slow_drive_says_nothing);
        tcase_add_test(t, a_cycle_has_its_range_and_its_trough_is_the_floor);
        tcase_add_test(t, stalls_that_take_their_time_are_the_floor);
        tcase_add_test(t, rare_stalls_leave_the_floor_where_it_is);
        tcase_add_test(t, slopes_are_told_where_they_mean_something);
        tcase_add_test(t, a_fall_begins_where_it_begins);
        tcase_add_test(t, the_peak_is_that_of_ten_seconds);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

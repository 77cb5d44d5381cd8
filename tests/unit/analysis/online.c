/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "analysis/online.h"
#include "curve.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define HOUR 3600.0

static const CurveNoise usual = { .sigma = 0.05, .phi = 0.5, .heavy_tails = true };

typedef struct Outcome {
        unsigned n_declared, n_revoked;
        SteadyDecision first_declared, last_declared, last_revoked;
} Outcome;

static Outcome watch(const Curve *curve, uint64_t capacity_bytes, double step_s) {
        Outcome o = {};
        SteadyDetector *d;
        ck_assert_int_eq(steady_detector_new(&d, capacity_bytes, step_s), 0);
        for (size_t i = 0; i < curve->n; i++) {
                SteadyDecision decision;
                int r = steady_detector_add(d, &curve->points[i], &decision);
                ck_assert_int_ge(r, 0);
                if (r == STEADY_DECLARED) {
                        if (o.n_declared++ == 0)
                                o.first_declared = decision;
                        o.last_declared = decision;
                } else if (r == STEADY_REVOKED) {
                        o.n_revoked++;
                        o.last_revoked = decision;
                }
        }
        steady_detector_free(d);
        return o;
}

static Outcome watch_steps(double iops, const CurveStep *steps, size_t n, double length_s, uint64_t capacity_bytes) {
        _cleanup_(curve_done) Curve curve = curve_make(iops, steps, n, &usual, length_s, 1, 3);
        return watch(&curve, capacity_bytes, 1);
}

static Outcome watch_quiet(double iops, const CurveStep *steps, size_t n, double length_s, uint64_t capacity_bytes) {
        _cleanup_(curve_done) Curve curve = curve_make(iops, steps, n, NULL, length_s, 1, 3);
        return watch(&curve, capacity_bytes, 1);
}

START_TEST(declared_after_two_fills) {
        /* 10000 IOPS of 4 KiB fill 30 GiB in 786.4 s: a round, a fifth of it, is 16 blocks; ten are 1600 s. */
        Outcome o = watch_quiet(10000, NULL, 0, HOUR, 30 * GIB);
        ck_assert_uint_eq(o.n_declared, 1);
        ck_assert_uint_eq(o.n_revoked, 0);
        ck_assert_double_eq_tol(o.first_declared.at_s, 1600, 1e-6);
        ck_assert_double_eq_tol(o.first_declared.since_s, 800, 1e-6);
        ck_assert_double_eq_tol(o.first_declared.iops, 10000, 1e-6);

        /* 2 × 100 GiB: 5243 s. Noise makes it no earlier, and hardly later. */
        o = watch_steps(10000, NULL, 0, 3 * HOUR, 100 * GIB);
        ck_assert_uint_eq(o.n_declared, 1);
        ck_assert_double_ge(o.first_declared.at_s, 5243);
        ck_assert_double_le(o.first_declared.at_s, 6000);
        ck_assert_double_eq_tol(o.first_declared.iops, 10000, 150);
}
END_TEST

START_TEST(a_small_drive_takes_as_long_as_a_drift_could_hide) {
        /* Rounds of a minute. The least noise hides a fall by a tenth overnight for 130 blocks; a look each tenth. */
        Outcome o = watch_quiet(10000, NULL, 0, HOUR, GIB);
        ck_assert_uint_eq(o.n_declared, 1);
        ck_assert_double_eq_tol(o.first_declared.at_s, 1440, 1e-6);
        ck_assert_double_eq_tol(o.first_declared.since_s, 1140, 1e-6);
}
END_TEST

START_TEST(not_within_an_hour_of_unknown_capacity) {
        Outcome o = watch_quiet(10000, NULL, 0, HOUR, 0);
        ck_assert_uint_eq(o.n_declared, 0);
        /* Rounds are a minute until the tenth, and then a tenth of the time so far: the first to end after an hour. */
        o = watch_quiet(10000, NULL, 0, 2 * HOUR, 0);
        ck_assert_uint_eq(o.n_declared, 1);
        ck_assert_double_eq_tol(o.first_declared.at_s, 3800, 1e-6);
        ck_assert_double_eq_tol(o.first_declared.since_s, 2230, 1e-6);
}
END_TEST

START_TEST(not_in_burst_trough_or_hump) {
        const CurveStep steps[] = { { 250, 115000, 10 }, { 380, 190000, 30 }, { 600, 160000, 60 } };
        Outcome o = watch_steps(350000, steps, ELEMENTSOF(steps), 4 * HOUR, 745 * GIB);
        ck_assert_uint_ge(o.n_declared, 1);
        ck_assert_double_gt(o.first_declared.since_s, 600);
        ck_assert_double_eq_tol(o.first_declared.iops, 160000, 3000);
}
END_TEST

START_TEST(not_in_a_slow_decline) {
        static const double ends[] = { 8500, 8000, 7000, 5000, 3000 };
        static const uint64_t capacities[] = { 0, 10 * GIB, 100 * GIB, 400 * GIB };
        static const CurveNoise noises[] = {
                {}, { .sigma = 0.05, .phi = 0.5 }, { .sigma = 0.2, .phi = 0.5, .heavy_tails = true },
        };
        const CurveNoise *noise = &noises[_i];
        for (size_t e = 0; e < ELEMENTSOF(ends); e++) {
                const CurveStep steps[] = { { 0, ends[e], 10 * HOUR } };
                _cleanup_(curve_done) Curve curve = curve_make(10000, steps, 1, noise, 10 * HOUR, 1, e);
                for (size_t c = 0; c < ELEMENTSOF(capacities); c++)
                        ck_assert_uint_eq(watch(&curve, capacities[c], 1).n_declared, 0);
        }
}
END_TEST

/*
 * A line through a small rise and the fall after it is flat for a while. Levels are straight in themselves, not in the
 * logarithm: `low` at first, 1 after `rise_share` of four hours, and 1 − fall at their end.
 */
static Curve tent(double low, double rise_share, double fall, const CurveNoise *noise) {
        Curve curve = curve_make(10000, NULL, 0, noise, 4 * HOUR, 1, 1);
        double top_s = rise_share * 4 * HOUR;
        for (size_t i = 0; i < curve.n; i++) {
                double t = curve.points[i].from_s;
                double level = t < top_s ? low + (1 - low) * t / top_s : 1 - fall * (t - top_s) / (4 * HOUR - top_s);
                curve.points[i].ios = round(curve.points[i].ios * level);
                curve.points[i].bytes = curve.points[i].ios * 4096;
        }
        return curve;
}

START_TEST(not_in_a_decline_after_a_rise) {
        static const double lows[] = { 0.95, 0.9, 0.8, 0.5 }, rises[] = { 0.05, 0.1, 0.15 }, falls[] = { 0.2, 0.4 };
        static const CurveNoise noises[] = { {}, { .sigma = 0.05 }, { .sigma = 0.2, .phi = 0.8 } };
        for (size_t i = 0; i < ELEMENTSOF(lows); i++)
                for (size_t k = 0; k < ELEMENTSOF(rises) * ELEMENTSOF(falls); k++) {
                        _cleanup_(curve_done) Curve curve = tent(lows[i], rises[k / 2], falls[k % 2], &noises[_i]);
                        Outcome o = watch(&curve, 5 * GIB, 1);
                        ck_assert_msg(o.n_declared == 0, "from %g up to %g of the time, then down by %g: at %g s",
                                      lows[i], rises[k / 2], falls[k % 2], o.first_declared.at_s);
                }
}
END_TEST

/* A quiet drive that makes a round of 3600 s at 10000 IOPS, and what of its ten rounds is one declared at. */
static Outcome watch_ten_rounds(double iops, const CurveStep *steps, size_t n, double length_s) {
        _cleanup_(curve_done) Curve curve = curve_make(iops, steps, n, NULL, length_s, 10, 1);
        return watch(&curve, UINT64_C(5) * 3600 * 10000 * 4096, 10);
}

START_TEST(five_rounds_are_held_against_the_five_before) {
        /* 5 % of 10520 are 526. Rounds are 3430 s at first, and of 10540 IOPS 3420 s. */
        Outcome o = watch_ten_rounds(10520, &(CurveStep){ 17150, 10000, 0 }, 1, 36000);
        ck_assert_uint_eq(o.n_declared, 1);
        ck_assert_double_eq_tol(o.first_declared.at_s, 17150 + 18000, 1e-6);
        o = watch_ten_rounds(10540, &(CurveStep){ 17100, 10000, 0 }, 1, 17100 + 18010);
        ck_assert_uint_eq(o.n_declared, 0);
}
END_TEST

START_TEST(five_rounds_are_held_against_snia) {
        /* The eighth round is low: 19 of 96.2 are 19.8 %, and 20 of 96 are 20.8 %. */
        const CurveStep within[] = { { 25200, 8100, 0 }, { 29650, 10000, 0 } };
        Outcome o = watch_ten_rounds(10000, within, ELEMENTSOF(within), 36860);
        ck_assert_uint_eq(o.n_declared, 1);
        ck_assert_double_eq_tol(o.first_declared.at_s, 29650 + 7200, 1e-6);
        const CurveStep beyond[] = { { 25200, 8000, 0 }, { 29700, 10000, 0 } };
        o = watch_ten_rounds(10000, beyond, ELEMENTSOF(beyond), 36910);
        ck_assert_uint_eq(o.n_declared, 0);
}
END_TEST

START_TEST(the_watch_adds_up_what_is_beyond_seven_and_a_half_percent) {
        static const struct { double share; double after_s; } moves[] = {
                { 0.80, 40 },  /* ln 0.80 + 0.075 = -0.148: four blocks are more than 0.5 */
                { 0.91, 260 }, /* -0.0193: 26 */
                { 1.20, 50 },  /* 0.107: five */
                { 0.50, 30 },  /* clipped to 0.25: 0.175, three */
                { 0.93, 0 },
                { 1.07, 0 },
        };
        for (size_t i = 0; i < ELEMENTSOF(moves); i++) {
                const CurveStep step = { 2000, 10000 * moves[i].share, 0 };
                Outcome o = watch_quiet(10000, &step, 1, HOUR, 30 * GIB);
                ck_assert_uint_eq(o.n_revoked, moves[i].after_s > 0);
                if (o.n_revoked > 0)
                        ck_assert_double_eq_tol(o.last_revoked.at_s, 2000 + moves[i].after_s, 1e-6);
        }
}
END_TEST

START_TEST(the_watch_takes_longer_in_noise) {
        /*
         * The long-run σ of blocks of this noise is 0.19, which only lags of many blocks see: a fall by half, clipped
         * to 3σ, adds 0.5 a block, up to 10σ²/0.075 = 4.8. Ten blocks, and on the mean over these curves twelve.
         */
        static const CurveNoise loud = { .sigma = 0.2, .phi = 0.8 };
        const CurveStep step = { 9 * HOUR, 5000, 0 };
        enum { N_CURVES = 20 };
        double sum_s = 0;
        for (uint64_t seed = 0; seed < N_CURVES; seed++) {
                _cleanup_(curve_done) Curve curve = curve_make(10000, &step, 1, &loud, 10 * HOUR, 1, seed);
                Outcome o = watch(&curve, 0, 1);
                ck_assert_uint_eq(o.n_revoked, 1);
                sum_s += o.last_revoked.at_s - 9 * HOUR;
        }
        ck_assert_double_eq_tol(sum_s / N_CURVES, 120, 6);
}
END_TEST

START_TEST(after_an_alarm_all_begins_anew) {
        /* Rounds of ten minutes. Two minutes at half the level are an alarm, but no more than 2 % of five rounds. */
        const CurveStep dip[] = { { 20000, 5000, 0 }, { 20120, 10000, 0 } };
        _cleanup_(curve_done) Curve curve = curve_make(10000, dip, ELEMENTSOF(dip), NULL, 10 * HOUR, 10, 1);
        Outcome o = watch(&curve, UINT64_C(5) * 600 * 10000 * 4096, 10);
        ck_assert_uint_eq(o.n_revoked, 1);
        ck_assert_double_eq_tol(o.last_revoked.at_s, 20030, 1e-6);
        ck_assert_uint_eq(o.n_declared, 2);
        ck_assert_double_ge(o.last_declared.at_s, 20030 + 10 * 600);
        ck_assert_double_le(o.last_declared.at_s, 20030 + 15 * 600);
}
END_TEST

START_TEST(the_watch_is_held_against_the_mean_of_logarithms) {
        /* Ten seconds at 10000, ten at 2500: the mean of these is a quarter more than what their logarithms say. */
        _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, NULL, 40 * HOUR, 10, 1);
        for (size_t i = 1; i < curve.n; i += 2)
                curve.points[i].ios /= 4;
        Outcome o = watch(&curve, 0, 10);
        ck_assert_uint_eq(o.n_declared, 1);
        ck_assert_uint_eq(o.n_revoked, 0);
        ck_assert_double_lt(o.first_declared.at_s, 35 * HOUR);
        ck_assert_double_eq_tol(o.first_declared.iops, 6250, 10);
}
END_TEST

START_TEST(a_cycle_that_is_over_hides_no_steady_state) {
        _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, NULL, 10 * HOUR, 10, 1);
        for (size_t i = 0; i < 1800; i++)
                curve.points[i].ios = i % 60 < 30 ? 20000 * 10 : 2000 * 10;
        Outcome o = watch(&curve, GIB, 10);
        ck_assert_uint_eq(o.n_declared, 1);
        ck_assert_double_ge(o.first_declared.since_s, 18000);
        ck_assert_double_le(o.first_declared.at_s, 9 * HOUR);
}
END_TEST

START_TEST(a_stall_does_not_blind_the_watch) {
        const CurveStep steps[] = { { 1700, 1, 0 }, { 1710, 10000, 0 }, { 4000, 5000, 0 } };
        Outcome o = watch_quiet(10000, steps, ELEMENTSOF(steps), 2 * HOUR, 30 * GIB);
        ck_assert_uint_eq(o.n_revoked, 1);
        ck_assert_double_gt(o.last_revoked.at_s, 4000);
        ck_assert_double_le(o.last_revoked.at_s, 4150);
}
END_TEST

START_TEST(revoked_when_the_drive_falls_later) {
        const CurveStep steps[] = { { 2 * HOUR, 1000, 60 } };
        Outcome o = watch_steps(10000, steps, 1, 4 * HOUR, 10 * GIB);
        ck_assert_uint_eq(o.n_revoked, 1);
        ck_assert_double_ge(o.last_revoked.at_s, 2 * HOUR);
        ck_assert_double_le(o.last_revoked.at_s, 2 * HOUR + 120);
        ck_assert_double_eq_tol(o.last_revoked.iops, 10000, 300);
        ck_assert_uint_eq(o.n_declared, 2);
        ck_assert_double_eq_tol(o.last_declared.iops, 1000, 30);
}
END_TEST

START_TEST(revoked_by_a_quarter_less) {
        const CurveStep steps[] = { { 2 * HOUR, 7500, 1 } };
        Outcome o = watch_steps(10000, steps, 1, 3 * HOUR, 10 * GIB);
        ck_assert_uint_eq(o.n_revoked, 1);
        ck_assert_double_le(o.last_revoked.at_s, 2 * HOUR + 300);
}
END_TEST

START_TEST(a_dip_does_not_revoke) {
        const CurveStep steps[] = { { 2 * HOUR, 1, 0 }, { 2 * HOUR + 10, 10000, 0 } };
        Outcome o = watch_steps(10000, steps, ELEMENTSOF(steps), 3 * HOUR, 10 * GIB);
        ck_assert_uint_eq(o.n_declared, 1);
        ck_assert_uint_eq(o.n_revoked, 0);
}
END_TEST

START_TEST(cut_samples_do_not_count) {
        _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, &usual, 3 * HOUR, 1, 3);
        for (size_t i = 8000; i < 8300; i++) {
                curve.points[i].ios = 0;
                curve.points[i].cut = true;
        }
        Outcome o = watch(&curve, 10 * GIB, 1);
        ck_assert_uint_eq(o.n_declared, 1);
        ck_assert_uint_eq(o.n_revoked, 0);
}
END_TEST

/* A drive that rested is watched on: the cut revokes nothing, but what comes after the first half minute may. */
START_TEST(a_cut_is_no_end_of_a_steady_state) {
        static const struct { double rested, after; bool revoked; } cases[] = {
                { 10000, 10000, false }, { 30000, 10000, false }, { 10000, 30000, true }, { 10000, 7000, true },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const CurveStep steps[] = { { 8100, cases[i].rested, 0 }, { 8130, cases[i].after, 0 } };
                _cleanup_(curve_done) Curve curve = curve_make(10000, steps, ELEMENTSOF(steps), NULL, 9000, 1, 1);
                for (size_t k = 8000; k < 8100; k++)
                        curve.points[k].cut = true;
                Outcome o = watch(&curve, 10 * GIB, 1);
                ck_assert_uint_ge(o.n_declared, 1);
                ck_assert_double_lt(o.first_declared.at_s, 8000);
                ck_assert_uint_eq(o.n_revoked, cases[i].revoked);
                if (cases[i].revoked)
                        ck_assert_double_eq_tol(o.last_revoked.at_s, 8160, 10);
        }
}
END_TEST

START_TEST(a_cycle_is_never_steady) {
        /* Rounds that are as long as the period are all alike. */
        _cleanup_(curve_done) Curve curve = curve_make(40000, NULL, 0, &usual, 3 * HOUR, 1, 1);
        for (size_t i = 0; i < curve.n; i++)
                if (fmod((double) i, 600) >= 400)
                        curve.points[i].ios = floor(curve.points[i].ios / 20);
        double bytes_a_period = 0;
        for (size_t i = 0; i < 600; i++)
                bytes_a_period += curve.points[i].ios * 4096;
        Outcome o = watch(&curve, (uint64_t) (5 * bytes_a_period), 1);
        ck_assert_uint_eq(o.n_declared, 0);

        /* Overnight many quick ones rule out a drift. */
        _cleanup_(curve_done) Curve quick = curve_make(40000, NULL, 0, &usual, 10 * HOUR, 1, 1);
        for (size_t i = 0; i < quick.n; i++)
                if (i % 120 >= 80)
                        quick.points[i].ios = floor(quick.points[i].ios / 2);
        o = watch(&quick, 0, 1);
        ck_assert_uint_eq(o.n_declared, 0);
}
END_TEST

START_TEST(interval_of_samples_does_not_matter) {
        static const double steps[] = { 0.1, 0.25, 1, 5, 10, 60 };
        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, NULL, 2 * HOUR, steps[i], 3);
                Outcome o = watch(&curve, 100 * GIB, steps[i]);
                ck_assert_uint_eq(o.n_declared, 1);
                ck_assert_double_eq_tol(o.first_declared.at_s, 5300, 600);
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("online");
        TCase *t = tcase_create("online");
        tcase_set_timeout(t, 60);
        tcase_add_test(t, declared_after_two_fills);
        tcase_add_test(t, a_small_drive_takes_as_long_as_a_drift_could_hide);
        tcase_add_test(t, not_within_an_hour_of_unknown_capacity);
        tcase_add_test(t, not_in_burst_trough_or_hump);
        tcase_add_loop_test(t, not_in_a_slow_decline, 0, 3);
        tcase_add_loop_test(t, not_in_a_decline_after_a_rise, 0, 3);
        tcase_add_test(t, five_rounds_are_held_against_the_five_before);
        tcase_add_test(t, five_rounds_are_held_against_snia);
        tcase_add_test(t, the_watch_adds_up_what_is_beyond_seven_and_a_half_percent);
        tcase_add_test(t, the_watch_takes_longer_in_noise);
        tcase_add_test(t, after_an_alarm_all_begins_anew);
        tcase_add_test(t, the_watch_is_held_against_the_mean_of_logarithms);
        tcase_add_test(t, a_cycle_that_is_over_hides_no_steady_state);
        tcase_add_test(t, a_stall_does_not_blind_the_watch);
        tcase_add_test(t, revoked_when_the_drive_falls_later);
        tcase_add_test(t, revoked_by_a_quarter_less);
        tcase_add_test(t, a_dip_does_not_revoke);
        tcase_add_test(t, cut_samples_do_not_count);
        tcase_add_test(t, a_cut_is_no_end_of_a_steady_state);
        tcase_add_test(t, a_cycle_is_never_steady);
        tcase_add_test(t, interval_of_samples_does_not_matter);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

/* What counts as a cycle: pairs of curves just on either side of each bound, waves in noise, and bursts before them. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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

/* Half of each period at 1, half at `low`, of a level that goes straight from 2000 to `end` of that. */
static Analysis *judge_moving_cycle(double end, double low, size_t period_s, size_t length_s) {
        _cleanup_(curve_done) Curve curve = curve_make(2000, NULL, 0, NULL, (double) length_s, 1, 1);
        for (size_t k = 0; k < curve.n; k++) {
                double level = 1 - (1 - end) * (double) k / (double) length_s;
                curve.points[k].ios = round(2000 * level * (k % period_s < period_s / 2 ? 1 : low));
        }
        return curve_judge(&curve, MIB);
}

START_TEST(a_cycle_that_moves_is_no_state) {
        static const size_t periods_s[] = { 160, 240 }, lengths_s[] = { 3600, 7200 };
        static const double falls[] = { 0.3, -0.3 };
        for (size_t i = 0; i < ELEMENTSOF(periods_s) * ELEMENTSOF(lengths_s); i++)
                for (size_t f = 0; f < ELEMENTSOF(falls); f++) {
                        size_t period_s = periods_s[i % 2], length_s = lengths_s[i / 2];
                        Analysis *a = judge_moving_cycle(1 - falls[f], 0.4, period_s, length_s);
                        double last = 2000 * 0.7 * (1 - falls[f] * (1 - (double) period_s / (double) length_s));
                        ck_assert(a->has_cycle && isnan(a->cycle_until_s));
                        ck_assert_int_eq(a->steady, STEADY_DRIFTING);
                        ck_assert_int_eq(a->trend, falls[f] > 0 ? -1 : 1);
                        ck_assert_double_eq_tol(a->steady_iops, last, 0.15 * last);
                        ck_assert_double_le(a->end_from_s, a->steady_since_s);
                        ck_assert_double_le(a->burst_iops, 2000 * 0.7 * fmax(1, 1 - falls[f]));
                        analysis_free(a);
                }
}
END_TEST

START_TEST(the_low_of_a_cycle_that_moves_is_no_death) {
        /* It stops for the second half of each period, and is watched to the end of one. */
        Analysis *a = judge_moving_cycle(0.7, 0, 240, 7200);
        ck_assert_int_eq(a->steady, STEADY_DRIFTING);
        ck_assert_double_eq_tol(a->end_silent_s, 0, 1e-9);
        analysis_free(a);
}
END_TEST

START_TEST(a_cycle_moves_by_a_tenth) {
        static const struct { double end; SteadyState state; } cases[] = {
                { 0.93, STEADY_CYCLING }, { 0.88, STEADY_DRIFTING }, { 1.06, STEADY_CYCLING },
                { 1.13, STEADY_DRIFTING },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Analysis *a = judge_moving_cycle(cases[i].end, 0.4, 240, 7200);
                ck_assert_msg(a->steady == cases[i].state, "to %g: %s", cases[i].end, steady_state_name(a->steady));
                analysis_free(a);
        }
}
END_TEST

/* As all of them do, where their last half by itself says too little. */
START_TEST(a_cycle_that_moves_shows_in_noise) {
        static const CurveNoise noises[] = { { .sigma = 0.2 }, { .sigma = 0.2, .phi = 0.8 } };
        unsigned n_drifting = 0;
        for (size_t i = 0; i < ELEMENTSOF(noises); i++)
                for (uint64_t seed = 1; seed <= 20; seed++) {
                        const CurveStep decline = { 0, 6600, 2 * HOUR };
                        _cleanup_(curve_done) Curve curve = curve_make(10000, &decline, 1, &noises[i], 2 * HOUR, 1,
                                                                       seed);
                        for (size_t k = 0; k < curve.n; k++)
                                if (k % 300 >= 150)
                                        curve.points[k].ios = round(curve.points[k].ios * 0.4);
                        Analysis *a = curve_judge(&curve, MIB);
                        n_drifting += a->steady == STEADY_DRIFTING && a->trend < 0;
                        analysis_free(a);
                }
        fprintf(stderr, "%u of 40 declining cycles are told\n", n_drifting);
        ck_assert_uint_ge(n_drifting, 36);
}
END_TEST

/* Three times the burst that is left, and a quarter more or less every 200 s. */
static Curve make_ripple(double ramp_from, const CurveNoise *noise, uint64_t seed) {
        const CurveStep steps[] = { { 0, 12000, 1500 }, { 1500, 4200, 0 } };
        return curve_make(ramp_from, steps, ELEMENTSOF(steps), noise, HOUR, 1, seed);
}

START_TEST(a_cliff_under_a_ripple_is_a_cliff) {
        static const CurveNoise noises[] = {
                { .amplitude = 0.25, .period_s = 200 },
                { .amplitude = 0.25, .period_s = 200, .sigma = 0.2 },
                { .amplitude = 0.25, .period_s = 200, .sigma = 0.2, .phi = 0.8 },
        };
        static const double ramps_from[] = { 12000, 4000, 2500 };
        for (size_t i = 0; i < ELEMENTSOF(noises) * ELEMENTSOF(ramps_from); i++)
                for (uint64_t seed = 1; seed <= 10; seed++) {
                        _cleanup_(curve_done) Curve curve = make_ripple(ramps_from[i % 3], &noises[i / 3], seed);
                        Analysis *a = curve_judge(&curve, MIB);
                        ck_assert_int_eq(a->steady, STEADY_CYCLING);
                        ck_assert_int_eq(a->collapse, COLLAPSE_CLIFF);
                        ck_assert_double_eq_tol(a->collapse_ratio, 0.36, 0.08); /* of 0.35 */
                        ck_assert_double_eq_tol(a->collapse_at_s, 1500, 50);
                        ck_assert_double_eq(a->collapse_from_s, a->collapse_at_s);
                        ck_assert_double_eq(a->burst_to_s, a->collapse_at_s);
                        analysis_free(a);
                }
}
END_TEST

START_TEST(a_cliff_under_a_ripple_across_a_cut_has_no_time) {
        static const CurveNoise ripple = { .amplitude = 0.25, .period_s = 200 };
        _cleanup_(curve_done) Curve curve = make_ripple(4000, &ripple, 1);
        curve.points[1499].cut = true;
        Analysis *a = curve_judge(&curve, MIB);
        ck_assert_int_eq(a->collapse, COLLAPSE_CLIFF);
        ck_assert(a->collapse_across_cut && isnan(a->collapse_at_s) && isnan(a->collapse_from_s));
        analysis_free(a);
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
                ck_assert_double_eq(a->collapse_from_s, a->collapse_at_s);
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

/* Peaks from the very beginning, so short that the first of them might be a burst. */
START_TEST(no_collapse_comes_of_brief_peaks) {
        static const CurveNoise noises[] = { {}, { .sigma = 0.05 }, { .sigma = 0.2 },
                                             { .sigma = 0.2, .heavy_tails = true } };
        static const double duties[] = { 0.03, 0.05, 0.08 }, lows[] = { 300, 1500, 4000 };
        for (size_t n = 0; n < ELEMENTSOF(noises); n++)
                for (size_t d = 0; d < ELEMENTSOF(duties); d++)
                        for (size_t l = 0; l < ELEMENTSOF(lows); l++) {
                                Analysis *a = judge_wave(1237, duties[d], lows[l], NULL, &noises[n], 4 * HOUR, 1);
                                ck_assert_msg(a->steady == STEADY_CYCLING && a->collapse == COLLAPSE_NONE,
                                              "noise %zu, duty %g, low %g: %s, %s", n, duties[d], lows[l],
                                              steady_state_name(a->steady), collapse_verdict_name(a->collapse));
                                ck_assert_double_eq_tol(a->cycle_period_s, 1237, 13);
                                analysis_free(a);
                        }
}
END_TEST

/* Regular falls 20 blocks apart, the last at block 190, and so many blocks after it at the high level. */
START_TEST(is_over_when_falls_are_overdue) {
        static const struct { size_t n, end, n_falls; Wave wave; } cases[] = {
                { 220, 220, 10, { .falls = { 10, 30, 50, 70, 90, 110, 130, 150, 170, 190 } } },
                { 221, 210, 10, { .falls = { 10, 30, 50, 70, 90, 110, 130, 150, 170, 190 } } },
                /* One distance of 40: a fall was missing before. */
                { 250, 250, 9, { .falls = { 10, 30, 50, 70, 110, 130, 150, 170, 190 } } },
                { 251, 210, 9, { .falls = { 10, 30, 50, 70, 110, 130, 150, 170, 190 } } },
                /* The last one is out of step. */
                { 250, 250, 11, { .falls = { 10, 30, 50, 70, 90, 110, 130, 150, 170, 190, 232 } } },
                { 251, 210, 10, { .falls = { 10, 30, 50, 70, 90, 110, 130, 150, 170, 190, 232 } } },
                { 271, 230, 11, { .falls = { 10, 30, 50, 70, 90, 110, 130, 150, 170, 190, 210 } } },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Wave wave = cases[i].wave;
                Cycle cycle = {};
                wave.n = cases[i].n;
                wave.low_blocks = 10;
                wave.low = 1000;
                ck_assert(cycles(&wave, &cycle));
                ck_assert_msg(cycle.end == cases[i].end && cycle.n_falls == cases[i].n_falls,
                              "case %zu: %zu falls to %zu", i, cycle.n_falls, cycle.end);
                ck_assert_double_eq_tol(cycle.period_s, 200, 1e-9);
                cycle_done(&cycle);
        }
}
END_TEST

/* From 10000 to 2000 and back, with a mean of 6000, and after two thirds at rest. */
static Analysis *judge_rest(double period_s, double rest_iops, double length_s, const CurveNoise *noise,
                            uint64_t seed) {
        _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, noise, length_s, 1, seed);
        for (size_t i = 0; i < curve.n; i++) {
                double level = (double) i > length_s * 2 / 3                ? rest_iops
                               : fmod((double) i, period_s) >= period_s / 2 ? 2000
                                                                            : 10000;
                curve.points[i].ios = floor(curve.points[i].ios * level / 10000);
                curve.points[i].bytes = curve.points[i].ios * 4096;
        }
        return curve_judge(&curve, MIB);
}

START_TEST(what_came_to_rest_is_judged_by_its_end) {
        static const struct { double iops; CollapseVerdict verdict; } rests[] = {
                { 800, COLLAPSE_COLLAPSE }, { 2600, COLLAPSE_CLIFF }, { 4000, COLLAPSE_DEGRADED },
                { 5500, COLLAPSE_NONE }, { 9000, COLLAPSE_NONE }, { 20000, COLLAPSE_NONE },
        };
        static const CurveNoise noises[] = { {}, { .sigma = 0.05 }, { .sigma = 0.2 }, { .sigma = 0.2, .phi = 0.5 } };
        static const double lengths_s[] = { HOUR, 2 * HOUR, 10 * HOUR };
        for (size_t i = 0; i < ELEMENTSOF(rests); i++)
                for (size_t n = 0; n < ELEMENTSOF(noises); n++)
                        for (size_t l = 0; l < ELEMENTSOF(lengths_s); l++) {
                                double length_s = lengths_s[l], period_s = length_s / 15;
                                Analysis *a = judge_rest(period_s, rests[i].iops, length_s, &noises[n], i + 1);
                                ck_assert_msg(a->steady == STEADY_STEADY && a->collapse == rests[i].verdict,
                                              "%g IOPS, noise %zu, %g s: %s, %s", rests[i].iops, n, length_s,
                                              steady_state_name(a->steady), collapse_verdict_name(a->collapse));
                                ck_assert_double_eq_tol(a->steady_iops, rests[i].iops, 0.05 * rests[i].iops);
                                ck_assert_double_eq_tol(a->steady_since_s, length_s * 2 / 3, period_s);
                                ck_assert(a->has_cycle);
                                ck_assert_double_eq_tol(a->cycle_period_s, period_s, 0.05 * period_s);
                                ck_assert_double_eq_tol(a->cycle_until_s, length_s * 2 / 3, period_s);
                                analysis_free(a);
                        }
}
END_TEST

START_TEST(cycles_that_ended_are_one_regime) {
        Analysis *a = judge_rest(480, 4000, 2 * HOUR, &(CurveNoise){}, 1);
        ck_assert_uint_eq(a->n_regimes, 2);
        ck_assert(a->regimes[0].cycles && !a->regimes[0].transient);
        ck_assert(isnan(a->regimes[0].slope_percent_per_hour));
        ck_assert_double_eq_tol(a->regimes[0].iops_mean, 6000, 200);
        ck_assert(!a->regimes[1].cycles);
        ck_assert_double_eq_tol(a->collapse_at_s, 4560 + 480, 1e-9); /* a period after the last fall */
        analysis_free(a);
}
END_TEST

/* A burst before the cycles is still one, and so is a state that lasted for longer than a period. */
START_TEST(what_was_before_cycles_that_ended_counts) {
        static const struct { double iops, length_s, burst_iops; } cases[] = {
                { 40000, 300, 40000 }, { 8000, 1800, 8000 }, { 8000, 300, 6000 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(curve_done) Curve curve = curve_make(4000, NULL, 0, NULL, 4 * HOUR, 1, 1);
                for (size_t k = 0; (double) k < 9600 + cases[i].length_s; k++)
                        curve.points[k].ios = (double) k < cases[i].length_s ? cases[i].iops
                                              : fmod((double) k - cases[i].length_s, 480) < 240 ? 10000
                                                                                                : 2000;
                Analysis *a = curve_judge(&curve, MIB);
                ck_assert_int_eq(a->steady, STEADY_STEADY);
                ck_assert_double_eq_tol(a->burst_iops, cases[i].burst_iops, 0.06 * cases[i].burst_iops);
                analysis_free(a);
        }
}
END_TEST

START_TEST(a_cycle_after_a_cycle_is_the_state) {
        _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, NULL, 8 * HOUR, 1, 1);
        for (size_t i = 0; i < curve.n; i++)
                if (i < 5 * 3600 ? i % 600 >= 300 : i % 900 >= 450)
                        curve.points[i].ios = i < 5 * 3600 ? 1000 : 5000;
        for (size_t i = 5 * 3600; i < curve.n; i++)
                curve.points[i].ios /= 20;
        Analysis *a = curve_judge(&curve, MIB);
        ck_assert_int_eq(a->steady, STEADY_CYCLING);
        ck_assert_double_eq_tol(a->cycle_period_s, 900, 1e-9);
        ck_assert(isnan(a->cycle_until_s));
        ck_assert_double_eq_tol(a->steady_iops, 375, 10);
        ck_assert_double_eq_tol(a->burst_iops, 5500, 300);
        ck_assert_int_eq(a->collapse, COLLAPSE_COLLAPSE);
        analysis_free(a);
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
        tcase_add_test(t, a_cycle_that_moves_is_no_state);
        tcase_add_test(t, the_low_of_a_cycle_that_moves_is_no_death);
        tcase_add_test(t, a_cycle_moves_by_a_tenth);
        tcase_add_test(t, a_cycle_that_moves_shows_in_noise);
        tcase_add_test(t, a_cliff_under_a_ripple_is_a_cliff);
        tcase_add_test(t, a_cliff_under_a_ripple_across_a_cut_has_no_time);
        tcase_add_test(t, waves_show_in_noise);
        tcase_add_test(t, burst_before_a_cycle_counts);
        tcase_add_test(t, what_stands_little_above_a_cycle_is_no_burst);
        tcase_add_test(t, no_collapse_comes_of_brief_peaks);
        tcase_add_test(t, is_over_when_falls_are_overdue);
        tcase_add_test(t, what_came_to_rest_is_judged_by_its_end);
        tcase_add_test(t, cycles_that_ended_are_one_regime);
        tcase_add_test(t, what_was_before_cycles_that_ended_counts);
        tcase_add_test(t, a_cycle_after_a_cycle_is_the_state);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

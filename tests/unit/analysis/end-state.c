/* SPDX-License-Identifier: MIT */

/*
 * What may be called steady: pairs of curves just on either side of each bound, and declines that noise cuts to pieces.
 * Curves without noise have the smallest long-run variance there is, so that only the bound in question decides.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "curve.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define HOUR 3600.0
#define SMALL MIB /* a device that has been filled often enough by anything */

static const CurveNoise quiet = {};
static const CurveNoise white = { .sigma = 0.2 };
static const CurveNoise correlated = { .sigma = 0.2, .phi = 0.8 };

typedef struct Case {
        CurveStep steps[4]; /* from 10000 IOPS; up to the first of 0 IOPS */
        double length_s;
        const char *state;
} Case;

static Analysis *judge(const Case *c, const CurveNoise *noise, uint64_t seed, uint64_t capacity) {
        size_t n = 0;
        while (n < ELEMENTSOF(c->steps) && c->steps[n].iops > 0)
                n++;
        _cleanup_(curve_done) Curve curve = curve_make(10000, c->steps, n, noise, c->length_s, 1, seed);
        return curve_judge(&curve, capacity);
}

static void assert_states(const Case *cases, size_t n, uint64_t capacity) {
        for (size_t i = 0; i < n; i++) {
                Analysis *a = judge(&cases[i], &quiet, 1, capacity);
                ck_assert_msg(strcmp(steady_state_name(a->steady), cases[i].state) == 0, "case %zu: %s, not %s", i,
                              steady_state_name(a->steady), cases[i].state);
                analysis_free(a);
        }
}

START_TEST(ten_minutes_at_least) {
        static const Case cases[] = { { .length_s = 599, .state = "too-short" },
                                      { .length_s = 600, .state = "steady" } };
        assert_states(cases, ELEMENTSOF(cases), SMALL);
}
END_TEST

START_TEST(two_fills_at_least) {
        const double bytes = 10000 * HOUR * 4096;
        static const Case flat = { .length_s = HOUR };
        static const struct { double fills; SteadyState state; } cases[] = {
                { 1.99, STEADY_NOT_ENOUGH_VOLUME }, { 2.01, STEADY_STEADY },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Analysis *a = judge(&flat, &quiet, 1, (uint64_t) (bytes / cases[i].fills));
                ck_assert_int_eq(a->steady, cases[i].state);
                ck_assert_double_eq_tol(a->steady_bytes, bytes, 1);
                analysis_free(a);
        }
}
END_TEST

START_TEST(without_capacity_half_an_hour_and_half_of_the_time) {
        static const Case cases[] = {
                { { { 3000 - 1790, 5000, 0 } }, 3000, "not-enough-volume" },
                { { { 3000 - 1800, 5000, 0 } }, 3000, "steady" },
                { { { 7200 - 3590, 5000, 0 } }, 7200, "not-enough-volume" },
                { { { 7200 - 3600, 5000, 0 } }, 7200, "steady" },
        };
        assert_states(cases, ELEMENTSOF(cases), 0);
}
END_TEST

START_TEST(state_must_have_lasted) {
        static const Case cases[] = {
                { { { 1200 - 290, 5000, 0 } }, 1200, "drifting" },
                { { { 1200 - 300, 5000, 0 } }, 1200, "steady" },
                { { { 36000 - 5390, 5000, 0 } }, 36000, "drifting" },
                { { { 36000 - 5400, 5000, 0 } }, 36000, "steady" },
        };
        assert_states(cases, ELEMENTSOF(cases), SMALL);
}
END_TEST

START_TEST(passage_at_the_end_is_not_the_state) {
        static const struct { double length_s, end_s, iops; } cases[] = {
                { 1200, 170, 10000 }, { 1200, 180, 5000 }, { 36000, 290, 10000 }, { 36000, 300, 5000 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const Case c = { { { cases[i].length_s - cases[i].end_s, 5000, 0 } }, .length_s = cases[i].length_s };
                Analysis *a = judge(&c, &quiet, 1, SMALL);
                ck_assert_double_eq_tol(a->steady_iops, cases[i].iops, 1);
                ck_assert_int_eq(a->steady, STEADY_DRIFTING);
                ck_assert_double_eq_tol(a->end_iops, 5000, 1);
                analysis_free(a);
        }
}
END_TEST

/* Levels as powers of e: what they fall by, in the logarithm, in the first and in the second half of ten hours. */
START_TEST(it_moves_by_a_tenth) {
        static const struct { double first, second; int trend; const char *by; } cases[] = {
                { 0.129, 0.000, -1, "first and last quarter" }, { 0.125, 0.000, 0, "first and last quarter" },
                { 0.000, 0.049, -1, "line of the last half" }, { 0.000, 0.046, 0, "line of the last half" },
                { 0.058, 0.042, -1, "line of all" }, { 0.050, 0.042, 0, "line of all" },
                { 0.073, 0.025, -1, "last half goes on" }, { 0.075, 0.023, 0, "last half goes on" },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const Case c = { .length_s = 10 * HOUR, .steps = {
                        { 0, 10000 * exp(-cases[i].first), 5 * HOUR },
                        { 5 * HOUR, 10000 * exp(-cases[i].first - cases[i].second), 5 * HOUR } } };
                Analysis *a = judge(&c, &quiet, 1, SMALL);
                ck_assert_uint_eq(a->n_regimes, 1);
                ck_assert_msg(a->trend == cases[i].trend, "case %zu, %s: %d", i, cases[i].by, a->trend);
                ck_assert_int_eq(a->steady, a->trend == 0 ? STEADY_STEADY : STEADY_DRIFTING);
                analysis_free(a);
        }
}
END_TEST

/* A fall that begins after two thirds, of which neither quarters nor lines through all or half of it tell. */
START_TEST(late_decline_in_noise_is_not_steady) {
        static const struct { CurveNoise noise; double end; unsigned max_steady; } cases[] = {
                { { .sigma = 0.2 }, 8500, 2 },          { { .sigma = 0.2, .heavy_tails = true }, 8500, 2 },
                { { .sigma = 0.2, .phi = 0.8 }, 7500, 4 }, { { .sigma = 0.2, .phi = 0.8 }, 6000, 0 },
                { { .sigma = 0.15, .phi = 0.95 }, 7500, 4 }, { { .sigma = 0.15, .phi = 0.95 }, 6000, 2 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                unsigned n_steady = 0;
                for (uint64_t seed = 1; seed <= 40; seed++) {
                        double length_s = seed % 2 ? HOUR : 2 * HOUR;
                        const Case c = { { { length_s * 0.67, cases[i].end, length_s * 0.33 } }, length_s, NULL };
                        Analysis *a = judge(&c, &cases[i].noise, seed, SMALL);
                        n_steady += a->steady == STEADY_STEADY;
                        analysis_free(a);
                }
                ck_assert_msg(n_steady <= cases[i].max_steady, "case %zu: %u of 40", i, n_steady);
        }
}
END_TEST

/* What only looks like such a fall: one step, and rest after it. */
START_TEST(late_step_in_noise_is_steady) {
        static const struct { CurveNoise noise; double end; unsigned max_drifting; } cases[] = {
                { { .sigma = 0.2 }, 8500, 0 },             { { .sigma = 0.2, .heavy_tails = true }, 8500, 0 },
                { { .sigma = 0.2, .phi = 0.8 }, 7500, 4 }, { { .sigma = 0.2, .phi = 0.8 }, 6000, 2 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                unsigned n_drifting = 0;
                for (uint64_t seed = 1; seed <= 40; seed++) {
                        double length_s = seed % 2 ? HOUR : 2 * HOUR;
                        const Case c = { { { length_s * 0.67, cases[i].end, 20 } }, length_s, NULL };
                        Analysis *a = judge(&c, &cases[i].noise, seed, SMALL);
                        n_drifting += a->steady != STEADY_STEADY;
                        analysis_free(a);
                }
                ck_assert_msg(n_drifting <= cases[i].max_drifting, "case %zu: %u of 40", i, n_drifting);
        }
}
END_TEST

/* By 0.036 (ln) in the last third: that third would change by a tenth in ten hours, but its last half does not. */
START_TEST(it_is_the_last_half_that_counts) {
        static const Case c = { { { 24000, 9646.4, 12000 } }, 10 * HOUR, "steady" };
        assert_states(&c, 1, SMALL);
}
END_TEST

/* Twenty blocks are enough for a line. */
START_TEST(short_state_can_move) {
        static const Case c = { { { 600, 5000, 0 }, { 800, 4852, 200 } }, 1000, "drifting" };
        assert_states(&c, 1, SMALL);
}
END_TEST

START_TEST(dead_drive_is_not_steady) {
        static const Case c = { { { HOUR, 0.0001, 0 } }, 3 * HOUR, "not-enough-volume" };
        assert_states(&c, 1, 0);
}
END_TEST

START_TEST(level_of_what_moves_is_that_of_its_last_quarter) {
        const Case c = { { { 0, 10000 * exp(-0.13), 10 * HOUR } }, .length_s = 10 * HOUR };
        Analysis *a = judge(&c, &quiet, 1, SMALL);
        ck_assert_uint_eq(a->n_regimes, 1);
        ck_assert_double_eq_tol(a->steady_iops, 10000 * exp(-0.13 * 7 / 8), 10);
        analysis_free(a);

        const Case rise = { { { 0, 10000 * exp(0.13), 10 * HOUR } }, .length_s = 10 * HOUR };
        a = judge(&rise, &quiet, 1, SMALL);
        ck_assert_double_eq_tol(a->steady_iops, 10000 * exp(0.13 * 7 / 8), 10);
        ck_assert_double_eq(a->burst_iops, a->steady_iops); /* what it does now it can do */
        analysis_free(a);
}
END_TEST

/* Straight on to the end, in noise that hides it within each of the regimes that it falls into. */
START_TEST(decline_in_noise_is_not_steady) {
        static const struct { double to, length_s; const CurveNoise *noise; } cases[] = {
                { 6000, HOUR, &white }, { 7000, HOUR, &white }, { 5000, HOUR / 2, &white }, { 14000, HOUR, &white },
                { 6000, HOUR, &correlated }, { 5000, 2 * HOUR, &correlated }, { 3000, HOUR, &correlated },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                for (uint64_t seed = 1; seed <= 20; seed++) {
                        const Case c = { { { 0, cases[i].to, cases[i].length_s } }, .length_s = cases[i].length_s };
                        Analysis *a = judge(&c, cases[i].noise, seed, SMALL);
                        ck_assert_msg(a->steady == STEADY_DRIFTING, "case %zu, seed %" PRIu64, i, seed);
                        ck_assert_int_eq(a->trend, cases[i].to < 10000 ? -1 : 1);
                        analysis_free(a);
                }
}
END_TEST

START_TEST(rest_in_noise_is_steady) {
        static const Case cases[] = {
                { .length_s = HOUR }, { .length_s = 10 * HOUR },
                { { { HOUR, 5000, 0 } }, 2 * HOUR, NULL },
                { { { 300, 5000, 0 }, { 1800, 2500, 0 } }, 2 * HOUR, NULL },
                { { { 0, 6000, HOUR } }, 3 * HOUR, NULL },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                for (uint64_t seed = 1; seed <= 20; seed++) {
                        Analysis *a = judge(&cases[i], &white, seed, SMALL);
                        ck_assert_msg(a->steady == STEADY_STEADY, "case %zu, seed %" PRIu64, i, seed);
                        analysis_free(a);
                }
}
END_TEST

/* Of fewer than five periods, in noise that hides each of its levels: the mean of it lasts nowhere. */
START_TEST(slow_wave_in_noise_is_not_steady) {
        static const struct { CurveNoise noise; double length_s; } cases[] = {
                { { .sigma = 0.3, .amplitude = 0.5, .period_s = 900 }, HOUR },
                { { .sigma = 0.2, .amplitude = 0.3, .period_s = 900 }, HOUR },
                { { .sigma = 0.3, .amplitude = 0.5, .period_s = 3700 }, 4 * HOUR },
                { { .sigma = 0.3, .amplitude = 0.3, .period_s = 9000 }, 10 * HOUR },
                { { .sigma = 0.2, .phi = 0.8, .amplitude = 0.5, .period_s = 1000 }, HOUR },
        };
        unsigned n_waves = 0;
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                for (uint64_t seed = 1; seed <= 20; seed++) {
                        const Case c = { .length_s = cases[i].length_s };
                        Analysis *a = judge(&c, &cases[i].noise, seed, SMALL);
                        ck_assert_msg(a->steady == STEADY_DRIFTING, "case %zu, seed %" PRIu64, i, seed);
                        if (!isnan(a->wave_low_iops)) {
                                n_waves++;
                                double swing = 10000 * cases[i].noise.amplitude;
                                ck_assert_double_eq_tol(a->wave_low_iops, 10000 - swing, 0.4 * swing);
                                ck_assert_double_eq_tol(a->wave_high_iops, 10000 + swing, 0.4 * swing);
                                ck_assert_double_eq(a->floor_iops, a->wave_low_iops);
                                ck_assert_double_eq_tol(a->steady_iops, 10000, 1500);
                        }
                        analysis_free(a);
                }
        fprintf(stderr, "%u of 100 slow waves are told as waves, and none is steady\n", n_waves);
        ck_assert_uint_ge(n_waves, 20);
}
END_TEST

/* What is correlated for less than a minute is noise, however loud: at most one in forty is taken for a wave. */
START_TEST(noise_is_no_wave) {
        static const struct { CurveNoise noise; double length_s; } cases[] = {
                { { .sigma = 0.3 }, HOUR },
                { { .sigma = 0.2, .phi = 0.8 }, 1800 },
                { { .sigma = 0.2, .phi = 0.8 }, HOUR },
                { { .sigma = 0.2, .phi = 0.8, .heavy_tails = true }, 4 * HOUR },
                { { .sigma = 0.2, .phi = 0.9 }, HOUR },
                { { .sigma = 0.2, .phi = 0.95 }, 1500 },
                { { .sigma = 0.2, .phi = 0.95 }, 10 * HOUR },
                { { .sigma = 0.3, .phi = 0.9 }, 10 * HOUR },
                { { .sigma = 0.1, .amplitude = 0.09, .period_s = 900 }, HOUR }, /* too small to be another state */
        };
        unsigned n = 0, n_waves = 0;
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                for (uint64_t seed = 1; seed <= 20; seed++, n++) {
                        const Case c = { .length_s = cases[i].length_s };
                        Analysis *a = judge(&c, &cases[i].noise, seed, SMALL);
                        n_waves += !isnan(a->wave_low_iops);
                        analysis_free(a);
                }
        fprintf(stderr, "noise: %u of %u are taken for a wave\n", n_waves, n);
        ck_assert_uint_le(n_waves, n / 40);
}
END_TEST

START_TEST(stairs_must_be_outlasted) {
        static const Case cases[] = {
                /* Two steps are a cliff and what came after; the third makes stairs. */
                { { { 1000, 8000, 0 }, { 2000, 6400, 0 } }, 3000, "steady" },
                { { { 1000, 8000, 0 }, { 2000, 6400, 0 }, { 3000, 5000, 0 } }, 4000, "drifting" },
                { { { 1000, 8000, 0 }, { 2000, 6400, 0 }, { 3000, 5000, 0 } }, 4490, "drifting" },
                { { { 1000, 8000, 0 }, { 2000, 6400, 0 }, { 3000, 5000, 0 } }, 4500, "steady" },
                /* The longest counts, but not the first. */
                { { { 3000, 8000, 0 }, { 4000, 6400, 0 }, { 5000, 5000, 0 } }, 6500, "steady" },
                { { { 1000, 8000, 0 }, { 2000, 6400, 0 }, { 3500, 5000, 0 } }, 5000, "drifting" },
                /* What goes down and up is no stair. */
                { { { 1000, 8000, 0 }, { 2000, 9500, 0 }, { 3000, 5000, 0 } }, 4000, "steady" },
        };
        assert_states(cases, ELEMENTSOF(cases), SMALL);
}
END_TEST

START_TEST(stairs_lead_over_no_cut) {
        static const CurveStep steps[] = { { 1000, 8000, 0 }, { 2000, 6400, 0 }, { 3000, 5000, 0 } };
        for (int cut = 0; cut <= 1; cut++) {
                _cleanup_(curve_done) Curve curve = curve_make(10000, steps, 3, &quiet, 4000, 1, 1);
                curve.points[1999].cut = cut;
                Analysis *a = curve_judge(&curve, SMALL);
                ck_assert_int_eq(a->steady, cut ? STEADY_STEADY : STEADY_DRIFTING);
                analysis_free(a);
        }
}
END_TEST

/* Blocks go up and down by 0.3; four that end at a half are still within three sigma of that. */
START_TEST(end_within_the_noise_is_steady) {
        static const struct { double iops; SteadyState state; } cases[] = {
                { 5000, STEADY_STEADY }, { 1000, STEADY_DRIFTING },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(curve_done) Curve curve = curve_make(10000, NULL, 0, &quiet, HOUR, 1, 1);
                for (size_t k = 0; k < curve.n; k++)
                        curve.points[k].ios = k + 40 >= curve.n ? cases[i].iops : k / 10 % 2 ? 13000 : 7000;
                Analysis *a = curve_judge(&curve, SMALL);
                ck_assert_int_eq(a->steady, cases[i].state);
                analysis_free(a);
        }
}
END_TEST

/* The last minute goes down to a tenth: too short for a regime, and nothing that anybody would call steady. */
START_TEST(fall_in_the_last_minute_is_not_steady) {
        static const CurveNoise noises[] = { { .sigma = 0 },
                                             { .sigma = 0.05 },
                                             { .sigma = 0.12, .heavy_tails = true } };
        for (size_t n = 0; n < ELEMENTSOF(noises); n++)
                for (double end_s = 10; end_s <= 100; end_s += 10) {
                        const Case c = { { { HOUR, 1000, 0 } }, .length_s = HOUR + end_s };
                        Analysis *a = judge(&c, &noises[n], 1, SMALL);
                        ck_assert_msg(a->steady == STEADY_DRIFTING, "%g s: %s", end_s, steady_state_name(a->steady));
                        ck_assert_int_eq(a->trend, -1);
                        ck_assert_double_eq_tol(a->end_to_s, HOUR + end_s, 1e-6);
                        if (end_s <= 60) { /* with more the running median follows, and it is a regime */
                                ck_assert_double_eq_tol(a->end_iops, 1000, 150);
                                ck_assert_double_eq_tol(a->end_from_s, HOUR, 1e-6);
                        }
                        analysis_free(a);
                }
}
END_TEST

START_TEST(end_breaks_away_by_a_fifth) {
        static const Case cases[] = {
                { { { HOUR, 8100, 0 } }, HOUR + 40, "steady" }, { { { HOUR, 7900, 0 } }, HOUR + 40, "drifting" },
                { { { HOUR, 12300, 0 } }, HOUR + 40, "steady" }, { { { HOUR, 12700, 0 } }, HOUR + 40, "drifting" },
        };
        assert_states(cases, ELEMENTSOF(cases), SMALL);
}
END_TEST

/* Twenty seconds at a tenth, every ten minutes and at the end. */
START_TEST(drive_that_always_came_back_is_steady) {
        static const struct { size_t n, length; SteadyState state;
        } cases[] = {
                { 2, 20, STEADY_DRIFTING },
                { 3, 20, STEADY_STEADY },
                { 3, 10, STEADY_DRIFTING },
                { 3, 30, STEADY_STEADY },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const CurveStep end = { HOUR, 1000, 0 };
                _cleanup_(curve_done) Curve curve = curve_make(10000, &end, 1, &quiet, HOUR + 20, 1, 1);
                for (size_t k = 0; k < cases[i].n * cases[i].length; k++)
                        curve.points[600 * (1 + k / cases[i].length) + k % cases[i].length].ios = 1000;
                Analysis *a = curve_judge(&curve, SMALL);
                ck_assert_msg(a->steady == cases[i].state, "case %zu: %s", i, steady_state_name(a->steady));
                analysis_free(a);
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("end-state");
        TCase *t = tcase_create("end-state");
        tcase_set_timeout(t, 60);
        tcase_add_test(t, ten_minutes_at_least);
        tcase_add_test(t, two_fills_at_least);
        tcase_add_test(t, without_capacity_half_an_hour_and_half_of_the_time);
        tcase_add_test(t, state_must_have_lasted);
        tcase_add_test(t, passage_at_the_end_is_not_the_state);
        tcase_add_test(t, it_moves_by_a_tenth);
        tcase_add_test(t, late_decline_in_noise_is_not_steady);
        tcase_add_test(t, late_step_in_noise_is_steady);
        tcase_add_test(t, it_is_the_last_half_that_counts);
        tcase_add_test(t, short_state_can_move);
        tcase_add_test(t, dead_drive_is_not_steady);
        tcase_add_test(t, level_of_what_moves_is_that_of_its_last_quarter);
        tcase_add_test(t, decline_in_noise_is_not_steady);
        tcase_add_test(t, rest_in_noise_is_steady);
        tcase_add_test(t, slow_wave_in_noise_is_not_steady);
        tcase_add_test(t, noise_is_no_wave);
        tcase_add_test(t, stairs_must_be_outlasted);
        tcase_add_test(t, stairs_lead_over_no_cut);
        tcase_add_test(t, fall_in_the_last_minute_is_not_steady);
        tcase_add_test(t, end_breaks_away_by_a_fifth);
        tcase_add_test(t, end_within_the_noise_is_steady);
        tcase_add_test(t, drive_that_always_came_back_is_steady);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

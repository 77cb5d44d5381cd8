/* SPDX-License-Identifier: MIT */

/*
 * How often noise alone makes a verdict: ten-hour runs of a drive that never changes, sampled each second, with
 * every kind of noise seen in recordings. A tired administrator must not be woken by any of them.
 */

#include <stdio.h>

#include "analysis/analysis.h"
#include "analysis/online.h"
#include "curve.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define N_RUNS 200U
#define LENGTH_S 36000.0

typedef struct Setting {
        CurveNoise noise;
        unsigned max_revoked; /* of N_RUNS */
} Setting;

static const Setting settings[] = {
        { { .sigma = 0.20, .phi = 0, .heavy_tails = true }, 0 },
        { { .sigma = 0.20, .phi = 0.5, .heavy_tails = true }, 0 },
        { { .sigma = 0.20, .phi = 0.8, .heavy_tails = true }, 0 },
        { { .sigma = 0.20, .phi = 0.8, .heavy_tails = false }, 0 },
        { { .sigma = 0.10, .phi = 0.95, .heavy_tails = true }, N_RUNS / 10 },
        { { .sigma = 0.20, .phi = 0.95, .heavy_tails = false }, N_RUNS / 10 },
        { { .sigma = 0.02, .alternating = 0.4 }, 0 },
        { { .sigma = 0.05, .phi = 0.5, .heavy_tails = true, .period_s = 45, .amplitude = 0.2 }, 0 },
};

static void one_run(const Setting *setting, uint64_t seed, unsigned *n_alarms, unsigned *n_revoked) {
        static const uint64_t capacities[] = { 0, 10 * GIB, 100 * GIB };
        uint64_t capacity = capacities[seed % ELEMENTSOF(capacities)];
        Curve curve = curve_make(8000, NULL, 0, &setting->noise, LENGTH_S, 1, seed);
        Series series;
        Analysis *a;
        SteadyDetector *d;
        ck_assert_int_eq(series_init(&series, curve.points, curve.n), 0);
        ck_assert_int_eq(analysis_new(&a, &series, capacity), 0);
        *n_alarms += a->collapse != COLLAPSE_NONE;
        analysis_free(a);
        series_done(&series);

        ck_assert_int_eq(steady_detector_new(&d, capacity, 1), 0);
        bool revoked = false;
        for (size_t i = 0; i < curve.n; i++) {
                SteadyDecision decision;
                revoked |= steady_detector_add(d, &curve.points[i], &decision) == STEADY_REVOKED;
        }
        *n_revoked += revoked;
        steady_detector_free(d);
        curve_done(&curve);
}

START_TEST(noise_makes_no_verdict) {
        const Setting *setting = &settings[_i];
        unsigned n_alarms = 0, n_revoked = 0;
        for (uint64_t run = 0; run < N_RUNS; run++)
                one_run(setting, (uint64_t) _i * 1000 + run, &n_alarms, &n_revoked);

        fprintf(stderr, "sigma %.2f phi %.2f %s: %u verdicts, %u revoked of %u\n", setting->noise.sigma,
                setting->noise.phi, setting->noise.heavy_tails ? "heavy tails" : "normal", n_alarms, n_revoked, N_RUNS);
        ck_assert_uint_eq(n_alarms, 0);
        ck_assert_uint_le(n_revoked, setting->max_revoked);
}
END_TEST

/*
 * Logs of an interval of ten seconds to a minute, of a drive that in each of them does either this or that, as the log
 * says it: most intervals are alike, and the others far off. How often that makes a verdict.
 */
START_TEST(two_values_make_no_verdict) {
        static const double shares[] = { 0.1, 0.2, 0.3, 0.5, 0.7, 0.9 }, steps_s[] = { 10, 30, 60 };
        static const double lows[] = { 6000, 3000 };
        static const CurveNoise little = { .sigma = 0.01 };
        unsigned n = 0, n_verdicts = 0, n_not_steady = 0;
        for (size_t s = 0; s < ELEMENTSOF(shares); s++)
                for (size_t k = 0; k < ELEMENTSOF(steps_s) * ELEMENTSOF(lows); k++)
                        for (uint64_t seed = 1; seed <= 10; seed++, n++) {
                                _cleanup_(curve_done) Curve curve = curve_make(
                                        10000, NULL, 0, seed % 2 ? &little : NULL, LENGTH_S, steps_s[k / 2], seed);
                                curve_set_low(&curve, shares[s], lows[k % 2] / 10000, seed * 100 + s);
                                Analysis *a = curve_judge(&curve, GIB);
                                n_verdicts += a->collapse != COLLAPSE_NONE;
                                n_not_steady += a->steady != STEADY_STEADY;
                                analysis_free(a);
                        }
        fprintf(stderr, "two values: %u verdicts, %u not steady of %u\n", n_verdicts, n_not_steady, n);
        ck_assert_uint_le(n_verdicts, n / 50);
        ck_assert_uint_le(n_not_steady, n / 10);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("false-alarms");
        TCase *t = tcase_create("false-alarms");
        tcase_set_timeout(t, 120);
        tcase_add_loop_test(t, noise_makes_no_verdict, 0, (int) ELEMENTSOF(settings));
        tcase_add_test(t, two_values_make_no_verdict);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include "render/plot-bins.h"

#include <math.h>

#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

static PlotSeries make(const double *from_s, const double *to_s, const double *value, size_t n) {
        return (PlotSeries) { .from_s = from_s, .to_s = to_s, .value = value, .n = n };
}

START_TEST(extremes_survive) {
        enum { N = 36000 };
        static double from[N], to[N], value[N];

        for (unsigned i = 0; i < N; i++) {
                from[i] = i;
                to[i] = i + 1;
                value[i] = i == 20000 ? 0 : i == 5 ? 9000 : 8000;
        }
        PlotSeries series = make(from, to, value, N);
        _cleanup_free_ Bin *bins = bins_make(&series, 0, N, 140);

        double lowest = INFINITY, highest = 0;
        for (unsigned b = 0; b < 140; b++) {
                lowest = fmin(lowest, bins[b].low);
                highest = fmax(highest, bins[b].high);
                ck_assert_double_eq_tol(bins[b].mean, 8000, 40);
        }
        ck_assert_double_eq(lowest, 0);
        ck_assert_double_eq(highest, 9000);
}
END_TEST

START_TEST(mean_weighs_by_time) {
        static const double from[] = { 0, 3 }, to[] = { 3, 4 }, value[] = { 100, 500 };
        PlotSeries series = make(from, to, value, 2);
        _cleanup_free_ Bin *bins = bins_make(&series, 0, 4, 1);

        ck_assert_double_eq_tol(bins[0].mean, 200, 1e-9);
}
END_TEST

START_TEST(long_sample_fills_its_bins) {
        static const double from[] = { 0, 5 }, to[] = { 5, 10 }, value[] = { 1, 2 };
        PlotSeries series = make(from, to, value, 2);
        _cleanup_free_ Bin *bins = bins_make(&series, 0, 10, 10);

        for (unsigned b = 0; b < 10; b++) {
                ck_assert_double_eq_tol(bins[b].mean, b < 5 ? 1 : 2, 1e-9);
                ck_assert_double_eq(bins[b].low, bins[b].high); /* neighbours do not touch */
        }
}
END_TEST

START_TEST(gaps_stay_gaps) {
        static const double from[] = { 0, 1, 3 }, to[] = { 1, 2, 4 }, value[] = { 1, NAN, INFINITY };
        PlotSeries series = make(from, to, value, 3);
        _cleanup_free_ Bin *bins = bins_make(&series, 0, 4, 4);

        ck_assert_double_eq_tol(bins[0].mean, 1, 1e-9);
        for (unsigned b = 1; b < 4; b++)
                ck_assert(isnan(bins[b].mean));
}
END_TEST

START_TEST(sample_without_length_is_not_lost) {
        static const double from[] = { 0, 2 }, to[] = { 4, 2 }, value[] = { 5, 0 };
        PlotSeries series = make(from, to, value, 2);
        _cleanup_free_ Bin *bins = bins_make(&series, 0, 4, 2);

        ck_assert_double_eq(fmin(bins[0].low, bins[1].low), 0);
}
END_TEST

static Suite *bins_suite(void) {
        Suite *suite = suite_create("plot-bins");
        TCase *tcase = tcase_create("plot-bins");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, extremes_survive);
        tcase_add_test(tcase, mean_weighs_by_time);
        tcase_add_test(tcase, long_sample_fills_its_bins);
        tcase_add_test(tcase, gaps_stay_gaps);
        tcase_add_test(tcase, sample_without_length_is_not_lost);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(bins_suite)

/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "analysis/drift.h"
#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"

enum { N_MAX = 9000 };
static const double block_s = 10;

/* A line that changes the level by this share in ten hours, with even noise of this standard deviation. */
static const double *line(double change, double sigma) {
        static double y[N_MAX];
        for (size_t i = 0; i < N_MAX; i++) {
                double noise = sqrt(12) * ((double) (hash_mix64_2(1, i) >> 11) * 0x1p-53 - 0.5);
                y[i] = 9 + log1p(change) * (double) i * block_s / DRIFT_HORIZON_S + sigma * noise;
        }
        return y;
}

static int is_bounded(const double *y, size_t n, size_t n_min, double block_seconds) {
        size_t n_known;
        return drift_is_bounded(y, n, n_min, block_seconds, &n_known);
}

START_TEST(a_fall_by_a_tenth_or_a_rise_by_a_quarter_overnight) {
        ck_assert_int_eq(is_bounded(line(0, 0), 2000, 1, block_s), 1);
        ck_assert_int_eq(is_bounded(line(-0.098, 0), 2000, 1, block_s), 1);
        ck_assert_int_eq(is_bounded(line(-0.102, 0), 2000, 1, block_s), 0);
        ck_assert_int_eq(is_bounded(line(0.246, 0), 2000, 1, block_s), 1);
        ck_assert_int_eq(is_bounded(line(0.254, 0), 2000, 1, block_s), 0);
}
END_TEST

START_TEST(a_longer_run_is_its_own_night) {
        /* 7200 blocks are 20 hours: half the change in ten. */
        ck_assert_int_eq(is_bounded(line(-0.049, 0), 7200, 7200, block_s), 1);
        ck_assert_int_eq(is_bounded(line(-0.053, 0), 7200, 7200, block_s), 0);
}
END_TEST

START_TEST(what_was_not_seen_is_not_believed) {
        /* The least noise there is, 0.5 % a block, hides 9000 · 0.005 · √12 · n^−1.5, which is ln 0.9 at 130 blocks. */
        ck_assert_int_eq(is_bounded(line(0, 0), 127, 1, block_s), 0);
        ck_assert_int_eq(is_bounded(line(0, 0), 132, 1, block_s), 1);
        /* Of blocks of a minute 40 would do, if they told enough of the noise. */
        ck_assert_int_eq(is_bounded(line(0, 0), 59, 1, 60), 0);
        ck_assert_int_eq(is_bounded(line(0, 0), 60, 1, 60), 1);
        ck_assert_int_eq(is_bounded(line(0, 0), 0, 0, block_s), 0);
}
END_TEST

START_TEST(noise_hides_a_slope_for_longer) {
        /* A tenth of noise hides 9000 · 0.1 · √12 · n^−1.5: ln 0.9 at 957 blocks. */
        ck_assert_int_eq(is_bounded(line(0, 0.1), 750, 750, block_s), 0);
        ck_assert_int_eq(is_bounded(line(0, 0.1), 1300, 1300, block_s), 1);
        ck_assert_int_eq(is_bounded(line(-0.09, 0.1), 2000, 2000, block_s), 0);
        ck_assert_int_eq(is_bounded(line(-0.09, 0), 2000, 2000, block_s), 1);
}
END_TEST

START_TEST(a_stall_is_no_slope) {
        static double y[1000];
        for (size_t i = 0; i < ELEMENTSOF(y); i++)
                y[i] = i >= 900 && i < 906 ? 0 : 9;
        ck_assert_int_eq(is_bounded(y, ELEMENTSOF(y), ELEMENTSOF(y), block_s), 1);

        /* And in noise three of its standard deviations are the most that a block may count. */
        static double noisy[2000];
        const double *noise = line(0, 0.1);
        for (size_t i = 0; i < ELEMENTSOF(noisy); i++)
                noisy[i] = i >= 1900 && i < 1906 ? 0 : noise[i];
        ck_assert_int_eq(is_bounded(noisy, ELEMENTSOF(noisy), ELEMENTSOF(noisy), block_s), 1);
}
END_TEST

START_TEST(a_stretch_after_the_burst_will_do_if_it_is_long_enough) {
        static double y[1000];
        for (size_t i = 0; i < ELEMENTSOF(y); i++)
                y[i] = i < 450 ? 11 : 9;
        size_t n;
        ck_assert_int_eq(drift_is_bounded(y, ELEMENTSOF(y), 500, block_s, &n), 1);
        ck_assert_uint_eq(n, 500);
        ck_assert_int_eq(is_bounded(y, ELEMENTSOF(y), 501, block_s), 0);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("drift");
        TCase *t = tcase_create("drift");
        tcase_add_test(t, a_fall_by_a_tenth_or_a_rise_by_a_quarter_overnight);
        tcase_add_test(t, a_longer_run_is_its_own_night);
        tcase_add_test(t, what_was_not_seen_is_not_believed);
        tcase_add_test(t, noise_hides_a_slope_for_longer);
        tcase_add_test(t, a_stall_is_no_slope);
        tcase_add_test(t, a_stretch_after_the_burst_will_do_if_it_is_long_enough);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

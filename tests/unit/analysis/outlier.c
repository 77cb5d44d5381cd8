/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "analysis/outlier.h"
#include "unit.h"
#include "util/macro.h"

/* As a set of bits. */
static unsigned outliers(const double *x, size_t n) {
        bool marks[16] = {};
        unsigned bits = 0;

        ck_assert_uint_le(n, ELEMENTSOF(marks));
        for (size_t i = 0; i < n; i++)
                marks[i] = true; /* to be overwritten */
        ck_assert_int_eq(outliers_mark(x, n, marks), 0);
        for (size_t i = 0; i < n; i++)
                bits |= (unsigned) marks[i] << i;
        return bits;
}

#define OUTLIERS(...) outliers((const double[]){ __VA_ARGS__ }, ELEMENTSOF(((const double[]){ __VA_ARGS__ })))

START_TEST(the_odd_one_is_found_either_way) {
        ck_assert_uint_eq(OUTLIERS(100, 101, 60, 99, 100), 1U << 2);
        ck_assert_uint_eq(OUTLIERS(100, 101, 99, 100, 140), 1U << 4);
        ck_assert_uint_eq(OUTLIERS(100, 101, 40, 99, 100, 160, 101), 1U << 2 | 1U << 5);
}
END_TEST

START_TEST(fewer_than_four_tell_nothing) {
        ck_assert_uint_eq(outliers(NULL, 0), 0);
        ck_assert_uint_eq(OUTLIERS(100, 100, 1), 0);
        ck_assert_uint_eq(OUTLIERS(100, 100, 1, NAN, NAN), 0);
        ck_assert_uint_eq(OUTLIERS(100, 100, 100, 1), 1U << 3);
}
END_TEST

START_TEST(a_twentieth_is_no_finding_however_alike_the_others_are) {
        ck_assert_uint_eq(OUTLIERS(100, 100, 100, 100, 105), 0);
        ck_assert_uint_eq(OUTLIERS(100, 100, 100, 100, 94.9), 1U << 4);
}
END_TEST

START_TEST(a_group_that_differs_has_no_outliers) {
        /* Median 110, MAD 30: two sigma are 89, three are 133. */
        ck_assert_uint_eq(OUTLIERS(60, 80, 100, 120, 140, 210), 0);
        ck_assert_uint_eq(OUTLIERS(60, 80, 100, 120, 140, 300), 1U << 5);
}
END_TEST

START_TEST(unknown_ones_are_left_out) {
        ck_assert_uint_eq(OUTLIERS(NAN, 100, 101, 99, 100, 10), 1U << 5);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("outlier");
        TCase *tc = tcase_create("outlier");

        tcase_add_test(tc, the_odd_one_is_found_either_way);
        tcase_add_test(tc, fewer_than_four_tell_nothing);
        tcase_add_test(tc, a_twentieth_is_no_finding_however_alike_the_others_are);
        tcase_add_test(tc, a_group_that_differs_has_no_outliers);
        tcase_add_test(tc, unknown_ones_are_left_out);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

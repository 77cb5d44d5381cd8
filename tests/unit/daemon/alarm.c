/* SPDX-License-Identifier: MIT */

/* What is told of troubles, at moments that the test names: in s since the first. */

#include <errno.h>

#include "alarm.h"
#include "unit.h"

#define START_NS UINT64_C(123456789)

static Alarm alarm_;
static uint64_t n_brief;

static void setup(void) {
        alarm_ = (Alarm){};
        n_brief = UINT64_MAX;
}

static AlarmNews look(int error, uint64_t at_s) {
        return alarm_look(&alarm_, error, START_NS + at_s * NSEC_PER_SEC, &n_brief);
}

START_TEST(first_trouble_and_its_end_are_told_at_once) {
        ck_assert_int_eq(look(0, 0), ALARM_NOTHING);
        ck_assert_int_eq(look(-EIO, 1), ALARM_TROUBLE);
        ck_assert_uint_eq(n_brief, 0);
        ck_assert_int_eq(look(-EIO, 2), ALARM_NOTHING);
        ck_assert_int_eq(look(-EIO, 20000), ALARM_NOTHING); /* once */
        n_brief = UINT64_MAX;
        ck_assert_int_eq(look(0, 20001), ALARM_OVER);
        ck_assert_uint_eq(n_brief, 0);
        ck_assert_int_eq(look(0, 20002), ALARM_NOTHING);
}
END_TEST

START_TEST(another_error_of_the_same_trouble_is_told_once) {
        ck_assert_int_eq(look(-ETIMEDOUT, 0), ALARM_TROUBLE);
        n_brief = UINT64_MAX;
        ck_assert_int_eq(look(-EBUSY, 1), ALARM_TROUBLE);
        ck_assert_uint_eq(n_brief, 0);
        for (unsigned s = 2; s < 100; s++)
                ck_assert_int_eq(look(s % 2 ? -EBUSY : -ETIMEDOUT, s), ALARM_NOTHING);
        ck_assert_int_eq(look(0, 100), ALARM_OVER);
}
END_TEST

START_TEST(short_ones_are_counted_and_told_after_an_hour) {
        unsigned n_news = 0;

        look(-ETIMEDOUT, 0);
        look(0, 1);
        for (unsigned s = 6; s < 3600; s += 6) {
                n_news += look(-ETIMEDOUT, s) != ALARM_NOTHING;
                n_news += look(0, s + 1) != ALARM_NOTHING;
        }
        ck_assert_uint_eq(n_news, 0);
        ck_assert_int_eq(look(0, 3600), ALARM_BRIEF);
        ck_assert_uint_eq(n_brief, 599);

        /* And the next of them an hour after that. */
        ck_assert_int_eq(look(-ETIMEDOUT, 3700), ALARM_NOTHING);
        ck_assert_int_eq(look(0, 3701), ALARM_NOTHING);
        ck_assert_int_eq(look(0, 7199), ALARM_NOTHING);
        ck_assert_int_eq(look(0, 7200), ALARM_BRIEF);
        ck_assert_uint_eq(n_brief, 1);
        ck_assert_int_eq(look(0, 20000), ALARM_NOTHING);
}
END_TEST

START_TEST(one_that_lasts_is_told_within_the_hour) {
        look(-ETIMEDOUT, 0);
        look(0, 1);
        look(-ETIMEDOUT, 10);
        look(0, 11);
        ck_assert_int_eq(look(-ENOSPC, 100), ALARM_NOTHING);
        ck_assert_int_eq(look(-ENOSPC, 159), ALARM_NOTHING);
        ck_assert_int_eq(look(-ENOSPC, 160), ALARM_TROUBLE);
        ck_assert_uint_eq(n_brief, 1);
        ck_assert_int_eq(look(0, 200), ALARM_OVER);

        /* It was no short one. */
        ck_assert_int_eq(look(0, 160 + 3600), ALARM_NOTHING);
}
END_TEST

START_TEST(one_is_told_at_once_an_hour_after_the_last) {
        look(-EIO, 0);
        look(0, 1);
        ck_assert_int_eq(look(-EIO, 3599), ALARM_NOTHING);
        ck_assert_int_eq(look(0, 3599), ALARM_NOTHING);
        ck_assert_int_eq(look(-EIO, 3600), ALARM_TROUBLE);
        ck_assert_uint_eq(n_brief, 1);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("alarm");
        TCase *tc = tcase_create("alarm");

        tcase_add_checked_fixture(tc, setup, NULL);
        tcase_add_test(tc, first_trouble_and_its_end_are_told_at_once);
        tcase_add_test(tc, another_error_of_the_same_trouble_is_told_once);
        tcase_add_test(tc, short_ones_are_counted_and_told_after_an_hour);
        tcase_add_test(tc, one_that_lasts_is_told_within_the_hour);
        tcase_add_test(tc, one_is_told_at_once_an_hour_after_the_last);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include "sample/position.h"
#include "unit.h"

#define SECOND UINT64_C(1000000000)

static Position position;
static PositionMark mark;

static void setup(void) {
        position = (Position){ .first_index = 10, .low_index = 20, .next_index = 30 };
        mark = (PositionMark){ .low_index = 20, .at_ns = 100 * SECOND };
}

START_TEST(what_is_old_enough_has_settled) {
        position.low_index = 500;
        position_settle(&position, &mark, 130 * SECOND - 1);
        ck_assert_uint_eq(position.settled_to, 0);
        position_settle(&position, &mark, 130 * SECOND);
        ck_assert_uint_eq(position.settled_from, 10);
        ck_assert_uint_eq(position.settled_to, 20); /* not 500, which has completed just now */

        position.low_index = 900;
        position_settle(&position, &mark, 159 * SECOND);
        ck_assert_uint_eq(position.settled_to, 20);
        position_settle(&position, &mark, 160 * SECOND);
        ck_assert_uint_eq(position.settled_to, 500);
}
END_TEST

/* After a jump: nothing between was written. */
START_TEST(ranges_with_a_gap_between_are_not_joined) {
        position = (Position){ .first_index = 1000, .low_index = 1000, .settled_from = 10, .settled_to = 50 };
        mark.low_index = 1020;
        position_settle(&position, &mark, 130 * SECOND);
        ck_assert_uint_eq(position.settled_from, 10);
        ck_assert_uint_eq(position.settled_to, 50);

        mark.low_index = 1041;
        position_settle(&position, &mark, 160 * SECOND);
        ck_assert_uint_eq(position.settled_from, 1000);
        ck_assert_uint_eq(position.settled_to, 1041);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("position");
        TCase *tc = tcase_create("position");

        tcase_add_checked_fixture(tc, setup, NULL);
        tcase_add_test(tc, what_is_old_enough_has_settled);
        tcase_add_test(tc, ranges_with_a_gap_between_are_not_joined);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

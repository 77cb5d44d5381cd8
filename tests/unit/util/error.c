/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "unit.h"
#include "util/error.h"

START_TEST(test_set_returns_negative_errno_and_keeps_words) {
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_eq(error_set(&error, ERROR_REFUSED, EBUSY, "%s is busy", "sda"), -EBUSY);
        ck_assert_int_eq(error.kind, ERROR_REFUSED);
        ck_assert_str_eq(error_message(&error), "sda is busy");
}
END_TEST

START_TEST(test_innermost_cause_wins) {
        _cleanup_error_ Error error = ERROR_INIT;

        error_set(&error, ERROR_NOT_FOUND, ENOENT, "inner");
        ck_assert_int_eq(error_set(&error, ERROR_FAILED, EIO, "outer"), -EIO);
        ck_assert_int_eq(error.kind, ERROR_NOT_FOUND);
        ck_assert_str_eq(error_message(&error), "inner");
}
END_TEST

START_TEST(test_no_error_may_be_asked_for) {
        ck_assert_int_eq(error_set(NULL, ERROR_FAILED, EIO, "nobody reads this"), -EIO);
        error_prefix(NULL, "nor %s", "this");
}
END_TEST

START_TEST(test_prefix_goes_in_front) {
        _cleanup_error_ Error error = ERROR_INIT;

        error_prefix(&error, "nothing to say yet");
        ck_assert_int_eq(error.kind, ERROR_NONE);

        error_set(&error, ERROR_FAILED, EIO, "cannot read");
        error_prefix(&error, "%s", "sda");
        error_prefix(&error, "run %d", 7);
        ck_assert_str_eq(error_message(&error), "run 7: sda: cannot read");
}
END_TEST

START_TEST(test_message_is_never_null) {
        Error error = ERROR_INIT;

        ck_assert_ptr_nonnull(error_message(&error));
        error.kind = ERROR_FAILED;
        ck_assert_str_eq(error_message(&error), "out of memory");
}
END_TEST

START_TEST(test_move_replaces_and_empties) {
        _cleanup_error_ Error from = ERROR_INIT, to = ERROR_INIT;

        error_set(&from, ERROR_USAGE, EINVAL, "new");
        error_set(&to, ERROR_FAILED, EIO, "old");
        error_move(&to, &from);
        ck_assert_str_eq(error_message(&to), "new");
        ck_assert_int_eq(to.kind, ERROR_USAGE);
        ck_assert_int_eq(from.kind, ERROR_NONE);
        ck_assert_ptr_null(from.message);
}
END_TEST

START_TEST(test_clear_makes_it_usable_again) {
        _cleanup_error_ Error error = ERROR_INIT;

        error_set(&error, ERROR_FAILED, EIO, "first");
        error_clear(&error);
        error_set(&error, ERROR_USAGE, EINVAL, "second");
        ck_assert_str_eq(error_message(&error), "second");
}
END_TEST

START_TEST(test_errno_names) {
        ck_assert_str_eq(errno_name(ENOSPC), "ENOSPC");
        ck_assert_str_eq(errno_name(EAGAIN), "EAGAIN");
        ck_assert_str_eq(errno_name(4711), "errno 4711");
        ck_assert_str_eq(errno_name(0), "errno 0");
        ck_assert_str_eq(errno_name(-5), "errno -5");
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("error");
        TCase *tc = tcase_create("error");

        tcase_add_test(tc, test_set_returns_negative_errno_and_keeps_words);
        tcase_add_test(tc, test_innermost_cause_wins);
        tcase_add_test(tc, test_no_error_may_be_asked_for);
        tcase_add_test(tc, test_prefix_goes_in_front);
        tcase_add_test(tc, test_message_is_never_null);
        tcase_add_test(tc, test_move_replaces_and_empties);
        tcase_add_test(tc, test_clear_makes_it_usable_again);
        tcase_add_test(tc, test_errno_names);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

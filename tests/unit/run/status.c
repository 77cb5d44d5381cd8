/* SPDX-License-Identifier: MIT */

#include "run/status.h"
#include "unit.h"

static const struct {
        ErrorKind kind;
        int exit_status;
        const char *code;
        const char *bus_error;
} statuses[] = {
        { ERROR_USAGE, 2, "usage", "org.plateau.Plateau1.Error.Usage" },
        { ERROR_REFUSED, 3, "refused", "org.plateau.Plateau1.Error.Refused" },
        { ERROR_NOT_PERMITTED, 4, "not-permitted", "org.plateau.Plateau1.Error.NotPermitted" },
        { ERROR_UNREACHABLE, 5, "unreachable", "org.plateau.Plateau1.Error.Unreachable" },
        { ERROR_NOT_FOUND, 6, "not-found", "org.plateau.Plateau1.Error.NotFound" },
        { ERROR_INCONCLUSIVE, 7, "inconclusive", "org.plateau.Plateau1.Error.Inconclusive" },
        { ERROR_FAILED, 8, "failed", "org.plateau.Plateau1.Error.Failed" },
};

START_TEST(test_each_kind) {
        ck_assert_int_eq(status_exit(statuses[_i].kind), statuses[_i].exit_status);
        ck_assert_str_eq(status_code(statuses[_i].kind), statuses[_i].code);
        ck_assert_str_eq(status_bus_error(statuses[_i].kind), statuses[_i].bus_error);
        ck_assert_int_eq(status_from_bus_error(statuses[_i].bus_error), statuses[_i].kind);
}
END_TEST

START_TEST(test_good) {
        ck_assert_int_eq(status_exit(ERROR_NONE), 0);
        ck_assert_ptr_null(status_code(ERROR_NONE));
        ck_assert_ptr_null(status_bus_error(ERROR_NONE));
}
END_TEST

START_TEST(test_foreign_bus_error) {
        ck_assert_int_eq(status_from_bus_error("org.freedesktop.DBus.Error.NoReply"), ERROR_FAILED);
        ck_assert_int_eq(status_from_bus_error(""), ERROR_FAILED);
}
END_TEST

START_TEST(test_a_run_that_was_waited_for) {
        static const int expected[N_RUN_STATES] = {
                [RUN_DONE] = 0,   [RUN_STOPPED] = 0, [RUN_REFUSED] = 3, [RUN_FAILED] = 1,     [RUN_LOST] = 1,
                [RUN_QUEUED] = 1, [RUN_RUNNING] = 1, [RUN_PAUSED] = 1,  [RUN_INTERRUPTED] = 1,
        };

        ck_assert_int_eq(status_exit_of_run((RunState) _i), expected[_i]);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("status");
        TCase *tc = tcase_create("status");

        tcase_add_loop_test(tc, test_each_kind, 0, sizeof(statuses) / sizeof(statuses[0]));
        tcase_add_test(tc, test_good);
        tcase_add_test(tc, test_foreign_bus_error);
        tcase_add_loop_test(tc, test_a_run_that_was_waited_for, 0, N_RUN_STATES);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

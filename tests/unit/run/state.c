/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <string.h>

#include "run/state.h"
#include "unit.h"

/* The words are stored in databases and read by scripts: none may change. */
START_TEST(test_state_words) {
        static const char *const words[] = { "queued", "running", "paused", "interrupted", "done", "stopped", "failed",
                                             "lost", "refused" };

        ck_assert_uint_eq(sizeof(words) / sizeof(words[0]), N_RUN_STATES);
        for (int i = 0; i < N_RUN_STATES; i++) {
                ck_assert_str_eq(run_state_name((RunState) i), words[i]);
                ck_assert_int_eq(run_state_from_name(words[i]), i);
        }
        ck_assert_int_eq(run_state_from_name("Running"), -EINVAL);
        ck_assert_int_eq(run_state_from_name(""), -EINVAL);
}
END_TEST

START_TEST(test_event_words) {
        static const char *const words[] = { "started",   "phase",     "paused",         "resumed", "outage",
                                             "stalled",   "recovered", "error",          "read-only", "lost",
                                             "steady",    "steady-revoked", "cycle",     "collapse", "throttled",
                                             "telemetry", "database",  "clock",          "host",   "stopping",
                                             "finished",  "refused" };

        ck_assert_uint_eq(sizeof(words) / sizeof(words[0]), N_EVENT_KINDS);
        for (int i = 0; i < N_EVENT_KINDS; i++) {
                ck_assert_str_eq(event_kind_name((EventKind) i), words[i]);
                ck_assert_int_eq(event_kind_from_name(words[i]), i);
        }
        ck_assert_int_eq(event_kind_from_name("readonly"), -EINVAL);
}
END_TEST

/* Rows: from; columns: to, in the order of RunState. */
static const char *const changes[N_RUN_STATES] = {
        /*                 qrpidsflx */
        [RUN_QUEUED]      = ".rpi.sflx",
        [RUN_RUNNING]     = "..pidsfl.",
        [RUN_PAUSED]      = ".r.i.sfl.",
        [RUN_INTERRUPTED] = "qr...sf.x",
        [RUN_DONE]        = ".........",
        [RUN_STOPPED]     = ".........",
        [RUN_FAILED]      = ".........",
        [RUN_LOST]        = ".........",
        [RUN_REFUSED]     = ".........",
};

START_TEST(test_changes) {
        for (int from = 0; from < N_RUN_STATES; from++)
                for (int to = 0; to < N_RUN_STATES; to++)
                        ck_assert_msg(run_state_may_become((RunState) from, (RunState) to) ==
                                      (changes[from][to] != '.'),
                                      "%s -> %s", run_state_name((RunState) from), run_state_name((RunState) to));
}
END_TEST

START_TEST(test_final_and_active) {
        for (int i = 0; i < N_RUN_STATES; i++) {
                RunState state = (RunState) i;

                ck_assert(run_state_is_final(state) == (state >= RUN_DONE));
                ck_assert(run_state_is_active(state) == (state <= RUN_PAUSED));
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("state");
        TCase *tc = tcase_create("state");

        tcase_add_test(tc, test_state_words);
        tcase_add_test(tc, test_event_words);
        tcase_add_test(tc, test_changes);
        tcase_add_test(tc, test_final_and_active);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

/* What is made of a worker's words while its run goes on. */

#include "fakes.h"
#include "run-fixture.h"
#include "unit.h"
#include "util/macro.h"
#include "util/time.h"

START_TEST(positions_that_cannot_be_are_refused) {
        static const Position wrong[] = {
                { .first_index = 2, .low_index = 1, .next_index = 3 },
                { .low_index = 4, .next_index = 3 },
                { .low_index = 3, .next_index = 3, .settled_from = 2, .settled_to = 1 },
                { .low_index = 3, .next_index = 3, .settled_to = 4 },
                { .next_index = UINT64_MAX },
                { .next_write = UINT64_MAX },
                { .done_bytes = UINT64_MAX },
        };
        Message message = { .type = MESSAGE_SAMPLE, .sample = calloc(1, sizeof(Sample)) };

        running();
        fake_now_ns += NSEC_PER_SEC;
        *message.sample = (Sample){
                .seq = 1, .elapsed_ns = 2 * NSEC_PER_SEC, .duration_ns = NSEC_PER_SEC,
                .positions = { .n = 1, .of = { wrong[_i] } },
        };
        ck_assert_int_eq(fake_say(&message), -EBADMSG);
}
END_TEST

/* The phase has one ring thread. */
START_TEST(as_many_positions_as_ring_threads_are_told) {
        static const uint32_t wrong[] = { 0, 2, JOB_WORKERS_MAX };
        Message message = { .type = MESSAGE_SAMPLE, .sample = calloc(1, sizeof(Sample)) };

        running();
        fake_now_ns += NSEC_PER_SEC;
        *message.sample = (Sample){
                .seq = 1, .elapsed_ns = 2 * NSEC_PER_SEC, .duration_ns = NSEC_PER_SEC, .positions = { .n = wrong[_i] },
        };
        ck_assert_int_eq(fake_say(&message), -EBADMSG);
}
END_TEST

START_TEST(a_time_since_boot_that_cannot_be_is_refused) {
        Message message = { .type = MESSAGE_SAMPLE, .sample = calloc(1, sizeof(Sample)) };

        running();
        fake_now_ns += NSEC_PER_SEC;
        *message.sample = (Sample){
                .seq = 1, .elapsed_ns = 2 * NSEC_PER_SEC, .duration_ns = NSEC_PER_SEC, .boot_ns = UINT64_MAX,
                .positions = { .n = 1 },
        };
        ck_assert_int_eq(fake_say(&message), -EBADMSG);
}
END_TEST

START_TEST(a_worker_that_does_not_answer_is_told_of) {
        Run *run = running();
        Message paused = { .type = MESSAGE_EVENT, .event = { .kind = OCCURRENCE_PAUSED, .elapsed_ns = NSEC_PER_SEC } };
        Message resumed = paused;

        resumed.event.kind = OCCURRENCE_RESUMED;
        ck_assert_int_eq(fake_say(&paused), 0);
        fake_now_ns += NSEC_PER_SEC;
        ck_assert_uint_eq(run_progress(run).unanswered_ns, 0); /* nothing was asked of it */
        ck_assert_int_eq(run_resume(run, NULL), 0);
        fake_now_ns += NSEC_PER_SEC;
        ck_assert_int_eq(run_resume(run, NULL), 0);
        fake_now_ns += NSEC_PER_SEC;
        ck_assert_uint_eq(run_progress(run).unanswered_ns, 2 * NSEC_PER_SEC);
        ck_assert_int_eq(fake_say(&resumed), 0);
        ck_assert_uint_eq(run_progress(run).unanswered_ns, 0);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("run");
        TCase *tc = tcase_create("run");

        tcase_add_checked_fixture(tc, run_setup, run_teardown);
        tcase_add_loop_test(tc, positions_that_cannot_be_are_refused, 0, 7);
        tcase_add_loop_test(tc, as_many_positions_as_ring_threads_are_told, 0, 3);
        tcase_add_test(tc, a_time_since_boot_that_cannot_be_is_refused);
        tcase_add_test(tc, a_worker_that_does_not_answer_is_told_of);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

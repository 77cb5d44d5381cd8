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

/* What was written at first is read by the phase after it, in order or not. 64 MiB are asked of it. */
#define VERIFYING "[global]\nverify=md5\nsample_interval=200ms\n[w]\nrw=write\nbs=64k\ndo_verify=0\n[check]\nbs=64k\n"

static int verifying_sample(uint64_t seq, uint64_t reads, double worker_cpu_percent) {
        Message message = { .type = MESSAGE_SAMPLE, .sample = calloc(1, sizeof(Sample)) };

        fake_now_ns += 200 * NSEC_PER_MSEC;
        *message.sample = (Sample){
                .seq = seq, .phase = 1, .elapsed_ns = (seq + 1) * 200 * NSEC_PER_MSEC,
                .duration_ns = 200 * NSEC_PER_MSEC, .worker_cpu_percent = worker_cpu_percent,
                .ios = { reads }, .bytes = { reads * 64 * KIB },
                .positions = { 1, { { .low_index = reads, .next_index = reads, .done_bytes = reads * 64 * KIB } } },
        };
        return fake_say(&message);
}

START_TEST(a_phase_that_works_out_what_should_lie_there_says_so) {
        run_job = VERIFYING "rw=read\n";
        told_to_go();
        begin(1);
        ck_assert_int_eq(verifying_sample(0, 0, 10), 0);
        ck_assert_ptr_null(strstr(fake_event(EVENT_PHASE)->detail, "works out"));
        ck_assert_int_eq(verifying_sample(1, 0, 90), 0);
        ck_assert_ptr_nonnull(strstr(fake_event(EVENT_PHASE)->detail, "works out"));
}
END_TEST

/* How much of it, unless it is certain that it was all; how much was asked is not for the worker to say. */
START_TEST(the_end_of_a_phase_that_verified_tells_how_much) {
        static const struct {
                const char *job;
                uint64_t checked_bytes, reads;
                const char *text;
        } cases[] = {
                { VERIFYING "rw=read\n", 0, 0, "1 'check' is done: 0 B of 64 MiB were verified" },
                { VERIFYING "rw=read\n", 63 * MIB, 1024, "1 'check' is done: 63 MiB of 64 MiB were verified" },
                { VERIFYING "rw=read\n", 65 * MIB, 1008,
                  "1 'check' is done: 65 MiB were verified, of the 64 MiB there some more than once, and others maybe "
                  "not" },
                { VERIFYING "rw=read\nnumjobs=2\n", 128 * MIB, 2048,
                  "1 'check' is done: 128 MiB were verified, of the 64 MiB there some more than once, and others maybe "
                  "not" },
                { VERIFYING "rw=read\n", 64 * MIB, 1024, "1 'check' is done" },
                { VERIFYING "rw=randread\n", 64 * MIB, 1024,
                  "1 'check' is done: 64 MiB of 64 MiB were verified, some of them more than once, and others maybe "
                  "not" },
        };
        const Verification so_far = { .checked_bytes = cases[_i].checked_bytes };

        run_job = cases[_i].job;
        told_to_go();
        begin(1);
        ck_assert_int_eq(verifying_sample(0, cases[_i].reads, 90), 0);
        ck_assert_int_eq(fake_say(&(Message){
                .type = MESSAGE_VERIFICATION, .verification = { .phase = 1, .so_far = so_far },
        }), 0);
        ck_assert_uint_eq(fake_database.verification.asked_bytes, 64 * MIB);
        ck_assert_int_eq(fake_say(&(Message){
                .type = MESSAGE_PHASE, .phase = { .index = 1, .mark = PHASE_MARK_DONE, .at_ns = 2 },
        }), 0);
        ck_assert_str_eq(fake_event(EVENT_PHASE)->detail, cases[_i].text);
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
        tcase_add_test(tc, a_phase_that_works_out_what_should_lie_there_says_so);
        tcase_add_loop_test(tc, the_end_of_a_phase_that_verified_tells_how_much, 0, 6);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

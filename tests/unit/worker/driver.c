/* SPDX-License-Identifier: MIT */

/* The driver with an engine and a device that do what a test says, at the moments that are rare with real ones. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/pattern.h"
#include "driver-run.h"
#include "unit.h"
#include "util/macro.h"
#include "worker/driver.h"

static void end_at_once(unsigned index) {
        engine.n_writes = 10;
        engine_becomes(ENGINE_IDLE);
}

START_TEST(test_done) {
        engine.on_start = end_at_once;
        ck_assert_int_eq(run(2), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started phase0:done phase1:started phase1:done ");
        ck_assert_uint_eq(n_writes_heard, 20);
        ck_assert_str_eq(detail, "");
}
END_TEST

/* In the second of three phases, where the order of one ring thread stood at 50 and that of the other at 55. */
static PhaseStanding phase_standings[3] = {
        [1] = {
                .elapsed_ns = 9 * NSEC_PER_SEC,
                .positions = { .n = 2, .of = { { 0, 40, 50, 60, 70 }, { 0, 45, 55, 61, 70 } } },
        },
};
static Standing in_second = { .next_seq = 7, .elapsed_ns = 11 * NSEC_PER_SEC, .phase = 1, .n_phases = 3,
                              .phases = phase_standings };

static void third_begins_anew(unsigned index) {
        ck_assert_uint_eq(engine.taken_up_ns, index == 1 ? 9 * NSEC_PER_SEC : 0);
        ck_assert_uint_eq(engine.positions.of[0].next_index, index == 1 ? 50 + PATTERN_JUMP : 0);
        ck_assert_uint_eq(engine.positions.of[1].next_index, index == 1 ? 55 + PATTERN_JUMP : 0);
        engine.taken_up_ns = 0;
        engine.positions = (Positions){};
        end_at_once(index);
}

START_TEST(test_taken_up_in_its_phase) {
        phases[1] = phases[2] = (PhasePlan){
                .rw = RW_RANDWRITE, .block_bytes = { 4096, 4096, 4096 }, .iodepth = 2, .numjobs = 1, .workers = 2,
                .region_bytes = 8192, .limit_bytes = UINT64_MAX,
        };
        engine.on_start = third_begins_anew;
        standing = &in_second;
        ck_assert_int_eq(run(3), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase1:started phase1:done phase2:started phase2:done ");
}
END_TEST

START_TEST(test_taken_up_after_its_last_phase) {
        Standing done = in_second;

        done.phase = 3;
        standing = &done;
        ck_assert_int_eq(run(3), OUTCOME_DONE);
        ck_assert_str_eq(heard, "");
}
END_TEST

/* Nothing is submitted before somebody wants it. */
START_TEST(test_taken_up_as_paused) {
        Standing paused = in_second;

        paused.paused = true;
        standing = &paused;
        engine.on_start = end_at_once;
        tell(MESSAGE_STOP);
        ck_assert_int_eq(run(3), OUTCOME_STOPPED);
        ck_assert_str_eq(heard, "paused stopping ");
        ck_assert_uint_eq(event_elapsed_ns, 11 * NSEC_PER_SEC);
}
END_TEST

START_TEST(test_errors_before_count_towards_the_end) {
        Standing failing = in_second;

        failing.n_errors = stop_errors_max = 5;
        standing = &failing;
        engine.on_start = end_at_once;
        engine.n_errors = 1;
        engine.errnos[0] = (EngineErrno){ .errnum = EIO, .count = 1 };
        engine.n_errnos = 1;
        ck_assert_int_eq(run(3), OUTCOME_DONE);
        ck_assert_ptr_nonnull(strstr(detail, "6 I/Os have failed"));
}
END_TEST

static bool child_is_stopped(pid_t child) {
        int status;

        return waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status);
}

/* Woken up again by the parent after more than a second, and told to stop by then. */
static void stand_still(unsigned index) {
        tell(MESSAGE_STOP);
        raise(SIGSTOP);
}

START_TEST(test_a_stopped_worker_is_an_outage) {
        int status, fds[2];
        char said[sizeof(heard)] = "";

        ck_assert_int_eq(pipe(fds), 0);
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                engine.on_start = stand_still;
                engine.n_writes = 1;
                run(1);
                _exit(write(fds[1], heard, sizeof(heard)) == sizeof(heard) && beaten_ns < NSEC_PER_SEC ? 0 : 1);
        }
        ck_assert(child_is_stopped(child));
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_sec = 2 }, NULL);
        kill(child, SIGCONT);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        ck_assert_int_eq(read(fds[0], said, sizeof(said)), sizeof(said));
        ck_assert_str_eq(said, "phase0:started outage stopping phase0:stopped ");
        close(fds[0]);
        close(fds[1]);
}
END_TEST

static void be_told_to_pause(unsigned index) {
        if (index == 0)
                tell(MESSAGE_PAUSE);
        else
                end_at_once(index);
}

static void end_instead(void) {
        engine.n_writes = 4;
        engine_becomes(ENGINE_IDLE);
}

static void resume_at_second_look(unsigned n) {
        if (n == 2)
                tell(MESSAGE_RESUME);
}

START_TEST(test_pause_as_a_phase_ends_is_kept_before_the_next) {
        engine.on_start = be_told_to_pause;
        engine.on_pause = end_instead;
        on_verify = resume_at_second_look;
        ck_assert_int_eq(run(2), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started phase0:done paused resumed phase1:started phase1:done ");
        ck_assert_uint_eq(n_writes_heard, 14);
}
END_TEST

START_TEST(test_pause_as_the_last_phase_ends) {
        engine.on_start = be_told_to_pause;
        engine.on_pause = end_instead;
        ck_assert_int_eq(run(1), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started phase0:done ");
}
END_TEST

static void stop_at_second_look(unsigned n) {
        if (n == 2)
                tell(MESSAGE_STOP);
}

static void be_told_to_stop(unsigned index) {
        tell(MESSAGE_STOP);
}

/* The first sample has not ended yet. */
START_TEST(test_stopping_tells_its_own_moment) {
        event_elapsed_ns = 0;
        engine.on_start = be_told_to_stop;
        ck_assert_int_eq(run(1), OUTCOME_STOPPED);
        ck_assert_str_eq(heard, "phase0:started stopping phase0:stopped ");
        ck_assert_uint_gt(event_elapsed_ns, 0);
}
END_TEST

START_TEST(test_stop_between_phases) {
        engine.on_start = be_told_to_pause;
        engine.on_pause = end_instead;
        on_verify = stop_at_second_look;
        ck_assert_int_eq(run(2), OUTCOME_STOPPED);
        ck_assert_str_eq(heard, "phase0:started phase0:done paused stopping ");
}
END_TEST

static void pause_and_be_resumed(void) {
        engine_becomes(ENGINE_PAUSED);
        tell(MESSAGE_RESUME);
}

static void pause_again_asleep(void) {
        engine.on_pause = NULL;
        tell(MESSAGE_STOP);
        /* Still paused, and no event comes of it: the ring thread had not woken up. */
}

static void resume_asleep(void) {
        engine.on_pause = pause_again_asleep;
        tell(MESSAGE_PAUSE);
}

START_TEST(test_pause_again_before_the_ring_has_woken_up) {
        engine.on_start = be_told_to_pause;
        engine.on_pause = pause_and_be_resumed;
        engine.on_resume = resume_asleep;
        ck_assert_int_eq(run(1), OUTCOME_STOPPED);
        ck_assert_str_eq(heard, "phase0:started paused resumed paused stopping phase0:stopped ");
}
END_TEST

static void drain_later(void) {
        engine_becomes(ENGINE_DRAINING);
        tell(MESSAGE_RESUME);
        tell(MESSAGE_PAUSE);
        tell(MESSAGE_RESUME);
        tell(MESSAGE_PAUSE);
        tell(MESSAGE_STOP);
        engine.on_pause = NULL;
}

START_TEST(test_changes_of_mind_while_draining) {
        engine.on_start = be_told_to_pause;
        engine.on_pause = drain_later;
        ck_assert_int_eq(run(2), OUTCOME_STOPPED);
        /* Drained at the second order, and once paused it goes on as told. */
        ck_assert_str_eq(heard, "phase0:started paused resumed paused stopping phase0:stopped ");
}
END_TEST

static void drain_slowly(void) {
        engine_becomes(ENGINE_DRAINING);
        tell(MESSAGE_RESUME);
}

static void have_drained(void) {
        if (engine.state == ENGINE_DRAINING)
                engine_becomes(ENGINE_PAUSED);
}

static void resume_and_be_stopped(void) {
        engine_becomes(ENGINE_RUNNING);
        tell(MESSAGE_STOP);
}

START_TEST(test_resume_while_draining_is_kept_until_it_has) {
        engine.on_start = be_told_to_pause;
        engine.on_pause = drain_slowly;
        engine.on_counters = have_drained; /* by the first tick */
        engine.on_resume = resume_and_be_stopped;
        ck_assert_int_eq(run(2), OUTCOME_STOPPED);
        ck_assert_str_eq(heard, "phase0:started paused resumed stopping phase0:stopped ");
}
END_TEST

static void break_ring(unsigned index) {
        engine.ring_error = -ENXIO;
        engine_becomes(ENGINE_IDLE);
}

static void have_the_first_ended(unsigned index) {
        if (index == 0)
                tell_end_of_phase(0);
        else
                end_at_once(index);
}

START_TEST(test_a_phase_that_is_ended_is_done) {
        engine.on_start = have_the_first_ended;
        ck_assert_int_eq(run(2), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started phase0:done phase1:started phase1:done ");
}
END_TEST

static void never_stop(void) {
        ck_abort_msg("the phase that runs is another one");
}

static void be_told_of_the_last_phase(unsigned index) {
        if (index == 0) {
                end_at_once(index);
                return;
        }
        tell_end_of_phase(0);
        tell_end_of_phase(7);
        tell(MESSAGE_PAUSE);
        tell(MESSAGE_RESUME);
}

START_TEST(test_the_end_of_another_phase_ends_none) {
        engine.on_start = be_told_of_the_last_phase;
        engine.on_stop = never_stop;
        engine.on_resume = end_instead; /* by then both were taken */
        ck_assert_int_eq(run(2), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started phase0:done phase1:started paused resumed phase1:done ");
}
END_TEST

/* Heard of by the time that the phase ends. */
static void be_told_of_the_end(unsigned index) {
        if (index == 0)
                tell_end_of_run(1);
        tell_end_of_phase(index);
}

START_TEST(test_a_run_is_done_when_the_last_phase_is) {
        engine.on_start = be_told_of_the_end;
        ck_assert_int_eq(run(3), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started phase0:done phase1:started phase1:done ");
        ck_assert_str_eq(detail, "for a reason");
}
END_TEST

static void be_told_late(unsigned index) {
        if (index == 0)
                end_at_once(index);
        else
                tell_end_of_run(0);
}

START_TEST(test_a_phase_behind_the_last_one_is_stopped) {
        engine.on_start = be_told_late;
        ck_assert_int_eq(run(3), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started phase0:done phase1:started phase1:stopped ");
        ck_assert_str_eq(detail, "for a reason");
}
END_TEST

static void be_told_between(unsigned n) {
        if (n == 2)
                tell_end_of_run(0);
}

START_TEST(test_a_run_whose_last_phase_is_over_is_done_though_paused) {
        engine.on_start = be_told_to_pause;
        engine.on_pause = end_instead;
        on_verify = be_told_between;
        ck_assert_int_eq(run(2), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started phase0:done paused ");
        ck_assert_str_eq(detail, "for a reason");
}
END_TEST

START_TEST(test_wrong_blocks_fail_a_run_that_is_told_to_be_done) {
        phases[0].is_checked = phases[0].fails_on_mismatch = true;
        phases[0].block_bytes[DIRECTION_READ] = phases[0].region_bytes = 4096;
        engine.verification.n_blocks[MISMATCH_CORRUPT] = 1;
        engine.on_start = be_told_of_the_end;
        ck_assert_int_eq(run(3), OUTCOME_FAILED);
        ck_assert_ptr_nonnull(strstr(detail, "1 block was read back not as written"));
}
END_TEST

static void be_paused_and_ended(unsigned index) {
        tell(MESSAGE_PAUSE);
        tell_end_of_phase(0);
        tell(MESSAGE_RESUME);
}

static void not_while_paused(void) {
        ck_assert_int_ne(engine.state, ENGINE_PAUSED);
        engine_becomes(ENGINE_IDLE);
}

START_TEST(test_a_paused_phase_ends_when_it_is_resumed) {
        engine.on_start = be_paused_and_ended;
        engine.on_stop = not_while_paused;
        ck_assert_int_eq(run(1), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started paused resumed phase0:done ");
}
END_TEST

START_TEST(test_ring_error) {
        engine.on_start = break_ring;
        ck_assert_int_eq(run(2), OUTCOME_FAILED);
        ck_assert_str_eq(heard, "phase0:started phase0:stopped ");
        ck_assert_ptr_nonnull(strstr(detail, "io_uring failed: No such device or address"));
}
END_TEST

static void fail_some(unsigned index) {
        engine.n_errors = 3;
        engine.errnos[0] = (EngineErrno) { .errnum = EIO, .count = 2 };
        engine.errnos[1] = (EngineErrno) { .errnum = ENOSPC, .count = 1 };
        engine.n_errnos = 2;
        engine_becomes(ENGINE_IDLE);
}

START_TEST(test_errnos_are_told_once) {
        engine.on_start = fail_some;
        ck_assert_int_eq(run(1), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started errno5:2 errno28:1 phase0:done ");
}
END_TEST

START_TEST(test_as_many_errors_as_may_be_stop_nothing) {
        engine.on_start = fail_some;
        stop_errors_max = 3;
        ck_assert_int_eq(run(2), OUTCOME_DONE);
        ck_assert_str_eq(detail, "");
        ck_assert_ptr_nonnull(strstr(heard, "phase1:done"));
}
END_TEST

START_TEST(test_more_errors_than_may_be_are_a_result) {
        engine.on_start = fail_some;
        stop_errors_max = 2;
        ck_assert_int_eq(run(2), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started errno5:2 errno28:1 phase0:stopped ");
        ck_assert_str_eq(detail, "[stop] errors_max=2: 3 I/Os have failed");
}
END_TEST

static void write_all(unsigned index) {
        engine.has_written_all = index == 1;
        engine.written_bytes = 12288;
        engine_becomes(ENGINE_IDLE);
}

START_TEST(test_all_that_may_be_written_is_a_result) {
        engine.on_start = write_all;
        stop_written_max = 16383;
        ck_assert_int_eq(run(3), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started phase0:done phase1:started phase1:stopped ");
        ck_assert_str_eq(detail, "[stop] written_max=16383: 12288 bytes are written");
}
END_TEST

static void write_all_and_find(unsigned index) {
        engine.verification.n_blocks[MISMATCH_CORRUPT] = 1;
        write_all(1);
}

START_TEST(test_wrong_blocks_fail_a_run_that_has_written_all) {
        phases[0].is_checked = phases[0].fails_on_mismatch = true;
        phases[0].block_bytes[DIRECTION_READ] = phases[0].region_bytes = 4096;
        engine.on_start = write_all_and_find;
        ck_assert_int_eq(run(1), OUTCOME_FAILED);
        ck_assert_ptr_nonnull(strstr(detail, "1 block was read back not as written"));
}
END_TEST

START_TEST(test_where_all_was_written_before_nothing_begins) {
        engine.on_start = end_at_once;
        engine.has_written_all = true;
        ck_assert_int_eq(run(2), OUTCOME_DONE);
        ck_assert_str_eq(heard, "");
}
END_TEST

static void pause_after_errors(void) {
        fail_some(0);
        engine_becomes(ENGINE_PAUSED);
}

START_TEST(test_a_run_that_ends_while_it_drains_is_not_paused) {
        engine.on_start = be_told_to_pause;
        engine.on_pause = pause_after_errors;
        stop_errors_max = 0;
        ck_assert_int_eq(run(2), OUTCOME_DONE);
        ck_assert_str_eq(heard, "phase0:started errno5:2 errno28:1 phase0:stopped ");
}
END_TEST

static void fail_fatally(unsigned index) {
        engine.failure = (EngineFailure) { .errnum = ENODATA, .direction = DIRECTION_WRITE, .offset = 8192 };
        engine_becomes(ENGINE_IDLE);
}

START_TEST(test_an_error_that_the_job_does_not_continue_on) {
        engine.on_start = fail_fatally;
        ck_assert_int_eq(run(2), OUTCOME_FAILED);
        ck_assert_str_eq(heard, "phase0:started phase0:stopped ");
        ck_assert_str_eq(detail, "a write at offset 8192 failed with ENODATA (No data available), and the job does not "
                                 "continue on that error");
}
END_TEST

static void fail_fatally_and_go(unsigned index) {
        device_error = -ENODEV;
        engine.n_errors = 1;
        fail_fatally(index);
}

START_TEST(test_a_device_that_is_gone_is_lost_whatever_the_job_says_of_errors) {
        engine.on_start = fail_fatally_and_go;
        ck_assert_int_eq(run(2), OUTCOME_LOST);
}
END_TEST

static void fail_and_go(unsigned index) {
        device_error = -ENODEV;
        fail_some(index);
}

START_TEST(test_lost_as_the_phase_ends) {
        engine.on_start = fail_and_go;
        ck_assert_int_eq(run(2), OUTCOME_LOST);
        ck_assert_str_eq(heard, "phase0:started phase0:stopped ");
        ck_assert_str_eq(detail, "device: No such device; 3 I/Os failed as it went");
}
END_TEST

static void lose_without_errors(unsigned index) {
        device_error = -ENODEV;
        engine_becomes(ENGINE_IDLE);
}

static void fail_once_more_and_go(unsigned index) {
        if (index == 0) {
                fail_some(index);
                return;
        }
        device_error = -ENODEV;
        engine.n_errors = 1; /* of the phase */
        engine.errnos[1].count++;
        engine_becomes(ENGINE_IDLE);
}

START_TEST(test_errors_from_before_it_was_lost_stay_told) {
        engine.on_start = fail_once_more_and_go;
        ck_assert_int_eq(run(2), OUTCOME_LOST);
        ck_assert_str_eq(heard, "phase0:started errno5:2 errno28:1 phase0:done phase1:started phase1:stopped ");
        ck_assert_str_eq(detail, "device: No such device; 1 I/O failed as it went");
}
END_TEST

START_TEST(test_lost_without_an_error) {
        engine.on_start = lose_without_errors;
        ck_assert_int_eq(run(1), OUTCOME_LOST);
        ck_assert_str_eq(heard, "phase0:started phase0:stopped ");
}
END_TEST

START_TEST(test_another_device_from_the_start) {
        device_error = -ESTALE;
        ck_assert_int_eq(run(2), OUTCOME_LOST);
        ck_assert_str_eq(heard, "");
}
END_TEST

static void hang(unsigned index) {
        engine.in_flight = 2;
        engine.oldest_ns = 6 * NSEC_PER_SEC;
}

static void hang_until_stopped(unsigned index) {
        hang(index);
        tell(MESSAGE_PAUSE);
}

static void pause_never(void) {
        engine_becomes(ENGINE_DRAINING);
}

static unsigned n_stops;

static void drain_at_once(void) {
        n_stops++;
        engine.in_flight = 0;
        engine.oldest_ns = 0;
        engine.n_writes = 2;
        engine_becomes(ENGINE_IDLE);
}

/* The second look is that of the first sample, after it has told of the stall. */
static void stop_on_stall(unsigned n) {
        if (n == 2)
                tell(MESSAGE_STOP);
}

START_TEST(test_stalled_and_recovered) {
        engine.on_start = hang_until_stopped;
        engine.on_pause = pause_never;
        engine.on_stop = drain_at_once;
        engine.n_errors = 1; /* makes the driver look at the device with its first sample */
        on_verify = stop_on_stall;
        n_stops = 0;
        ck_assert_int_eq(run(2), OUTCOME_STOPPED);
        ck_assert_uint_eq(n_stops, 1);
        ck_assert_str_eq(heard, "phase0:started stalled stopping recovered phase0:stopped ");
        ck_assert_uint_eq(n_writes_heard, 2);
}
END_TEST

static void stop_between_samples(void) {
        engine.on_look = NULL;
        tell(MESSAGE_STOP);
}

START_TEST(test_stalls_are_told_however_far_apart_samples_are) {
        interval_ns = 10 * NSEC_PER_SEC;
        engine.on_start = hang;
        engine.on_look = stop_between_samples;
        engine.on_stop = drain_at_once;
        ck_assert_int_eq(run(2), OUTCOME_STOPPED);
        ck_assert_str_eq(heard, "phase0:started stalled stopping recovered phase0:stopped ");
        ck_assert_uint_eq(n_pending_heard, 2);
}
END_TEST

static void be_told_to_pause_and_to_stop(unsigned index) {
        hang_until_stopped(index);
        tell(MESSAGE_STOP);
}

/* Else the service could not tell a worker that waits for its drive from one that does not answer. */
START_TEST(test_a_pause_that_has_to_wait_says_so_at_once) {
        interval_ns = 10 * NSEC_PER_SEC;
        engine.on_start = be_told_to_pause_and_to_stop;
        engine.on_pause = pause_never;
        engine.on_stop = drain_at_once;
        ck_assert_int_eq(run(2), OUTCOME_STOPPED);
        ck_assert_uint_eq(n_pending_heard, 2);
}
END_TEST

static void lose_service(unsigned index) {
        service = link_free(service);
        engine.on_stop = drain_at_once;
}

START_TEST(test_service_gone) {
        engine.on_start = lose_service;
        n_stops = 0;

        const Plan plan = { .n_phases = 2, .phases = phases };
        Reporter reporter = { .link = link_of_worker };
        const DriverConfig config = { .reporter = &reporter, .plan = &plan, .engine = &engine,
                                      .sample_interval_ns = 10 * NSEC_PER_SEC, .signal_fd = -1 };
        _cleanup_driver_ Driver *driver = NULL;

        ck_assert_int_eq(driver_new(&driver, &config, NULL), 0);
        ck_assert_int_eq(driver_run(driver, &detail), OUTCOME_STOPPED);
        ck_assert_int_eq(reporter.error, -EPIPE);
        ck_assert_uint_eq(n_stops, 1);
        ck_assert_ptr_nonnull(strstr(detail, "nobody listens"));
}
END_TEST

static void say_nonsense(unsigned index) {
        tell(MESSAGE_STARTED);
}

START_TEST(test_nonsense_during_a_run) {
        engine.on_start = say_nonsense;
        ck_assert_int_eq(run(2), OUTCOME_FAILED);
        ck_assert_str_eq(heard, "phase0:started phase0:stopped ");
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("driver");
        TCase *tc = tcase_create("driver");

        tcase_set_timeout(tc, 30);
        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_test(tc, test_done);
        tcase_add_test(tc, test_taken_up_in_its_phase);
        tcase_add_test(tc, test_taken_up_after_its_last_phase);
        tcase_add_test(tc, test_taken_up_as_paused);
        tcase_add_test(tc, test_errors_before_count_towards_the_end);
        tcase_add_test(tc, test_a_stopped_worker_is_an_outage);
        tcase_add_test(tc, test_pause_as_a_phase_ends_is_kept_before_the_next);
        tcase_add_test(tc, test_pause_as_the_last_phase_ends);
        tcase_add_test(tc, test_stopping_tells_its_own_moment);
        tcase_add_test(tc, test_stop_between_phases);
        tcase_add_test(tc, test_pause_again_before_the_ring_has_woken_up);
        tcase_add_test(tc, test_changes_of_mind_while_draining);
        tcase_add_test(tc, test_resume_while_draining_is_kept_until_it_has);
        tcase_add_test(tc, test_a_phase_that_is_ended_is_done);
        tcase_add_test(tc, test_the_end_of_another_phase_ends_none);
        tcase_add_test(tc, test_a_run_is_done_when_the_last_phase_is);
        tcase_add_test(tc, test_a_phase_behind_the_last_one_is_stopped);
        tcase_add_test(tc, test_a_run_whose_last_phase_is_over_is_done_though_paused);
        tcase_add_test(tc, test_wrong_blocks_fail_a_run_that_is_told_to_be_done);
        tcase_add_test(tc, test_a_paused_phase_ends_when_it_is_resumed);
        tcase_add_test(tc, test_ring_error);
        tcase_add_test(tc, test_errnos_are_told_once);
        tcase_add_test(tc, test_as_many_errors_as_may_be_stop_nothing);
        tcase_add_test(tc, test_more_errors_than_may_be_are_a_result);
        tcase_add_test(tc, test_a_run_that_ends_while_it_drains_is_not_paused);
        tcase_add_test(tc, test_all_that_may_be_written_is_a_result);
        tcase_add_test(tc, test_where_all_was_written_before_nothing_begins);
        tcase_add_test(tc, test_wrong_blocks_fail_a_run_that_has_written_all);
        tcase_add_test(tc, test_an_error_that_the_job_does_not_continue_on);
        tcase_add_test(tc, test_a_device_that_is_gone_is_lost_whatever_the_job_says_of_errors);
        tcase_add_test(tc, test_lost_as_the_phase_ends);
        tcase_add_test(tc, test_errors_from_before_it_was_lost_stay_told);
        tcase_add_test(tc, test_lost_without_an_error);
        tcase_add_test(tc, test_another_device_from_the_start);
        tcase_add_test(tc, test_stalled_and_recovered);
        tcase_add_test(tc, test_stalls_are_told_however_far_apart_samples_are);
        tcase_add_test(tc, test_a_pause_that_has_to_wait_says_so_at_once);
        tcase_add_test(tc, test_service_gone);
        tcase_add_test(tc, test_nonsense_during_a_run);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

/* Taking interrupted runs up: what is made of the worker's answers, and when it is tried again. */

#include <string.h>

#include "fakes.h"
#include "run-fixture.h"
#include "unit.h"
#include "util/macro.h"
#include "util/time.h"

#define STOP_USEC (8 * USEC_PER_SEC)
#define ANSWER_USEC (60 * USEC_PER_SEC)
#define ABSENT_USEC (2 * USEC_PER_SEC)

static unsigned n_stopped;

static void setup(void) {
        run_setup();
        n_stopped = 0;
}

static void on_stopped(void *userdata) {
        n_stopped++;
}

START_TEST(a_killed_worker_is_replaced_and_goes_on) {
        Run *run = looking();
        const Standing *standing = fake_worker.opened;

        ck_assert_uint_eq(standing->next_seq, 1);
        ck_assert_uint_eq(standing->elapsed_ns, NSEC_PER_SEC);
        ck_assert_uint_eq(standing->phases[0].elapsed_ns, NSEC_PER_SEC);
        ck_assert_uint_eq(standing->phases[0].positions.of[0].next_index, 100);
        ck_assert_uint_eq(standing->n_writes, 100); /* or no proof would be asked of the drive */
        ck_assert(!standing->drained && !standing->paused);
        ck_assert(standing->same_boot);

        taken_up();
        ck_assert_int_eq(run_state(run), RUN_QUEUED);
        ck_assert_uint_eq(fake_database.n_places, 1);
        begin(0);
        ck_assert_int_eq(run_state(run), RUN_RUNNING);
        ck_assert_int_eq(strncmp(fake_event(EVENT_OUTAGE)->detail, "it is over: ", 12), 0);
        ck_assert_str_eq(fake_event(EVENT_RESUMED)->detail, "on /dev/fake: 5 of its blocks read back");
        ck_assert_str_eq(fake_event(EVENT_PHASE)->detail, "0 'w' goes on");
        ck_assert_uint_eq(fake_event(EVENT_RESUMED)->elapsed_ns, NSEC_PER_SEC);
        ck_assert_uint_eq(fake_count_events(EVENT_STARTED), 1);
        ck_assert_int_eq(sample(1, 2), 0);
}
END_TEST

/* Numbers and times go on: what began anew would be counted twice. */
START_TEST(a_worker_that_begins_anew_is_refused) {
        static const uint64_t wrong[][2] = { { 0, 1 }, { 0, 2 }, { 1, 1 }, { 2, 2 } };

        looking();
        taken_up();
        begin(0);
        ck_assert_int_eq(sample(wrong[_i][0], wrong[_i][1]), -EBADMSG);
}
END_TEST

START_TEST(a_moved_drive_is_followed) {
        Run *run = looking();

        ck_assert_int_eq(report("/dev/moved", "5 of its blocks read back"), 0);
        ck_assert_str_eq(run_device_path(run), "/dev/moved");
        begin(0);
        ck_assert_str_eq(fake_event(EVENT_RESUMED)->detail,
                         "on /dev/moved, which was /dev/fake: 5 of its blocks read back");
}
END_TEST

START_TEST(the_wrong_drive_is_refused_at_once) {
        Run *run = looking();

        refuse(REFUSAL_FINAL);
        ck_assert_int_eq(run_state(run), RUN_REFUSED);
        ck_assert_str_eq(fake_event(EVENT_REFUSED)->detail, "for a reason");
        ck_assert_ptr_null(fake_worker.handlers);
}
END_TEST

START_TEST(an_absent_drive_is_looked_for_during_a_minute) {
        Run *run = looking();
        uint64_t since = fake_now_ns;

        while (fake_now_ns - since < 60 * NSEC_PER_SEC) {
                refuse(REFUSAL_ABSENT);
                ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
                fake_now_ns += 2 * NSEC_PER_SEC;
                fake_timer_expires(ABSENT_USEC);
        }
        ck_assert_uint_eq(fake_count_events(EVENT_REFUSED), 0);
        refuse(REFUSAL_ABSENT);
        ck_assert_int_eq(run_state(run), RUN_REFUSED);
        ck_assert_uint_eq(fake_count_events(EVENT_REFUSED), 1);
}
END_TEST

/* A user may switch the drive on later. */
START_TEST(a_run_that_was_asked_for_outlives_the_absence_of_its_drive) {
        Run *run = looking();

        refuse(REFUSAL_ABSENT);
        ck_assert_int_eq(run_resume(run, NULL), 0);
        fake_timer_expires(0);
        refuse(REFUSAL_ABSENT);
        fake_now_ns += 61 * NSEC_PER_SEC;
        fake_timer_expires(ABSENT_USEC);
        refuse(REFUSAL_ABSENT);
        ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
        ck_assert_uint_eq(fake_count_events(EVENT_REFUSED), 0);
        ck_assert_str_eq(fake_event(EVENT_OUTAGE)->detail,
                         "it waits for its drive, and then for 'plateau resume 7': for a reason");
        ck_assert_str_eq(run_waits_for(run), "its drive, and then for 'plateau resume 7': for a reason");

        ck_assert_int_eq(run_resume(run, NULL), 0);
        ck_assert_str_eq(run_waits_for(run), "");
        fake_timer_expires(0);
        taken_up();
}
END_TEST

START_TEST(a_drive_in_use_is_waited_for_ever_more_patiently) {
        static const uint64_t waits_s[] = { 1, 2, 4, 8, 16, 32, 60, 60 };
        Run *run = looking();

        for (size_t i = 0; i < ELEMENTSOF(waits_s); i++) {
                refuse(REFUSAL_BUSY);
                ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
                fake_now_ns += waits_s[i] * NSEC_PER_SEC;
                fake_timer_expires(waits_s[i] * USEC_PER_SEC);
        }
        ck_assert_uint_eq(fake_count_events(EVENT_OUTAGE), 2); /* that it was killed, and that it waits */
        taken_up();
}
END_TEST

START_TEST(a_drive_that_does_not_answer_is_tried_again) {
        Run *run = looking();

        fake_timer_expires(ANSWER_USEC);
        ck_assert_uint_eq(fake_worker.n_abandoned, 1);
        ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
        fake_timer_expires(USEC_PER_SEC);
        taken_up();
}
END_TEST

START_TEST(a_worker_that_dies_looking_is_replaced) {
        Run *run = looking();

        die();
        ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
        fake_timer_expires(USEC_PER_SEC);
        taken_up();
}
END_TEST

START_TEST(three_deaths_without_minutes_of_samples_are_enough) {
        _cleanup_error_ Error error = ERROR_INIT;
        Run *run = looking();

        for (unsigned i = 1; i < 3; i++) {
                taken_up();
                begin(0);
                if (_i > 0)
                        ck_assert_int_eq(sample(i, i + 1), 0);
                die();
                ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
                if (i < 2)
                        fake_timer_expires(USEC_PER_SEC << i);
        }
        unsigned n = fake_worker.n_spawned;
        ck_assert_str_eq(run_waits_for(run), "'plateau resume 7': its worker has died 3 times without minutes of "
                                             "samples between");
        ck_assert_str_eq(fake_database.waits_for, run_waits_for(run));
        ck_assert_int_eq(strncmp(fake_event(EVENT_OUTAGE)->detail, "it waits for ", 13), 0);

        ck_assert_int_eq(run_resume(run, &error), 0);
        ck_assert_str_eq(run_waits_for(run), "");
        ck_assert_str_eq(fake_database.waits_for, "");
        fake_timer_expires(0);
        ck_assert_uint_eq(fake_worker.n_spawned, n + 1);
        taken_up();
        begin(0);
        die();
        fake_timer_expires(USEC_PER_SEC); /* who asked has it all before him again */
        ck_assert_uint_eq(fake_worker.n_spawned, n + 2);
}
END_TEST

START_TEST(minutes_of_samples_make_up_for_deaths) {
        uint64_t seq = 1;
        Run *run = looking();

        for (unsigned i = 0; i < 4; i++) {
                taken_up();
                begin(0);
                for (unsigned j = 0; j < 300; j++, seq++)
                        ck_assert_int_eq(sample(seq, seq + 1), 0);
                die();
                ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
                fake_timer_expires(USEC_PER_SEC);
        }
        taken_up();
}
END_TEST

/* It has not started by having been told to go, and starts once. */
START_TEST(a_run_whose_worker_died_before_it_began_says_so) {
        told_to_go();
        die();
        fake_timer_expires(USEC_PER_SEC);
        ck_assert_int_eq(report("/dev/fake", "the run had written nothing to it"), 0);
        ck_assert_uint_eq(fake_count_events(EVENT_STARTED), 0);
        begin(0);
        ck_assert_uint_eq(fake_count_events(EVENT_STARTED), 1);
        ck_assert_ptr_nonnull(strstr(fake_event(EVENT_OUTAGE)->detail, "since the start was asked for"));

        die();
        fake_timer_expires(2 * USEC_PER_SEC);
        ck_assert_int_eq(report("/dev/fake", "the run had written nothing to it"), 0);
        begin(0);
        ck_assert_uint_eq(fake_count_events(EVENT_STARTED), 1);
}
END_TEST

/* --- the database --- */

/* Until it is written that the run goes on, it says that nothing was submitted beyond its samples. */
START_TEST(no_worker_goes_before_that_is_written) {
        Run *run = looking();

        fake_database.hangs = true;
        ck_assert_int_eq(report("/dev/fake", "5 of its blocks read back"), 0);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_OPEN);
        ck_assert_int_eq(run_state(run), RUN_QUEUED);
        fake_database_answers();
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_GO);
        begin(0);
        ck_assert_int_eq(run_state(run), RUN_RUNNING);
}
END_TEST

START_TEST(no_worker_goes_when_that_is_never_written) {
        looking();
        fake_database.hangs = true;
        ck_assert_int_eq(report("/dev/fake", "5 of its blocks read back"), 0);
        manager = manager_free(manager);
        ck_assert_uint_eq(fake_database.n_waiting, 0);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_OPEN);
        open_manager();
}
END_TEST

/* What was written for a worker that has died meanwhile is no leave for the next one. */
START_TEST(each_worker_waits_for_its_own_turn) {
        looking();
        fake_database.hangs = true;
        ck_assert_int_eq(report("/dev/fake", "5 of its blocks read back"), 0);
        die();
        fake_timer_expires(2 * USEC_PER_SEC);
        ck_assert_int_eq(report("/dev/fake", "5 of its blocks read back"), 0);
        ck_assert_uint_eq(fake_database.n_waiting, 2);

        fake_database.waiting[0].handler(true, fake_database.waiting[0].userdata);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_OPEN);
        fake_database.waiting[0] = fake_database.waiting[--fake_database.n_waiting];
        fake_database_answers();
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_GO);
}
END_TEST

START_TEST(without_memory_to_wait_it_is_tried_again) {
        Run *run = looking();

        fake_database.written_error = -ENOMEM;
        ck_assert_int_eq(report("/dev/fake", "5 of its blocks read back"), 0);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_OPEN);
        ck_assert_uint_eq(fake_worker.n_abandoned, 1);
        ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);

        fake_database.written_error = 0;
        fake_timer_expires(2 * USEC_PER_SEC);
        taken_up();
}
END_TEST

START_TEST(a_paused_run_is_paused_again) {
        Run *run = running();
        Message paused = { .type = MESSAGE_EVENT, .event = { .kind = OCCURRENCE_PAUSED, .elapsed_ns = NSEC_PER_SEC } };
        Message again = paused;

        ck_assert_int_eq(fake_say(&paused), 0);
        ck_assert_int_eq(run_state(run), RUN_PAUSED);
        die();
        fake_timer_expires(USEC_PER_SEC);
        ck_assert(fake_worker.opened->paused);
        taken_up();
        ck_assert_int_eq(fake_say(&(Message){ .type = MESSAGE_STARTED, .started = { 77 } }), 0);
        ck_assert_int_eq(run_state(run), RUN_QUEUED);
        ck_assert_int_eq(fake_say(&again), 0);
        ck_assert_int_eq(run_state(run), RUN_PAUSED);
}
END_TEST

static Run *interrupted_while_paused(void) {
        Message paused = { .type = MESSAGE_EVENT, .event = { .kind = OCCURRENCE_PAUSED, .elapsed_ns = NSEC_PER_SEC } };
        Run *run = running();

        ck_assert_int_eq(fake_say(&paused), 0);
        die();
        fake_timer_expires(USEC_PER_SEC);
        ck_assert(fake_worker.opened->paused);
        return run;
}

/* Between the words that it goes on and that it is paused. */
START_TEST(a_paused_run_stays_so_though_its_worker_dies_before_it_says_so) {
        interrupted_while_paused();
        taken_up();
        ck_assert_int_eq(fake_say(&(Message){ .type = MESSAGE_STARTED, .started = { 77 } }), 0);
        die();
        fake_timer_expires(2 * USEC_PER_SEC);
        ck_assert(fake_worker.opened->paused);
}
END_TEST

START_TEST(a_run_that_was_resumed_is_not_paused_again) {
        Message paused = { .type = MESSAGE_EVENT, .event = { .kind = OCCURRENCE_PAUSED, .elapsed_ns = NSEC_PER_SEC } };
        Message resumed = paused;

        resumed.event.kind = OCCURRENCE_RESUMED;
        interrupted_while_paused();
        taken_up();
        ck_assert_int_eq(fake_say(&(Message){ .type = MESSAGE_STARTED, .started = { 77 } }), 0);
        ck_assert_int_eq(fake_say(&paused), 0);
        ck_assert_int_eq(fake_say(&resumed), 0);
        die();
        fake_timer_expires(2 * USEC_PER_SEC);
        ck_assert(!fake_worker.opened->paused);
}
END_TEST

/* Whether its worker looks already, and was told to pause it, or not. */
START_TEST(who_asks_for_a_paused_run_has_it_running) {
        Run *run = interrupted_while_paused();

        if (_i > 0)
                refuse(REFUSAL_BUSY);
        ck_assert_int_eq(run_resume(run, NULL), 0);
        ck_assert_uint_eq(fake_worker.n_abandoned, 1);
        fake_timer_expires(0);
        ck_assert(!fake_worker.opened->paused);
        taken_up();
        begin(0);
        ck_assert_int_eq(run_state(run), RUN_RUNNING);
}
END_TEST

START_TEST(errors_are_counted_on) {
        Message five = { .type = MESSAGE_ERRNO, .errnum = { .errnum = EIO, .count = 5, .first_offset = 512 } };
        Message two = { .type = MESSAGE_ERRNO, .errnum = { .errnum = EIO, .count = 2, .first_offset = 1024 } };

        running();
        ck_assert_int_eq(fake_say(&five), 0);
        die();
        fake_timer_expires(USEC_PER_SEC);
        taken_up();
        begin(0);
        ck_assert_int_eq(fake_say(&two), 0);
        ck_assert_uint_eq(fake_database.errnum.count, 7);
        ck_assert_uint_eq(fake_database.errnum.first_offset, 512);
        ck_assert_uint_eq(fake_count_events(EVENT_ERROR), 1);
}
END_TEST

/* --- ends --- */

START_TEST(a_user_may_stop_a_run_that_waits) {
        uint32_t n_pending;
        Run *run = looking();

        ck_assert_int_eq(run_stop(run, &n_pending, NULL), 0);
        ck_assert_int_eq(run_state(run), RUN_STOPPED);
        ck_assert_uint_eq(fake_worker.n_abandoned, 1);
        ck_assert_ptr_null(fake_worker.handlers);
}
END_TEST

START_TEST(the_service_may_stop_while_a_run_waits) {
        Run *run = looking();

        manager_stop(manager, on_stopped, NULL);
        ck_assert_uint_eq(n_stopped, 1);
        ck_assert_uint_eq(fake_worker.n_abandoned, 1);
        ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
        ck_assert_int_lt(run_resume(run, NULL), 0);
}
END_TEST

static void stop_service(void) {
        manager_stop(manager, on_stopped, NULL);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_STOP);
        ck_assert_int_eq(fake_say(&(Message){
                .type = MESSAGE_FINISHED, .finished = { .outcome = OUTCOME_STOPPED },
        }), 0);
        fake_end(&(WorkerEnd){ .exited = true });
        ck_assert_uint_eq(n_stopped, 1);
        ck_assert_int_eq(fake_database.state, RUN_INTERRUPTED);
}

/* Only its worker's last word makes sure that no more was submitted than is known. */
START_TEST(a_clean_stop_is_noted_as_such) {
        running();
        stop_service();
        ck_assert_uint_eq(fake_database.n_drained, 1);
}
END_TEST

START_TEST(a_clean_stop_before_the_start_makes_no_crash_clean) {
        looking();
        taken_up();
        stop_service();
        ck_assert_uint_eq(fake_database.n_drained, 0);
}
END_TEST

/* --- from the database --- */

static StoreRun *stored_run_of(const char *job_text, uint32_t n_phases) {
        StoreRun *stored = calloc(1, sizeof(*stored));
        StoreResume *resume = calloc(1, sizeof(*resume));
        Standing *standing = standing_new(n_phases);

        *standing->device = (DeviceInfo){
                .path = strdup("/dev/fake"), .name = strdup("fake"), .disk_name = strdup("fake"),
                .size_bytes = 64 * MIB, .logical_block_bytes = 512, .physical_block_bytes = 512, .diskseq = 8,
        };
        standing->boot_id = strdup("another boot");
        standing->run_tag = 3;
        standing->next_seq = 40;
        standing->elapsed_ns = standing->phases[0].elapsed_ns = 41 * NSEC_PER_SEC;
        for (uint32_t i = 0; i < n_phases; i++)
                standing->phases[i].shape.workers = 1;
        ck_assert_int_eq(standing_make_histories(standing), 0);
        *resume = (StoreResume){
                .job_text = strdup(job_text), .standing = standing,
                .phases = calloc(n_phases, sizeof(*resume->phases)), .cuts_ns = calloc(1, sizeof(*resume->cuts_ns)),
        };
        *stored = (StoreRun){
                .id = 3, .name = strdup("j"), .state = RUN_INTERRUPTED, .device_path = strdup("/dev/fake"),
                .size_bytes = 64 * MIB, .logical_block_bytes = 512, .sample_interval_ns = NSEC_PER_SEC,
                .elapsed_ns = 41 * NSEC_PER_SEC, .resume = resume,
        };
        return stored;
}

static StoreRun *stored_run(const char *job_text) {
        return stored_run_of(job_text, 1);
}

START_TEST(a_run_of_an_earlier_service_is_taken_up) {
        fake_database.stored = stored_run(JOB);
        open_manager();
        Run *run = manager_get_run(manager, 3);

        fake_timer_expires(0);
        ck_assert_uint_eq(fake_worker.opened->next_seq, 40);
        ck_assert(!fake_worker.opened->same_boot);
        taken_up();
        begin(0);
        ck_assert_int_eq(run_state(run), RUN_RUNNING);
        ck_assert_ptr_null(strstr(fake_event(EVENT_OUTAGE)->detail, "this boot"));
        ck_assert_int_eq(sample(40, 42), 0);
}
END_TEST

/* Samples of the first phase up to n of them, of which some are there already; when it became steady. */
static uint64_t steady_at_s(uint64_t seq, uint64_t n) {
        for (; seq < n && fake_count_events(EVENT_STEADY) == 0; seq++)
                ck_assert_int_eq(sample(seq, seq + 1), 0);
        return seq < n ? seq : 0;
}

/* An hour, or ten rounds of what the device holds, whichever is longer: uninterrupted, ten minutes and a bit. */
static uint64_t steady_uninterrupted_at_s(void) {
        running();
        return steady_at_s(1, 6000);
}

static void store_seconds(uint64_t n) {
        fake_database.stored = stored_run(JOB);
        fake_database.n_stored_samples = fake_database.stored->resume->standing->next_seq = n;
        fake_database.stored->elapsed_ns = fake_database.stored->resume->standing->elapsed_ns =
                fake_database.stored->resume->standing->phases[0].elapsed_ns =
                fake_database.stored->resume->phases[0].elapsed_ns = n * NSEC_PER_SEC;
}

/* It is cut at the outage, and half a minute after it, but it is one phase: also for a service that was not there. */
START_TEST(a_steady_state_counts_what_was_before_an_outage) {
        uint64_t uninterrupted = steady_uninterrupted_at_s();

        ck_assert_uint_gt(uninterrupted, 0);
        run_teardown();
        run_setup();
        if (_i == 0) {
                running();
                ck_assert_uint_eq(steady_at_s(1, 300), 0);
                die();
                fake_timer_expires(USEC_PER_SEC);
        } else {
                store_seconds(300);
                open_manager();
                fake_timer_expires(0);
        }
        taken_up();
        begin(0);
        uint64_t at = steady_at_s(300, 6000);
        ck_assert_uint_ge(at, uninterrupted);
        ck_assert_uint_le(at, uninterrupted + 120);
        ck_assert_uint_eq(fake_count_events(EVENT_STEADY), 1);
}
END_TEST

/* What the earlier service decided has its event, and holds until it is revoked. */
START_TEST(a_steady_state_that_was_declared_is_not_declared_again) {
        store_seconds(steady_uninterrupted_at_s() + 100);
        run_teardown();
        StoreRun *stored = fake_database.stored;
        uint64_t n = fake_database.n_stored_samples;
        run_setup();
        fake_database.stored = stored;
        fake_database.n_stored_samples = n;
        open_manager();
        fake_timer_expires(0);
        taken_up();
        begin(0);
        ck_assert_uint_eq(steady_at_s(n, n + 2000), 0);
        ck_assert_uint_eq(fake_count_events(EVENT_STEADY_REVOKED), 0);
}
END_TEST

/* An earlier version made one phase of its job, this one makes two: what the worker says of them fits nothing. */
START_TEST(phases_that_were_others_before_cannot_begin) {
        fake_database.stored = stored_run("[m]\naction=matrix\nstep_time=1\nbs=4k,8k\n");
        open_manager();
        fake_timer_expires(0);
        taken_up();
        ck_assert_int_eq(fake_say(&(Message){ .type = MESSAGE_STARTED, .started = { 77 } }), 0);
        for (uint32_t i = 0; i < 2; i++) {
                ck_assert_int_eq(fake_say(&(Message){
                        .type = MESSAGE_PHASE, .phase = { .index = i, .mark = PHASE_MARK_STARTED, .at_ns = 1 },
                }), -EBADMSG);
        }
}
END_TEST

START_TEST(a_run_of_which_nothing_is_known_stays_as_it_is) {
        _cleanup_error_ Error error = ERROR_INIT;

        fake_database.stored = stored_run(JOB);
        store_resume_free(TAKE_PTR(fake_database.stored->resume));
        open_manager();
        ck_assert_int_lt(run_resume(manager_get_run(manager, 3), &error), 0);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "start it anew"));
        ck_assert_uint_eq(fake_worker.n_spawned, 0);
}
END_TEST

#define ROUND "[w]\nrw=randwrite\n[r]\nrw=randread\n"
#define IOPS_TEST                                                                                                      \
        "[global]\nbs=4k\nruntime=5\ntime_based\n[stop]\nsnia_iops_steady=1\n" ROUND ROUND ROUND ROUND ROUND ROUND ROUND

/* Its first n_done phases, five seconds each, and a second of the next. */
static void take_up_iops_test(uint32_t n_done, uint64_t cut_ns) {
        StoreRun *stored = stored_run_of(IOPS_TEST, 14);
        StoreResume *resume = stored->resume;

        for (uint32_t i = 0; i <= n_done; i++)
                resume->phases[i] = (StoreResumePhase){
                        .first_elapsed_ns = i * 5 * NSEC_PER_SEC,
                        .elapsed_ns = (i < n_done ? 5 : 1) * NSEC_PER_SEC,
                        .counted_ns = (i < n_done ? 5 : 1) * NSEC_PER_SEC,
                        .counted_ios = i < n_done ? 500 : 100,
                        .is_done = i < n_done,
                };
        if (cut_ns > 0)
                resume->cuts_ns[resume->n_cuts++] = cut_ns;
        resume->standing->phase = n_done;
        resume->standing->elapsed_ns = stored->elapsed_ns = (n_done * 5 + 1) * NSEC_PER_SEC;
        fake_database.stored = stored;
        open_manager();
        fake_timer_expires(0);
        taken_up();
        begin(n_done);
}

/* Its service died when the round was complete, before the worker had heard of it. */
START_TEST(the_end_that_an_earlier_service_has_seen_is_told_again) {
        take_up_iops_test(10, 0);
        ck_assert_uint_eq(fake_worker.n_ends_of_run, 1);
        ck_assert_uint_eq(fake_worker.last_phase, 9);
        ck_assert_str_eq(fake_event(EVENT_STOPPING)->detail,
                         "[stop] snia_iops_steady=1: rounds 1 to 5 are steady, with 100 IOPS of 4 KiB random writes; "
                         "the run ends with this round, after phase 9 'r'");
}
END_TEST

/* The one that was told is gone, before or after the round was complete. */
START_TEST(another_worker_is_told_of_the_end_again) {
        take_up_iops_test(9, 0);
        ck_assert_uint_eq(fake_worker.n_ends_of_run, 1);
        die();
        fake_timer_expires(USEC_PER_SEC);
        taken_up();
        begin(9);
        ck_assert_uint_eq(fake_worker.n_ends_of_run, 2);
        ck_assert_uint_eq(fake_worker.last_phase, 9);
}
END_TEST

START_TEST(the_pauses_of_an_earlier_service_count) {
        take_up_iops_test(10, 7 * NSEC_PER_SEC);
        ck_assert_uint_eq(fake_worker.n_ends_of_run, 0);
}
END_TEST

/* What was recorded of the pass that was interrupted belongs to it; but it is no round, nor goes a window across. */
START_TEST(an_outage_puts_the_end_off) {
        static const struct {
                uint32_t n_done; /* when it came */
                unsigned n_ends; /* after the writes of the sixth round */
        } cases[] = { { 8, 0 }, { 9, 1 } };
        uint32_t n_done = cases[_i].n_done;

        take_up_iops_test(n_done, 0);
        ck_assert_uint_eq(fake_worker.n_ends_of_run, n_done == 9);
        for (uint32_t i = n_done; i < 11; i++) {
                if (i > n_done)
                        ck_assert_int_eq(fake_say(&(Message){
                                .type = MESSAGE_PHASE, .phase = { .index = i, .mark = PHASE_MARK_STARTED, .at_ns = 1 },
                        }), 0);
                ck_assert_int_eq(sample_of(i, 40 + i - n_done, n_done * 5 + 2 + i - n_done), 0);
                ck_assert_int_eq(fake_say(&(Message){
                        .type = MESSAGE_PHASE, .phase = { .index = i, .mark = PHASE_MARK_DONE, .at_ns = 1 },
                }), 0);
        }
        ck_assert_uint_eq(fake_worker.n_ends_of_run, cases[_i].n_ends);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("resume");
        TCase *tc = tcase_create("resume");

        tcase_add_checked_fixture(tc, setup, run_teardown);
        tcase_add_test(tc, a_killed_worker_is_replaced_and_goes_on);
        tcase_add_loop_test(tc, a_worker_that_begins_anew_is_refused, 0, 4);
        tcase_add_test(tc, a_moved_drive_is_followed);
        tcase_add_test(tc, the_wrong_drive_is_refused_at_once);
        tcase_add_test(tc, an_absent_drive_is_looked_for_during_a_minute);
        tcase_add_test(tc, a_drive_in_use_is_waited_for_ever_more_patiently);
        tcase_add_test(tc, a_drive_that_does_not_answer_is_tried_again);
        tcase_add_test(tc, a_worker_that_dies_looking_is_replaced);
        tcase_add_test(tc, a_run_that_was_asked_for_outlives_the_absence_of_its_drive);
        tcase_add_loop_test(tc, three_deaths_without_minutes_of_samples_are_enough, 0, 2);
        tcase_add_test(tc, minutes_of_samples_make_up_for_deaths);
        tcase_add_test(tc, a_run_whose_worker_died_before_it_began_says_so);
        tcase_add_test(tc, no_worker_goes_before_that_is_written);
        tcase_add_test(tc, no_worker_goes_when_that_is_never_written);
        tcase_add_test(tc, each_worker_waits_for_its_own_turn);
        tcase_add_test(tc, without_memory_to_wait_it_is_tried_again);
        tcase_add_test(tc, a_paused_run_is_paused_again);
        tcase_add_test(tc, a_paused_run_stays_so_though_its_worker_dies_before_it_says_so);
        tcase_add_test(tc, a_run_that_was_resumed_is_not_paused_again);
        tcase_add_loop_test(tc, who_asks_for_a_paused_run_has_it_running, 0, 2);
        tcase_add_test(tc, errors_are_counted_on);
        tcase_add_test(tc, a_user_may_stop_a_run_that_waits);
        tcase_add_test(tc, the_service_may_stop_while_a_run_waits);
        tcase_add_test(tc, a_clean_stop_is_noted_as_such);
        tcase_add_test(tc, a_clean_stop_before_the_start_makes_no_crash_clean);
        tcase_add_test(tc, a_run_of_an_earlier_service_is_taken_up);
        tcase_add_loop_test(tc, a_steady_state_counts_what_was_before_an_outage, 0, 2);
        tcase_add_test(tc, a_steady_state_that_was_declared_is_not_declared_again);
        tcase_add_test(tc, phases_that_were_others_before_cannot_begin);
        tcase_add_test(tc, a_run_of_which_nothing_is_known_stays_as_it_is);
        tcase_add_test(tc, the_end_that_an_earlier_service_has_seen_is_told_again);
        tcase_add_test(tc, another_worker_is_told_of_the_end_again);
        tcase_add_test(tc, the_pauses_of_an_earlier_service_count);
        tcase_add_loop_test(tc, an_outage_puts_the_end_off, 0, 2);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

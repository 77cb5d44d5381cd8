/* SPDX-License-Identifier: MIT */

/* Starting, stopping and ending of runs, and what a worker may say, without a process, a device or a database. */

#include <string.h>

#include "fakes.h"
#include "manager.h"
#include "scratch-store.h"
#include "unit.h"
#include "util/time.h"

#define STOP_USEC (8 * USEC_PER_SEC)

static sd_event *event;
static Manager *manager;
static char directory[FAKE_DIRECTORY_MAX];
static unsigned n_stopped, n_started;
static ErrorKind start_error;
static uint64_t elapsed_ns;
static uint32_t phase_index; /* of samples */

static void setup(void) {
        fakes_reset();
        n_stopped = n_started = 0;
        start_error = ERROR_NONE;
        elapsed_ns = 0;
        phase_index = 0;
        fake_directory_make(directory);
        ck_assert_int_ge(sd_event_new(&event), 0);
        ck_assert_int_eq(manager_new(&manager, event, directory, NULL), 0);
}

static void teardown(void) {
        manager_free(manager);
        sd_event_unref(event);
        fake_directory_remove(directory);
}

static void on_stopped(void *userdata) {
        n_stopped++;
}

static void on_started(const uint32_t *ids, size_t n, const Error *error, void *userdata) {
        n_started++;
        start_error = error ? error->kind : ERROR_NONE;
}

static void start(const char *job) {
        const char *const devices[] = { "/nonexistent/fake", NULL }, *const none[] = { NULL };
        const StartParameters parameters = {
                .job_name = "unit", .job_text = job, .devices = devices, .confirmations = none,
        };
        ck_assert_int_eq(manager_start_runs(manager, &parameters, on_started, NULL, NULL), 0);
}

static void report(void) {
        Message message = { .type = MESSAGE_REPORT, .report = { .info = calloc(1, sizeof(DeviceInfo)) } };

        *message.report.info = (DeviceInfo){
                .path = strdup("/dev/fake"), .name = strdup("fake"), .disk_name = strdup("fake"),
                .size_bytes = 64 * MIB, .logical_block_bytes = 512, .physical_block_bytes = 512,
        };
        ck_assert_int_eq(fake_say(&message), 0);
}

static int phase(uint32_t index, PhaseMark mark) {
        return fake_say(&(Message){ .type = MESSAGE_PHASE, .phase = { .index = index, .mark = mark, .at_ns = 1 } });
}

/* A run that is in its first phase. */
static Run *running_job(const char *job) {
        start(job);
        report();
        fake_insert_done(7);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_GO);
        ck_assert_int_eq(fake_say(&(Message){ .type = MESSAGE_STARTED, .started = { 77 } }), 0);
        ck_assert_int_eq(phase(0, PHASE_MARK_STARTED), 0);
        return manager_get_run(manager, 7);
}

static Run *running(void) {
        return running_job("[w]\nrw=randwrite\nbs=4k\nruntime=6000\ntime_based\n");
}

static void stop_run(Run *run) {
        uint32_t n_pending;

        ck_assert_int_eq(run_stop(run, &n_pending, NULL), 0);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_STOP);
}

static double cpu_percent; /* of the host, in samples */

/* Sample `seq` of one-second samples, one after the other; the clock goes with them. */
static int sample(uint64_t seq, uint64_t duration_ns, uint64_t ios) {
        Message message = { .type = MESSAGE_SAMPLE, .sample = calloc(1, sizeof(Sample)) };

        elapsed_ns += duration_ns;
        message.sample->seq = seq;
        message.sample->phase = phase_index;
        message.sample->at_ns = (int64_t) elapsed_ns;
        message.sample->elapsed_ns = elapsed_ns;
        message.sample->duration_ns = duration_ns;
        message.sample->ios[DIRECTION_WRITE] = ios;
        message.sample->bytes[DIRECTION_WRITE] = ios * 4096;
        message.sample->positions.n = 1;
        message.sample->cpu_percent = cpu_percent;
        return fake_say(&message);
}

static void seconds(uint64_t from, uint64_t to, uint64_t ios) {
        for (uint64_t seq = from; seq < to; seq++) {
                fake_now_ns += NSEC_PER_SEC;
                ck_assert_int_eq(sample(seq, NSEC_PER_SEC, ios), 0);
        }
}

static int occurs(Occurrence kind, uint64_t at_elapsed_ns) {
        return fake_say(&(Message){
                .type = MESSAGE_EVENT, .event = { .kind = kind, .at_ns = 5, .elapsed_ns = at_elapsed_ns },
        });
}

static int fails(int errnum, uint64_t count) {
        return fake_say(&(Message){ .type = MESSAGE_ERRNO, .errnum = { .errnum = errnum, .count = count } });
}

/* --- stopping the service --- */

START_TEST(a_database_that_hangs_with_a_start_does_not_hold_the_stop) {
        start("[w]\nrw=randwrite\nbs=4k\nruntime=60\ntime_based\n");
        report();
        ck_assert_uint_eq(fake_database.n_inserts, 1);

        manager_stop(manager, on_stopped, NULL);
        ck_assert_uint_eq(n_started, 1);
        ck_assert_int_eq(start_error, ERROR_UNREACHABLE);
        ck_assert_uint_eq(n_stopped, 0); /* an answer may still come */
        fake_timer_expires(STOP_USEC);
        ck_assert_uint_eq(n_stopped, 1);
}
END_TEST

START_TEST(a_database_that_answers_ends_the_stop_early) {
        start("[w]\nrw=randwrite\nbs=4k\nruntime=60\ntime_based\n");
        report();
        manager_stop(manager, on_stopped, NULL);
        fake_insert_done(7);
        ck_assert_uint_eq(n_stopped, 1);
        ck_assert_int_eq(fake_database.state, RUN_REFUSED);
}
END_TEST

START_TEST(a_stop_without_runs_is_told_once) {
        manager_stop(manager, on_stopped, NULL);
        ck_assert_uint_eq(n_stopped, 1);
        fake_timer_expires(STOP_USEC);
        ck_assert_uint_eq(n_stopped, 1);
}
END_TEST

START_TEST(a_worker_that_does_not_stop_is_left) {
        Run *run = running();

        manager_stop(manager, on_stopped, NULL);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_STOP);
        ck_assert_uint_eq(n_stopped, 0);
        fake_timer_expires(STOP_USEC);
        ck_assert_uint_eq(n_stopped, 1);
        ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
}
END_TEST

/* --- what a user asked for --- */

START_TEST(stop_is_written_down_when_it_is_asked_for) {
        Run *run = running();

        stop_run(run);
        stop_run(run);
        ck_assert_uint_eq(fake_database.n_stop_asked, 1);
        ck_assert_int_eq(run_state(run), RUN_RUNNING);
}
END_TEST

START_TEST(stop_holds_though_the_worker_is_killed) {
        static const WorkerEnd ends[] = {
                { .status = SIGKILL },
                { .exited = true, .status = 3 },
                { .fault = "it closed its socket but did not end", .status = SIGKILL },
        };
        Run *run = running();

        stop_run(run);
        fake_end(&ends[_i]);
        ck_assert_int_eq(run_state(run), RUN_STOPPED);
        ck_assert_ptr_null(fake_event(EVENT_OUTAGE));
        ck_assert_int_eq(strncmp(fake_event(EVENT_FINISHED)->detail, "stopped: the worker ", 20), 0);
        ck_assert_int_eq(fake_database.phase_state, PHASE_STOPPED);
}
END_TEST

START_TEST(stop_holds_though_the_service_stops_first) {
        Run *run = running();

        stop_run(run);
        manager_stop(manager, on_stopped, NULL);
        fake_timer_expires(STOP_USEC);
        ck_assert_int_eq(run_state(run), RUN_STOPPED);
        ck_assert_uint_eq(n_stopped, 1);
}
END_TEST

START_TEST(without_a_users_stop_a_killed_worker_interrupts) {
        Run *run = running();

        fake_end(&(WorkerEnd){ .status = SIGKILL });
        ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
        ck_assert_ptr_nonnull(fake_event(EVENT_OUTAGE));
}
END_TEST

/* --- what a worker says --- */

START_TEST(a_worker_that_cannot_be_told_to_go_fails_its_run) {
        start("[w]\nrw=randwrite\nbs=4k\nruntime=60\ntime_based\n");
        report();
        fake_worker.send_error = -ENOBUFS;
        fake_insert_done(7);
        ck_assert_uint_eq(fake_worker.n_abandoned, 1);
        ck_assert_int_eq(run_state(manager_get_run(manager, 7)), RUN_FAILED);
        ck_assert_ptr_nonnull(strstr(fake_event(EVENT_FINISHED)->detail, "cannot be told to go"));
        ck_assert_uint_eq(manager_n_running(manager), 0);
}
END_TEST

START_TEST(a_run_starts_before_its_first_phase_begins) {
        running();
        ck_assert_int_eq(fake_event(EVENT_STARTED)->at_ns, 77);
        ck_assert_int_eq(fake_database.state_at_ns, 77);
}
END_TEST

START_TEST(an_event_is_of_its_own_moment) {
        running();
        seconds(0, 3, 1);
        fake_now_ns += NSEC_PER_SEC / 2;
        ck_assert_int_eq(occurs(OCCURRENCE_STOPPING, elapsed_ns + NSEC_PER_SEC / 2), 0);
        ck_assert_uint_eq(fake_event(EVENT_STOPPING)->elapsed_ns, 3 * NSEC_PER_SEC + NSEC_PER_SEC / 2);
        ck_assert_int_eq(occurs(OCCURRENCE_STOPPING, elapsed_ns - 1), -EBADMSG);
        ck_assert_int_eq(occurs(OCCURRENCE_STOPPING, elapsed_ns + 2 * NSEC_PER_SEC), -EBADMSG);
}
END_TEST

static void check_explained(RunState state, EventKind kind) {
        ck_assert_int_eq(fake_database.state, state);
        ck_assert_int_eq(fake_database.events[fake_database.n_events_before_state - 1].kind, kind);
}

START_TEST(no_state_is_written_before_the_event_that_explains_it) {
        Message end = { .type = MESSAGE_FINISHED, .finished = { .outcome = OUTCOME_DONE } };

        running();
        check_explained(RUN_RUNNING, EVENT_STARTED);
        ck_assert_int_eq(occurs(OCCURRENCE_PAUSED, 0), 0);
        check_explained(RUN_PAUSED, EVENT_PAUSED);
        ck_assert_int_eq(occurs(OCCURRENCE_RESUMED, 0), 0);
        check_explained(RUN_RUNNING, EVENT_RESUMED);
        ck_assert_int_eq(fake_say(&end), 0);
        fake_end(&(WorkerEnd){ .exited = true });
        check_explained(RUN_DONE, EVENT_FINISHED);
}
END_TEST

START_TEST(running_time_cannot_outrun_the_clock) {
        running();
        seconds(0, 10, 1);
        ck_assert_int_eq(sample(10, NSEC_PER_SEC, 1), 0); /* the slack */
        ck_assert_int_eq(sample(11, 1, 1), -EBADMSG);
        ck_assert_uint_eq(fake_database.n_samples, 11);
}
END_TEST

/* We were held up, the worker was not. */
START_TEST(samples_that_waited_are_taken) {
        running();
        fake_now_ns += 3600 * NSEC_PER_SEC;
        for (uint64_t seq = 0; seq < 3600; seq++)
                ck_assert_int_eq(sample(seq, NSEC_PER_SEC, 1), 0);
}
END_TEST

START_TEST(fifty_days_and_2_to_the_40th_ios_are_counted_to_the_last) {
        const uint64_t days_ns = 50 * UINT64_C(86400) * NSEC_PER_SEC, n_ios = (UINT64_C(1) << 40) + 1;
        Run *run = running();

        for (uint64_t seq = 0; seq < 2; seq++) {
                fake_now_ns += days_ns;
                ck_assert_int_eq(sample(seq, days_ns, n_ios), 0);
        }
        ck_assert_uint_eq(run_progress(run).elapsed_ns, 2 * days_ns);
        ck_assert_uint_eq((uint64_t) (run_progress(run).iops * 4320000), n_ios);
        ck_assert_int_eq(occurs(OCCURRENCE_STOPPING, 2 * days_ns), 0);

        fake_end(&(WorkerEnd){ .status = SIGKILL });
        ck_assert_uint_eq(run_standing(run, "")->n_writes, 2 * n_ios);
        ck_assert_uint_eq(run_standing(run, "")->written_bytes, 2 * n_ios * 4096);
        ck_assert_uint_eq(run_standing(run, "")->elapsed_ns, 2 * days_ns);
}
END_TEST

START_TEST(samples_come_no_faster_than_their_interval) {
        uint64_t seq = 0;

        running();
        fake_now_ns += 10 * NSEC_PER_SEC;
        while (seq < 1000 && sample(seq, seq % 2, 1) == 0) /* some last no time at all */
                seq++;
        ck_assert_uint_ge(seq, 10);
        ck_assert_uint_le(seq, 20);
}
END_TEST

START_TEST(pauses_may_cut_samples) {
        uint64_t seq = 0;

        running();
        for (unsigned i = 0; i < 100; i++) {
                fake_now_ns += NSEC_PER_SEC / 10;
                ck_assert_int_eq(sample(seq++, NSEC_PER_SEC / 100, 1), 0);
                ck_assert_int_eq(occurs(OCCURRENCE_PAUSED, elapsed_ns), 0);
                ck_assert_int_eq(occurs(OCCURRENCE_RESUMED, elapsed_ns), 0);
        }
}
END_TEST

START_TEST(events_are_bounded_by_time) {
        unsigned n = 0;

        running();
        while (n < 1000 && occurs(OCCURRENCE_STALLED, 0) == 0)
                n++;
        ck_assert_uint_ge(n, 64);
        ck_assert_uint_le(n, 66);
        for (unsigned i = 0; i < 1000; i++) {
                fake_now_ns += NSEC_PER_SEC / 50;
                ck_assert_int_eq(occurs(OCCURRENCE_STALLED, 0), 0);
        }
}
END_TEST

START_TEST(counts_of_errors_are_bounded_by_time) {
        uint64_t n = 0;

        running();
        while (n < 100000 && fails(EIO, n + 1) == 0)
                n++;
        ck_assert_uint_ge(n, 60 * ENGINE_N_ERRNOS_MAX); /* what a minute in which we were held up leaves */
        ck_assert_uint_lt(n, 5000);
        ck_assert_uint_eq(fake_count_events(EVENT_ERROR), 1);
}
END_TEST

/* When that is, is for the analysis to say. Returns the next sample's number. */
static uint64_t seconds_until_steady_from(uint64_t seq, uint64_t ios) {
        for (; fake_count_events(EVENT_STEADY) == 0 && seq < 6000; seq++)
                seconds(seq, seq + 1, ios);
        ck_assert_uint_eq(fake_count_events(EVENT_STEADY), 1);
        return seq;
}

static uint64_t seconds_until_steady(uint64_t ios) {
        return seconds_until_steady_from(0, ios);
}

static void check_begins(const char *s, const char *beginning) {
        ck_assert_msg(strncmp(s, beginning, strlen(beginning)) == 0, "%s", s);
}

START_TEST(a_steady_state_is_recorded_and_revoked_while_the_run_goes_on) {
        running();
        uint64_t seq = seconds_until_steady(10000);
        check_begins(fake_event(EVENT_STEADY)->detail, "while it ran: 10.0k write IOPS since ");
        ck_assert_uint_eq(fake_event(EVENT_STEADY)->elapsed_ns, seq * NSEC_PER_SEC);
        ck_assert_int_eq(fake_event(EVENT_STEADY)->at_ns, (int64_t) (seq * NSEC_PER_SEC));
        seconds(seq, seq + 100, 2000);
        check_begins(fake_event(EVENT_STEADY_REVOKED)->detail,
                     "while it ran: write IOPS have left 10.0k, where they were since ");
        ck_assert_uint_eq(fake_count_events(EVENT_STEADY), 1);
}
END_TEST

START_TEST(a_host_that_is_the_limit_is_told_of) {
        running();
        cpu_percent = 100;
        seconds(0, 9, 1000);
        ck_assert_uint_eq(fake_count_events(EVENT_HOST), 0);
        seconds(9, 50, 1000);
        ck_assert_uint_eq(fake_count_events(EVENT_HOST), 1);
        check_begins(fake_event(EVENT_HOST)->detail, "the host, not the drive, has set the pace since ");
        ck_assert_uint_eq(fake_event(EVENT_HOST)->elapsed_ns, 10 * NSEC_PER_SEC);
        cpu_percent = 50;
        seconds(50, 70, 1000);
        ck_assert_uint_eq(fake_count_events(EVENT_HOST), 2);
        check_begins(fake_event(EVENT_HOST)->detail, "the host had set the pace for 50.0 s");
}
END_TEST

/* Its beginning does not stand there alone, whatever ends the run. */
START_TEST(a_limit_of_the_host_ends_with_the_worker) {
        running();
        cpu_percent = 100;
        seconds(0, 20, 1000);
        fake_end(&(WorkerEnd){ .status = SIGKILL });
        ck_assert_uint_eq(fake_count_events(EVENT_HOST), 2);
        check_begins(fake_event(EVENT_HOST)->detail, "the host had set the pace for 20.0 s");
}
END_TEST

START_TEST(what_a_drive_does_after_a_pause_revokes_nothing) {
        running();
        uint64_t seq = seconds_until_steady(10000);
        ck_assert_int_eq(occurs(OCCURRENCE_PAUSED, elapsed_ns), 0);
        ck_assert_int_eq(occurs(OCCURRENCE_RESUMED, elapsed_ns), 0);
        seconds(seq, seq + 30, 200000);
        seconds(seq + 30, seq + 300, 10000);
        ck_assert_uint_eq(fake_count_events(EVENT_STEADY), 1);
        ck_assert_uint_eq(fake_count_events(EVENT_STEADY_REVOKED), 0);
}
END_TEST

/* The detector starts when the ramp is over, to the second, also in a phase that is not the first. */
START_TEST(a_ramp_is_not_judged) {
        const uint64_t ramp = 2000;

        running_job("[w]\nrw=randwrite\nbs=4k\nruntime=6000\ntime_based\n");
        uint64_t without = seconds_until_steady(10000);
        teardown();
        setup();
        ck_assert_uint_lt(without, ramp);
        running_job("[global]\nrw=randwrite\nbs=4k\nruntime=6000\ntime_based\n[w]\n[x]\nramp_time=2000\n");
        seconds(0, 20, 10000);
        ck_assert_int_eq(phase(0, PHASE_MARK_DONE), 0);
        ck_assert_int_eq(phase(1, PHASE_MARK_STARTED), 0);
        phase_index = 1;
        ck_assert_uint_eq(seconds_until_steady_from(20, 10000), 20 + ramp + without);
}
END_TEST

START_TEST(the_first_sample_after_a_ramp_is_judged) {
        running_job("[w]\nrw=randwrite\nbs=4k\nruntime=6000\ntime_based\nramp_time=10\n"
                    "steadystate=iops:50%\nss_dur=5\n");
        seconds(0, 14, 10000);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_GO);
        seconds(14, 15, 10000);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_END_PHASE);
        check_begins(fake_event(EVENT_PHASE)->detail,
                     "0 'w' ends: its steadystate is attained, a deviation of IOPS 0 %");
}
END_TEST

#define UNTIL_STEADY "[w]\nrw=randwrite\nbs=4k\nruntime=6000\nuntil=steady:100\n[r]\nrw=read\n"

START_TEST(a_phase_ends_when_its_steady_state_has_held) {
        running_job(UNTIL_STEADY);
        uint64_t seq = seconds_until_steady(10000);
        seconds(seq, seq + 99, 10000);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_GO);
        seconds(seq + 99, seq + 100, 10000);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_END_PHASE);
        ck_assert_str_eq(fake_event(EVENT_PHASE)->detail,
                         "0 'w' ends: its steady state has held for 1 min 40 s");

        /* What the worker still says of it changes nothing, and the next phase waits for no steady state. */
        fake_worker.last_sent = MESSAGE_GO;
        seconds(seq + 100, seq + 102, 10000);
        ck_assert_int_eq(phase(0, PHASE_MARK_DONE), 0);
        ck_assert_int_eq(phase(1, PHASE_MARK_STARTED), 0);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_GO);
}
END_TEST

START_TEST(a_steady_state_that_is_revoked_ends_no_phase) {
        running_job(UNTIL_STEADY);
        uint64_t seq = seconds_until_steady(10000);
        seconds(seq, seq + 50, 10000);
        seconds(seq + 50, seq + 300, 2000);
        ck_assert_uint_eq(fake_count_events(EVENT_STEADY_REVOKED), 1);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_GO);
}
END_TEST

START_TEST(without_until_a_steady_state_ends_no_phase) {
        running();
        uint64_t seq = seconds_until_steady(10000);
        seconds(seq, seq + 1000, 10000);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_GO);
}
END_TEST

/* Rounds of two points, the tracked one first; a second each. */
#define ROUND "[w]\nrw=randwrite\n[r]\nrw=randread\n"
#define N_ROUNDS 8
#define IOPS_TEST                                                                                                      \
        "[global]\nbs=4k\nruntime=1\ntime_based\n[stop]\nsnia_iops_steady=1\n[fill]\nrw=write\n" ROUND ROUND ROUND   \
        ROUND ROUND ROUND ROUND ROUND

/* A phase that lasts one sample. */
static void end_pass(uint32_t index, uint64_t ios) {
        phase_index = index;
        seconds(index, index + 1, ios);
        ck_assert_int_eq(phase(index, PHASE_MARK_DONE), 0);
}

/* And the next one begins. */
static void pass(uint32_t index, uint64_t ios) {
        end_pass(index, ios);
        if (index < 2 * N_ROUNDS)
                ck_assert_int_eq(phase(index + 1, PHASE_MARK_STARTED), 0);
}

START_TEST(a_run_ends_with_the_round_in_which_it_is_steady) {
        running_job(IOPS_TEST);
        for (uint32_t i = 0; i < 11; i++)
                pass(i, i < 3 ? 2000 : 1000);
        ck_assert_uint_eq(fake_worker.n_ends_of_run, 0);
        end_pass(11, 1000); /* the writes of the sixth round; a pause may come before its reads */
        ck_assert_uint_eq(fake_worker.n_ends_of_run, 1);
        ck_assert_int_eq(phase(12, PHASE_MARK_STARTED), 0);
        pass(12, 1000);
        ck_assert_uint_eq(fake_worker.n_ends_of_run, 1);
        ck_assert_uint_eq(fake_worker.last_phase, 12);
        ck_assert_uint_eq(fake_count_events(EVENT_STOPPING), 1);
        ck_assert_str_eq(fake_event(EVENT_STOPPING)->detail,
                         "[stop] snia_iops_steady=1: rounds 2 to 6 are steady, with 1000 IOPS of 4 KiB random writes; "
                         "the run ends with this round, after phase 12 'r'");
        ck_assert_uint_eq(fake_event(EVENT_STOPPING)->elapsed_ns, 12 * NSEC_PER_SEC);
}
END_TEST

START_TEST(a_worker_that_cannot_be_told_of_the_end_is_told_again) {
        running_job(IOPS_TEST);
        for (uint32_t i = 0; i < 9; i++)
                pass(i, 1000);
        fake_worker.send_error = -ENOBUFS;
        pass(9, 1000);
        ck_assert_uint_eq(fake_count_events(EVENT_STOPPING), 0);
        fake_worker.send_error = 0;
        pass(10, 1000);
        ck_assert_uint_eq(fake_worker.last_phase, 10);
        ck_assert_uint_eq(fake_count_events(EVENT_STOPPING), 1);
}
END_TEST

START_TEST(a_pause_puts_the_end_off) {
        running_job(IOPS_TEST);
        for (uint32_t i = 0; i < 2 * N_ROUNDS + 1; i++) {
                if (i == 4) {
                        ck_assert_int_eq(occurs(OCCURRENCE_PAUSED, elapsed_ns), 0);
                        ck_assert_int_eq(occurs(OCCURRENCE_RESUMED, elapsed_ns), 0);
                }
                ck_assert_uint_eq(fake_worker.n_ends_of_run, i > 13);
                pass(i, 1000);
        }
        ck_assert_uint_eq(fake_worker.last_phase, 14); /* rounds 3 to 7 */
}
END_TEST

START_TEST(only_who_asks_for_it_ends_when_the_test_is_steady) {
        running_job("[global]\nbs=4k\nruntime=1\ntime_based\n[fill]\nrw=write\n" ROUND ROUND ROUND ROUND ROUND ROUND
                    ROUND ROUND);
        for (uint32_t i = 0; i < 2 * N_ROUNDS + 1; i++)
                pass(i, 1000);
        ck_assert_uint_eq(fake_worker.n_ends_of_run, 0);
}
END_TEST

static void database_says(AlarmNews news, int error, uint64_t n_brief) {
        const DatabaseStatus status = { .error = error, .message = "its disk is full", .n_brief = n_brief };

        fake_database.status_handler((Database *) &fake_database, &status, news, fake_database.status_userdata);
}

static void expect_database_event(unsigned n, const char *detail) {
        ck_assert_uint_eq(fake_count_events(EVENT_DATABASE), n);
        ck_assert_str_eq(fake_event(EVENT_DATABASE)->detail, detail);
}

START_TEST(trouble_with_the_database_is_recorded_as_far_as_it_is_news) {
        running();
        database_says(ALARM_TROUBLE, -ENOSPC, 0);
        expect_database_event(1, "cannot be written, samples wait in memory: its disk is full");
        database_says(ALARM_OVER, 0, 0);
        expect_database_event(2, "is written again");
        database_says(ALARM_NOTHING, -ENOSPC, 0);
        database_says(ALARM_NOTHING, 0, 0);
        ck_assert_uint_eq(fake_count_events(EVENT_DATABASE), 2);
        database_says(ALARM_BRIEF, 0, 7);
        expect_database_event(3, "could not be written 7 times for a moment since this was last told, and samples "
                                 "waited in memory");
        database_says(ALARM_TROUBLE, -ENOSPC, 1);
        expect_database_event(4, "cannot be written, samples wait in memory: its disk is full; so it was 1 time for a "
                                 "moment since this was last told");
}
END_TEST

START_TEST(cells_of_a_matrix_make_no_events_of_their_own) {
        running_job("[m]\naction=matrix\nrw=write\nbs=4k,8k,16k\nstep_time=1\n[m]\nrw=write\n");
        for (uint32_t i = 0; i < 3; i++) {
                ck_assert_int_eq(phase(i, PHASE_MARK_DONE), 0);
                ck_assert_int_eq(phase(i + 1, PHASE_MARK_STARTED), 0);
        }
        ck_assert_int_eq(phase(3, PHASE_MARK_STOPPED), 0);
        ck_assert_uint_eq(fake_count_events(EVENT_PHASE), 4);
        ck_assert_str_eq(fake_database.events[1].detail, "0 'm' begins");
        ck_assert_str_eq(fake_database.events[2].detail, "2 'm' is done");
        ck_assert_str_eq(fake_database.events[3].detail, "3 'm' begins");
        ck_assert_str_eq(fake_database.events[4].detail, "3 'm' is stopped");
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("daemon/manager");
        TCase *tcase = tcase_create("manager");

        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, a_database_that_hangs_with_a_start_does_not_hold_the_stop);
        tcase_add_test(tcase, trouble_with_the_database_is_recorded_as_far_as_it_is_news);
        tcase_add_test(tcase, a_database_that_answers_ends_the_stop_early);
        tcase_add_test(tcase, a_stop_without_runs_is_told_once);
        tcase_add_test(tcase, a_worker_that_does_not_stop_is_left);
        tcase_add_test(tcase, stop_is_written_down_when_it_is_asked_for);
        tcase_add_loop_test(tcase, stop_holds_though_the_worker_is_killed, 0, 3);
        tcase_add_test(tcase, stop_holds_though_the_service_stops_first);
        tcase_add_test(tcase, without_a_users_stop_a_killed_worker_interrupts);
        tcase_add_test(tcase, a_worker_that_cannot_be_told_to_go_fails_its_run);
        tcase_add_test(tcase, a_run_starts_before_its_first_phase_begins);
        tcase_add_test(tcase, an_event_is_of_its_own_moment);
        tcase_add_test(tcase, no_state_is_written_before_the_event_that_explains_it);
        tcase_add_test(tcase, running_time_cannot_outrun_the_clock);
        tcase_add_test(tcase, samples_that_waited_are_taken);
        tcase_add_test(tcase, fifty_days_and_2_to_the_40th_ios_are_counted_to_the_last);
        tcase_add_test(tcase, samples_come_no_faster_than_their_interval);
        tcase_add_test(tcase, pauses_may_cut_samples);
        tcase_add_test(tcase, events_are_bounded_by_time);
        tcase_add_test(tcase, counts_of_errors_are_bounded_by_time);
        tcase_add_test(tcase, a_steady_state_is_recorded_and_revoked_while_the_run_goes_on);
        tcase_add_test(tcase, a_host_that_is_the_limit_is_told_of);
        tcase_add_test(tcase, a_limit_of_the_host_ends_with_the_worker);
        tcase_add_test(tcase, what_a_drive_does_after_a_pause_revokes_nothing);
        tcase_add_test(tcase, a_ramp_is_not_judged);
        tcase_add_test(tcase, the_first_sample_after_a_ramp_is_judged);
        tcase_add_test(tcase, a_phase_ends_when_its_steady_state_has_held);
        tcase_add_test(tcase, a_steady_state_that_is_revoked_ends_no_phase);
        tcase_add_test(tcase, without_until_a_steady_state_ends_no_phase);
        tcase_add_test(tcase, a_run_ends_with_the_round_in_which_it_is_steady);
        tcase_add_test(tcase, a_worker_that_cannot_be_told_of_the_end_is_told_again);
        tcase_add_test(tcase, a_pause_puts_the_end_off);
        tcase_add_test(tcase, only_who_asks_for_it_ends_when_the_test_is_steady);
        tcase_add_test(tcase, cells_of_a_matrix_make_no_events_of_their_own);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

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
static char directory[64];
static unsigned n_stopped, n_started;
static ErrorKind start_error;

static void setup(void) {
        fakes_reset();
        n_stopped = n_started = 0;
        start_error = ERROR_NONE;
        snprintf(directory, sizeof(directory), "%s/plateau-unit-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(directory));
        ck_assert_int_ge(sd_event_new(&event), 0);
        ck_assert_int_eq(manager_new(&manager, event, directory, NULL), 0);
}

static void teardown(void) {
        char path[96];

        manager_free(manager);
        sd_event_unref(event);
        snprintf(path, sizeof(path), "%s/plateau.db-lock", directory);
        unlink(path);
        rmdir(directory);
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

static int say(MessageType type) {
        return fake_say(&(Message){ .type = type });
}

static int phase(uint32_t index, PhaseMark mark) {
        return fake_say(&(Message){ .type = MESSAGE_PHASE, .phase = { .index = index, .mark = mark, .at_ns = 1 } });
}

/* A run that is in its first phase. */
static Run *running(void) {
        start("[w]\nrw=randwrite\nbs=4k\nruntime=6000\ntime_based\n");
        report();
        fake_insert_done(7);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_GO);
        ck_assert_int_eq(say(MESSAGE_STARTED), 0);
        ck_assert_int_eq(phase(0, PHASE_MARK_STARTED), 0);
        return manager_get_run(manager, 7);
}

static void stop_run(Run *run) {
        uint32_t n_pending;

        ck_assert_int_eq(run_stop(run, &n_pending, NULL), 0);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_STOP);
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

static Suite *make_suite(void) {
        Suite *suite = suite_create("daemon/manager");
        TCase *tcase = tcase_create("manager");

        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, a_database_that_hangs_with_a_start_does_not_hold_the_stop);
        tcase_add_test(tcase, a_database_that_answers_ends_the_stop_early);
        tcase_add_test(tcase, a_stop_without_runs_is_told_once);
        tcase_add_test(tcase, a_worker_that_does_not_stop_is_left);
        tcase_add_test(tcase, stop_is_written_down_when_it_is_asked_for);
        tcase_add_loop_test(tcase, stop_holds_though_the_worker_is_killed, 0, 3);
        tcase_add_test(tcase, stop_holds_though_the_service_stops_first);
        tcase_add_test(tcase, without_a_users_stop_a_killed_worker_interrupts);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <limits.h>

#include "database.h"
#include "scratch-store.h"
#include "unit.h"
#include "util/time.h"

typedef struct Fixture {
        Scratch scratch;
        sd_event *event;
        Database *database;
        int last_status;
        unsigned n_statuses;
        unsigned n_answers;
        unsigned n_releases;
        unsigned n_written;
        bool was_written; /* as last told */
        uint32_t ids[4];
        size_t n_ids;
        ErrorKind answer;
} Fixture;

static Fixture fixture;
static Sample sample;

static void on_status(Database *database, const DatabaseStatus *status, AlarmNews news, void *userdata) {
        fixture.last_status = status->error;
        fixture.n_statuses++;
        if (status->error < 0)
                ck_assert_uint_gt(strlen(status->message), 0);
}

static void on_answer(const uint32_t *ids, size_t n, const Error *error, void *userdata) {
        ck_assert_uint_eq(fixture.n_releases, 0);
        fixture.n_answers++;
        fixture.answer = error ? error->kind : ERROR_NONE;
        fixture.n_ids = n;
        if (!error)
                memcpy(fixture.ids, ids, n * sizeof(*ids));
}

static void on_release(void *userdata) {
        fixture.n_releases++;
}

static void on_written(bool written, void *userdata) {
        fixture.n_written++;
        fixture.was_written = written;
}

static void open_database(void) {
        int r = database_new(&fixture.database, fixture.event, fixture.scratch.path, on_status, NULL, NULL);
        ck_assert_int_eq(r, 0);
}

static void request_one(void) {
        int r = database_insert_runs(fixture.database, &fixture.scratch.run, 1, on_answer, on_release, NULL);
        ck_assert_int_eq(r, 0);
}

static void setup(void) {
        fixture = (Fixture){};
        scratch_setup(&fixture.scratch);
        ck_assert_int_ge(sd_event_new(&fixture.event), 0);
        open_database();
}

static void teardown(void) {
        database_free(fixture.database);
        sd_event_unref(fixture.event);
        scratch_teardown(&fixture.scratch);
}

/* Turns the loop until *counter has reached n. */
static void await(const unsigned *counter, unsigned n) {
        uint64_t until = time_monotonic_ns() + 60 * NSEC_PER_SEC;

        while (*counter < n) {
                ck_assert_msg(time_monotonic_ns() < until, "nothing happened for a minute");
                ck_assert_int_ge(sd_event_run(fixture.event, USEC_PER_SEC), 0);
        }
}

static uint32_t insert_one(void) {
        fixture.n_answers = fixture.n_releases = 0;
        request_one();
        await(&fixture.n_releases, 1);
        ck_assert_uint_eq(fixture.n_answers, 1);
        ck_assert_int_eq(fixture.answer, ERROR_NONE);
        ck_assert_uint_eq(fixture.n_ids, 1);
        return fixture.ids[0];
}

static void add_sample(uint32_t run, uint64_t seq) {
        scratch_sample(&sample, seq);
        ck_assert_int_eq(database_add_sample(fixture.database, run, &sample), 0);
}

static void await_written(void) {
        fixture.n_written = 0;
        ck_assert_int_eq(database_when_written(fixture.database, DATABASE_TELL_NS, on_written, NULL), 0);
        await(&fixture.n_written, 1);
}

static StoreRun read_run(uint32_t id) {
        _cleanup_store_ Store *store = NULL;
        StoreRun run;

        ck_assert_int_eq(store_open_reader(&store, fixture.scratch.path, NULL), 0);
        ck_assert_int_eq(store_get_run(store, id, &run, NULL), 0);
        return run;
}

static uint64_t count_samples(uint32_t id) {
        _cleanup_store_run_ StoreRun run = read_run(id);
        return run.n_samples;
}

/* Another writer, in the way of ours until it is closed. */
static Store *block_database(void) {
        Store *store;

        ck_assert_int_eq(store_open_writer(&store, fixture.scratch.path, NULL), 0);
        ck_assert_int_eq(store_begin(store, NULL), 0);
        return store;
}

static void unblock_database(Store *store) {
        store_rollback(store);
        store_close(store);
}

START_TEST(test_written_means_readable) {
        uint32_t run = insert_one();

        ck_assert_int_eq(database_set_run_state(fixture.database, run, RUN_RUNNING, 2), 0);
        ck_assert_int_eq(database_set_phase_state(fixture.database, run, 0, PHASE_RUNNING, 2), 0);
        for (uint64_t seq = 0; seq < 5; seq++)
                add_sample(run, seq);
        await_written();

        ck_assert(fixture.was_written);
        ck_assert_uint_eq(count_samples(run), 5);
        DatabaseStatus status;
        database_status(fixture.database, &status);
        ck_assert_uint_eq(status.n_waiting, 0);
        ck_assert_int_eq(status.error, 0);
}
END_TEST

START_TEST(test_samples_need_nobody_who_waits) {
        uint32_t run = insert_one();

        add_sample(run, 0);
        uint64_t began = time_monotonic_ns();
        while (count_samples(run) == 0)
                ck_assert_msg(time_monotonic_ns() - began < 30 * NSEC_PER_SEC, "not written by itself");
}
END_TEST

START_TEST(test_all_runs_or_none) {
        StoreNewRun runs[2] = { fixture.scratch.run, fixture.scratch.run };
        DeviceInfo nameless = fixture.scratch.device;

        ck_assert_int_eq(database_insert_runs(fixture.database, runs, 2, on_answer, on_release, NULL), 0);
        await(&fixture.n_releases, 1);
        ck_assert_uint_eq(fixture.n_ids, 2);
        ck_assert_uint_lt(fixture.ids[0], fixture.ids[1]);

        /* The second cannot be stored. */
        nameless.path = NULL;
        runs[1].device = &nameless;
        fixture.n_releases = fixture.n_answers = 0;
        ck_assert_int_eq(database_insert_runs(fixture.database, runs, 2, on_answer, on_release, NULL), 0);
        await(&fixture.n_releases, 1);
        ck_assert_int_ne(fixture.answer, ERROR_NONE);

        _cleanup_store_ Store *store = NULL;
        StoreRun *found;
        size_t n;
        ck_assert_int_eq(store_open_reader(&store, fixture.scratch.path, NULL), 0);
        ck_assert_int_eq(store_list_runs(store, &found, &n, NULL), 0);
        ck_assert_uint_eq(n, 2);
        store_runs_free(found, n);
}
END_TEST

START_TEST(test_blocked_database_loses_nothing) {
        uint32_t run = insert_one();
        Store *other = block_database();

        add_sample(run, 0);
        /* First it only does not answer; SQLite waits for the lock before it gives up. */
        await(&fixture.n_statuses, 1);
        ck_assert_int_eq(fixture.last_status, -ETIMEDOUT);
        await(&fixture.n_statuses, 2);
        ck_assert_int_eq(fixture.last_status, -EBUSY);
        for (uint64_t seq = 1; seq < 20; seq++)
                add_sample(run, seq);
        ck_assert_uint_eq(count_samples(run), 0);

        unblock_database(other);
        await(&fixture.n_statuses, 3);
        ck_assert_int_eq(fixture.last_status, 0);
        await_written();
        ck_assert_uint_eq(count_samples(run), 20);
}
END_TEST

START_TEST(test_who_waits_is_told_in_time_though_the_database_is_blocked) {
        uint32_t run = insert_one();
        Store *other = block_database();

        add_sample(run, 0);
        uint64_t began = time_monotonic_ns();
        await_written();
        ck_assert_uint_lt(time_monotonic_ns() - began, 4 * NSEC_PER_SEC);
        ck_assert(!fixture.was_written);
        ck_assert_uint_eq(count_samples(run), 0);
        unblock_database(other);
}
END_TEST

/* Who must know that it is written is told no sooner. */
START_TEST(test_who_has_patience_is_told_when_it_is_written) {
        uint32_t run = insert_one();
        Store *other = block_database();

        add_sample(run, 0);
        ck_assert_int_eq(database_when_written(fixture.database, UINT64_MAX, on_written, NULL), 0);
        await(&fixture.n_statuses, 2); /* it has been tried in vain */
        ck_assert_uint_eq(fixture.n_written, 0);
        unblock_database(other);
        await(&fixture.n_written, 1);
        ck_assert(fixture.was_written);
        ck_assert_uint_eq(count_samples(run), 1);
}
END_TEST

START_TEST(test_new_runs_fail_if_the_database_is_blocked) {
        Store *other = block_database();

        request_one();
        await(&fixture.n_releases, 1);
        ck_assert_uint_eq(fixture.n_answers, 1);
        ck_assert_int_eq(fixture.answer, ERROR_UNREACHABLE);
        unblock_database(other);
}
END_TEST

START_TEST(test_one_bad_change_keeps_no_other_out) {
        uint32_t run = insert_one();

        add_sample(run, 0);
        add_sample(run + 1000, 0); /* no such run */
        add_sample(run, 1);
        await_written();
        ck_assert_uint_eq(count_samples(run), 2);
}
END_TEST

/* The database's file, or what stands beside it. */
static void name_file(char buf[static PATH_MAX], const char *suffix) {
        snprintf(buf, PATH_MAX, "%s%s", fixture.scratch.path, suffix);
}

/* Moves a file of the database away, and perhaps another one there, and then back: nothing gets lost. */
static void check_moved_file(const char *suffix, bool replaced) {
        char path[PATH_MAX], aside[PATH_MAX];
        uint32_t id = insert_one();

        add_sample(id, 0);
        await_written();
        name_file(path, suffix);
        name_file(aside, ".aside");
        ck_assert_int_eq(rename(path, aside), 0);
        if (replaced) {
                int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0640);
                ck_assert_int_ge(fd, 0);
                close(fd);
        }

        add_sample(id, 1);
        await(&fixture.n_statuses, 1);
        ck_assert_int_eq(fixture.last_status, -ESTALE);
        DatabaseStatus status;
        database_status(fixture.database, &status);
        ck_assert_ptr_nonnull(strstr(status.message, path));
        ck_assert_ptr_nonnull(strstr(status.message, "removed or replaced"));
        ck_assert_uint_eq(status.n_waiting, 1);

        /* No run begins that nobody would find. */
        fixture.n_answers = fixture.n_releases = 0;
        request_one();
        await(&fixture.n_releases, 1);
        ck_assert_int_eq((int) fixture.answer, ERROR_UNREACHABLE);

        ck_assert_int_eq(rename(aside, path), 0);
        await(&fixture.n_statuses, 2);
        ck_assert_int_eq(fixture.last_status, 0);
        await_written();
        ck_assert_uint_eq(count_samples(id), 2);
}

START_TEST(test_removed_file_is_told_and_waited_for) {
        check_moved_file("", false);
}
END_TEST

START_TEST(test_replaced_file_is_not_written_to) {
        check_moved_file("", true);
}
END_TEST

START_TEST(test_removed_wal_is_told_and_waited_for) {
        check_moved_file("-wal", false);
}
END_TEST

START_TEST(test_shutdown_writes_what_waits) {
        uint32_t run = insert_one();

        for (uint64_t seq = 0; seq < 100; seq++)
                add_sample(run, seq);
        ck_assert_int_eq(database_shutdown(fixture.database, 30 * NSEC_PER_SEC), 0);
        ck_assert_uint_eq(count_samples(run), 100);
}
END_TEST

START_TEST(test_shutdown_of_a_blocked_database_ends) {
        uint32_t run = insert_one();
        Store *other = block_database();

        add_sample(run, 0);
        ck_assert_int_eq(database_shutdown(fixture.database, NSEC_PER_SEC / 10), -ETIMEDOUT);
        unblock_database(other);
}
END_TEST

/* Else what is bound to the handler leaks. */
START_TEST(test_who_still_waits_at_the_end_is_called) {
        uint32_t run = insert_one();
        Store *other = block_database();

        add_sample(run, 0);
        ck_assert_int_eq(database_when_written(fixture.database, DATABASE_TELL_NS, on_written, NULL), 0);
        ck_assert_int_eq(database_shutdown(fixture.database, NSEC_PER_SEC / 10), -ETIMEDOUT);
        unblock_database(other);
        ck_assert_uint_eq(fixture.n_written, 0);
        fixture.database = database_free(fixture.database);
        ck_assert_uint_eq(fixture.n_written, 1);
        ck_assert(!fixture.was_written);
        open_database();
}
END_TEST

START_TEST(test_active_runs_are_interrupted_at_the_beginning) {
        uint32_t run = insert_one();

        ck_assert_int_eq(database_set_run_state(fixture.database, run, RUN_RUNNING, 2), 0);
        ck_assert_int_eq(database_shutdown(fixture.database, 30 * NSEC_PER_SEC), 0);
        fixture.database = database_free(fixture.database);

        StoreRun *found;
        size_t n;
        open_database();
        database_take_runs(fixture.database, &found, &n);
        ck_assert_uint_eq(n, 1);
        ck_assert_int_eq(found[0].state, RUN_INTERRUPTED);
        store_runs_free(found, n);

        /* Not only told so: written. Somebody who holds the lock makes the stored state count. */
        int lock = store_service_lock(fixture.scratch.path, NULL);
        ck_assert_int_ge(lock, 0);
        _cleanup_store_run_ StoreRun stored = read_run(run);
        ck_assert_int_eq(stored.state, RUN_INTERRUPTED);
        close(lock);
}
END_TEST

static int note_sample(const Sample *found, const StoreLatency *latency, void *userdata) {
        uint64_t *n = userdata;

        ck_assert_uint_eq(found->seq, *n);
        ck_assert_uint_eq(found->elapsed_ns, (*n + 1) * NSEC_PER_SEC);
        ck_assert_uint_eq(found->ios[DIRECTION_WRITE], 1);
        ++*n;
        return 0;
}

START_TEST(test_samples_of_an_earlier_service_are_there) {
        uint32_t run = insert_one();
        uint64_t n = 0;

        add_sample(run, 0);
        add_sample(run, 1);
        ck_assert_int_eq(database_shutdown(fixture.database, 30 * NSEC_PER_SEC), 0);
        fixture.database = database_free(fixture.database);
        open_database();
        ck_assert_int_eq(database_each_sample(fixture.database, run, 0, note_sample, &n, NULL), 0);
        ck_assert_uint_eq(n, 2);
        ck_assert_int_eq(database_each_sample(fixture.database, run, 1, note_sample, &n, NULL), 0);
        ck_assert_uint_eq(n, 2);
}
END_TEST

/* The state of a run in a copy of the one file, as people make it with cp. */
static RunState state_in_copy(uint32_t id) {
        char copy[128], command[320];
        _cleanup_store_ Store *store = NULL;
        StoreRun run = {};

        snprintf(copy, sizeof(copy), "%s-copy", fixture.scratch.path);
        snprintf(command, sizeof(command), "cp '%s' '%s'", fixture.scratch.path, copy);
        ck_assert_int_eq(system(command), 0);
        int r = store_open_reader(&store, copy, NULL);
        if (r >= 0)
                r = store_get_run(store, id, &run, NULL);
        RunState state = r >= 0 ? run.state : RUN_QUEUED;
        store_run_clear(&run);
        unlink(copy);
        return state;
}

START_TEST(test_file_alone_tells_of_a_run_that_has_ended) {
        uint32_t run = insert_one();

        ck_assert_int_eq(database_set_run_state(fixture.database, run, RUN_DONE, 2), 0);
        await_written();
        ck_assert_int_eq(state_in_copy(run), RUN_DONE);
}
END_TEST

START_TEST(test_file_alone_tells_all_after_a_shutdown_beside_a_reader) {
        uint32_t run = insert_one();
        Store *reader;

        ck_assert_int_eq(store_open_reader(&reader, fixture.scratch.path, NULL), 0);
        ck_assert_int_eq(database_set_run_state(fixture.database, run, RUN_INTERRUPTED, 2), 0);
        ck_assert_int_eq(database_shutdown(fixture.database, 30 * NSEC_PER_SEC), 0);
        ck_assert_int_eq(state_in_copy(run), RUN_INTERRUPTED);
        store_close(reader);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("daemon/database");
        TCase *tcase = tcase_create("database");

        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_set_timeout(tcase, 90);
        tcase_add_test(tcase, test_written_means_readable);
        tcase_add_test(tcase, test_samples_need_nobody_who_waits);
        tcase_add_test(tcase, test_all_runs_or_none);
        tcase_add_test(tcase, test_blocked_database_loses_nothing);
        tcase_add_test(tcase, test_who_waits_is_told_in_time_though_the_database_is_blocked);
        tcase_add_test(tcase, test_who_has_patience_is_told_when_it_is_written);
        tcase_add_test(tcase, test_new_runs_fail_if_the_database_is_blocked);
        tcase_add_test(tcase, test_one_bad_change_keeps_no_other_out);
        tcase_add_test(tcase, test_removed_file_is_told_and_waited_for);
        tcase_add_test(tcase, test_replaced_file_is_not_written_to);
        tcase_add_test(tcase, test_removed_wal_is_told_and_waited_for);
        tcase_add_test(tcase, test_shutdown_writes_what_waits);
        tcase_add_test(tcase, test_shutdown_of_a_blocked_database_ends);
        tcase_add_test(tcase, test_who_still_waits_at_the_end_is_called);
        tcase_add_test(tcase, test_active_runs_are_interrupted_at_the_beginning);
        tcase_add_test(tcase, test_samples_of_an_earlier_service_are_there);
        tcase_add_test(tcase, test_file_alone_tells_of_a_run_that_has_ended);
        tcase_add_test(tcase, test_file_alone_tells_all_after_a_shutdown_beside_a_reader);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

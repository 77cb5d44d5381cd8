/* SPDX-License-Identifier: MIT */

/* Runs, phases, events and errors: what is written is what is read. */

#include <math.h>
#include <string.h>

#include "fixture.h"
#include "util/macro.h"

static StoreRun get_run(Store *store, uint32_t id) {
        _cleanup_error_ Error error = ERROR_INIT;
        StoreRun run;

        ck_assert_msg(store_get_run(store, id, &run, &error) == 0, "%s", error_message(&error));
        return run;
}

static void set_state(Store *store, uint32_t run, RunState state, int64_t at_ns) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_run_state(store, run, state, at_ns, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

static void set_phase(Store *store, uint32_t run, uint32_t phase, PhaseState state, int64_t at_ns) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_phase_state(store, run, phase, state, at_ns, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

START_TEST(run_is_kept_whole) {
        _cleanup_store_ Store *store = open_writer();
        StoreNewRun given = new_run();
        _cleanup_store_run_ StoreRun run = get_run(store, add_run(store));

        ck_assert_uint_eq(run.id, 1);
        ck_assert_str_eq(run.name, given.job->name);
        ck_assert_str_eq(run.label, given.label);
        ck_assert_str_eq(run.job_text, given.job->text);
        ck_assert_str_eq(run.device_path, given.device->path);
        ck_assert_str_eq(run.model, given.device->model);
        ck_assert_str_eq(run.serial, given.device->serial); /* bytes that are no text */
        ck_assert_ptr_null(run.wwn);
        ck_assert_ptr_null(run.firmware);
        ck_assert_ptr_null(run.link);
        ck_assert_ptr_null(run.host_driver);
        ck_assert_ptr_null(run.scheduler);
        ck_assert_ptr_null(run.write_cache);
        ck_assert_str_eq(run.transport, given.device->transport);
        ck_assert_uint_eq(run.size_bytes, given.device->size_bytes);
        ck_assert_uint_eq(run.logical_block_bytes, 512);
        ck_assert_uint_eq(run.physical_block_bytes, 4096);
        ck_assert_uint_eq(run.read_ahead_kib, 128);
        ck_assert_uint_eq(run.nr_requests, 256);
        ck_assert_str_eq(run.host, given.host);
        ck_assert_uint_eq(run.run_tag, given.run_tag);
        ck_assert_uint_eq(run.seed, given.seed);
        ck_assert_uint_eq(run.sample_interval_ns, NSEC_PER_SEC);
        ck_assert_int_eq(run.created_at_ns, 1000);
        ck_assert_int_eq(run.started_at_ns, 0);
        ck_assert_int_eq(run.finished_at_ns, 0);
        ck_assert(!run.has_planned_time); /* the second phase has none */
        ck_assert_uint_eq(run.n_phases, 2);
        ck_assert_ptr_null(run.phase_name);
        ck_assert_uint_eq(run.n_samples, 0);
        ck_assert(isnan(run.last_iops));
}
END_TEST

START_TEST(phases_are_kept) {
        _cleanup_store_ Store *store = open_writer();
        StorePhase *phases;
        size_t n;
        uint32_t id = add_run(store);

        ck_assert_int_eq(store_get_phases(store, id, &phases, &n, NULL), 0);
        ck_assert_uint_eq(n, 2);
        ck_assert_str_eq(phases[0].name, "torture");
        ck_assert_int_eq(phases[0].rw, RW_RANDWRITE);
        ck_assert_int_eq(phases[0].action, PHASE_ACTION_IO);
        ck_assert_uint_eq(phases[0].block_bytes[DIRECTION_READ], 4096);
        ck_assert_uint_eq(phases[0].block_bytes[DIRECTION_WRITE], 8192);
        ck_assert_uint_eq(phases[0].block_bytes[DIRECTION_TRIM], 512);
        ck_assert_uint_eq(phases[0].iodepth, 32);
        ck_assert_uint_eq(phases[0].numjobs, 2);
        ck_assert_int_eq(phases[0].state, PHASE_PENDING);
        ck_assert_ptr_null(phases[0].latency);
        ck_assert_uint_eq(phases[1].index, 1);
        ck_assert_int_eq(phases[1].rw, RW_READ);
        store_phases_free(phases, n);
}
END_TEST

START_TEST(state_sets_times) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_close_ int lock = store_service_lock(test_path, NULL);
        uint32_t id = add_run(store);

        set_state(store, id, RUN_RUNNING, 10);
        set_state(store, id, RUN_PAUSED, 20);
        set_state(store, id, RUN_RUNNING, 30);
        StoreRun run = get_run(store, id);
        ck_assert_int_eq(run.state, RUN_RUNNING);
        ck_assert_int_eq(run.started_at_ns, 10);
        ck_assert_int_eq(run.finished_at_ns, 0);
        store_run_clear(&run);

        set_state(store, id, RUN_LOST, 40);
        run = get_run(store, id);
        ck_assert_int_eq(run.state, RUN_LOST);
        ck_assert_int_eq(run.started_at_ns, 10);
        ck_assert_int_eq(run.finished_at_ns, 40);
        store_run_clear(&run);
}
END_TEST

START_TEST(every_state_can_be_kept) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_close_ int lock = store_service_lock(test_path, NULL);
        uint32_t id = add_run(store);

        for (unsigned state = 0; state < N_RUN_STATES; state++) {
                set_state(store, id, (RunState) state, 10);
                _cleanup_store_run_ StoreRun run = get_run(store, id);
                ck_assert_int_eq(run.state, state);
        }
}
END_TEST

START_TEST(phase_state_sets_times_and_name) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_close_ int lock = store_service_lock(test_path, NULL);
        uint32_t id = add_run(store);
        StorePhase *phases;
        size_t n;

        set_phase(store, id, 0, PHASE_RUNNING, 10);
        set_phase(store, id, 0, PHASE_DONE, 20);
        set_phase(store, id, 1, PHASE_RUNNING, 21);

        ck_assert_int_eq(store_get_phases(store, id, &phases, &n, NULL), 0);
        ck_assert_int_eq(phases[0].state, PHASE_DONE);
        ck_assert_int_eq(phases[0].started_at_ns, 10);
        ck_assert_int_eq(phases[0].finished_at_ns, 20);
        ck_assert_int_eq(phases[1].state, PHASE_RUNNING);
        ck_assert_int_eq(phases[1].finished_at_ns, 0);
        store_phases_free(phases, n);

        _cleanup_store_run_ StoreRun run = get_run(store, id);
        ck_assert_str_eq(run.phase_name, "read\xff back");
}
END_TEST

START_TEST(list_is_newest_first) {
        _cleanup_store_ Store *store = open_writer();
        StoreRun *runs;
        size_t n;

        for (int i = 0; i < 3; i++)
                add_run(store);
        ck_assert_int_eq(store_list_runs(store, &runs, &n, NULL), 0);
        ck_assert_uint_eq(n, 3);
        for (size_t i = 0; i < n; i++)
                ck_assert_uint_eq(runs[i].id, 3 - i);
        store_runs_free(runs, n);
}
END_TEST

START_TEST(numbers_are_never_given_twice) {
        _cleanup_store_ Store *store = open_writer();

        add_run(store);
        ck_assert_uint_eq(add_run(store), 2);
        ck_assert_int_eq(store_exec(store, "DELETE FROM runs WHERE run = 2", NULL, "write"), 0);
        ck_assert_uint_eq(add_run(store), 3);
}
END_TEST

static void assert_find(Store *store, const char *which, int expected, ErrorKind kind, uint32_t expected_id) {
        _cleanup_error_ Error error = ERROR_INIT;
        uint32_t id = 0;

        ck_assert_int_eq(store_find_run(store, which, &id, &error), expected);
        ck_assert_int_eq(error.kind, kind);
        ck_assert_uint_eq(id, expected_id);
}

START_TEST(runs_are_found_by_number_and_last) {
        _cleanup_store_ Store *store = open_writer();

        assert_find(store, "last", -ENOENT, ERROR_NOT_FOUND, 0);
        add_run(store);
        add_run(store);
        assert_find(store, "last", 0, ERROR_NONE, 2);
        assert_find(store, "1", 0, ERROR_NONE, 1);
        assert_find(store, "3", -ENOENT, ERROR_NOT_FOUND, 0);
        assert_find(store, "99999999999999999999", -ENOENT, ERROR_NOT_FOUND, 0);
        assert_find(store, "first", -EINVAL, ERROR_USAGE, 0);
        assert_find(store, "-1", -EINVAL, ERROR_USAGE, 0);
        assert_find(store, "", -EINVAL, ERROR_USAGE, 0);
}
END_TEST

START_TEST(unknown_run_is_told) {
        _cleanup_store_ Store *store = open_writer();
        StoreRun run;

        ck_assert_int_eq(store_get_run(store, 7, &run, NULL), -ENOENT);
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_run_state(store, 7, RUN_DONE, 1, NULL), -ENOENT);
        ck_assert_int_eq(store_set_phase_state(store, 7, 0, PHASE_DONE, 1, NULL), -ENOENT);
        ck_assert_int_eq(store_insert_event(store, 7, 1, 0, EVENT_STARTED, "", NULL), -EINVAL);
        store_rollback(store);
}
END_TEST

START_TEST(writes_need_a_transaction) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t id = add_run(store);
        StoreNewRun run = new_run();

        ck_assert_int_eq(store_insert_run(store, &run, &id, NULL), -EINVAL);
        ck_assert_int_eq(store_set_run_state(store, id, RUN_DONE, 1, NULL), -EINVAL);
        ck_assert_int_eq(store_insert_event(store, id, 1, 0, EVENT_STARTED, "", NULL), -EINVAL);
}
END_TEST

START_TEST(rollback_leaves_nothing) {
        _cleanup_store_ Store *store = open_writer();
        StoreNewRun run = new_run();
        uint32_t id;

        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_insert_run(store, &run, &id, NULL), 0);
        store_rollback(store);
        ck_assert_int_eq(sql_number(store, "SELECT count(*) FROM runs"), 0);
        ck_assert_int_eq(sql_number(store, "SELECT count(*) FROM phases"), 0);
}
END_TEST

START_TEST(events_come_in_order) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t id = add_run(store);
        StoreEvent *events;
        size_t n;

        ck_assert_int_eq(store_begin(store, NULL), 0);
        for (unsigned kind = 0; kind < N_EVENT_KINDS; kind++)
                ck_assert_int_eq(store_insert_event(store, id, 100 - (int64_t) kind, kind, (EventKind) kind,
                                                    kind == 3 ? NULL : "detail", NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);

        ck_assert_int_eq(store_get_events(store, id, &events, &n, NULL), 0);
        ck_assert_uint_eq(n, N_EVENT_KINDS);
        for (size_t i = 0; i < n; i++) {
                ck_assert_int_eq(events[i].kind, (EventKind) i);
                ck_assert_int_eq(events[i].at_ns, 100 - (int64_t) i);
                ck_assert_uint_eq(events[i].elapsed_ns, i);
                ck_assert_str_eq(events[i].detail, i == 3 ? "" : "detail");
        }
        store_events_free(events, n);
}
END_TEST

START_TEST(errors_are_one_row_an_errno) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t id = add_run(store);
        EngineErrno errnum = {
                .errnum = EIO,
                .count = 1,
                .first_at_ns = 10,
                .last_at_ns = 10,
                .first_offset = 4096,
                .last_offset = 4096,
        };
        EngineErrno *read;
        size_t n;

        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_errno(store, id, &errnum, NULL), 0);
        errnum.count = 1000000;
        errnum.last_at_ns = 99;
        errnum.last_offset = 8192;
        ck_assert_int_eq(store_set_errno(store, id, &errnum, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);

        ck_assert_int_eq(store_get_errnos(store, id, &read, &n, NULL), 0);
        ck_assert_uint_eq(n, 1);
        ck_assert_int_eq(read->errnum, EIO);
        ck_assert_uint_eq(read->count, 1000000);
        ck_assert_int_eq(read->first_at_ns, 10);
        ck_assert_int_eq(read->last_at_ns, 99);
        ck_assert_uint_eq(read->first_offset, 4096);
        ck_assert_uint_eq(read->last_offset, 8192);
        free(read);
}
END_TEST

START_TEST(active_runs_are_interrupted) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_close_ int lock = store_service_lock(test_path, NULL);
        static const RunState states[] = { RUN_QUEUED, RUN_RUNNING, RUN_PAUSED, RUN_DONE, RUN_INTERRUPTED };
        StoreEvent *events;
        size_t n;

        for (unsigned i = 0; i < ELEMENTSOF(states); i++)
                set_state(store, add_run(store), states[i], 10);
        _cleanup_free_ Sample *sample = new_sample(0);
        add_sample(store, 2, sample);

        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_interrupt_active_runs(store, 777, NULL), 3);
        ck_assert_int_eq(store_interrupt_active_runs(store, 778, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);

        for (uint32_t id = 1; id <= ELEMENTSOF(states); id++) {
                _cleanup_store_run_ StoreRun run = get_run(store, id);
                ck_assert_int_eq(run.state, id == 4 ? RUN_DONE : RUN_INTERRUPTED);
        }
        ck_assert_int_eq(sql_number(store, "SELECT count(*) FROM events"), 3);
        ck_assert_int_eq(store_get_events(store, 2, &events, &n, NULL), 0);
        ck_assert_uint_eq(n, 1);
        ck_assert_int_eq(events[0].kind, EVENT_OUTAGE);
        ck_assert_int_eq(events[0].at_ns, 777);
        ck_assert_uint_eq(events[0].elapsed_ns, NSEC_PER_SEC);
        ck_assert_ptr_nonnull(strstr(events[0].detail, "last sample was at 1970-01-01T"));
        store_events_free(events, n);
}
END_TEST

START_TEST(run_that_did_not_begin_is_told_from_one_without_samples) {
        _cleanup_store_ Store *store = open_writer();
        StoreEvent *events;
        size_t n;

        set_state(store, add_run(store), _i > 0 ? RUN_RUNNING : RUN_QUEUED, 10);
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_interrupt_active_runs(store, 777, NULL), 1);
        ck_assert_int_eq(store_commit(store, NULL), 0);
        ck_assert_int_eq(store_get_events(store, 1, &events, &n, NULL), 0);
        ck_assert_str_eq(events[0].detail, _i > 0 ? "the service went down before the first sample" :
                                                    "the service went down before it began");
        store_events_free(events, n);
}
END_TEST

START_TEST(active_run_without_service_reads_as_interrupted) {
        _cleanup_store_ Store *store = open_writer();
        int lock = store_service_lock(test_path, NULL);
        uint32_t id = add_run(store);
        StoreRun *runs;
        size_t n;

        set_state(store, id, RUN_RUNNING, 10);
        StoreRun run = get_run(store, id);
        ck_assert_int_eq(run.state, RUN_RUNNING);
        store_run_clear(&run);

        fd_close(lock);
        run = get_run(store, id);
        ck_assert_int_eq(run.state, RUN_INTERRUPTED);
        store_run_clear(&run);
        ck_assert_int_eq(store_list_runs(store, &runs, &n, NULL), 0);
        ck_assert_int_eq(runs[0].state, RUN_INTERRUPTED);
        store_runs_free(runs, n);
}
END_TEST

static void ask_to_stop(Store *store, uint32_t id) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_stop_asked(store, id, 20, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

static void begin_phase(Store *store, uint32_t id, uint32_t phase, int64_t at_ns) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_phase_state(store, id, phase, PHASE_RUNNING, at_ns, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

static void interrupt_all(Store *store, int64_t now_ns) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_ge(store_interrupt_active_runs(store, now_ns, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

/* Asked for, told to the service, and the service dies: what the user wanted still counts. */
START_TEST(run_that_was_to_stop_is_stopped_and_not_interrupted) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t id = add_run(store);
        StoreEvent *events;
        size_t n;

        set_state(store, id, RUN_RUNNING, 10);
        _cleanup_free_ Sample *sample = new_sample(0);
        add_sample(store, id, sample);
        ask_to_stop(store, id);
        StoreRun run = get_run(store, id);
        ck_assert_int_eq(run.state, RUN_STOPPED); /* nobody holds the lock: as the next service will say */
        store_run_clear(&run);

        interrupt_all(store, INT64_MAX);
        run = get_run(store, id);
        ck_assert_int_eq(run.state, RUN_STOPPED);
        ck_assert_int_eq(run.finished_at_ns, sample->at_ns);
        store_run_clear(&run);
        ck_assert_int_eq(store_get_events(store, id, &events, &n, NULL), 0);
        ck_assert_uint_eq(n, 1);
        ck_assert_int_eq(events[0].kind, EVENT_FINISHED);
        ck_assert_ptr_nonnull(strstr(events[0].detail, "stopped: the service went down"));
        store_events_free(events, n);
}
END_TEST

static void expect_first_phase(Store *store, uint32_t id, PhaseState state, int64_t finished_at_ns) {
        StorePhase *phases;
        size_t n;

        ck_assert_int_eq(store_get_phases(store, id, &phases, &n, NULL), 0);
        ck_assert_int_eq(phases[0].state, state);
        ck_assert_int_eq(phases[0].finished_at_ns, finished_at_ns);
        ck_assert_int_eq(phases[1].state, PHASE_PENDING);
        store_phases_free(phases, n);
}

START_TEST(phase_of_a_dead_service_is_stopped) {
        _cleanup_store_ Store *store = open_writer();
        int lock = store_service_lock(test_path, NULL);
        uint32_t with = add_run(store), without = add_run(store);

        set_state(store, with, RUN_RUNNING, 10);
        set_state(store, without, RUN_RUNNING, 10);
        begin_phase(store, with, 0, 11);
        begin_phase(store, without, 0, 11);
        _cleanup_free_ Sample *sample = new_sample(0);
        add_sample(store, with, sample);
        expect_first_phase(store, with, PHASE_RUNNING, 0);

        fd_close(lock);
        expect_first_phase(store, with, PHASE_STOPPED, sample->at_ns);
        expect_first_phase(store, without, PHASE_STOPPED, 11);

        interrupt_all(store, INT64_MAX);
        lock = store_service_lock(test_path, NULL); /* now as it is stored */
        expect_first_phase(store, with, PHASE_STOPPED, sample->at_ns);
        expect_first_phase(store, without, PHASE_STOPPED, 11);
        fd_close(lock);
}
END_TEST

START_TEST(interrupted_run_that_is_stopped_finished_with_its_last_sample) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t with = add_run(store), without = add_run(store);
        _cleanup_free_ Sample *sample = new_sample(0);

        add_sample(store, with, sample);
        for (uint32_t id = with; id <= without; id++) {
                set_state(store, id, RUN_INTERRUPTED, 50);
                set_state(store, id, RUN_STOPPED, INT64_MAX);
                _cleanup_store_run_ StoreRun run = get_run(store, id);
                ck_assert_int_eq(run.finished_at_ns, id == with ? sample->at_ns : INT64_MAX);
        }
}
END_TEST

START_TEST(list_leaves_the_jobs_text_out) {
        _cleanup_store_ Store *store = open_writer();
        StoreRun *runs;
        size_t n;

        add_run(store);
        ck_assert_int_eq(store_list_runs(store, &runs, &n, NULL), 0);
        ck_assert_ptr_null(runs[0].job_text);
        ck_assert_ptr_nonnull(runs[0].name);
        store_runs_free(runs, n);
}
END_TEST

static Suite *run_suite(void) {
        Suite *suite = suite_create("run");
        TCase *tcase = store_case("run");

        tcase_add_test(tcase, run_is_kept_whole);
        tcase_add_test(tcase, phases_are_kept);
        tcase_add_test(tcase, state_sets_times);
        tcase_add_test(tcase, every_state_can_be_kept);
        tcase_add_test(tcase, phase_state_sets_times_and_name);
        tcase_add_test(tcase, list_is_newest_first);
        tcase_add_test(tcase, numbers_are_never_given_twice);
        tcase_add_test(tcase, runs_are_found_by_number_and_last);
        tcase_add_test(tcase, unknown_run_is_told);
        tcase_add_test(tcase, writes_need_a_transaction);
        tcase_add_test(tcase, rollback_leaves_nothing);
        tcase_add_test(tcase, events_come_in_order);
        tcase_add_test(tcase, errors_are_one_row_an_errno);
        tcase_add_test(tcase, run_that_was_to_stop_is_stopped_and_not_interrupted);
        tcase_add_test(tcase, phase_of_a_dead_service_is_stopped);
        tcase_add_test(tcase, interrupted_run_that_is_stopped_finished_with_its_last_sample);
        tcase_add_test(tcase, list_leaves_the_jobs_text_out);
        tcase_add_test(tcase, active_runs_are_interrupted);
        tcase_add_loop_test(tcase, run_that_did_not_begin_is_told_from_one_without_samples, 0, 2);
        tcase_add_test(tcase, active_run_without_service_reads_as_interrupted);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(run_suite)

/* SPDX-License-Identifier: MIT */

/* What is kept so that a run can be taken up again. */

#include <string.h>

#include "fixture.h"
#include "util/macro.h"

static void set_state(Store *store, uint32_t run, RunState state) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_run_state(store, run, state, 10, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

static void set_phase(Store *store, uint32_t run, uint32_t phase, PhaseState state) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_phase_state(store, run, phase, state, 10, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

static void set_drained(Store *store, uint32_t run) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_drained(store, run, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

static void interrupt_all(Store *store) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_ge(store_interrupt_active_runs(store, 1000000, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

/* Second seq, in this phase, after which the order stood at base, base + 1, ... */
static void add_at(Store *store, uint32_t run, uint64_t seq, uint32_t phase, uint64_t base) {
        _cleanup_free_ Sample *sample = new_sample(seq);

        sample->phase = phase;
        sample->errors = 1;
        sample->boot_ns = base + 7;
        sample->positions.n = 2;
        for (uint32_t i = 0; i < sample->positions.n; i++, base += 10)
                sample->positions.of[i] =
                        (Position){ base, base + 1, base + 2, base + 3, base + 4, base + 5, base + 6 };
        add_sample(store, run, sample);
}

static StoreResume *get_resume(Store *store, uint32_t run) {
        _cleanup_error_ Error error = ERROR_INIT;
        StoreResume *resume = NULL;

        ck_assert_msg(store_get_resume(store, run, &resume, &error) == 1, "%s", error_message(&error));
        return resume;
}

static void expect_positions(const PhaseStanding *phase, uint64_t base) {
        ck_assert_uint_eq(phase->boot_ns, base + 7);
        ck_assert_uint_eq(phase->positions.n, 2);
        for (uint32_t i = 0; i < 2; i++, base += 10) {
                const Position expected = { base, base + 1, base + 2, base + 3, base + 4, base + 5, base + 6 };

                ck_assert_int_eq(memcmp(&phase->positions.of[i], &expected, sizeof(expected)), 0);
        }
}

START_TEST(positions_are_those_of_the_newest_sample_of_each_phase) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);

        add_at(store, run, 0, 0, 100);
        add_at(store, run, 1, 0, 200);
        set_phase(store, run, 0, PHASE_DONE);
        add_at(store, run, 2, 1, 300);
        _cleanup_(store_resume_freep) StoreResume *resume = get_resume(store, run);
        const Standing *standing = resume->standing;

        ck_assert_uint_eq(standing->n_phases, 2);
        ck_assert_uint_eq(standing->phase, 1);
        expect_positions(&standing->phases[0], 200);
        expect_positions(&standing->phases[1], 300);
        ck_assert_uint_eq(standing->phases[0].elapsed_ns, 2 * NSEC_PER_SEC);
        ck_assert_uint_eq(standing->phases[1].elapsed_ns, NSEC_PER_SEC);
        ck_assert_uint_eq(standing->elapsed_ns, 3 * NSEC_PER_SEC);
        ck_assert_uint_eq(standing->next_seq, 3);
        ck_assert_uint_eq(standing->n_writes, 9);
        ck_assert_uint_eq(standing->written_bytes, 9 * 4096);
        ck_assert_uint_eq(standing->n_errors, 3);
        ck_assert_int_eq(resume->since_ns, 5002);
        ck_assert_uint_eq(standing_next_write(standing), 313);
}
END_TEST

START_TEST(what_was_recorded_of_each_phase_and_where_it_was_held_up) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);

        add_at(store, run, 0, 0, 100);
        add_at(store, run, 1, 0, 200);
        set_phase(store, run, 0, PHASE_DONE);
        add_at(store, run, 2, 1, 300);
        sql_run(test_path, "UPDATE phases SET read_ios = 50, ramp_elapsed_ns = 500000000, ramp_read_ios = 7,"
                           " ramp_write_ios = 2 WHERE phase = 0");
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_insert_event(store, run, 5, 1, EVENT_PAUSED, "", NULL), 0);
        ck_assert_int_eq(store_insert_event(store, run, 5, 1, EVENT_ERROR, "", NULL), 0);
        ck_assert_int_eq(store_insert_event(store, run, 6, 2, EVENT_OUTAGE, "", NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
        _cleanup_(store_resume_freep) StoreResume *resume = get_resume(store, run);
        const StoreResumePhase *first = &resume->phases[0], *second = &resume->phases[1];

        ck_assert(first->is_done && !second->is_done);
        ck_assert_uint_eq(first->first_elapsed_ns, 0);
        ck_assert_uint_eq(first->elapsed_ns, 2 * NSEC_PER_SEC);
        ck_assert_uint_eq(first->counted_ns, 3 * NSEC_PER_SEC / 2);
        ck_assert_uint_eq(first->counted_ios, 50 - 7 + 6 - 2);
        ck_assert_uint_eq(second->first_elapsed_ns, 2 * NSEC_PER_SEC);
        ck_assert_uint_eq(second->counted_ns, NSEC_PER_SEC);
        ck_assert_uint_eq(second->counted_ios, 3);
        ck_assert_uint_eq(resume->n_cuts, 2);
        ck_assert(resume->cuts_ns[0] == 1 && resume->cuts_ns[1] == 2);
}
END_TEST

START_TEST(identity_is_that_of_the_device) {
        _cleanup_store_ Store *store = open_writer();
        StoreNewRun given = new_run();
        _cleanup_(store_resume_freep) StoreResume *resume = get_resume(store, add_run(store));
        const DeviceInfo *device = resume->standing->device;

        ck_assert_str_eq(device->path, given.device->path);
        ck_assert_str_eq(device->name, given.device->name);
        ck_assert_str_eq(device->disk_name, given.device->disk_name);
        ck_assert_str_eq(device->model, given.device->model);
        ck_assert_str_eq(device->serial, given.device->serial);
        ck_assert_ptr_null(device->wwn);
        ck_assert_uint_eq(device->partition, given.device->partition);
        ck_assert_uint_eq(device->namespace_id, given.device->namespace_id);
        ck_assert_uint_eq(device->diskseq, given.device->diskseq);
        ck_assert_uint_eq(device->size_bytes, given.device->size_bytes);
        ck_assert_uint_eq(device->logical_block_bytes, given.device->logical_block_bytes);
        ck_assert_str_eq(resume->standing->boot_id, given.boot_id);
        ck_assert_uint_eq(resume->standing->run_tag, given.run_tag);
        ck_assert_uint_eq(resume->standing->seed, given.seed);
        ck_assert_str_eq(resume->job_text, given.job->text);
        ck_assert_int_eq(resume->since_ns, given.created_at_ns);
        ck_assert_uint_eq(resume->standing->next_seq, 0);
}
END_TEST

START_TEST(phases_are_known_as_they_were_planned) {
        _cleanup_store_ Store *store = open_writer();
        StoreNewRun given = new_run();
        _cleanup_(store_resume_freep) StoreResume *resume = get_resume(store, add_run(store));

        for (uint32_t i = 0; i < resume->standing->n_phases; i++) {
                const PhasePlan *plan = &given.plan->phases[i];
                const PhaseShape *shape = &resume->standing->phases[i].shape;

                ck_assert_int_eq(memcmp(shape->block_bytes, plan->block_bytes, sizeof(plan->block_bytes)), 0);
                ck_assert_uint_eq(shape->iodepth, plan->iodepth);
                ck_assert_uint_eq(shape->numjobs, plan->numjobs);
                ck_assert_uint_eq(shape->region_offset, plan->region_offset);
                ck_assert_uint_eq(shape->region_bytes, plan->region_bytes);
                ck_assert_uint_eq(shape->order_hash, phase_plan_order_hash(plan));
        }
}
END_TEST

START_TEST(all_that_are_done_are_behind_it) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);

        set_phase(store, run, 0, PHASE_DONE);
        set_phase(store, run, 1, PHASE_DONE);
        _cleanup_(store_resume_freep) StoreResume *resume = get_resume(store, run);
        ck_assert_uint_eq(resume->standing->phase, 2);
}
END_TEST

START_TEST(drained_holds_until_the_state_changes) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);

        set_state(store, run, RUN_RUNNING);
        set_drained(store, run); /* not while it runs */
        ck_assert_int_eq(sql_number(store, "SELECT drained FROM runs"), 0);
        set_state(store, run, RUN_INTERRUPTED);
        ck_assert_int_eq(sql_number(store, "SELECT drained FROM runs"), 0);
        set_drained(store, run);
        _cleanup_(store_resume_freep) StoreResume *resume = get_resume(store, run);
        ck_assert(resume->standing->drained);
        set_state(store, run, RUN_QUEUED);
        interrupt_all(store);
        ck_assert_int_eq(sql_number(store, "SELECT drained FROM runs"), 0);
}
END_TEST

static void set_waits_for(Store *store, uint32_t run, const char *what) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_waits_for(store, run, what, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

static void expect_waits_for(Store *store, uint32_t run, const char *what) {
        _cleanup_store_run_ StoreRun stored = {};

        ck_assert_int_eq(store_get_run(store, run, &stored, NULL), 0);
        ck_assert_pstr_eq(stored.waits_for, what);
}

START_TEST(what_a_run_waits_for_holds_until_the_state_changes) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);

        set_waits_for(store, run, "nothing, for it is not interrupted");
        expect_waits_for(store, run, NULL);
        set_state(store, run, RUN_INTERRUPTED);
        set_waits_for(store, run, "somebody");
        expect_waits_for(store, run, "somebody");
        set_waits_for(store, run, NULL);
        expect_waits_for(store, run, NULL);
        set_waits_for(store, run, "somebody");
        set_state(store, run, RUN_STOPPED);
        expect_waits_for(store, run, NULL);
}
END_TEST

START_TEST(paused_run_is_remembered_as_such) {
        static const struct {
                RunState states[6];
                size_t n;
                bool paused;
        } cases[] = {
                { { RUN_RUNNING, RUN_INTERRUPTED }, 2, false },
                { { RUN_RUNNING, RUN_PAUSED, RUN_INTERRUPTED }, 3, true },
                { { RUN_RUNNING, RUN_PAUSED, RUN_RUNNING, RUN_INTERRUPTED }, 4, false },
                { { RUN_RUNNING, RUN_PAUSED, RUN_INTERRUPTED, RUN_QUEUED, RUN_INTERRUPTED }, 5, true },
                { { RUN_RUNNING, RUN_PAUSED, RUN_INTERRUPTED, RUN_QUEUED, RUN_RUNNING, RUN_INTERRUPTED }, 6, false },
        };
        _cleanup_store_ Store *store = open_writer();

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                uint32_t run = add_run(store);

                for (size_t k = 0; k < cases[i].n; k++)
                        set_state(store, run, cases[i].states[k]);
                _cleanup_(store_resume_freep) StoreResume *resume = get_resume(store, run);
                ck_assert_msg(resume->standing->paused == cases[i].paused, "case %zu", i);
        }
}
END_TEST

START_TEST(place_is_where_it_was_found_last) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);
        const DeviceInfo found = {
                .path = (char *) "/dev/sdq", .name = (char *) "sdq", .disk_name = (char *) "sdq", .diskseq = 4711,
                .serial = (char *) "not taken",
        };

        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_place(store, run, &found, "another boot", NULL), 0);
        ck_assert_int_eq(store_set_place(store, run + 1, &found, "another boot", NULL), -ENOENT);
        ck_assert_int_eq(store_commit(store, NULL), 0);
        _cleanup_(store_resume_freep) StoreResume *resume = get_resume(store, run);
        ck_assert_str_eq(resume->standing->device->path, "/dev/sdq");
        ck_assert_str_eq(resume->standing->device->name, "sdq");
        ck_assert_uint_eq(resume->standing->device->diskseq, 4711);
        ck_assert_str_eq(resume->standing->device->serial, new_run().device->serial);
        ck_assert_str_eq(resume->standing->boot_id, "another boot");
}
END_TEST

START_TEST(only_interrupted_runs_are_taken_up) {
        _cleanup_store_ Store *store = open_writer();
        StoreRun *runs;
        size_t n;

        for (RunState state = 0; state < N_RUN_STATES; state++)
                set_state(store, add_run(store), state);
        interrupt_all(store);
        uint32_t to_stop = add_run(store);
        set_state(store, to_stop, RUN_INTERRUPTED);
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_stop_asked(store, to_stop, 20, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);

        ck_assert_int_eq(store_list_runs(store, &runs, &n, NULL), 0);
        ck_assert_int_eq(store_read_resumes(store, runs, n, NULL), 0);
        for (size_t i = 0; i < n; i++) {
                RunState was = (RunState) (runs[i].id - 1);
                ck_assert_int_eq(runs[i].resume != NULL, was <= RUN_INTERRUPTED && runs[i].id != to_stop);
        }
        store_runs_free(runs, n);
}
END_TEST

/* Interrupted, as the first versions wrote it. */
#define OLD_RUN \
        "INSERT INTO runs (run, name, job_text, state, device_path, device_name, disk_name, partition," \
        " namespace_id, n_namespaces, diskseq, size_bytes, logical_block_bytes, physical_block_bytes," \
        " rotational, read_ahead_kib, nr_requests, host, boot_id, run_tag, seed, imported, errors_known," \
        " sample_interval_ns, created_at_ns) VALUES (1, 'j', '[p]', 'interrupted', '/dev/sda', 'sda', 'sda'," \
        " 0, 0, 0, 1, 4096, 512," \
        " 512, 0, 1, 1, 'h', 'b', '0000000000000001', '0000000000000002', 0, 1, 1000000000, 5);"

/* An interrupted run of the version before this one, with I/O of which no position tells. */
START_TEST(run_of_an_older_version_is_not_taken_up) {
        for (unsigned version = 0; version < 3; version++)
                sql_run(test_path, schema_migrations[version]);
        sql_run(test_path,
                OLD_RUN
                "INSERT INTO phases (run, phase, name, action, rw, read_percent, read_block_bytes, write_block_bytes,"
                " trim_block_bytes, iodepth, numjobs, region_offset_bytes, region_bytes, state, write_ios)"
                " VALUES (1, 0, 'p', 'io', 'randwrite', 0, 0, 4096, 0, 1, 1, 0, 4096, 'stopped', 77)");

        _cleanup_store_ Store *store = open_writer();
        StoreResume *resume = NULL;
        ck_assert_int_eq(sql_number(store, "PRAGMA user_version"), schema_version);
        ck_assert_int_eq(store_get_resume(store, 1, &resume, NULL), 0);
        ck_assert_ptr_null(resume);

        /* One that had done nothing yet can be. */
        ck_assert_int_eq(store_exec(store, "UPDATE phases SET write_ios = 0", NULL, "write"), 0);
        ck_assert_int_eq(store_get_resume(store, 1, &resume, NULL), 1);
        ck_assert(!resume->standing->drained && !resume->standing->paused);
        store_resume_free(resume);
}
END_TEST

/* Version 4 kept one position a phase, beside its totals. */
START_TEST(run_of_version_4_goes_on_where_it_stood) {
        for (unsigned version = 0; version < 4; version++)
                sql_run(test_path, schema_migrations[version]);
        sql_run(test_path,
                OLD_RUN
                "INSERT INTO phases (run, phase, name, action, rw, read_percent, read_block_bytes, write_block_bytes,"
                " trim_block_bytes, iodepth, numjobs, region_offset_bytes, region_bytes, state, write_ios, first_index,"
                " low_index, next_index, next_write, issued_bytes, settled_from, settled_to, boot_ns)"
                " VALUES (1, 0, 'p', 'io', 'randwrite', 0, 0, 4096, 0, 1, 1, 0, 4096, 'stopped', 77,"
                " 1, 2, 3, 4, 5, 6, 7, 8), (1, 1, 'q', 'io', 'randwrite', 0, 0, 4096, 0, 1, 1, 0, 4096, 'pending', 0,"
                " 0, 0, 0, 0, 0, 0, 0, 0)");

        _cleanup_store_ Store *store = open_writer();
        _cleanup_(store_resume_freep) StoreResume *resume = get_resume(store, 1);
        const PhaseStanding *phases = resume->standing->phases;
        const Position expected = { 1, 2, 3, 4, 5, 6, 7 };

        ck_assert_uint_eq(phases[0].positions.n, 1);
        ck_assert_int_eq(memcmp(&phases[0].positions.of[0], &expected, sizeof(expected)), 0);
        ck_assert_uint_eq(phases[0].boot_ns, 8);
        ck_assert_uint_eq(phases[0].shape.workers, 1);
        ck_assert_uint_eq(phases[1].positions.n, 0);
}
END_TEST

START_TEST(unknown_run_is_told) {
        _cleanup_store_ Store *store = open_writer();
        StoreResume *resume = NULL;

        ck_assert_int_eq(store_get_resume(store, 7, &resume, NULL), -ENOENT);
}
END_TEST

static Suite *resume_suite(void) {
        Suite *suite = suite_create("resume");
        TCase *tcase = store_case("resume");

        tcase_add_test(tcase, positions_are_those_of_the_newest_sample_of_each_phase);
        tcase_add_test(tcase, what_was_recorded_of_each_phase_and_where_it_was_held_up);
        tcase_add_test(tcase, identity_is_that_of_the_device);
        tcase_add_test(tcase, phases_are_known_as_they_were_planned);
        tcase_add_test(tcase, all_that_are_done_are_behind_it);
        tcase_add_test(tcase, drained_holds_until_the_state_changes);
        tcase_add_test(tcase, what_a_run_waits_for_holds_until_the_state_changes);
        tcase_add_test(tcase, paused_run_is_remembered_as_such);
        tcase_add_test(tcase, place_is_where_it_was_found_last);
        tcase_add_test(tcase, only_interrupted_runs_are_taken_up);
        tcase_add_test(tcase, run_of_an_older_version_is_not_taken_up);
        tcase_add_test(tcase, run_of_version_4_goes_on_where_it_stood);
        tcase_add_test(tcase, unknown_run_is_told);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(resume_suite)

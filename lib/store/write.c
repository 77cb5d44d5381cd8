/* SPDX-License-Identifier: MIT */

/*
 * What is written about runs, phases, events and errors; samples are in write-sample.c.
 * All of it inside a transaction that the caller began: one for all runs, once a second.
 */

#include "store/store-internal.h"

#include <string.h>

#include "util/macro.h"
#include "util/time.h"

static const char *const write_sql[N_WRITES] = {
        [WRITE_BEGIN] = "BEGIN IMMEDIATE",
        [WRITE_COMMIT] = "COMMIT",
        [WRITE_RUN_STATE] =
                "UPDATE runs SET state = ?2, drained = 0, waits_for = NULL,"
                " paused = CASE ?2 WHEN 'interrupted' THEN paused OR state = 'paused' WHEN 'queued' THEN paused"
                " ELSE 0 END,"
                " started_at_ns = CASE WHEN ?2 = 'running' THEN coalesce(started_at_ns, ?3) ELSE started_at_ns END,"
                " finished_at_ns = CASE WHEN NOT ?4 THEN NULL"
                " WHEN state = 'interrupted' THEN"
                " coalesce((SELECT at_ns FROM samples WHERE run = ?1 ORDER BY seq DESC LIMIT 1), ?3)"
                " ELSE ?3 END"
                " WHERE run = ?1",
        [WRITE_STOP_ASKED] = "UPDATE runs SET stop_asked_at_ns = coalesce(stop_asked_at_ns, ?2) WHERE run = ?1",
        [WRITE_DRAINED] = "UPDATE runs SET drained = state = 'interrupted' WHERE run = ?1",
        [WRITE_WAITS_FOR] = "UPDATE runs SET waits_for = iif(state = 'interrupted', ?2, NULL) WHERE run = ?1",
        [WRITE_PLACE] =
                "UPDATE runs SET device_path = ?2, device_name = ?3, disk_name = ?4, diskseq = ?5, boot_id = ?6"
                " WHERE run = ?1",
        [WRITE_PHASE_STATE] =
                "UPDATE phases SET state = ?3,"
                " started_at_ns = CASE WHEN ?3 = 'running' THEN coalesce(started_at_ns, ?4) ELSE started_at_ns END,"
                " finished_at_ns = CASE WHEN ?3 IN ('done', 'stopped') THEN ?4 ELSE NULL END"
                " WHERE run = ?1 AND phase = ?2",
        [WRITE_SAMPLE] =
                "INSERT INTO samples (run, seq, phase, at_ns, elapsed_ns, duration_ns,"
                " read_ios, write_ios, trim_ios, read_bytes, write_bytes, trim_bytes,"
                " errors, in_flight, oldest_ns, latency_mean_ns, latency_p50_ns, latency_p99_ns, latency_max_ns,"
                " cpu_percent, temperature_c, worker_cpu_percent, ring_cpu_percent, held_percent)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [WRITE_LATENCY] =
                "INSERT INTO latencies (run, seq, read_latency, write_latency, trim_latency) VALUES (?, ?, ?, ?, ?)",
        [WRITE_TOTALS_GET] =
                "SELECT read_latency, write_latency, trim_latency, ramp_ns, first_elapsed_ns FROM phases"
                " WHERE run = ?1 AND phase = ?2",
        /* A sum beyond what an integer holds becomes a real number, of which min() makes the greatest integer. */
        [WRITE_TOTALS_SET] =
                "UPDATE phases SET n_samples = n_samples + 1,"
                " first_elapsed_ns = coalesce(first_elapsed_ns, ?3),"
                " elapsed_ns = min(elapsed_ns + ?4, 9223372036854775807),"
                " read_ios = min(read_ios + ?5, 9223372036854775807),"
                " write_ios = min(write_ios + ?6, 9223372036854775807),"
                " trim_ios = min(trim_ios + ?7, 9223372036854775807),"
                " read_bytes = min(read_bytes + ?8, 9223372036854775807),"
                " write_bytes = min(write_bytes + ?9, 9223372036854775807),"
                " trim_bytes = min(trim_bytes + ?10, 9223372036854775807),"
                " errors = min(errors + ?11, 9223372036854775807),"
                " latency_mean_ns = ?12,"
                " latency_p50_ns = ?13, latency_p99_ns = ?14, latency_p999_ns = ?15, latency_max_ns = ?16,"
                " read_latency = ?17, write_latency = ?18, trim_latency = ?19,"
                " boot_ns = ?20, ramp_elapsed_ns = min(ramp_elapsed_ns + ?21, 9223372036854775807),"
                " ramp_read_ios = min(ramp_read_ios + ?22, 9223372036854775807),"
                " ramp_write_ios = min(ramp_write_ios + ?23, 9223372036854775807),"
                " ramp_trim_ios = min(ramp_trim_ios + ?24, 9223372036854775807),"
                " ramp_read_bytes = min(ramp_read_bytes + ?25, 9223372036854775807),"
                " ramp_write_bytes = min(ramp_write_bytes + ?26, 9223372036854775807),"
                " ramp_trim_bytes = min(ramp_trim_bytes + ?27, 9223372036854775807)"
                " WHERE run = ?1 AND phase = ?2",
        [WRITE_POSITION] =
                "INSERT INTO positions (run, phase, share, first_index, low_index, next_index, next_write,"
                " issued_bytes, settled_from, settled_to)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
                " ON CONFLICT (run, phase, share) DO UPDATE SET first_index = ?4, low_index = ?5, next_index = ?6,"
                " next_write = ?7, issued_bytes = ?8, settled_from = ?9, settled_to = ?10",
        [WRITE_IMPORTED_SAMPLE] =
                "INSERT INTO samples (run, seq, phase, at_ns, elapsed_ns, duration_ns,"
                " read_ios, write_ios, trim_ios, read_bytes, write_bytes, trim_bytes,"
                " errors, in_flight, oldest_ns, latency_mean_ns, latency_p50_ns, latency_p99_ns, latency_max_ns,"
                " cpu_percent, temperature_c, worker_cpu_percent, ring_cpu_percent, held_percent,"
                " read_latency_mean_ns, write_latency_mean_ns, trim_latency_mean_ns)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [WRITE_IMPORTED_TOTALS] =
                "UPDATE phases SET n_samples = ?3, first_elapsed_ns = ?4, elapsed_ns = ?5,"
                " read_ios = ?6, write_ios = ?7, trim_ios = ?8, read_bytes = ?9, write_bytes = ?10, trim_bytes = ?11,"
                " errors = ?12, latency_mean_ns = ?13, ramp_elapsed_ns = ?14,"
                " ramp_read_ios = ?15, ramp_write_ios = ?16, ramp_trim_ios = ?17,"
                " ramp_read_bytes = ?18, ramp_write_bytes = ?19, ramp_trim_bytes = ?20 WHERE run = ?1 AND phase = ?2",
        [WRITE_EVENT] = "INSERT INTO events (run, at_ns, elapsed_ns, kind, detail) VALUES (?, ?, ?, ?, ?)",
        [WRITE_ERRNO] =
                "INSERT INTO errors (run, errno, count, first_at_ns, last_at_ns, first_offset_bytes, last_offset_bytes)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (run, errno) DO UPDATE SET count = excluded.count,"
                " first_at_ns = excluded.first_at_ns, last_at_ns = excluded.last_at_ns,"
                " first_offset_bytes = excluded.first_offset_bytes, last_offset_bytes = excluded.last_offset_bytes",
        [WRITE_HISTORY] =
                "INSERT INTO histories (run, phase, share, ceiling_index, reach_index, flushed_index)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
                " ON CONFLICT (run, phase, share) DO UPDATE SET ceiling_index = ?4, reach_index = ?5,"
                " flushed_index = ?6",
        [WRITE_MAYBES_CLEAR] = "DELETE FROM maybes WHERE run = ? AND phase = ? AND share = ?",
        [WRITE_MAYBE] = "INSERT INTO maybes (run, phase, share, from_index, to_index) VALUES (?, ?, ?, ?, ?)",
        [WRITE_VERIFICATION] =
                "INSERT INTO verifications (run, phase, asked_bytes, checked_bytes, corrupt, misplaced, torn, lost)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
                " ON CONFLICT (run, phase) DO UPDATE SET asked_bytes = ?3, checked_bytes = ?4, corrupt = ?5,"
                " misplaced = ?6, torn = ?7, lost = ?8",
        [WRITE_FINDING] =
                "INSERT INTO findings (run, phase, kind, offset_bytes, length_bytes, detail) VALUES (?, ?, ?, ?, ?, ?)",
};

int statement_write(Store *store, WriteKind kind, sqlite3_stmt **ret, Error *error) {
        if (kind != WRITE_BEGIN && sqlite3_get_autocommit(store->db))
                return error_set(error, ERROR_FAILED, EINVAL, "%s is written outside of a transaction", store->path);

        sqlite3_stmt **stmt = &store->writes[kind];
        if (!*stmt &&
            sqlite3_prepare_v3(store->db, write_sql[kind], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) != SQLITE_OK)
                return store_fail(store, error, "write to");

        *ret = *stmt;
        return 0;
}

static int run_plain(Store *store, WriteKind kind, Error *error, const char *action) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, kind, &stmt, error);

        return r < 0 ? r : statement_step(store, stmt, error, action);
}

int store_begin(Store *store, Error *error) {
        return run_plain(store, WRITE_BEGIN, error, "lock");
}

int store_commit(Store *store, Error *error) {
        return run_plain(store, WRITE_COMMIT, error, "write to");
}

void store_rollback(Store *store) {
        /* Where the disk was full SQLite may have rolled back already. */
        if (!sqlite3_get_autocommit(store->db))
                sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

void store_checkpoint(Store *store) {
        (void) sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

static void bind_device(Binder *b, const DeviceInfo *device) {
        bind_text(b, device->path);
        bind_text(b, device->name);
        bind_text(b, device->disk_name);
        bind_u64(b, device->partition);
        bind_u64(b, device->namespace_id);
        bind_u64(b, device->n_namespaces);
        bind_u64(b, device->diskseq);
        bind_text(b, device->model);
        bind_text(b, device->serial);
        bind_text(b, device->wwn);
        bind_text(b, device->firmware);
        bind_u64(b, device->size_bytes);
        bind_u64(b, device->logical_block_bytes);
        bind_u64(b, device->physical_block_bytes);
        bind_u64(b, device->rotational);
        bind_text(b, device->transport);
        bind_text(b, device->link);
        bind_text(b, device->host_driver);
        bind_text(b, device->scheduler);
        bind_text(b, device->write_cache);
        bind_u64(b, device->read_ahead_kib);
        bind_u64(b, device->nr_requests);
}

static int insert_run_row(Store *store, const StoreNewRun *run, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store,
                "INSERT INTO runs (name, label, job_text, state,"
                " device_path, device_name, disk_name, partition, namespace_id, n_namespaces, diskseq,"
                " model, serial, wwn, firmware, size_bytes, logical_block_bytes, physical_block_bytes, rotational,"
                " transport, link, host_driver, scheduler, write_cache, read_ahead_kib, nr_requests,"
                " host, boot_id, run_tag, seed, imported, errors_known, sample_interval_ns, planned_ns,"
                " planned_write_bytes, created_at_ns)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                &stmt, error);
        if (r < 0)
                return r;

        uint64_t planned_ns = 0, planned_bytes = 0;
        bool has_time = plan_total_time(run->plan, &planned_ns);
        bool has_bytes = plan_total_write_bytes(run->plan, &planned_bytes);
        char tag[HEX64_SIZE], seed[HEX64_SIZE];

        Binder b = { .stmt = stmt };
        bind_text(&b, run->job->name);
        bind_text(&b, run->label);
        bind_text(&b, run->job->text);
        bind_text(&b, run_state_name(RUN_QUEUED));
        bind_device(&b, run->device);
        bind_text(&b, run->host);
        bind_text(&b, run->boot_id);
        bind_text(&b, hex64_format(run->run_tag, tag));
        bind_text(&b, hex64_format(run->seed, seed));
        bind_u64(&b, run->imported);
        bind_u64(&b, !run->errors_unknown);
        bind_u64(&b, run->job->sample_interval_ns);
        bind_u64_if(&b, has_time, planned_ns);
        bind_u64_if(&b, has_bytes, planned_bytes);
        bind_i64(&b, run->created_at_ns);
        return statement_step(store, stmt, error, "add a run to");
}

static int insert_phase_row(Store *store, sqlite3_stmt *stmt, uint32_t run, size_t index, const PhasePlan *plan,
                            const char *name, Error *error) {
        Binder b = { .stmt = stmt };

        bind_u64(&b, run);
        bind_u64(&b, index);
        bind_text(&b, name);
        bind_text(&b, phase_action_name(plan->action));
        bind_text(&b, rw_mode_name(plan->rw));
        bind_u64(&b, plan->read_percent);
        bind_directions(&b, plan->block_bytes);
        bind_u64(&b, plan->iodepth);
        bind_u64(&b, plan->numjobs);
        bind_u64(&b, plan->workers);
        bind_u64(&b, plan->region_offset);
        bind_u64(&b, plan->region_bytes);
        bind_u64(&b, plan->ramp_ns);
        bind_u64(&b, phase_plan_order_hash(plan));
        bind_u64_if(&b, plan->has_planned_time, plan->planned_ns);
        bind_u64_if(&b, plan->has_planned_bytes, plan->planned_write_bytes);
        bind_text(&b, phase_state_name(PHASE_PENDING));

        int r = statement_step(store, stmt, error, "add a run to");
        sqlite3_reset(stmt);
        return r;
}

int store_insert_run(Store *store, const StoreNewRun *run, uint32_t *ret_id, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;

        if (sqlite3_get_autocommit(store->db))
                return error_set(error, ERROR_FAILED, EINVAL, "%s is written outside of a transaction", store->path);

        int r = insert_run_row(store, run, error);
        if (r < 0)
                return r;
        uint32_t id = (uint32_t) sqlite3_last_insert_rowid(store->db); /* 32 bits by a CHECK */

        r = statement_prepare(store,
                "INSERT INTO phases (run, phase, name, action, rw, read_percent,"
                " read_block_bytes, write_block_bytes, trim_block_bytes, iodepth, numjobs,"
                " workers, region_offset_bytes, region_bytes, ramp_ns, order_hash, planned_ns, planned_write_bytes,"
                " state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                &stmt, error);
        for (size_t i = 0; r >= 0 && i < run->plan->n_phases; i++) {
                const PhasePlan *plan = &run->plan->phases[i];
                _cleanup_free_ char *name = phase_plan_name(plan, run->job);
                r = name ? insert_phase_row(store, stmt, id, i, plan, name, error) : store_out_of_memory(error);
                if (r >= 0 && plan->is_checked)
                        r = store_set_verification(store, id, (uint32_t) i, &(Verification){
                                .asked_bytes = phase_plan_asked_bytes(plan),
                        }, error);
        }
        if (r < 0)
                return r;

        *ret_id = id;
        return 0;
}

int store_set_run_state(Store *store, uint32_t run, RunState state, int64_t at_ns, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_RUN_STATE, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_text(&b, run_state_name(state));
        bind_i64(&b, at_ns);
        bind_u64(&b, run_state_is_final(state));
        return statement_update_one(store, stmt, run, error);
}

int store_set_stop_asked(Store *store, uint32_t run, int64_t at_ns, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_STOP_ASKED, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_i64(&b, at_ns);
        return statement_update_one(store, stmt, run, error);
}

int store_set_drained(Store *store, uint32_t run, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_DRAINED, &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, run);
        return statement_update_one(store, stmt, run, error);
}

int store_set_waits_for(Store *store, uint32_t run, const char *waits_for, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_WAITS_FOR, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_text(&b, waits_for);
        return statement_update_one(store, stmt, run, error);
}

int store_set_place(Store *store, uint32_t run, const DeviceInfo *device, const char *boot_id, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_PLACE, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_text(&b, device->path);
        bind_text(&b, device->name);
        bind_text(&b, device->disk_name);
        bind_u64(&b, device->diskseq);
        bind_text(&b, boot_id);
        return statement_update_one(store, stmt, run, error);
}

int store_set_phase_state(Store *store, uint32_t run, uint32_t phase, PhaseState state, int64_t at_ns, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_PHASE_STATE, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_u64(&b, phase);
        bind_text(&b, phase_state_name(state));
        bind_i64(&b, at_ns);
        return statement_update_one(store, stmt, run, error);
}

int store_insert_event(Store *store, uint32_t run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind,
                       const char *detail, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_EVENT, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_i64(&b, at_ns);
        bind_u64(&b, elapsed_ns);
        bind_text(&b, event_kind_name(kind));
        bind_text(&b, detail ?: "");
        return statement_step(store, stmt, error, "add an event to");
}

int store_set_errno(Store *store, uint32_t run, const EngineErrno *errnum, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_ERRNO, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_i64(&b, errnum->errnum);
        bind_u64(&b, errnum->count);
        bind_i64(&b, errnum->first_at_ns);
        bind_i64(&b, errnum->last_at_ns);
        bind_u64(&b, errnum->first_offset);
        bind_u64(&b, errnum->last_offset);
        return statement_step(store, stmt, error, "add an error to");
}

typedef struct Interrupted {
        uint32_t run;
        bool stop_asked;
        bool has_begun;
        bool has_sample;
        int64_t last_at_ns;
        uint64_t elapsed_ns;
} Interrupted;

/* The active run with the lowest number: 1 if there is one, else 0. */
static int next_active(Store *store, Interrupted *ret, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store,
                "SELECT r.run, r.stop_asked_at_ns IS NOT NULL, r.started_at_ns IS NOT NULL, s.seq IS NOT NULL,"
                " s.at_ns, s.elapsed_ns"
                " FROM runs AS r LEFT JOIN samples AS s"
                " ON s.run = r.run AND s.seq = (SELECT max(seq) FROM samples WHERE run = r.run)"
                " WHERE r.state IN ('queued', 'running', 'paused') ORDER BY r.run LIMIT 1",
                &stmt, error);
        if (r < 0)
                return r;

        r = statement_step(store, stmt, error, "read");
        if (r > 0) {
                Columns c = { .stmt = stmt };
                ret->run = column_u32(&c);
                ret->stop_asked = column_i64(&c) != 0;
                ret->has_begun = column_i64(&c) != 0;
                ret->has_sample = column_i64(&c) != 0;
                ret->last_at_ns = column_i64(&c);
                ret->elapsed_ns = column_u64(&c);
        }
        return r;
}

static int stop_running_phase(Store *store, uint32_t run, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store,
                "UPDATE phases AS p SET state = 'stopped', finished_at_ns = " SQL_PHASE_BROKEN_OFF_AT_NS
                " WHERE run = ? AND state = 'running'",
                &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        return statement_step(store, stmt, error, "write to");
}

static int interrupt(Store *store, const Interrupted *run, int64_t now_ns, Error *error) {
        char at[TIME_RFC3339_MAX];
        char detail[80 + TIME_RFC3339_MAX];

        if (run->has_sample)
                snprintf(detail, sizeof detail, "%sthe service went down; the last sample was at %s",
                         run->stop_asked ? "stopped: " : "", time_format_rfc3339(run->last_at_ns, at));
        else
                snprintf(detail, sizeof detail, "%sthe service went down before %s", run->stop_asked ? "stopped: " : "",
                         run->has_begun ? "the first sample" : "it began");

        int r = store_set_run_state(store, run->run, RUN_INTERRUPTED, now_ns, error);
        if (r >= 0 && run->stop_asked)
                r = store_set_run_state(store, run->run, RUN_STOPPED, now_ns, error);
        if (r >= 0)
                r = stop_running_phase(store, run->run, error);
        if (r < 0)
                return r;

        return store_insert_event(store, run->run, now_ns, run->elapsed_ns,
                                  run->stop_asked ? EVENT_FINISHED : EVENT_OUTAGE, detail, error);
}

int store_interrupt_active_runs(Store *store, int64_t now_ns, Error *error) {
        Interrupted run;
        int n = 0, r;

        while ((r = next_active(store, &run, error)) > 0) {
                r = interrupt(store, &run, now_ns, error);
                if (r < 0)
                        return r;
                n++;
        }
        return r < 0 ? r : n;
}

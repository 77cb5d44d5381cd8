/* SPDX-License-Identifier: MIT */

/* What an interrupted run needs to be taken up again. */

#include "store/store-internal.h"

#include <string.h>

#include "util/macro.h"

StoreResume *store_resume_free(StoreResume *resume) {
        if (!resume)
                return NULL;
        free(resume->job_text);
        standing_free(resume->standing);
        free(resume->errnos);
        free(resume->phases);
        free(resume->cuts_ns);
        free(resume);
        return NULL;
}

static void read_identity(Columns *c, DeviceInfo *device) {
        device->path = column_string(c);
        device->name = column_string(c);
        device->disk_name = column_string(c);
        device->partition = column_u32(c);
        device->namespace_id = column_u32(c);
        device->n_namespaces = column_u32(c);
        device->diskseq = column_u64(c);
        device->model = column_string(c);
        device->serial = column_string(c);
        device->wwn = column_string(c);
        device->size_bytes = column_u64(c);
        device->logical_block_bytes = column_u32(c);
        device->physical_block_bytes = column_u32(c);
}

static int read_hex(Store *store, Columns *c, uint64_t *ret, Error *error) {
        _cleanup_free_ char *s = column_string(c);

        if (hex64_parse(s, ret) < 0)
                return error_set(error, ERROR_UNREACHABLE, EBADMSG, "%s is corrupt: run_tag or seed is no number",
                                 store->path);
        return 0;
}

static int read_row(Store *store, Columns *c, StoreResume *resume, Error *error) {
        uint32_t n_phases = column_u32(c);
        Standing *standing = resume->standing = standing_new(n_phases);

        if (!standing)
                return store_out_of_memory(error);
        resume->job_text = column_string(c);
        resume->since_ns = column_i64(c);
        read_identity(c, standing->device);
        standing->boot_id = column_string(c);
        int r = read_hex(store, c, &standing->run_tag, error);
        if (r >= 0)
                r = read_hex(store, c, &standing->seed, error);
        if (r < 0)
                return r;
        standing->drained = column_i64(c) != 0;
        standing->paused = column_i64(c) != 0;
        standing->next_seq = column_u64(c);
        standing->elapsed_ns = column_u64(c);
        return c->failed ? store_out_of_memory(error) : 0;
}

static int read_run(Store *store, uint32_t run, StoreResume *resume, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store,
                "SELECT (SELECT count(*) FROM phases WHERE run = r.run), r.job_text,"
                " coalesce(s.at_ns, r.created_at_ns),"
                " r.device_path, r.device_name, r.disk_name, r.partition, r.namespace_id, r.n_namespaces, r.diskseq,"
                " r.model, r.serial, r.wwn, r.size_bytes, r.logical_block_bytes, r.physical_block_bytes,"
                " r.boot_id, r.run_tag, r.seed, r.drained, r.paused, coalesce(s.seq + 1, 0), s.elapsed_ns"
                " FROM runs AS r LEFT JOIN samples AS s"
                " ON s.run = r.run AND s.seq = (SELECT max(seq) FROM samples WHERE run = r.run)"
                " WHERE r.run = ?",
                &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, run);
        r = statement_step(store, stmt, error, "read");
        if (r == 0)
                return error_set(error, ERROR_NOT_FOUND, ENOENT, "there is no run %u in %s", run, store->path);

        Columns columns = { .stmt = stmt };
        return r < 0 ? r : read_row(store, &columns, resume, error);
}

static void read_position(Columns *c, Position *position) {
        position->first_index = column_u64(c);
        position->low_index = column_u64(c);
        position->next_index = column_u64(c);
        position->next_write = column_u64(c);
        position->done_bytes = column_u64(c);
        position->settled_from = column_u64(c);
        position->settled_to = column_u64(c);
}

static void read_shape(Columns *c, PhaseShape *shape) {
        column_directions(c, shape->block_bytes);
        shape->iodepth = column_u32(c);
        shape->numjobs = column_u32(c);
        shape->workers = column_u32(c);
        shape->region_offset = column_u64(c);
        shape->region_bytes = column_u64(c);
        shape->order_hash = column_u64(c);
}

static void read_phase(Columns *c, Standing *standing, uint32_t index, StoreResumePhase *recorded) {
        PhaseStanding *phase = &standing->phases[index];

        recorded->is_done = column_i64(c) != 0;
        standing->n_writes += column_u64(c);
        standing->written_bytes += column_u64(c);
        standing->n_errors += column_u64(c);
        recorded->elapsed_ns = phase->elapsed_ns = column_u64(c);
        bool has_samples = !column_is_null(c);
        recorded->first_elapsed_ns = column_u64(c);
        recorded->counted_ns = column_u64(c);
        recorded->counted_ios = column_u64(c);
        phase->boot_ns = column_u64(c);
        read_shape(c, &phase->shape);

        if (recorded->is_done && standing->phase == index)
                standing->phase = index + 1;
        else if (has_samples)
                phase->elapsed_ns = standing->elapsed_ns - MIN(recorded->first_elapsed_ns, standing->elapsed_ns);
}

static int read_phases(Store *store, uint32_t run, StoreResume *resume, Error *error) {
        Standing *standing = resume->standing;
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;

        resume->phases = calloc(MAX(standing->n_phases, 1U), sizeof(*resume->phases));
        if (!resume->phases)
                return store_out_of_memory(error);
        int r = statement_prepare(store,
                "SELECT state = 'done', write_ios, write_bytes, errors, elapsed_ns, first_elapsed_ns,"
                " elapsed_ns - ramp_elapsed_ns, read_ios - ramp_read_ios + write_ios - ramp_write_ios, boot_ns,"
                " read_block_bytes, write_block_bytes, trim_block_bytes, iodepth, numjobs, workers,"
                " region_offset_bytes, region_bytes, order_hash"
                " FROM phases WHERE run = ? ORDER BY phase",
                &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, run);
        for (uint32_t i = 0; i < standing->n_phases && (r = statement_step(store, stmt, error, "read")) > 0; i++) {
                Columns columns = { .stmt = stmt };
                read_phase(&columns, standing, i, &resume->phases[i]);
        }
        return r;
}

static int read_cuts(Store *store, uint32_t run, StoreResume *resume, Error *error) {
        StoreEvent *events = NULL;
        size_t n = 0;

        int r = store_get_events(store, run, &events, &n, error);
        if (r >= 0) {
                resume->cuts_ns = calloc(MAX(n, (size_t) 1), sizeof(*resume->cuts_ns));
                if (!resume->cuts_ns)
                        r = store_out_of_memory(error);
        }
        for (size_t i = 0; i < n && r >= 0; i++)
                if (event_kind_cuts(events[i].kind))
                        resume->cuts_ns[resume->n_cuts++] = events[i].elapsed_ns;
        store_events_free(events, n);
        return r;
}

static int read_positions(Store *store, uint32_t run, Standing *standing, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store,
                "SELECT phase, share, first_index, low_index, next_index, next_write, issued_bytes, settled_from,"
                " settled_to FROM positions WHERE run = ? ORDER BY phase, share",
                &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, run);
        while ((r = statement_step(store, stmt, error, "read")) > 0) {
                Columns columns = { .stmt = stmt };
                uint32_t phase = column_u32(&columns), share = column_u32(&columns);

                if (phase >= standing->n_phases || share >= JOB_WORKERS_MAX)
                        return error_set(error, ERROR_UNREACHABLE, EBADMSG, "%s is corrupt: a position of run %u",
                                         store->path, run);
                Positions *positions = &standing->phases[phase].positions;
                positions->n = share + 1;
                read_position(&columns, &positions->of[share]);
        }
        return r;
}

/* What has been written, for what is still to be checked; and what came of checking so far. */
static int read_verification(Store *store, uint32_t run, Standing *standing, Error *error) {
        size_t n = standing->n_phases;
        _cleanup_free_ StoreVerification *verified = calloc(n, sizeof(*verified));

        if (!verified || standing_make_histories(standing) < 0)
                return store_out_of_memory(error);
        int r = store_get_verifications(store, run, verified, n, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++)
                standing->phases[i].verified = verified[i].so_far;
        return store_read_histories(store, run, standing, error);
}

/* 0 if a phase has done I/O of which no position tells, as an earlier version has recorded it; else 1. */
static int read_whether_known(Store *store, uint32_t run, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store,
                "SELECT NOT EXISTS (SELECT 1 FROM phases AS p WHERE run = ?1 AND read_ios + write_ios + trim_ios > 0"
                " AND NOT EXISTS (SELECT 1 FROM positions WHERE run = p.run AND phase = p.phase AND next_index > 0))",
                &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, run);
        r = statement_step(store, stmt, error, "read");
        return r < 0 ? r : sqlite3_column_int(stmt, 0);
}

int store_get_resume(Store *store, uint32_t run, StoreResume **ret, Error *error) {
        _cleanup_(store_resume_freep) StoreResume *resume = calloc(1, sizeof(*resume));
        if (!resume)
                return store_out_of_memory(error);

        int r = read_run(store, run, resume, error);
        if (r >= 0)
                r = read_phases(store, run, resume, error);
        if (r >= 0)
                r = read_cuts(store, run, resume, error);
        if (r >= 0)
                r = read_positions(store, run, resume->standing, error);
        if (r >= 0)
                r = read_verification(store, run, resume->standing, error);
        if (r >= 0)
                r = read_whether_known(store, run, error);
        if (r <= 0)
                return r;
        r = store_get_errnos(store, run, &resume->errnos, &resume->n_errnos, error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(resume);
        return 1;
}

int store_read_resumes(Store *store, StoreRun *runs, size_t n, Error *error) {
        for (size_t i = 0; i < n; i++) {
                if (runs[i].state != RUN_INTERRUPTED || runs[i].stop_asked || runs[i].imported)
                        continue;
                int r = store_get_resume(store, runs[i].id, &runs[i].resume, error);
                if (r < 0)
                        return r;
        }
        return 0;
}

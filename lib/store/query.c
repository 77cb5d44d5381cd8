/* SPDX-License-Identifier: MIT */

/* Reading runs, phases, events and errors. Each function is one statement, so it sees one moment. */

#include "store/store-internal.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "util/macro.h"
#include "util/parse.h"

static const char *const phase_state_names[] = {
        [PHASE_PENDING] = "pending",
        [PHASE_RUNNING] = "running",
        [PHASE_DONE] = "done",
        [PHASE_STOPPED] = "stopped",
};
static_assert(ELEMENTSOF(phase_state_names) == N_PHASE_STATES, "a name for each state");

const char *phase_state_name(PhaseState state) {
        return (unsigned) state < N_PHASE_STATES ? phase_state_names[state] : NULL;
}

/* The index of the word for which name() gives s; -EBADMSG if there is none, as only a damaged file has it. */
#define word_index(s, n, name)                                                      \
        ({                                                                          \
                int _index = -EBADMSG;                                              \
                for (unsigned _i = 0; (s) && _i < (n); _i++) {                      \
                        const char *_word = name(_i);                               \
                        if (_word && strcmp(_word, (s)) == 0)                       \
                                _index = (int) _i;                                  \
                }                                                                   \
                _index;                                                             \
        })

static int corrupt(Store *store, Error *error, const char *what) {
        return error_set(error, ERROR_UNREACHABLE, EBADMSG, "%s is corrupt: %s", store->path, what);
}

/* Reads one row into an item; 0 or a negative errno. The item is cleared by the caller either way. */
typedef int (*RowReader)(Store *store, Columns *columns, void *item, Error *error);
typedef void (*ItemClear)(void *item);

typedef struct List {
        void *items;
        size_t n;
        size_t item_size;
        RowReader read;
        ItemClear clear; /* NULL: owns nothing */
} List;

static void list_clear(List *list) {
        for (size_t i = 0; list->clear && i < list->n; i++)
                list->clear((char *) list->items + i * list->item_size);
        free(list->items);
        list->items = NULL;
}

static int list_read_row(List *list, Store *store, sqlite3_stmt *stmt, Error *error) {
        /* Doubles: at every power of two. */
        if ((list->n & (list->n - 1)) == 0) {
                void *items = reallocarray(list->items, list->n > 0 ? 2 * list->n : 1, list->item_size);
                if (!items)
                        return store_out_of_memory(error);
                list->items = items;
        }

        void *item = (char *) list->items + list->n++ * list->item_size;
        memset(item, 0, list->item_size);

        Columns columns = { .stmt = stmt };
        int r = list->read(store, &columns, item, error);
        if (r >= 0 && columns.failed)
                r = store_out_of_memory(error);
        return r;
}

/* All rows of stmt; on failure the list is empty. */
static int list_read(List *list, Store *store, sqlite3_stmt *stmt, Error *error) {
        int r;

        while ((r = statement_step(store, stmt, error, "read")) > 0) {
                r = list_read_row(list, store, stmt, error);
                if (r < 0)
                        break;
        }
        if (r < 0)
                list_clear(list);
        return r;
}

/* As list_read(), of a statement whose one parameter is the run. */
static int list_read_of_run(List *list, Store *store, uint32_t run, const char *sql, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store, sql, &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, run);
        return list_read(list, store, stmt, error);
}

void store_run_clear(StoreRun *run) {
        char *const strings[] = {
                run->name,      run->label,     run->job_text,    run->device_path, run->model,
                run->serial,    run->wwn,       run->firmware,    run->transport,   run->link,
                run->host,      run->scheduler, run->write_cache, run->host_driver, run->phase_name,
                run->waits_for,
        };

        for (size_t i = 0; i < ELEMENTSOF(strings); i++)
                free(strings[i]);
        store_resume_free(run->resume);
        *run = (StoreRun) {};
}

void store_runs_free(StoreRun *runs, size_t n) {
        for (size_t i = 0; i < n; i++)
                store_run_clear(&runs[i]);
        free(runs);
}

/* job_text: the column, or NULL: a list of all runs has no use for megabytes of them. */
#define SELECT_RUN(job_text)                                                                          \
        "SELECT r.run, r.name, r.label, " job_text ", r.state,"                                    \
        " r.device_path, r.model, r.serial, r.wwn, r.firmware, r.transport, r.link,"                  \
        " r.host_driver, r.scheduler, r.write_cache, r.size_bytes, r.logical_block_bytes,"            \
        " r.physical_block_bytes, r.read_ahead_kib, r.nr_requests, r.host, r.run_tag, r.seed,"        \
        " r.imported, r.errors_known, r.sample_interval_ns,"                                          \
        " r.created_at_ns, r.started_at_ns, r.finished_at_ns,"                                        \
        " r.planned_ns IS NOT NULL, r.planned_ns, r.stop_asked_at_ns IS NOT NULL, r.waits_for,"      \
        " (SELECT count(*) FROM phases WHERE run = r.run),"                                           \
        " (SELECT name FROM phases WHERE run = r.run AND state <> 'pending'"                          \
        "  ORDER BY phase DESC LIMIT 1),"                                                             \
        " (SELECT total(n_samples) FROM phases WHERE run = r.run),"                                   \
        " (SELECT total(errors) FROM phases WHERE run = r.run),"                                      \
        " EXISTS (SELECT 1 FROM verification_summary WHERE run = r.run AND (checked_bytes > 0 OR errors > 0))," \
        " (SELECT total(errors) FROM verification_summary WHERE run = r.run),"                        \
        " (SELECT total(read_ios - ramp_read_ios) + total(write_ios - ramp_write_ios)"               \
        "  + total(trim_ios - ramp_trim_ios) FROM phases WHERE run = r.run),"                          \
        " (SELECT total(ramp_elapsed_ns) FROM phases WHERE run = r.run),"                             \
        " s.elapsed_ns, s.duration_ns, s.read_ios, s.write_ios, s.trim_ios"                           \
        " FROM runs AS r LEFT JOIN samples AS s"                                                      \
        " ON s.run = r.run AND s.seq = (SELECT max(seq) FROM samples WHERE run = r.run)"

static void read_device(Columns *c, StoreRun *run) {
        run->device_path = column_string(c);
        run->model = column_string(c);
        run->serial = column_string(c);
        run->wwn = column_string(c);
        run->firmware = column_string(c);
        run->transport = column_string(c);
        run->link = column_string(c);
        run->host_driver = column_string(c);
        run->scheduler = column_string(c);
        run->write_cache = column_string(c);
        run->size_bytes = column_u64(c);
        run->logical_block_bytes = column_u32(c);
        run->physical_block_bytes = column_u32(c);
        run->read_ahead_kib = column_u32(c);
        run->nr_requests = column_u32(c);
}

/* Rate of the newest sample from the columns duration_ns and ios; NaN if there is none. */
static double read_last_iops(Columns *c) {
        uint64_t duration_ns = column_u64(c), ios[N_DIRECTIONS];
        double sum = 0;

        column_directions(c, ios);
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                sum += (double) ios[d];
        return duration_ns > 0 ? sum * (double) NSEC_PER_SEC / (double) duration_ns : NAN;
}

static int read_state(Store *store, Columns *c, RunState *ret, Error *error) {
        _cleanup_free_ char *name = column_string(c);
        int state = name ? run_state_from_name(name) : -EBADMSG;
        if (state < 0)
                return corrupt(store, error, "unknown state of a run");

        *ret = (RunState) state;
        return 0;
}

static int read_hex64(Store *store, Columns *c, uint64_t *ret, Error *error) {
        _cleanup_free_ char *s = column_string(c);

        return hex64_parse(s, ret) < 0 ? corrupt(store, error, "run_tag or seed is no number") : 0;
}

static int read_run(Store *store, Columns *c, void *item, Error *error) {
        StoreRun *run = item;

        run->id = column_u32(c);
        run->name = column_string(c);
        run->label = column_string(c);
        run->job_text = column_string(c);
        int r = read_state(store, c, &run->state, error);
        if (r < 0)
                return r;
        read_device(c, run);
        run->host = column_string(c);
        r = read_hex64(store, c, &run->run_tag, error);
        if (r >= 0)
                r = read_hex64(store, c, &run->seed, error);
        if (r < 0)
                return r;
        run->imported = column_i64(c) != 0;
        run->errors_known = column_i64(c) != 0;
        run->sample_interval_ns = column_u64(c);
        run->created_at_ns = column_i64(c);
        run->started_at_ns = column_i64(c);
        run->finished_at_ns = column_i64(c);
        run->has_planned_time = column_i64(c) != 0;
        run->planned_ns = column_u64(c);
        run->stop_asked = column_i64(c) != 0;
        run->waits_for = column_string(c);
        run->n_phases = column_u32(c);
        run->phase_name = column_string(c);
        run->n_samples = column_u64(c);
        run->io_errors = column_u64(c);
        run->is_verified = column_i64(c) != 0;
        run->verify_errors = column_u64(c);
        double n_ios = column_double(c), ramp_ns = column_double(c);
        run->elapsed_ns = column_u64(c);
        double counted_ns = (double) run->elapsed_ns - ramp_ns;
        run->mean_iops = counted_ns > 0 ? n_ios * (double) NSEC_PER_SEC / counted_ns : NAN;
        run->last_iops = read_last_iops(c);
        return 0;
}

static void clear_run(void *item) {
        store_run_clear(item);
}

/*
 * An active run without a service was interrupted (or stopped, if that was asked for), and nobody could write that
 * down. The lock is asked for
 * before the rows are read: a service that starts in between marks old runs before it starts new ones, while
 * the other order would show a dead service's runs as running until it has.
 */
static int read_runs(Store *store, sqlite3_stmt *stmt, List *list, Error *error) {
        bool alive = store_service_is_alive(store->path);
        int r = list_read(list, store, stmt, error);
        if (r < 0)
                return r;

        StoreRun *runs = list->items;
        for (size_t i = 0; i < list->n; i++)
                if (!alive && run_state_is_active(runs[i].state))
                        runs[i].state = runs[i].stop_asked ? RUN_STOPPED : RUN_INTERRUPTED;
        return 0;
}

int store_list_runs(Store *store, StoreRun **ret, size_t *ret_n, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        List list = { .item_size = sizeof(StoreRun), .read = read_run, .clear = clear_run };

        int r = statement_prepare(store, SELECT_RUN("NULL") " ORDER BY r.run DESC", &stmt, error);
        if (r >= 0)
                r = read_runs(store, stmt, &list, error);
        if (r < 0)
                return r;

        *ret = list.items;
        *ret_n = list.n;
        return 0;
}

int store_get_run(Store *store, uint32_t run, StoreRun *ret, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        List list = { .item_size = sizeof(StoreRun), .read = read_run, .clear = clear_run };

        int r = statement_prepare(store, SELECT_RUN("r.job_text") " WHERE r.run = ?", &stmt, error);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, run);
        r = read_runs(store, stmt, &list, error);
        if (r < 0)
                return r;
        if (list.n == 0)
                return error_set(error, ERROR_NOT_FOUND, ENOENT, "there is no run %u in %s", run, store->path);

        *ret = *(StoreRun *) list.items;
        free(list.items);
        return 0;
}

static int find_in_runs(Store *store, const char *sql, uint64_t parameter, uint32_t *ret_id, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store, sql, &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, (int64_t) parameter);
        r = statement_step(store, stmt, error, "read");
        if (r > 0)
                *ret_id = (uint32_t) sqlite3_column_int64(stmt, 0);
        return r;
}

int store_find_run(Store *store, const char *which, uint32_t *ret_id, Error *error) {
        uint64_t number = 0;
        bool last = strcmp(which, "last") == 0;

        if (!last && parse_u64_range(which, 0, UINT32_MAX, &number) == -EINVAL)
                return error_set(error, ERROR_USAGE, EINVAL, "'%s' is no run: expected its number or 'last'", which);

        int r = last ? find_in_runs(store, "SELECT run FROM runs ORDER BY run DESC LIMIT 1", 0, ret_id, error) :
                       find_in_runs(store, "SELECT run FROM runs WHERE run = ?", number, ret_id, error);
        if (r < 0)
                return r;
        if (r == 0)
                return last ? error_set(error, ERROR_NOT_FOUND, ENOENT, "there is no run yet in %s", store->path) :
                              error_set(error, ERROR_NOT_FOUND, ENOENT, "there is no run %s in %s", which, store->path);
        return 0;
}

/* The next three columns, added up; NULL if nothing completed. */
static int read_latency(Store *store, Columns *c, Histogram **ret, Error *error) {
        _cleanup_free_ Histogram *sum = NULL, *one = NULL;

        for (unsigned d = 0; d < N_DIRECTIONS; d++, c->next++) {
                const void *data = sqlite3_column_blob(c->stmt, c->next);
                size_t length = (size_t) sqlite3_column_bytes(c->stmt, c->next);
                if (length == 0)
                        continue;

                sum = sum ?: calloc(1, sizeof *sum);
                one = one ?: malloc(sizeof *one);
                if (!sum || !one)
                        return store_out_of_memory(error);
                if (histogram_decode(one, data, length) < 0)
                        return corrupt(store, error, "histogram of a phase");
                histogram_add(sum, one);
        }

        *ret = TAKE_PTR(sum);
        return 0;
}

static int read_phase_words(Store *store, Columns *c, StorePhase *phase, Error *error) {
        _cleanup_free_ char *action = column_string(c), *rw = column_string(c), *state = column_string(c);
        int action_index = word_index(action, N_PHASE_ACTIONS, phase_action_name);
        int rw_index = word_index(rw, N_RW_MODES, rw_mode_name);
        int state_index = word_index(state, N_PHASE_STATES, phase_state_name);

        if (action_index < 0 || rw_index < 0 || state_index < 0)
                return corrupt(store, error, "unknown word in a phase");

        phase->action = (PhaseAction) action_index;
        phase->rw = (RwMode) rw_index;
        phase->state = (PhaseState) state_index;
        return 0;
}

static void subtract(uint64_t ret[static N_DIRECTIONS], const uint64_t all[static N_DIRECTIONS],
                     const uint64_t ramp[static N_DIRECTIONS]) {
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                ret[d] = all[d] - MIN(ramp[d], all[d]);
}

static void read_moved(Columns *c, StorePhase *phase) {
        uint64_t ramp_ios[N_DIRECTIONS], ramp_bytes[N_DIRECTIONS];

        column_directions(c, phase->ios);
        column_directions(c, phase->bytes);
        column_directions(c, ramp_ios);
        column_directions(c, ramp_bytes);
        subtract(phase->counted_ios, phase->ios, ramp_ios);
        subtract(phase->counted_bytes, phase->bytes, ramp_bytes);
}

static int read_phase(Store *store, Columns *c, void *item, Error *error) {
        StorePhase *phase = item;

        phase->index = column_u32(c);
        phase->name = column_string(c);
        int r = read_phase_words(store, c, phase, error);
        if (r < 0)
                return r;
        phase->read_percent = MIN(column_u32(c), UINT32_C(100));
        column_directions(c, phase->block_bytes);
        phase->iodepth = column_u32(c);
        phase->numjobs = column_u32(c);
        phase->workers = column_u32(c);
        phase->started_at_ns = column_i64(c);
        phase->finished_at_ns = column_i64(c);
        int64_t broken_off_at_ns = column_i64(c);
        phase->n_samples = column_u64(c);
        phase->first_elapsed_ns = column_u64(c);
        phase->elapsed_ns = column_u64(c);
        phase->ramp_ns = column_u64(c);
        phase->ramp_elapsed_ns = column_u64(c);
        read_moved(c, phase);
        phase->errors = column_u64(c);
        if (broken_off_at_ns != 0) {
                phase->state = PHASE_STOPPED;
                phase->finished_at_ns = broken_off_at_ns;
        }
        phase->latency_mean_ns = column_u64(c);
        bool means_only = column_i64(c) != 0;
        return means_only ? 0 : read_latency(store, c, &phase->latency, error);
}

uint64_t store_phase_counted_ns(const StorePhase *phase) {
        return phase->elapsed_ns - MIN(phase->ramp_elapsed_ns, phase->elapsed_ns);
}

static void clear_phase(void *item) {
        StorePhase *phase = item;

        free(phase->name);
        free(phase->latency);
}

/* As of runs: a phase that runs without a service was stopped as of its last sample. */
int store_get_phases(Store *store, uint32_t run, StorePhase **ret, size_t *ret_n, Error *error) {
        List list = { .item_size = sizeof(StorePhase), .read = read_phase, .clear = clear_phase };
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        bool alive = store_service_is_alive(store->path);

        int r = statement_prepare(store,
                "SELECT phase, name, action, rw, state, read_percent,"
                " read_block_bytes, write_block_bytes, trim_block_bytes,"
                " iodepth, numjobs, workers, started_at_ns, finished_at_ns,"
                " CASE WHEN state = 'running' AND NOT ?2 THEN " SQL_PHASE_BROKEN_OFF_AT_NS " END,"
                " n_samples, first_elapsed_ns, elapsed_ns, ramp_ns, ramp_elapsed_ns,"
                " read_ios, write_ios, trim_ios, read_bytes, write_bytes, trim_bytes,"
                " ramp_read_ios, ramp_write_ios, ramp_trim_ios,"
                " ramp_read_bytes, ramp_write_bytes, ramp_trim_bytes, errors,"
                " latency_mean_ns, latency_p50_ns IS NULL, read_latency, write_latency, trim_latency"
                " FROM phases AS p WHERE run = ?1 ORDER BY phase",
                &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_u64(&b, alive);
        r = list_read(&list, store, stmt, error);
        if (r < 0)
                return r;

        *ret = list.items;
        *ret_n = list.n;
        return 0;
}

/* As sample_host_limit() has it. */
#define NOT_THE_HOST                                                                                                  \
        "held_percent >= ?4 OR (write_ios + read_ios + trim_ios + errors = 0 AND in_flight > 0"                       \
        " AND oldest_ns >= duration_ns)"

int store_get_phase_cpu(Store *store, uint32_t run, StorePhaseCpu *ret, size_t n, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;

        int r = statement_prepare(store,
                "SELECT phase,"
                " sum(cpu_percent * duration_ns) / sum(CASE WHEN cpu_percent IS NOT NULL THEN duration_ns END),"
                " sum(worker_cpu_percent * duration_ns)"
                " / sum(CASE WHEN worker_cpu_percent IS NOT NULL THEN duration_ns END),"
                " sum(CASE WHEN " NOT_THE_HOST " THEN 0 WHEN cpu_percent >= ?2 THEN duration_ns ELSE 0 END),"
                " sum(CASE WHEN " NOT_THE_HOST " OR cpu_percent >= ?2 THEN 0"
                " WHEN ring_cpu_percent >= ?3 THEN duration_ns ELSE 0 END)"
                " FROM samples WHERE run = ?1 GROUP BY phase",
                &stmt, error);
        if (r < 0)
                return r;

        for (size_t i = 0; i < n; i++)
                ret[i] = (StorePhaseCpu){ .host_percent = NAN, .worker_percent = NAN };
        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_double(&b, HOST_LIMIT_CORES_PERCENT);
        bind_double(&b, HOST_LIMIT_RING_PERCENT);
        bind_double(&b, HOST_LIMIT_HELD_PERCENT);
        while ((r = statement_step(store, stmt, error, "read")) > 0) {
                Columns c = { .stmt = stmt };
                uint32_t phase = column_u32(&c);

                if (phase >= n)
                        continue;
                ret[phase].host_percent = column_double(&c);
                ret[phase].worker_percent = column_double(&c);
                ret[phase].cores_limited_ns = column_u64(&c);
                ret[phase].ring_limited_ns = column_u64(&c);
        }
        return r;
}

void store_phases_free(StorePhase *phases, size_t n) {
        for (size_t i = 0; i < n; i++)
                clear_phase(&phases[i]);
        free(phases);
}

static int read_event(Store *store, Columns *c, void *item, Error *error) {
        StoreEvent *event = item;

        event->at_ns = column_i64(c);
        event->elapsed_ns = column_u64(c);
        _cleanup_free_ char *kind = column_string(c);
        event->detail = column_string(c);

        int index = kind ? event_kind_from_name(kind) : -EBADMSG;
        if (index < 0)
                return corrupt(store, error, "unknown kind of event");
        event->kind = (EventKind) index;
        return 0;
}

static void clear_event(void *item) {
        free(((StoreEvent *) item)->detail);
}

int store_get_events(Store *store, uint32_t run, StoreEvent **ret, size_t *ret_n, Error *error) {
        List list = { .item_size = sizeof(StoreEvent), .read = read_event, .clear = clear_event };
        int r = list_read_of_run(&list, store, run,
                "SELECT at_ns, elapsed_ns, kind, detail FROM events WHERE run = ? ORDER BY event", error);
        if (r < 0)
                return r;

        *ret = list.items;
        *ret_n = list.n;
        return 0;
}

void store_events_free(StoreEvent *events, size_t n) {
        for (size_t i = 0; i < n; i++)
                clear_event(&events[i]);
        free(events);
}

static int read_errno(Store *store, Columns *c, void *item, Error *error) {
        EngineErrno *errnum = item;

        errnum->errnum = (int) MIN(column_u32(c), (uint32_t) INT_MAX);
        errnum->count = column_u64(c);
        errnum->first_at_ns = column_i64(c);
        errnum->last_at_ns = column_i64(c);
        errnum->first_offset = column_u64(c);
        errnum->last_offset = column_u64(c);
        return 0;
}

int store_get_errnos(Store *store, uint32_t run, EngineErrno **ret, size_t *ret_n, Error *error) {
        List list = { .item_size = sizeof(EngineErrno), .read = read_errno };
        int r = list_read_of_run(&list, store, run,
                "SELECT errno, count, first_at_ns, last_at_ns, first_offset_bytes, last_offset_bytes"
                " FROM errors WHERE run = ? ORDER BY errno",
                error);
        if (r < 0)
                return r;

        *ret = list.items;
        *ret_n = list.n;
        return 0;
}

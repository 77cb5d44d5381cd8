/* SPDX-License-Identifier: MIT */

/*
 * The time of day of a recording is not known: it is taken to have just ended.
 *
 * Of a latency only the mean is told, so all I/O of an interval is counted there. Where no I/O is told with it, it is
 * kept as that of a single one, so that it can be plotted.
 */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/from-sample.h"
#include "live.h"
#include "recorded-run.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

/*
 * Some tenths of a second. A living service gets its turn in between: SQLite tries for a lock every 100 ms, so that it
 * must be free for longer than that.
 */
#define SAMPLES_PER_TRANSACTION 5000
#define SERVICE_TURN_MS 150
#define SECTOR_BYTES 512
#define BLOCK_BYTES_DEFAULT UINT64_C(4096) /* where nothing was done */

typedef struct Keeper {
        Store *store;
        const RecordedRun *recorded;
        Job *job;
        PhasePlan phase;
        uint32_t run; /* 0: nothing is written yet */
        int64_t started_at_ns;
        uint64_t ios[N_DIRECTIONS], bytes[N_DIRECTIONS];
        SteadyWatch watch;
        Sample *sample;
} Keeper;

static void keeper_done(Keeper *keeper) {
        steady_watch_end(&keeper->watch);
        job_free(keeper->job);
        free(keeper->sample);
}

static uint64_t length_ns(const RecordedRun *recorded) {
        return recorded->rows[recorded->n_rows - 1].to_ns;
}

static void keeper_sum(Keeper *keeper) {
        const RecordedRun *recorded = keeper->recorded;

        for (size_t i = 0; i < recorded->n_rows; i++)
                for (Direction d = 0; d < N_DIRECTIONS; d++) {
                        keeper->ios[d] += recorded->rows[i].ios[d];
                        keeper->bytes[d] += recorded->rows[i].bytes[d];
                }
}

static uint64_t block_bytes(const Keeper *keeper, Direction d) {
        if (keeper->recorded->block_bytes > 0)
                return keeper->recorded->block_bytes;
        if (keeper->ios[d] == 0)
                return 0;
        uint64_t sectors = (keeper->bytes[d] / keeper->ios[d] + SECTOR_BYTES / 2) / SECTOR_BYTES;
        sectors = MAX(sectors, UINT64_C(1));
        return MIN(sectors, JOB_BLOCK_BYTES_MAX / SECTOR_BYTES) * SECTOR_BYTES;
}

/* What the other tool did as a phase, as far as it can be told: whether in random order is not. */
static void keeper_plan(Keeper *keeper) {
        bool reads = keeper->ios[DIRECTION_READ] > 0, writes = keeper->ios[DIRECTION_WRITE] > 0;
        PhasePlan *phase = &keeper->phase;

        *phase = (PhasePlan){
                .action = PHASE_ACTION_IO,
                .rw = reads && writes ? RW_RANDRW : reads ? RW_RANDREAD : RW_RANDWRITE,
                .region_bytes = keeper->recorded->capacity_bytes,
        };
        if (reads)
                phase->read_percent = (uint32_t) lround(100 * (double) keeper->ios[DIRECTION_READ] /
                                                        ((double) keeper->ios[DIRECTION_READ] +
                                                         (double) keeper->ios[DIRECTION_WRITE]));
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                phase->block_bytes[d] = block_bytes(keeper, d);
}

static int keeper_job(Keeper *keeper, Error *error) {
        _cleanup_free_ char *source = text_escape(keeper->recorded->source), *text = NULL;
        char *name = strdup(keeper->recorded->name);
        uint64_t bs = keeper->phase.block_bytes[keeper->phase.rw == RW_RANDREAD ? DIRECTION_READ : DIRECTION_WRITE];

        if (!source || !name ||
            asprintf(&text, "# recorded by another tool, imported from %s\n[import]\nrw=%s\nbs=%" PRIu64 "\n", source,
                     rw_mode_name(keeper->phase.rw), bs > 0 ? bs : BLOCK_BYTES_DEFAULT) < 0) {
                text = NULL;
                free(name);
                return -ENOMEM;
        }
        int r = job_parse(&keeper->job, "import", text, strlen(text), error);
        if (r < 0) {
                free(name);
                return r;
        }

        /* What no job file can say: any name, and any interval. */
        free(keeper->job->name);
        keeper->job->name = name;
        keeper->job->sample_interval_ns = keeper->recorded->interval_ns;
        return 0;
}

static int insert_run(Keeper *keeper, Error *error) {
        const RecordedRun *recorded = keeper->recorded;
        const Plan plan = { .n_phases = 1, .phases = &keeper->phase };
        const DeviceInfo device = {
                .path = (char *) recorded->device_path,
                .name = (char *) "",
                .disk_name = (char *) "",
                .serial = (char *) recorded->serial,
                .size_bytes = recorded->capacity_bytes,
        };
        const StoreNewRun run = {
                .job = keeper->job,
                .plan = &plan,
                .device = &device,
                .created_at_ns = keeper->started_at_ns,
                .boot_id = "",
                .host = "",
                .imported = true,
                .errors_unknown = true,
        };
        return store_insert_run(keeper->store, &run, &keeper->run, error);
}

/* The run is there, and failed, unless the rest follows. */
static int insert_head(Keeper *keeper, Error *error) {
        _cleanup_free_ char *detail = NULL;
        int64_t at_ns = keeper->started_at_ns;
        Store *store = keeper->store;

        if (asprintf(&detail, "imported from %s", keeper->recorded->source) < 0) {
                detail = NULL;
                return -ENOMEM;
        }
        int r = insert_run(keeper, error);
        if (r >= 0)
                r = store_set_run_state(store, keeper->run, RUN_RUNNING, at_ns, error);
        if (r >= 0)
                r = store_set_run_state(store, keeper->run, RUN_FAILED, at_ns, error);
        if (r >= 0)
                r = store_set_phase_state(store, keeper->run, 0, PHASE_RUNNING, at_ns, error);
        if (r >= 0)
                r = store_insert_event(store, keeper->run, at_ns, 0, EVENT_STARTED, detail, error);
        return r;
}

static void set_latency(Sample *sample, Direction d, uint64_t latency_ns, uint64_t count) {
        if (latency_ns > 0)
                sample->latency[d].buckets[histogram_bucket(latency_ns)] = count;
}

static int judge_sample(Keeper *keeper, Error *error) {
        char text[STEADY_DECISION_MAX];
        SteadyDecision decision = {};

        int r = steady_watch_add(&keeper->watch, keeper->sample, &decision);
        if (r <= STEADY_UNCHANGED)
                return r;
        return store_insert_event(keeper->store, keeper->run, keeper->sample->at_ns, keeper->sample->elapsed_ns,
                                  r == STEADY_DECLARED ? EVENT_STEADY : EVENT_STEADY_REVOKED,
                                  steady_decision_text(&keeper->watch, (SteadyChange) r, &decision, text), error);
}

static int insert_row(Keeper *keeper, size_t i, Error *error) {
        const RecordingRow *row = &keeper->recorded->rows[i];
        Sample *sample = keeper->sample;

        sample->seq = i;
        sample->at_ns = keeper->started_at_ns + (int64_t) row->to_ns;
        sample->elapsed_ns = row->to_ns;
        sample->duration_ns = row->to_ns - row->from_ns;
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                sample->ios[d] = row->ios[d];
                sample->bytes[d] = row->bytes[d];
                set_latency(sample, d, row->latency_ns[d], MAX(row->ios[d], UINT64_C(1)));
        }
        int r = store_insert_sample(keeper->store, keeper->run, sample, error);
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                set_latency(sample, d, row->latency_ns[d], 0);
        return r < 0 ? r : judge_sample(keeper, error);
}

static int insert_tail(Keeper *keeper, Error *error) {
        int64_t at_ns = keeper->started_at_ns + (int64_t) length_ns(keeper->recorded);
        char detail[64], span[TIME_SPAN_MAX];

        snprintf(detail, sizeof(detail), "imported %zu intervals, %s", keeper->recorded->n_rows,
                 time_format_span(length_ns(keeper->recorded), span));
        int r = store_set_phase_state(keeper->store, keeper->run, 0, PHASE_DONE, at_ns, error);
        if (r >= 0)
                r = store_set_run_state(keeper->store, keeper->run, RUN_DONE, at_ns, error);
        if (r >= 0)
                r = store_insert_event(keeper->store, keeper->run, at_ns, length_ns(keeper->recorded), EVENT_FINISHED,
                                       detail, error);
        return r;
}

static int insert_part(Keeper *keeper, size_t from, size_t to, Error *error) {
        int r = from == 0 ? insert_head(keeper, error) : 0;

        for (size_t i = from; r >= 0 && i < to; i++)
                r = insert_row(keeper, i, error);
        if (r >= 0 && to == keeper->recorded->n_rows)
                r = insert_tail(keeper, error);
        return r;
}

static int insert_all(Keeper *keeper, int interrupt_fd, Error *error) {
        size_t n = keeper->recorded->n_rows;

        for (size_t from = 0; from < n; from += SAMPLES_PER_TRANSACTION) {
                bool yields = from > 0 && store_service_is_alive(keeper->recorded->database);
                if (live_wait(interrupt_fd, yields ? SERVICE_TURN_MS : 0) > 0)
                        return -EINTR;
                int r = store_begin(keeper->store, error);
                if (r < 0)
                        return r;
                r = insert_part(keeper, from, MIN(from + SAMPLES_PER_TRANSACTION, n), error);
                if (r >= 0)
                        r = store_commit(keeper->store, error);
                if (r < 0) {
                        store_rollback(keeper->store);
                        /* The number went back with the rest, and may be another's by now. */
                        if (from == 0)
                                keeper->run = 0;
                        return r;
                }
        }
        return 0;
}

/* What is left is called failed; so this is worth a word and no more. */
static void remove_part(Keeper *keeper, Error *error) {
        _cleanup_error_ Error second = ERROR_INIT;

        if (keeper->run == 0)
                return;
        int r = store_begin(keeper->store, &second);
        if (r >= 0)
                r = store_delete_run(keeper->store, keeper->run, &second);
        if (r >= 0)
                r = store_commit(keeper->store, &second);
        if (r >= 0)
                return;
        store_rollback(keeper->store);
        error_prefix(error, "part of it remains as run %" PRIu32 ", which is called failed", keeper->run);
}

int recorded_run_insert(Store *store, const RecordedRun *recorded, int interrupt_fd, uint32_t *ret_run, Error *error) {
        _cleanup_(keeper_done) Keeper keeper = { .store = store, .recorded = recorded };

        keeper.sample = calloc(1, sizeof(Sample));
        if (!keeper.sample)
                return -ENOMEM;
        keeper.sample->cpu_percent = NAN;
        keeper.sample->temperature_c = NAN;
        keeper.started_at_ns = time_realtime_ns() - (int64_t) length_ns(recorded);
        keeper_sum(&keeper);
        keeper_plan(&keeper);
        int r = keeper_job(&keeper, error);
        if (r < 0)
                return r;

        /* Judged as the service judges a run that goes on. */
        Direction judged = keeper.phase.rw == RW_RANDREAD ? DIRECTION_READ : DIRECTION_WRITE;
        r = steady_watch_begin(&keeper.watch, judged, recorded->capacity_bytes, recorded->interval_ns, 0);
        if (r >= 0)
                r = insert_all(&keeper, interrupt_fd, error);
        if (r < 0) {
                remove_part(&keeper, error);
                return r;
        }
        *ret_run = keeper.run;
        return 0;
}

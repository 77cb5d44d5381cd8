/* SPDX-License-Identifier: MIT */

/*
 * Where nothing tells the time of day of a recording, it is taken to have just ended.
 *
 * What the other tool did is a job of as many phases as were told, so that it can be shown and judged like any other.
 */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/from-sample.h"
#include "live.h"
#include "output.h"
#include "phrase.h"
#include "recorded-run.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

#define ROWS_PER_LOOK 8192 /* some hundredths of a second: how long Ctrl-C waits, and how often progress is told */
#define SECTOR_BYTES 512
#define BLOCK_BYTES_DEFAULT UINT64_C(4096) /* where nothing was done */

typedef struct Keeper {
        Store *store;
        const RecordedRun *recorded;
        Job *job;
        StorePhase *phases; /* of which the totals are used */
        PhasePlan *plans;
        size_t n_phases;
        uint32_t run;
        int64_t begin_at_ns;
        double latency_ns, latency_ios; /* of the phase: sum of means times I/Os, and of those */
        SteadyWatch watch;
        Sample *sample;
        bool shows; /* progress */
} Keeper;

static void keeper_done(Keeper *keeper) {
        steady_watch_end(&keeper->watch);
        job_free(keeper->job);
        free(keeper->phases);
        free(keeper->plans);
        free(keeper->sample);
}

static const RecordingRow *last_row(const Keeper *keeper) {
        return &keeper->recorded->series->rows[keeper->recorded->series->n - 1];
}

/* --- what was done --- */

static uint64_t add_bounded(uint64_t a, uint64_t b) {
        return a > (uint64_t) INT64_MAX - MIN(b, (uint64_t) INT64_MAX) ? (uint64_t) INT64_MAX : a + b;
}

/* A phase's ramp goes on to the end of the last row that is told to be in it. */
static void find_ramps(Keeper *keeper) {
        const RecordingSeries *series = keeper->recorded->series;
        uint64_t began_ns = 0;

        for (size_t i = 0; i < series->n; i++) {
                const RecordingRow *row = &series->rows[i];

                if (i == 0 || row->phase != series->rows[i - 1].phase)
                        began_ns = row->from_ns;
                if (row->detail && row->detail->is_in_ramp)
                        keeper->phases[row->phase].ramp_ns = row->to_ns - began_ns;
        }
}

static void sum_up(Keeper *keeper) {
        const RecordingSeries *series = keeper->recorded->series;

        for (size_t i = 0; i < series->n; i++) {
                const RecordingRow *row = &series->rows[i];
                StorePhase *phase = &keeper->phases[row->phase];

                if (phase->n_samples++ == 0)
                        phase->first_elapsed_ns = row->from_ns;
                phase->elapsed_ns = row->to_ns - phase->first_elapsed_ns;
                phase->errors = add_bounded(phase->errors, row->detail ? row->detail->errors : 0);
                bool counts = !sample_ramp_holds(row->from_ns, phase->first_elapsed_ns, phase->ramp_ns);
                if (!counts)
                        phase->ramp_elapsed_ns = phase->elapsed_ns;
                for (Direction d = 0; d < N_DIRECTIONS; d++) {
                        phase->ios[d] = add_bounded(phase->ios[d], row->ios[d]);
                        phase->bytes[d] = add_bounded(phase->bytes[d], row->bytes[d]);
                        phase->counted_ios[d] = add_bounded(phase->counted_ios[d], counts ? row->ios[d] : 0);
                        phase->counted_bytes[d] = add_bounded(phase->counted_bytes[d], counts ? row->bytes[d] : 0);
                }
        }
}

static uint64_t block_bytes(const Keeper *keeper, const StorePhase *phase, Direction d) {
        if (keeper->recorded->block_bytes > 0)
                return keeper->recorded->block_bytes;
        if (phase->ios[d] == 0)
                return 0;
        uint64_t sectors = (phase->bytes[d] / phase->ios[d] + SECTOR_BYTES / 2) / SECTOR_BYTES;
        sectors = MAX(sectors, UINT64_C(1));
        return MIN(sectors, JOB_BLOCK_BYTES_MAX / SECTOR_BYTES) * SECTOR_BYTES;
}

/* As far as it can be told: whether in random order is not. */
static void plan_phase(const Keeper *keeper, size_t i) {
        StorePhase *phase = &keeper->phases[i];
        PhasePlan *plan = &keeper->plans[i];
        bool reads = phase->ios[DIRECTION_READ] > 0, writes = phase->ios[DIRECTION_WRITE] > 0;
        bool trims_only = phase->ios[DIRECTION_TRIM] > 0 && !reads && !writes;

        phase->index = (uint32_t) i;
        *plan = (PhasePlan){
                .index = (unsigned) i,
                .action = PHASE_ACTION_IO,
                .rw = trims_only ? RW_RANDTRIM : reads && writes ? RW_RANDRW : reads ? RW_RANDREAD : RW_RANDWRITE,
                .region_bytes = keeper->recorded->capacity_bytes,
                .workers = 1,
                .ramp_ns = phase->ramp_ns,
        };
        if (reads)
                plan->read_percent = (uint32_t) lround(100 * (double) phase->ios[DIRECTION_READ] /
                                                       ((double) phase->ios[DIRECTION_READ] +
                                                        (double) phase->ios[DIRECTION_WRITE]));
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                plan->block_bytes[d] = block_bytes(keeper, phase, d);
}

static int write_job(const Keeper *keeper, char **ret) {
        _cleanup_free_ char *source = text_escape(keeper->recorded->source);
        size_t length;

        FILE *f = source ? open_memstream(ret, &length) : NULL;
        if (!f)
                return -ENOMEM;
        fprintf(f, "# recorded by another tool, imported from %s\n", source);
        for (size_t i = 0; i < keeper->n_phases; i++) {
                const PhasePlan *plan = &keeper->plans[i];
                uint64_t bs = plan->block_bytes[rw_mode_direction(plan->rw)];

                if (keeper->n_phases == 1)
                        fputs("[import]\n", f);
                else
                        fprintf(f, "[phase-%zu]\n", i);
                fprintf(f, "rw=%s\nbs=%" PRIu64 "\n", rw_mode_name(plan->rw), bs > 0 ? bs : BLOCK_BYTES_DEFAULT);
        }
        return fclose(f) == 0 ? 0 : -ENOMEM;
}

static int make_job(Keeper *keeper, Error *error) {
        _cleanup_free_ char *text = NULL;

        int r = write_job(keeper, &text);
        if (r >= 0)
                r = job_parse(&keeper->job, "import", text, strlen(text), error);
        if (r < 0)
                return r;

        /* What no job file can say: any name, and any interval. */
        char *name = strdup(keeper->recorded->name);
        if (!name)
                return -ENOMEM;
        free(keeper->job->name);
        keeper->job->name = name;
        keeper->job->sample_interval_ns = keeper->recorded->series->interval_ns;
        return 0;
}

static int keeper_prepare(Keeper *keeper, Error *error) {
        const RecordingRow *first = keeper->recorded->series->rows;

        keeper->n_phases = (size_t) last_row(keeper)->phase + 1;
        keeper->phases = calloc(keeper->n_phases, sizeof(StorePhase));
        keeper->plans = calloc(keeper->n_phases, sizeof(PhasePlan));
        keeper->sample = calloc(1, sizeof(Sample));
        if (!keeper->phases || !keeper->plans || !keeper->sample)
                return -ENOMEM;
        find_ramps(keeper);
        sum_up(keeper);
        for (size_t i = 0; i < keeper->n_phases; i++)
                plan_phase(keeper, i);
        if (first->detail && first->detail->has_at)
                keeper->begin_at_ns = first->detail->at_ns - (int64_t) first->to_ns;
        else if (keeper->recorded->series->begin_at_ns > 0)
                keeper->begin_at_ns = keeper->recorded->series->begin_at_ns;
        else
                keeper->begin_at_ns = time_realtime_ns() - (int64_t) last_row(keeper)->to_ns;
        return make_job(keeper, error);
}

/* --- the run --- */

static int insert_run(Keeper *keeper, Error *error) {
        const RecordedRun *recorded = keeper->recorded;
        const Plan plan = { .n_phases = keeper->n_phases, .phases = keeper->plans };
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
                .created_at_ns = keeper->begin_at_ns,
                .boot_id = "",
                .host = "",
                .imported = true,
                .errors_unknown = !recorded->series->errors_known,
        };
        return store_insert_run(keeper->store, &run, &keeper->run, error);
}

static int insert_event(Keeper *keeper, EventKind kind, int64_t at_ns, uint64_t elapsed_ns, char *detail,
                        Error *error) {
        _cleanup_free_ char *text = detail;

        return text ? store_insert_event(keeper->store, keeper->run, at_ns, elapsed_ns, kind, text, error) : -ENOMEM;
}

static int insert_head(Keeper *keeper, Error *error) {
        uint64_t assumed = keeper->recorded->series->assumed_block_bytes;
        char *detail, size[TEXT_SIZE_MAX];

        if (asprintf(&detail, assumed > 0 ? "imported from %s; I/Os of %s are assumed" : "imported from %s",
                     keeper->recorded->source, text_format_size(assumed, size)) < 0)
                return -ENOMEM;
        int r = insert_run(keeper, error);
        if (r < 0) {
                free(detail);
                return r;
        }
        r = insert_event(keeper, EVENT_STARTED, keeper->begin_at_ns, 0, detail, error);
        if (r >= 0)
                r = store_set_run_state(keeper->store, keeper->run, RUN_RUNNING, keeper->begin_at_ns, error);
        return r;
}

static int insert_tail(Keeper *keeper, Error *error) {
        uint64_t elapsed_ns = last_row(keeper)->to_ns;
        int64_t at_ns = keeper->sample->at_ns;
        char *detail, span[TIME_SPAN_MAX];

        if (asprintf(&detail, "imported %zu interval%s, %s", keeper->recorded->series->n,
                     plural(keeper->recorded->series->n),
                     time_format_span(elapsed_ns, span)) < 0)
                return -ENOMEM;
        int r = insert_event(keeper, EVENT_FINISHED, at_ns, elapsed_ns, detail, error);
        if (r >= 0)
                r = store_set_run_state(keeper->store, keeper->run, RUN_DONE, at_ns, error);
        return r;
}

/* --- phases --- */

/* Why, where jobs ended or began; otherwise the recording told of phases. */
static const RecordingChange *find_change(const Keeper *keeper, uint32_t phase) {
        const RecordingSeries *series = keeper->recorded->series;

        return phase > 0 && phase <= series->n_changes ? &series->changes[phase - 1] : NULL;
}

static int begin_phase(Keeper *keeper, const RecordingRow *row, int64_t at_ns, Error *error) {
        const RecordedRun *recorded = keeper->recorded;
        uint32_t index = row->phase;
        char *detail;

        keeper->latency_ns = keeper->latency_ios = 0;
        int r = store_set_phase_state(keeper->store, keeper->run, index, PHASE_RUNNING, at_ns, error);
        if (r >= 0 && keeper->n_phases > 1) {
                const RecordingChange *change = find_change(keeper, index);
                if (asprintf(&detail, "%" PRIu32 " '%s' begins%s%s", index, keeper->job->phases[index].name,
                             change ? ": " : "", change ? change->text : "") < 0)
                        return -ENOMEM;
                r = insert_event(keeper, EVENT_PHASE, at_ns, row->from_ns, detail, error);
        }
        /* Judged as the service judges a run that goes on. */
        if (r >= 0)
                r = steady_watch_begin(&keeper->watch, rw_mode_direction(keeper->plans[index].rw),
                                       recorded->capacity_bytes, recorded->series->interval_ns, row->from_ns);
        return r;
}

static int end_phase(Keeper *keeper, Error *error) {
        StorePhase *phase = &keeper->phases[keeper->sample->phase];

        phase->latency_mean_ns = keeper->latency_ios > 0 ? (uint64_t) (keeper->latency_ns / keeper->latency_ios) : 0;
        int r = store_set_imported_totals(keeper->store, keeper->run, phase, error);
        if (r >= 0)
                r = store_set_phase_state(keeper->store, keeper->run, phase->index, PHASE_DONE,
                                          keeper->sample->at_ns, error);
        return r;
}

/* --- samples --- */

static StoreLatency latency_of(const RecordingRow *row) {
        const RecordingDetail *detail = row->detail;
        StoreLatency latency = {};
        double sum_ns = 0, n = 0;

        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                /* A latency without I/Os can be plotted all the same. */
                double ios = row->latency_ns[d] > 0 ? (double) MAX(row->ios[d], UINT64_C(1)) : 0;
                latency.direction_mean_ns[d] = row->latency_ns[d];
                sum_ns += ios * (double) row->latency_ns[d];
                n += ios;
        }
        latency.mean_ns = detail && detail->latency_mean_ns > 0 ? detail->latency_mean_ns
                                                                : n > 0 ? (uint64_t) (sum_ns / n) : 0;
        if (detail && detail->has_percentiles) {
                latency.known = true;
                latency.p50_ns = detail->latency_p50_ns;
                latency.p99_ns = detail->latency_p99_ns;
                latency.max_ns = detail->latency_max_ns;
        }
        return latency;
}

static void set_sample(Keeper *keeper, size_t i) {
        static const RecordingDetail nothing = {
                .cpu_percent = NAN,
                .worker_cpu_percent = NAN,
                .ring_cpu_percent = NAN,
                .held_percent = NAN,
                .temperature_c = NAN,
        };
        const RecordingRow *row = &keeper->recorded->series->rows[i];
        const RecordingDetail *detail = row->detail ?: &nothing;
        Sample *sample = keeper->sample;

        sample->seq = i;
        sample->phase = row->phase;
        sample->elapsed_ns = row->to_ns;
        sample->duration_ns = row->to_ns - row->from_ns;
        sample->at_ns = detail->has_at ? detail->at_ns
                                       : (i > 0 ? sample->at_ns : keeper->begin_at_ns) + (int64_t) sample->duration_ns;
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                sample->ios[d] = row->ios[d];
                sample->bytes[d] = row->bytes[d];
        }
        sample->errors = detail->errors;
        sample->in_flight = detail->in_flight;
        sample->oldest_ns = detail->oldest_ns;
        sample->cpu_percent = detail->cpu_percent;
        sample->worker_cpu_percent = detail->worker_cpu_percent;
        sample->ring_cpu_percent = detail->ring_cpu_percent;
        sample->held_percent = detail->held_percent;
        sample->temperature_c = detail->temperature_c;
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
        const RecordingRow *row = &keeper->recorded->series->rows[i];
        const StorePhase *phase = &keeper->phases[row->phase];
        StoreLatency latency = latency_of(row);
        Sample *sample = keeper->sample;
        int r = 0;

        bool begins = i == 0 || row->phase != sample->phase;
        if (begins && i > 0)
                r = end_phase(keeper, error);
        set_sample(keeper, i);
        if (r >= 0 && begins)
                r = begin_phase(keeper, row, sample->at_ns - (int64_t) sample->duration_ns, error);
        if (r >= 0)
                r = store_insert_imported_sample(keeper->store, keeper->run, sample, &latency, error);
        if (sample_ramp_holds(row->from_ns, phase->first_elapsed_ns, phase->ramp_ns))
                return r;
        if (latency.mean_ns > 0) {
                double ios = 0;
                for (Direction d = 0; d < N_DIRECTIONS; d++)
                        ios += (double) row->ios[d];
                keeper->latency_ns += (double) latency.mean_ns * fmax(ios, 1);
                keeper->latency_ios += fmax(ios, 1);
        }
        return r < 0 ? r : judge_sample(keeper, error);
}

static void show_progress(const Keeper *keeper, size_t i) {
        char done[TEXT_SIZE_MAX], all[TEXT_SIZE_MAX];

        if (keeper->shows)
                fprintf(stderr, "\r\033[Kimported %s of %s intervals", text_format_count((double) i, done),
                        text_format_count((double) keeper->recorded->series->n, all));
}

static int insert_rows(Keeper *keeper, int interrupt_fd, Error *error) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < keeper->recorded->series->n; i++) {
                if (i > 0 && i % ROWS_PER_LOOK == 0) {
                        show_progress(keeper, i);
                        if (live_wait(interrupt_fd, 0) > 0)
                                return -EINTR;
                }
                r = insert_row(keeper, i, error);
        }
        return r < 0 ? r : end_phase(keeper, error);
}

/* Another import may write for longer than the store waits for its turn. */
static int wait_for_turn(const Keeper *keeper, int interrupt_fd, Error *error) {
        for (bool told = false;; told = true) {
                _cleanup_error_ Error now = ERROR_INIT;
                int r = store_begin(keeper->store, &now);
                if (r != -EBUSY) {
                        if (r < 0)
                                error_move(error, &now);
                        return r;
                }
                if (!told)
                        output_notice("another program writes to the database; waiting for it to end");
                if (live_wait(interrupt_fd, 0) > 0)
                        return -EINTR;
        }
}

static int insert_all(Keeper *keeper, int interrupt_fd, Error *error) {
        int r = wait_for_turn(keeper, interrupt_fd, error);
        if (r < 0)
                return r;
        r = insert_head(keeper, error);
        if (r >= 0)
                r = insert_rows(keeper, interrupt_fd, error);
        if (r >= 0)
                r = insert_tail(keeper, error);
        if (r >= 0 && live_wait(interrupt_fd, 0) > 0)
                r = -EINTR; /* it was told while it waited for its turn, and got that all the same */
        if (r >= 0)
                r = store_commit(keeper->store, error);
        if (r < 0)
                store_rollback(keeper->store);
        return r;
}

int recorded_run_insert(Store *store, const RecordedRun *recorded, int interrupt_fd, uint32_t *ret_run, Error *error) {
        _cleanup_(keeper_done) Keeper keeper = { .store = store, .recorded = recorded, .shows = isatty(STDERR_FILENO) };

        int r = keeper_prepare(&keeper, error);
        if (r >= 0)
                r = insert_all(&keeper, interrupt_fd, error);
        if (keeper.shows)
                fputs("\r\033[K", stderr);
        if (r >= 0)
                *ret_run = keeper.run;
        return MIN(r, 0);
}

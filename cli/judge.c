/* SPDX-License-Identifier: MIT */

/*
 * Counts are read without histograms: these are most of a database, and a curve needs none. So ten
 * hours are judged while a person presses a key.
 */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/from-sample.h"
#include "judge.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

/* --- which phase --- */

/* The longest of those that moved something in this direction; NULL if none did. */
static const StorePhase *longest_phase(const QueryPhases *phases, Direction direction) {
        const StorePhase *longest = NULL;

        for (size_t i = 0; i < phases->n; i++) {
                const StorePhase *phase = &phases->items[i];

                if (phase->counted_ios[direction] > 0 && (!longest || phase->elapsed_ns > longest->elapsed_ns))
                        longest = phase;
        }
        return longest;
}

static const StorePhase *find_phase(const QueryPhases *phases, int64_t index) {
        for (size_t i = 0; i < phases->n; i++)
                if (phases->items[i].index == index)
                        return &phases->items[i];
        return NULL;
}

static int choose_phase(Judgement *j, const Arguments *arguments, Error *error) {
        int64_t index;
        int r = query_phase(arguments, j->run.id, j->phases.items, j->phases.n, &index, error);

        if (r < 0)
                return r;
        if (j->phases.n == 0)
                return error_set(error, ERROR_NOT_FOUND, ENOENT, "run %" PRIu32 " has no phase", j->run.id);

        if (index >= 0)
                j->phase = find_phase(&j->phases, index);
        else
                j->phase = longest_phase(&j->phases, DIRECTION_WRITE) ?: longest_phase(&j->phases, DIRECTION_READ)
                           ?: longest_phase(&j->phases, DIRECTION_TRIM) ?: &j->phases.items[0];

        j->direction = rw_mode_direction(j->phase->rw);
        if (j->phase->counted_ios[j->direction] == 0 && j->phase->counted_ios[DIRECTION_READ] > 0)
                j->direction = DIRECTION_READ;
        return 0;
}

/* --- its curve --- */

typedef struct Loader {
        Judgement *judgement;
        Cuts cuts;
        size_t n_allocated;
} Loader;

static int on_sample(const Sample *sample, const StoreLatency *latency, void *userdata) {
        Loader *loader = userdata;
        Judgement *j = loader->judgement;

        j->temperature_max_c = fmax(j->temperature_max_c, sample->temperature_c);
        if (sample_ramp_holds(sample_began_ns(sample), j->phase->first_elapsed_ns, j->phase->ramp_ns))
                return 0;
        if (sample_host_limit(sample) != HOST_LIMIT_NONE)
                j->host_limited_ns += sample->duration_ns;
        if (sample->duration_ns == 0)
                return 0; /* what completed in no time makes no rate */

        if (j->n_points == loader->n_allocated) {
                size_t wanted = MAX((size_t) 4096, loader->n_allocated * 2);
                SeriesPoint *grown = reallocarray(j->points, wanted, sizeof(*grown));
                if (!grown)
                        return -ENOMEM;
                j->points = grown;
                loader->n_allocated = wanted;
        }
        j->points[j->n_points++] = series_point_from_sample(sample, j->direction, j->phase->first_elapsed_ns,
                                                            cuts_hold(&loader->cuts, sample));
        return 0;
}

static int compare_u64(const void *a, const void *b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
        return (x > y) - (x < y);
}

static bool ends_run(EventKind kind) {
        return kind == EVENT_FINISHED || kind == EVENT_REFUSED || kind == EVENT_LOST;
}

/* Of several the last: a run that was refused once may have been taken up later. */
static int load_end(Judgement *j, const StoreEvent *events, size_t n_events) {
        const char *detail = NULL;

        for (size_t i = 0; i < n_events && run_state_is_final(j->run.state); i++)
                if (ends_run(events[i].kind) && *events[i].detail != '\0')
                        detail = events[i].detail;
        if (!detail)
                return 0;
        j->end_detail = strdup(detail);
        return j->end_detail ? 0 : -ENOMEM;
}

static int load_points(Judgement *j, Store *store, const StoreEvent *events, size_t n_events, Error *error) {
        _cleanup_free_ uint64_t *cuts_ns = calloc(MAX(n_events, (size_t) 1), sizeof(uint64_t));
        Loader loader = { .judgement = j, .cuts = { .at_ns = cuts_ns } };
        const StoreSampleQuery query = { .run = j->run.id, .phase = j->phase->index, .to_ns = UINT64_MAX };

        if (!cuts_ns)
                return -ENOMEM;
        for (size_t i = 0; i < n_events; i++) {
                if (event_kind_cuts(events[i].kind))
                        cuts_ns[loader.cuts.n++] = events[i].elapsed_ns;
                if (events[i].kind == EVENT_READ_ONLY)
                        j->read_only = true;
        }
        qsort(cuts_ns, loader.cuts.n, sizeof(uint64_t), compare_u64);
        return store_each_sample(store, &query, on_sample, &loader, error);
}

static int load(Judgement *j, Store *store, const Arguments *arguments, const char *which, Error *error) {
        StoreEvent *events = NULL;
        size_t n_events = 0;
        uint32_t id;

        int r = store_find_run(store, which, &id, error);
        if (r >= 0)
                r = store_get_run(store, id, &j->run, error);
        if (r >= 0)
                r = store_get_phases(store, id, &j->phases.items, &j->phases.n, error);
        if (r >= 0)
                r = choose_phase(j, arguments, error);
        if (r >= 0)
                r = store_get_events(store, id, &events, &n_events, error);
        if (r >= 0)
                r = load_end(j, events, n_events);
        if (r >= 0)
                r = load_points(j, store, events, n_events, error);
        store_events_free(events, n_events);
        return r;
}

int judge_run(Judgement *ret, Store *store, const Arguments *arguments, const char *which, Error *error) {
        Judgement j = { .temperature_max_c = NAN };

        int r = load(&j, store, arguments, which, error);
        if (r >= 0)
                r = series_init(&j.series, j.points, j.n_points);
        if (r >= 0)
                r = analysis_new(&j.analysis, &j.series, j.run.size_bytes);
        if (r < 0) {
                judgement_clear(&j);
                return r;
        }
        *ret = j;
        return 0;
}

int judge_runs(Cli *cli, const Arguments *arguments, size_t item_size, JudgeLook *look, void **items, size_t *n,
               Error *error) {
        _cleanup_store_ Store *store = NULL;

        int r = store_open_reader(&store, cli->database, error);
        if (r < 0)
                return r;
        *items = calloc(arguments->n_words, item_size);
        if (!*items)
                return -ENOMEM;
        while (r >= 0 && *n < arguments->n_words) {
                size_t i = (*n)++;
                r = look((uint8_t *) *items + i * item_size, store, arguments, arguments->words[i], error);
        }
        return r;
}

void judgement_clear(Judgement *judgement) {
        store_run_clear(&judgement->run);
        query_phases_clear(&judgement->phases);
        free(judgement->end_detail);
        free(judgement->points);
        series_done(&judgement->series);
        analysis_free(judgement->analysis);
        *judgement = (Judgement) {};
}

/* --- what it tells --- */

/* The smallest block of a mix is recorded, which tells nothing of it. */
#define MIXED_SIZES_RATIO 1.01

char *judgement_title(const Judgement *j) {
        const StoreRun *run = &j->run;
        const StorePhase *phase = j->phase;
        _cleanup_free_ char *text = NULL;
        char bs[TEXT_SIZE_MAX], span[TIME_SPAN_MAX];
        double mean_bytes = judgement_bytes_per_io(j), block_bytes = (double) phase->block_bytes[j->direction];
        bool mixed = mean_bytes > block_bytes * MIXED_SIZES_RATIO;

        if (asprintf(&text, "run %" PRIu32 " %s%s%s%s%s%s%s%s%s, phase '%s': %ss of %s%s, %s", run->id, run->name,
                     run->label ? ", " : "", run->label ?: "", *run->device_path ? " on " : "", run->device_path,
                     run->model ? ", " : "", run->model ?: "", run->serial ? ", serial " : "", run->serial ?: "",
                     phase->name, direction_name(j->direction),
                     text_format_size(mixed ? (uint64_t) mean_bytes : phase->block_bytes[j->direction], bs),
                     mixed ? " on average" : "", time_format_span(phase->elapsed_ns, span)) < 0) {
                text = NULL;
                return NULL;
        }
        return text_escape(text);
}

double judgement_fills(const Judgement *j, double bytes) {
        return j->run.size_bytes > 0 ? bytes / (double) j->run.size_bytes : NAN;
}

double judgement_bytes_per_io(const Judgement *j) {
        uint64_t ios = j->phase->ios[j->direction];

        return ios > 0 ? (double) j->phase->bytes[j->direction] / (double) ios : NAN;
}

void judgement_add_json(json_object *object, const Judgement *j) {
        json_add_u64(object, "run", j->run.id);
        json_add_string(object, "name", j->run.name);
        json_add_string(object, "label", j->run.label);
        json_add_string(object, "phase", j->phase->name);
        json_add_u64(object, "phase_index", j->phase->index);
        json_add_string(object, "direction", direction_name(j->direction));
        json_add_seconds(object, "host_limited_s", j->host_limited_ns);
}

/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "output.h"
#include "query.h"
#include "util/macro.h"
#include "util/parse.h"
#include "util/time.h"

int query_open_run(const Cli *cli, const char *which, Store **ret_store, uint32_t *ret_run, Error *error) {
        _cleanup_store_ Store *store = NULL;

        int r = store_open_reader(&store, cli->database, error);
        if (r < 0)
                return r;
        r = store_find_run(store, which ?: "last", ret_run, error);
        if (r < 0)
                return r;
        *ret_store = TAKE_PTR(store);
        return 0;
}

static json_object *device_json(const StoreRun *run) {
        json_object *device = json_object_new_object();

        if (!device)
                return NULL;
        json_add_string(device, "path", run->device_path);
        json_add_string(device, "model", run->model);
        json_add_string(device, "serial", run->serial);
        json_add_string(device, "wwn", run->wwn);
        json_add_u64(device, "size_bytes", run->size_bytes);
        return device;
}

double query_iops(const StoreRun *run) {
        return run_state_is_active(run->state) ? run->last_iops : run->mean_iops;
}

json_object *query_run_json(const StoreRun *run) {
        json_object *row = json_object_new_object(), *device = device_json(run);

        if (!row || !device) {
                json_object_put(row);
                json_object_put(device);
                return NULL;
        }
        json_add_u64(row, "run", run->id);
        json_add_string(row, "name", run->name);
        json_add_string(row, "label", run->label);
        json_add_string(row, "state", run_state_name(run->state));
        json_add_string(row, "waits_for", run->waits_for);
        json_add(row, "device", device);
        json_add_string(row, "phase", run->phase_name);
        json_add_time(row, "created_at", run->created_at_ns);
        json_add_time(row, "started_at", run->started_at_ns);
        json_add_time(row, "finished_at", run->finished_at_ns);
        json_add_seconds(row, "elapsed_s", run->elapsed_ns);
        if (run->has_planned_time)
                json_add_seconds(row, "planned_s", run->planned_ns);
        else
                json_add_null(row, "planned_s");
        json_add_double(row, "iops", query_iops(run));
        json_add_u64_if(row, "io_errors", run->errors_known, run->io_errors);
        json_add_u64_if(row, "verify_errors", run->is_verified, run->verify_errors);
        return row;
}

int query_span(const Arguments *arguments, const char *name, uint64_t otherwise, uint64_t *ret_ns, Error *error) {
        const char *value = arguments_value(arguments, name);

        if (!value) {
                *ret_ns = otherwise;
                return 0;
        }
        if (parse_span(value, ret_ns) < 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "--%s %s: not a time; expected seconds, or as in 6.5, 250ms, 15m, 1.5h", name, value);
        return 0;
}

int query_range(const Arguments *arguments, uint64_t *ret_from_ns, uint64_t *ret_to_ns, Error *error) {
        uint64_t from_ns, to_ns;

        int r = query_span(arguments, "from", 0, &from_ns, error);
        if (r >= 0)
                r = query_span(arguments, "to", UINT64_MAX, &to_ns, error);
        if (r < 0)
                return r;
        if (from_ns > to_ns)
                return error_set(error, ERROR_USAGE, EINVAL, "--from %s comes after --to %s",
                                 arguments_value(arguments, "from"), arguments_value(arguments, "to"));
        *ret_from_ns = from_ns;
        *ret_to_ns = to_ns;
        return 0;
}

void query_tell_range(const StoreRun *run, uint64_t from_ns, uint64_t to_ns) {
        bool goes_on = !run_state_is_final(run->state);
        char span[TIME_SPAN_MAX];

        time_format_span(run->elapsed_ns, span);
        if (from_ns > run->elapsed_ns)
                output_notice("run %" PRIu32 " is %s long%s: there is nothing after --from", run->id, span,
                              goes_on ? " so far" : "");
        else if (to_ns != UINT64_MAX && to_ns > run->elapsed_ns && !goes_on)
                output_notice("run %" PRIu32 " is %s long, and ends before --to", run->id, span);
}

int query_phase(const Arguments *arguments, uint32_t run, const StorePhase *phases, size_t n_phases,
                int64_t *ret_index, Error *error) {
        const char *value = arguments_value(arguments, "phase");
        _cleanup_free_ const char **names = NULL;
        uint64_t index;

        if (!value) {
                *ret_index = -1;
                return 0;
        }
        names = calloc(n_phases + 1, sizeof(*names));
        if (!names)
                return -ENOMEM;

        for (size_t i = 0; i < n_phases; i++) {
                names[i] = phases[i].name;
                if (strcmp(phases[i].name, value) == 0) {
                        *ret_index = phases[i].index;
                        return 0;
                }
        }
        if (parse_u64(value, &index) == 0 && index < n_phases) {
                *ret_index = (int64_t) index;
                return 0;
        }

        const char *nearest = nearest_word(value, names, n_phases);
        if (nearest)
                return error_set(error, ERROR_USAGE, EINVAL, "no phase '%s' in run %" PRIu32 "; did you mean '%s'?",
                                 value, run, nearest);
        return error_set(error, ERROR_USAGE, EINVAL, "no phase '%s' in run %" PRIu32 "; 'plateau show' lists its %zu",
                         value, run, n_phases);
}

uint64_t query_sum(const uint64_t values[static N_DIRECTIONS]) {
        uint64_t sum = 0;

        for (Direction d = 0; d < N_DIRECTIONS; d++)
                sum += values[d];
        return sum;
}

double query_rate(uint64_t amount, uint64_t duration_ns) {
        return duration_ns > 0 ? (double) amount * (double) NSEC_PER_SEC / (double) duration_ns : NAN;
}

void query_add_percentile(json_object *object, const char *key, const Histogram *latency, double fraction) {
        uint64_t ns;

        if (latency && histogram_percentile(latency, fraction, &ns) == 0)
                json_add_u64(object, key, ns);
        else
                json_add_null(object, key);
}

void query_add_latency_max(json_object *object, const char *key, const Histogram *latency) {
        uint64_t ns;

        if (latency && histogram_max(latency, &ns) == 0)
                json_add_u64(object, key, ns);
        else
                json_add_null(object, key);
}

const char *query_phase_state_name(const StoreRun *run, const StorePhase *phase) {
        if (run->state == RUN_INTERRUPTED && phase->state == PHASE_STOPPED)
                return run_state_name(RUN_INTERRUPTED);
        return phase_state_name(phase->state);
}

void query_phases_clear(QueryPhases *phases) {
        store_phases_free(phases->items, phases->n);
        *phases = (QueryPhases) {};
}

bool query_ramp_holds(const QueryPhases *phases, const Sample *sample) {
        if (sample->phase >= phases->n)
                return false;
        const StorePhase *phase = &phases->items[sample->phase];
        return sample_ramp_holds(sample_began_ns(sample), phase->first_elapsed_ns, phase->ramp_ns);
}

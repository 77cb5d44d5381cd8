/* SPDX-License-Identifier: MIT */
#pragma once

/* What the verbs that read the database share. */

#include "cli.h"
#include "render/json.h"
#include "store/store.h"

/* Opens the database named by --db for reading and finds run `which` ("7", "last"; NULL: last). */
int query_open_run(const Cli *cli, const char *which, Store **ret_store, uint32_t *ret_run, Error *error);

/* What `list` calls a run's IOPS, all directions: of the newest sample while it runs, else its mean; NaN: no sample. */
double query_iops(const StoreRun *run);

/* list's row of a run; NULL: no memory. */
json_object *query_run_json(const StoreRun *run);

/* --NAME as a span of running time in ns, or `otherwise` if it is not given. */
int query_span(const Arguments *arguments, const char *name, uint64_t otherwise, uint64_t *ret_ns, Error *error);

/* --from and --to, from 0 to UINT64_MAX without them; ERROR_USAGE if they are the wrong way round. */
int query_range(const Arguments *arguments, uint64_t *ret_from_ns, uint64_t *ret_to_ns, Error *error);

/* Says, as a notice, if the range that was asked for goes beyond the end of the run: it may be meant, or mistyped. */
void query_tell_range(const StoreRun *run, uint64_t from_ns, uint64_t to_ns);

/*
 * --phase: the name of a phase, or its index from 0; *ret_index is -1 without the option. ERROR_USAGE with the nearest
 * name for an unknown one.
 */
int query_phase(const Arguments *arguments, uint32_t run, const StorePhase *phases, size_t n_phases,
                int64_t *ret_index, Error *error);

/* What has been done per second of `duration_ns`; NaN for no time. */
double query_rate(uint64_t amount, uint64_t duration_ns);

/* Of all directions: trims move no data, but are what a drive is asked to do like any other I/O. */
uint64_t query_sum(const uint64_t values[static N_DIRECTIONS]);

/* A percentile for JSON: null if nothing was counted. */
void query_add_percentile(json_object *object, const char *key, const Histogram *latency, double fraction);
void query_add_latency_max(json_object *object, const char *key, const Histogram *latency);

/* As it is told: a phase that was broken off is interrupted, not stopped, as long as its run can still go on. */
const char *query_phase_state_name(const StoreRun *run, const StorePhase *phase);

/* Phases and their number, for a scope. */
typedef struct QueryPhases {
        StorePhase *items;
        size_t n;
} QueryPhases;
void query_phases_clear(QueryPhases *phases);
#define _cleanup_query_phases_ _cleanup_(query_phases_clear)

/* Whether a sample is in the ramp of its phase; phases: all of its run. */
bool query_ramp_holds(const QueryPhases *phases, const Sample *sample);

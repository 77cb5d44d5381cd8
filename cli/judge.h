/* SPDX-License-Identifier: MIT */
#pragma once

/* One phase of a run as its curve shows it: what analyze, compare and verdict have in common. */

#include "analysis/analysis.h"
#include "query.h"

typedef struct Judgement {
        StoreRun run;
        QueryPhases phases;
        const StorePhase *phase; /* the judged one, of phases */
        Direction direction;     /* writes, or reads if nothing was written */
        bool read_only;          /* the device became so during the run */
        char *end_detail;        /* of the event that tells how the run ended; NULL: none does */

        SeriesPoint *points; /* of the phase behind its ramp, cuts marked; times are seconds of its running time */
        size_t n_points;
        double temperature_max_c; /* NaN: not recorded */
        uint64_t host_limited_ns; /* the host, not the drive, set the pace (sample_host_limit()) */

        Series series;
        Analysis *analysis;
} Judgement;

/*
 * Judges --phase of run `which` ("7", "last"), or the longest phase that wrote (if none wrote, that read). Samples that
 * hold a pause or an outage, or end or begin with one, or in which the host had no time for the run, are cut out.
 */
int judge_run(Judgement *ret, Store *store, const Arguments *arguments, const char *which, Error *error);

/*
 * What a verb makes of a run named on the command line; item is zeros at first, and is to be cleared whatever comes
 * back.
 */
typedef int JudgeLook(void *item, Store *store, const Arguments *arguments, const char *which, Error *error);

/*
 * Has each run named looked at, in the order of the words, into *items (newly allocated, n_words of item_size), and
 * counts in *n those that are to be cleared: on failure, too.
 */
int judge_runs(Cli *cli, const Arguments *arguments, size_t item_size, JudgeLook *look, void **items, size_t *n,
               Error *error);

void judgement_clear(Judgement *judgement);
#define _cleanup_judgement_ _cleanup_(judgement_clear)

/*
 * "run 7 sandforce on /dev/sdx, Force, serial S1, phase 'burn': writes of 4 KiB, 10 h 0 min". Escaped, newly
 * allocated; NULL: no memory.
 */
char *judgement_title(const Judgement *judgement);

/* What the phase moved in the judged direction, in capacities of the device; NaN if that is unknown. */
double judgement_fills(const Judgement *judgement, double bytes);

/* The mean size of its I/Os in the judged direction; NaN if there were none. */
double judgement_bytes_per_io(const Judgement *judgement);

/* What all documents about a judged phase begin with: run, name, label, phase (its name), phase_index, direction,
 * host_limited_s. */
void judgement_add_json(json_object *object, const Judgement *judgement);

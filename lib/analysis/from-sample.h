/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Samples of one phase, in order -> what the analysis works on, and the online decision over them: the same for a run
 * that is going on, one in the database and one that is imported. A phase is judged by one direction, never by the sum.
 */

#include "analysis/online.h"
#include "analysis/series.h"
#include "sample/sample.h"

/*
 * Times of the point are seconds of the phase, which began when the run's running time was begin_ns. cut: a pause or an
 * outage lies in the sample or at one of its ends.
 */
SeriesPoint series_point_from_sample(const Sample *sample, Direction direction, uint64_t begin_ns, bool cut);

typedef struct SteadyWatch {
        SteadyDetector *detector; /* NULL: watches nothing */
        Direction direction;
        uint64_t begin_ns;
        bool cut; /* the next sample */
} SteadyWatch;

/*
 * Forgets the phase before, and watches the one that begins at begin_ns of the run's running time. capacity_bytes: of
 * the target, 0 if unknown; interval_ns: usual length of a sample, not 0. -ENOMEM: it then watches nothing.
 */
int steady_watch_begin(SteadyWatch *watch, Direction direction, uint64_t capacity_bytes, uint64_t interval_ns,
                       uint64_t begin_ns);

/* The run was paused, or something other than the drive held it up: what comes next is not the drive's doing. */
void steady_watch_cut(SteadyWatch *watch);

/* The next sample. A SteadyChange (*ret is filled unless STEADY_UNCHANGED); or -ENOMEM, and it watches nothing more. */
int steady_watch_add(SteadyWatch *watch, const Sample *sample, SteadyDecision *ret);

void steady_watch_end(SteadyWatch *watch);

#define STEADY_DECISION_MAX 160
/* The detail of an event steady or steady-revoked. Returns buf. */
const char *steady_decision_text(const SteadyWatch *watch, SteadyChange change, const SteadyDecision *decision,
                                 char buf[static STEADY_DECISION_MAX]);

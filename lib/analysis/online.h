/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The steady state while a run goes on: declared when it holds, revoked when it proves to have been none. Constant time
 * a sample, amortised: of each ten seconds the level is kept, and all of them are looked at for drift and cycle when a
 * tenth more have come, if all else holds.
 *
 * Rounds of at least a minute and a fifth of the target's capacity; ten of them are two fills. After a
 * declaration a two-sided CUSUM with the drift of 7.5 % on ln IOPS watches for the level to be left.
 */

#include <stdint.h>

#include "analysis/series.h"

typedef struct SteadyDetector SteadyDetector;

typedef enum SteadyChange {
        STEADY_UNCHANGED,
        STEADY_DECLARED,
        STEADY_REVOKED,
} SteadyChange;

/* What was decided last: of the declaration, or the one that was revoked. Times are seconds of the phase. */
typedef struct SteadyDecision {
        double at_s;    /* when it was decided */
        double since_s; /* start of the five rounds that passed */
        double iops;    /* their level */
} SteadyDecision;

/* capacity_bytes: of the target, 0 if unknown; step_s: usual length of a sample. -ENOMEM. */
int steady_detector_new(SteadyDetector **ret, uint64_t capacity_bytes, double step_s);
SteadyDetector *steady_detector_free(SteadyDetector *detector);

/* The next sample of the phase. A SteadyChange (*ret is filled unless it is STEADY_UNCHANGED), or -ENOMEM. */
int steady_detector_add(SteadyDetector *detector, const SeriesPoint *point, SteadyDecision *ret);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One phase's curve -> what a person would see in it: regimes, the steady state, collapse, cycle, stalls. Pure.
 * docs/analysis.md tells the reasons and what was tried; every threshold is a named constant here or in analysis.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/series.h"

/* What a regime changes in an hour is told from half an hour on: of less it would be a guess. */
#define SLOPE_MIN_S 1800.0

typedef struct Regime {
        size_t from_block, to_block; /* [from, to) of the series' blocks */
        double from_s, to_s;         /* of the phase */
        double length_s;             /* without cuts */
        double mean_y;               /* mean ln IOPS, outliers clipped */
        double iops_mean;            /* level: Σ ios / Σ duration */
        double iops_p05, iops_p95;   /* of its samples */
        double slope_percent_per_hour; /* NaN for a transient, under SLOPE_MIN_S, or if noise explains it */
        bool transient;              /* too short to be a state of the drive */
        bool cycles;                 /* ups and downs that came to an end, all of them together; never transient */
        bool passages;               /* transients one after the other that take too long to be none; never transient */
        int passages_way;            /* 1 if each is higher than the one before, -1 if lower, else 0 */
} Regime;

/* A floor is what holds for 95 % of the time. */
#define STALLED_SHARE_MAX 0.05

typedef enum SteadyState {
        STEADY_TOO_SHORT,
        STEADY_CYCLING,
        STEADY_DRIFTING,
        STEADY_NOT_ENOUGH_VOLUME,
        STEADY_STEADY,
        N_STEADY_STATES,
} SteadyState;

typedef enum CollapseVerdict {
        COLLAPSE_NONE,
        COLLAPSE_DEGRADED,
        COLLAPSE_CLIFF,
        COLLAPSE_COLLAPSE,
        COLLAPSE_SEVERE,
        N_COLLAPSE_VERDICTS,
} CollapseVerdict;

const char *steady_state_name(SteadyState state);
const char *collapse_verdict_name(CollapseVerdict verdict);

/* Numbers that cannot be told are NaN. Times are seconds of the phase. */
typedef struct Analysis {
        size_t n_regimes;
        Regime *regimes;

        double burst_iops, burst_from_s, burst_to_s;
        double peak_iops; /* highest level of any ten seconds (one block, if that is longer) */

        SteadyState steady;
        double steady_since_s;
        double steady_iops;
        double steady_bytes; /* moved since then at this level; 0 for a cycling phase */
        int trend; /* where the end still goes: 1 up, -1 down, 0 nowhere */
        double wave_low_iops, wave_high_iops; /* between which the end comes and goes, too slow for a cycle; else NaN */

        /* What it did last, for however short a time: the last regime. */
        double end_from_s, end_to_s;
        double end_iops;
        double end_ratio;    /* to the burst */
        double end_silent_s; /* since its last I/O, if the drive should have done some by now; else 0 */

        /*
         * What it cannot be relied upon to stay above. Of a state that is steady or cycling: the troughs of the cycle,
         * or the level of its stalls where these take more than STALLED_SHARE_MAX of the time; of one that waves the
         * low; else steady_iops.
         */
        double floor_iops;
        double floor_ratio; /* to the burst */
        double stalled_share; /* of the time since steady_since_s */

        CollapseVerdict collapse;
        double collapse_ratio; /* steady / burst */
        double collapse_at_s;
        bool collapse_across_cut;  /* most of it was lost where nobody looked, and at_s does not tell of that */
        double collapse_from_s;    /* when the fall began; it took collapse_fall_s */
        double collapse_from_iops; /* the level it fell from */
        double collapse_fall_s;
        double collapse_trough_iops;
        double collapse_recovered_ratio; /* 0..1 of the way from trough back to burst */

        bool has_cycle; /* the one that goes on, cycling or drifting; else the last, which came to an end */
        double cycle_until_s; /* NaN if it has not */
        double cycle_period_s;
        double cycle_depth; /* 0..1 */
        double cycle_low_iops, cycle_high_iops; /* median over the cycles of the lowest and highest block of each */

        unsigned n_stalls;
        double longest_stall_s;
} Analysis;

/* capacity_bytes: of the target, 0 if unknown. -ENOMEM. */
int analysis_new(Analysis **ret, const Series *series, uint64_t capacity_bytes);
Analysis *analysis_free(Analysis *analysis);

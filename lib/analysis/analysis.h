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

typedef struct Regime {
        size_t from_block, to_block; /* [from, to) of the series' blocks */
        double from_s, to_s;         /* of the phase */
        double length_s;             /* without cuts */
        double mean_y;               /* mean ln IOPS, outliers clipped */
        double iops_mean;            /* level: Σ ios / Σ duration */
        double iops_p05, iops_p95;   /* of its samples */
        double slope_percent_per_hour; /* NaN for a transient */
        bool transient;              /* too short to be a state of the drive */
} Regime;

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

        SteadyState steady;
        double steady_since_s;
        double steady_iops;
        int trend; /* where the end still goes: 1 up, -1 down, 0 nowhere */

        CollapseVerdict collapse;
        double collapse_ratio; /* steady / burst */
        double collapse_at_s;
        double collapse_fall_s;
        double collapse_trough_iops;
        double collapse_recovered_ratio; /* 0..1 of the way from trough back to burst */

        bool has_cycle;
        double cycle_period_s;
        double cycle_depth; /* 0..1 */

        unsigned n_stalls;
        double longest_stall_s;
} Analysis;

/* capacity_bytes: of the target, 0 if unknown. -ENOMEM. */
int analysis_new(Analysis **ret, const Series *series, uint64_t capacity_bytes);
Analysis *analysis_free(Analysis *analysis);

/* SPDX-License-Identifier: MIT */

/*
 * The order of thought: a cycle is looked for first, since its falls would pass for a collapse. Else the curve is cut
 * into regimes (segment.h), the last lasting one is the end state, the highest one before it the burst, and the fall
 * lies at the boundary between the two that was never regained.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/analysis-internal.h"
#include "util/cleanup.h"

static void work_done(Work *w) {
        free(w->y);
        free(w->center);
        free(w->past);
        cycle_done(&w->cycle);
        if (w->a)
                analysis_free(w->a);
}

int analysis_new(Analysis **ret, const Series *series, uint64_t capacity_bytes) {
        _cleanup_(work_done) Work w = { .series = series, .n = series->n_blocks, .capacity_bytes = capacity_bytes };
        size_t l = 0;

        w.a = calloc(1, sizeof(Analysis));
        if (!w.a)
                return -ENOMEM;
        *w.a = (Analysis){
                .burst_iops = NAN, .burst_from_s = NAN, .burst_to_s = NAN, .peak_iops = NAN,
                .steady = STEADY_TOO_SHORT, .steady_since_s = NAN, .steady_iops = NAN,
                .wave_low_iops = NAN, .wave_high_iops = NAN,
                .collapse = COLLAPSE_NONE, .collapse_ratio = NAN, .collapse_at_s = NAN, .collapse_fall_s = NAN,
                .collapse_trough_iops = NAN, .collapse_recovered_ratio = NAN,
                .collapse_from_s = NAN, .collapse_from_iops = NAN,
                .end_from_s = NAN, .end_to_s = NAN, .end_iops = NAN, .end_ratio = NAN,
                .floor_iops = NAN, .floor_ratio = NAN,
                .cycle_until_s = NAN,
                .cycle_period_s = NAN, .cycle_depth = NAN, .cycle_low_iops = NAN, .cycle_high_iops = NAN,
        };

        if (w.n >= ANALYSIS_MIN_BLOCKS) {
                int cycles = cycles_find(&w);
                int r = cycles < 0 ? cycles : regimes_find(&w);
                if (r >= 0 && cycles)
                        r = cycle_judge(&w);
                else if (r >= 0)
                        r = end_state_find(&w, &l);
                if (r >= 0 && !cycles)
                        r = collapse_find(&w, l);
                if (r < 0)
                        return r;
                stalls_find(&w);
                end_find(&w);
        }

        *ret = TAKE_PTR(w.a);
        return 0;
}

Analysis *analysis_free(Analysis *analysis) {
        if (analysis)
                free(analysis->regimes);
        free(analysis);
        return NULL;
}

const char *steady_state_name(SteadyState state) {
        static const char *const names[N_STEADY_STATES] = {
                [STEADY_TOO_SHORT] = "too-short",
                [STEADY_CYCLING] = "cycling",
                [STEADY_DRIFTING] = "drifting",
                [STEADY_NOT_ENOUGH_VOLUME] = "not-enough-volume",
                [STEADY_STEADY] = "steady",
        };
        return (unsigned) state < N_STEADY_STATES ? names[state] : NULL;
}

const char *collapse_verdict_name(CollapseVerdict verdict) {
        static const char *const names[N_COLLAPSE_VERDICTS] = {
                [COLLAPSE_NONE] = "none",         [COLLAPSE_DEGRADED] = "degraded", [COLLAPSE_CLIFF] = "cliff",
                [COLLAPSE_COLLAPSE] = "collapse", [COLLAPSE_SEVERE] = "severe",
        };
        return (unsigned) verdict < N_COLLAPSE_VERDICTS ? names[verdict] : NULL;
}

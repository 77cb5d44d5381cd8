/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "analysis/analysis-internal.h"

/* Less than a tenth of what is usual around it: twenty percent of noise, heavy tails and all, do not come near that. */
#define STALL_SHARE 0.1
#define STALL_MIN_POINT_IOS 10.0 /* in the median sample: of fewer, chance alone makes zeros (1 in 20000 at ten) */
#define SILENT_MIN_IOS 100.0 /* that the burst would have done meanwhile: of a slow drive silence says nothing */

/* The stalls of a phase, and what they are of its end state. */
typedef struct Stalls {
        double length_s; /* of the one that goes on */
        double state_s, stalled_s, stalled_ios; /* since steady_since_s: all time, and that in stalls */
} Stalls;

static void stalls_add(Analysis *a, Stalls *stalls, const SeriesPoint *p, double limit) {
        double duration_s = p->to_s - p->from_s;
        bool stalled = p->ios <= 0 || p->ios / duration_s < limit, in_state = p->from_s >= a->steady_since_s;

        if (in_state)
                stalls->state_s += duration_s;
        if (!stalled) {
                stalls->length_s = 0;
                return;
        }
        if (stalls->length_s <= 0)
                a->n_stalls++;
        stalls->length_s += duration_s;
        a->longest_stall_s = fmax(a->longest_stall_s, stalls->length_s);
        if (in_state) {
                stalls->stalled_s += duration_s;
                stalls->stalled_ios += p->ios;
        }
}

void stalls_find(Work *w) {
        const Series *s = w->series;
        Analysis *a = w->a;
        Stalls stalls = {};

        for (size_t b = 0; b < s->n_blocks && s->median_point_ios >= STALL_MIN_POINT_IOS; b++) {
                double limit = STALL_SHARE * exp(w->center[b]);
                for (size_t i = 0; i < s->blocks[b].n_points; i++)
                        stalls_add(a, &stalls, &s->points[s->blocks[b].first_point + i], limit);
        }

        bool lasts = a->steady == STEADY_STEADY || a->steady == STEADY_CYCLING;
        a->stalled_share = stalls.state_s > 0 ? stalls.stalled_s / stalls.state_s : 0;
        a->floor_iops = isnan(a->wave_low_iops) ? a->steady_iops : a->wave_low_iops;
        if (a->steady == STEADY_CYCLING)
                a->floor_iops = a->cycle_low_iops;
        if (lasts && a->stalled_share > STALLED_SHARE_MAX)
                a->floor_iops = fmin(a->floor_iops, stalls.stalled_ios / stalls.stalled_s);
        a->floor_ratio = a->burst_iops > 0 ? a->floor_iops / a->burst_iops : NAN;
}

void end_find(Work *w) {
        const Series *s = w->series;
        double silent_s = 0;

        for (size_t i = s->n_points; i-- > 0 && s->points[i].ios <= 0;)
                silent_s += s->points[i].to_s - s->points[i].from_s;

        w->a->peak_iops = series_extreme(s, 0, SERIES_BLOCK_S, fmax);
        w->a->end_from_s = s->blocks[w->end_block].from_s;
        w->a->end_to_s = s->blocks[w->n - 1].to_s;
        w->a->end_iops = series_level(s, w->end_block, w->n);
        w->a->end_ratio = w->a->burst_iops > 0 ? w->a->end_iops / w->a->burst_iops : NAN;

        /* A drive that never did anything has not been slow; one that cycles has stopped before, and come back. */
        bool tells = w->a->burst_iops <= 0 || silent_s * w->a->burst_iops >= SILENT_MIN_IOS;
        if (tells && !(w->cycle.n_falls > 0 && silent_s <= w->a->cycle_period_s))
                w->a->end_silent_s = silent_s;
}

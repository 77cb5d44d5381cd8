/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/analysis-internal.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define RATIO_DEGRADED 0.5
#define RATIO_CLIFF 0.2 /* what garbage collection at usual over-provisioning explains: a write amplification of 5 */
#define RATIO_COLLAPSE 0.05

/* Of the way, in the logarithm: what noise does at either end of a fall is not part of it. */
#define FALL_LEAVES 0.9
#define FALL_ARRIVES 0.1

/* How far noise may have put a ratio on the wrong side of a boundary, in its logarithm: so many sigmas, and no more. */
#define DOUBT_SIGMAS 3.3
#define DOUBT_MAX 0.01

static CollapseVerdict verdict_of(double ratio) {
        if (isnan(ratio) || ratio >= RATIO_NONE)
                return COLLAPSE_NONE;
        if (ratio >= RATIO_DEGRADED)
                return COLLAPSE_DEGRADED;
        if (ratio >= RATIO_CLIFF)
                return COLLAPSE_CLIFF;
        return ratio >= RATIO_COLLAPSE ? COLLAPSE_COLLAPSE : COLLAPSE_SEVERE;
}

void collapse_set_ratio(Analysis *a, double doubt) {
        a->collapse_ratio = a->burst_iops > 0 ? a->steady_iops / a->burst_iops : NAN;
        a->collapse = verdict_of(a->collapse_ratio * exp(doubt));
}

/* A burst is short, and its level is known least. */
static double burst_doubt(const Work *w, size_t b) {
        const Regime *r = &w->a->regimes[b];
        double variance = fmax(w->lrv - NOISE_FLOOR * NOISE_FLOOR, 0) / (double) (r->to_block - r->from_block);

        return fmin(DOUBT_SIGMAS * sqrt(variance), DOUBT_MAX);
}

/*
 * The regime after the greatest fall between b and l that was never regained; SIZE_MAX if there is none. What lies
 * before a cut and after it are facts, but when and why it changed nobody saw: that is no fall that can be told.
 */
static int collapse_boundary(Work *w, size_t b, size_t l, size_t *ret) {
        const Regime *r = w->a->regimes;
        _cleanup_free_ double *after = calloc(l + 2, sizeof(double)); /* highest of the regimes from i to l */
        double before = INFINITY, best_fall = 0, fall_at_cut = 0;
        size_t best = SIZE_MAX;

        if (!after)
                return -ENOMEM;
        after[l + 1] = -INFINITY;
        for (size_t i = l + 1; i-- > b;)
                after[i] = fmax(after[i + 1], r[i].mean_y);

        for (size_t i = b + 1; i <= l; i++) {
                before = fmin(before, r[i - 1].mean_y);
                if (w->series->blocks[r[i].from_block].after_cut)
                        fall_at_cut = fmax(fall_at_cut, before - after[i]);
                else if (before - after[i] > best_fall) {
                        best_fall = before - after[i];
                        best = i;
                }
        }
        w->a->collapse_across_cut = fall_at_cut > best_fall;
        *ret = best;
        return 0;
}

/* The level from which it fell: of the last lasting and level regime before the fall, else the burst's. */
static double collapse_height(const Work *w, size_t b, size_t at) {
        const Regime *r = w->a->regimes;

        for (size_t i = at; i-- > b;) {
                size_t n = r[i].to_block - r[i].from_block;
                double change = 0, fall = r[i].mean_y - r[i + 1].mean_y;
                if (r[i].length_s < TRANSIENT_S)
                        continue;
                if (n >= ANALYSIS_MIN_BLOCKS)
                        change = line_fit(w->y + r[i].from_block, n).slope * (double) n;
                if (fabs(change) < fall / 2)
                        return r[i].iops_mean;
        }
        return w->a->burst_iops;
}

static double level_median3(const Series *s, size_t i) {
        double a = s->blocks[i > 0 ? i - 1 : i].level, b = s->blocks[i].level,
               c = s->blocks[i + 1 < s->n_blocks ? i + 1 : i].level;
        return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* From leaving 90 % of the way (in the logarithm) to reaching 10 % of it. */
static void collapse_set_fall(Work *w, size_t b, size_t at) {
        const Series *s = w->series;
        double p = collapse_height(w, b, at), end = fmax(w->a->steady_iops, 1);
        double high = pow(p, FALL_LEAVES) * pow(end, 1 - FALL_LEAVES);
        double low = pow(p, FALL_ARRIVES) * pow(end, 1 - FALL_ARRIVES);
        size_t at_block = w->a->regimes[at].from_block, from = at_block, to;

        while (from > 0 && level_median3(s, from - 1) < high)
                from--;
        for (to = from; to < s->n_blocks && level_median3(s, to) > low;)
                to++;

        double from_s = s->blocks[MIN(from, s->n_blocks - 1)].from_s;
        double to_s = to < s->n_blocks ? s->blocks[to].from_s : s->blocks[s->n_blocks - 1].to_s;

        w->a->collapse_from_iops = p;
        w->a->collapse_from_s = from_s;
        w->a->collapse_fall_s = fmax(to_s - from_s, s->block_s);
}

/* The lowest level of any half minute from block `from` on. */
static double collapse_trough(const Series *s, size_t from) {
        return series_extreme(s, from, s->total_s < SHORT_RUN_S ? REGIME_MIN_SHORT_S : REGIME_MIN_S, fmin);
}

/* The highest up to l. A burst is what a drive begins with: later on a passage is none, however high it goes. */
static size_t burst_regime(const Analysis *a, size_t l) {
        size_t b = 0;
        bool has_lasted = !a->regimes[0].transient;

        for (size_t i = 1; i <= l; i++) {
                const Regime *r = &a->regimes[i];
                if (r->iops_mean > a->regimes[b].iops_mean && !(has_lasted && r->transient))
                        b = i;
                has_lasted |= !r->transient;
        }
        return b;
}

/* That regime; or where a drive still rises, as far as it has come: its end state, in the time that this is told of. */
static void burst_set(Work *w, size_t b, size_t l) {
        Analysis *a = w->a;
        bool rose = a->steady_iops > a->regimes[b].iops_mean;

        a->burst_iops = rose ? a->steady_iops : a->regimes[b].iops_mean;
        a->burst_from_s = rose ? w->series->blocks[regime_last_quarter(&a->regimes[l])].from_s : a->regimes[b].from_s;
        a->burst_to_s = a->regimes[rose ? l : b].to_s;
}

int collapse_find(Work *w, size_t l) {
        Analysis *a = w->a;
        size_t b = burst_regime(a, l);

        burst_set(w, b, l);
        collapse_set_ratio(a, burst_doubt(w, b));
        if (a->collapse == COLLAPSE_NONE)
                return 0;

        size_t at;
        int r = collapse_boundary(w, b, l, &at);
        if (r < 0 || at == SIZE_MAX)
                return r;
        a->collapse_at_s = a->regimes[at].from_s;
        collapse_set_fall(w, b, at);
        a->collapse_trough_iops = collapse_trough(w->series, a->regimes[at].from_block);

        double height = a->burst_iops - a->collapse_trough_iops;
        if (height > 0)
                a->collapse_recovered_ratio = fmin(fmax((a->steady_iops - a->collapse_trough_iops) / height, 0), 1);
        return 0;
}

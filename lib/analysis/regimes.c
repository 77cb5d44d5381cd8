/* SPDX-License-Identifier: MIT */

/*
 * Outliers are clipped first, so that none of them is a regime; then the curve is cut where a change of level is worth
 * its price (segment.h), and what is too short or too alike to be a state of its own is joined again.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis-internal.h"
#include "analysis/segment.h"
#include "util/cleanup.h"
#include "util/macro.h"

/* Outliers are clipped to the running median of about five minutes plus or minus three sigma. */
#define CLIP_WINDOW 31
#define CLIP_WINDOW_S 155.0
#define CLIP_SIGMAS 3.0

#define PENALTY_FACTOR 3.0 /* of LRV · ln n: above 2, which a single change of independent noise needs */

/*
 * Running median of the blocks around each, in [from, to). Before the start the first block repeats; at the end the
 * window is cut.
 */
static int work_set_center(Work *w, size_t from, size_t to) {
        size_t window = CLIP_WINDOW;
        if (w->series->block_s > SERIES_BLOCK_S * 1.05)
                window = MAX((size_t) 5, 2 * (size_t) (CLIP_WINDOW_S / w->series->block_s) + 1);

        size_t half = window / 2;
        _cleanup_free_ double *scratch = calloc(window, sizeof(double));
        if (!scratch)
                return -ENOMEM;

        for (size_t i = from; i < to; i++) {
                size_t m = 0;
                for (size_t k = 0; k < window; k++) {
                        size_t at = i + k;
                        if (at < from + half)
                                scratch[m++] = w->series->blocks[from].y;
                        else if (at - half < to)
                                scratch[m++] = w->series->blocks[at - half].y;
                }
                w->center[i] = median_inplace(scratch, m);
        }
        return 0;
}

static int work_clip(Work *w, size_t from, size_t to) {
        size_t n = to - from;
        _cleanup_free_ double *residual = calloc(n, sizeof(double));
        if (!residual || work_set_center(w, from, to) < 0)
                return -ENOMEM;

        for (size_t i = from; i < to; i++)
                residual[i - from] = w->series->blocks[i].y - w->center[i];
        w->clip_limit = CLIP_SIGMAS * fmax(NOISE_FLOOR, spread_sigma_inplace(residual, n));

        for (size_t i = from; i < to; i++)
                w->y[i] = fmin(fmax(w->series->blocks[i].y, w->center[i] - w->clip_limit),
                               w->center[i] + w->clip_limit);

        double lrv = long_run_variance(w->y + from, n);
        if (lrv < 0)
                return -ENOMEM;
        w->lrv = lrv;
        w->penalty = PENALTY_FACTOR * lrv * log((double) n);
        return 0;
}

static void regime_set(const Work *w, Regime *r) {
        double sum = 0;
        for (size_t i = r->from_block; i < r->to_block; i++)
                sum += w->y[i];
        r->mean_y = sum / (double) (r->to_block - r->from_block);
        r->length_s = (double) (r->to_block - r->from_block) * w->series->block_s;
}

static double regimes_distance(const Regime *regimes, size_t i) {
        return fabs(regimes[i].mean_y - regimes[i + 1].mean_y);
}

/* Joins regimes i and i + 1. */
static void regimes_join(Work *w, size_t i) {
        Regime *r = w->a->regimes;
        r[i].to_block = r[i + 1].to_block;
        memmove(&r[i + 1], &r[i + 2], (w->a->n_regimes - i - 2) * sizeof(Regime));
        w->a->n_regimes--;
        regime_set(w, &r[i]);
}

static void regimes_join_short(Work *w, size_t first) {
        double min_s = w->series->total_s < SHORT_RUN_S ? REGIME_MIN_SHORT_S : REGIME_MIN_S;

        while (w->a->n_regimes > first + 1) {
                const Regime *r = w->a->regimes;
                size_t n = w->a->n_regimes, s = first;
                for (size_t i = first + 1; i < n; i++)
                        if (r[i].length_s < r[s].length_s)
                                s = i;
                if (r[s].length_s >= min_s)
                        return;

                bool with_next = s == first || (s + 1 < n && regimes_distance(r, s) < regimes_distance(r, s - 1));
                regimes_join(w, with_next ? s : s - 1);
        }
}

static void regimes_join_alike(Work *w, size_t first) {
        while (w->a->n_regimes > first + 1) {
                size_t closest = first;
                for (size_t i = first + 1; i + 1 < w->a->n_regimes; i++)
                        if (regimes_distance(w->a->regimes, i) < regimes_distance(w->a->regimes, closest))
                                closest = i;
                if (regimes_distance(w->a->regimes, closest) >= REGIME_MIN_STEP)
                        return;
                regimes_join(w, closest);
        }
}

static int regime_set_slope(const Work *w, Regime *r) {
        size_t n = r->to_block - r->from_block;
        int direction;
        Line line;

        r->slope_percent_per_hour = NAN;
        if (r->transient || r->cycles || r->length_s < SLOPE_MIN_S || n < ANALYSIS_MIN_BLOCKS)
                return 0;
        if (line_direction(w->y + r->from_block, n, &line, &direction) < 0)
                return -ENOMEM;
        if (direction != 0)
                r->slope_percent_per_hour = 100 * expm1(line.slope * 3600 / w->series->block_s);
        return 0;
}

static int regime_describe(const Work *w, Regime *r) {
        const SeriesBlock *first = &w->series->blocks[r->from_block], *last = &w->series->blocks[r->to_block - 1];
        r->from_s = first->from_s;
        r->to_s = last->to_s;
        r->iops_mean = series_level(w->series, r->from_block, r->to_block);
        if (r->cycles)
                r->mean_y = series_y(r->iops_mean, w->series->block_s);
        r->transient = !r->cycles && r->length_s < transient_max_s(w);
        if (regime_set_slope(w, r) < 0)
                return -ENOMEM;

        size_t n = last->first_point + last->n_points - first->first_point;
        _cleanup_free_ double *iops = calloc(n, sizeof(double));
        if (!iops)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                const SeriesPoint *p = &w->series->points[first->first_point + i];
                iops[i] = p->ios / (p->to_s - p->from_s);
        }
        r->iops_p05 = quantile_inplace(iops, n, 0.05);
        r->iops_p95 = quantile_inplace(iops, n, 0.95);
        return 0;
}

static int regimes_add(Work *w, size_t from, size_t to) {
        Analysis *a = w->a;
        Regime *regimes = reallocarray(a->regimes, a->n_regimes + 1, sizeof(Regime));

        if (!regimes)
                return -ENOMEM;
        a->regimes = regimes;
        regimes[a->n_regimes] = (Regime){ .from_block = from, .to_block = to };
        regime_set(w, &regimes[a->n_regimes++]);
        return 0;
}

/*
 * Whether no two levels in [from, to) can differ by so much that they are two. The search would remember every block of
 * a long slope that is so slight, and its regimes would all be joined in the end.
 */
static bool is_one_level(const Work *w, size_t from, size_t to) {
        double low = INFINITY, high = -INFINITY;

        for (size_t i = from; i < to; i++) {
                low = fmin(low, w->y[i]);
                high = fmax(high, w->y[i]);
        }
        return high - low < REGIME_MIN_STEP;
}

/* Adds the regimes of blocks [from, to), which know nothing of those before and after. */
static int regimes_find_within(Work *w, size_t from, size_t to) {
        _cleanup_free_ size_t *starts = NULL;
        size_t n_starts, first = w->a->n_regimes;

        if (from == to)
                return 0;
        int r = work_clip(w, from, to);
        if (r >= 0 && is_one_level(w, from, to))
                return regimes_add(w, from, to);
        if (r >= 0)
                r = segment_fpop(w->y + from, to - from, w->penalty, &starts, &n_starts);
        if (r < 0)
                return r;

        for (size_t i = 0; i < n_starts && r >= 0; i++)
                r = regimes_add(w, from + starts[i], i + 1 < n_starts ? from + starts[i + 1] : to);
        if (r < 0)
                return r;

        regimes_join_short(w, first);
        regimes_join_alike(w, first);
        return 0;
}

/*
 * Adds one regime for the cycles: from their first fall, and what goes before it without being a state of its own or
 * standing above them, for that is the rest of their first peak.
 */
static int regimes_add_cycles(Work *w, const PastCycle *past, size_t first) {
        Analysis *a = w->a;
        size_t from = past->from;

        while (a->n_regimes > first) {
                const Regime *r = &a->regimes[a->n_regimes - 1];
                double level = series_level(w->series, r->from_block, r->to_block);
                if (r->length_s > past->period_s || level > CYCLE_ABOVE * past->high_iops)
                        break;
                from = r->from_block;
                a->n_regimes--;
        }

        int r = work_clip(w, from, past->to);
        if (r >= 0)
                r = regimes_add(w, from, past->to);
        if (r >= 0)
                a->regimes[a->n_regimes - 1].cycles = true;
        return r;
}

/* Which side of l a regime lies on, if that is so far off that it would make a verdict: 1, -1 or 0. */
static int regime_side(const Regime *r, const Regime *l) {
        double off = r->mean_y - l->mean_y;

        return fabs(off) > -log(RATIO_NONE) ? sign_of(off) : 0;
}

static int passages_way(const Regime *r, size_t n) {
        int way = sign_of(r[1].mean_y - r[0].mean_y);

        for (size_t i = 2; i < n; i++)
                if (sign_of(r[i].mean_y - r[i - 1].mean_y) != way)
                        return 0;
        return way;
}

/*
 * A drive that has left its last state for as long as a state takes, and goes to and fro meanwhile, has left it: its
 * passages at the end that lie on one side of that state become one regime.
 */
static int regimes_join_passages(Work *w) {
        Analysis *a = w->a;
        size_t n = a->n_regimes, l = n, from = n;
        double length_s = 0;

        while (l > 0 && a->regimes[l - 1].transient)
                l--;
        if (l == 0)
                return 0;
        const Regime *last = &a->regimes[n - 1], *state = &a->regimes[l - 1];
        int side = regime_side(last, state);
        while (from > l && side != 0 && regime_side(&a->regimes[from - 1], state) == side)
                length_s += a->regimes[--from].length_s;
        if (n - from < 2 || length_s < transient_max_s(w))
                return 0;

        int way = passages_way(&a->regimes[from], n - from);
        while (a->n_regimes > from + 1)
                regimes_join(w, from);
        a->regimes[from].passages = true;
        a->regimes[from].passages_way = way;
        return regime_describe(w, &a->regimes[from]);
}

int regimes_find(Work *w) {
        size_t at = 0;
        int r = 0;

        w->center = calloc(w->n, sizeof(double));
        w->y = calloc(w->n, sizeof(double));
        if (!w->center || !w->y)
                return -ENOMEM;

        for (size_t i = 0; i < w->n_past; i++) {
                size_t first = w->a->n_regimes;
                const PastCycle *past = &w->past[i];
                r = regimes_find_within(w, at, past->from);
                if (r >= 0)
                        r = regimes_add_cycles(w, past, first);
                if (r < 0)
                        return r;
                at = past->to;
        }
        r = regimes_find_within(w, at, w->n);

        for (size_t i = 0; i < w->a->n_regimes && r >= 0; i++)
                r = regime_describe(w, &w->a->regimes[i]);
        if (r >= 0)
                r = regimes_join_passages(w);
        w->end_block = w->a->regimes[w->a->n_regimes - 1].from_block;
        return r;
}

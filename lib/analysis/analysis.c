/* SPDX-License-Identifier: MIT */

/*
 * The order of thought: a cycle is looked for first, since its falls would pass for a collapse. Else the curve is cut
 * into regimes (segment.h), the last lasting one is the end state, the highest one before it the burst, and the fall
 * lies at the boundary between the two that was never regained.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/cycle.h"
#include "analysis/noise.h"
#include "analysis/segment.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define MIN_BLOCKS 10 /* fewer tell nothing */

/* Outliers are clipped to the running median of about five minutes plus or minus three sigma. */
#define CLIP_WINDOW 31
#define CLIP_WINDOW_S 155.0
#define CLIP_SIGMAS 3.0

#define PENALTY_FACTOR 3.0 /* of LRV · ln n: above 2, which a single change of independent noise needs */
#define REGIME_MIN_S 30.0
#define REGIME_MIN_SHORT_S 5.0 /* in a run under SHORT_RUN_S */
#define SHORT_RUN_S 300.0
#define REGIME_MIN_STEP log(1.1) /* a tenth: less is no other state */
#define TRANSIENT_S 300.0
#define TRANSIENT_SHARE 0.15

#define MIN_STEADY_S 600.0
#define MOVE_SIGMAS 3.3 /* two-sided 0.1 % */
#define GOES_ON_SHARE 0.5 /* of the whole regime's slope */
#define VOLUME_FILLS 2.0
#define VOLUME_UNKNOWN_S 1800.0
#define VOLUME_UNKNOWN_SHARE 0.5

#define RATIO_NONE 0.8
#define RATIO_DEGRADED 0.5
#define RATIO_CLIFF 0.2 /* what garbage collection at usual over-provisioning explains */
#define RATIO_COLLAPSE 0.05

#define CYCLE_ABOVE 1.1 /* the heights of a cycle: what counts as a burst before it */

#define STALL_SHARE 0.1
#define STALL_MIN_POINT_IOS 10.0
#define SILENT_MIN_IOS 100.0 /* that the burst would have done meanwhile: of a slow drive silence says nothing */

typedef struct Work {
        const Series *series;
        size_t n;
        double *y;        /* clipped */
        double *center;   /* running median of the unclipped */
        double lrv;
        uint64_t capacity_bytes;
        Analysis *a;
        Cycle cycle;      /* empty if there is none */
} Work;

static void work_done(Work *w) {
        free(w->y);
        free(w->center);
        cycle_done(&w->cycle);
        if (w->a)
                analysis_free(w->a);
}

static int work_find_cycle(Work *w) {
        _cleanup_free_ double *levels = calloc(w->n, sizeof(double));
        if (!levels)
                return -ENOMEM;
        for (size_t i = 0; i < w->n; i++)
                levels[i] = w->series->blocks[i].level;
        return cycle_find(levels, w->n, w->series->block_s, &w->cycle);
}

/* --- regimes --- */

/* Running median of the blocks around each. Before the start the first block repeats; at the end the window is cut. */
static int work_set_center(Work *w) {
        size_t window = CLIP_WINDOW;
        if (w->series->block_s > SERIES_BLOCK_S * 1.05)
                window = MAX((size_t) 5, 2 * (size_t) (CLIP_WINDOW_S / w->series->block_s) + 1);

        size_t half = window / 2;
        _cleanup_free_ double *scratch = calloc(window, sizeof(double));
        w->center = calloc(w->n, sizeof(double));
        if (!scratch || !w->center)
                return -ENOMEM;

        for (size_t i = 0; i < w->n; i++) {
                size_t m = 0;
                for (size_t k = 0; k < window; k++) {
                        size_t at = i + k;
                        if (at < half)
                                scratch[m++] = w->series->blocks[0].y;
                        else if (at - half < w->n)
                                scratch[m++] = w->series->blocks[at - half].y;
                }
                w->center[i] = median_inplace(scratch, m);
        }
        return 0;
}

static int work_clip(Work *w) {
        _cleanup_free_ double *residual = calloc(w->n, sizeof(double));
        w->y = calloc(w->n, sizeof(double));
        if (!residual || !w->y)
                return -ENOMEM;

        for (size_t i = 0; i < w->n; i++)
                residual[i] = w->series->blocks[i].y - w->center[i];
        double limit = CLIP_SIGMAS * fmax(NOISE_FLOOR, mad_sigma_inplace(residual, w->n));

        for (size_t i = 0; i < w->n; i++)
                w->y[i] = fmin(fmax(w->series->blocks[i].y, w->center[i] - limit), w->center[i] + limit);

        w->lrv = long_run_variance(w->y, w->n);
        return w->lrv < 0 ? -ENOMEM : 0;
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

static void regimes_join_short(Work *w) {
        double min_s = w->series->total_s < SHORT_RUN_S ? REGIME_MIN_SHORT_S : REGIME_MIN_S;

        while (w->a->n_regimes > 1) {
                const Regime *r = w->a->regimes;
                size_t n = w->a->n_regimes, s = 0;
                for (size_t i = 1; i < n; i++)
                        if (r[i].length_s < r[s].length_s)
                                s = i;
                if (r[s].length_s >= min_s)
                        return;

                bool with_next = s == 0 || (s + 1 < n && regimes_distance(r, s) < regimes_distance(r, s - 1));
                regimes_join(w, with_next ? s : s - 1);
        }
}

static void regimes_join_alike(Work *w) {
        while (w->a->n_regimes > 1) {
                size_t closest = 0;
                for (size_t i = 1; i + 1 < w->a->n_regimes; i++)
                        if (regimes_distance(w->a->regimes, i) < regimes_distance(w->a->regimes, closest))
                                closest = i;
                if (regimes_distance(w->a->regimes, closest) >= REGIME_MIN_STEP)
                        return;
                regimes_join(w, closest);
        }
}

static int sign(double x) {
        return (x > 0) - (x < 0);
}

/* The line through n values, and where it goes if noise does not explain that: 1, -1 or 0. -ENOMEM. */
static int line_direction(const double *y, size_t n, Line *ret_line, int *ret) {
        Line line = line_fit(y, n);
        _cleanup_free_ double *residual = calloc(n, sizeof(double));
        if (!residual)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                residual[i] = y[i] - line.intercept - line.slope * (double) i;

        double lrv = long_run_variance(residual, n);
        if (lrv < 0)
                return -ENOMEM;
        *ret_line = line;
        *ret = fabs(line.slope) > MOVE_SIGMAS * sqrt(lrv / line.sum_tt) ? sign(line.slope) : 0;
        return 0;
}

static int regime_set_slope(const Work *w, Regime *r) {
        size_t n = r->to_block - r->from_block;
        int direction;
        Line line;

        r->slope_percent_per_hour = NAN;
        if (r->transient || r->length_s < SLOPE_MIN_S || n < MIN_BLOCKS)
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
        r->transient = r->length_s < fmin(TRANSIENT_S, TRANSIENT_SHARE * w->series->total_s);
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

static int regimes_find(Work *w) {
        _cleanup_free_ size_t *starts = NULL;
        size_t n_starts;

        int r = work_clip(w);
        if (r < 0)
                return r;
        r = segment_fpop(w->y, w->n, PENALTY_FACTOR * w->lrv * log((double) w->n), &starts, &n_starts);
        if (r < 0)
                return r;

        w->a->regimes = calloc(n_starts, sizeof(Regime));
        if (!w->a->regimes)
                return -ENOMEM;
        w->a->n_regimes = n_starts;
        for (size_t i = 0; i < n_starts; i++) {
                w->a->regimes[i].from_block = starts[i];
                w->a->regimes[i].to_block = i + 1 < n_starts ? starts[i + 1] : w->n;
                regime_set(w, &w->a->regimes[i]);
        }

        regimes_join_short(w);
        regimes_join_alike(w);

        for (size_t i = 0; i < w->a->n_regimes && r >= 0; i++)
                r = regime_describe(w, &w->a->regimes[i]);
        return r;
}

/* --- end state --- */

static double mean_of(const double *x, size_t n) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
                sum += x[i];
        return sum / (double) n;
}

/* As line_direction(), if going on like that for the whole phase would also matter. */
static int line_trend(const Work *w, const double *y, size_t n, Line *ret_line, int *ret) {
        double blocks_in_total = w->series->total_s / w->series->block_s;
        int r = line_direction(y, n, ret_line, ret);

        if (r >= 0 && fabs(ret_line->slope) * blocks_in_total < REGIME_MIN_STEP)
                *ret = 0;
        return r;
}

/*
 * By the last half, since a state that was approached must not count as moving for ever; or by all of it, of which
 * noise hides less, if the last half goes on in the same way.
 */
static int regime_lines_trend(const Work *w, const Regime *l, int *ret) {
        size_t n = l->to_block - l->from_block, half = n / 2;
        Line last, whole;
        int trend;

        *ret = 0;
        if (half < MIN_BLOCKS)
                return 0;
        int r = line_trend(w, w->y + l->to_block - half, half, &last, ret);
        if (r < 0 || *ret != 0)
                return r;
        r = line_trend(w, w->y + l->from_block, n, &whole, &trend);
        if (r >= 0 && trend * last.slope >= GOES_ON_SHARE * fabs(whole.slope))
                *ret = trend;
        return r;
}

/* Whether the end state still moves, and where to; of its two halves the last knows better. */
static int regime_trend(const Work *w, const Regime *l, int *ret) {
        size_t n = l->to_block - l->from_block, q = MAX((size_t) 1, n / 4);
        double lrv = long_run_variance(w->y + l->from_block, n);
        if (lrv < 0)
                return -ENOMEM;

        double change = mean_of(w->y + l->to_block - q, q) - mean_of(w->y + l->from_block, q);
        int r = regime_lines_trend(w, l, ret);
        if (r >= 0 && *ret == 0 &&
            fabs(change) > fmax(REGIME_MIN_STEP, MOVE_SIGMAS * sqrt(2 * lrv / (double) q)))
                *ret = sign(change);
        return r;
}

static double regime_bytes(const Work *w, const Regime *l) {
        double bytes = 0;

        for (size_t i = l->from_block; i < l->to_block; i++)
                bytes += w->series->blocks[i].bytes;
        return bytes;
}

static bool regime_has_volume(const Work *w, const Regime *l) {
        if (w->capacity_bytes == 0)
                return l->length_s >= fmax(VOLUME_UNKNOWN_S, VOLUME_UNKNOWN_SHARE * w->series->total_s);
        return regime_bytes(w, l) >= VOLUME_FILLS * (double) w->capacity_bytes;
}

/* The last regime that is no transient; the last one, if all are. */
static size_t end_regime(const Analysis *a) {
        for (size_t i = a->n_regimes; i-- > 0;)
                if (!a->regimes[i].transient)
                        return i;
        return a->n_regimes - 1;
}

static int end_state_find(Work *w, size_t *ret_l) {
        Analysis *a = w->a;
        size_t l = end_regime(a);
        const Regime *r = &a->regimes[l];

        int trend;
        if (regime_trend(w, r, &trend) < 0)
                return -ENOMEM;

        size_t q = MAX((size_t) 1, (r->to_block - r->from_block) / 4);
        a->steady_since_s = r->from_s;
        a->steady_bytes = regime_bytes(w, r);
        a->steady_iops = trend != 0 ? series_level(w->series, r->to_block - q, r->to_block) : r->iops_mean;

        a->trend = l + 1 < a->n_regimes ? sign(a->regimes[a->n_regimes - 1].mean_y - r->mean_y) : trend;

        if (w->series->total_s < MIN_STEADY_S)
                a->steady = STEADY_TOO_SHORT;
        else if (trend != 0 || r->length_s < fmax(TRANSIENT_S, TRANSIENT_SHARE * w->series->total_s) ||
                 l + 1 < a->n_regimes)
                a->steady = STEADY_DRIFTING;
        else if (a->steady_iops <= 0 || !regime_has_volume(w, r))
                a->steady = STEADY_NOT_ENOUGH_VOLUME;
        else
                a->steady = STEADY_STEADY;

        *ret_l = l;
        return 0;
}

/* --- collapse --- */

static CollapseVerdict verdict_of(double ratio) {
        if (isnan(ratio) || ratio >= RATIO_NONE)
                return COLLAPSE_NONE;
        if (ratio >= RATIO_DEGRADED)
                return COLLAPSE_DEGRADED;
        if (ratio >= RATIO_CLIFF)
                return COLLAPSE_CLIFF;
        return ratio >= RATIO_COLLAPSE ? COLLAPSE_COLLAPSE : COLLAPSE_SEVERE;
}

static void collapse_set_ratio(Analysis *a) {
        a->collapse_ratio = a->burst_iops > 0 ? a->steady_iops / a->burst_iops : NAN;
        a->collapse = verdict_of(a->collapse_ratio);
}

/* The regime after the greatest fall between b and l that was never regained; SIZE_MAX if there is none. */
static size_t collapse_boundary(const Work *w, size_t b, size_t l) {
        const Regime *r = w->a->regimes;
        size_t best = SIZE_MAX;
        double best_fall = 0;

        for (size_t i = b + 1; i <= l; i++) {
                if (w->series->blocks[r[i].from_block].after_cut)
                        continue;

                double before = INFINITY, after = -INFINITY;
                for (size_t k = b; k < i; k++)
                        before = fmin(before, r[k].mean_y);
                for (size_t k = i; k <= l; k++)
                        after = fmax(after, r[k].mean_y);
                if (before - after > best_fall) {
                        best_fall = before - after;
                        best = i;
                }
        }
        return best;
}

/* The level from which it fell: of the last lasting and level regime before the fall, else the burst's. */
static double collapse_height(const Work *w, size_t b, size_t at) {
        const Regime *r = w->a->regimes;

        for (size_t i = at; i-- > b;) {
                size_t n = r[i].to_block - r[i].from_block;
                double change = 0, fall = r[i].mean_y - r[i + 1].mean_y;
                if (r[i].length_s < TRANSIENT_S)
                        continue;
                if (n >= MIN_BLOCKS)
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
        double high = pow(p, 0.9) * pow(end, 0.1), low = pow(p, 0.1) * pow(end, 0.9);
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

/* The lowest or highest (pick: fmin or fmax) level of any window_s seconds from block `from` on. */
static double extreme_level(const Series *s, size_t from, double window_s, double (*pick)(double, double)) {
        size_t window = (size_t) fmax(1, round(window_s / s->block_s));
        double extreme = NAN;

        for (size_t i = from; i + window <= s->n_blocks; i++)
                extreme = pick(extreme, series_level(s, i, i + window));
        return extreme;
}

/* The lowest level of any half minute from block `from` on. */
static double collapse_trough(const Series *s, size_t from) {
        return extreme_level(s, from, s->total_s < SHORT_RUN_S ? REGIME_MIN_SHORT_S : REGIME_MIN_S, fmin);
}

static void collapse_find(Work *w, size_t l) {
        Analysis *a = w->a;
        size_t b = 0;
        for (size_t i = 1; i <= l; i++)
                if (a->regimes[i].iops_mean > a->regimes[b].iops_mean)
                        b = i;

        a->burst_iops = fmax(a->regimes[b].iops_mean, a->steady_iops);
        a->burst_from_s = a->regimes[b].from_s;
        a->burst_to_s = a->regimes[b].to_s;
        collapse_set_ratio(a);
        if (a->collapse == COLLAPSE_NONE)
                return;

        size_t at = collapse_boundary(w, b, l);
        if (at == SIZE_MAX)
                return;
        a->collapse_at_s = a->regimes[at].from_s;
        collapse_set_fall(w, b, at);
        a->collapse_trough_iops = collapse_trough(w->series, a->regimes[at].from_block);

        double height = a->burst_iops - a->collapse_trough_iops;
        if (height > 0)
                a->collapse_recovered_ratio = fmin(fmax((a->steady_iops - a->collapse_trough_iops) / height, 0), 1);
}

/* Of each cycle, from fall to fall, the lowest and highest block; of these the medians. -ENOMEM. */
static int cycle_set_range(Work *w) {
        const Cycle *c = &w->cycle;
        size_t n = c->n_falls - 1;
        _cleanup_free_ double *low = calloc(n, sizeof(double)), *high = calloc(n, sizeof(double));

        if (!low || !high)
                return -ENOMEM;
        for (size_t k = 0; k < n; k++) {
                low[k] = high[k] = w->series->blocks[c->falls[k]].level;
                for (size_t i = c->falls[k] + 1; i < c->falls[k + 1]; i++) {
                        low[k] = fmin(low[k], w->series->blocks[i].level);
                        high[k] = fmax(high[k], w->series->blocks[i].level);
                }
        }
        w->a->cycle_low_iops = median_inplace(low, n);
        w->a->cycle_high_iops = median_inplace(high, n);
        return 0;
}

/* A cycling phase has no end state; its level is the mean over whole periods of its second half. */
static int cycle_judge(Work *w) {
        Analysis *a = w->a;
        const Series *s = w->series;
        const Cycle *c = &w->cycle;
        size_t first = c->falls[0], middle = c->falls[c->n_falls / 2], last = c->falls[c->n_falls - 1];

        a->has_cycle = true;
        a->cycle_period_s = c->period_s;
        a->cycle_depth = c->depth;
        a->steady = STEADY_CYCLING;
        a->steady_since_s = s->blocks[first].from_s;
        a->steady_iops = series_level(s, middle, last);
        a->burst_iops = series_level(s, first, middle);
        a->burst_from_s = s->blocks[first].from_s;
        a->burst_to_s = s->blocks[middle].from_s;

        for (size_t i = 0; i < a->n_regimes && a->regimes[i].to_block <= first; i++) {
                const Regime *r = &a->regimes[i];
                if (r->iops_mean > a->burst_iops && r->iops_mean > CYCLE_ABOVE * exp(c->hi_y)) {
                        a->burst_iops = r->iops_mean;
                        a->burst_from_s = r->from_s;
                        a->burst_to_s = a->collapse_at_s = r->to_s;
                }
        }
        collapse_set_ratio(a);
        if (a->collapse == COLLAPSE_NONE)
                a->collapse_at_s = NAN;
        return cycle_set_range(w);
}

/* --- stalls --- */

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

static void stalls_find(Work *w) {
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
        a->floor_iops = a->steady_iops;
        if (a->steady == STEADY_CYCLING)
                a->floor_iops = a->cycle_low_iops;
        if (lasts && a->stalled_share > STALLED_SHARE_MAX)
                a->floor_iops = fmin(a->floor_iops, stalls.stalled_ios / stalls.stalled_s);
        a->floor_ratio = a->burst_iops > 0 ? a->floor_iops / a->burst_iops : NAN;
}

/* --- what it did last --- */

static void end_find(Work *w) {
        const Series *s = w->series;
        const Regime *last = &w->a->regimes[w->a->n_regimes - 1];
        double silent_s = 0;

        for (size_t i = s->n_points; i-- > 0 && s->points[i].ios <= 0;)
                silent_s += s->points[i].to_s - s->points[i].from_s;

        w->a->peak_iops = extreme_level(s, 0, SERIES_BLOCK_S, fmax);
        w->a->end_from_s = last->from_s;
        w->a->end_to_s = last->to_s;
        w->a->end_iops = last->iops_mean;
        w->a->end_ratio = w->a->burst_iops > 0 ? last->iops_mean / w->a->burst_iops : NAN;
        /* A drive that cycles has stopped before, and come back. */
        if (silent_s * w->a->burst_iops >= SILENT_MIN_IOS && !(w->a->has_cycle && silent_s <= w->a->cycle_period_s))
                w->a->end_silent_s = silent_s;
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
                .collapse = COLLAPSE_NONE, .collapse_ratio = NAN, .collapse_at_s = NAN, .collapse_fall_s = NAN,
                .collapse_trough_iops = NAN, .collapse_recovered_ratio = NAN,
                .collapse_from_s = NAN, .collapse_from_iops = NAN,
                .end_from_s = NAN, .end_to_s = NAN, .end_iops = NAN, .end_ratio = NAN,
                .floor_iops = NAN, .floor_ratio = NAN,
                .cycle_period_s = NAN, .cycle_depth = NAN, .cycle_low_iops = NAN, .cycle_high_iops = NAN,
        };

        if (w.n >= MIN_BLOCKS) {
                int cycles = work_find_cycle(&w);
                int r = cycles < 0 ? cycles : work_set_center(&w);
                if (r >= 0)
                        r = regimes_find(&w);
                if (r >= 0 && cycles == 0)
                        r = end_state_find(&w, &l);
                if (r >= 0 && cycles)
                        r = cycle_judge(&w);
                if (r < 0)
                        return r;

                if (!cycles)
                        collapse_find(&w, l);
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

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
        w->clip_limit = CLIP_SIGMAS * fmax(NOISE_FLOOR, mad_sigma_inplace(residual, w->n));

        for (size_t i = 0; i < w->n; i++)
                w->y[i] = fmin(fmax(w->series->blocks[i].y, w->center[i] - w->clip_limit),
                               w->center[i] + w->clip_limit);

        w->lrv = long_run_variance(w->y, w->n);
        if (w->lrv < 0)
                return -ENOMEM;
        w->penalty = PENALTY_FACTOR * w->lrv * log((double) w->n);
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

int regimes_find(Work *w) {
        _cleanup_free_ size_t *starts = NULL;
        size_t n_starts;

        int r = work_set_center(w);
        if (r >= 0)
                r = work_clip(w);
        if (r >= 0)
                r = segment_fpop(w->y, w->n, w->penalty, &starts, &n_starts);
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
        w->end_block = w->a->regimes[w->a->n_regimes - 1].from_block;
        return r;
}

/* SPDX-License-Identifier: MIT */

/*
 * A drive that goes up and down for good has no end state but the cycle. One that did so for a while, and then came to
 * rest, is judged by where it rests; its ups and downs are then one state before that, so that none of them is a fall,
 * and no peak of them a burst. After a cycle that is over the rest is looked at as a curve of its own.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/analysis-internal.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define TREND_MIN_PERIODS 5 /* of fewer a line tells nothing */

/* Of each cycle, from fall to fall, the lowest and highest block; of these the medians. -ENOMEM. */
static int cycle_set_range(Work *w, const Cycle *c) {
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

static int cycle_tell(Work *w, const Cycle *c) {
        w->a->has_cycle = true;
        w->a->cycle_period_s = c->period_s;
        w->a->cycle_depth = c->depth;
        return cycle_set_range(w, c);
}

static int past_add(Work *w, const Cycle *c) {
        PastCycle *past = reallocarray(w->past, w->n_past + 1, sizeof(PastCycle));

        if (!past)
                return -ENOMEM;
        w->past = past;
        w->past[w->n_past++] = (PastCycle){
                .from = c->falls[0],
                .to = c->end,
                .period_s = c->period_s,
                .high_iops = w->a->cycle_high_iops,
        };
        w->a->cycle_until_s = w->series->blocks[c->end].from_s;
        return 0;
}

static void cycle_shift(Cycle *c, size_t n) {
        for (size_t i = 0; i < c->n_falls; i++)
                c->falls[i] += n;
        c->end += n;
}

int cycles_find(Work *w) {
        _cleanup_free_ double *levels = calloc(w->n, sizeof(double));
        size_t from = 0;

        if (!levels)
                return -ENOMEM;
        for (size_t i = 0; i < w->n; i++)
                levels[i] = w->series->blocks[i].level;

        for (;;) {
                _cleanup_(cycle_done) Cycle cycle = {};
                int r = cycle_find(levels + from, w->n - from, w->series->block_s, &cycle);
                if (r <= 0)
                        return r;

                cycle_shift(&cycle, from);
                r = cycle_tell(w, &cycle);
                if (r < 0)
                        return r;
                if (cycle.end == w->n) {
                        w->a->cycle_until_s = NAN;
                        w->cycle = cycle;
                        cycle = (Cycle){};
                        return 1;
                }
                from = cycle.end;
                r = past_add(w, &cycle);
                if (r < 0)
                        return r;
        }
}

/* ln of the level of each period, from fall to fall. */
static void cycle_set_periods(const Work *w, double *ret) {
        const Cycle *c = &w->cycle;

        for (size_t k = 0; k + 1 < c->n_falls; k++)
                ret[k] = series_y(series_level(w->series, c->falls[k], c->falls[k + 1]), w->series->block_s);
}

/* Where a line through n periods goes, if that would matter over all of them and noise does not explain it. */
static int line_through_periods(const double *y, size_t n, size_t n_all, double variance, double *ret_slope) {
        Line line = line_fit(y, n);
        double scatter = fmax(variance, line.sum_rr / (double) (n - 2));
        bool matters = fabs(line.slope) * (double) n_all >= REGIME_MIN_STEP;
        bool explained = fabs(line.slope) <= MOVE_SIGMAS * sqrt(scatter / line.sum_tt);

        *ret_slope = line.slope;
        return matters && !explained ? sign_of(line.slope) : 0;
}

/*
 * Whether the periods themselves go up or down, for the mean of a cycle that declines is what it has ceased to do: by
 * their last half; or by all, whose line noise hides less of, if the last half goes on in the same way. variance: of a
 * period, as differences know it; of so few it can be too little.
 */
static int periods_trend(const double *y, size_t n, double variance) {
        size_t enough = MIN(n, (size_t) TREND_MIN_PERIODS), half = MAX(n / 2, enough);
        double of_half, of_all;
        int trend = line_through_periods(y + n - half, half, n, variance, &of_half);

        if (trend != 0)
                return trend;
        trend = line_through_periods(y, n, n, variance, &of_all);
        return trend * of_half >= GOES_ON_SHARE * fabs(of_all) ? trend : 0;
}

/* The burst is its mean over whole periods of the first half, or a regime before that which stands above its peaks. */
static void cycle_find_burst(Work *w) {
        Analysis *a = w->a;
        const SeriesBlock *blocks = w->series->blocks;
        size_t first = w->cycle.falls[0], middle = w->cycle.falls[w->cycle.n_falls / 2];

        a->burst_iops = series_level(w->series, first, middle);
        a->burst_from_s = blocks[first].from_s;
        a->burst_to_s = blocks[middle].from_s;

        /* The first fall may be that of the burst: its regime need not end at the very block. */
        for (size_t i = 0; i < a->n_regimes && a->regimes[i].from_block + a->regimes[i].to_block < 2 * first; i++) {
                const Regime *r = &a->regimes[i];
                bool is_peak = a->trend != 0 && r->length_s <= w->cycle.period_s; /* the first stand above the usual */
                if (!is_peak && r->iops_mean > a->burst_iops && r->iops_mean > CYCLE_ABOVE * a->cycle_high_iops) {
                        a->burst_iops = r->iops_mean;
                        a->burst_from_s = r->from_s;
                        a->burst_to_s = a->collapse_at_s = a->collapse_from_s = r->to_s;
                }
        }
}

/* Where the period after differs most from the one before, which no ripple blurs, in blocks [from, to); 0: nowhere. */
static size_t greatest_step(const Work *w, size_t period, size_t from, size_t to, double *ret_step) {
        size_t at = 0;

        *ret_step = 0;
        for (size_t i = MAX(from, period); i < to && i + period <= w->n; i++) {
                double before = series_y(series_level(w->series, i - period, i), w->series->block_s);
                double step = before - series_y(series_level(w->series, i, i + period), w->series->block_s);
                if (step > *ret_step) {
                        *ret_step = step;
                        at = i;
                }
        }
        return at;
}

/* When it fell from that burst: in one step, which is more than half of what it lost, and which somebody saw. */
static void cycle_find_fall(Work *w, size_t period, size_t burst_from, size_t middle) {
        Analysis *a = w->a;
        double step;
        size_t at = greatest_step(w, period, burst_from, middle, &step);

        if (step <= log(a->burst_iops / a->steady_iops) / 2)
                return;
        if (w->series->blocks[at].after_cut)
                a->collapse_across_cut = true;
        else
                a->burst_to_s = a->collapse_at_s = a->collapse_from_s = w->series->blocks[at].from_s;
}

/*
 * A drive that ripples falls like any other. What held above the peaks in the first half, for a period or longer and
 * for as long as no passage takes, was its burst, though it rippled then already.
 */
static void cycle_find_height(Work *w) {
        Analysis *a = w->a;
        const SeriesBlock *blocks = w->series->blocks;
        size_t period = (size_t) round(w->cycle.period_s / w->series->block_s);
        size_t window = MAX(period, (size_t) ceil(transient_max_s(w) / w->series->block_s)), best = 0;
        size_t middle = w->cycle.falls[w->cycle.n_falls / 2];
        size_t first = w->n_past > 0 ? w->past[w->n_past - 1].to : 0; /* cycles that are over are one regime */
        double highest = fmax(a->burst_iops, CYCLE_ABOVE * a->cycle_high_iops);

        for (size_t end = first + window; end <= middle; end++) {
                double level = series_level(w->series, end - window, end);
                if (level > highest) {
                        highest = level;
                        best = end;
                }
        }
        if (best == 0)
                return;
        a->burst_iops = highest;
        a->burst_from_s = blocks[best - window].from_s;
        a->burst_to_s = blocks[best - 1].to_s;
        a->collapse_at_s = a->collapse_from_s = NAN;
        cycle_find_fall(w, period, best - window, middle);
}

/* Its level is the mean over whole periods of the second half; of one that moves, of the last quarter. */
static void cycle_set_state(Work *w, int trend) {
        Analysis *a = w->a;
        const Cycle *c = &w->cycle;
        size_t n = c->n_falls - 1, from = c->falls[c->n_falls / 2];

        a->trend = trend;
        a->steady = trend == 0 ? STEADY_CYCLING : STEADY_DRIFTING;
        a->steady_since_s = w->series->blocks[c->falls[0]].from_s;
        if (trend != 0) {
                from = w->end_block = c->falls[n - MAX((size_t) 1, n / 4)];
                a->steady_since_s = w->series->blocks[from].from_s;
        }
        a->steady_iops = series_level(w->series, from, c->falls[n]);
}

int cycle_judge(Work *w) {
        Analysis *a = w->a;
        size_t n = w->cycle.n_falls - 1;
        _cleanup_free_ double *y = calloc(n, sizeof(double));

        if (!y)
                return -ENOMEM;
        cycle_set_periods(w, y);
        double variance = long_run_variance(y, n);
        if (variance < 0)
                return -ENOMEM;

        cycle_set_state(w, periods_trend(y, n, variance));
        cycle_find_burst(w);
        cycle_find_height(w);
        collapse_set_ratio(a, 0);
        if (a->collapse == COLLAPSE_NONE)
                a->collapse_at_s = a->collapse_from_s = NAN;
        return 0;
}

/* SPDX-License-Identifier: MIT */

/*
 * A cycle is falls at regular distances. Noise hides them: around the middle of a slow wave it makes many of one. So
 * the curve is looked at as it is, and then smoothed more and more. And a burst before the cycle hides its heights: so
 * the scale is taken from the whole curve, and then from its last half, of which a cycle that matters has its share.
 */

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cycle.h"
#include "analysis/noise.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define MIN_T_S 600.0
#define MIN_BLOCKS 30
#define MIN_DEPTH 0.3       /* more than noise of a tenth spans, which is 1 − e^(−2 · 1.645 · 0.1) = 0.28 */
#define MIN_FALLS 5         /* four distances: fewer are alike by chance */
#define MIN_SPAN 0.5        /* share of the curve between the first and the last fall: what the drive mostly did */
#define MAX_ODD_SHARE 0.2   /* of distances that are off the median ... */
#define ODD 0.25            /* ... by more than this share of it */
#define DEAD_SHARE 0.01     /* of the median: what a dead stop counts as, else one zero would set the scale */

/* Half of a cycle must be able to be a regime: of a quicker one nothing can pass for a collapse. */
#define MIN_PERIOD_S 60.0
/* Noise that is correlated over tens of seconds makes a few quick and regular falls now and then, but not many. */
#define QUICK_PERIOD_S 120.0
#define MIN_QUICK_FALLS 10

#define MAX_SMOOTHED 27 /* blocks: of 10 s, so that cycles of 18 minutes and more show in any noise */
#define MIN_PERIOD_WINDOWS 4

/* Blocks at which z comes to its lower third after having been in its upper third. */
static int find_falls(const double *z, size_t n, double lo, double hi, Cycle *cycle) {
        cycle->falls = calloc(n, sizeof(size_t));
        if (!cycle->falls)
                return -ENOMEM;

        bool was_high = false;
        for (size_t i = 0; i < n; i++) {
                if (z[i] >= lo + 2 * (hi - lo) / 3)
                        was_high = true;
                else if (was_high && z[i] <= lo + (hi - lo) / 3) {
                        cycle->falls[cycle->n_falls++] = i;
                        was_high = false;
                }
        }
        return 0;
}

/* 1 if the falls come at regular distances, of which each holds `window` blocks often enough; 0; -ENOMEM. */
static int set_period(Cycle *cycle, double block_s, size_t window) {
        size_t n = cycle->n_falls - 1, n_odd = 0;
        _cleanup_free_ double *scratch = calloc(n, sizeof(double));
        if (!scratch)
                return -ENOMEM;

        for (size_t i = 0; i < n; i++)
                scratch[i] = (double) (cycle->falls[i + 1] - cycle->falls[i]) * block_s;
        cycle->period_s = median_inplace(scratch, n);

        for (size_t i = 0; i < n; i++)
                if (fabs(scratch[i] - cycle->period_s) > ODD * cycle->period_s)
                        n_odd++;

        double min_s = window > 1 ? (double) (MIN_PERIOD_WINDOWS * window) * block_s : MIN_PERIOD_S;
        return cycle->period_s >= fmax(min_s, MIN_PERIOD_S) &&
               (cycle->period_s >= QUICK_PERIOD_S || cycle->n_falls >= MIN_QUICK_FALLS) &&
               (double) n_odd <= MAX_ODD_SHARE * (double) n;
}

/* Means of `window` values around each; at the ends of what there is. Those further out than lo and hi are clipped. */
static void smooth(const double *z, size_t n, double lo, double hi, size_t window, double *ret) {
        size_t half = window / 2, from = 0, to = 0;
        double sum = 0;

        for (size_t i = 0; i < n; i++) {
                for (; to < MIN(n, i + half + 1); to++)
                        sum += fmin(fmax(z[to], lo), hi);
                for (; from + half < i; from++)
                        sum -= fmin(fmax(z[from], lo), hi);
                ret[i] = sum / (double) (to - from);
        }
}

typedef struct Scale {
        double lo, hi;
} Scale;

static double scale_depth(Scale s) {
        return 1 - exp(s.lo - s.hi);
}

/* Where z is low and where it is high, by its values from `from` on; scratch holds n. */
static Scale scale_of(const double *z, size_t n, size_t from, double *scratch) {
        memcpy(scratch, z + from, (n - from) * sizeof(double));
        double lo = quantile_inplace(scratch, n - from, 0.05);
        return (Scale){ lo, quantile_inplace(scratch, n - from, 0.95) };
}

/* Whether z has a cycle on this scale: 1 and *ret, 0, -ENOMEM. */
static int find_on_scale(const double *z, size_t n, double block_s, size_t window, Scale scale, Cycle *ret) {
        _cleanup_(cycle_done) Cycle cycle = { .hi_y = scale.hi, .depth = scale_depth(scale) };

        int r = find_falls(z, n, scale.lo, scale.hi, &cycle);
        if (r < 0)
                return r;
        if (cycle.n_falls < MIN_FALLS ||
            (double) (cycle.falls[cycle.n_falls - 1] - cycle.falls[0]) < MIN_SPAN * (double) n)
                return 0;

        r = set_period(&cycle, block_s, window);
        if (r <= 0)
                return r;
        *ret = cycle;
        cycle = (Cycle){};
        return 1;
}

/* As cycle_find(), on the scale of what comes from block `from` on. scratch: two arrays of n. */
static int find_smoothed(const double *z, size_t n, double block_s, size_t from, double *scratch[2], Cycle *ret) {
        Scale whole = scale_of(z, n, from, scratch[0]);
        int r = 0;

        for (size_t window = 1; r == 0 && window <= MAX_SMOOTHED; window *= 3) {
                Scale scale = whole;
                if (window > 1) {
                        smooth(z, n, whole.lo, whole.hi, window, scratch[1]);
                        scale = scale_of(scratch[1], n, from, scratch[0]);
                }
                if (scale_depth(scale) < MIN_DEPTH)
                        break;
                r = find_on_scale(window > 1 ? scratch[1] : z, n, block_s, window, scale, ret);
        }
        return r;
}

int cycle_find(const double *levels, size_t n, double block_s, Cycle *ret) {
        if (n < MIN_BLOCKS || (double) n * block_s < MIN_T_S)
                return 0;

        _cleanup_free_ double *z = calloc(3 * n, sizeof(double));
        if (!z)
                return -ENOMEM;
        double *scratch[2] = { z + n, z + 2 * n };

        memcpy(z, levels, n * sizeof(double));
        double floor_level = fmax(1, median_inplace(z, n) * DEAD_SHARE);
        for (size_t i = 0; i < n; i++)
                z[i] = log(fmax(levels[i], floor_level));

        int r = find_smoothed(z, n, block_s, 0, scratch, ret);
        return r != 0 ? r : find_smoothed(z, n, block_s, n / 2, scratch, ret);
}

void cycle_done(Cycle *cycle) {
        free(cycle->falls);
        *cycle = (Cycle){};
}

/* SPDX-License-Identifier: MIT */

/*
 * A cycle is falls at regular distances. Noise hides them: around the middle of a slow wave it makes many of one. So
 * the curve is looked at as it is, and then smoothed more and more. What was before the cycle or came after it (a
 * burst, or rest at a lower level) hides its range: so the scale is taken from the whole curve, and then from its
 * halves, of which a cycle that matters has its share. Last, it is looked for where its peaks take hardly any time.
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
#define CYCLE_MIN_BLOCKS 30
#define MIN_FALLS 5         /* four distances: fewer are alike by chance */
#define MIN_SPAN 0.5        /* share of the curve between the first and the last fall: what the drive mostly did */
#define MAX_ODD_SHARE 0.2   /* of distances that are off the median ... */
#define ODD 0.25            /* ... by more than this share of it */
#define DEAD_SHARE 0.01     /* of the median: what a dead stop counts as, else one zero would set the scale */

/* How much of the time a cycle is at its bottom and at its height, and how far it must go down from there. */
typedef struct Duty {
        double low, high;
        double min_depth;
} Duty;

/* More than noise of a tenth spans, which is 1 − e^(−2 · 1.645 · 0.1) = 0.28. */
static const Duty usual = { 0.05, 0.05, 0.3 };
/* Of a shorter peak each is a burst by itself; noise spans more there. A dip so short is a stall, and no floor. */
static const Duty brief_peaks = { 0.05, 0.02, 0.4 };

/* The scale on which a cycle is looked for: that of blocks [from, to). */
typedef struct Look {
        Duty duty;
        size_t from, to;
} Look;

/* Half of a cycle must be able to be a regime: of a quicker one nothing can pass for a collapse. */
#define MIN_PERIOD_S 60.0
/* Noise that is correlated over tens of seconds makes a few quick and regular falls now and then, but not many. */
#define QUICK_PERIOD_S 120.0
#define MIN_QUICK_FALLS 10

#define OVERDUE 1.5 /* of the longest distance between two falls: then no more is to be expected */
#define OVERDUE_PERIODS 3.0 /* where the last falls are out of step: one may be missing, and one be of noise */

#define MAX_SMOOTHED 27 /* blocks: of 10 s, so that cycles of 18 minutes and more show in any noise */

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

static bool is_odd(double distance_s, double period_s) {
        return fabs(distance_s - period_s) > ODD * period_s;
}

/* 1 if the falls come at regular distances; 0; -ENOMEM. */
static int set_period(Cycle *cycle, double block_s) {
        size_t n = cycle->n_falls - 1, n_odd = 0;
        _cleanup_free_ double *scratch = calloc(n, sizeof(double));
        if (!scratch)
                return -ENOMEM;

        for (size_t i = 0; i < n; i++)
                scratch[i] = (double) (cycle->falls[i + 1] - cycle->falls[i]) * block_s;
        cycle->period_s = median_inplace(scratch, n);

        for (size_t i = 0; i < n; i++)
                if (is_odd(scratch[i], cycle->period_s))
                        n_odd++;

        return cycle->period_s >= MIN_PERIOD_S &&
               (cycle->period_s >= QUICK_PERIOD_S || cycle->n_falls >= MIN_QUICK_FALLS) &&
               (double) n_odd <= MAX_ODD_SHARE * (double) n;
}

/*
 * Whether the falls came to an end, and where. At rest noise makes falls, too, but none at regular distances: these
 * are left out, if the curve rests for long enough without them.
 */
static void set_end(Cycle *cycle, double block_s, size_t n) {
        size_t n_regular = cycle->n_falls, longest = 0;
        double period = cycle->period_s / block_s;

        while (n_regular > MIN_FALLS &&
               is_odd((double) (cycle->falls[n_regular - 1] - cycle->falls[n_regular - 2]), period))
                n_regular--;
        if ((double) (n - cycle->falls[n_regular - 1]) > OVERDUE_PERIODS * period)
                cycle->n_falls = n_regular;

        for (size_t i = 1; i < cycle->n_falls; i++)
                longest = MAX(longest, cycle->falls[i] - cycle->falls[i - 1]);
        size_t last = cycle->falls[cycle->n_falls - 1];
        bool is_over = (double) (n - last) > OVERDUE * (double) longest;
        cycle->end = is_over ? MIN(n, last + (size_t) round(period)) : n;
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

/* Where z is low and where it is high, by its values in [from, to); scratch holds as many. */
static Scale scale_of(const double *z, Look look, double *scratch) {
        size_t n = look.to - look.from;

        memcpy(scratch, z + look.from, n * sizeof(double));
        double lo = quantile_inplace(scratch, n, look.duty.low);
        return (Scale){ lo, quantile_inplace(scratch, n, 1 - look.duty.high) };
}

/* Whether z has a cycle on this scale: 1 and *ret, 0, -ENOMEM. */
static int find_on_scale(const double *z, size_t n, double block_s, Scale scale, Cycle *ret) {
        _cleanup_(cycle_done) Cycle cycle = { .depth = scale_depth(scale) };

        int r = find_falls(z, n, scale.lo, scale.hi, &cycle);
        if (r < 0)
                return r;
        if (cycle.n_falls < MIN_FALLS ||
            (double) (cycle.falls[cycle.n_falls - 1] - cycle.falls[0]) < MIN_SPAN * (double) n)
                return 0;

        r = set_period(&cycle, block_s);
        if (r <= 0)
                return r;
        set_end(&cycle, block_s, n);
        *ret = cycle;
        cycle = (Cycle){};
        return 1;
}

/* As cycle_find(), on that scale. scratch: two arrays of n. */
static int find_smoothed(const double *z, size_t n, double block_s, Look look, double *scratch[2], Cycle *ret) {
        Scale whole = scale_of(z, look, scratch[0]);
        int r = 0;

        for (size_t window = 1; r == 0 && window <= MAX_SMOOTHED; window *= 3) {
                Scale scale = whole;
                if (window > 1) {
                        smooth(z, n, whole.lo, whole.hi, window, scratch[1]);
                        scale = scale_of(scratch[1], look, scratch[0]);
                }
                if (scale_depth(scale) < look.duty.min_depth)
                        break;
                r = find_on_scale(window > 1 ? scratch[1] : z, n, block_s, scale, ret);
        }
        return r;
}

int cycle_find(const double *levels, size_t n, double block_s, Cycle *ret) {
        if (n < CYCLE_MIN_BLOCKS || (double) n * block_s < MIN_T_S)
                return 0;

        _cleanup_free_ double *z = calloc(3 * n, sizeof(double));
        if (!z)
                return -ENOMEM;
        double *scratch[2] = { z + n, z + 2 * n };

        memcpy(z, levels, n * sizeof(double));
        double floor_level = fmax(1 / block_s, median_inplace(z, n) * DEAD_SHARE);
        for (size_t i = 0; i < n; i++)
                z[i] = log(fmax(levels[i], floor_level));

        const Look looks[] = { { usual, 0, n }, { usual, n / 2, n }, { usual, 0, n / 2 }, { brief_peaks, 0, n } };
        int r = 0;
        for (size_t i = 0; r == 0 && i < ELEMENTSOF(looks); i++)
                r = find_smoothed(z, n, block_s, looks[i], scratch, ret);
        return r;
}

void cycle_done(Cycle *cycle) {
        free(cycle->falls);
        *cycle = (Cycle){};
}

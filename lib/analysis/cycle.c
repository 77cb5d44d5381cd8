/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cycle.h"
#include "analysis/noise.h"
#include "util/cleanup.h"

#define MIN_T_S 600.0
#define MIN_BLOCKS 30
#define MIN_DEPTH 0.3
#define MIN_FALLS 5
#define MIN_SPAN 0.5        /* share of the curve between the first and the last fall */
#define MIN_PERIOD_S 120.0
#define MAX_ODD_SHARE 0.2   /* of distances that are off the median ... */
#define ODD 0.25            /* ... by more than this share of it */
#define DEAD_SHARE 0.01     /* of the median: what a dead stop counts as, else one zero would set the scale */

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

/* 1 if the falls come at regular distances, 0, -ENOMEM. */
static int set_period(Cycle *cycle, double block_s) {
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
        return cycle->period_s >= MIN_PERIOD_S && (double) n_odd <= MAX_ODD_SHARE * (double) n;
}

int cycle_find(const double *levels, size_t n, double block_s, Cycle *ret) {
        _cleanup_(cycle_done) Cycle cycle = {};
        if (n < MIN_BLOCKS || (double) n * block_s < MIN_T_S)
                return 0;

        _cleanup_free_ double *z = calloc(n, sizeof(double)), *scratch = calloc(n, sizeof(double));
        if (!z || !scratch)
                return -ENOMEM;

        memcpy(scratch, levels, n * sizeof(double));
        double floor_level = fmax(1, median_inplace(scratch, n) * DEAD_SHARE);
        for (size_t i = 0; i < n; i++)
                scratch[i] = z[i] = log(fmax(levels[i], floor_level));

        double lo = quantile_inplace(scratch, n, 0.05);
        cycle.hi_y = quantile_inplace(scratch, n, 0.95);
        cycle.depth = 1 - exp(lo - cycle.hi_y);
        if (cycle.depth < MIN_DEPTH)
                return 0;

        int r = find_falls(z, n, lo, cycle.hi_y, &cycle);
        if (r < 0)
                return r;
        if (cycle.n_falls < MIN_FALLS ||
            (double) (cycle.falls[cycle.n_falls - 1] - cycle.falls[0]) < MIN_SPAN * (double) n)
                return 0;

        r = set_period(&cycle, block_s);
        if (r <= 0)
                return r;

        *ret = cycle;
        cycle = (Cycle){};
        return 1;
}

void cycle_done(Cycle *cycle) {
        free(cycle->falls);
        *cycle = (Cycle){};
}

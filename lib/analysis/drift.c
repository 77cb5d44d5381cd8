/* SPDX-License-Identifier: MIT */

/*
 * Stretches are tried from the longest, all there is, each half as long as the one before: the longest knows most, but
 * one that begins after a burst, or after what came back from a trough, is needed to see the level that came last.
 */

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/drift.h"
#include "analysis/noise.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define DRIFT_MIN_BLOCKS 60   /* of fewer the correlation of the noise is not known */
#define SLOPE_SIGMAS 2.5
#define CLIP_SIGMAS 3.0
#define CLIP_MIN 0.1 /* not less, lest a step in a quiet curve be taken for an outlier */

/* A stall is no slope: what lies far from the rest is drawn in. scratch: n values. */
static void clip(const double *y, size_t n, double *scratch, double *ret_y) {
        for (size_t i = 0; i < n; i++)
                scratch[i] = y[i];
        double center = median_inplace(scratch, n);
        double limit = fmax(CLIP_MIN, CLIP_SIGMAS * mad_sigma_inplace(scratch, n));

        for (size_t i = 0; i < n; i++)
                ret_y[i] = fmin(fmax(y[i], center - limit), center + limit);
}

/* ret_hidden: what the noise may hide of the slope, either way. -ENOMEM. clipped, scratch: n values. */
static int slope_fit(const double *y, size_t n, double *clipped, double *scratch, double *ret, double *ret_hidden) {
        clip(y, n, scratch, clipped);

        Line line = line_fit(clipped, n);
        for (size_t i = 0; i < n; i++)
                scratch[i] = clipped[i] - line.intercept - line.slope * (double) i;
        double variance = long_run_variance(scratch, n);
        if (variance < 0)
                return -ENOMEM;

        *ret = line.slope;
        *ret_hidden = SLOPE_SIGMAS * sqrt(variance / line.sum_tt);
        return 0;
}

static bool is_within(double low, double high, double horizon_blocks) {
        return low * horizon_blocks > log1p(-DRIFT_MAX_FALL) && high * horizon_blocks < log1p(DRIFT_MAX_RISE);
}

/*
 * A line through what rose a little and then fell is flat, though it falls. So the last half of the stretch may not be
 * seen to go its own way. 1, 0, -ENOMEM.
 */
static int last_half_is_bounded(const double *y, size_t n, double horizon_blocks, double *clipped, double *scratch) {
        size_t half = n / 2;
        double slope, hidden;

        int r = slope_fit(y + n - half, half, clipped, scratch, &slope, &hidden);
        return r < 0 ? r : fabs(slope) <= hidden || is_within(slope, slope, horizon_blocks);
}

/* 1, 0, -ENOMEM. clipped, scratch: n values. */
static int stretch_is_bounded(const double *y, size_t n, double horizon_blocks, double *clipped, double *scratch) {
        double slope, hidden;
        int r = slope_fit(y, n, clipped, scratch, &slope, &hidden);
        if (r < 0 || !is_within(slope - hidden, slope + hidden, horizon_blocks))
                return r;
        return last_half_is_bounded(y, n, horizon_blocks, clipped, scratch);
}

int drift_is_bounded(const double *y, size_t n, size_t n_min, double block_s, size_t *ret_n) {
        size_t shortest = MAX(n_min, (size_t) DRIFT_MIN_BLOCKS);
        if (n < shortest)
                return 0;

        _cleanup_free_ double *clipped = calloc(n, sizeof(double)), *scratch = calloc(n, sizeof(double));
        if (!clipped || !scratch)
                return -ENOMEM;

        double horizon_blocks = fmax(DRIFT_HORIZON_S / block_s, (double) n);
        for (size_t length = n; length >= shortest; length /= 2) {
                int r = stretch_is_bounded(y + n - length, length, horizon_blocks, clipped, scratch);
                if (r > 0)
                        *ret_n = length;
                if (r != 0)
                        return r;
        }
        return 0;
}

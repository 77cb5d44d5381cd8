/* SPDX-License-Identifier: MIT */

/*
 * The end state is the last level that is more than a passage. It is only called steady where nothing speaks against it
 * lasting: neither its own course, nor the way that led to it, nor what came after.
 */

#include <errno.h>
#include <math.h>

#include "analysis/analysis-internal.h"
#include "util/macro.h"

#define MIN_STEADY_S 600.0 /* two of the passages that real drives make from cliff to flat */

/* What the drive had in spare is used up after one fill, and has been collected once after another. */
#define VOLUME_FILLS 2.0
#define VOLUME_UNKNOWN_S 1800.0 /* the longest burst of those that were recorded lasted less */
#define VOLUME_UNKNOWN_SHARE 0.5

/* One step is a cliff, and a second the end of its trough; from the third on nobody expects this one to be the last. */
#define STAIRS_MIN 3
#define STAIRS_OUTLAST 1.5 /* as long as the longest stair, and half as long again */

/* Of its last seven eighths, six, ... or the last one a level that began to move is looked for. */
#define HINGES 8

/* Of the price of a regime: to choose one of n blocks is worth LRV · ln n. */
#define ANY_BLOCK (1.0 / 3)

/* A wave that is slower than a cycle of five periods: a fifth of it holds three windows and more. */
#define WAVE_WINDOWS 16
#define WAVE_MIN_WINDOWS 4
#define WAVE_MIN_WINDOW_S 300.0 /* the longest passage of a real drive */
#define WAVE_LAG_SHARE 4        /* of a window: what is so much quicker is noise */
#define WAVE_SIGMAS 4.5         /* of sixteen windows the worst, and noise that is slower than the lags know */

/* A drive that has come back from that so often will again. */
#define BREAKS_KNOWN 3

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
        if (half < ANALYSIS_MIN_BLOCKS)
                return 0;
        int r = line_trend(w, w->y + l->to_block - half, half, &last, ret);
        if (r < 0 || *ret != 0)
                return r;
        r = line_trend(w, w->y + l->from_block, n, &whole, &trend);
        if (r >= 0 && trend * last.slope >= GOES_ON_SHARE * fabs(whole.slope))
                *ret = trend;
        return r;
}

/* The line, or the level that began to move after an eighth, two, ... of n values, that leaves least unexplained. */
static Hinge best_hinge(const double *y, size_t n) {
        Hinge best = hinge_fit(y, n, 0);

        for (size_t k = 1; k < HINGES && n - n * k / HINGES >= ANALYSIS_MIN_BLOCKS; k++) {
                Hinge hinge = hinge_fit(y, n, n * k / HINGES);
                if (hinge.sum_rr < best.sum_rr)
                        best = hinge;
        }
        return best;
}

/* By where it goes after having been level for a while, which a line through all of it, or through half, blurs. */
static int regime_hinge_trend(const Work *w, const Regime *l, int *ret) {
        size_t n = l->to_block - l->from_block;
        Hinge hinge = best_hinge(w->y + l->from_block, n);

        *ret = 0;
        if (hinge.at == 0 || fabs(hinge.slope) * (double) (n - hinge.at) < REGIME_MIN_STEP)
                return 0;
        return hinge_direction(w->y + l->from_block, n, &hinge, ret);
}

/* Whether regime l itself still moves, and where to; of its two halves the last knows better. */
static int regime_trend(const Work *w, const Regime *l, int *ret) {
        size_t n = l->to_block - l->from_block, q = MAX((size_t) 1, n / 4);

        *ret = l->passages_way;
        if (l->cycles || l->passages)
                return 0;
        double lrv = long_run_variance(w->y + l->from_block, n);
        if (lrv < 0)
                return -ENOMEM;

        double change = mean_of(w->y + l->to_block - q, q) - mean_of(w->y + l->from_block, q);
        int r = regime_lines_trend(w, l, ret);
        if (r >= 0 && *ret == 0)
                r = regime_hinge_trend(w, l, ret);
        if (r >= 0 && *ret == 0 &&
            fabs(change) > fmax(REGIME_MIN_STEP, MOVE_SIGMAS * sqrt(2 * lrv / (double) q)))
                *ret = sign_of(change);
        return r;
}

/* --- the way to it --- */

static double regime_residuals(const Work *w, const Regime *r) {
        double sum = 0;

        for (size_t i = r->from_block; i < r->to_block; i++)
                sum += (w->y[i] - r->mean_y) * (w->y[i] - r->mean_y);
        return sum;
}

/* The first of a staircase that leads to l in one direction, and not over a cut or from cycles; l if there is none. */
static size_t staircase_begin(const Work *w, size_t l, int direction) {
        const Regime *r = w->a->regimes;
        size_t i = l;

        while (i > 0 && sign_of(r[i].mean_y - r[i - 1].mean_y) == direction && !r[i - 1].cycles &&
               !w->series->blocks[r[i].from_block].after_cut)
                i--;
        return i;
}

/*
 * Whether the last regimes are one straight way, or one that began after a while, cut to pieces, rather than levels: a
 * hinge through them leaves no more unexplained than the levels do. Each level beyond two has its price; and two may
 * change at any block, by which they fit a slope in noise better than it does itself.
 */
static bool staircase_is_slope(const Work *w, size_t begin, size_t l) {
        const Regime *r = w->a->regimes;
        double of_levels = regime_residuals(w, &r[l]);

        for (size_t i = l; i-- > begin;) {
                of_levels += regime_residuals(w, &r[i]);
                Hinge hinge = best_hinge(w->y + r[i].from_block, r[l].to_block - r[i].from_block);
                if (hinge.sum_rr <= of_levels + ((double) (l - i - 1) + ANY_BLOCK) * w->penalty)
                        return true;
        }
        return false;
}

/* Of stairs that are flat only time can tell that the last one was the last. */
static bool staircase_is_young(const Work *w, size_t begin, size_t l) {
        const Regime *r = w->a->regimes;
        double longest_s = 0;

        if (l - begin < STAIRS_MIN)
                return false;
        for (size_t i = begin + 1; i < l; i++) /* the first may have begun long before */
                longest_s = fmax(longest_s, r[i].length_s);
        return r[l].length_s < STAIRS_OUTLAST * longest_s;
}

/* Where the steps to the end state lead on to: one by itself may look level, where noise hides that it is not. */
static int staircase_trend(const Work *w, size_t l) {
        const Regime *r = w->a->regimes;
        int direction = l > 0 ? sign_of(r[l].mean_y - r[l - 1].mean_y) : 0;
        size_t begin = staircase_begin(w, l, direction);

        return staircase_is_slope(w, begin, l) || staircase_is_young(w, begin, l) ? direction : 0;
}

/* --- whether it comes and goes --- */

/* How far the window that is furthest off is from the mean of all. */
static double windows_deviation(const double *y, size_t n, size_t window) {
        double mean = mean_of(y, n), largest = 0;

        for (size_t end = n; end >= window; end -= window)
                largest = fmax(largest, fabs(mean_of(y + end - window, window) - mean));
        return largest;
}

static void wave_set_range(Work *w, const Regime *l, size_t window) {
        Analysis *a = w->a;

        a->wave_low_iops = INFINITY;
        a->wave_high_iops = 0;
        for (size_t end = l->to_block; end >= l->from_block + window; end -= window) {
                double level = series_level(w->series, end - window, end);
                a->wave_low_iops = fmin(a->wave_low_iops, level);
                a->wave_high_iops = fmax(a->wave_high_iops, level);
        }
}

/*
 * A slow wave in loud noise: over lags as long as its quarter the wave itself counts as noise, and hides each of its
 * levels. So the means of windows are judged by what is quicker than they are. 1 if L waves, 0, -ENOMEM.
 */
static int wave_find(Work *w, const Regime *l) {
        const double *y = w->y + l->from_block;
        size_t n = l->to_block - l->from_block;
        size_t window = MAX(n / WAVE_WINDOWS, (size_t) ceil(WAVE_MIN_WINDOW_S / w->series->block_s));

        if (l->cycles || l->passages || n / window < WAVE_MIN_WINDOWS)
                return 0;
        double lrv = long_run_variance_up_to(y, n, MAX(window / WAVE_LAG_SHARE, (size_t) 1));
        if (lrv < 0)
                return -ENOMEM;
        double noise = WAVE_SIGMAS * sqrt(lrv / (double) window);
        if (windows_deviation(y, n, window) <= fmax(REGIME_MIN_STEP, noise))
                return 0;
        wave_set_range(w, l, window);
        return 1;
}

/* --- what came after --- */

/*
 * Which way block i stands out of what is usual around it, and would make a verdict if it stayed there: 1, -1 or 0.
 * Of the last six blocks the running median takes no note, so none of them can begin a regime.
 */
static int block_breaks(const Work *w, size_t i) {
        double off = w->series->blocks[i].y - w->center[i];

        return fabs(off) > fmax(w->clip_limit, -log(RATIO_NONE)) ? sign_of(off) : 0;
}

/* How often as many neighbours stood out that way before; n at the most counts them all. */
static size_t breaks_before(const Work *w, size_t from, size_t to, size_t n, int direction) {
        size_t n_breaks = 0, length = 0;

        for (size_t i = from; i < to; i++) {
                length = block_breaks(w, i) == direction ? length + 1 : 0;
                if (length == n)
                        n_breaks++;
        }
        return n_breaks;
}

/* Where the drive went in its last blocks, if it went further than it is used to: 1, -1 or 0. *ret_from: since when. */
static int end_breaks_away(const Work *w, const Regime *l, size_t *ret_from) {
        int direction = block_breaks(w, w->n - 1);
        size_t from = w->n;

        while (direction != 0 && from > l->from_block && block_breaks(w, from - 1) == direction)
                from--;
        if (direction == 0 || breaks_before(w, l->from_block, from, w->n - from, direction) >= BREAKS_KNOWN)
                return 0;
        *ret_from = from;
        return direction;
}

/* --- */

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

static SteadyState steady_state(const Work *w, const Regime *r, bool moves) {
        if (w->series->total_s < MIN_STEADY_S)
                return STEADY_TOO_SHORT;
        if (moves || r->length_s < fmax(TRANSIENT_S, TRANSIENT_SHARE * w->series->total_s))
                return STEADY_DRIFTING;
        if (w->a->steady_iops <= 0 || !regime_has_volume(w, r))
                return STEADY_NOT_ENOUGH_VOLUME;
        return STEADY_STEADY;
}

int end_state_find(Work *w, size_t *ret_l) {
        Analysis *a = w->a;
        size_t l = end_regime(a), last = a->n_regimes - 1;
        const Regime *r = &a->regimes[l];
        int trend, after, waves;

        if (regime_trend(w, r, &trend) < 0)
                return -ENOMEM;
        if (trend == 0 && !r->passages)
                trend = staircase_trend(w, l);
        waves = trend == 0 ? wave_find(w, r) : 0; /* what goes one way does not come back */
        if (waves < 0)
                return -ENOMEM;
        after = l < last ? sign_of(a->regimes[last].mean_y - r->mean_y) : end_breaks_away(w, r, &w->end_block);

        a->steady_since_s = r->from_s;
        a->steady_bytes = regime_bytes(w, r);
        a->steady_iops = trend != 0 ? series_level(w->series, regime_last_quarter(r), r->to_block) : r->iops_mean;
        a->trend = after != 0 ? after : trend;
        a->steady = steady_state(w, r, a->trend != 0 || waves || l < last || r->passages);
        *ret_l = l;
        return 0;
}

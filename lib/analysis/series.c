/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/noise.h"
#include "analysis/series.h"
#include "util/cleanup.h"
#include "util/macro.h"

static double point_duration_s(const SeriesPoint *p) {
        return p->to_s - p->from_s;
}

static int points_median(const SeriesPoint *points, size_t n, bool of_ios, double *ret) {
        if (n == 0) {
                *ret = 0;
                return 0;
        }

        _cleanup_free_ double *x = calloc(n, sizeof(double));
        if (!x)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                x[i] = of_ios ? points[i].ios : point_duration_s(&points[i]);
        *ret = median_inplace(x, n);
        return 0;
}

/* Copies what is neither cut nor too soon after a cut nor a short end. */
static int series_copy_points(Series *s, const SeriesPoint *points, size_t n) {
        size_t first = 0, last = n;
        if (last > first && point_duration_s(&points[first]) < SERIES_SHORT_SHARE * s->step_s)
                first++;
        if (last > first && point_duration_s(&points[last - 1]) < SERIES_SHORT_SHARE * s->step_s)
                last--;

        s->points = calloc(MAX(n, (size_t) 1), sizeof(SeriesPoint));
        if (!s->points)
                return -ENOMEM;

        double quiet_until_s = -INFINITY;
        bool after_cut = false;
        for (size_t i = first; i < last; i++) {
                if (points[i].cut)
                        quiet_until_s = points[i].to_s + SERIES_CUT_AFTER_S;
                if (points[i].cut || points[i].from_s < quiet_until_s) {
                        after_cut = true;
                        continue;
                }

                s->points[s->n_points] = points[i];
                s->points[s->n_points].cut = after_cut; /* from here on: something is missing before it */
                s->n_points++;
                s->total_s += point_duration_s(&points[i]);
                after_cut = false;
        }
        return 0;
}

static void series_add_block(Series *s, size_t first, size_t n) {
        SeriesBlock block = {
                .from_s = s->points[first].from_s,
                .to_s = s->points[first + n - 1].to_s,
                .first_point = first,
                .n_points = n,
                .after_cut = s->points[first].cut,
        };
        for (size_t i = first; i < first + n; i++) {
                block.duration_s += point_duration_s(&s->points[i]);
                block.ios += s->points[i].ios;
                block.bytes += s->points[i].bytes;
        }
        block.level = block.duration_s > 0 ? block.ios / block.duration_s : 0;
        block.y = series_y(block.level, s->block_s);
        s->blocks[s->n_blocks++] = block;
}

static double series_wanted_block_s(const Series *s) {
        double ios = 0;
        for (size_t i = 0; i < s->n_points; i++)
                ios += s->points[i].ios;

        if (s->total_s < SERIES_SHORT_S && ios >= SERIES_SLOW_IOPS * s->total_s)
                return SERIES_BLOCK_SHORT_S;
        if (ios <= 0)
                return SERIES_BLOCK_S;
        return fmax(SERIES_BLOCK_S, s->total_s * fmin(SERIES_BLOCK_IOS / ios, 1 / SERIES_SLOW_BLOCKS));
}

static int series_make_blocks(Series *s) {
        double wanted_s = series_wanted_block_s(s);
        size_t per_block = 1;
        if (s->step_s > 0 && wanted_s > s->step_s)
                per_block = (size_t) fmax(1, round(wanted_s / s->step_s));
        per_block = MAX(per_block, (s->n_points + SERIES_BLOCKS_MAX - 1) / SERIES_BLOCKS_MAX);
        s->block_s = (double) per_block * s->step_s;

        s->blocks = calloc(s->n_points / per_block + 1, sizeof(SeriesBlock));
        if (!s->blocks)
                return -ENOMEM;

        /* A block never reaches over a cut; what does not fill one is dropped. */
        size_t first = 0;
        for (size_t i = 0; i < s->n_points; i++) {
                if (s->points[i].cut)
                        first = i;
                if (i + 1 - first == per_block) {
                        series_add_block(s, first, per_block);
                        first = i + 1;
                }
        }
        return 0;
}

int series_init(Series *ret, const SeriesPoint *points, size_t n) {
        _cleanup_(series_done) Series s = {};

        int r = points_median(points, n, false, &s.step_s);
        if (r >= 0)
                r = series_copy_points(&s, points, n);
        if (r >= 0)
                r = points_median(s.points, s.n_points, true, &s.median_point_ios);
        if (r >= 0)
                r = series_make_blocks(&s);
        if (r < 0)
                return r;

        *ret = s;
        s = (Series){};
        return 0;
}

void series_done(Series *series) {
        free(series->points);
        free(series->blocks);
        *series = (Series){};
}

double series_level(const Series *series, size_t from, size_t to) {
        double ios = 0, duration_s = 0;
        for (size_t i = from; i < to; i++) {
                ios += series->blocks[i].ios;
                duration_s += series->blocks[i].duration_s;
        }
        return duration_s > 0 ? ios / duration_s : 0;
}

double series_host_share(const Series *series, double from_s) {
        double all_s = 0, limited_s = 0, until_s = -INFINITY;

        for (size_t i = 0; i < series->n_points; i++) {
                const SeriesPoint *p = &series->points[i];

                if (p->host_limited)
                        until_s = p->to_s + SERIES_CUT_AFTER_S;
                if (p->from_s < from_s)
                        continue;
                all_s += point_duration_s(p);
                if (p->from_s < until_s)
                        limited_s += point_duration_s(p);
        }
        return all_s > 0 ? limited_s / all_s : 0;
}

double series_level_with_room(const Series *series, double from_s) {
        double ios = 0, duration_s = 0;

        for (size_t i = 0; i < series->n_points; i++) {
                const SeriesPoint *p = &series->points[i];

                if (p->from_s < from_s || !p->host_had_room)
                        continue;
                ios += p->ios;
                duration_s += point_duration_s(p);
        }
        return duration_s >= SERIES_ROOM_MIN_S ? ios / duration_s : NAN;
}

double series_extreme(const Series *series, size_t from, double window_s, double (*pick)(double, double)) {
        size_t window = (size_t) fmax(1, round(window_s / series->block_s));
        double extreme = NAN;

        for (size_t i = from; i + window <= series->n_blocks; i++)
                extreme = pick(extreme, series_level(series, i, i + window));
        return extreme;
}

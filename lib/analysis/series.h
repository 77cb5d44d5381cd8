/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What the analysis works on: one direction of one phase as a sequence of intervals, and the same in blocks
 * of about ten seconds. Times are seconds of the phase's running time.
 */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct SeriesPoint {
        double from_s;
        double to_s;
        double ios;   /* completed in it; a count, or (imports) a rate times the interval */
        double bytes;
        bool cut;     /* pause, outage or starved host: not the drive's doing, left out */
        bool host_limited; /* the host, not the drive, set the pace */
        bool host_had_room; /* far from that, so that the pace was the drive's own */
} SeriesPoint;

/* What is cut out besides the cut itself: a drive that rested is not itself at once. */
#define SERIES_CUT_AFTER_S 30.0

/* Less of the time in which the host had room tells no level. */
#define SERIES_ROOM_MIN_S 10.0

/* A first or last sample shorter than this share of the usual one is dropped. */
#define SERIES_SHORT_SHARE 0.9

#define SERIES_BLOCK_S 10.0       /* usual length of a block */
#define SERIES_BLOCK_SHORT_S 1.0  /* of a phase under SERIES_SHORT_S, unless it is slower than SERIES_SLOW_IOPS */
#define SERIES_SHORT_S 600.0
#define SERIES_SLOW_IOPS 20.0
#define SERIES_BLOCK_IOS 10.0     /* on average, of a drive that is slower still; chance alone moves fewer by half */
#define SERIES_SLOW_BLOCKS 30.0   /* but no fewer blocks than these */

/*
 * At most so many blocks, whatever it takes: 22 h in blocks of 10 s. Of a slight decline without noise the search for
 * regimes has to remember every block: four times the time for twice the blocks.
 */
#define SERIES_BLOCKS_MAX 8192

typedef struct SeriesBlock {
        double from_s; /* in the phase, cuts included */
        double to_s;
        double duration_s; /* of its samples */
        double ios;
        double bytes;
        double level;  /* ios / duration_s */
        double y;      /* series_y() of it */
        bool after_cut; /* something was cut out just before it */
        size_t first_point; /* in Series.points; a block holds whole samples */
        size_t n_points;
} SeriesBlock;

typedef struct Series {
        SeriesPoint *points; /* without what was cut and dropped */
        size_t n_points;
        SeriesBlock *blocks;
        size_t n_blocks;
        double step_s;   /* median length of a sample */
        double block_s;  /* nominal length of a block: whole samples */
        double total_s;  /* T: what is left, in seconds */
        double median_point_ios;
} Series;

/* What levels are compared by: their logarithm. Less than one I/O in a block cannot be told from none. */
static inline double series_y(double level, double block_s) {
        return log(fmax(level, 1 / block_s));
}

/* Copies points (n, in order of time). -ENOMEM. No points: an empty series. */
int series_init(Series *ret, const SeriesPoint *points, size_t n);
void series_done(Series *series);

/* Σ ios / Σ duration of blocks [from, to); 0 if there are none. */
double series_level(const Series *series, size_t from, size_t to);

/*
 * Share of the time since from_s (of the phase; NaN: all of it) in which the host set the pace, or which follows that
 * within SERIES_CUT_AFTER_S, 0..1. Where that was the exception it was cut out, and is not there any more.
 */
double series_host_share(const Series *series, double from_s);

/* Level since from_s of the samples in which the host had room; NaN if they last less than SERIES_ROOM_MIN_S. */
double series_level_with_room(const Series *series, double from_s);

/*
 * The lowest or highest (pick: fmin or fmax) level of any window_s seconds, at least one block, from block `from` on;
 * NaN if there are not so many.
 */
double series_extreme(const Series *series, size_t from, double window_s, double (*pick)(double, double));

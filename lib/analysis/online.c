/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/criteria.h"
#include "analysis/cycle.h"
#include "analysis/drift.h"
#include "analysis/noise.h"
#include "analysis/online.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define N_ROUNDS 10 /* before a declaration; the last N_WINDOW are held against SNIA's test */
#define N_WINDOW SNIA_N_WINDOW
#define ROUND_MIN_S 60.0
#define ROUND_FILLS 0.2
#define ROUND_SHARE_UNKNOWN 0.1   /* capacity unknown: of the time since the phase began */
#define DECLARE_MIN_UNKNOWN_S 3600.0

#define BEFORE_EXCURSION 0.05     /* of the five rounds before: a slow decline passes SNIA's test */

#define LOOK_AGAIN_SHARE 0.1      /* all blocks are looked at again when a tenth more came: O(1) a sample */

#define CUSUM_DRIFT 0.075
#define CUSUM_MIN_LIMIT 0.5
#define CUSUM_LIMIT_SIGMAS 10.0
#define CLIP_MIN 0.25
#define CLIP_SIGMAS 3.0

#define N_LAGS 5 /* 1, 2, 4, 8, 16 blocks */
#define DIFFERENCE_CLIP 0.5

/* Differences between neighbouring means of d blocks, within one round. */
typedef struct Lag {
        double sum;       /* of the blocks since the last mean */
        unsigned n;
        double previous;  /* mean; NaN: none in this round */
        double sum_squares;
        uint64_t count;
} Lag;

typedef struct Round {
        double from_s;
        double ios, duration_s, bytes;
        size_t n_blocks;
} Round;

struct SteadyDetector {
        double capacity_bytes;
        size_t points_per_block;
        double block_s;

        SeriesPoint block; /* being filled */
        double block_duration_s;
        size_t n_block_points;
        double quiet_until_s;
        double running_s; /* since the phase began, cuts left out */

        double *levels, *y;   /* of all blocks so far, and their logarithms */
        size_t n_levels, allocated;
        size_t alarm_level;   /* the first after the last alarm */
        size_t next_look;     /* number of levels */

        Round round; /* being filled */
        Round rounds[N_ROUNDS]; /* the latest, oldest first */
        size_t n_rounds;
        Lag lags[N_LAGS];

        bool declared;
        SteadyDecision decision;
        double ref;
        double up, down;
};

static void lags_start_round(SteadyDetector *d) {
        for (size_t i = 0; i < N_LAGS; i++) {
                d->lags[i].sum = 0;
                d->lags[i].n = 0;
                d->lags[i].previous = NAN;
        }
}

static void lags_add(SteadyDetector *d, double y) {
        for (size_t i = 0; i < N_LAGS; i++) {
                Lag *lag = &d->lags[i];
                lag->sum += y;
                if (++lag->n < 1U << i)
                        continue;

                double mean = lag->sum / lag->n;
                if (!isnan(lag->previous)) {
                        double delta = fmin(fmax(mean - lag->previous, -DIFFERENCE_CLIP), DIFFERENCE_CLIP);
                        lag->sum_squares += delta * delta;
                        lag->count++;
                }
                lag->previous = mean;
                lag->sum = 0;
                lag->n = 0;
        }
}

static double variance(const SteadyDetector *d) {
        double v = NOISE_FLOOR * NOISE_FLOOR;
        for (size_t i = 0; i < N_LAGS; i++)
                if (d->lags[i].count > 0)
                        v = fmax(v, (double) (1U << i) * d->lags[i].sum_squares / (2 * (double) d->lags[i].count));
        return v;
}

static void forget_rounds(SteadyDetector *d) {
        d->n_rounds = 0;
        d->round = (Round){};
        memset(d->lags, 0, sizeof(d->lags));
        lags_start_round(d);
}

static double rounds_level(const Round *rounds, size_t n) {
        double ios = 0, duration_s = 0;
        for (size_t i = 0; i < n; i++) {
                ios += rounds[i].ios;
                duration_s += rounds[i].duration_s;
        }
        return duration_s > 0 ? ios / duration_s : 0;
}

/* Of the logarithms, not the logarithm of the mean: noise lifts that above what the blocks to come are held against. */
static double last_mean_y(const SteadyDetector *d, size_t n) {
        double sum = 0;
        for (size_t i = d->n_levels - n; i < d->n_levels; i++)
                sum += d->y[i];
        return sum / (double) n;
}

static bool rounds_pass_snia(const Round *rounds) {
        SniaWindow window = {};
        double levels[N_WINDOW];
        for (size_t i = 0; i < N_WINDOW; i++)
                levels[i] = rounds_level(&rounds[i], 1);
        snia_window_set(&window, levels);
        return window.steady;
}

static bool rounds_are_steady(const SteadyDetector *d) {
        if (d->n_rounds < N_ROUNDS || (d->capacity_bytes <= 0 && d->running_s < DECLARE_MIN_UNKNOWN_S))
                return false;

        const Round *last = d->rounds + N_ROUNDS - N_WINDOW;
        double before = rounds_level(d->rounds, N_ROUNDS - N_WINDOW);
        return rounds_pass_snia(last) && fabs(rounds_level(last, N_WINDOW) - before) <= BEFORE_EXCURSION * before;
}

/* What all blocks say, now and then; *ret_n: how many of the last are known not to drift. 1, 0, -ENOMEM. */
static int blocks_are_steady(SteadyDetector *d, size_t *ret_n) {
        if (d->n_levels < d->next_look)
                return 0;
        d->next_look = d->n_levels + (size_t) ceil(LOOK_AGAIN_SHARE * (double) d->n_levels);

        size_t n_window = 0;
        for (size_t i = N_ROUNDS - N_WINDOW; i < N_ROUNDS; i++)
                n_window += d->rounds[i].n_blocks;
        _cleanup_(cycle_done) Cycle cycle = {};
        int r = cycle_find(d->levels, d->n_levels, d->block_s, &cycle);
        if (r < 0)
                return r;

        /* Of cycles that are over the rest may be steady; if they go on there is no rest. */
        size_t begin = r > 0 ? MAX(d->alarm_level, cycle.end) : d->alarm_level;
        return drift_is_bounded(d->y + begin, d->n_levels - begin, n_window, d->block_s, ret_n);
}

static bool round_is_full(const SteadyDetector *d) {
        if (d->round.duration_s < ROUND_MIN_S)
                return false;
        if (d->capacity_bytes > 0)
                return d->round.bytes >= ROUND_FILLS * d->capacity_bytes;
        return d->round.duration_s >= ROUND_SHARE_UNKNOWN * d->running_s;
}

static int end_round(SteadyDetector *d) {
        if (d->n_rounds == N_ROUNDS)
                memmove(&d->rounds[0], &d->rounds[1], (--d->n_rounds) * sizeof(Round));
        d->rounds[d->n_rounds++] = d->round;
        d->round = (Round){};
        lags_start_round(d);

        if (d->declared || !rounds_are_steady(d))
                return STEADY_UNCHANGED;
        size_t n;
        int r = blocks_are_steady(d, &n);
        if (r <= 0)
                return r;

        const Round *last = d->rounds + N_ROUNDS - N_WINDOW;
        d->declared = true;
        d->up = d->down = 0;
        d->decision = (SteadyDecision){
                .at_s = d->block.to_s,
                .since_s = last[0].from_s,
                .iops = rounds_level(last, N_WINDOW),
        };
        d->ref = last_mean_y(d, n); /* the five rounds of a small drive are minutes, too few for a mean */
        return STEADY_DECLARED;
}

/* Whether the level of the declaration has been left. */
static bool watch(SteadyDetector *d, double y) {
        double v = variance(d), clip = fmax(CLIP_MIN, CLIP_SIGMAS * sqrt(v));
        double u = fmin(fmax(y - d->ref, -clip), clip);

        d->up = fmax(0, d->up + u - CUSUM_DRIFT);
        d->down = fmax(0, d->down - u - CUSUM_DRIFT);
        return fmax(d->up, d->down) > fmax(CUSUM_MIN_LIMIT, CUSUM_LIMIT_SIGMAS * v / CUSUM_DRIFT);
}

static int levels_grow(SteadyDetector *d) {
        size_t allocated = MAX(d->allocated * 2, (size_t) 512);
        double *levels = reallocarray(d->levels, allocated, sizeof(double));
        if (!levels)
                return -ENOMEM;
        d->levels = levels;

        double *y = reallocarray(d->y, allocated, sizeof(double));
        if (!y)
                return -ENOMEM;
        d->y = y;
        d->allocated = allocated;
        return 0;
}

static int levels_add(SteadyDetector *d, double level, double y) {
        int r = d->n_levels == d->allocated ? levels_grow(d) : 0;
        if (r < 0)
                return r;
        d->levels[d->n_levels] = level;
        d->y[d->n_levels++] = y;
        return 0;
}

static int end_block(SteadyDetector *d) {
        double level = d->block_duration_s > 0 ? d->block.ios / d->block_duration_s : 0;
        double y = series_y(level, d->block_s);
        int r = levels_add(d, level, y);
        if (r < 0)
                return r;

        if (d->round.duration_s <= 0)
                d->round.from_s = d->block.from_s;
        d->round.ios += d->block.ios;
        d->round.bytes += d->block.bytes;
        d->round.duration_s += d->block_duration_s;
        d->round.n_blocks++;
        lags_add(d, y);

        if (d->declared && watch(d, y)) {
                d->declared = false;
                d->decision.at_s = d->block.to_s;
                d->alarm_level = d->n_levels;
                forget_rounds(d);
                return STEADY_REVOKED;
        }
        return round_is_full(d) ? end_round(d) : STEADY_UNCHANGED;
}

static void start_block(SteadyDetector *d) {
        d->block = (SeriesPoint){};
        d->block_duration_s = 0;
        d->n_block_points = 0;
}

int steady_detector_new(SteadyDetector **ret, uint64_t capacity_bytes, double step_s) {
        SteadyDetector *d = calloc(1, sizeof(SteadyDetector));
        if (!d)
                return -ENOMEM;

        d->capacity_bytes = (double) capacity_bytes;
        d->points_per_block = step_s < SERIES_BLOCK_S ? (size_t) round(SERIES_BLOCK_S / step_s) : 1;
        d->block_s = (double) d->points_per_block * step_s;
        d->quiet_until_s = -INFINITY;
        lags_start_round(d);
        *ret = d;
        return 0;
}

SteadyDetector *steady_detector_free(SteadyDetector *detector) {
        if (detector) {
                free(detector->levels);
                free(detector->y);
        }
        free(detector);
        return NULL;
}

int steady_detector_add(SteadyDetector *d, const SeriesPoint *point, SteadyDecision *ret) {
        if (point->cut)
                d->quiet_until_s = point->to_s + SERIES_CUT_AFTER_S;
        if (point->cut || point->from_s < d->quiet_until_s) {
                start_block(d);
                return STEADY_UNCHANGED;
        }

        double duration_s = point->to_s - point->from_s;
        if (d->n_block_points == 0)
                d->block.from_s = point->from_s;
        d->block.to_s = point->to_s;
        d->block.ios += point->ios;
        d->block.bytes += point->bytes;
        d->block_duration_s += duration_s;
        d->running_s += duration_s;
        if (++d->n_block_points < d->points_per_block)
                return STEADY_UNCHANGED;

        int r = end_block(d);
        start_block(d);
        if (r > 0)
                *ret = d->decision;
        return r;
}

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What SNIA's Performance Test Specification and fio call a steady state, as they define it, to be told beside
 * our own judgement. Neither looks at the volume written or for what comes later, so both say "steady" early.
 */

#include <stdbool.h>
#include <stddef.h>

#include "analysis/series.h"

/*
 * SNIA SSS PTS 2.0.2, "Steady State": over a measurement window of five rounds (x − 4 .. x) of the tracked
 * variable, "Max(y) − Min(y) is no more than 20 % of Ave(y)" and the same difference on the best linear fit "is
 * within 10 % of Ave(y)". Both bounds belong to the steady state, as "no more than" and "within" say.
 *
 * A round is a pass through all points of a test. In the IOPS test that is a matrix of mixes and block sizes, a minute
 * each, and the tracked variable is the point of 4 KiB random writes. WSAT has this one point only, so each minute is a
 * round, and so is each minute of any phase.
 *
 * The specification knows no pause. A round that one interrupts is no complete pass and counts not; and since a drive
 * that rested is not itself at once, no window goes across a pause.
 */
#define SNIA_N_WINDOW 5
#define SNIA_ROUND_S 60.0
#define SNIA_DATA_EXCURSION 0.20
#define SNIA_SLOPE_EXCURSION 0.10

typedef struct SniaWindow {
        unsigned first_round, last_round; /* from 1; 0 if there are not five rounds in a row */
        double from_s, to_s;              /* of the phase */
        double average;                   /* IOPS */
        double data_excursion_allowed, data_excursion;   /* IOPS */
        double slope_excursion_allowed, slope_excursion; /* IOPS */
        double fit_slope;     /* IOPS a round */
        double fit_intercept; /* IOPS at round 0 */
        bool steady;
} SniaWindow;

/* Fills all but rounds and times from five values. */
void snia_window_set(SniaWindow *window, const double values[static SNIA_N_WINDOW]);

typedef struct SniaRound {
        double from_s, to_s;
        double iops;          /* of the tracked variable */
        bool after_pause;     /* something interrupted the test since the round before */
} SniaRound;

typedef struct SniaResult {
        unsigned n_rounds;
        SniaWindow first; /* the first window that is steady; first_round 0 if there is none */
        SniaWindow last;  /* the last window; first_round 0 if there is none */
} SniaResult;

/* Of n complete rounds, in order of time. */
void snia_judge_rounds(const SniaRound *rounds, size_t n, SniaResult *ret);

/* Each minute of the series is a round. -ENOMEM. */
int snia_judge(const Series *series, SniaResult *ret);

/*
 * fio's steadystate=, over a window of ss_dur seconds that moves by one: for iops the largest deviation from the
 * window's mean, for iops_slope the least squares slope per second; in percent of the mean, and less than the limit
 * (the limit itself is not enough). As fio does it, a second's IOPS are a whole number, rounded down, and so is the
 * mean that the slope is held against; where that is 0 nothing is attained. (fio 3.33 as Debian builds it, with
 * -ffast-math, takes 0/0 for less than the limit there, and ends the job of a dead drive as steady.) fio adds up reads
 * and writes, here it is the judged direction. It cannot pause: after a pause a window begins anew.
 */
typedef struct FioCriterion {
        bool slope;           /* iops_slope, else iops */
        double limit_percent;
        double duration_s;    /* ss_dur */
} FioCriterion;

/* fio has no default and its examples are of seconds; this one is in wide use for whole drives. */
#define FIO_CRITERION_DEFAULT ((FioCriterion){ .slope = true, .limit_percent = 0.3, .duration_s = 1800 })

typedef struct FioResult {
        FioCriterion criterion;
        bool attained;
        double attained_at_s; /* of the phase; NaN if it was not */
        double value_percent; /* when it was attained, else at the end; NaN if no window was full, or its mean was 0 */
        double mean_iops;     /* of that window, rounded down */
} FioResult;

/* -ENOMEM. */
int fio_judge(const Series *series, const FioCriterion *criterion, FioResult *ret);

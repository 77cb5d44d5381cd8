/* SPDX-License-Identifier: MIT */
#pragma once

/* Robust statistics of a sequence. Arrays are borrowed; n may be 0 where it says so. */

#include <stddef.h>

/* n >= 1. */
double mean_of(const double *x, size_t n);

/* Median of n >= 1 values (mean of the middle two if n is even); x is reordered. */
double median_inplace(double *x, size_t n);

/* The p-quantile (0..1), interpolated linearly between order statistics (R's type 7); x is reordered, n >= 1. */
double quantile_inplace(double *x, size_t n, double p);

/* 1.4826 · MAD about the median: the standard deviation, if x is normal; x is reordered. 0 if n < 1. */
double mad_sigma_inplace(double *x, size_t n);

/*
 * Likewise of noise that has but a few values: the larger of that and of what the middle four fifths of x span. The MAD
 * alone is none where most values are one and the same, however far and however often the others are from it.
 */
double spread_sigma_inplace(double *x, size_t n);

/*
 * Long-run variance of y: the largest over d in {1, 2, 4, ..., 128} with at least 12 means (d = 1 always) of
 * d · (1.4826 · MAD(differences of the means of d values))² / 2; of d = 1 the spread_sigma. The differences make it
 * blind to levels, the MAD to a few jumps, and the growing d makes it see noise that is correlated in time. Each is at
 * least NOISE_FLOOR², at most 64 times that of d = 1. -1 if memory ran out.
 */
double long_run_variance(const double *y, size_t n);

/* Likewise of d up to max_lag only, lest what is slower be taken for noise. */
double long_run_variance_up_to(const double *y, size_t n, size_t max_lag);

/* Half a percent of a level: what no drive and no clock keeps below. */
#define NOISE_FLOOR 0.005

/* Least squares line through (0, y[0]), (1, y[1]), ...: slope per step. n >= 1. */
typedef struct Line {
        double slope;
        double intercept; /* at 0 */
        double sum_tt;    /* Σ(t − mean t)² */
        double sum_rr;    /* Σ(y − line)² */
} Line;
Line line_fit(const double *y, size_t n);

/* Two-sided 0.1 %: beyond so many standard errors noise is no explanation. */
#define MOVE_SIGMAS 3.3

/*
 * The line through n values, and where it goes if noise, however correlated in time, does not explain that: 1 up, -1
 * down, else 0. -ENOMEM.
 */
int line_direction(const double *y, size_t n, Line *ret_line, int *ret);

/* A level up to value `at`, and from there on a line: least squares of y[0], y[1], ... 0 <= at < n - 1. */
typedef struct Hinge {
        size_t at;
        double level, slope;
        double sum_hh; /* Σ(h − mean h)², h being how far a value lies behind `at` */
        double sum_rr; /* Σ(y − hinge)² */
} Hinge;
Hinge hinge_fit(const double *y, size_t n, size_t at);

/* As line_direction(), of the line behind the level. */
int hinge_direction(const double *y, size_t n, const Hinge *hinge, int *ret);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Curves as drives make them, from figures: levels over time and noise of the kinds seen in recordings. */

#include <stdint.h>

#include "analysis/analysis.h"
#include "analysis/series.h"

/* From at_s on, a straight way in the logarithm from the level before to this one, over ramp_s. */
typedef struct CurveStep {
        double at_s;
        double iops;
        double ramp_s;
} CurveStep;

typedef struct CurveNoise {
        double sigma;       /* relative standard deviation of a sample */
        double phi;         /* autocorrelation from one sample to the next, 0..1 */
        bool heavy_tails;   /* Student's t with three degrees of freedom, else normal */
        double alternating; /* relative: up in one sample, down in the next */
        double period_s;    /* of a sine; 0: none */
        double amplitude;   /* relative, of the sine */
} CurveNoise;

typedef struct Curve {
        SeriesPoint *points;
        size_t n;
} Curve;

/* Level `iops` from 0 on, then the steps in order of time. Samples of step_s up to length_s, whole I/Os of 4 KiB. */
Curve curve_make(double iops, const CurveStep *steps, size_t n_steps, const CurveNoise *noise,
                 double length_s, double step_s, uint64_t seed);
void curve_done(Curve *curve);

/*
 * Sets samples of a second to so few I/Os that they can be counted: this many a second up to fall_s, then those after.
 * Seed 0 makes them come at regular distances, any other by chance (Poisson).
 */
void curve_set_rare(Curve *curve, double iops, double fall_s, double iops_after, uint64_t seed);

/* Multiplies a share (0..1) of the samples, chosen at random, by this factor. */
void curve_set_low(Curve *curve, double share, double factor, uint64_t seed);

/* What the analysis makes of it; capacity_bytes: 0 if unknown. analysis_free() it. Ends the program without memory. */
Analysis *curve_judge(const Curve *curve, uint64_t capacity_bytes);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Down-sampling that loses no extreme: what fell into each dot column of a plot. */

#include "render/plot.h"

typedef struct Bin {
        double low, high; /* of all samples that touch it */
        double mean;      /* by the time they share with it; NaN: no sample */
} Bin;

/* n bins over [from_s, to_s), newly allocated; NULL if memory ran out. */
Bin *bins_make(const PlotSeries *series, double from_s, double to_s, unsigned n);

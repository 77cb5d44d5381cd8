/* SPDX-License-Identifier: MIT */
#pragma once

/* What can be plotted of a sample: one table. */

#include "store/store.h"

typedef struct Metric {
        const char *name; /* for --metric */
        const char *unit;
        double (*value)(const Sample *sample, const StoreLatency *latency); /* NaN: nothing to show */
} Metric;

#define METRIC_DEFAULT "iops"

/* The metric of this name; ERROR_USAGE with the nearest one, or all, if there is none. */
int metric_find(const char *name, const Metric **ret, Error *error);

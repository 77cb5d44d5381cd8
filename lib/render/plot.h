/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Curves for a terminal. Every column shows the whole range (lowest to highest) of the samples that fall
 * into it, and its mean, so that a dip of one sample in ten hours is still to be seen.
 *
 * Title, unit, labels and marks are UTF-8 and stay on their line whatever they hold, but for an unambiguous reading
 * they should have gone through text_escape().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/error.h"

typedef struct PlotSeries {
        const char *label; /* for the legend, if there are several */
        const double *from_s; /* n each: interval and value; NaN values are gaps */
        const double *to_s;
        const double *value;
        size_t n;
} PlotSeries;

typedef struct PlotMark {
        double at_s;
        const char *text; /* "phase 2: read", shown below the axis */
} PlotMark;

typedef struct PlotOptions {
        const char *title;
        const char *unit; /* "IOPS", "MB/s", "ms" */
        const char *amount_unit; /* what stands for seconds are amounts of this, "GB"; NULL: seconds */
        unsigned width;   /* columns in all; 0: 80; less than 40: 40 */
        unsigned height;  /* rows of the curve; 0: 16; less than 4: 4 */
        bool log_scale;   /* of the value; zeros lie on the bottom line */
        bool ascii;       /* where the locale has no UTF-8 */
        bool color;
        const PlotMark *marks;
        size_t n_marks;
} PlotOptions;

/* No line is wider than width. No series or no values: a line that says so. -ENOMEM, -EIO. */
int plot_print(FILE *f, const PlotSeries *series, size_t n_series, const PlotOptions *options, Error *error);

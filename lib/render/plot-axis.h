/* SPDX-License-Identifier: MIT */
#pragma once

/* From values and times to dots, and the ticks along both sides of a plot. */

#include <stdbool.h>

/* The smallest of 1, 2 and 5 times a power of ten that is not below x; 1 for x that is not positive. */
double axis_nice_step(double x);

#define AXIS_LABEL_MAX 32

/* "0", "2.5k", "40k", "1M": of a tick, so few digits are enough. Returns buf (AXIS_LABEL_MAX bytes). */
const char *axis_format_value(double value, char *buf);

/*
 * Ticks lie on whole rows: the lowest dot of a labelled row is exactly the label's value. The scale is chosen to
 * fit, so that the highest value uses most of the height.
 */
typedef struct ValueAxis {
        unsigned rows;
        bool log_scale;
        /* Linear: */
        double step;
        unsigned rows_per_step;
        /* Logarithmic: */
        unsigned zero_rows; /* 1 if the lowest row is for zeros */
        double low_exponent; /* decade at the row above */
        unsigned rows_per_decade;
} ValueAxis;

/* lowest_positive: of the values above zero; 0 if there are none. has_zero: some value is not above zero. */
ValueAxis value_axis_make(unsigned rows, bool log_scale, double highest, double lowest_positive, bool has_zero);

/* Dot of a value, from the lowest (0) to the highest of the plot. */
unsigned value_axis_dot(const ValueAxis *axis, double value);

/* Does a tick lie at the foot of this row (0: lowest)? Then its value. */
bool value_axis_tick(const ValueAxis *axis, unsigned row, double *ret_value);

/* Times run over [from_s, to_s); ticks at multiples of step_s. */
typedef struct TimeAxis {
        double from_s, to_s;
        double step_s;
        double unit_s;
        const char *unit; /* "s", "min", "h", "d" */
} TimeAxis;

/* At most n_ticks_max ticks. to_s > from_s. */
TimeAxis time_axis_make(double from_s, double to_s, unsigned n_ticks_max);

/* The same over amounts of something that is not time, which unit (static) is the name of. */
TimeAxis amount_axis_make(double from, double to, unsigned n_ticks_max, const char *unit);

/* "0", "30 s", "1.5 h". Returns buf (AXIS_LABEL_MAX bytes). */
const char *time_axis_format(const TimeAxis *axis, double at_s, char *buf);

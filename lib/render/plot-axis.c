/* SPDX-License-Identifier: MIT */

/*
 * A terminal has few rows, so a tick that lies between two of them would be told wrongly by half a
 * row. Hence the scale follows the rows and not the other way round: every so many rows are one step of 1, 2 or 5,
 * and of the possible choices the one that wastes least height is taken.
 */

#include "render/plot-axis.h"

#include <math.h>
#include <stdio.h>

#include "render/canvas.h"
#include "util/macro.h"

double axis_nice_step(double x) {
        static const double steps[] = { 1, 2, 5 };

        if (!(x > 0) || !isfinite(x))
                return 1;

        /* The power is found in logarithms, which may be off by a hair: start one below. */
        for (int exponent = (int) floor(log10(x)) - 1;; exponent++)
                for (unsigned i = 0; i < ELEMENTSOF(steps); i++) {
                        double step = steps[i] * pow(10, exponent);
                        if (step >= x * (1 - 1e-12))
                                return step;
                }
}

const char *axis_format_value(double value, char *buf) {
        static const char suffixes[] = "kMGTPE";
        char suffix[2] = "";

        for (unsigned i = 0; value >= 999.5 && i < sizeof suffixes - 1; i++) {
                value /= 1000;
                suffix[0] = suffixes[i];
        }
        snprintf(buf, AXIS_LABEL_MAX, "%.3g%s", value, suffix);
        return buf;
}

static unsigned axis_dots(const ValueAxis *axis) {
        return axis->rows * CELL_DOTS_HIGH;
}

static void choose_step(ValueAxis *axis, double highest) {
        static const unsigned candidates[] = { 3, 4, 2, 5 };
        double best = INFINITY;

        for (unsigned i = 0; i < ELEMENTSOF(candidates); i++) {
                double steps = (double) (axis_dots(axis) - 1) / (CELL_DOTS_HIGH * candidates[i]);
                double step = axis_nice_step(highest / steps);

                if (candidates[i] < axis->rows && step * steps < best * (1 - 1e-9)) {
                        best = step * steps;
                        axis->step = step;
                        axis->rows_per_step = candidates[i];
                }
        }
}

static void choose_decades(ValueAxis *axis, double highest, double lowest_positive) {
        unsigned rows = axis->rows - axis->zero_rows;

        if (!(lowest_positive > 0))
                lowest_positive = highest = 1;

        axis->low_exponent = floor(log10(lowest_positive) + 1e-9);
        double decades = fmax(log10(highest) - axis->low_exponent, 1);
        axis->rows_per_decade = (unsigned) ((rows * CELL_DOTS_HIGH - 1) / (decades * CELL_DOTS_HIGH));

        /* More decades than rows: what is far below the highest value lies on the lowest line. */
        if (axis->rows_per_decade == 0) {
                axis->rows_per_decade = 1;
                axis->low_exponent = ceil(log10(highest)) - rows;
        }
}

ValueAxis value_axis_make(unsigned rows, bool log_scale, double highest, double lowest_positive, bool has_zero) {
        ValueAxis axis = { .rows = rows, .log_scale = log_scale, .zero_rows = log_scale && has_zero };

        if (log_scale)
                choose_decades(&axis, highest, lowest_positive);
        else
                choose_step(&axis, highest > 0 ? highest : 1);
        return axis;
}

unsigned value_axis_dot(const ValueAxis *axis, double value) {
        double lowest = 0, dot;

        if (!(value > 0))
                return 0;
        if (axis->log_scale) {
                lowest = axis->zero_rows * CELL_DOTS_HIGH;
                dot = lowest + (log10(value) - axis->low_exponent) * axis->rows_per_decade * CELL_DOTS_HIGH;
        } else
                dot = value / axis->step * axis->rows_per_step * CELL_DOTS_HIGH;

        return (unsigned) fmin(fmax(round(dot), lowest), axis_dots(axis) - 1);
}

/* Within a decade there is room for 2 and 5 if it is high enough. */
static bool log_tick(const ValueAxis *axis, unsigned row, double *ret_value) {
        static const double minor[] = { 1, 2, 5 };
        unsigned decade = row / axis->rows_per_decade, rest = row % axis->rows_per_decade;
        unsigned n = axis->rows_per_decade >= 6 ? ELEMENTSOF(minor) : 1;

        for (unsigned i = 0; i < n; i++)
                if (rest == (unsigned) lround(log10(minor[i]) * axis->rows_per_decade)) {
                        *ret_value = minor[i] * pow(10, axis->low_exponent + decade);
                        return true;
                }
        return false;
}

bool value_axis_tick(const ValueAxis *axis, unsigned row, double *ret_value) {
        if (!axis->log_scale) {
                if (row % axis->rows_per_step != 0)
                        return false;
                unsigned n_steps = row / axis->rows_per_step;
                *ret_value = n_steps * axis->step;
                return true;
        }

        if (row < axis->zero_rows) {
                *ret_value = 0;
                return true;
        }
        return log_tick(axis, row - axis->zero_rows, ret_value);
}

typedef struct TimeUnit {
        double seconds;
        const char *name;
        double up_to_s; /* for spans up to this */
        double steps[10]; /* in units, ascending; then 0 */
} TimeUnit;

static const TimeUnit time_units[] = {
        { 1, "s", 180, { 1, 2, 5, 10, 15, 20, 30, 60, 120 } },
        { 60, "min", 3 * 3600, { 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120 } },
        { 3600, "h", 3 * 86400, { 0.5, 1, 2, 3, 4, 6, 12, 24, 48 } },
        { 86400, "d", INFINITY, { 0.5, 1, 2 } },
};

TimeAxis time_axis_make(double from_s, double to_s, unsigned n_ticks_max) {
        double span_s = to_s - from_s;
        const TimeUnit *unit = time_units;
        while (span_s > unit->up_to_s)
                unit++;

        /* Below the smallest and above the largest of the unit's own steps decimal ones are as good. */
        double wanted = span_s / unit->seconds / n_ticks_max, step = axis_nice_step(wanted);
        for (unsigned i = 0; i < ELEMENTSOF(unit->steps) && wanted > unit->steps[0] / 2 && unit->steps[i] > 0; i++)
                if (unit->steps[i] >= wanted) {
                        step = unit->steps[i];
                        break;
                }

        return (TimeAxis) {
                .from_s = from_s,
                .to_s = to_s,
                .step_s = step * unit->seconds,
                .unit_s = unit->seconds,
                .unit = unit->name,
        };
}

TimeAxis amount_axis_make(double from, double to, unsigned n_ticks_max, const char *unit) {
        return (TimeAxis) {
                .from_s = from,
                .to_s = to,
                .step_s = axis_nice_step((to - from) / n_ticks_max),
                .unit_s = 1,
                .unit = unit,
        };
}

const char *time_axis_format(const TimeAxis *axis, double at_s, char *buf) {
        double value = at_s / axis->unit_s;

        if (fabs(at_s) < axis->step_s * 1e-6)
                snprintf(buf, AXIS_LABEL_MAX, "0");
        else
                snprintf(buf, AXIS_LABEL_MAX, "%.6g %s", value, axis->unit);
        return buf;
}

/* SPDX-License-Identifier: MIT */

#include "render/plot-bins.h"

#include <math.h>
#include <stdlib.h>

#include "util/macro.h"

/* The bin in which a time lies, kept within the plot. */
static unsigned bin_at(double at_s, double from_s, double bin_s, unsigned n) {
        return (unsigned) fmin(fmax(floor((at_s - from_s) / bin_s), 0), n - 1);
}

static void bin_add(Bin *bin, double *weight, double value, double share) {
        if (*weight <= 0)
                *bin = (Bin) { .low = value, .high = value, .mean = 0 };

        bin->low = fmin(bin->low, value);
        bin->high = fmax(bin->high, value);
        bin->mean += value * share;
        *weight += share;
}

static void add_sample(Bin *bins, double *weights, unsigned n, double from_s, double bin_s,
                       const PlotSeries *series, size_t i) {
        double begin = series->from_s[i], end = series->to_s[i];

        /* A sample that ends where a bin begins does not touch it. */
        unsigned first = bin_at(begin + bin_s * 1e-9, from_s, bin_s, n);
        unsigned last = MAX(bin_at(end - bin_s * 1e-9, from_s, bin_s, n), first);

        for (unsigned b = first; b <= last; b++) {
                double shared = fmin(end, from_s + (b + 1) * bin_s) - fmax(begin, from_s + b * bin_s);

                /* A sample without length still counts: it must not get lost. */
                bin_add(&bins[b], &weights[b], series->value[i], fmax(shared, bin_s * 1e-6));
        }
}

Bin *bins_make(const PlotSeries *series, double from_s, double to_s, unsigned n) {
        _cleanup_free_ Bin *bins = calloc(n, sizeof *bins);
        _cleanup_free_ double *weights = calloc(n, sizeof *weights);
        if (!bins || !weights)
                return NULL;

        double bin_s = (to_s - from_s) / n;
        for (size_t i = 0; i < series->n; i++)
                if (isfinite(series->value[i]) && series->to_s[i] >= from_s && series->from_s[i] <= to_s)
                        add_sample(bins, weights, n, from_s, bin_s, series, i);

        for (unsigned b = 0; b < n; b++)
                bins[b].mean = weights[b] > 0 ? bins[b].mean / weights[b] : NAN;

        return TAKE_PTR(bins);
}

/* SPDX-License-Identifier: MIT */

/*
 * The window is summed up anew each second: at most a day of seconds, a fraction of a millisecond. That is exact, where
 * sums that are carried along for weeks are not.
 */

#include "analysis/fio-watch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/macro.h"

/* What a second's number may lack of a whole one because times are binary fractions. */
#define WHOLE_SLACK 1e-6

struct FioWatch {
        FioSteady criterion;
        uint64_t begin_ns;
        double step_s;
        unsigned n_per_step; /* samples */
        size_t window;       /* steps */

        /* Of the step under way. */
        unsigned n_samples;
        uint64_t duration_ns;
        double amount;

        double last_value, last_mean; /* of the last window that was full; NaN: none was */

        size_t n; /* steps since the window began */
        double values[]; /* of step i at i modulo window */
};

int fio_watch_new(FioWatch **ret, const FioSteady *criterion, uint64_t interval_ns, uint64_t begin_ns) {
        uint64_t n_per_step = MAX((NSEC_PER_SEC + interval_ns / 2) / interval_ns, UINT64_C(1));
        uint64_t step_ns = n_per_step * interval_ns;
        size_t window = MAX((size_t) ((criterion->duration_ns + step_ns / 2) / step_ns), (size_t) 2);

        FioWatch *watch = calloc(1, sizeof(*watch) + window * sizeof(watch->values[0]));
        if (!watch)
                return -ENOMEM;
        watch->criterion = *criterion;
        watch->begin_ns = begin_ns;
        watch->step_s = (double) step_ns / (double) NSEC_PER_SEC;
        watch->n_per_step = (unsigned) n_per_step;
        watch->window = window;
        watch->last_value = watch->last_mean = NAN;
        *ret = watch;
        return 0;
}

FioWatch *fio_watch_free(FioWatch *watch) {
        free(watch);
        return NULL;
}

static void begin_step(FioWatch *watch) {
        watch->n_samples = 0;
        watch->duration_ns = 0;
        watch->amount = 0;
}

void fio_watch_cut(FioWatch *watch) {
        if (!watch)
                return;
        begin_step(watch);
        watch->n = 0;
}

static double mean_of(const FioWatch *watch) {
        double sum = 0;

        for (size_t i = 0; i < watch->window; i++)
                sum += watch->values[i];
        return sum / (double) watch->window;
}

static double largest_deviation(const FioWatch *watch, double mean) {
        double largest = 0;

        for (size_t i = 0; i < watch->window; i++)
                largest = fmax(largest, fabs(watch->values[i] - mean));
        return largest;
}

/* A second, of the least squares line. */
static double slope(const FioWatch *watch, double mean) {
        double n = (double) watch->window, sum_xy = 0;

        for (size_t i = 0; i < watch->window; i++)
                sum_xy += ((double) i - (n - 1) / 2) * (watch->values[(watch->n + i) % watch->window] - mean);
        return sum_xy * 12 / (n * (n * n - 1)) / watch->step_s;
}

/* In the unit of the limit; NaN where fio would divide by 0. */
static double measure(const FioWatch *watch, double mean) {
        const FioSteady *criterion = &watch->criterion;
        double base = criterion->of_slope ? floor(mean) : mean;
        double value = criterion->of_slope ? fabs(slope(watch, mean)) : largest_deviation(watch, mean);

        if (!criterion->in_percent)
                return value;
        return base > 0 ? 100 * value / base : NAN;
}

bool fio_watch_add(FioWatch *watch, const Sample *sample, double *ret_value) {
        const uint64_t *amounts = watch->criterion.of_bandwidth ? sample->bytes : sample->ios;

        if (sample->elapsed_ns - MIN(sample->duration_ns, sample->elapsed_ns) < watch->begin_ns)
                return false;

        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                watch->amount += (double) amounts[d];
        watch->duration_ns += sample->duration_ns;
        if (++watch->n_samples < watch->n_per_step || watch->duration_ns == 0)
                return false;

        double rate = watch->amount * (double) NSEC_PER_SEC / (double) watch->duration_ns;
        watch->values[watch->n++ % watch->window] = floor(rate + WHOLE_SLACK);
        begin_step(watch);
        if (watch->n < watch->window)
                return false;

        watch->last_mean = mean_of(watch);
        watch->last_value = measure(watch, watch->last_mean);
        if (!(watch->last_value < watch->criterion.limit))
                return false;
        *ret_value = watch->last_value;
        return true;
}

void fio_watch_get(const FioWatch *watch, double *ret_value, double *ret_mean) {
        *ret_value = watch->last_value;
        *ret_mean = watch->last_mean;
}

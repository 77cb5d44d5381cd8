/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/noise.h"
#include "util/cleanup.h"
#include "util/macro.h"

/* MAD of a normal distribution is its standard deviation / 1.4826. */
#define MAD_TO_SIGMA 1.4826

/* The middle four fifths of a normal distribution. */
#define SPREAD_SHARE 0.8
#define SPREAD_SIGMAS 1.2816

#define LRV_MAX_LAG 128
#define LRV_MIN_MEANS 12
#define LRV_MAX_RATIO 64.0

static void swap(double *a, double *b) {
        double t = *a;
        *a = *b;
        *b = t;
}

/* Hoare's selection with the median of three as pivot: afterwards x[k] is in its place, smaller ones are before it. */
static double select_inplace(double *x, size_t n, size_t k) {
        size_t lo = 0, hi = n - 1;

        while (lo < hi) {
                size_t mid = lo + (hi - lo) / 2;
                if (x[mid] < x[lo])
                        swap(&x[mid], &x[lo]);
                if (x[hi] < x[lo])
                        swap(&x[hi], &x[lo]);
                if (x[hi] < x[mid])
                        swap(&x[hi], &x[mid]);

                double pivot = x[mid];
                size_t i = lo, j = hi;
                for (;;) {
                        while (x[i] < pivot)
                                i++;
                        while (pivot < x[j])
                                j--;
                        if (i >= j)
                                break;
                        swap(&x[i++], &x[j--]);
                }
                if (k <= j)
                        hi = j;
                else
                        lo = j + 1;
        }
        return x[k];
}

double quantile_inplace(double *x, size_t n, double p) {
        double at = p * (double) (n - 1);
        size_t k = (size_t) at;
        double low = select_inplace(x, n, k);
        if (k + 1 >= n)
                return low;

        /* After the selection the next order statistic is the least of what lies behind. */
        double high = x[k + 1];
        for (size_t i = k + 2; i < n; i++)
                high = fmin(high, x[i]);
        return low + (at - (double) k) * (high - low);
}

double median_inplace(double *x, size_t n) {
        return quantile_inplace(x, n, 0.5);
}

double mad_sigma_inplace(double *x, size_t n) {
        if (n == 0)
                return 0;

        double m = median_inplace(x, n);
        for (size_t i = 0; i < n; i++)
                x[i] = fabs(x[i] - m);
        return MAD_TO_SIGMA * median_inplace(x, n);
}

double spread_sigma_inplace(double *x, size_t n) {
        double sigma = mad_sigma_inplace(x, n); /* which leaves the distances from the median in x */

        return n == 0 ? 0 : fmax(sigma, quantile_inplace(x, n, SPREAD_SHARE) / SPREAD_SIGMAS);
}

double mean_of(const double *x, size_t n) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
                sum += x[i];
        return sum / (double) n;
}

double long_run_variance_up_to(const double *y, size_t n, size_t max_lag) {
        const double floor_v = NOISE_FLOOR * NOISE_FLOOR;
        if (n < 2)
                return floor_v;

        _cleanup_free_ double *diff = calloc(n, sizeof(double));
        if (!diff)
                return -1;

        double first = 0, largest = 0;
        for (size_t d = 1; d <= max_lag; d *= 2) {
                size_t n_means = n / d;
                if (d > 1 && n_means < LRV_MIN_MEANS)
                        break;

                double previous = mean_of(y, d);
                for (size_t i = 1; i < n_means; i++) {
                        double m = mean_of(y + i * d, d);
                        diff[i - 1] = m - previous;
                        previous = m;
                }

                /* Most neighbours can be alike in what has but two values; of means that is no longer so. */
                double sigma = d == 1 ? spread_sigma_inplace(diff, n_means - 1) : mad_sigma_inplace(diff, n_means - 1);
                double v = fmax((double) d * sigma * sigma / 2, floor_v);
                if (d == 1)
                        first = v;
                largest = fmax(largest, fmin(v, LRV_MAX_RATIO * first));
        }
        return largest;
}

double long_run_variance(const double *y, size_t n) {
        return long_run_variance_up_to(y, n, LRV_MAX_LAG);
}

Line line_fit(const double *y, size_t n) {
        double t_mean = (double) (n - 1) / 2, y_mean = mean_of(y, n);
        double s_tt = 0, s_ty = 0, s_yy = 0;

        for (size_t i = 0; i < n; i++) {
                double t = (double) i - t_mean;
                s_tt += t * t;
                s_ty += t * (y[i] - y_mean);
                s_yy += (y[i] - y_mean) * (y[i] - y_mean);
        }

        double slope = s_tt > 0 ? s_ty / s_tt : 0;
        return (Line){
                .slope = slope,
                .intercept = y_mean - slope * t_mean,
                .sum_tt = s_tt,
                .sum_rr = fmax(0, s_yy - slope * s_ty),
        };
}

Hinge hinge_fit(const double *y, size_t n, size_t at) {
        double h_mean = 0, y_mean = mean_of(y, n), s_hh = 0, s_hy = 0, s_yy = 0;

        for (size_t i = at; i < n; i++)
                h_mean += (double) (i - at);
        h_mean /= (double) n;
        for (size_t i = 0; i < n; i++) {
                double h = (i > at ? (double) (i - at) : 0) - h_mean;
                s_hh += h * h;
                s_hy += h * (y[i] - y_mean);
                s_yy += (y[i] - y_mean) * (y[i] - y_mean);
        }

        double slope = s_hh > 0 ? s_hy / s_hh : 0;
        return (Hinge){
                .at = at,
                .slope = slope,
                .level = y_mean - slope * h_mean,
                .sum_hh = s_hh,
                .sum_rr = fmax(0, s_yy - slope * s_hy),
        };
}

/* What the noise about a fit hides of its slope: one standard error. Takes the residuals. -1 if memory ran out. */
static double slope_error(const double *residual, size_t n, double sum_squares) {
        double lrv = long_run_variance(residual, n);
        return lrv < 0 ? -1 : sqrt(lrv / sum_squares);
}

static int slope_direction(double slope, double error) {
        return fabs(slope) <= MOVE_SIGMAS * error ? 0 : slope > 0 ? 1 : -1;
}

int hinge_direction(const double *y, size_t n, const Hinge *hinge, int *ret) {
        _cleanup_free_ double *residual = calloc(n, sizeof(double));
        if (!residual)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                residual[i] = y[i] - hinge->level - (i > hinge->at ? hinge->slope * (double) (i - hinge->at) : 0);

        double error = slope_error(residual, n, hinge->sum_hh);
        if (error < 0)
                return -ENOMEM;
        *ret = slope_direction(hinge->slope, error);
        return 0;
}

int line_direction(const double *y, size_t n, Line *ret_line, int *ret) {
        Line line = line_fit(y, n);
        _cleanup_free_ double *residual = calloc(n, sizeof(double));
        if (!residual)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                residual[i] = y[i] - line.intercept - line.slope * (double) i;

        double error = slope_error(residual, n, line.sum_tt);
        if (error < 0)
                return -ENOMEM;
        *ret_line = line;
        *ret = slope_direction(line.slope, error);
        return 0;
}

/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/noise.h"
#include "analysis/outlier.h"
#include "util/cleanup.h"
#include "util/macro.h"

int outliers_mark(const double *x, size_t n, bool *ret) {
        _cleanup_free_ double *known = calloc(MAX(n, (size_t) 1), sizeof(double));
        size_t n_known = 0;

        if (!known)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                ret[i] = false;
                if (!isnan(x[i]))
                        known[n_known++] = x[i];
        }
        if (n_known < OUTLIER_N_MIN)
                return 0;

        double median = median_inplace(known, n_known), sigma = mad_sigma_inplace(known, n_known);
        double limit = fmax(OUTLIER_SIGMAS * sigma, OUTLIER_MIN_SHARE * fabs(median));
        for (size_t i = 0; i < n; i++)
                ret[i] = fabs(x[i] - median) > limit; /* never true of NaN */
        return 0;
}

/* SPDX-License-Identifier: MIT */
#pragma once

/* Which of a group of like drives is not like the others. */

#include <stdbool.h>
#include <stddef.h>

#define OUTLIER_N_MIN 4       /* of fewer nobody can say which is odd */
#define OUTLIER_SIGMAS 3.0    /* about the median, by the MAD: an outlier does not hide itself by widening it */
#define OUTLIER_MIN_SHARE 0.05 /* of the median: less is no finding, however alike the others are */

/*
 * Marks in ret those of x that lie further from the median than both bounds. NaN counts for nothing; none is marked if
 * fewer than OUTLIER_N_MIN are left without them. -ENOMEM.
 */
int outliers_mark(const double *x, size_t n, bool *ret);

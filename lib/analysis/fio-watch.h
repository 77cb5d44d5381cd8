/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio's steadystate=, sample by sample, to end a phase as fio would. In each second (or sample, if that is longer) fio
 * takes the IOPS or bytes of all directions, as a whole number, and over a window of the last seconds the largest
 * deviation from their mean or the slope of their least squares line: attained is what is below the limit. In percent
 * of the mean, which for the slope is a whole number too; of 0 nothing is attained. After a pause the window begins
 * anew. analysis/criteria.h judges a recorded phase by the same arithmetic.
 */

#include "sample/sample.h"
#include "spec/job.h"

typedef struct FioWatch FioWatch;

/* begin_ns: running time of the run from which on samples count. interval_ns: their usual length. -ENOMEM. */
int fio_watch_new(FioWatch **ret, const FioSteady *criterion, uint64_t interval_ns, uint64_t begin_ns);
FioWatch *fio_watch_free(FioWatch *watch);
DEFINE_CLEANUP(FioWatch *, fio_watch_free)

/* Something other than the drive held the run up. */
void fio_watch_cut(FioWatch *watch);

/*
 * The next sample; time grows with the window. Whether it is attained; *ret_value is then below the limit, in its unit.
 */
bool fio_watch_add(FioWatch *watch, const Sample *sample, double *ret_value);

/*
 * Of the last window that was full: its value, in the unit of the limit, and its mean, IOPS or bytes a second. NaN:
 * none was; the value also where the mean is 0.
 */
void fio_watch_get(const FioWatch *watch, double *ret_value, double *ret_mean);

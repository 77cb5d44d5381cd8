/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * SNIA's IOPS test: random I/O at each of several mixes of reads and writes and block sizes, a minute each, round after
 * round, until the point of 4 KiB random writes is steady. What is reported are the means of the five rounds of that
 * window at every point, and how it came to be steady. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/criteria.h"
#include "util/cleanup.h"

#define IOPS_TEST_TRACKED_BLOCK_BYTES 4096

/* A pass of random I/O, in order of time. */
typedef struct IopsPass {
        double from_s, to_s; /* of the run */
        uint64_t block_bytes;
        unsigned read_percent; /* of the I/O */
        double iops;           /* reads and writes together; NaN: nothing was measured */
        bool complete;         /* it lasted as long as it should */
} IopsPass;

/* A mix and block size. Its passes are counted from 1; what was interrupted is one, too. */
typedef struct IopsPoint {
        uint64_t block_bytes;
        unsigned read_percent;
        double iops; /* mean of the window's passes; NaN: one is missing or incomplete, or there is no window */
        size_t n_passes;
} IopsPoint;

typedef struct IopsTest {
        SniaResult snia;   /* of the tracked variable */
        SniaRound *rounds; /* its complete passes; snia.n_rounds of them */
        IopsPoint *points; /* smallest blocks first, most reads first */
        size_t n_points;
} IopsTest;

/*
 * The window is the first that is steady, else the last one. cuts_s: when the test was paused or broken off, of which
 * no window goes across one. 1 and *ret; 0 and nothing if this is no such test: the tracked point, and if there are
 * others one of them, must have come at least twice. -ENOMEM.
 */
int iops_test_judge(const IopsPass *passes, size_t n, const double *cuts_s, size_t n_cuts, IopsTest *ret);

void iops_test_done(IopsTest *test);
#define _cleanup_iops_test_ _cleanup_(iops_test_done)

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
#include "spec/stop.h"
#include "util/cleanup.h"

#define IOPS_TEST_TRACKED_BLOCK_BYTES STOP_SNIA_BLOCK_BYTES

/* A pass of random I/O, in order of time. */
typedef struct IopsPass {
        double from_s, to_s; /* of the run */
        uint64_t block_bytes;
        unsigned read_percent; /* of the I/O */
        double iops;           /* reads and writes together; NaN: nothing was measured */
        bool complete;         /* it lasted as long as it should */
} IopsPass;

/*
 * Whether a phase does random I/O of one point, and which: sets block_bytes and read_percent of *ret. read_percent: of
 * a mix. (Where it is a cell of a matrix over several depths, that is a test of its own: this the caller knows.)
 */
bool iops_test_point(PhaseAction action, RwMode rw, uint32_t read_percent, const uint64_t block_bytes[N_DIRECTIONS],
                     IopsPass *ret);

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
        size_t first_pass, last_pass; /* of each point: those of the window; 0: there is none */
} IopsTest;

/*
 * The window is the first that is steady, else the last one. cuts_s: when the test was paused or broken off, of which
 * no window goes across one. 1 and *ret; 0 and nothing if this is no such test: the tracked point, and if there are
 * others one of them, must have come at least twice. -ENOMEM.
 */
int iops_test_judge(const IopsPass *passes, size_t n, const double *cuts_s, size_t n_cuts, IopsTest *ret);

/*
 * With which pass a test that goes on has come to its end: the first n_ended of the n passes that it has at most have
 * ended, of the others only the points are known. The end is that of the round in which the test became steady, when
 * all points have as many passes as the tracked one had in that window, or all that there are. 1, *ret_last (an index,
 * which may be below n_ended) and *ret_window, in rounds; 0 and nothing while there is no steady window. -ENOMEM.
 */
int iops_test_end(const IopsPass *passes, size_t n_ended, size_t n, const double *cuts_s, size_t n_cuts,
                  size_t *ret_last, SniaWindow *ret_window);

void iops_test_done(IopsTest *test);
#define _cleanup_iops_test_ _cleanup_(iops_test_done)

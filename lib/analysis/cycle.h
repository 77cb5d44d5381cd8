/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Whether a curve goes up and down at regular distances, as a drive does that collects garbage in bursts. Looked for
 * before anything else: each of its falls would pass for a collapse.
 */

#include <stddef.h>

typedef struct Cycle {
        double period_s; /* median distance of the falls */
        double depth;    /* 0..1: how far the low goes below the high */
        size_t *falls;   /* blocks at which it falls; allocated */
        size_t n_falls;
        size_t end;      /* the block at which it is over, a period after the last fall; n if it goes on */
} Cycle;

/*
 * levels: IOPS of n blocks of block_s seconds each. 1 and *ret if they cycle (cycle_done() it), 0 if not, -ENOMEM.
 */
int cycle_find(const double *levels, size_t n, double block_s, Cycle *ret);
void cycle_done(Cycle *cycle);

/* SPDX-License-Identifier: MIT */
#pragma once

/* What the stages of the analysis hand on to each other. They run in the order in which they stand here. */

#include <math.h>

#include "analysis/analysis.h"
#include "analysis/cycle.h"
#include "analysis/noise.h"

#define ANALYSIS_MIN_BLOCKS 10 /* fewer tell nothing, neither of a phase nor of a line through them */

/* A minute holds half a dozen blocks; of a step half as long nobody can say whether it is one or an outlier. */
#define REGIME_MIN_S 30.0
#define REGIME_MIN_SHORT_S 5.0 /* in a run under SHORT_RUN_S, whose blocks last a second */
#define SHORT_RUN_S 300.0

/* Real drives take up to five minutes from cliff through trough to hump; in a short run all is shorter. */
#define TRANSIENT_S 300.0
#define TRANSIENT_SHARE 0.15

#define REGIME_MIN_STEP log(1.1) /* a tenth: less is no other state */

/* What moved as a whole still does if its last half has so much of that slope. */
#define GOES_ON_SHARE 0.5

#define RATIO_NONE 0.8 /* of the burst: what is above is no fall */

/* Blocks [from, to) in which the drive cycled, until that was over. */
typedef struct PastCycle {
        size_t from, to;
        double period_s;
        double high_iops; /* of its peaks */
} PastCycle;

typedef struct Work {
        const Series *series;
        size_t n;           /* blocks */
        uint64_t capacity_bytes;
        double *center;     /* running median of the blocks' y */
        double clip_limit;  /* how far an ordinary block may be from it */
        double *y;          /* clipped to that */
        double lrv;         /* long-run variance of y since the last cycle */
        double penalty;     /* what one more regime costs since the last cycle, in squares of y */
        size_t end_block;   /* what it did last begins here */
        Cycle cycle;        /* the one that goes on; empty if there is none */
        PastCycle *past;    /* those before, in order */
        size_t n_past;
        Analysis *a;
} Work;

/* What is shorter is a passage. */
static inline double transient_max_s(const Work *w) {
        return fmin(TRANSIENT_S, TRANSIENT_SHARE * w->series->total_s);
}

/* First block of its last quarter, which knows better than all of it what a regime that moves has come to. */
static inline size_t regime_last_quarter(const Regime *r) {
        size_t n = r->to_block - r->from_block;
        return r->to_block - (n < 4 ? 1 : n / 4);
}

/* All fill their part of w->a, which has at least ANALYSIS_MIN_BLOCKS blocks to tell of. 0 or -ENOMEM. */
int regimes_find(Work *w);

/* Which regime is the end state, and whether it lasts. ret_l: its index. */
int end_state_find(Work *w, size_t *ret_l);

/* The ratio of steady to burst, and the word for it; by `doubt`, in its logarithm, it may be higher. */
void collapse_set_ratio(Analysis *a, double doubt);

/* From the burst to the end state, regime l. */
int collapse_find(Work *w, size_t l);

/* Looks for cycles, those that are over and the one that goes on. 1 if one does, else 0; or -ENOMEM. */
int cycles_find(Work *w);

/* What stands so far above the peaks of a cycle is no part of it. */
#define CYCLE_ABOVE 1.1

/* Of a phase that cycles, in place of the two before: it has no end state, and its falls are none. */
int cycle_judge(Work *w);

/* Stalls, and with them the floor. */
void stalls_find(Work *w);

/* What it did last, however short. */
void end_find(Work *w);

static inline int sign_of(double x) {
        return (x > 0) - (x < 0);
}

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * SNIA's IOPS test while it runs, sample by sample, to end it with the round in which it is steady: what iops-test.h
 * makes of the passes that have ended, as it does of those in the database.
 */

#include "analysis/iops-test.h"
#include "sample/sample.h"
#include "spec/plan.h"

typedef struct IopsWatch IopsWatch;

/* Of all phases of plan, which is job's. -ENOMEM. */
int iops_watch_new(IopsWatch **ret, const Job *job, const Plan *plan);
IopsWatch *iops_watch_free(IopsWatch *watch);
DEFINE_CLEANUP(IopsWatch *, iops_watch_free)

/* What was recorded of a phase before; times in running time of the run. */
typedef struct IopsRecord {
        uint64_t began_ns, elapsed_ns;
        uint64_t counted_ns, counted_ios; /* after its ramp, all directions together */
        bool is_done;
} IopsRecord;

/* phase: below the plan's number, as in the next ones. */
void iops_watch_recall(IopsWatch *watch, uint32_t phase, const IopsRecord *record);

void iops_watch_add(IopsWatch *watch, const Sample *sample);
void iops_watch_end_phase(IopsWatch *watch, uint32_t phase); /* it is done */

/* Something other than the drive held the run up there. -ENOMEM. */
int iops_watch_cut(IopsWatch *watch, uint64_t elapsed_ns);

/* 1, with which phase the run is to end, and the window; 0 while it is to go on. -ENOMEM. */
int iops_watch_look(const IopsWatch *watch, uint32_t *ret_last_phase, SniaWindow *ret_window);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * When the next I/O may be issued, where rate= or rate_iops= limits a phase. As in fio the limit is on the average
 * since the phase began (or was taken up): what a slow device held up is made up for.
 */

#include "spec/plan.h"

typedef struct Pace {
        const PhasePlan *plan;
        bool is_limited;
        uint64_t began_ns; /* running time of the phase */
        uint64_t n_ios[N_DIRECTIONS], n_bytes[N_DIRECTIONS]; /* issued since */
} Pace;

void pace_begin(Pace *ret, const PhasePlan *plan, uint64_t running_ns);

/* Running time from which the next I/O of this direction may be issued, if `n` more I/Os of `bytes` come before it. */
uint64_t pace_due_ns(const Pace *pace, Direction direction, uint64_t n, uint64_t bytes);

void pace_count(Pace *pace, Direction direction, uint64_t bytes);

/*
 * How long to wait at running_ns until the next one is due: 0 if it is. Where free slots let several be issued at once,
 * a little longer, so that a high rate does not cost a wake-up for each.
 */
uint64_t pace_wait_ns(const Pace *pace, Direction direction, uint64_t bytes, uint64_t n_free, uint64_t running_ns);

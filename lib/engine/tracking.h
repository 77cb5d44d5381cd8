/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a ring thread minds while it writes what will be verified: overlapping writes one after another, no index that
 * is not allowed yet, which writes failed, and when the device's cache was flushed. All is the ring thread's, but for
 * what says otherwise.
 */

#include <stdatomic.h>

#include "engine/overlap.h"
#include "engine/write-number.h"
#include "spec/plan.h"
#include "util/macro.h"

_Static_assert(JOB_N_PHASES_MAX <= WRITE_PHASES_MAX, "a phase whose writes have no number");

/* What was written before is then safe from a power cut. */
#define TRACKING_FLUSH_NS (30 * NSEC_PER_SEC)

typedef struct Tracking {
        Overlap *overlap; /* NULL: no phase of the plan is tracked */
        bool is_on;       /* this phase is */
        uint64_t number;  /* of the write with index 0 */
        History own;      /* maybes of this process, and how far it has flushed */
        uint64_t flush_low, flushed_at_ns; /* of the flush that is outstanding, or the last one */
        bool is_flushing;
        bool is_dirty; /* something was submitted since the last flush was */

        _Atomic uint64_t ceiling; /* the owner's to raise */
        _Atomic unsigned version; /* odd while what follows changes; for the owner to read */
        _Atomic uint64_t flushed;
        _Atomic uint32_t n_maybes;
        _Atomic uint64_t from[HISTORY_N_MAYBES_MAX], to[HISTORY_N_MAYBES_MAX];
} Tracking;

/* By the owner, while the thread is parked. history: what is known from before; copied. */
void tracking_begin(Tracking *tracking, const PhasePlan *share, uint64_t number, const History *history);

/* Whether the next I/O has to wait: changes: it writes or trims. */
static inline bool tracking_holds(const Tracking *t, uint64_t index, bool changes, uint64_t offset, uint32_t length) {
        return index >= atomic_load_explicit(&t->ceiling, memory_order_acquire) ||
               (changes && overlap_hits(t->overlap, offset, length));
}

/* A write that has failed, before its slot is free for others to see. */
void tracking_fail(Tracking *tracking, uint64_t index);

/* Whether it is time for a flush. */
static inline bool tracking_wants_flush(const Tracking *t, uint64_t now_ns) {
        return t->is_on && t->is_dirty && !t->is_flushing && now_ns - t->flushed_at_ns >= TRACKING_FLUSH_NS;
}

/* A flush is submitted, and all below index `low` has completed; it has ended. */
void tracking_flush_begins(Tracking *tracking, uint64_t low, uint64_t now_ns);
void tracking_flush_ends(Tracking *tracking, bool done);

/* By the owner: maybes and how far is flushed, into *ret. False if the thread was held up in the middle of a change. */
bool tracking_read(const Tracking *tracking, History *ret);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One ring thread and all that is its own: ring, slots, order, counts. It runs its share of one phase at a
 * time on its part of the device, and is parked in between. All functions are for the one thread that owns the
 * slice, and return at once but for slice_new() and slice_join().
 */

#include "engine/allowance.h"
#include "engine/buffers.h"
#include "engine/check.h"
#include "engine/payload.h"
#include "engine/pool.h"
#include "engine/tally.h"
#include "engine/tracking.h"
#include "engine/verifier.h"

typedef struct Slice Slice;

typedef struct SliceConfig {
        RingKind ring_kind;
        int fd;
        uint32_t depth;         /* of the deepest share */
        const Buffers *buffers; /* borrowed, as is all below */
        const Payload *payload;
        Allowance *allowance;   /* NULL: whatever is written */
        Pool *pool;             /* of the phase that runs */
        uint64_t first_write;   /* number of the first write, */
        uint64_t write_step;    /* and from each to the next one */
        int event_fd;           /* written to when the state changes */
        unsigned number;        /* of this slice */
        bool tracks, checks;    /* some phase of the plan is tracked, or checked */
        Verifier *verifier;     /* if it checks */
        const Replay *replay;
        Slice *const *team;     /* the slices of the engine, which end a phase together if one of them has to */
        unsigned n_team;
} SliceConfig;

/* Sets up ring and thread, and returns when the thread is parked. */
int slice_new(Slice **ret, const SliceConfig *config, Error *error);

/* Tells the thread to end, once the I/O outstanding has completed. */
void slice_exit(Slice *slice);

/* Waits for that. All of a team end before the first of them is freed. */
void slice_join(Slice *slice);
Slice *slice_free(Slice *slice);
DEFINE_CLEANUP(Slice *, slice_free)

/* Whether it can run a phase: -EBUSY if it is not idle, the error of its ring if that has failed. */
int slice_ready(const Slice *slice);

/*
 * Both only when slice_ready() is content; all of a team are prepared, after their pool, before the first of them
 * goes. share: copied, as is history, which is that of the share; phase: its index.
 * first_slot: of the buffers. at: where it goes on after running_ns of running time; its write number does not
 * count, see SliceConfig.
 */
void slice_prepare(Slice *slice, uint32_t phase, const PhasePlan *share, const History *history, uint32_t first_slot,
                   const Position *at, uint64_t running_ns);
void slice_go(Slice *slice);
void slice_pause(Slice *slice);
void slice_resume(Slice *slice);
void slice_stop(Slice *slice);

EngineState slice_state(const Slice *slice);
uint64_t slice_running_ns(const Slice *slice);
void slice_in_flight(const Slice *slice, uint32_t *ret_n, uint64_t *ret_oldest_ns);
void slice_position(Slice *slice, Position *ret);

/* Of a share that is tracked: where it is at least, and its history, belonging to that. */
void slice_history(Slice *slice, Position *ret_at, History *ret);
void slice_allow(Slice *slice, uint64_t ceiling); /* indices below may be submitted */
const Check *slice_check(const Slice *slice);     /* NULL: it checks no phase */
void slice_beat(Slice *slice, uint64_t awake_ns);
uint64_t slice_awake_ns(const Slice *slice);
uint64_t slice_held_ns(const Slice *slice);
uint64_t slice_cpu_ns(const Slice *slice);
Tally *slice_tally(Slice *slice);
int slice_ring_error(const Slice *slice);
EngineFailure slice_failure(const Slice *slice); /* only when idle */

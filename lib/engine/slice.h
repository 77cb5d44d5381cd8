/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One ring thread and all that is its own: ring, slots, order, counts. It runs one phase at a
 * time on its part of the device, and is parked in between. All functions are for the one thread that owns the
 * slice, and return at once but for slice_new() and slice_free().
 */

#include "engine/buffers.h"
#include "engine/payload.h"
#include "engine/tally.h"

typedef struct Slice Slice;

typedef struct SliceConfig {
        RingKind ring_kind;
        int fd;
        uint32_t depth;         /* of the deepest phase */
        const Buffers *buffers; /* borrowed, as is all below */
        const Payload *payload;
        uint64_t first_write;   /* number of the first write */
        int event_fd;           /* written to when the state changes */
        unsigned number;        /* of this slice */
} SliceConfig;

/* Sets up ring and thread, and returns when the thread is parked. */
int slice_new(Slice **ret, const SliceConfig *config, Error *error);
Slice *slice_free(Slice *slice);
DEFINE_CLEANUP(Slice *, slice_free)

/*
 * Only when idle. -EBUSY if it is not; the ring's error if it had one. at: where it goes on after running_ns of running
 * time; its write number does not count, see SliceConfig.
 */
int slice_start(Slice *slice, const PhasePlan *phase, const Position *at, uint64_t running_ns);
void slice_pause(Slice *slice);
void slice_resume(Slice *slice);
void slice_stop(Slice *slice);

EngineState slice_state(const Slice *slice);
uint64_t slice_running_ns(const Slice *slice);
void slice_in_flight(const Slice *slice, uint32_t *ret_n, uint64_t *ret_oldest_ns);
void slice_position(Slice *slice, Position *ret);
void slice_beat(Slice *slice, uint64_t awake_ns);
uint64_t slice_awake_ns(const Slice *slice);
Tally *slice_tally(Slice *slice);
int slice_ring_error(const Slice *slice);
EngineFailure slice_failure(const Slice *slice); /* only when idle */

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a run should have left on its device, computed again from the order of its I/O: for each granule
 * (Plan.granule_bytes) of a window the newest write that certainly took effect. No map is kept while it writes.
 */

#include <stdatomic.h>

#include "engine/payload.h"
#include "engine/write-number.h"
#include "spec/plan.h"

/*
 * A granule: the number of the newest write; or one of the two that are no write's. With GRANULE_MAYBE_UNSTAMPED a
 * newer one may have written what does not tell whose it is: zeros, or a piece that is alike in many places.
 */
#define GRANULE_MAYBE_UNSTAMPED (UINT64_C(1) << 63)
#define GRANULE_UNWRITTEN (GRANULE_MAYBE_UNSTAMPED - 1)
#define GRANULE_UNKNOWN (GRANULE_MAYBE_UNSTAMPED - 2) /* it was discarded */

typedef struct Replay { /* all borrowed */
        const Plan *plan;
        const Histories *histories;
        const Payload *payload;
        uint32_t n_phases; /* the first so many of them; of the others only what a process that died may have done */
} Replay;

typedef struct Window {
        uint64_t first; /* granules of the device */
        uint64_t n;
        uint64_t *granules;
} Window;

/*
 * Fills window->granules. Takes as long as it took the order to be made up: some ns an I/O. False if it was cancelled
 * meanwhile: *turn is not `mine` any more.
 */
bool replay_window(const Replay *replay, const Window *window, const _Atomic unsigned *turn, unsigned mine);

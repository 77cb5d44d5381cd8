/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Windows of what the device should hold (engine/replay.h), for phases that are checked: while one is read, a thread of
 * its own computes the next, so that the device does not idle. All memory is had beforehand.
 */

#include "engine/replay.h"
#include "util/error.h"

typedef struct Verifier Verifier;

/*
 * For the checked phases of the plan. Starts the thread. What the replay points to is borrowed, and must not change
 * between verifier_begin() and verifier_stop() as far as it is of earlier phases. ERROR_FAILED.
 */
int verifier_new(Verifier **ret, const Replay *replay, Error *error);
Verifier *verifier_free(Verifier *verifier);

/* By the owner, before the phase's ring threads go, and before anything of it changes. The latter may wait a moment. */
void verifier_begin(Verifier *verifier, uint32_t phase);
void verifier_stop(Verifier *verifier);

/* Which window serves an I/O that begins at this offset; by ring threads, as is the next one. */
uint64_t verifier_window_number(const Verifier *verifier, uint64_t offset);

/*
 * That window; NULL while it is being computed. Asking for another one than before gives the others up: nothing that
 * they serve may be outstanding.
 */
const Window *verifier_window(Verifier *verifier, uint64_t number);

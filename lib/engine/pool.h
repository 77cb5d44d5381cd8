/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What is left of a phase's amounts, where its ring threads take parts of them one after another instead of having
 * shares (phase_plan_pools()). So all of them are busy to the end, however fast each of them is.
 */

#include <stdatomic.h>

#include "sample/position.h"
#include "spec/plan.h"

typedef struct Pool {
        bool is_on;     /* else each ring thread has a share of its own */
        PhasePlan rest; /* the phase, with the limits of what was left when it began or was taken up */
        uint64_t n_parts;
        _Atomic uint64_t n_taken;
} Pool;

/* While no ring thread runs. at: where the phase goes on, zeros where it begins. */
void pool_begin(Pool *ret, const PhasePlan *phase, const Positions *at);

/* Adds a part to what a ring thread may do altogether; false if there is none left. No limit stays none. */
bool pool_take(Pool *pool, uint64_t *bytes, uint64_t *ios);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What each of a phase's ring threads does: a phase of its own, on a part of the region that no other one has. All
 * shares together are the phase: they cover its region, and their streams, limits and rates add up to its own.
 *
 * Streams stay whole where there are enough of them, else what is outstanding is divided. A region is divided
 * in proportion to that, at whole blocks of all directions, so that a device that serves all alike is written evenly;
 * limits (but see phase_plan_pools()) and rates are divided as the region is. Streams that have regions of their own
 * take these along.
 */

#include "spec/plan.h"

/* The share of ring thread `number`, below phase->workers. Pure; allocates nothing. */
void phase_plan_share(PhasePlan *ret, const PhasePlan *phase, uint32_t number);

/*
 * Whether the limits are not divided beforehand: where blocks come at random and as often as may be, any ring thread
 * may go on with what is left, so that none is through long before the others. Shares then have the phase's limits.
 * What is done of them is taken in parts that make the whole: n of them, 0 if nothing is limited or left.
 */
bool phase_plan_pools(const PhasePlan *phase);
uint64_t phase_plan_n_parts(const PhasePlan *phase);
void phase_plan_part(const PhasePlan *phase, uint64_t number, uint64_t n, uint64_t *ret_bytes, uint64_t *ret_ios);

/* I/Os that a share's limits allow, failed ones included; UINT64_MAX: any number. */
uint64_t phase_plan_ios_max(const PhasePlan *share);

/* I/Os outstanding in the shares before this one; in all of them for number = phase->workers. */
uint32_t phase_plan_slots_before(const PhasePlan *phase, uint32_t number);

/* Ring threads that the phase with the most of them has. */
uint32_t plan_workers_max(const Plan *plan);

/* SPDX-License-Identifier: MIT */
#pragma once

/* What verify= adds to a plan; for spec/plan.c. */

#include "spec/plan.h"

/* Whether a phase is followed by one that reads back what it wrote. */
bool plan_has_read_back(const JobPhase *phase);

/* Adds the reading that belongs to the newest phase of the plan, which has room for it. */
void plan_add_read_back(Plan *plan, const PlanTarget *target);

/*
 * When all phases are bound: which of them are tracked, and in what granules. ERROR_USAGE (-ERANGE) if what has to be
 * known of the device at a time does not fit in verify_memory.
 */
int plan_bind_verification(Plan *plan, const Job *job, const PlanTarget *target, Error *error);

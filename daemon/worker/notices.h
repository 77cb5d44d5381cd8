/* SPDX-License-Identifier: MIT */
#pragma once

/* What a person should know about this device under this job before it starts. */

#include "device/claim.h"
#include "spec/plan.h"

/* A NULL-terminated array, possibly empty, for strv_free(); NULL if memory ran out. Writes and reads nothing. */
char **notices_new(const Claim *claim, const Plan *plan);

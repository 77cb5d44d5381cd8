/* SPDX-License-Identifier: MIT */
#pragma once

/* What came of reading back what a run has written. */

#include <json-c/json.h>

#include "analysis/verdict.h"
#include "store/store.h"

typedef struct Verified {
        size_t n_phases;
        StoreVerification *of; /* each phase */
        StoreFinding *findings;
        size_t n_findings;
} Verified;

int verified_load(Verified *ret, Store *store, uint32_t run, size_t n_phases, Error *error);
void verified_clear(Verified *verified);

/* All phases together; false if none was to be checked. */
bool verified_total(const Verified *verified, Verification *ret);

/* The one that checked the least of what it was to: also one that the run did not come to. */
VerifiedShare verified_least(const Verified *verified);

/* Of a phase: {"asked_bytes","checked_bytes","errors","corrupt",...,"findings":[...]}. NULL: none was asked. */
json_object *verified_json(const Verified *verified, size_t phase);

/*
 * A table of the phases that were to be checked, and how many blocks of which kind were wrong; nothing if none was.
 * Which they are the run's events tell.
 */
int verified_print(const Verified *verified, const StorePhase *phases);

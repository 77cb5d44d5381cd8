/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Where an interrupted run may have left blanks in place of what it wrote: the places that its trims, discards and
 * writes of zeros can have reached. All others still carry what was written there last.
 */

#include "spec/plan.h"
#include "util/cleanup.h"
#include "wire/standing.h"

typedef struct Erased Erased;

/* last: the last phase that may have begun. plan and standing: borrowed. NULL if memory ran out. */
Erased *erased_new(const Plan *plan, const Standing *standing, uint32_t last, uint64_t size_bytes);
Erased *erased_free(Erased *erased);
DEFINE_CLEANUP(Erased *, erased_free)

/*
 * From here on it is asked for what was written in this phase: only what erased in it or later counts. Best with phases
 * that fall: one that rises is computed anew.
 */
void erased_look_from(Erased *erased, uint32_t phase);

/* Whether any of these bytes may have been erased since. */
bool erased_may_be(const Erased *erased, uint64_t offset, size_t n_bytes);

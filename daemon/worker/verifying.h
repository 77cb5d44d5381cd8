/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What the worker tells of verification, and hears: histories of what it writes, as they change; what came of what it
 * reads; and how far it may go on.
 */

#include "engine/engine.h"
#include "wire/standing.h"
#include "worker/reporter.h"

typedef struct Verifying {
        Reporter *reporter; /* borrowed, as all here */
        Engine *engine;
        const Plan *plan;
        Standing *standing; /* of a run that is taken up; NULL: a new one */
        uint32_t phase;
        unsigned n_told;    /* findings of the phase */
        unsigned n_told_of[JOB_WORKERS_MAX]; /* of each share */
        Verification told;  /* of the phase: all that its workers have counted */
        uint64_t n_errors;  /* of phases that do not forgive them, those before this one */
} Verifying;

void verifying_init(Verifying *ret, Reporter *reporter, Engine *engine, const Plan *plan, Standing *standing);

/* When it has begun, or goes on. */
void verifying_begin_phase(Verifying *verifying, uint32_t phase);

/* With each sample, before it is sent; at the end of a phase, too. */
void verifying_look(Verifying *verifying);
void verifying_end_phase(Verifying *verifying);

/* Blocks of the run so far that were not what was written, where that fails a run. */
uint64_t verifying_n_errors(const Verifying *verifying);

void verifying_recorded(Verifying *verifying, const Message *message);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Drives a run from its first phase to its end, in the unprivileged worker: one loop over the service's messages,
 * the engine's events, the sample timer and signals. Allocates its state beforehand, and what the link queues.
 *
 * A hung drive: after a stop (or with the service gone) nothing more is submitted, samples of zeros go on, and the
 * loop ends when the drive has answered, however long it takes: only then is the device free.
 */

#include "device/claim.h"
#include "engine/engine.h"
#include "wire/standing.h"
#include "worker/reporter.h"

typedef struct DriverConfig { /* all borrowed */
        Reporter *reporter;
        const Plan *plan;
        Engine *engine;
        const Claim *claim;
        Standing *standing; /* where it is taken up; NULL: from the beginning */
        uint64_t sample_interval_ns;
        int signal_fd; /* a signalfd: whatever comes means stop */
} DriverConfig;

typedef struct Driver Driver;

/* Opens and allocates: before the system-call filter. */
int driver_new(Driver **ret, const DriverConfig *config, Error *error);
Driver *driver_free(Driver *driver);
DEFINE_CLEANUP(Driver *, driver_free)
#define _cleanup_driver_ _cleanup_(driver_freep)

/*
 * Runs all phases; returns with the engine idle. The detail is newly allocated; NULL if memory ran out. FINISHED is
 * left to the caller, who frees the device first.
 */
Outcome driver_run(Driver *driver, char **ret_detail);

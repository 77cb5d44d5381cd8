/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a device does wrong, told once for each change: errors per errno, stalls, read-only, gone. Looked at
 * when a sample is taken, so a drive that fails a million times a second makes one message a sample.
 */

#include "device/claim.h"
#include "worker/reporter.h"

typedef struct Faults {
        uint64_t told_counts[ENGINE_N_ERRNOS_MAX]; /* of the engine's entries, which keep their places */
        uint64_t n_errors; /* of the run */
        bool stalled;
        uint64_t stalled_oldest_ns; /* the greatest age seen in the stall */
        bool read_only;
} Faults;

/*
 * sample: the newest. Asks the device itself too, which costs three ioctls that do no I/O: a device that grew, or was
 * exchanged, goes on without an error. -ENODEV or -ESTALE with words if it is not the one that was claimed any more:
 * then the errors of this sample are counted in the words and not told one by one.
 */
int faults_look(Faults *faults, Reporter *reporter, Engine *engine, const Claim *claim, const Sample *sample,
                Error *error);

/* oldest_ns: age of the oldest I/O outstanding now. Once a second or oftener: faults_look() does it with the sample. */
void faults_look_stalled(Faults *faults, Reporter *reporter, uint64_t oldest_ns, uint64_t elapsed_ns);

/*
 * Asks the device whether it is still the one that was claimed. Read-only is told as an event and no error here.
 * -ENODEV, -ESTALE.
 */
int faults_verify(Faults *faults, Reporter *reporter, const Claim *claim, uint64_t elapsed_ns, Error *error);

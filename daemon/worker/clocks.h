/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What the machine's clocks tell against each other: the monotonic one stands still while the machine is suspended, the
 * one since boot does not, and the wall clock may be set. Samples are cut by the monotonic clock, so neither reaches
 * them; but whoever reads the run must know.
 */

#include "worker/reporter.h"

typedef struct Clocks {
        uint64_t monotonic_ns, boottime_ns;
        int64_t realtime_ns;
} Clocks;

void clocks_init(Clocks *ret);

/* Tells a suspension (outage) and a step of the wall clock (clock) since it was last called. */
void clocks_look(Clocks *clocks, Reporter *reporter, uint64_t elapsed_ns);

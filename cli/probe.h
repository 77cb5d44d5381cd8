/* SPDX-License-Identifier: MIT */
#pragma once

/* Looks at devices, each in a disposable process of its own, since a dead drive may hang whoever opens it. */

#include "device/check.h"

#define PROBE_TIMEOUT_S 8

typedef struct Probe {
        const char *path;  /* in: borrowed */
        DeviceInfo *info;  /* NULL: then `error` says why */
        Reasons reasons;   /* against overwriting it; REASON_UNREADABLE if it did not answer in time */
        Error error;
} Probe;

/* All at once; takes PROBE_TIMEOUT_S at most. Fails only if no process can be made at all. */
int probe_devices(Probe *probes, size_t n, Error *error);

/* Nothing speaks against it. */
bool probe_is_eligible(const Probe *probe);

/* What speaks against it is only what --erase-existing would erase. */
bool probe_is_erasable(const Probe *probe);

void probe_clear(Probe *probe);
#define _cleanup_probe_ _cleanup_(probe_clear)

/* SPDX-License-Identifier: MIT */
#pragma once

/* Looks at devices, each in a disposable process of its own, since a dead drive may hang whoever opens it. */

#include "device/check.h"

#define PROBE_TIMEOUT_S 8

typedef struct Probe {
        const char *path;  /* as it was given; borrowed */
        DeviceInfo *info;  /* NULL: then `error` says why */
        Reasons reasons;   /* against overwriting it; REASON_UNREADABLE if it did not answer in time */
        Error error;
} Probe;

typedef struct Probes {
        Probe *items;
        size_t n;
} Probes;

/*
 * Looks at the devices (NULL-terminated paths, borrowed by the result), all at once; takes PROBE_TIMEOUT_S at most.
 * A device that is none, or hangs, is no error of the call, but of its Probe.
 */
int probes_new(Probes *ret, const char *const *paths, Error *error);

/*
 * ERROR_NOT_FOUND, with the path that was probably meant, for a bare name as "sdb" where no such file is but /dev has
 * one.
 */
int probe_check_name(const char *name, Error *error);

void probes_clear(Probes *probes);
#define _cleanup_probes_ _cleanup_(probes_clear)

/* Nothing speaks against it. */
bool probe_is_eligible(const Probe *probe);

/* What speaks against it is only what --erase-existing would erase. */
bool probe_is_erasable(const Probe *probe);

/* What speaks against it, on one line. Newly allocated; NULL: no memory. */
char *probe_reasons_text(const Probe *probe);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Keeps what another tool recorded as a run that every query verb can work with. */

#include "sample/recording.h"
#include "store/store.h"

typedef struct RecordedRun {
        const char *name;
        const char *source;      /* where it came from, for people: file names */
        const char *device_path; /* "" for none */
        const char *serial;      /* or NULL */
        uint64_t capacity_bytes; /* 0: not known */
        uint64_t block_bytes;    /* 0: the mean of what was recorded */
        const RecordingSeries *series;
} RecordedRun;

/*
 * Writes the run in one transaction: it is there as a whole, done, or not at all, whatever ends it. The transaction
 * takes some microseconds an interval, in which a service that writes too keeps its samples in memory. While another
 * import writes it waits, which is told. -EINTR as soon as interrupt_fd is readable, or within seconds while it waits.
 * On a terminal stderr tells how far it is.
 */
int recorded_run_insert(Store *store, const RecordedRun *recorded, int interrupt_fd, uint32_t *ret_run, Error *error);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Keeps what another tool recorded as a run of one phase, that every query verb can work with. */

#include "sample/recording.h"
#include "store/store.h"

typedef struct RecordedRun {
        const char *database;    /* path */
        const char *name;
        const char *source;      /* where it came from, for people: file names */
        const char *device_path; /* "" for none */
        const char *serial;      /* or NULL */
        uint64_t capacity_bytes; /* 0: not known */
        uint64_t block_bytes;    /* 0: the mean of what was recorded */
        uint64_t interval_ns;    /* usual length of a row, not 0 */
        const RecordingRow *rows;
        size_t n_rows;           /* at least 1 */
} RecordedRun;

/*
 * Writes the run in short transactions, beside a service that may be writing too. Until the last of them it is in
 * state failed, then done. If that is not reached, everything of it is removed again. Ends with -EINTR as soon as
 * interrupt_fd is readable.
 */
int recorded_run_insert(Store *store, const RecordedRun *recorded, int interrupt_fd, uint32_t *ret_run, Error *error);

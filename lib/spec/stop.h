/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * [stop]: what ends the whole run of a job before its phases are through, as a result. One table; the reader and its
 * messages come from it, and a test holds the manual page against it.
 */

#include "spec/job.h"

/* What SNIA's IOPS test tracks, and for how many rounds: analysis/iops-test.h. */
#define STOP_SNIA_BLOCK_BYTES 4096
#define STOP_SNIA_N_ROUNDS 5

typedef struct StopOption {
        const char *name;
        int (*set)(Job *job, const char *value); /* -EINVAL, -ERANGE; NULL: it needs the drive's telemetry */
        const char *text; /* what is expected of the value: "expected %s" */
} StopOption;

extern const StopOption stop_options[];
extern const size_t stop_options_n;

/* NULL for a name that is none. */
const StopOption *stop_option_find(const char *name);

/* Names of those that this version knows, as in "a, b or c". Returns buf. */
#define STOP_NAMES_MAX 128
const char *stop_option_names(char buf[static STOP_NAMES_MAX]);

/* When all phases are read: ERROR_USAGE (-EINVAL) for a criterion that none of them can fulfil. */
int stop_check(const Job *job, Error *error);

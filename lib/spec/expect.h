/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * [expect]: what a run of the job must show for the drive to pass. One table; the reader, its messages, check-job and
 * the verdict come from it, and a test holds the manual page against it.
 */

#include <stdbool.h>
#include <stddef.h>

typedef enum Expectation {
        EXPECT_CLAIMED_IOPS,
        EXPECT_CLAIMED_BANDWIDTH,
        EXPECT_STEADY_IOPS_MIN,
        EXPECT_FLOOR_RATIO_MIN,
        EXPECT_ERRORS_MAX,
        EXPECT_LATENCY_P999_MAX,
        EXPECT_TEMPERATURE_MAX,
        EXPECT_VERIFY_ERRORS_MAX,
        N_EXPECTATIONS,
} Expectation;

typedef enum ExpectUnit {
        EXPECT_UNIT_IOPS,
        EXPECT_UNIT_BYTES_PER_S,
        EXPECT_UNIT_RATIO,
        EXPECT_UNIT_COUNT,
        EXPECT_UNIT_NS,
        EXPECT_UNIT_CELSIUS,
} ExpectUnit;

typedef struct ExpectOption {
        const char *name;
        ExpectUnit unit;
        bool is_max;      /* passes up to it, else from it on */
        const char *text; /* what is expected of the value: "expected %s" */
} ExpectOption;

extern const ExpectOption expect_options[N_EXPECTATIONS];

typedef struct Expectations {
        bool is_set[N_EXPECTATIONS];
        double value[N_EXPECTATIONS]; /* in the option's unit */
} Expectations;

/* Whether anything is expected. */
bool expectations_any(const Expectations *expectations);

/* An Expectation, or -EINVAL for a name that is none. */
int expectation_from_name(const char *name);

/* The known name nearest to name, or NULL. */
const char *expectation_nearest(const char *name);

/* Takes the text of a value. -EINVAL, -ERANGE or -ENOMEM. */
int expectation_set(Expectations *expectations, Expectation which, const char *value);

/* "iops", "bytes_per_s", "ratio", "count", "ns", "celsius". */
const char *expect_unit_name(ExpectUnit unit);

#define EXPECT_VALUE_MAX 100
/* "60000 IOPS", "576.7 MB/s (550 MiB/s)", "5 ms": for people; "unknown" for NaN. Returns buf. */
const char *expect_format(ExpectUnit unit, double value, char buf[static EXPECT_VALUE_MAX]);

/* Two values that are held against each other, with as many digits as tell them apart: "8000 IOPS", "7999.6 IOPS". */
void expect_format_apart(ExpectUnit unit, double a, double b, char buf_a[static EXPECT_VALUE_MAX],
                         char buf_b[static EXPECT_VALUE_MAX]);

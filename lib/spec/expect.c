/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "spec/expect.h"
#include "util/macro.h"
#include "util/parse.h"

#define IOPS_TEXT "IOPS from 1 (k and m are 1000 and 1000000 here)"

const ExpectOption expect_options[N_EXPECTATIONS] = {
        [EXPECT_CLAIMED_IOPS] = { "claimed_iops", EXPECT_UNIT_IOPS, .text = IOPS_TEXT },
        [EXPECT_CLAIMED_BANDWIDTH] = { "claimed_bandwidth", EXPECT_UNIT_BYTES_PER_S,
                                       .text = "bytes a second from 1 (k, m, g, t, p for powers of 1024)" },
        [EXPECT_STEADY_IOPS_MIN] = { "steady_iops_min", EXPECT_UNIT_IOPS, .text = IOPS_TEXT },
        [EXPECT_FLOOR_RATIO_MIN] = { "floor_ratio_min", EXPECT_UNIT_RATIO, .text = "a number above 0 and up to 1" },
        [EXPECT_ERRORS_MAX] = { "errors_max", EXPECT_UNIT_COUNT, .is_max = true, .text = "a number from 0" },
        [EXPECT_LATENCY_P999_MAX] = { "latency_p999_max", EXPECT_UNIT_NS, .is_max = true,
                                      .text = "a time with its unit (us, ms or s)" },
        [EXPECT_TEMPERATURE_MAX] = { "temperature_max", EXPECT_UNIT_CELSIUS, .is_max = true,
                                     .text = "degrees Celsius from 1 to 200" },
        [EXPECT_VERIFY_ERRORS_MAX] = { "verify_errors_max", EXPECT_UNIT_COUNT, .is_max = true,
                                       .text = "a number from 0" },
};

bool expectations_any(const Expectations *expectations) {
        for (size_t i = 0; i < N_EXPECTATIONS; i++)
                if (expectations->is_set[i])
                        return true;
        return false;
}

int expectation_from_name(const char *name) {
        for (size_t i = 0; i < N_EXPECTATIONS; i++)
                if (strcmp(expect_options[i].name, name) == 0)
                        return (int) i;
        return -EINVAL;
}

const char *expectation_nearest(const char *name) {
        const char *names[N_EXPECTATIONS];

        for (size_t i = 0; i < N_EXPECTATIONS; i++)
                names[i] = expect_options[i].name;
        return nearest_word(name, names, N_EXPECTATIONS);
}

static int parse_positive(int (*parse)(const char *, uint64_t *), const char *value, double *ret) {
        uint64_t number;
        int r = parse(value, &number);

        if (r < 0)
                return r;
        if (number == 0)
                return -ERANGE;
        *ret = (double) number;
        return 0;
}

static int parse_ratio(const char *value, double *ret) {
        double ratio;
        int r = parse_double(value, &ratio);

        if (r < 0)
                return r;
        if (ratio <= 0 || ratio > 1)
                return -ERANGE;
        *ret = ratio;
        return 0;
}

static int parse_integer(const char *value, uint64_t min, uint64_t max, double *ret) {
        uint64_t number;
        int r = parse_u64_range(value, min, max, &number);

        if (r < 0)
                return r;
        *ret = (double) number;
        return 0;
}

/* fio's runtime= takes a bare number for seconds, its max_latency= for microseconds: so the unit is asked for. */
static int parse_latency(const char *value, double *ret) {
        if (value[0] == '\0' || value[strspn(value, "0123456789")] == '\0')
                return -EINVAL;
        return parse_positive(parse_duration, value, ret);
}

static int parse_value(ExpectUnit unit, const char *value, double *ret) {
        switch (unit) {
        case EXPECT_UNIT_IOPS:
                return parse_positive(parse_count, value, ret);
        case EXPECT_UNIT_BYTES_PER_S:
                return parse_positive(parse_size, value, ret);
        case EXPECT_UNIT_RATIO:
                return parse_ratio(value, ret);
        case EXPECT_UNIT_COUNT:
                return parse_integer(value, 0, INT64_MAX, ret);
        case EXPECT_UNIT_NS:
                return parse_latency(value, ret);
        case EXPECT_UNIT_CELSIUS:
                return parse_integer(value, 1, 200, ret);
        }
        return -EINVAL;
}

int expectation_set(Expectations *expectations, Expectation which, const char *value) {
        int r = parse_value(expect_options[which].unit, value, &expectations->value[which]);

        if (r < 0)
                return r;
        expectations->is_set[which] = true;
        return 0;
}

const char *expect_unit_name(ExpectUnit unit) {
        static const char *const names[] = {
                [EXPECT_UNIT_IOPS] = "iops",   [EXPECT_UNIT_BYTES_PER_S] = "bytes_per_s",
                [EXPECT_UNIT_RATIO] = "ratio", [EXPECT_UNIT_COUNT] = "count",
                [EXPECT_UNIT_NS] = "ns",       [EXPECT_UNIT_CELSIUS] = "celsius",
        };
        return names[unit];
}

#define DIGITS_USUAL 4
#define DIGITS_ALL 17 /* of a double */
#define NUMBER_MAX 48

/* From a thousand on all digits before the point count as the usual ones. */
static void format_number(double value, int digits, const char *unit, char buf[static NUMBER_MAX]) {
        if (value < 1000)
                snprintf(buf, NUMBER_MAX, "%.*g%s", digits, value, unit);
        else
                snprintf(buf, NUMBER_MAX, "%.*f%s", digits - DIGITS_USUAL, value, unit);
}

/* Vendors mean powers of 1000 and fio's suffixes powers of 1024: of bandwidths both are told. */
static void format_value(ExpectUnit unit, double value, int digits, char buf[static EXPECT_VALUE_MAX]) {
        static const struct {
                double factor;
                const char *text;
        } shown[] = {
                [EXPECT_UNIT_IOPS] = { 1, " IOPS" },  [EXPECT_UNIT_BYTES_PER_S] = { 1e-6, " MB/s" },
                [EXPECT_UNIT_RATIO] = { 1, "" },      [EXPECT_UNIT_COUNT] = { 1, "" },
                [EXPECT_UNIT_NS] = { 1e-6, " ms" },   [EXPECT_UNIT_CELSIUS] = { 1, " C" },
        };
        char number[NUMBER_MAX] = "unknown", binary[NUMBER_MAX];

        if (!isnan(value))
                format_number(value * shown[unit].factor, digits, shown[unit].text, number);
        format_number(value / (double) MIB, digits, " MiB/s", binary);
        if (unit == EXPECT_UNIT_BYTES_PER_S && !isnan(value))
                snprintf(buf, EXPECT_VALUE_MAX, "%s (%s)", number, binary);
        else
                snprintf(buf, EXPECT_VALUE_MAX, "%s", number);
}

const char *expect_format(ExpectUnit unit, double value, char buf[static EXPECT_VALUE_MAX]) {
        format_value(unit, value, DIGITS_USUAL, buf);
        return buf;
}

void expect_format_apart(ExpectUnit unit, double a, double b, char buf_a[static EXPECT_VALUE_MAX],
                         char buf_b[static EXPECT_VALUE_MAX]) {
        int digits = DIGITS_USUAL;

        do {
                format_value(unit, a, digits, buf_a);
                format_value(unit, b, digits, buf_b);
        } while ((a < b || a > b) && strcmp(buf_a, buf_b) == 0 && digits++ < DIGITS_ALL);
}

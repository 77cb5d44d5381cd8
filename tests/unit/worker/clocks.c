/* SPDX-License-Identifier: MIT */

/* The clocks, with a machine that sleeps and a wall clock that is set when the test says so. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "util/macro.h"
#include "util/time.h"
#include "worker/clocks.h"

static uint64_t monotonic_ns, boottime_ns;
static int64_t realtime_ns;
static char told[256];

uint64_t time_monotonic_ns(void) {
        return monotonic_ns;
}

uint64_t time_boottime_ns(void) {
        return boottime_ns;
}

int64_t time_realtime_ns(void) {
        return realtime_ns;
}

/* "12.3 s" is the library's affair. */
const char *time_format_span(uint64_t ns, char *buf) {
        snprintf(buf, 32, "%llu ms", (unsigned long long) (ns / NSEC_PER_MSEC));
        return buf;
}

void reporter_event(Reporter *reporter, Occurrence kind, uint64_t elapsed_ns, const char *format, ...) {
        size_t n = strlen(told);
        va_list args;

        n += (size_t) snprintf(told + n, sizeof(told) - n, "%s@%llu: ", kind == OCCURRENCE_OUTAGE ? "outage" : "clock",
                               (unsigned long long) elapsed_ns);
        va_start(args, format);
        vsnprintf(told + n, sizeof(told) - n, format, args);
        va_end(args);
}

/* What is told of a second in which these clocks went by as much more. */
static const char *look_after(int64_t suspended_ms, int64_t step_ms) {
        Clocks clocks;

        monotonic_ns = 50 * NSEC_PER_SEC;
        boottime_ns = 90 * NSEC_PER_SEC;
        realtime_ns = INT64_C(1800000000) * (int64_t) NSEC_PER_SEC;
        clocks_init(&clocks);

        told[0] = '\0';
        monotonic_ns += NSEC_PER_SEC;
        boottime_ns += NSEC_PER_SEC + (uint64_t) suspended_ms * NSEC_PER_MSEC;
        realtime_ns += (1000 + suspended_ms + step_ms) * (int64_t) NSEC_PER_MSEC;
        clocks_look(&clocks, NULL, 77);
        size_t n = strlen(told);
        clocks_look(&clocks, NULL, 78);
        ck_assert_uint_eq(strlen(told), n); /* each once */
        return told;
}

START_TEST(test_nothing_is_told_while_all_go_alike) {
        ck_assert_str_eq(look_after(0, 0), "");
        ck_assert_str_eq(look_after(400, 0), "");
        ck_assert_str_eq(look_after(0, 900), "");
        ck_assert_str_eq(look_after(0, -900), "");
}
END_TEST

START_TEST(test_a_suspension_is_an_outage_and_no_step) {
        ck_assert_str_eq(look_after(8000, 0), "outage@77: the machine was suspended for 8000 ms");
}
END_TEST

START_TEST(test_a_clock_that_is_set_is_told_either_way) {
        ck_assert_str_eq(look_after(0, 3600000), "clock@77: the wall clock was set forward by 3600000 ms");
        ck_assert_str_eq(look_after(0, -3600000), "clock@77: the wall clock was set back by 3600000 ms");
}
END_TEST

START_TEST(test_both_at_once) {
        ck_assert_str_eq(look_after(2000, -5000), "outage@77: the machine was suspended for 2000 ms"
                                                  "clock@77: the wall clock was set back by 5000 ms");
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("clocks");
        TCase *tc = tcase_create("clocks");

        tcase_add_test(tc, test_nothing_is_told_while_all_go_alike);
        tcase_add_test(tc, test_a_suspension_is_an_outage_and_no_step);
        tcase_add_test(tc, test_a_clock_that_is_set_is_told_either_way);
        tcase_add_test(tc, test_both_at_once);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

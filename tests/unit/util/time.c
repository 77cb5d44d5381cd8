/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <time.h>

#include "unit.h"
#include "util/macro.h"
#include "util/time.h"

static void set_zone(const char *zone) {
        setenv("TZ", zone, 1);
        tzset();
}

START_TEST(test_rfc3339_carries_the_offset_of_that_moment) {
        char buf[TIME_RFC3339_MAX];

        set_zone("UTC0");
        ck_assert_str_eq(time_format_rfc3339(0, buf), "1970-01-01T00:00:00.000+00:00");
        ck_assert_str_eq(time_format_rfc3339(INT64_C(1772399645123999999), buf), "2026-03-01T21:14:05.123+00:00");

        /* Central Europe, spelled out so that no zone files are needed: winter and summer. */
        set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
        ck_assert_str_eq(time_format_rfc3339(INT64_C(1772399645123999999), buf), "2026-03-01T22:14:05.123+01:00");
        ck_assert_str_eq(time_format_rfc3339(INT64_C(1782864000000000000), buf), "2026-07-01T02:00:00.000+02:00");

        set_zone("NST3:30");
        ck_assert_str_eq(time_format_rfc3339(0, buf), "1969-12-31T20:30:00.000-03:30");
}
END_TEST

START_TEST(test_rfc3339_at_the_ends) {
        char buf[TIME_RFC3339_MAX];

        set_zone("UTC0");
        ck_assert_str_eq(time_format_rfc3339(-1, buf), "1969-12-31T23:59:59.999+00:00");
        ck_assert_str_eq(time_format_rfc3339(INT64_MIN, buf), "1677-09-21T00:12:43.145+00:00");
        ck_assert_str_eq(time_format_rfc3339(INT64_MAX, buf), "2262-04-11T23:47:16.854+00:00");
}
END_TEST

START_TEST(test_rfc3339_is_read) {
        static const struct {
                const char *text;
                int64_t ns;
        } cases[] = {
                { "1970-01-01T00:00:00Z", 0 },
                { "2026-03-01T22:14:05.123+01:00", INT64_C(1772399645123000000) },
                { "2026-03-01T21:14:05.1234567899Z", INT64_C(1772399645123456789) },
                { "1969-12-31T20:30:00.5-03:30", INT64_C(500000000) },
                { "1969-12-31T23:59:59.999+00:00", -1000000 },
                { "2024-02-29T00:00:00Z", INT64_C(1709164800000000000) },
                { "2016-12-31T23:59:60Z", INT64_C(1483228800000000000) },
        };
        char buf[TIME_RFC3339_MAX];
        int64_t ns;

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                ck_assert_msg(time_parse_rfc3339(cases[i].text, &ns) == 0, "%s", cases[i].text);
                ck_assert_int_eq(ns, cases[i].ns);
        }
        set_zone("NST3:30");
        ck_assert_int_eq(time_parse_rfc3339(time_format_rfc3339(INT64_C(1772399645123000000), buf), &ns), 0);
        ck_assert_int_eq(ns, INT64_C(1772399645123000000));
}
END_TEST

START_TEST(test_what_is_no_rfc3339) {
        static const struct {
                const char *text;
                int error;
        } cases[] = {
                { "", -EINVAL }, { "noon", -EINVAL }, { "2026-03-01", -EINVAL }, { "2026-03-01T22:14:05", -EINVAL },
                { "2026-03-01 22:14:05Z", -EINVAL }, { "2026-3-01T22:14:05Z", -EINVAL },
                { "2026-03-01T22:14:05.Z", -EINVAL }, { "2026-03-01T22:14:05Zx", -EINVAL },
                { "2026-03-01T22:14:05+0100", -EINVAL }, { "2026-03-01T22:14:05+01:00x", -EINVAL },
                { "2026-03-01T22:14:05+24:00", -EINVAL }, { "2026-13-01T22:14:05Z", -EINVAL },
                { "2026-00-01T22:14:05Z", -EINVAL }, { "2026-02-29T22:14:05Z", -EINVAL },
                { "2026-01-00T22:14:05Z", -EINVAL }, { "2026-01-01T24:00:00Z", -EINVAL },
                { "2026-01-01T00:60:00Z", -EINVAL }, { "2026-01-01T00:00:61Z", -EINVAL },
                { "-026-01-01T00:00:00Z", -EINVAL }, { "9999-12-31T00:00:00Z", -ERANGE },
                { "1600-01-01T00:00:00Z", -ERANGE },
        };
        int64_t ns = 7;

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_msg(time_parse_rfc3339(cases[i].text, &ns) == cases[i].error, "%s", cases[i].text);
        ck_assert_int_eq(ns, 7);
}
END_TEST

START_TEST(test_spans) {
        static const struct {
                uint64_t ns;
                const char *expected;
        } cases[] = {
                { 0, "0 ms" },
                { 850 * NSEC_PER_MSEC, "850 ms" },
                { NSEC_PER_SEC - 1, "999 ms" },
                { 12345 * NSEC_PER_MSEC, "12.3 s" },
                { 60 * NSEC_PER_SEC - 1, "59.9 s" },
                { 125 * NSEC_PER_SEC, "2 min 5 s" },
                { 36120 * NSEC_PER_SEC, "10 h 2 min" },
                { 273600 * NSEC_PER_SEC, "3 d 4 h" },
                { UINT64_MAX, "213503 d 23 h" },
        };
        char buf[TIME_SPAN_MAX];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_str_eq(time_format_span(cases[i].ns, buf), cases[i].expected);
}
END_TEST

START_TEST(test_clocks_are_the_kernels) {
        struct timespec before, after;

        clock_gettime(CLOCK_MONOTONIC, &before);
        uint64_t monotonic_ns = time_monotonic_ns();
        clock_gettime(CLOCK_MONOTONIC, &after);
        ck_assert_uint_ge(monotonic_ns, (uint64_t) before.tv_sec * NSEC_PER_SEC + (uint64_t) before.tv_nsec);
        ck_assert_uint_le(monotonic_ns, (uint64_t) after.tv_sec * NSEC_PER_SEC + (uint64_t) after.tv_nsec);

        clock_gettime(CLOCK_REALTIME, &before);
        ck_assert_int_ge(time_realtime_ns() / (int64_t) NSEC_PER_SEC, before.tv_sec);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("time");
        TCase *tc = tcase_create("time");

        tcase_add_test(tc, test_rfc3339_carries_the_offset_of_that_moment);
        tcase_add_test(tc, test_rfc3339_at_the_ends);
        tcase_add_test(tc, test_rfc3339_is_read);
        tcase_add_test(tc, test_what_is_no_rfc3339);
        tcase_add_test(tc, test_spans);
        tcase_add_test(tc, test_clocks_are_the_kernels);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

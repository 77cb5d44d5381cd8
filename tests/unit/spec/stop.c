/* SPDX-License-Identifier: MIT */

/* [stop] */

#include <errno.h>
#include <stdio.h>

#include "parse-job.h"
#include "util/macro.h"

START_TEST(test_stop_criteria_are_read) {
        _cleanup_job_ Job *job = parse_good("[stop]\nerrors_max=5\n[a]\n"), *none = parse_good("[a]\n[stop]\n");

        ck_assert_uint_eq(job->n_phases, 1);
        ck_assert_uint_eq(job->stop_errors_max, 5);
        ck_assert_uint_eq(none->stop_errors_max, UINT64_MAX);
        check_refused("[a]\n[stop]\nerrors_max=\n", -EINVAL, WORDS("t.fio:3: errors_max=", "a number from 0"));
        check_refused("[a]\n[stop]\nerrors_max\n", -EINVAL, WORDS("t.fio:3: errors_max", "a number from 0"));
        check_refused("[a]\n[stop]\nerrors_max=9223372036854775808\n", -ERANGE, WORDS("a number from 0"));
        check_refused("[a]\n[stop]\nwear_max=80\n", -EINVAL,
                      WORDS("t.fio:3: wear_max needs the drive's telemetry", "errors_max or written_max"));
        check_refused("[a]\n[stop]\nwritten=1\n", -EINVAL, WORDS("t.fio:3: unknown criterion 'written'"));
        check_refused("[stop]\nerrors_max=5\n", -EINVAL, WORDS("t.fio: no phase"));
}
END_TEST

static void check_written_max(const char *value, int kind, uint64_t expected) {
        char text[128];

        snprintf(text, sizeof(text), "[stop]\nwritten_max=%s\n[a]\n", value);
        _cleanup_job_ Job *job = parse_good(text);
        ck_assert_int_eq(job->stop_written_max.kind, kind);
        ck_assert_uint_eq(job->stop_written_max.value, expected);
}

START_TEST(test_what_may_be_written_is_bytes_or_fills) {
        _cleanup_job_ Job *none = parse_good("[a]\n[stop]\nerrors_max=1\n");

        ck_assert_int_eq(none->stop_written_max.kind, EXTENT_UNSET);
        check_written_max("10t", EXTENT_BYTES, 10 * TIB);
        check_written_max("4096", EXTENT_BYTES, 4096);
        check_written_max("3 fills", EXTENT_FILLS, 3000);
        check_written_max("2.5fills", EXTENT_FILLS, 2500);
        check_written_max("1 fill", EXTENT_FILLS, 1000);
        static const char *const wrong[] = { "", "=", "=10%", "=2.5", "=2.5t", "=fills", "=-1 fills", "=1  fills",
                                             "=1 fills ago", "=. fills" };
        for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
                char text[128];

                snprintf(text, sizeof(text), "[a]\n[stop]\nwritten_max%s\n", wrong[i]);
                check_refused(text, -EINVAL, WORDS("t.fio:3: written_max", "10t", "2.5 fills"));
        }
        check_refused("[a]\n[stop]\nwritten_max=0\n", -ERANGE, WORDS("above 0"));
        check_refused("[a]\n[stop]\nwritten_max=0.0009 fills\n", -ERANGE, WORDS("above 0"));
        check_refused("[a]\n[stop]\nwritten_max=99999999p\n", -ERANGE, WORDS("t.fio:3: written_max=99999999p"));
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("stop");
        TCase *tc = tcase_create("stop");

        tcase_add_test(tc, test_stop_criteria_are_read);
        tcase_add_test(tc, test_what_may_be_written_is_bytes_or_fills);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

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
                      WORDS("t.fio:3: wear_max needs the drive's telemetry",
                            "expected errors_max, written_max or snia_iops_steady, or no [stop]"));
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

#define ROUNDS(n) "[global]\naction=matrix\nstep_time=1\nbs=8k,4k\n" n "[stop]\nsnia_iops_steady=1\n"
#define ROUND "[r]\nrw=randread\n[w]\nrw=randwrite\n"

START_TEST(test_the_end_of_a_steady_test_is_asked_for) {
        _cleanup_job_ Job *job = parse_good(ROUNDS(ROUND ROUND ROUND ROUND ROUND));
        _cleanup_job_ Job *not = parse_good("[stop]\nsnia_iops_steady=0\n[a]\n"), *none = parse_good("[a]\n");
        /* Phases of one block size, and mixes without reads, are passes too. */
        _cleanup_job_ Job *single = parse_good("[stop]\nsnia_iops_steady=1\n[global]\nruntime=1\n"
                                               "[a]\nrw=randwrite\n[b]\n[c]\n[d]\nrw=randwrite\n"
                                               "[e]\nrw=randwrite\n[f]\nrw=randwrite\n"
                                               "[g]\nrw=randrw\nrwmixread=0\n");

        ck_assert(job->stop_snia_iops_steady && single->stop_snia_iops_steady);
        ck_assert(!not->stop_snia_iops_steady && !none->stop_snia_iops_steady);
        check_refused("[a]\n[stop]\nsnia_iops_steady=2\n", -ERANGE, WORDS("t.fio:3: snia_iops_steady=2: expected 1"));
        check_refused("[a]\n[stop]\nsnia_iops_steady=yes\n", -EINVAL, WORDS("snia_iops_steady=yes: expected 1"));
}
END_TEST

START_TEST(test_an_end_that_cannot_come_is_refused) {
        static const struct {
                const char *text, *n;
        } jobs[] = {
                { "[a]\n[stop]\nsnia_iops_steady=1\n", "the job has 0" },
                { ROUNDS(ROUND ROUND ROUND ROUND), "the job has 4" },
                { ROUNDS(ROUND ROUND ROUND ROUND "[w]\nrw=randwrite\niodepth=1,2\n"), "the job has 4" },
                { ROUNDS(ROUND ROUND ROUND ROUND "[w]\nrw=randwrite\nbs=8k\n"), "the job has 4" },
                { ROUNDS(ROUND ROUND ROUND ROUND "[w]\nrw=write\n"), "the job has 4" },
                { ROUNDS(ROUND ROUND ROUND ROUND "[w]\nrw=randwrite\naction=io\nbs=8k\n"), "the job has 4" },
                { ROUNDS(ROUND ROUND ROUND ROUND "[w]\nrw=randrw\nrwmixread=1\n"), "the job has 4" },
        };

        check_refused(jobs[_i].text, -EINVAL,
                      WORDS("t.fio: [stop] snia_iops_steady=1 can never come true", "4096 bytes in 5 rounds",
                            jobs[_i].n));
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("stop");
        TCase *tc = tcase_create("stop");

        tcase_add_test(tc, test_stop_criteria_are_read);
        tcase_add_test(tc, test_what_may_be_written_is_bytes_or_fills);
        tcase_add_test(tc, test_the_end_of_a_steady_test_is_asked_for);
        tcase_add_loop_test(tc, test_an_end_that_cannot_come_is_refused, 0, 7);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

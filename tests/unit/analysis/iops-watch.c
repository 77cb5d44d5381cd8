/* SPDX-License-Identifier: MIT */

#include "analysis/iops-watch.h"

#include <string.h>

#include "unit.h"
#include "util/macro.h"
#include "util/time.h"

static Job *job;
static Plan *plan;
static IopsWatch *watch;
static uint64_t elapsed_ns;

static void watch_job(const char *text) {
        const PlanTarget target = { .size_bytes = GIB, .logical_block_bytes = 512 };

        elapsed_ns = 0;
        ck_assert_int_eq(job_parse(&job, "t.fio", text, strlen(text), NULL), 0);
        ck_assert_int_eq(plan_new(&plan, job, &target, 1, NULL), 0);
        ck_assert_int_eq(iops_watch_new(&watch, job, plan), 0);
}

static void teardown(void) {
        watch = iops_watch_free(watch);
        plan = plan_free(plan);
        job = job_free(job);
}

static void second(uint32_t phase, uint64_t reads, uint64_t writes) {
        Sample *sample = calloc(1, sizeof(*sample));

        ck_assert_ptr_nonnull(sample);
        sample->phase = phase;
        sample->duration_ns = NSEC_PER_SEC;
        sample->elapsed_ns = elapsed_ns += NSEC_PER_SEC;
        sample->ios[DIRECTION_READ] = reads;
        sample->ios[DIRECTION_WRITE] = writes;
        iops_watch_add(watch, sample);
        free(sample);
}

/* The last phase, or -1 while it goes on. */
static int look(SniaWindow *ret_window) {
        uint32_t last;
        int r = iops_watch_look(watch, &last, ret_window);

        ck_assert_int_ge(r, 0);
        return r > 0 ? (int) last : -1;
}

#define GLOBAL "[global]\nbs=4k\nruntime=2\ntime_based\n"
#define WRITES "[w]\nrw=randwrite\n"
#define FIVE_WRITES WRITES WRITES WRITES WRITES WRITES

START_TEST(what_its_ramp_did_counts_not) {
        SniaWindow window;

        watch_job(GLOBAL "ramp_time=1\n" FIVE_WRITES);
        for (uint32_t i = 0; i < 5; i++) {
                second(i, 0, i * 50000);
                second(i, 0, 1000);
                second(i, 0, 2000);
                iops_watch_end_phase(watch, i);
        }
        ck_assert_int_eq(look(&window), 4);
        ck_assert_double_eq_tol(window.average, 1500, 1e-9);
        ck_assert_double_eq_tol(window.from_s, 0, 1e-9);
        ck_assert_double_eq_tol(window.to_s, 15, 1e-9);
}
END_TEST

START_TEST(a_pass_that_was_not_done_is_none) {
        SniaWindow window;

        watch_job(GLOBAL FIVE_WRITES WRITES);
        for (uint32_t i = 0; i < 6; i++) {
                ck_assert_int_eq(look(&window), -1);
                second(i, 0, 1000);
                if (i != 2)
                        iops_watch_end_phase(watch, i);
        }
        ck_assert_int_eq(look(&window), -1);
}
END_TEST

/* Nor do other kinds of I/O: what is between the rounds is no point of them. */
START_TEST(a_matrix_over_several_depths_is_no_part_of_it) {
        SniaWindow window;

        watch_job("[global]\nbs=4k\nruntime=2\ntime_based\nstep_time=2\n" FIVE_WRITES
                  "[m]\naction=matrix\nrw=randwrite\niodepth=1,2\n[s]\nrw=write\n" FIVE_WRITES);
        for (uint32_t i = 0; i < 8; i++) {
                second(i, 0, i < 5 ? 1000 * i : 5000);
                iops_watch_end_phase(watch, i);
                ck_assert_int_eq(look(&window), -1);
        }
        for (uint32_t i = 8; i < 13; i++) {
                ck_assert_int_eq(look(&window), -1);
                second(i, 0, 1000);
                iops_watch_end_phase(watch, i);
        }
        ck_assert_int_eq(look(&window), 12);
        ck_assert_uint_eq(window.first_round, 6);
}
END_TEST

START_TEST(many_cuts_are_all_held) {
        SniaWindow window;

        watch_job(GLOBAL FIVE_WRITES FIVE_WRITES);
        for (uint32_t i = 0; i < 10; i++) {
                for (unsigned k = 1; i == 3 && k < 100; k++)
                        ck_assert_int_eq(iops_watch_cut(watch, elapsed_ns + k), 0);
                second(i, 0, 1000);
                iops_watch_end_phase(watch, i);
                ck_assert_int_eq(look(&window), i < 8 ? -1 : 8);
        }
        ck_assert_uint_eq(window.first_round, 4); /* the fourth pass is no round; so the fifth is the fourth */
}
END_TEST

/* What was recorded of a pass goes on. */
START_TEST(recorded_passes_are_passes) {
        SniaWindow window;

        watch_job(GLOBAL FIVE_WRITES);
        for (uint32_t i = 0; i < 5; i++)
                iops_watch_recall(watch, i, &(IopsRecord){
                        .began_ns = i * 2 * NSEC_PER_SEC,
                        .elapsed_ns = (i < 4 ? 2 : 1) * NSEC_PER_SEC,
                        .counted_ns = (i < 4 ? 2 : 1) * NSEC_PER_SEC,
                        .counted_ios = i < 4 ? 2000 : 500,
                        .is_done = i < 4,
                });
        elapsed_ns = 9 * NSEC_PER_SEC;
        second(4, 0, 1500);
        iops_watch_end_phase(watch, 4);
        ck_assert_int_eq(look(&window), 4);
        ck_assert_double_eq_tol(window.average, 1000, 1e-9);
        ck_assert_double_eq_tol(window.to_s, 10, 1e-9);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("analysis/iops-watch");
        TCase *tcase = tcase_create("iops-watch");

        tcase_add_checked_fixture(tcase, NULL, teardown);
        tcase_add_test(tcase, what_its_ramp_did_counts_not);
        tcase_add_test(tcase, a_pass_that_was_not_done_is_none);
        tcase_add_test(tcase, a_matrix_over_several_depths_is_no_part_of_it);
        tcase_add_test(tcase, many_cuts_are_all_held);
        tcase_add_test(tcase, recorded_passes_are_passes);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

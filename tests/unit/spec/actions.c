/* SPDX-License-Identifier: MIT */

/* What a phase does other than plain I/O, and what ends it other than amounts and time: from text to plan. */

#include <errno.h>
#include <string.h>

#include "spec/plan.h"
#include "unit.h"
#include "util/macro.h"

static int bind(const char *text, uint64_t size_bytes, uint32_t logical_block_bytes, Plan **ret, Error *error) {
        _cleanup_job_ Job *job = NULL;
        const PlanTarget target = {
                .size_bytes = size_bytes,
                .logical_block_bytes = logical_block_bytes,
                .can_discard = true,
        };

        int r = job_parse(&job, "t.fio", text, strlen(text), error);
        return r < 0 ? r : plan_new(ret, job, &target, 7, error);
}

static Plan *bind_good(const char *text, uint64_t size_bytes, uint32_t logical_block_bytes) {
        _cleanup_error_ Error error = ERROR_INIT;
        Plan *plan = NULL;

        ck_assert_msg(bind(text, size_bytes, logical_block_bytes, &plan, &error) == 0, "%s\n%s", text,
                      error_message(&error));
        return plan;
}

static void check_refused(const char *text, const char *words) {
        _cleanup_error_ Error error = ERROR_INIT;
        Plan *plan = NULL;

        ck_assert_msg(bind(text, MIB, 4096, &plan, &error) < 0, "%s", text);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        ck_assert_msg(strstr(error_message(&error), words), "no \"%s\" in \"%s\"", words, error_message(&error));
        ck_assert_int_eq(strncmp(error_message(&error), "t.fio:", strlen("t.fio:")), 0);
}

#define MATRIX "[m]\naction=matrix\nrw=randwrite\nstep_time=3\nbs=512,4k,1m\niodepth=1,512\n"

START_TEST(test_a_matrix_becomes_a_phase_for_each_cell) {
        static const struct {
                uint64_t block_bytes;
                uint32_t depth;
        } cells[] = { { 512, 1 }, { 512, 512 }, { 4 * KIB, 1 }, { 4 * KIB, 512 }, { MIB, 1 }, { MIB, 512 } };
        _cleanup_plan_ Plan *plan = bind_good("[fill]\nrw=write\n" MATRIX "[after]\nrw=read\n", GIB, 512);
        uint64_t ns;

        ck_assert_uint_eq(plan->n_phases, 1 + ELEMENTSOF(cells) + 1);
        for (size_t i = 0; i < ELEMENTSOF(cells); i++) {
                const PhasePlan *cell = &plan->phases[1 + i];

                ck_assert_uint_eq(cell->index, 1);
                ck_assert_int_eq(cell->action, PHASE_ACTION_MATRIX);
                ck_assert_int_eq(cell->rw, RW_RANDWRITE);
                ck_assert_uint_eq(cell->block_bytes[DIRECTION_WRITE], cells[i].block_bytes);
                ck_assert_uint_eq(cell->n_blocks[DIRECTION_WRITE], GIB / cells[i].block_bytes);
                ck_assert_uint_eq(cell->iodepth, cells[i].depth);
                ck_assert_uint_eq(cell->runtime_ns, 3 * NSEC_PER_SEC);
                ck_assert_uint_eq(cell->limit_bytes, UINT64_MAX);
                ck_assert_uint_ne(cell->seed, plan->phases[i].seed);
        }
        ck_assert_uint_eq(plan->phases[7].index, 2);
        plan->phases[0].has_planned_time = plan->phases[7].has_planned_time = true;
        ck_assert(plan_total_time(plan, &ns));
        ck_assert_uint_eq(ns, 18 * NSEC_PER_SEC);
}
END_TEST

START_TEST(test_cells_below_the_logical_block_are_left_out_and_told) {
        _cleanup_plan_ Plan *plan = bind_good(MATRIX, GIB, 4096);

        ck_assert_uint_eq(plan->n_phases, 4);
        ck_assert_uint_eq(plan->phases[0].block_bytes[DIRECTION_WRITE], 4 * KIB);
        ck_assert_uint_eq(plan->n_notices, 1);
        ck_assert_str_eq(plan->notices[0],
                         "t.fio: cells with bs=512 are left out: the target's logical blocks have 4096 bytes");
}
END_TEST

START_TEST(test_what_is_lost_at_the_end_is_told_once_a_block_size) {
        _cleanup_plan_ Plan *plan = bind_good(MATRIX MATRIX, 2 * MIB + 512, 512);

        ck_assert_uint_eq(plan->n_phases, 12);
        ck_assert_uint_eq(plan->n_notices, 2); /* of 4k and of 1m, not of each depth or phase */
        ck_assert_str_eq(plan->notices[0],
                         "t.fio: the target's last 512 bytes are left out with bs=4096: no multiple of it");
}
END_TEST

START_TEST(test_nothing_but_its_step_ends_a_cell) {
        _cleanup_plan_ Plan *plan = bind_good("[global]\nruntime=99\ncapacity_loops=2\nnumber_ios=5\nio_size=4k\n"
                                              "loops=2\n" MATRIX, GIB, 512);

        ck_assert_uint_eq(plan->n_phases, 6);
        for (size_t i = 0; i < plan->n_phases; i++) {
                ck_assert_uint_eq(plan->phases[i].runtime_ns, 3 * NSEC_PER_SEC);
                ck_assert_uint_eq(plan->phases[i].limit_bytes, UINT64_MAX);
                ck_assert_uint_eq(plan->phases[i].limit_ios, 0);
        }
}
END_TEST

START_TEST(test_a_matrix_says_what_it_lacks) {
        check_refused("[m]\naction=matrix\nbs=4k,8k\n", "t.fio:1: phase 'm': a matrix without step_time");
        check_refused("[m]\naction=matrix\nstep_time=1\nbs=4k,,8k\n", "leaves a place empty");
        check_refused("[m]\naction=matrix\nstep_time=1\niodepth=1,,2\n", "t.fio:4: iodepth=1,,2: expected");
        check_refused("[m]\naction=matrix\nstep_time=1\niodepth=1,16385\n", "t.fio:4: iodepth=1,16385: expected");
        check_refused("[m]\naction=matrix\nstep_time=1\niodepth=1,512\nnumjobs=33\n", "16896 I/Os outstanding");
        check_refused("[m]\naction=matrix\nstep_time=1\nbs=512,1k\n", "no block size of the job reaches");
        check_refused("[m]\naction=matrix\nstep_time=1\nbs=5k\n", "bs=5120 on a target");
        check_refused("[a]\nbs=4k,4k,4k,4k\n", "more than three sizes in bs");
        check_refused("[a]\niodepth=1,2\n", "several numbers in iodepth");
}
END_TEST

START_TEST(test_cells_count_as_phases) {
        char text[1024] = "[global]\naction=matrix\nstep_time=1\nbs=4k", *end = text + strlen(text);

        for (unsigned i = 1; i < JOB_N_VALUES_MAX; i++)
                end = stpcpy(end, ",4k");
        end = stpcpy(end, "\niodepth=1");
        for (unsigned i = 1; i < JOB_N_VALUES_MAX; i++)
                end = stpcpy(end, ",1");
        stpcpy(end, "\n[a]\n");

        _cleanup_plan_ Plan *plan = bind_good(text, MIB, 512);
        ck_assert_uint_eq(plan->n_phases, JOB_N_VALUES_MAX * JOB_N_VALUES_MAX);
        stpcpy(end, "\n[a]\n[b]\n");
        check_refused(text, "t.fio:7: expected at most 1536 phases");
        stpcpy(end, ",1\n[a]\n");
        check_refused(text, "iodepth=1,1");
}
END_TEST

START_TEST(test_an_idle_phase_has_nothing_but_time) {
        _cleanup_plan_ Plan *plan = bind_good("[global]\nrw=randwrite\nbs=64k\niodepth=9\n[rest]\naction=idle\n"
                                              "runtime=5m\n", MIB, 4096);
        const PhasePlan *idle = &plan->phases[0];
        uint64_t total;

        ck_assert_int_eq(idle->action, PHASE_ACTION_IDLE);
        ck_assert_uint_eq(idle->runtime_ns, 300 * NSEC_PER_SEC);
        ck_assert_uint_eq(idle->iodepth * idle->numjobs, 0);
        ck_assert(!rw_mode_writes(idle->rw));
        ck_assert(plan_total_write_bytes(plan, &total));
        ck_assert_uint_eq(total, 0);
        ck_assert(plan_total_time(plan, &total));
        ck_assert_uint_eq(total, 300 * NSEC_PER_SEC);
        check_refused("[rest]\naction=idle\n", "t.fio:1: phase 'rest': action=idle without runtime");
}
END_TEST

START_TEST(test_capacity_loops_count_what_is_written) {
        static const struct {
                const char *options;
                uint64_t limit, written;
        } cases[] = {
                { "rw=write", 3 * MIB, 3 * MIB },
                { "rw=randwrite\nnumjobs=4\nloops=9\nio_size=4k\nsize=50%", 3 * MIB, 3 * MIB },
                { "rw=randwrite\ntime_based\nruntime=9", 3 * MIB, 3 * MIB },
                { "rw=randrw\nrwmixread=75", 12 * MIB, 3 * MIB },
                { "rw=randrw\nrwmixread=50\nbs=12k,4k", 12 * MIB, 3 * MIB },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[256];

                snprintf(text, sizeof(text), "[a]\n%s\ncapacity_loops=3\n", cases[i].options);
                _cleanup_plan_ Plan *plan = bind_good(text, MIB, 512);
                ck_assert_msg(plan->phases[0].limit_bytes == cases[i].limit, "%s", text);
                ck_assert_uint_eq(plan->phases[0].planned_write_bytes, cases[i].written);
        }

        _cleanup_plan_ Plan *odd = bind_good("[a]\nrw=write\ncapacity_loops=3\n", MIB + 512, 512);
        ck_assert_uint_eq(odd->phases[0].limit_bytes, 3 * MIB + 4096); /* a whole block at the end, too */
        ck_assert_uint_eq(odd->phases[0].planned_write_bytes, 3 * MIB + 4096);

        _cleanup_plan_ Plan *huge = bind_good("[a]\nrw=rw\nrwmixread=99\ncapacity_loops=4294967295\n", UINT64_MAX, 512);
        ck_assert_uint_eq(huge->phases[0].limit_bytes, UINT64_MAX);
        check_refused("[a]\nrw=read\ncapacity_loops=1\n", "writes nothing");
        check_refused("[a]\nrw=rw\nrwmixread=100\ncapacity_loops=1\n", "writes nothing");
        check_refused("[a]\nrw=write\ncapacity_loops=0\n", "t.fio:3: capacity_loops=0: expected a number from 1");
}
END_TEST

START_TEST(test_until_steady_has_an_end_in_any_case) {
        _cleanup_plan_ Plan *timed = bind_good("[a]\nrw=randwrite\nuntil=steady:10m\nruntime=8h\n", MIB, 512);
        _cleanup_plan_ Plan *filled = bind_good("[a]\nrw=randwrite\nuntil=steady:90\ncapacity_loops=20\n", MIB, 512);
        _cleanup_plan_ Plan *never = bind_good("[global]\nuntil=steady:1\n[a]\nuntil=never\n", MIB, 512);

        ck_assert_uint_eq(timed->phases[0].steady_hold_ns, 600 * NSEC_PER_SEC);
        ck_assert_uint_eq(timed->phases[0].limit_bytes, UINT64_MAX);
        ck_assert_uint_eq(timed->phases[0].planned_ns, 8 * 3600 * NSEC_PER_SEC);
        ck_assert_uint_eq(filled->phases[0].steady_hold_ns, 90 * NSEC_PER_SEC);
        ck_assert_uint_eq(filled->phases[0].limit_bytes, 20 * MIB);
        ck_assert_uint_eq(never->phases[0].steady_hold_ns, 0);
        check_refused("[a]\nrw=randwrite\nuntil=steady:10m\n", "until=steady may never come true");
        check_refused("[a]\nuntil=steady\nruntime=1\n", "t.fio:2: until=steady: expected never, or steady:");
        check_refused("[a]\nuntil=steady:0\nruntime=1\n", "t.fio:2: until=steady:0: expected");
        check_refused("[a]\nuntil=steady:1x\nruntime=1\n", "t.fio:2: until=steady:1x: expected");
}
END_TEST

START_TEST(test_trims_write_nothing) {
        _cleanup_plan_ Plan *plan = bind_good("[a]\nrw=trim\nbs=4k,8k,64k\niodepth=4\nnumjobs=2\nrwmixread=50\n"
                                              "[b]\nrw=randtrim\nbs=16k\nruntime=10\ntime_based\n",
                                              MIB, 512);
        const PhasePlan *a = &plan->phases[0], *b = &plan->phases[1];

        ck_assert_int_eq(a->rw, RW_TRIM);
        ck_assert_uint_eq(a->read_percent, 0);
        ck_assert_uint_eq(a->n_blocks[DIRECTION_TRIM], MIB / (64 * KIB));
        ck_assert_uint_eq(a->limit_bytes, 2 * MIB);
        ck_assert(a->has_planned_bytes && a->planned_write_bytes == 0);
        ck_assert_uint_eq(phase_plan_outstanding(a), 1);
        ck_assert_uint_eq(phase_plan_ios(a, 2 * MIB), 32);
        ck_assert(b->has_planned_bytes && b->planned_write_bytes == 0);
        ck_assert(plan_trims(plan));
        check_refused("[a]\nrw=trim\ncapacity_loops=1\n", "writes nothing");
        check_refused("[a]\nrw=trim\nbs=4k,4k,512\n", "bs=512 on a target with logical blocks of 4096");
        check_refused("[a]\nrw=trimwrite\n", "expected read, write, rw, trim,");
}
END_TEST

START_TEST(test_a_discard_covers_its_region_in_pieces) {
        _cleanup_plan_ Plan *plan = bind_good("[global]\nrw=randread\nbs=4k\niodepth=32\nnumjobs=4\nruntime=5\n"
                                              "time_based\nloops=3\nrate_iops=5\nfsync=1\n"
                                              "[all]\naction=discard\n"
                                              "[part]\naction=discard\noffset=4k\nsize=12k\n",
                                              5 * GIB / 2, 4096);
        const PhasePlan *all = &plan->phases[0], *part = &plan->phases[1];

        ck_assert_int_eq(all->action, PHASE_ACTION_DISCARD);
        ck_assert_int_eq(all->rw, RW_TRIM);
        ck_assert_uint_eq(all->region_bytes, 5 * GIB / 2);
        ck_assert_uint_eq(all->limit_bytes, 5 * GIB / 2);
        ck_assert_uint_eq(all->block_bytes[DIRECTION_TRIM], GIB);
        ck_assert_uint_eq(all->runtime_ns, 0);
        ck_assert_uint_eq(all->rate_iops[DIRECTION_TRIM], 0);
        ck_assert_uint_eq((uint64_t) all->iodepth * all->numjobs, 1);
        ck_assert(all->has_planned_bytes && all->planned_write_bytes == 0);
        ck_assert_uint_eq(part->region_offset, 4 * KIB);
        ck_assert_uint_eq(part->region_bytes, 12 * KIB);
        ck_assert_uint_eq(part->block_bytes[DIRECTION_TRIM], 12 * KIB);
        check_refused("[a]\naction=discard\nsize=1k\n", "holds no block");
}
END_TEST

START_TEST(test_a_target_without_trims_is_told) {
        static const char text[] = "[w]\nrw=write\n[t]\nrw=randtrim\n";
        const PlanTarget target = { .size_bytes = MIB, .logical_block_bytes = 512 };
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_job_ Job *job = NULL;
        Plan *plan;

        ck_assert_int_eq(job_parse(&job, "t.fio", text, strlen(text), &error), 0);
        ck_assert_int_eq(plan_new(&plan, job, &target, 7, &error), -EOPNOTSUPP);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "t.fio:3: phase 't' trims, and the target takes no trims"));
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("actions");
        TCase *tc = tcase_create("actions");

        tcase_add_test(tc, test_a_matrix_becomes_a_phase_for_each_cell);
        tcase_add_test(tc, test_cells_below_the_logical_block_are_left_out_and_told);
        tcase_add_test(tc, test_what_is_lost_at_the_end_is_told_once_a_block_size);
        tcase_add_test(tc, test_nothing_but_its_step_ends_a_cell);
        tcase_add_test(tc, test_a_matrix_says_what_it_lacks);
        tcase_add_test(tc, test_cells_count_as_phases);
        tcase_add_test(tc, test_an_idle_phase_has_nothing_but_time);
        tcase_add_test(tc, test_capacity_loops_count_what_is_written);
        tcase_add_test(tc, test_until_steady_has_an_end_in_any_case);
        tcase_add_test(tc, test_trims_write_nothing);
        tcase_add_test(tc, test_a_discard_covers_its_region_in_pieces);
        tcase_add_test(tc, test_a_target_without_trims_is_told);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

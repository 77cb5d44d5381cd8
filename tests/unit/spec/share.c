/* SPDX-License-Identifier: MIT */

/* What ring threads get of a phase: parts that do not touch, and that are all of it. */

#include "spec/share.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "util/macro.h"

static Job *job;
static Plan *plan;

/* options: separated by blanks. */
static int bind(const char *options, uint64_t size_bytes, Error *error) {
        char text[512];
        const PlanTarget target = { .size_bytes = size_bytes, .logical_block_bytes = 512 };

        snprintf(text, sizeof(text), "[a]\n%s\n", options);
        for (char *p = text; *p; p++)
                if (*p == ' ')
                        *p = '\n';
        int r = job_parse(&job, "t.fio", text, strlen(text), error);
        return r < 0 ? r : plan_new(&plan, job, &target, 1, error);
}

static const PhasePlan *bind_good(const char *options, uint64_t size_bytes) {
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_msg(bind(options, size_bytes, &error) == 0, "%s: %s", options, error_message(&error));
        return &plan->phases[0];
}

static void clear(void) {
        plan = plan_free(plan);
        job = job_free(job);
}

/* The bytes of the device that a phase's I/O may touch: where each stream's region begins, and how long they are. */
static uint64_t region_begin(const PhasePlan *phase, uint32_t stream) {
        return phase->region_offset + stream * phase->stream_step_bytes;
}

static void check_regions(const PhasePlan *phase, const PhasePlan shares[]) {
        uint64_t end = phase->region_offset;
        uint32_t stream = 0;

        for (uint32_t i = 0; i < phase->workers; i++) {
                if (phase->stream_step_bytes > 0) {
                        for (uint32_t k = 0; k < shares[i].numjobs; k++, stream++)
                                ck_assert_uint_eq(region_begin(&shares[i], k), region_begin(phase, stream));
                        ck_assert_uint_eq(shares[i].region_bytes, phase->region_bytes);
                        continue;
                }
                ck_assert_uint_eq(shares[i].region_offset, end);
                end += shares[i].region_bytes;
                for (Direction d = 0; d < N_DIRECTIONS; d++)
                        if (rw_mode_uses(phase->rw, d)) {
                                ck_assert_uint_eq((shares[i].region_offset - phase->region_offset) %
                                                          phase->block_bytes[d], 0);
                                ck_assert_uint_ge(shares[i].n_blocks[d], 1);
                                ck_assert_uint_le(shares[i].n_blocks[d] * phase->block_bytes[d],
                                                  shares[i].region_bytes);
                        }
        }
        if (phase->stream_step_bytes > 0)
                ck_assert_uint_eq(stream, phase->numjobs);
        else
                ck_assert_uint_eq(end, phase->region_offset + phase->region_bytes);
}

static void check_sums(const PhasePlan *phase, const PhasePlan shares[]) {
        uint64_t slots = 0, bytes = 0, ios = 0, rate_bytes = 0, rate_iops = 0, streams = 0;
        bool whole = phase->numjobs >= phase->workers;

        for (uint32_t i = 0; i < phase->workers; i++) {
                const PhasePlan *share = &shares[i];

                ck_assert_uint_eq(share->workers, 1);
                ck_assert_uint_ge(share->numjobs, 1);
                ck_assert_uint_ge(share->iodepth, 1);
                ck_assert_uint_eq(phase_plan_slots_before(phase, i), slots);
                slots += (uint64_t) share->iodepth * share->numjobs;
                streams += share->numjobs;
                if (whole)
                        ck_assert_uint_eq(share->iodepth, phase->iodepth);
                /* A limit within a block would be a block more than its part. */
                if (i + 1 < phase->workers && share->limit_bytes != UINT64_MAX && !phase_plan_pools(phase))
                        ck_assert_uint_eq(share->limit_bytes % phase->block_bytes[DIRECTION_WRITE], 0);
                bytes += share->limit_bytes;
                ios += share->limit_ios;
                rate_bytes += share->rate_bytes[DIRECTION_WRITE];
                rate_iops += share->rate_iops[DIRECTION_WRITE];
        }
        ck_assert_uint_eq(slots, (uint64_t) phase->iodepth * phase->numjobs);
        ck_assert_uint_eq(phase_plan_slots_before(phase, phase->workers), slots);
        ck_assert_uint_eq(streams, whole ? phase->numjobs : phase->workers);
        ck_assert_uint_eq(rate_bytes, phase->rate_bytes[DIRECTION_WRITE]);
        ck_assert_uint_eq(rate_iops, phase->rate_iops[DIRECTION_WRITE]);
        if (phase_plan_pools(phase))
                return;
        if (phase->limit_bytes != UINT64_MAX && phase->limit_ios == 0)
                ck_assert_uint_eq(bytes, phase->limit_bytes);
        ck_assert_uint_eq(ios, phase->limit_ios);
}

static const struct {
        const char *options;
        uint64_t size_bytes;
} good[] = {
        { "rw=randwrite iodepth=64 runtime=9 time_based", 64 * MIB },
        { "rw=randwrite iodepth=33 bs=4k size=1000k offset=12k", 64 * MIB },
        { "rw=randwrite numjobs=64", 120034123776 },
        { "rw=randwrite numjobs=33 iodepth=3", 64 * TIB },
        { "rw=write numjobs=2 iodepth=17 loops=3", 64 * MIB + 4096 },
        { "rw=write bs=64k numjobs=40 io_size=4100k", 64 * MIB },
        { "rw=randrw bs=4k,6k iodepth=50", 64 * MIB },
        { "rw=randwrite bssplit=4k/50:64k/50 iodepth=50", 64 * MIB },
        { "rw=randwrite iodepth=50 number_ios=1001", 64 * MIB },
        { "rw=write iodepth=50 number_ios=1001", 64 * MIB },
        { "rw=randwrite iodepth=50 rate=10m", 64 * MIB },
        { "rw=randwrite iodepth=50 rate_iops=777", 64 * MIB },
        { "rw=randwrite iodepth=50 capacity_loops=7", 64 * MIB },
        { "rw=write numjobs=34 size=1m offset_increment=1m", 64 * MIB },
        { "rw=write bs=256m iodepth=32 size=32g", 64 * TIB },
};

START_TEST(shares_are_disjoint_and_make_the_whole) {
        for (uint32_t workers = 1; workers <= JOB_WORKERS_MAX; workers++) {
                PhasePlan shares[JOB_WORKERS_MAX];
                char options[256];

                snprintf(options, sizeof(options), "%s workers=%u", good[_i].options, workers);
                const PhasePlan *phase = bind_good(options, good[_i].size_bytes);
                ck_assert_uint_eq(phase->workers, workers);
                ck_assert_uint_eq(plan_workers_max(plan), workers);
                for (uint32_t i = 0; i < workers; i++)
                        phase_plan_share(&shares[i], phase, i);
                check_regions(phase, shares);
                check_sums(phase, shares);
                clear();
        }
}
END_TEST

/* Where a region is written once, each ring thread ends with the last block of its part. */
START_TEST(loops_are_those_of_each_part) {
        const PhasePlan *phase = bind_good("rw=write iodepth=7 workers=5 loops=3 size=10m", 64 * MIB);
        PhasePlan share;

        for (uint32_t i = 0; i < 5; i++) {
                phase_plan_share(&share, phase, i);
                ck_assert_uint_eq(share.limit_bytes, 3 * share.region_bytes);
        }
        clear();
}
END_TEST

/* Parts are as large as what is outstanding on them, so that a device that serves all alike is written evenly. */
START_TEST(parts_are_in_proportion_to_what_is_outstanding) {
        const PhasePlan *phase = bind_good("rw=randwrite numjobs=3 iodepth=4 workers=2", 48 * MIB);
        PhasePlan share;

        phase_plan_share(&share, phase, 0);
        ck_assert_uint_eq(share.numjobs, 1);
        ck_assert_uint_eq(share.region_bytes, 16 * MIB);
        phase_plan_share(&share, phase, 1);
        ck_assert_uint_eq(share.numjobs, 2);
        ck_assert_uint_eq(share.region_bytes, 32 * MIB);
        clear();
}
END_TEST

/* No limit of I/Os would mean any number of them. */
START_TEST(a_share_without_ios_does_nothing) {
        const PhasePlan *phase = bind_good("rw=write iodepth=4 workers=4 number_ios=1", 64 * MIB);
        uint64_t n_busy = 0;

        for (uint32_t i = 0; i < 4; i++) {
                PhasePlan share;

                phase_plan_share(&share, phase, i);
                n_busy += share.limit_ios > 0;
                ck_assert_int_eq(share.limit_bytes == 0, share.limit_ios == 0);
        }
        ck_assert_uint_eq(n_busy, 1);
        clear();
}
END_TEST

/* Whole blocks, none with more I/Os than are soon done, and where there are few something for each ring thread. */
START_TEST(parts_of_limits_make_the_whole) {
        static const struct {
                const char *limit;
                uint64_t ios, n_parts;
        } cases[] = {
                { "size=64m", 16384, 257 },       { "size=64m number_ios=1001", 1001, 32 },
                { "size=64m number_ios=5", 5, 5 }, { "io_size=4100k", 1025, 32 },
                { "io_size=1g", 262144, 4097 }, { "io_size=4097k number_ios=1000000", 1025, 32 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char options[128];
                snprintf(options, sizeof(options), "rw=randwrite iodepth=8 workers=4 %s", cases[i].limit);
                const PhasePlan *phase = bind_good(options, 64 * MIB);
                uint64_t n = phase_plan_n_parts(phase), bytes = 0, ios = 0;

                ck_assert(phase_plan_pools(phase));
                ck_assert_uint_eq(n, cases[i].n_parts);
                for (uint64_t k = 0; k < n; k++) {
                        uint64_t part_bytes, part_ios;

                        phase_plan_part(phase, k, n, &part_bytes, &part_ios);
                        ck_assert(part_bytes % 4096 == 0 || k + 1 == n);
                        ck_assert(part_ios <= (phase->limit_ios > 0 ? 64 : 0) || part_bytes <= 64 * 4096);
                        bytes += part_bytes;
                        ios += part_ios;
                }
                ck_assert_uint_eq(bytes, phase->limit_bytes);
                ck_assert_uint_eq(ios, phase->limit_ios);
                ck_assert_uint_eq(MIN((bytes + 4095) / 4096, ios > 0 ? ios : UINT64_MAX), cases[i].ios);
                clear();
        }
        const PhasePlan *endless = bind_good("rw=randwrite iodepth=8 workers=4 time_based runtime=1", 64 * MIB);
        ck_assert(phase_plan_pools(endless));
        ck_assert_uint_eq(phase_plan_n_parts(endless), 0);
        clear();
}
END_TEST

START_TEST(only_what_may_be_done_by_anyone_is_pooled) {
        ck_assert(!phase_plan_pools(bind_good("rw=write iodepth=4 workers=4", 64 * MIB)));
        clear();
        ck_assert(!phase_plan_pools(bind_good("rw=randwrite norandommap=0 iodepth=4 workers=4", 64 * MIB)));
        clear();
        ck_assert(!phase_plan_pools(bind_good("rw=randwrite iodepth=4", 64 * MIB)));
        clear();
}
END_TEST

START_TEST(cells_have_as_many_as_they_have_outstanding) {
        bind_good("action=matrix rw=randwrite bs=4k,64k iodepth=1,4,16 step_time=1 workers=8", 64 * MIB);
        for (size_t i = 0; i < plan->n_phases; i++)
                ck_assert_uint_eq(plan->phases[i].workers, MIN(plan->phases[i].iodepth, 8U));
        clear();
}
END_TEST

START_TEST(an_idle_phase_has_one) {
        const PhasePlan *phase = bind_good("action=idle runtime=1", 64 * MIB);
        PhasePlan share;

        ck_assert_uint_eq(phase->workers, 1);
        phase_plan_share(&share, phase, 0);
        ck_assert_int_eq(memcmp(&share, phase, sizeof(share)), 0);
        clear();
}
END_TEST

static const struct {
        const char *options, *part;
} bad[] = {
        { "rw=randwrite workers=0", "t.fio:3: workers=0: expected a number from 1 to 32" },
        { "rw=randwrite iodepth=64 workers=33", "t.fio:4: workers=33: expected a number from 1 to 32" },
        { "rw=randwrite iodepth=3 workers=4", "t.fio:4: phase 'a': workers=4 with 3 of iodepth * numjobs" },
        { "rw=randwrite iodepth=4 workers=2 random_distribution=zipf:1.2", "expected workers=1 with zipf or zoned" },
        { "rw=randwrite iodepth=4 workers=2 random_distribution=zoned:60/10:40/90", "expected workers=1 with zipf" },
        { "rw=randwrite iodepth=4 workers=4 size=12k", "a ring thread's part of the region holds no block" },
        { "rw=randwrite iodepth=4 workers=2 bssplit=4k/50:1m/50 size=1500k", "holds no block" },
        { "rw=randwrite iodepth=4 workers=4 rate_iops=3", "a ring thread's part of the rate is nothing" },
        { "rw=write numjobs=2 iodepth=4 workers=3 size=1m offset_increment=2m", "expected at most numjobs" },
        { "rw=write numjobs=2 workers=2 size=3m offset_increment=2m", "the streams' regions overlap" },
        { "action=matrix rw=randwrite bs=4k,8k,16k iodepth=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,"
          "24,25,26,27,28,29,30,31,32 step_time=1 workers=32", "expected at most 2048 ring threads" },
};

START_TEST(what_cannot_be_divided_is_refused) {
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_lt(bind(bad[_i].options, 64 * MIB, &error), 0);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        ck_assert_msg(strstr(error_message(&error), bad[_i].part) != NULL, "%s", error_message(&error));
        clear();
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("share");
        TCase *tc = tcase_create("share");

        tcase_add_loop_test(tc, shares_are_disjoint_and_make_the_whole, 0, (int) ELEMENTSOF(good));
        tcase_add_test(tc, loops_are_those_of_each_part);
        tcase_add_test(tc, parts_are_in_proportion_to_what_is_outstanding);
        tcase_add_test(tc, a_share_without_ios_does_nothing);
        tcase_add_test(tc, parts_of_limits_make_the_whole);
        tcase_add_test(tc, only_what_may_be_done_by_anyone_is_pooled);
        tcase_add_test(tc, cells_have_as_many_as_they_have_outstanding);
        tcase_add_test(tc, an_idle_phase_has_one);
        tcase_add_loop_test(tc, what_cannot_be_divided_is_refused, 0, (int) ELEMENTSOF(bad));
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

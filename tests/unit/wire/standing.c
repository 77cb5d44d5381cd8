/* SPDX-License-Identifier: MIT */

/* What is maybe, of the writes of a run that is taken up, and whether it has the order of I/O that it had. */

#include "wire/standing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "random-phase.h"
#include "unit.h"
#include "util/macro.h"
#include "util/time.h"

static Plan *plan;
static Standing *standing;

/* Interrupted in its second phase; of both it is known that 100 had completed, and that 120 had been submitted. */
static void setup(const char *rw) {
        _cleanup_job_ Job *job = NULL;
        Error error = ERROR_INIT;
        char text[160];

        snprintf(text, sizeof(text), "[global]\nverify=md5\ndo_verify=0\nrw=%s\n[a]\n[b]\n[c]\ndo_verify=1\n", rw);
        ck_assert_int_eq(job_parse(&job, "x.fio", text, strlen(text), &error), 0);
        const PlanTarget target = { .size_bytes = MIB, .logical_block_bytes = 512 };
        ck_assert_int_eq(plan_new(&plan, job, &target, 1, &error), 0);
        standing = standing_new((uint32_t) plan->n_phases);
        ck_assert_int_eq(standing_note_plan(standing, plan), 0);
        standing->same_boot = true;
        standing->phase = 1;
        for (unsigned i = 0; i < 2; i++)
                standing->phases[i].positions = (Positions){ 1, { { .low_index = 100, .next_index = 120 } } };
}

static void teardown(void) {
        plan = plan_free(plan);
        standing = standing_free(standing);
}

static History *history(uint32_t phase) {
        return histories_at(standing->histories, phase, 0);
}

START_TEST(after_a_clean_stop_all_is_certain) {
        setup("randwrite");
        standing->drained = true;
        ck_assert(!standing_look_back(standing, plan, "write back"));
        standing_end_histories(standing, plan);
        ck_assert_uint_eq(history(1)->end, 120);
        for (unsigned i = 0; i < 3; i++)
                ck_assert_uint_eq(history(i)->n_maybes + history(i)->reach, 0);

        Positions at = standing->phases[1].positions;
        standing_take_up(standing, &plan->phases[1], &at);
        ck_assert_uint_eq(at.of[0].next_index, 120);
        ck_assert_uint_eq(history(1)->n_maybes, 0);
}
END_TEST

START_TEST(after_a_death_all_up_to_the_ceiling_is_maybe_and_a_random_order_goes_on_there) {
        setup("randwrite\ntime_based\nruntime=1h");
        ck_assert(standing_look_back(standing, plan, "write back"));
        standing_end_histories(standing, plan);
        ck_assert_uint_eq(history(0)->end, 120); /* it had ended */
        ck_assert_uint_eq(history(0)->reach, 0);
        ck_assert_uint_eq(history(1)->end, 100);

        Positions at = standing->phases[1].positions;
        standing_take_up(standing, &plan->phases[1], &at);
        ck_assert_uint_eq(at.of[0].next_index, HISTORY_RESERVE);
        ck_assert_uint_eq(at.of[0].first_index, HISTORY_RESERVE);
        history(1)->end = HISTORY_RESERVE + 5; /* as it goes on */
        ck_assert(!history_is_maybe(history(1), 99) && history_is_maybe(history(1), 100));
        ck_assert(history_is_maybe(history(1), HISTORY_RESERVE - 1) && !history_is_maybe(history(1), HISTORY_RESERVE));

        ck_assert(!history_is_maybe(history(2), 0)); /* in the first of an hour's minutes */
}
END_TEST

/* 1 MiB is 256 blocks, and one more is not told apart from a part of one. */
#define N_LIMIT 257

START_TEST(what_a_dead_worker_may_have_done_ends_with_the_limit) {
        setup("randwrite");
        standing_look_back(standing, plan, "write back");
        standing_end_histories(standing, plan);

        Positions at = standing->phases[1].positions;
        standing_take_up(standing, &plan->phases[1], &at);
        ck_assert_uint_eq(at.of[0].first_index, N_LIMIT);
        ck_assert_uint_eq(at.of[0].next_index, N_LIMIT);
        ck_assert_uint_eq(history(1)->resumed, N_LIMIT);
        history(1)->end = N_LIMIT + 5;
        ck_assert(!history_is_maybe(history(1), 99) && history_is_maybe(history(1), 100));
        ck_assert(history_is_maybe(history(1), N_LIMIT - 1) && !history_is_maybe(history(1), N_LIMIT));

        /* Another one may have died unheard where this one goes on, and have come further. */
        ck_assert(!history_is_maybe(history(1), N_LIMIT + 4) && history_is_maybe(history(1), N_LIMIT + 5));
        ck_assert(history_is_maybe(history(1), 2 * N_LIMIT - 1) && !history_is_maybe(history(1), 2 * N_LIMIT));

        /* The next phase may have begun unheard. */
        ck_assert(history_is_maybe(history(2), 0) && history_is_maybe(history(2), N_LIMIT - 1));
        ck_assert(!history_is_maybe(history(2), N_LIMIT));
}
END_TEST

/* That it was told when the one that died began tells where the next goes on, whatever the ceiling is by then. */
START_TEST(one_death_after_another_goes_on_further) {
        setup("randwrite");
        history(1)->ceiling = HISTORY_RESERVE + N_LIMIT;
        standing->phases[1].positions.of[0] = (Position){
                .first_index = N_LIMIT, .low_index = N_LIMIT + 10, .next_index = N_LIMIT + 20,
        };
        standing_look_back(standing, plan, "write back");
        standing_end_histories(standing, plan);

        Positions at = standing->phases[1].positions;
        standing_take_up(standing, &plan->phases[1], &at);
        ck_assert_uint_eq(at.of[0].next_index, 2 * N_LIMIT);
        ck_assert_uint_eq(history(1)->n_maybes, 1);
        ck_assert(!history_is_maybe(history(1), N_LIMIT + 9) && history_is_maybe(history(1), N_LIMIT + 10));
}
END_TEST

/* An order that is gone through from its start does not come to more than its limit, whoever goes on with it. */
START_TEST(an_order_that_is_repeated_ends_with_its_limit) {
        setup("write");
        standing_look_back(standing, plan, "write back");
        standing_end_histories(standing, plan);
        ck_assert(history_is_maybe(history(1), N_LIMIT - 1) && !history_is_maybe(history(1), N_LIMIT));
        ck_assert(history_is_maybe(history(2), N_LIMIT - 1) && !history_is_maybe(history(2), N_LIMIT));
}
END_TEST

/* Of several sizes nobody knows how many were done before, when it is taken up; so it may come to more in the end. */
START_TEST(an_order_of_several_sizes_may_come_to_more_than_its_number) {
        static const struct {
                const char *rw;
                uint64_t reach;
        } cases[] = {
                { "write\nnumber_ios=150", 150 },
                { "write\nbssplit=4k/50:8k/50\nnumber_ios=150", 120 + 150 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                setup(cases[i].rw);
                standing_look_back(standing, plan, "write back");
                ck_assert_uint_eq(history(1)->reach, cases[i].reach);
                ck_assert_uint_eq(history(2)->reach, 150);
                teardown();
        }
}
END_TEST

/* A clean stop later takes nothing of it back, nor adds to it; what goes on then comes after it. */
START_TEST(what_a_dead_worker_may_have_done_stays_what_it_was) {
        setup("write");
        standing_look_back(standing, plan, "write back");
        uint64_t reach = history(2)->reach;
        ck_assert_uint_eq(reach, N_LIMIT);
        standing->drained = true;
        ck_assert(!standing_look_back(standing, plan, "write back"));
        standing_end_histories(standing, plan);
        ck_assert_uint_eq(history(2)->reach, reach);
        ck_assert_uint_eq(history(0)->resumed, UINT64_MAX);
        ck_assert_uint_eq(history(1)->resumed, 120);
        ck_assert_uint_eq(history(2)->resumed, 0);
}
END_TEST

START_TEST(of_a_phase_that_has_told_of_nothing_the_speed_is_not_known) {
        setup("write");
        standing->phases[1].elapsed_ns = NSEC_PER_SEC;
        standing->phases[1].positions.of[0].done_bytes = 0;
        standing_look_back(standing, plan, "write back");
        standing_end_histories(standing, plan);
        ck_assert(history_is_maybe(history(2), 0));
}
END_TEST

/* Else a death at any time would leave nothing to be sure of where later phases write. */
START_TEST(a_phase_that_cannot_have_begun_is_not_in_doubt) {
        for (unsigned is_near = 0; is_near < 2; is_near++) {
                setup("write");
                standing->phases[1].elapsed_ns = 100 * NSEC_PER_SEC;
                standing->phases[1].positions.of[0].done_bytes = is_near ? MIB - 16 * KIB : MIB / 2;
                ck_assert(standing_look_back(standing, plan, "write back"));
                standing_end_histories(standing, plan);
                ck_assert(history_is_maybe(history(1), 100));
                ck_assert_int_eq(history_is_maybe(history(2), 0), is_near);
                teardown();
        }
}
END_TEST

START_TEST(an_order_that_is_repeated_becomes_certain_again) {
        setup("write");
        ck_assert(standing_look_back(standing, plan, "write back"));
        standing_end_histories(standing, plan);

        Positions at = standing->phases[1].positions;
        at.of[0].next_index = 100;
        standing_take_up(standing, &plan->phases[1], &at);
        ck_assert_uint_eq(at.of[0].next_index, 100);
        ck_assert(history_is_maybe(history(1), 100));
        history(1)->end = 110;
        ck_assert(!history_is_maybe(history(1), 109) && history_is_maybe(history(1), 110));
}
END_TEST

/* Only what had been flushed before is certain, also of phases that had ended. */
START_TEST(a_power_cut_takes_what_was_not_flushed) {
        static const char *const caches[] = { "write back", NULL, "write through" };

        for (size_t i = 0; i < ELEMENTSOF(caches); i++) {
                bool loses = !caches[i] || strcmp(caches[i], "write back") == 0;

                setup("write");
                standing->drained = true;
                standing->same_boot = false;
                history(0)->flushed = 120;
                history(1)->flushed = 60;
                ck_assert_int_eq(standing_look_back(standing, plan, caches[i]), loses);
                standing_end_histories(standing, plan);
                ck_assert(!history_is_maybe(history(0), 119));
                ck_assert(!history_is_maybe(history(1), 59));
                ck_assert_int_eq(history_is_maybe(history(1), 60), loses);
                ck_assert_int_eq(history_is_maybe(history(1), 119), loses);
                teardown();
        }
}
END_TEST

/* An order that nobody follows jumps beyond any ceiling: it must not make a history that cannot be. */
START_TEST(a_power_cut_takes_nothing_that_is_not_tracked) {
        setup("randwrite\ntime_based\nruntime=1h");
        for (unsigned i = 0; i < plan->n_phases; i++)
                plan->phases[i].is_tracked = false;
        standing->same_boot = false;
        standing->phases[1].positions.of[0] = (Position){
                .first_index = HISTORY_RESERVE, .low_index = HISTORY_RESERVE + 10, .next_index = HISTORY_RESERVE + 20,
        };
        ck_assert(standing_look_back(standing, plan, "write back"));
        standing_end_histories(standing, plan);
        for (unsigned i = 0; i < 3; i++) {
                ck_assert(history_is_valid(history(i)));
                ck_assert_uint_eq(history(i)->n_maybes, 0);
        }
}
END_TEST

/* Below what had completed in order nothing is read again. The blocks are of 4 KiB. */
START_TEST(what_is_read_again_counts_once) {
        static const struct {
                bool drained;
                uint64_t checked_bytes, counted_bytes;
        } cases[] = {
                { false, 110 * 4096, 100 * 4096 },
                { false, 60 * 4096, 60 * 4096 },
                { true, 110 * 4096, 110 * 4096 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                setup("randwrite");
                standing->drained = cases[i].drained;
                for (unsigned p = 0; p < 2; p++)
                        standing->phases[p].verified.checked_bytes = cases[i].checked_bytes;
                standing_look_back(standing, plan, "write back");
                ck_assert_uint_eq(standing->phases[1].verified.checked_bytes, cases[i].counted_bytes);
                ck_assert_uint_eq(standing->phases[0].verified.checked_bytes, cases[i].checked_bytes); /* had ended */
                teardown();
        }
}
END_TEST

#define SIZE (16 * MIB)
#define BLOCK 4096

/* A job that counts CPUs comes to another order on a machine that has others. */
START_TEST(another_plan_is_named) {
#define FIELD(field) offsetof(PhasePlan, field), sizeof((PhasePlan){}.field)
        static const struct {
                size_t offset, size;
                const char *part;
        } cases[] = {
                { FIELD(numjobs), "phase 1 of the run has numjobs=1, but its job comes to 9 now" },
                { FIELD(iodepth), "iodepth=1" },
                { FIELD(workers), "workers=1" },
                { FIELD(block_bytes[DIRECTION_READ]), "bs of reads=4096" },
                { FIELD(block_bytes[DIRECTION_WRITE]), "bs of writes=4096" },
                { FIELD(block_bytes[DIRECTION_TRIM]), "bs of trims=4096" },
                { FIELD(region_offset), "offset=0" },
                { FIELD(region_bytes), "size=16777216" },
                { FIELD(rw), "another order" },
                { FIELD(read_percent), "another order" },
                { FIELD(split[DIRECTION_WRITE].n), "another order" },
                { FIELD(zones[DIRECTION_READ].n), "another order" },
                { FIELD(stream_step_bytes), "another order" },
                { FIELD(n_blocks[DIRECTION_READ]), "another order" },
                { FIELD(limit_bytes), "another order" },
                { FIELD(limit_ios), "another order" },
                { FIELD(distribution), "another order" },
                { FIELD(zipf_theta), "another order" },
                { FIELD(seed), "another order" },
                { FIELD(action), "another order" },
                { FIELD(random_map), "another order" },
                { FIELD(content.is_zero), "another order" },
                { FIELD(content.compress_percent), "another order" },
                { FIELD(content.dedupe_percent), "another order" },
                { FIELD(split[DIRECTION_READ].bytes[1]), "another order" },
                { FIELD(split[DIRECTION_WRITE].percent[0]), "another order" },
                { FIELD(zones[DIRECTION_WRITE].access[1]), "another order" },
                { FIELD(zones[DIRECTION_TRIM].size[0]), "another order" },
        };
#undef FIELD

        PhasePlan phases[2] = {
                random_phase(RW_RANDWRITE, 0, SIZE, BLOCK),
                random_phase(RW_RANDREAD, 100, SIZE, BLOCK),
        };
        const Plan changing = { .n_phases = 2, .phases = phases };
        _cleanup_standing_ Standing *noted = standing_new(2);
        _cleanup_error_ Error error = ERROR_INIT;

        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                phases[1].split[d] = (BlockSplit){ .n = 2, .bytes = { BLOCK, BLOCK }, .percent = { 50, 50 } };
                phases[1].zones[d] = (ZoneSplit){ .n = 2, .access = { 50, 50 }, .size = { 50, 50 } };
        }
        ck_assert_int_eq(standing_note_plan(noted, &changing), 0);
        ck_assert_int_eq(standing_check_plan(noted, &changing, &error), 0);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                PhasePlan was = phases[1];
                uint8_t *field = (uint8_t *) &phases[1] + cases[i].offset;

                field[0] ^= cases[i].size == sizeof(bool) ? 1 : 8; /* the lowest of its bytes */
                ck_assert_int_eq(standing_check_plan(noted, &changing, &error), -EPROTO);
                ck_assert_msg(strstr(error_message(&error), cases[i].part) != NULL, "%s", error_message(&error));
                error_clear(&error);
                phases[1] = was;
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("wire-standing");
        TCase *c = tcase_create("standing");

        tcase_add_checked_fixture(c, NULL, teardown);
        tcase_add_test(c, after_a_clean_stop_all_is_certain);
        tcase_add_test(c, after_a_death_all_up_to_the_ceiling_is_maybe_and_a_random_order_goes_on_there);
        tcase_add_test(c, what_a_dead_worker_may_have_done_ends_with_the_limit);
        tcase_add_test(c, one_death_after_another_goes_on_further);
        tcase_add_test(c, an_order_that_is_repeated_ends_with_its_limit);
        tcase_add_test(c, an_order_of_several_sizes_may_come_to_more_than_its_number);
        tcase_add_test(c, what_a_dead_worker_may_have_done_stays_what_it_was);
        tcase_add_test(c, of_a_phase_that_has_told_of_nothing_the_speed_is_not_known);
        tcase_add_test(c, a_phase_that_cannot_have_begun_is_not_in_doubt);
        tcase_add_test(c, an_order_that_is_repeated_becomes_certain_again);
        tcase_add_test(c, a_power_cut_takes_what_was_not_flushed);
        tcase_add_test(c, a_power_cut_takes_nothing_that_is_not_tracked);
        tcase_add_test(c, what_is_read_again_counts_once);
        tcase_add_test(c, another_plan_is_named);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

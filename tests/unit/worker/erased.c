/* SPDX-License-Identifier: MIT */

/* Where an interrupted run may have left blanks: no less than it did, and not much more. */

#include "worker/erased.h"

#include "engine/pattern.h"
#include "unit.h"
#include "util/macro.h"
#include "util/time.h"

#define BLOCK 4096
#define N_BLOCKS UINT64_C(1048576)
#define SIZE (N_BLOCKS * BLOCK)
#define N_KNOWN 1000
#define ELAPSED_S 600 /* in which they were trimmed: a hundred a minute */

static PhasePlan phase;
static Plan plan = { .n_phases = 1, .phases = &phase };
static PhaseStanding phase_standing;
static Standing standing = { .n_phases = 1, .phases = &phase_standing };

/* A random order without a map, killed after so many trims. */
static void setup(void) {
        phase = (PhasePlan){
                .rw = RW_RANDTRIM, .block_bytes = { BLOCK, BLOCK, BLOCK }, .iodepth = 1, .numjobs = 1, .workers = 1,
                .region_bytes = SIZE, .limit_bytes = UINT64_MAX, .n_blocks = { N_BLOCKS, N_BLOCKS, N_BLOCKS },
                .seed = 5,
        };
        phase_standing = (PhaseStanding){
                .elapsed_ns = ELAPSED_S * NSEC_PER_SEC,
                .positions = { .n = 1, .of[0] = { .low_index = N_KNOWN, .next_index = N_KNOWN } },
        };
        standing.drained = false;
}

/* How many blocks of the device may be blank; all that these indices reach are among them. */
static uint64_t count(uint64_t from, uint64_t n) {
        Erased *erased = erased_new(&plan, &standing, 0, SIZE);
        Pattern pattern;
        uint64_t n_erased = 0;

        ck_assert_ptr_nonnull(erased);
        erased_look_from(erased, 0);
        pattern_init(&pattern, &phase, 0);
        for (uint64_t i = from; i < from + n; i++)
                ck_assert(erased_may_be(erased, pattern_at(&pattern, i).offset, BLOCK));
        for (uint64_t i = 0; i < N_BLOCKS; i++)
                n_erased += erased_may_be(erased, i * BLOCK, BLOCK);
        erased_free(erased);
        return n_erased;
}

START_TEST(after_a_clean_stop_all_is_known) {
        standing.drained = true;
        ck_assert_uint_le(count(0, N_KNOWN), N_KNOWN);
}
END_TEST

/* A worker had died before that one: what it had done is not known any better for the clean stop. */
START_TEST(after_a_death_and_a_clean_stop_no_more_is_known) {
        static const uint32_t n_shares = 1;
        uint64_t reach = N_KNOWN + 500;

        standing.drained = true;
        standing.histories = histories_new(&n_shares, 1);
        histories_at(standing.histories, 0, 0)->reach = reach;
        phase.rw = RW_TRIM;
        ck_assert_uint_le(count(0, reach), reach + 1);
        phase.rw = RW_RANDTRIM;
        ck_assert_uint_le(count(0, N_KNOWN + 100), N_KNOWN + 101);
        standing.histories = histories_free(standing.histories);
}
END_TEST

/* The same of a phase that no sample tells of. */
START_TEST(what_may_have_begun_before_a_clean_stop_counts) {
        static const uint32_t n_shares = 1;

        standing.drained = true;
        standing.histories = histories_new(&n_shares, 1);
        histories_at(standing.histories, 0, 0)->reach = 64;
        phase_standing = (PhaseStanding){};
        phase.limit_ios = 64;
        ck_assert_uint_le(count(0, 64), 64);
        standing.histories = histories_free(standing.histories);
}
END_TEST

/* A minute more, and as much after the jump of a worker that told nothing. */
START_TEST(a_killed_random_order_has_gone_on_at_its_speed) {
        ck_assert_uint_le(count(0, N_KNOWN + 100), N_KNOWN + 202);
        ck_assert_uint_le(count(N_KNOWN + PATTERN_JUMP, 100), N_KNOWN + 202);
}
END_TEST

START_TEST(what_was_before_a_jump_counts) {
        phase_standing.positions.of[0].first_index = N_KNOWN + PATTERN_JUMP;
        phase_standing.positions.of[0].low_index = N_KNOWN + PATTERN_JUMP + 50;
        phase_standing.positions.of[0].next_index = N_KNOWN + PATTERN_JUMP + 50;
        ck_assert_uint_le(count(0, N_KNOWN + 105), N_KNOWN + 50 + 3 * 106);
        ck_assert_uint_le(count(N_KNOWN + PATTERN_JUMP, 50 + 105), N_KNOWN + 50 + 3 * 106);
        ck_assert_uint_le(count(N_KNOWN + 2 * PATTERN_JUMP + 50, 105), N_KNOWN + 50 + 3 * 106);
}
END_TEST

/* A speed that nobody knows, or more than can be gone through, leaves no place out; a limit holds in any case. */
START_TEST(what_cannot_be_known_may_be_anywhere) {
        phase_standing.elapsed_ns = 0;
        ck_assert_uint_eq(count(0, N_KNOWN), N_BLOCKS);
        phase.limit_ios = N_KNOWN + 10;
        ck_assert_uint_le(count(0, N_KNOWN + 10), 3 * (N_KNOWN + 10));
        phase.limit_ios = 0;
        phase_standing.elapsed_ns = 1;
        phase_standing.positions.of[0].next_index = UINT64_MAX / 2;
        ck_assert_uint_eq(count(0, 0), N_BLOCKS);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("erased");
        TCase *tc = tcase_create("erased");

        tcase_add_checked_fixture(tc, setup, NULL);
        tcase_add_test(tc, after_a_clean_stop_all_is_known);
        tcase_add_test(tc, after_a_death_and_a_clean_stop_no_more_is_known);
        tcase_add_test(tc, what_may_have_begun_before_a_clean_stop_counts);
        tcase_add_test(tc, a_killed_random_order_has_gone_on_at_its_speed);
        tcase_add_test(tc, what_was_before_a_jump_counts);
        tcase_add_test(tc, what_cannot_be_known_may_be_anywhere);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

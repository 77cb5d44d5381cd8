/* SPDX-License-Identifier: MIT */

#include "engine/pace.h"

#include "unit.h"
#include "util/macro.h"

/* I/Os of one direction issued until `end_ns` by somebody who waits as long as he is told. */
static uint64_t issue_until(Pace *pace, uint64_t bytes, uint64_t n_free, uint64_t now_ns, uint64_t end_ns,
                            uint64_t *ret_n_waits) {
        uint64_t n = 0;

        *ret_n_waits = 0;
        while (now_ns < end_ns) {
                uint64_t wait_ns = pace_wait_ns(pace, DIRECTION_WRITE, bytes, n_free, now_ns);

                if (wait_ns > 0) {
                        now_ns += wait_ns;
                        (*ret_n_waits)++;
                        continue;
                }
                pace_count(pace, DIRECTION_WRITE, bytes);
                n++;
        }
        return n;
}

START_TEST(iops_are_exact_and_evenly_spaced) {
        PhasePlan plan = { .rate_iops = { [DIRECTION_WRITE] = 1000 } };
        uint64_t n_waits;
        Pace pace;

        pace_begin(&pace, &plan, 5 * NSEC_PER_SEC);
        ck_assert(pace.is_limited);
        ck_assert_uint_eq(pace_due_ns(&pace, DIRECTION_WRITE, 0, 4096), 5 * NSEC_PER_SEC);
        ck_assert_uint_eq(pace_due_ns(&pace, DIRECTION_WRITE, 7, 4096), 5 * NSEC_PER_SEC + 7 * NSEC_PER_MSEC);
        ck_assert_uint_eq(issue_until(&pace, 4096, 64, 5 * NSEC_PER_SEC, 8 * NSEC_PER_SEC, &n_waits), 3000);
        ck_assert_uint_eq(n_waits, 3000);
}
END_TEST

START_TEST(bytes_are_exact) {
        PhasePlan plan = { .rate_bytes = { [DIRECTION_WRITE] = 10 * MIB } };
        uint64_t n_waits;
        Pace pace;

        pace_begin(&pace, &plan, 0);
        ck_assert_uint_eq(issue_until(&pace, 64 * KIB, 1, 0, 4 * NSEC_PER_SEC, &n_waits), 4 * 160);
}
END_TEST

START_TEST(high_rates_are_exact_without_a_wake_up_for_each) {
        static const struct {
                uint64_t n_free, n_at_once; /* at least */
        } cases[] = { { 1, 1 }, { 4, 2 }, { 16, 8 }, { 256, 25 } };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                PhasePlan plan = { .rate_iops = { [DIRECTION_WRITE] = 400000 } };
                uint64_t n_waits, n;
                Pace pace;

                pace_begin(&pace, &plan, 0);
                n = issue_until(&pace, 4096, cases[i].n_free, 0, NSEC_PER_SEC, &n_waits);
                ck_assert_double_eq_tol((double) n, 400000, 30);
                ck_assert_uint_le(n_waits, n / cases[i].n_at_once);
        }
}
END_TEST

/* Half of the free slots are filled by then, and a drive notices none of it. */
START_TEST(one_slot_is_filled_in_time_and_several_a_little_later) {
        PhasePlan plan = { .rate_iops = { [DIRECTION_WRITE] = 400000 } };
        Pace pace;

        pace_begin(&pace, &plan, 0);
        pace_count(&pace, DIRECTION_WRITE, 4096);
        ck_assert_uint_eq(pace_wait_ns(&pace, DIRECTION_WRITE, 4096, 1, 0), 2500);
        ck_assert_uint_eq(pace_wait_ns(&pace, DIRECTION_WRITE, 4096, 16, 0), 2500 + 8 * 2500);
        ck_assert_uint_eq(pace_wait_ns(&pace, DIRECTION_WRITE, 4096, 256, 0), 2500 + 64000);
        ck_assert_uint_eq(pace_wait_ns(&pace, DIRECTION_WRITE, 4096, 16, 2500), 0);
}
END_TEST

START_TEST(what_was_held_up_is_made_up_for) {
        PhasePlan plan = { .rate_iops = { [DIRECTION_WRITE] = 100 } };
        uint64_t n_waits;
        Pace pace;

        pace_begin(&pace, &plan, 0);
        ck_assert_uint_eq(issue_until(&pace, 512, 8, 3 * NSEC_PER_SEC, 4 * NSEC_PER_SEC, &n_waits), 400);
}
END_TEST

START_TEST(a_direction_without_limit_is_never_held_up) {
        PhasePlan none = {}, plan = { .rate_iops = { [DIRECTION_READ] = 1 } };
        Pace pace;

        pace_begin(&pace, &none, 0);
        ck_assert(!pace.is_limited);
        pace_begin(&pace, &plan, 0);
        for (unsigned i = 0; i < 10; i++) {
                pace_count(&pace, DIRECTION_READ, 512);
                pace_count(&pace, DIRECTION_WRITE, 512);
        }
        ck_assert_uint_eq(pace_wait_ns(&pace, DIRECTION_WRITE, 512, 8, 0), 0);
        ck_assert_uint_ge(pace_wait_ns(&pace, DIRECTION_READ, 512, 8, 0), 10 * NSEC_PER_SEC);
}
END_TEST

START_TEST(the_largest_numbers_do_not_overflow) {
        PhasePlan plan = { .rate_bytes = { [DIRECTION_WRITE] = 1 }, .rate_iops = { [DIRECTION_READ] = UINT64_MAX } };
        Pace pace;

        pace_begin(&pace, &plan, 0);
        pace.n_bytes[DIRECTION_WRITE] = pace.n_ios[DIRECTION_READ] = UINT64_MAX;
        ck_assert_uint_eq(pace_due_ns(&pace, DIRECTION_WRITE, UINT32_MAX, UINT32_MAX), INT64_MAX);
        ck_assert_uint_eq(pace_due_ns(&pace, DIRECTION_READ, 0, UINT32_MAX), NSEC_PER_SEC);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("pace");
        TCase *c = tcase_create("pace");

        tcase_add_test(c, iops_are_exact_and_evenly_spaced);
        tcase_add_test(c, bytes_are_exact);
        tcase_add_test(c, high_rates_are_exact_without_a_wake_up_for_each);
        tcase_add_test(c, one_slot_is_filled_in_time_and_several_a_little_later);
        tcase_add_test(c, what_was_held_up_is_made_up_for);
        tcase_add_test(c, a_direction_without_limit_is_never_held_up);
        tcase_add_test(c, the_largest_numbers_do_not_overflow);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include "sample/history.h"

#include <string.h>

#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"

START_TEST(nothing_is_maybe_at_first) {
        History h = history_new();

        ck_assert(!history_is_maybe(&h, 0));
        ck_assert_uint_eq(h.ceiling, HISTORY_RESERVE);
        ck_assert(history_is_valid(&h));
}
END_TEST

START_TEST(ranges_that_touch_become_one) {
        History h = history_new();

        h.end = 1000;
        ck_assert(history_add_maybe(&h, 10, 20));
        ck_assert(history_add_maybe(&h, 30, 40));
        ck_assert(history_add_maybe(&h, 20, 30));
        ck_assert_uint_eq(h.n_maybes, 1);
        ck_assert(!history_is_maybe(&h, 9) && history_is_maybe(&h, 10) && history_is_maybe(&h, 39));
        ck_assert(!history_is_maybe(&h, 40));
}
END_TEST

START_TEST(what_is_maybe_already_changes_nothing) {
        History h = history_new();

        h.end = 1000;
        ck_assert(history_add_maybe(&h, 10, 20));
        ck_assert(!history_add_maybe(&h, 12, 20));
        ck_assert(!history_add_maybe(&h, 5, 5));
        ck_assert_uint_eq(h.n_maybes, 1);
}
END_TEST

START_TEST(a_lost_cache_makes_maybe_what_was_not_flushed) {
        History h = history_new();

        h.flushed = 100;
        h.end = 300;
        history_lose_cache(&h, 300);
        ck_assert(!history_is_maybe(&h, 99) && history_is_maybe(&h, 100) && history_is_maybe(&h, 299));
        ck_assert(!history_is_maybe(&h, 300));
}
END_TEST

START_TEST(beyond_the_end_it_is_maybe_as_far_as_a_dead_process_may_have_come) {
        History h = history_new();

        h.end = 100;
        ck_assert(!history_is_maybe(&h, 100));
        h.reach = 120;
        ck_assert(!history_is_maybe(&h, 99) && history_is_maybe(&h, 100) && history_is_maybe(&h, 119));
        ck_assert(!history_is_maybe(&h, 120));
}
END_TEST

/* However many there are: what was added stays maybe, in order and apart, and beyond the bound the nearest join. */
START_TEST(the_list_is_bounded_and_forgets_nothing) {
        enum { N = 4096 };
        bool added[N];

        for (uint64_t round = 0; round < 200; round++) {
                History h = { .end = N, .ceiling = N };

                memset(added, 0, sizeof(added));
                for (uint64_t i = 0; i < 120; i++) {
                        uint64_t from = hash_mix64_2(round, 2 * i) % N;
                        uint64_t to = MIN(from + 1 + hash_mix64_2(round, 2 * i + 1) % 8, (uint64_t) N);

                        history_add_maybe(&h, from, to);
                        memset(added + from, true, to - from);
                        if (!history_is_valid(&h))
                                ck_abort_msg("round %u: not valid after %u", (unsigned) round, (unsigned) i);
                }
                for (uint64_t i = 0; i < N; i++)
                        if (added[i] && !history_is_maybe(&h, i))
                                ck_abort_msg("round %u: %u was forgotten", (unsigned) round, (unsigned) i);
                ck_assert_uint_le(h.n_maybes, HISTORY_N_MAYBES_MAX);
        }
}
END_TEST

START_TEST(the_nearest_join_beyond_the_bound) {
        History h = history_new();

        h.end = HISTORY_RESERVE;
        for (uint64_t i = 0; i < HISTORY_N_MAYBES_MAX; i++)
                history_add_maybe(&h, 1000 * i, 1000 * i + 10);
        history_add_maybe(&h, 5015, 5020);
        ck_assert_uint_eq(h.n_maybes, HISTORY_N_MAYBES_MAX);
        ck_assert(history_is_maybe(&h, 5012));
        ck_assert(!history_is_maybe(&h, 5020) && !history_is_maybe(&h, 4999) && !history_is_maybe(&h, 6010));
}
END_TEST

START_TEST(what_cannot_be_is_not_valid) {
        const History broken[] = {
                { .ceiling = HISTORY_INDEX_MAX + 1 },
                { .ceiling = 10, .flushed = 11 },
                { .ceiling = 10, .reach = 11 },
                { .ceiling = 10, .n_maybes = HISTORY_N_MAYBES_MAX + 1 },
                { .ceiling = 10, .n_maybes = 1, .maybes = { { 5, 5 } } },
                { .ceiling = 10, .n_maybes = 1, .maybes = { { 5, 11 } } },
                { .ceiling = 10, .n_maybes = 2, .maybes = { { 1, 5 }, { 5, 6 } } },
        };

        for (size_t i = 0; i < ELEMENTSOF(broken); i++)
                ck_assert_msg(!history_is_valid(&broken[i]), "case %zu", i);
}
END_TEST

START_TEST(each_share_has_its_own) {
        static const uint32_t shares[] = { 1, 3, 2 };
        Histories *all = histories_new(shares, ELEMENTSOF(shares));

        histories_at(all, 1, 2)->flushed = 7;
        ck_assert_uint_eq(histories_at(all, 1, 1)->flushed, 0);
        ck_assert_uint_eq(histories_at(all, 2, 0)->flushed, 0);
        ck_assert_uint_eq(histories_at(all, 1, 2)->flushed, 7);
        ck_assert_ptr_null(histories_at(all, 1, 3));
        ck_assert_ptr_null(histories_at(all, 3, 0));
        ck_assert_ptr_null(histories_at(all, 0, 1));
        histories_free(all);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("sample-history");
        TCase *tc = tcase_create("history");

        tcase_add_test(tc, nothing_is_maybe_at_first);
        tcase_add_test(tc, ranges_that_touch_become_one);
        tcase_add_test(tc, what_is_maybe_already_changes_nothing);
        tcase_add_test(tc, a_lost_cache_makes_maybe_what_was_not_flushed);
        tcase_add_test(tc, beyond_the_end_it_is_maybe_as_far_as_a_dead_process_may_have_come);
        tcase_add_test(tc, the_list_is_bounded_and_forgets_nothing);
        tcase_add_test(tc, the_nearest_join_beyond_the_bound);
        tcase_add_test(tc, what_cannot_be_is_not_valid);
        tcase_add_test(tc, each_share_has_its_own);
        suite_add_tcase(s, tc);
        return s;
}

UNIT_TEST_MAIN(make_suite)

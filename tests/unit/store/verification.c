/* SPDX-License-Identifier: MIT */

/* What is known of the writes, and what came of reading them back, is read as it was written. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "util/macro.h"

static void set_history(Store *store, uint32_t run, uint32_t share, const History *history) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_history(store, run, 0, share, history, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

static void expect_history(Store *store, uint32_t run, uint32_t share, const History *expected) {
        _cleanup_(store_resume_freep) StoreResume *resume = NULL;

        ck_assert_int_eq(store_get_resume(store, run, &resume, NULL), 1);
        const History *read = histories_at(resume->standing->histories, 0, share);
        ck_assert_ptr_nonnull(read);
        ck_assert_uint_eq(read->ceiling, expected->ceiling);
        ck_assert_uint_eq(read->reach, expected->reach);
        ck_assert_uint_eq(read->flushed, expected->flushed);
        ck_assert_uint_eq(read->n_maybes, expected->n_maybes);
        ck_assert_int_eq(memcmp(read->maybes, expected->maybes, read->n_maybes * sizeof(read->maybes[0])), 0);
}

START_TEST(a_history_is_the_one_that_was_told_last) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);
        History history = { .ceiling = HISTORY_INDEX_MAX, .reach = 900, .flushed = 70 };
        const History begun = history_new();

        expect_history(store, run, 0, &begun);
        for (uint64_t i = 0; i < HISTORY_N_MAYBES_MAX; i++)
                history_add_maybe(&history, 100 * i + 1, 100 * i + 50);
        set_history(store, run, 0, &history);
        expect_history(store, run, 0, &history);

        /* Some of the ranges have become one. */
        history_add_maybe(&history, 20, 2020);
        history.reach = 4000;
        set_history(store, run, 0, &history);
        expect_history(store, run, 0, &history);
}
END_TEST

/* One that the run never comes to was to be verified all the same. */
START_TEST(what_is_to_be_verified_is_noted_with_the_run) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);
        StoreVerification read[2];
        StoreRun told;

        ck_assert_int_eq(store_get_verifications(store, run, read, ELEMENTSOF(read), NULL), 0);
        ck_assert(!read[0].is_asked && read[1].is_asked);
        ck_assert_uint_eq(read[1].so_far.asked_bytes, 1 << 20);
        ck_assert_int_eq(read[1].share, VERIFIED_NOTHING);
        ck_assert_int_eq(store_get_run(store, run, &told, NULL), 0);
        ck_assert(!told.is_verified); /* nothing was read back */
        store_run_clear(&told);
}
END_TEST

START_TEST(what_was_verified_is_told_of_the_phases_that_did) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);
        const Verification first = { 1, 0, { 0 } }, last = { 1000, 999, { 1, 2, 3, 4 } };
        StoreVerification read[2];

        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_verification(store, run, 1, &first, NULL), 0);
        ck_assert_int_eq(store_set_verification(store, run, 1, &last, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
        ck_assert_int_eq(store_get_verifications(store, run, read, ELEMENTSOF(read), NULL), 0);
        ck_assert(!read[0].is_asked && read[1].is_asked);
        ck_assert_int_eq(memcmp(&read[1].so_far, &last, sizeof(last)), 0);
}
END_TEST

static VerifiedShare share_of_last(Store *store, uint32_t run) {
        StoreVerification read[2];

        ck_assert_int_eq(store_get_verifications(store, run, read, ELEMENTSOF(read), NULL), 0);
        return read[1].share;
}

/* As much as was asked is all of it where the phase has an order, and has come to its end. */
START_TEST(how_much_was_verified_is_told_by_place) {
        static const char *const others[] = { "rw = 'randread'", "numjobs = 2", "workers = 2" };
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);
        const Verification verification = { .asked_bytes = 1000, .checked_bytes = 1000 };

        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_set_verification(store, run, 1, &verification, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
        for (uint64_t i = 0; i < 2; i++) {
                Sample *sample = new_sample(i);

                sample->phase = 1;
                sample->positions = (Positions){ 1, { { .low_index = 1, .next_index = 1, .done_bytes = 999 + i } } };
                add_sample(store, run, sample);
                free(sample);
                ck_assert_int_eq(share_of_last(store, run), i == 0 ? VERIFIED_PART : VERIFIED_ALL);
        }
        for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                char sql[160];

                snprintf(sql, sizeof(sql), "UPDATE phases SET rw = 'read', numjobs = 1, workers = 1;"
                         "UPDATE phases SET %s", others[i]);
                sql_run(test_path, sql);
                ck_assert_int_eq(share_of_last(store, run), VERIFIED_AMOUNT);
        }
}
END_TEST

START_TEST(findings_are_told_in_their_order) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);
        size_t n;
        StoreFinding *read;

        ck_assert_int_eq(store_begin(store, NULL), 0);
        for (Mismatch i = 0; i < N_MISMATCHES; i++) {
                char detail[] = "what 'was' there";
                const StoreFinding finding = { 1, i, INT64_MAX - i, i + 1, detail };

                ck_assert_int_eq(store_insert_finding(store, run, &finding, NULL), 0);
        }
        ck_assert_int_eq(store_commit(store, NULL), 0);
        ck_assert_int_eq(store_get_findings(store, run, &read, &n, NULL), 0);
        ck_assert_uint_eq(n, N_MISMATCHES);
        for (Mismatch i = 0; i < N_MISMATCHES; i++) {
                ck_assert_uint_eq(read[i].phase, 1);
                ck_assert_int_eq(read[i].kind, i);
                ck_assert_uint_eq(read[i].offset, INT64_MAX - i);
                ck_assert_uint_eq(read[i].bytes, i + 1);
                ck_assert_str_eq(read[i].detail, "what 'was' there");
        }
        store_findings_free(read, n);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("verification");
        TCase *t = store_case("verification");

        tcase_add_test(t, a_history_is_the_one_that_was_told_last);
        tcase_add_test(t, what_is_to_be_verified_is_noted_with_the_run);
        tcase_add_test(t, how_much_was_verified_is_told_by_place);
        tcase_add_test(t, what_was_verified_is_told_of_the_phases_that_did);
        tcase_add_test(t, findings_are_told_in_their_order);
        suite_add_tcase(s, t);
        return s;
}

UNIT_TEST_MAIN(make_suite)

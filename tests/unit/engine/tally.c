/* SPDX-License-Identifier: MIT */

#include "engine/tally.h"

#include <errno.h>
#include <pthread.h>

#include "unit.h"

static Tally tally;

static void count(TallyCounts *counts, Direction direction, unsigned n) {
        counts->bytes[direction] += n * 512;
        counts->latency[direction].buckets[direction] += n;
}

static void count_burst(Direction direction, unsigned n) {
        count(tally_begin(&tally), direction, n);
        tally_end(&tally);
}

START_TEST(bursts_add_up) {
        for (unsigned round = 1; round <= 10; round++) {
                count_burst(DIRECTION_WRITE, 3);
                count_burst(DIRECTION_READ, 1);
                tally_collect(&tally);
                ck_assert_uint_eq(tally.totals.ios[DIRECTION_WRITE], round * 3);
                ck_assert_uint_eq(tally.totals.bytes[DIRECTION_WRITE], round * 3 * 512);
                ck_assert_uint_eq(tally.totals.latency[DIRECTION_WRITE].buckets[DIRECTION_WRITE], round * 3);
                ck_assert_uint_eq(tally.totals.ios[DIRECTION_READ], round);
                tally_collect(&tally);
                ck_assert_uint_eq(tally.totals.ios[DIRECTION_READ], round);
        }
        tally_begin_phase(&tally);
        ck_assert_uint_eq(tally.totals.ios[DIRECTION_WRITE], 0);
}
END_TEST

/* A writer that was put to sleep in the middle holds nobody up, and nothing of it is told by half. */
START_TEST(a_burst_in_the_middle_comes_next_time) {
        TallyCounts *counts = tally_begin(&tally);

        count(counts, DIRECTION_WRITE, 5);
        for (unsigned i = 0; i < 3; i++) {
                tally_collect(&tally);
                ck_assert_uint_eq(tally.totals.ios[DIRECTION_WRITE], 0);
                ck_assert_uint_eq(tally.totals.bytes[DIRECTION_WRITE], 0);
        }
        count(counts, DIRECTION_WRITE, 2);
        ck_assert(tally_is_counting(&tally));
        tally_end(&tally);
        ck_assert(!tally_is_counting(&tally));
        count_burst(DIRECTION_WRITE, 10);
        tally_collect(&tally);
        ck_assert_uint_eq(tally.totals.ios[DIRECTION_WRITE], 17);
}
END_TEST

/* What is left in either set when a phase ends does not reach the next. */
START_TEST(a_phase_begins_with_nothing) {
        TallyCounts *counts = tally_begin(&tally);

        count(counts, DIRECTION_WRITE, 5);
        tally_collect(&tally);
        tally_end(&tally);
        count_burst(DIRECTION_WRITE, 1);
        tally_begin_phase(&tally);
        tally_collect(&tally);
        ck_assert_uint_eq(tally.totals.ios[DIRECTION_WRITE], 0);
        ck_assert_uint_eq(histogram_count(&tally.totals.latency[DIRECTION_WRITE]), 0);
}
END_TEST

#define N_BURSTS 2000000U

static void *write_bursts(void *userdata) {
        for (unsigned i = 0; i < N_BURSTS; i++)
                count_burst(i % 2 ? DIRECTION_WRITE : DIRECTION_READ, 1 + i % 4);
        return NULL;
}

START_TEST(two_threads_lose_nothing) {
        uint64_t n = 0, expected = 0;
        pthread_t thread;

        for (unsigned i = 0; i < N_BURSTS; i++)
                expected += 1 + i % 4;

        ck_assert_int_eq(pthread_create(&thread, NULL, write_bursts, NULL), 0);
        while (n < expected) {
                tally_collect(&tally);
                n = 0;
                for (Direction d = DIRECTION_READ; d <= DIRECTION_WRITE; d++) {
                        if (tally.totals.bytes[d] != tally.totals.ios[d] * 512)
                                ck_abort_msg("a snapshot of half a burst");
                        n += tally.totals.ios[d];
                }
        }
        pthread_join(thread, NULL);
        tally_collect(&tally);
        ck_assert_uint_eq(tally.totals.ios[DIRECTION_READ] + tally.totals.ios[DIRECTION_WRITE], expected);
}
END_TEST

START_TEST(errors_keep_first_and_last) {
        for (unsigned i = 0; i < 5; i++) {
                tally_count_error(tally_begin(&tally), EIO, 1000 + i);
                tally_end(&tally);
                tally_count_error(tally_begin(&tally), ENOSPC, 2000 + i);
                tally_end(&tally);
                tally_collect(&tally);
        }
        ck_assert_uint_eq(tally.totals.errors, 10);
        tally_begin_phase(&tally);
        ck_assert_uint_eq(tally.totals.errors, 0);

        ck_assert_uint_eq(tally.n_errnos, 2);
        for (unsigned i = 0; i < 2; i++) {
                ck_assert_int_eq(tally.errnos[i].errnum, i ? ENOSPC : EIO);
                ck_assert_uint_eq(tally.errnos[i].count, 5);
                ck_assert_uint_eq(tally.errnos[i].first_offset, 1000 * (i + 1));
                ck_assert_uint_eq(tally.errnos[i].last_offset, 1000 * (i + 1) + 4);
                ck_assert(tally.errnos[i].first_at_ns <= tally.errnos[i].last_at_ns);
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("tally");
        TCase *c = tcase_create("tally");

        tcase_set_timeout(c, 60);
        tcase_add_test(c, bursts_add_up);
        tcase_add_test(c, a_burst_in_the_middle_comes_next_time);
        tcase_add_test(c, a_phase_begins_with_nothing);
        tcase_add_test(c, two_threads_lose_nothing);
        tcase_add_test(c, errors_keep_first_and_last);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

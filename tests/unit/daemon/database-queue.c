/* SPDX-License-Identifier: MIT */

#include "database-queue.h"
#include "scratch-store.h"
#include "unit.h"

static Sample sample;

static void push(Queue *queue, uint32_t run, uint64_t seq) {
        scratch_sample(&sample, seq);
        ck_assert_int_eq(queue_push_sample(queue, run, &sample), 0);
}

/* Bytes that one waiting sample counts for. */
static uint64_t sample_bytes(void) {
        Queue queue;

        queue_init(&queue, UINT64_MAX);
        push(&queue, 1, 0);
        uint64_t bytes = queue.bytes;
        queue_clear(&queue);
        return bytes;
}

typedef struct Seen {
        uint64_t seqs[64];
        size_t n;
        char details[8][128];
        size_t n_details;
} Seen;

static int see_sample(const Sample *s, const StoreLatency *latency, void *userdata) {
        Seen *seen = userdata;
        ck_assert_uint_lt(seen->n, ELEMENTSOF(seen->seqs));
        seen->seqs[seen->n++] = s->seq;
        return 0;
}

/* Writes all that waits in batches of batch_bytes, and reads the database. */
static void write_all(Queue *queue, Scratch *scratch, uint32_t run, uint64_t batch_bytes, Seen *ret) {
        _cleanup_store_ Store *store = NULL;
        StoreEvent *events;
        size_t n;

        ck_assert_int_eq(store_open_writer(&store, scratch->path, NULL), 0);
        while (queue->first) {
                ck_assert_int_eq(store_begin(store, NULL), 0);
                size_t n_pinned;
                Change *change = queue_pin(queue, batch_bytes, &n_pinned);
                for (size_t i = 0; i < n_pinned; i++) {
                        change = i > 0 ? change_next(change) : change;
                        ck_assert_int_eq(change_write(change, store, &sample, NULL), 0);
                }
                ck_assert_int_eq(store_commit(store, NULL), 0);
                queue_settle(queue);
        }

        *ret = (Seen){};
        StoreSampleQuery query = { .run = run, .phase = -1, .to_ns = UINT64_MAX };
        ck_assert_int_eq(store_each_sample(store, &query, see_sample, ret, NULL), 0);
        ck_assert_int_eq(store_get_events(store, run, &events, &n, NULL), 0);
        for (size_t i = 0; i < n && i < ELEMENTSOF(ret->details); i++)
                snprintf(ret->details[ret->n_details++], sizeof(ret->details[0]), "%s", events[i].detail);
        store_events_free(events, n);
}

START_TEST(test_order_is_kept) {
        Scratch scratch;
        Queue queue;
        Seen seen;

        scratch_setup(&scratch);
        uint32_t run = scratch_insert_run(&scratch);
        queue_init(&queue, UINT64_MAX);
        for (uint64_t seq = 0; seq < 10; seq++) {
                char detail[32];
                push(&queue, run, seq);
                snprintf(detail, sizeof(detail), "%llu", (unsigned long long) seq);
                if (seq < 3)
                        ck_assert_int_eq(queue_push_event(&queue, run, 1, 1, EVENT_PHASE, detail), 0);
        }
        ck_assert_uint_eq(queue.n_changes, 13);

        write_all(&queue, &scratch, run, 1, &seen); /* one at a time */
        ck_assert_uint_eq(seen.n, 10);
        ck_assert_uint_eq(seen.n_details, 3);
        for (size_t i = 0; i < 3; i++)
                ck_assert_int_eq(seen.details[i][0], (int) ('0' + i));
        ck_assert_uint_eq(queue_settled(&queue), 13);
        ck_assert_uint_eq(queue.bytes, 0);
        ck_assert_ptr_null(queue.quotas);
        scratch_teardown(&scratch);
}
END_TEST

START_TEST(test_oldest_go_and_the_gap_is_told) {
        Scratch scratch;
        Queue queue;
        Seen seen;

        scratch_setup(&scratch);
        uint32_t run = scratch_insert_run(&scratch);
        queue_init(&queue, 4 * sample_bytes());
        for (uint64_t seq = 0; seq < 10; seq++)
                push(&queue, run, seq);
        ck_assert_uint_eq(queue.n_dropped, 6);

        write_all(&queue, &scratch, run, UINT64_MAX, &seen);
        ck_assert_uint_eq(seen.n, 4);
        ck_assert_uint_eq(seen.seqs[0], 6);
        ck_assert_uint_eq(seen.n_details, 1);
        ck_assert_ptr_nonnull(strstr(seen.details[0], "samples 0 to 5 "));
        ck_assert_ptr_null(queue.quotas);
        scratch_teardown(&scratch);
}
END_TEST

START_TEST(test_bound_is_each_runs_own) {
        Queue queue;

        queue_init(&queue, 4 * sample_bytes());
        for (uint64_t seq = 0; seq < 10; seq++)
                push(&queue, 1, seq);
        for (uint64_t seq = 0; seq < 4; seq++)
                push(&queue, 2, seq);
        ck_assert_uint_eq(queue.n_dropped, 6);
        queue_clear(&queue);
}
END_TEST

START_TEST(test_pinned_samples_stay) {
        Scratch scratch;
        Queue queue;
        Seen seen;
        size_t n_pinned;

        scratch_setup(&scratch);
        uint32_t run = scratch_insert_run(&scratch);
        queue_init(&queue, 4 * sample_bytes());
        for (uint64_t seq = 0; seq < 4; seq++)
                push(&queue, run, seq);

        /* While these four are being written, more come: only they may go. */
        ck_assert_ptr_nonnull(queue_pin(&queue, UINT64_MAX, &n_pinned));
        ck_assert_uint_eq(n_pinned, 4);
        for (uint64_t seq = 4; seq < 8; seq++)
                push(&queue, run, seq);
        ck_assert_uint_eq(queue.n_dropped, 3);

        /* The write fails, and the next drop takes the oldest of all into the same gap. */
        queue_unpin(&queue);
        push(&queue, run, 8);
        ck_assert_uint_eq(queue.n_dropped, 5);

        write_all(&queue, &scratch, run, UINT64_MAX, &seen);
        ck_assert_uint_eq(seen.n, 4);
        ck_assert_uint_eq(seen.seqs[0], 2);
        ck_assert_uint_eq(seen.seqs[1], 3);
        ck_assert_uint_eq(seen.seqs[2], 7);
        ck_assert_uint_eq(seen.seqs[3], 8);
        ck_assert_ptr_nonnull(strstr(seen.details[0], "samples 0 to 6 "));
        ck_assert_ptr_null(queue.quotas);
        scratch_teardown(&scratch);
}
END_TEST

START_TEST(test_a_gap_that_is_being_written_does_not_grow) {
        Queue queue;

        queue_init(&queue, 2 * sample_bytes());
        for (uint64_t seq = 0; seq < 4; seq++)
                push(&queue, 1, seq);

        size_t n_pinned;
        ck_assert_ptr_nonnull(queue_pin(&queue, 1, &n_pinned));
        ck_assert_uint_eq(n_pinned, 1);
        push(&queue, 1, 4); /* its victim becomes another gap */
        queue_settle(&queue);
        ck_assert_uint_eq(queue.n_changes, 3);
        queue_clear(&queue);
}
END_TEST

START_TEST(test_a_rejected_change_goes_alone) {
        Queue queue;

        queue_init(&queue, UINT64_MAX);
        for (uint64_t seq = 0; seq < 3; seq++)
                push(&queue, 1, seq);
        size_t n_pinned;
        Change *second = change_next(queue_pin(&queue, UINT64_MAX, &n_pinned));
        ck_assert_uint_eq(change_run(second), 1);
        queue_reject(&queue, second);
        ck_assert_uint_eq(queue.n_changes, 2);
        ck_assert_uint_eq(queue.n_pinned, 0);
        ck_assert_uint_eq(queue.n_dropped, 1);
        queue_clear(&queue);
}
END_TEST

/* Who waits for what came before must not be told that it is written because what came later was dropped. */
START_TEST(test_dropping_settles_nothing_before_it) {
        Queue queue;

        queue_init(&queue, 2 * sample_bytes());
        ck_assert_int_eq(queue_push_run_state(&queue, 1, RUN_RUNNING, 1), 0);
        for (uint64_t seq = 0; seq < 10; seq++)
                push(&queue, 1, seq);
        ck_assert_uint_eq(queue.n_dropped, 8);
        ck_assert_uint_eq(queue_settled(&queue), 0);
        size_t n_pinned;
        queue_pin(&queue, 1, &n_pinned);
        queue_settle(&queue);
        ck_assert_uint_eq(queue_settled(&queue), 1); /* the gap stands where the first sample was */
        queue_clear(&queue);
        ck_assert_uint_eq(queue_settled(&queue), queue.n_pushed);
}
END_TEST

START_TEST(test_figures_of_an_errno_are_overwritten) {
        EngineErrno eio = { .errnum = EIO, .count = 1 }, enospc = { .errnum = ENOSPC, .count = 1 };
        Queue queue;
        size_t n_pinned;

        queue_init(&queue, UINT64_MAX);
        for (unsigned i = 0; i < 1000; i++, eio.count++)
                ck_assert_int_eq(queue_push_errno(&queue, 1, &eio), 0);
        ck_assert_int_eq(queue_push_errno(&queue, 1, &enospc), 0);
        ck_assert_int_eq(queue_push_errno(&queue, 2, &eio), 0);
        ck_assert_uint_eq(queue.n_changes, 3);

        /* Being written: those figures stay as they are. */
        queue_pin(&queue, UINT64_MAX, &n_pinned);
        ck_assert_int_eq(queue_push_errno(&queue, 1, &eio), 0);
        ck_assert_int_eq(queue_push_errno(&queue, 1, &eio), 0);
        ck_assert_uint_eq(queue.n_changes, 4);
        queue_settle(&queue);
        ck_assert_uint_eq(queue.n_changes, 1);
        queue_settle(&queue);
        queue_clear(&queue);
}
END_TEST

START_TEST(test_newest_figures_of_an_errno_are_written) {
        Scratch scratch;
        Queue queue;
        Seen seen;
        EngineErrno *found;
        size_t n;

        scratch_setup(&scratch);
        uint32_t run = scratch_insert_run(&scratch);
        queue_init(&queue, UINT64_MAX);
        for (uint64_t count = 1; count <= 9; count++)
                ck_assert_int_eq(queue_push_errno(&queue, run, &(EngineErrno){ .errnum = EIO, .count = count }), 0);
        write_all(&queue, &scratch, run, UINT64_MAX, &seen);
        ck_assert_ptr_null(queue.quotas);

        _cleanup_store_ Store *store = NULL;
        ck_assert_int_eq(store_open_reader(&store, scratch.path, NULL), 0);
        ck_assert_int_eq(store_get_errnos(store, run, &found, &n, NULL), 0);
        ck_assert_uint_eq(n, 1);
        ck_assert_uint_eq(found[0].count, 9);
        free(found);
        scratch_teardown(&scratch);
}
END_TEST

START_TEST(test_events_are_bounded_too) {
        Scratch scratch;
        Queue queue;
        Seen seen;
        const char *detail = "0123456789012345678901234567890123456789";

        scratch_setup(&scratch);
        uint32_t run = scratch_insert_run(&scratch);
        queue_init(&queue, 4 * sample_bytes());
        push(&queue, run, 0);
        for (unsigned i = 0; i < 1000; i++)
                ck_assert_int_eq(queue_push_event(&queue, run, 1, 1, EVENT_STALLED, detail), 0);
        ck_assert_uint_le(queue.n_changes, 10);
        ck_assert_uint_le(queue.bytes, 6 * sample_bytes());
        uint64_t n_kept = queue.n_changes - 1;

        write_all(&queue, &scratch, run, UINT64_MAX, &seen);
        char words[64];
        snprintf(words, sizeof(words), "samples 0 to 0 (0 ms to 1.0 s) and %u events are lost",
                 (unsigned) (1000 - n_kept));
        ck_assert_msg(strstr(seen.details[0], words) != NULL, "%s", seen.details[0]);
        ck_assert_str_eq(seen.details[seen.n_details - 1], detail);
        ck_assert_ptr_null(queue.quotas);
        scratch_teardown(&scratch);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("daemon/database-queue");
        TCase *tcase = tcase_create("queue");

        tcase_add_test(tcase, test_order_is_kept);
        tcase_add_test(tcase, test_oldest_go_and_the_gap_is_told);
        tcase_add_test(tcase, test_bound_is_each_runs_own);
        tcase_add_test(tcase, test_pinned_samples_stay);
        tcase_add_test(tcase, test_a_gap_that_is_being_written_does_not_grow);
        tcase_add_test(tcase, test_a_rejected_change_goes_alone);
        tcase_add_test(tcase, test_dropping_settles_nothing_before_it);
        tcase_add_test(tcase, test_figures_of_an_errno_are_overwritten);
        tcase_add_test(tcase, test_newest_figures_of_an_errno_are_written);
        tcase_add_test(tcase, test_events_are_bounded_too);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

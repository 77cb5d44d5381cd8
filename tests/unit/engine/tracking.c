/* SPDX-License-Identifier: MIT */

/*
 * A phase whose contents will be verified, on a ring and a clock that the test plays itself: what is outstanding
 * together, how far it goes, what it tells of writes that fail, and when it flushes.
 */

#include "engine/tracking.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"
#include "util/time.h"

static _Atomic uint64_t now_ns = 1000 * NSEC_PER_SEC;

uint64_t time_monotonic_ns(void) {
        return atomic_load(&now_ns);
}

int64_t time_realtime_ns(void) {
        return (int64_t) atomic_load(&now_ns);
}

typedef struct Request {
        uint32_t length, slot;
        uint64_t offset;
        bool is_flush;
} Request;

static Request requests[64]; /* outstanding */
static unsigned n_requests;
static RingCompletion answers[64];
static unsigned n_answers;
static uint64_t n_turns;
static _Atomic unsigned n_writes, n_flushes;
static bool has_overlap;
static int (*result_of)(uint64_t turn, const Request *request);
static uint64_t turn_ns;

int ring_new(Ring **ret, RingKind kind, int fd, uint32_t depth, const struct iovec *buffers, unsigned n_buffers,
             Error *error) {
        *ret = NULL;
        return 0;
}

int ring_enable(Ring *ring, Error *error) {
        return 0;
}

static void note_overlap(uint64_t offset, uint32_t length) {
        for (unsigned i = 0; i < n_requests; i++)
                if (!requests[i].is_flush && requests[i].offset < offset + length &&
                    offset < requests[i].offset + requests[i].length)
                        has_overlap = true;
}

void ring_prepare(Ring *ring, Direction direction, void *buf, unsigned buffer, uint32_t length, uint64_t offset,
                  uint32_t slot) {
        note_overlap(offset, length);
        requests[n_requests++] = (Request){ .length = length, .offset = offset, .slot = slot };
        atomic_fetch_add(&n_writes, 1);
}

static uint64_t lowest_at_flush; /* offset outstanding when the first flush was submitted */

void ring_prepare_flush(Ring *ring, uint32_t slot) {
        if (atomic_load(&n_flushes) == 0)
                for (unsigned i = 0; i < n_requests; i++)
                        lowest_at_flush = MIN(lowest_at_flush, requests[i].offset);
        requests[n_requests++] = (Request){ .slot = slot, .is_flush = true };
        atomic_fetch_add(&n_flushes, 1);
}

/* Answers one of those outstanding, whichever it may be. */
int ring_submit_and_wait(Ring *ring, unsigned wait_nr, uint64_t timeout_ns) {
        atomic_fetch_add(&now_ns, turn_ns);
        if (n_requests == 0) {
                usleep(1000); /* nothing will come; the timeout */
                return 0;
        }
        unsigned i = (unsigned) (hash_mix64(n_turns) % n_requests);
        Request request = requests[i];

        requests[i] = requests[--n_requests];
        answers[n_answers++] = (RingCompletion){ request.slot, result_of(n_turns, &request) };
        n_turns++;
        return 0;
}

unsigned ring_reap(Ring *ring, RingCompletion *ret, unsigned n) {
        n = MIN(n, n_answers);
        n_answers -= n;
        memcpy(ret, answers + n_answers, n * sizeof *ret);
        return n;
}

void ring_close(Ring *ring) {
}

Ring *ring_free(Ring *ring) {
        return NULL;
}

static int succeed(uint64_t turn, const Request *request) {
        return request->is_flush ? 0 : (int) request->length;
}

static Plan *plan;
static Histories *histories;
static Engine *engine;

static void start(const char *options) {
        static const uint32_t n_shares[] = { 1, 1 };
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_job_ Job *job = NULL;
        char text[256];

        snprintf(text, sizeof(text), "[w]\nrw=randwrite\nverify=crc32c\n%s", options);
        ck_assert_int_eq(job_parse(&job, "x.fio", text, strlen(text), &error), 0);
        const PlanTarget target = { .size_bytes = GIB, .logical_block_bytes = 512 };
        ck_assert_int_eq(plan_new(&plan, job, &target, 1, &error), 0);
        histories = histories_new(n_shares, 2);
        n_requests = n_answers = n_writes = n_flushes = 0;
        has_overlap = false;
        lowest_at_flush = UINT64_MAX;
        turn_ns = 1000;
        result_of = succeed;
        ck_assert_int_eq(engine_new(&engine, &(EngineConfig){
                .plan = plan, .run_tag = 1, .histories = histories,
        }, &error), 0);
}

static void await_idle(void) {
        struct pollfd event = { .fd = engine_event_fd(engine), .events = POLLIN };
        uint64_t n_events;

        while (engine_state(engine) != ENGINE_IDLE) {
                ck_assert_int_eq(poll(&event, 1, -1), 1);
                ck_assert_int_eq(read(event.fd, &n_events, sizeof n_events), sizeof n_events);
        }
}

static void end(void) {
        engine_free(engine);
        histories_free(histories);
        plan_free(plan);
}

/* Few blocks for what is outstanding, of two sizes, and answers in any order. */
START_TEST(no_two_writes_that_overlap_are_outstanding) {
        History history;

        start("bssplit=4k/50:16k/50\niodepth=8\nsize=128k\nio_size=64m\n");
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_idle();
        ck_assert(!has_overlap);
        ck_assert_uint_gt(n_writes, 4000);
        engine_history(engine, 0, &history);
        ck_assert_uint_eq(history.n_maybes, 0);
        ck_assert_uint_eq(history.end, n_writes);
        ck_assert_uint_eq(histories_at(histories, 0, 0)->end, n_writes);
        end();
}
END_TEST

START_TEST(nothing_is_submitted_from_the_ceiling_on_before_that_is_raised) {
        History history;

        start("bs=4k\niodepth=4\nsize=1m\nio_size=400k\n");
        histories_at(histories, 0, 0)->ceiling = 10;
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        while (atomic_load(&n_writes) < 10)
                usleep(1000);

        /* A higher one is asked for once, and used only when it is allowed. */
        ck_assert(engine_history(engine, 0, &history));
        ck_assert_uint_ge(history.ceiling, 10 + HISTORY_RESERVE / 2);
        ck_assert(!engine_history(engine, 0, &history));
        engine_allow(engine, 0, 0, 15);
        while (atomic_load(&n_writes) < 15)
                usleep(1000);
        engine_allow(engine, 1, 0, 1000); /* of another phase */
        usleep(10000);
        ck_assert_uint_eq(n_writes, 15);
        engine_allow(engine, 0, 0, history.ceiling);
        await_idle();
        ck_assert_uint_eq(n_writes, 100);
        end();
}
END_TEST

static int fail_some(uint64_t turn, const Request *request) {
        return request->is_flush || turn % 10 != 3 ? succeed(turn, request) : -EIO;
}

START_TEST(writes_that_fail_are_maybe_and_no_others) {
        uint64_t n_maybe = 0;
        History history;

        start("bs=4k\niodepth=4\nsize=1m\nio_size=400k\n");
        result_of = fail_some;
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_idle();
        ck_assert(engine_history(engine, 0, &history));
        for (uint64_t i = 0; i < 100; i++)
                n_maybe += history_is_maybe(&history, i);
        ck_assert_uint_eq(n_maybe, 10);
        ck_assert(history_is_valid(&history));
        end();
}
END_TEST

static int transfer_a_part(uint64_t turn, const Request *request) {
        if (request->is_flush)
                return 0;
        return request->length == 4096 ? 1024 : -EIO;
}

/* The device has it, so it counts towards what may be written, too, and no write at all is done. */
START_TEST(what_was_transferred_before_an_error_counts) {
        static Counters counters;
        uint64_t n_bytes;

        start("bs=4k\niodepth=1\nsize=1m\n[stop]\nwritten_max=5k\n");
        result_of = transfer_a_part;
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_idle();
        engine_counters(engine, &counters);
        ck_assert_uint_eq(counters.errors, 2);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 0);
        ck_assert_uint_eq(counters.bytes[DIRECTION_WRITE], 2 * 1024);
        ck_assert(engine_has_written_all(engine, &n_bytes));
        ck_assert_uint_eq(n_bytes, 2 * 1024);
        end();
}
END_TEST

START_TEST(it_flushes_each_half_minute_and_at_the_end) {
        History history;

        start("bs=4k\niodepth=4\nsize=1m\nio_size=400k\n");
        turn_ns = NSEC_PER_SEC;
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_idle();
        ck_assert_uint_ge(n_flushes, 3);
        ck_assert_uint_le(n_flushes, 5);
        engine_history(engine, 0, &history);
        ck_assert_uint_eq(history.flushed, 100);
        end();
}
END_TEST

static int fail_flushes(uint64_t turn, const Request *request) {
        return request->is_flush ? -EIO : succeed(turn, request);
}

START_TEST(a_flush_that_fails_makes_nothing_safe) {
        History history;

        start("bs=4k\niodepth=4\nsize=1m\nio_size=400k\n");
        result_of = fail_flushes;
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_idle();
        ck_assert_uint_eq(n_flushes, 1);
        engine_history(engine, 0, &history);
        ck_assert_uint_eq(history.flushed, 0);
        ck_assert_uint_eq(history.n_maybes, 0);
        end();
}
END_TEST

static int fail_further_flushes(uint64_t turn, const Request *request) {
        return request->is_flush && atomic_load(&n_flushes) > 1 ? -EIO : succeed(turn, request);
}

/* In order, the index is the place. */
START_TEST(what_is_outstanding_when_it_flushes_is_not_safe) {
        History history;

        start("bs=4k\niodepth=4\nsize=1m\nrw=write\n");
        turn_ns = NSEC_PER_SEC;
        result_of = fail_further_flushes;
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_idle();
        engine_history(engine, 0, &history);
        ck_assert_uint_lt(lowest_at_flush / 4096, 256);
        ck_assert_uint_gt(history.flushed, 0);
        ck_assert_uint_le(history.flushed, lowest_at_flush / 4096);
        end();
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("engine-tracking");
        TCase *c = tcase_create("tracking");

        tcase_set_timeout(c, 60);
        tcase_add_test(c, no_two_writes_that_overlap_are_outstanding);
        tcase_add_test(c, nothing_is_submitted_from_the_ceiling_on_before_that_is_raised);
        tcase_add_test(c, writes_that_fail_are_maybe_and_no_others);
        tcase_add_test(c, what_was_transferred_before_an_error_counts);
        tcase_add_test(c, it_flushes_each_half_minute_and_at_the_end);
        tcase_add_test(c, what_is_outstanding_when_it_flushes_is_not_safe);
        tcase_add_test(c, a_flush_that_fails_makes_nothing_safe);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

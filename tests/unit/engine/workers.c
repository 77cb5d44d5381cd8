/* SPDX-License-Identifier: MIT */

/* Several slices, each on a ring that the test plays: together they are one engine, and end and fail together. */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/payload.h"
#include "spec/share.h"
#include "unit.h"
#include "util/macro.h"
#include "util/time.h"

enum {
        N_SLICES = 3,
        DEPTH = 8, /* of each */
        BLOCK = 4096,
        N_BLOCKS = 3 * 1024,
        WRITES_MAX = 16384,
};

#define STEP_NS (50 * NSEC_PER_MSEC) /* of the clock, in each turn */

static _Atomic uint64_t now_ns = 1000 * NSEC_PER_SEC;

uint64_t time_monotonic_ns(void) {
        return atomic_load(&now_ns);
}

int64_t time_realtime_ns(void) {
        return (int64_t) atomic_load(&now_ns);
}

/* What the ring of each slice does: answers with a result, holds all back, or is broken. */
typedef struct Behaviour {
        _Atomic bool holds;
        _Atomic int ring_error;
        _Atomic int result; /* 0: all of it */
} Behaviour;

struct Ring {
        unsigned number;
        unsigned n_requests, n_answers;
        struct {
                uint32_t slot, length;
        } requests[DEPTH];
        RingCompletion answers[DEPTH];
};

/* The first writes that were submitted. */
typedef struct Write {
        uint64_t number, offset;
        unsigned slice;
} Write;

static Behaviour behaviour[N_SLICES];
static unsigned n_rings;
static atomic_uint n_closed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Write writes[WRITES_MAX];
static size_t n_writes;

int ring_new(Ring **ret, RingKind kind, int fd, uint32_t depth, const struct iovec *buffers, unsigned n_buffers,
             Error *error) {
        Ring *ring = calloc(1, sizeof *ring);

        ck_assert_ptr_nonnull(ring);
        ring->number = n_rings++;
        ck_assert_uint_le(depth, DEPTH);
        *ret = ring;
        return 0;
}

int ring_enable(Ring *ring, Error *error) {
        return 0;
}

void ring_prepare(Ring *ring, Direction direction, void *buf, unsigned buffer, uint32_t length, uint64_t offset,
                  uint32_t slot) {
        PayloadStamp stamp;

        ring->requests[ring->n_requests].slot = slot;
        ring->requests[ring->n_requests++].length = length;
        payload_read_stamp(buf, &stamp);
        ck_assert_uint_eq(stamp.sector, offset / PAYLOAD_SECTOR);

        pthread_mutex_lock(&lock);
        if (n_writes < WRITES_MAX)
                writes[n_writes] = (Write){ .number = stamp.index, .offset = offset, .slice = ring->number };
        n_writes++;
        pthread_mutex_unlock(&lock);
}

void ring_prepare_flush(Ring *ring, uint32_t slot) {
        ck_assert_msg(!ring, "nobody asked for a flush");
}

int ring_submit_and_wait(Ring *ring, unsigned wait_nr, uint64_t timeout_ns) {
        const Behaviour *how = &behaviour[ring->number];
        int result = atomic_load(&how->result);

        atomic_fetch_add(&now_ns, STEP_NS);
        if (atomic_load(&how->ring_error) < 0)
                return atomic_load(&how->ring_error);
        while (ring->n_requests > 0 && !atomic_load(&how->holds)) {
                ring->n_requests--;
                ring->answers[ring->n_answers++] = (RingCompletion){
                        .slot = ring->requests[ring->n_requests].slot,
                        .result = result < 0 ? result : (int32_t) ring->requests[ring->n_requests].length,
                };
        }
        return 0;
}

unsigned ring_reap(Ring *ring, RingCompletion *ret, unsigned n) {
        n = MIN(n, ring->n_answers);
        ring->n_answers -= n;
        memcpy(ret, ring->answers + ring->n_answers, n * sizeof *ret);
        return n;
}

void ring_close(Ring *ring) {
        atomic_fetch_add(&n_closed, 1);
}

Ring *ring_free(Ring *ring) {
        free(ring);
        return NULL;
}

static Engine *engine;
static PhasePlan phases[2];
static Plan plan = { .n_phases = 2, .phases = phases };
static Counters counters;

static PhasePlan phase_plan(uint32_t workers, uint64_t n_ios) {
        return (PhasePlan){
                .rw = RW_RANDWRITE,
                .block_bytes = { BLOCK, BLOCK, BLOCK },
                .iodepth = DEPTH * workers,
                .numjobs = 1,
                .workers = workers,
                .region_bytes = N_BLOCKS * BLOCK,
                .n_blocks = { N_BLOCKS, N_BLOCKS, N_BLOCKS },
                .limit_bytes = n_ios == UINT64_MAX ? UINT64_MAX : n_ios * BLOCK,
                .seed = 1,
        };
}

static void start_engine(uint64_t first_write) {
        _cleanup_error_ Error error = ERROR_INIT;

        n_rings = 0;
        ck_assert_int_eq(
                engine_new(&engine, &(EngineConfig){ .plan = &plan, .run_tag = 1, .first_write = first_write }, &error),
                0);
        ck_assert_uint_eq(n_rings, plan_workers_max(&plan));
}

static void await_state(EngineState state) {
        while (engine_state(engine) != state) {
                struct pollfd event = { .fd = engine_event_fd(engine), .events = POLLIN };
                uint64_t n_events;

                ck_assert_int_eq(poll(&event, 1, -1), 1);
                ck_assert_int_eq(read(event.fd, &n_events, sizeof n_events), sizeof n_events);
        }
}

static void run_phase(unsigned index) {
        ck_assert_int_eq(engine_start_phase(engine, index), 0);
        await_state(ENGINE_IDLE);
        engine_counters(engine, &counters);
}

/* Until so many are outstanding. */
static void await_in_flight(uint32_t n) {
        uint64_t oldest_ns;
        uint32_t n_now;

        do
                engine_in_flight(engine, &n_now, &oldest_ns);
        while (n_now != n);
}

static int compare_numbers(const void *a, const void *b) {
        uint64_t x = ((const Write *) a)->number, y = ((const Write *) b)->number;

        return x < y ? -1 : x > y;
}

static void assert_writes_are_apart(void) {
        qsort(writes, n_writes, sizeof *writes, compare_numbers);
        for (size_t i = 1; i < n_writes; i++)
                ck_assert_uint_lt(writes[i - 1].number, writes[i].number);
        for (size_t i = 0; i < n_writes; i++)
                ck_assert_uint_eq(writes[i].number % N_SLICES, writes[i].slice);
}

START_TEST(no_two_writes_have_the_same_number) {
        phases[0] = phase_plan(3, 3001);
        phases[1] = phase_plan(2, 1001);
        start_engine(0);
        run_phase(0);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 3001);
        run_phase(1);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 1001);
        run_phase(0);
        ck_assert_uint_eq(n_writes, 3001 + 1001 + 3001);
        assert_writes_are_apart();

        /* What is told of each lies above all that it has numbered; an engine that goes on there repeats none. */
        Positions positions;
        uint64_t next = 0;
        engine_positions(engine, &positions);
        ck_assert_uint_eq(positions.n, 3);
        for (unsigned i = 0; i < positions.n; i++)
                next = MAX(next, positions.of[i].next_write);
        ck_assert_uint_gt(next, writes[n_writes - 1].number);
        engine = engine_free(engine);

        start_engine(next);
        run_phase(0);
        ck_assert_uint_eq(n_writes, 3001 + 1001 + 3001 + 3001);
        assert_writes_are_apart();
        engine = engine_free(engine);
}
END_TEST

START_TEST(together_they_write_no_more_than_may_be) {
        uint64_t n_bytes;

        phases[0] = phases[1] = phase_plan(3, UINT64_MAX);
        plan.stop_written_max = 5000 * BLOCK + 1;
        start_engine(0);
        run_phase(0);
        ck_assert_uint_eq(n_writes, 5000);
        ck_assert_uint_eq(counters.bytes[DIRECTION_WRITE], 5000 * BLOCK);
        ck_assert(engine_has_written_all(engine, &n_bytes));
        ck_assert_uint_eq(n_bytes, 5000 * BLOCK);
        engine = engine_free(engine);
        plan.stop_written_max = 0;
}
END_TEST

START_TEST(each_writes_in_its_own_part) {
        phases[0] = phase_plan(3, 3000);
        phases[1] = phase_plan(3, 3000);
        start_engine(0);
        run_phase(0);
        for (size_t i = 0; i < n_writes; i++)
                ck_assert_uint_eq(writes[i].offset / (N_BLOCKS / 3 * BLOCK), writes[i].slice);
        ck_assert_uint_eq(counters.bytes[DIRECTION_WRITE], 3000 * BLOCK);
        ck_assert_uint_eq(histogram_count(&counters.latency[DIRECTION_WRITE]), 3000);
        engine = engine_free(engine);
}
END_TEST

/* Each in an order of its own: the same in all parts would be written at the same time all over the device. */
START_TEST(each_has_its_own_order) {
        static uint64_t seen[N_SLICES][100];
        size_t n[N_SLICES] = {};

        phases[0] = phases[1] = phase_plan(3, 3000);
        phases[0].random_map = true; /* then each has its share */
        start_engine(0);
        run_phase(0);
        for (size_t i = 0; i < n_writes; i++)
                if (n[writes[i].slice] < ELEMENTSOF(seen[0]))
                        seen[writes[i].slice][n[writes[i].slice]++] = writes[i].offset % (N_BLOCKS / 3 * BLOCK);
        for (unsigned a = 0; a < N_SLICES; a++)
                for (unsigned b = 0; b < a; b++) {
                        size_t n_same = 0;

                        for (size_t i = 0; i < ELEMENTSOF(seen[0]); i++)
                                n_same += seen[a][i] == seen[b][i];
                        ck_assert_uint_lt(n_same, 10);
                }
        engine = engine_free(engine);
}
END_TEST

START_TEST(each_goes_on_at_its_own_position) {
        Positions at = { .n = 3 }, positions;

        phases[0] = phases[1] = phase_plan(3, 3000);
        for (unsigned i = 0; i < 3; i++)
                at.of[i] = (Position){
                        .first_index = i, .low_index = 100 * i, .next_index = 100 * i, .done_bytes = 100 * i * BLOCK,
                };
        start_engine(0);
        ck_assert_int_eq(engine_take_up_phase(engine, 0, &at, 5 * NSEC_PER_SEC), 0);
        await_state(ENGINE_IDLE);
        engine_counters(engine, &counters);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 3000 - 300);
        engine_positions(engine, &positions);
        for (unsigned i = 0; i < 3; i++) {
                ck_assert_uint_eq(positions.of[i].first_index, i);
                ck_assert_uint_eq(positions.of[i].done_bytes, positions.of[i].next_index * BLOCK);
                ck_assert_uint_eq(positions.of[i].low_index, positions.of[i].next_index);
                ck_assert_uint_ge(positions.of[i].next_index, 100 * i);
        }
        ck_assert_uint_ge(engine_phase_running_ns(engine), 5 * NSEC_PER_SEC);
        engine = engine_free(engine);
}
END_TEST

/* One may be as slow as it likes: it leaves no more than the part that it has begun. */
START_TEST(none_is_through_while_there_is_more_to_do) {
        enum { IOS = 3001, PART = 64 };

        for (unsigned by_ios = 0; by_ios < 2; by_ios++) {
                phases[0] = phases[1] = phase_plan(3, by_ios ? UINT64_MAX : IOS);
                phases[0].limit_ios = by_ios ? IOS : 0;
                atomic_store(&behaviour[0].holds, true);
                start_engine(0);
                ck_assert_int_eq(engine_start_phase(engine, 0), 0);
                do
                        engine_counters(engine, &counters);
                while (counters.ios[DIRECTION_WRITE] < IOS - PART);
                atomic_store(&behaviour[0].holds, false);
                await_state(ENGINE_IDLE);
                engine_counters(engine, &counters);
                ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], IOS);
                engine = engine_free(engine);
        }
}
END_TEST

/* However it was divided before, and by whichever limit. */
START_TEST(what_is_left_is_done_by_all) {
        for (unsigned by_ios = 0; by_ios < 2; by_ios++) {
                Positions at = { .n = 3 };

                phases[0] = phases[1] = phase_plan(3, by_ios ? 5000 : 3000);
                phases[0].limit_ios = by_ios ? 3000 : 0;
                at.of[1] = (Position){ .low_index = 2500, .next_index = 2500, .done_bytes = 2500 * BLOCK };
                at.of[2] = (Position){ .low_index = 400, .next_index = 400, .done_bytes = 400 * BLOCK };
                start_engine(0);
                ck_assert_int_eq(engine_take_up_phase(engine, 0, &at, 0), 0);
                await_state(ENGINE_IDLE);
                engine_counters(engine, &counters);
                ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 100);

                at.of[0].done_bytes = 100 * BLOCK; /* all of it */
                ck_assert_int_eq(engine_take_up_phase(engine, 0, &at, 0), 0);
                await_state(ENGINE_IDLE);
                engine_counters(engine, &counters);
                ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 0);
                engine = engine_free(engine);
        }
}
END_TEST

static void *free_engine(void *userdata) {
        engine = engine_free(engine);
        return NULL;
}

START_TEST(none_waits_for_another_to_end) {
        pthread_t thread;

        phases[0] = phases[1] = phase_plan(3, UINT64_MAX);
        for (unsigned i = 0; i < N_SLICES; i++)
                atomic_store(&behaviour[i].holds, true);
        atomic_store(&n_closed, 0);
        start_engine(0);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_in_flight(N_SLICES * DEPTH);
        for (unsigned i = 1; i < N_SLICES; i++)
                atomic_store(&behaviour[i].holds, false);
        ck_assert_int_eq(pthread_create(&thread, NULL, free_engine, NULL), 0);
        while (atomic_load(&n_closed) < N_SLICES - 1)
                sched_yield();
        ck_assert_uint_eq(atomic_load(&n_closed), N_SLICES - 1);
        atomic_store(&behaviour[0].holds, false);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert_uint_eq(atomic_load(&n_closed), N_SLICES);
}
END_TEST

START_TEST(what_is_outstanding_is_that_of_all) {
        uint64_t oldest_ns;
        uint32_t n;

        phases[0] = phases[1] = phase_plan(3, 3000);
        for (unsigned i = 0; i < N_SLICES; i++)
                atomic_store(&behaviour[i].holds, true);
        start_engine(0);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_in_flight(N_SLICES * DEPTH);
        atomic_store(&behaviour[0].holds, false);
        atomic_store(&behaviour[2].holds, false);
        do
                engine_counters(engine, &counters);
        while (counters.ios[DIRECTION_WRITE] < 2000);
        engine_in_flight(engine, &n, &oldest_ns);
        ck_assert_uint_ge(n, DEPTH);
        ck_assert_uint_ge(oldest_ns, STEP_NS);
        ck_assert_int_eq(engine_state(engine), ENGINE_RUNNING); /* two have ended */
        atomic_store(&behaviour[1].holds, false);
        await_state(ENGINE_IDLE);
        engine_in_flight(engine, &n, &oldest_ns);
        ck_assert_uint_eq(n, 0);
        ck_assert_uint_eq(oldest_ns, 0);
        engine = engine_free(engine);
}
END_TEST

START_TEST(a_pause_is_over_when_all_have_drained) {
        phases[0] = phases[1] = phase_plan(3, UINT64_MAX);
        for (unsigned i = 0; i < N_SLICES; i++)
                atomic_store(&behaviour[i].holds, true);
        start_engine(0);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_in_flight(N_SLICES * DEPTH);
        engine_pause(engine);
        atomic_store(&behaviour[0].holds, false);
        atomic_store(&behaviour[1].holds, false);
        await_in_flight(DEPTH);
        await_state(ENGINE_DRAINING);
        atomic_store(&behaviour[2].holds, false);
        await_state(ENGINE_PAUSED);
        engine_stop_phase(engine);
        await_state(ENGINE_IDLE);
        engine = engine_free(engine);
}
END_TEST

static void set_ends_on_error(void) {
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                phases[0].ends_on_error[d] = true;
}

START_TEST(an_error_in_one_ends_the_phase) {
        EngineFailure failure;

        phases[0] = phases[1] = phase_plan(3, UINT64_MAX);
        phases[0].runtime_ns = UINT64_MAX / 4;
        set_ends_on_error();
        for (unsigned i = 0; i < N_SLICES; i++)
                atomic_store(&behaviour[i].holds, true);
        atomic_store(&behaviour[1].result, -EIO);
        start_engine(0);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_in_flight(N_SLICES * DEPTH);
        for (unsigned i = 0; i < N_SLICES; i++)
                atomic_store(&behaviour[i].holds, false);
        await_state(ENGINE_IDLE);
        failure = engine_failure(engine);
        ck_assert_int_eq(failure.errnum, EIO);
        ck_assert_uint_eq(failure.offset / (N_BLOCKS / 3 * BLOCK), 1);

        /* That was this phase's; the next one has nothing to do with it. */
        atomic_store(&behaviour[1].result, 0);
        phases[1].limit_bytes = 300 * BLOCK;
        run_phase(1);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 300);
        ck_assert_int_eq(engine_failure(engine).errnum, 0);
        engine = engine_free(engine);
}
END_TEST

/* Those that wait paused hear of it too: nobody would resume a phase that is over. */
START_TEST(an_error_in_one_ends_a_pause_of_the_others) {
        phases[0] = phases[1] = phase_plan(3, UINT64_MAX);
        set_ends_on_error();
        for (unsigned i = 0; i < N_SLICES; i++)
                atomic_store(&behaviour[i].holds, true);
        atomic_store(&behaviour[2].result, -EIO);
        start_engine(0);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_in_flight(N_SLICES * DEPTH);
        engine_pause(engine);
        atomic_store(&behaviour[0].holds, false);
        atomic_store(&behaviour[1].holds, false);
        await_in_flight(DEPTH);
        atomic_store(&behaviour[2].holds, false);
        await_state(ENGINE_IDLE);
        ck_assert_int_eq(engine_failure(engine).errnum, EIO);
        engine = engine_free(engine);
}
END_TEST

START_TEST(a_broken_ring_of_one_ends_the_phase) {
        phases[0] = phases[1] = phase_plan(3, UINT64_MAX);
        start_engine(0);
        ck_assert_int_eq(engine_ring_error(engine), 0);
        atomic_store(&behaviour[2].ring_error, -EBADF);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_state(ENGINE_IDLE);
        ck_assert_int_eq(engine_ring_error(engine), -EBADF);

        /* No other begins, not with the rings that are whole either. */
        size_t before = n_writes;
        ck_assert_int_eq(engine_start_phase(engine, 1), -EBADF);
        ck_assert_int_eq(engine_state(engine), ENGINE_IDLE);
        ck_assert_uint_eq(n_writes, before);
        engine = engine_free(engine);
}
END_TEST

START_TEST(errors_of_all_are_counted_together) {
        EngineErrno errnos[ENGINE_N_ERRNOS_MAX];
        uint64_t n[2] = {};

        phases[0] = phases[1] = phase_plan(3, 300);
        phases[0].random_map = true; /* then each has its share */
        atomic_store(&behaviour[0].result, -EIO);
        atomic_store(&behaviour[1].result, -ENOSPC);
        atomic_store(&behaviour[2].result, -EIO);
        start_engine(0);
        run_phase(0);
        ck_assert_uint_eq(counters.errors, 300);
        ck_assert_uint_eq(engine_errnos(engine, errnos), 2);
        for (unsigned i = 0; i < 2; i++) {
                n[errnos[i].errnum == EIO] += errnos[i].count;
                ck_assert_int_le(errnos[i].first_at_ns, errnos[i].last_at_ns);
        }
        ck_assert_uint_eq(n[true], 200);
        ck_assert_uint_eq(n[false], 100);
        engine = engine_free(engine);
}
END_TEST

/* One that has done its share sleeps, and may have been awake for longer than the others before. */
START_TEST(awake_is_whoever_works) {
        phases[0] = phase_plan(1, 2000);
        phases[1] = phase_plan(2, 0);
        phases[1].limit_bytes = UINT64_MAX;
        phases[1].limit_ios = 1; /* the last one's, where each has its share */
        phases[1].random_map = true;
        start_engine(0);
        run_phase(0);
        ck_assert_uint_ge(engine_awake_ns(engine), 100 * STEP_NS);

        uint64_t before = engine_awake_ns(engine);
        run_phase(1);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 1);
        ck_assert_uint_ge(engine_awake_ns(engine), before + STEP_NS);
        engine = engine_free(engine);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("workers");
        TCase *c = tcase_create("workers");

        tcase_set_timeout(c, 60);
        tcase_add_test(c, no_two_writes_have_the_same_number);
        tcase_add_test(c, together_they_write_no_more_than_may_be);
        tcase_add_test(c, each_writes_in_its_own_part);
        tcase_add_test(c, each_has_its_own_order);
        tcase_add_test(c, each_goes_on_at_its_own_position);
        tcase_add_test(c, none_is_through_while_there_is_more_to_do);
        tcase_add_test(c, what_is_left_is_done_by_all);
        tcase_add_test(c, what_is_outstanding_is_that_of_all);
        tcase_add_test(c, a_pause_is_over_when_all_have_drained);
        tcase_add_test(c, an_error_in_one_ends_the_phase);
        tcase_add_test(c, an_error_in_one_ends_a_pause_of_the_others);
        tcase_add_test(c, a_broken_ring_of_one_ends_the_phase);
        tcase_add_test(c, errors_of_all_are_counted_together);
        tcase_add_test(c, none_waits_for_another_to_end);
        tcase_add_test(c, awake_is_whoever_works);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

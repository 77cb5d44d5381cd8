/* SPDX-License-Identifier: MIT */

/* The engine on a ring and a clock that the test plays itself. */

#include <errno.h>
#include <poll.h>
#include <pthread.h>

#include "engine/engine.h"
#include "engine/pattern.h"
#include "scripted-ring.h"
#include "unit.h"

static Engine *engine;
static PhasePlan phase;
static Plan plan = { .n_phases = 1, .phases = &phase };
static bool ends_on_error[N_DIRECTIONS];
static uint32_t fsync_writes;
static uint64_t rate_iops, runtime_ns;
static Counters counters;
static EngineErrno errnos[ENGINE_N_ERRNOS_MAX];

static void start(Script run, uint32_t depth, uint64_t n_ios) {
        _cleanup_error_ Error error = ERROR_INIT;

        phase = (PhasePlan){
                .rw = RW_RANDWRITE,
                .block_bytes = { 4096, 4096, 4096 },
                .iodepth = depth,
                .numjobs = 1,
                .workers = 1,
                .region_bytes = GIB,
                .n_blocks = { GIB / 4096, GIB / 4096, GIB / 4096 },
                .limit_bytes = n_ios * 4096,
                .runtime_ns = runtime_ns,
                .seed = 1,
                .fsync_writes = fsync_writes,
                .rate_iops = { [DIRECTION_WRITE] = rate_iops },
        };
        memcpy(phase.ends_on_error, ends_on_error, sizeof ends_on_error);
        script = run;
        ck_assert_int_eq(engine_new(&engine, &(EngineConfig){ .plan = &plan, .run_tag = 1 }, &error), 0);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
}

static void await_change(void) {
        struct pollfd event = { .fd = engine_event_fd(engine), .events = POLLIN };
        uint64_t n_events;

        ck_assert_int_eq(poll(&event, 1, -1), 1);
        ck_assert_int_eq(read(event.fd, &n_events, sizeof n_events), sizeof n_events);
}

static void await_idle(void) {
        while (engine_state(engine) != ENGINE_IDLE)
                await_change();
        engine_counters(engine, &counters);
}

static void end(void) {
        engine = engine_free(engine);
}

static Request seen[64];
static unsigned n_seen;

static int answer_try_again(unsigned wait_nr, uint64_t timeout_ns) {
        static const int32_t results[] = { -EAGAIN, -EINTR, -EAGAIN, 4096 };

        for (; n_requests > 0; n_seen++)
                seen[n_seen] = answer(results[n_seen % 4]);
        atomic_fetch_add(&now_ns, 1000);
        return 0;
}

START_TEST(try_again_is_the_same_io_and_counts_once) {
        uint64_t ns;

        start(answer_try_again, 1, 2);
        await_idle();
        ck_assert_uint_eq(n_seen, 8);
        for (unsigned i = 0; i < n_seen; i++) {
                ck_assert_uint_eq(seen[i].offset, seen[i / 4 * 4].offset);
                ck_assert_ptr_eq(seen[i].buf, seen[0].buf);
                ck_assert_uint_eq(seen[i].length, 4096);
        }
        ck_assert_uint_ne(seen[0].offset, seen[4].offset);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 2);
        ck_assert_uint_eq(counters.bytes[DIRECTION_WRITE], 2 * 4096);
        ck_assert_uint_eq(counters.errors, 0);
        ck_assert_uint_eq(engine_errnos(engine, errnos), 0);

        /* The latency is that of the whole: four turns of 1000 ns. */
        ck_assert_int_eq(histogram_max(&counters.latency[DIRECTION_WRITE], &ns), 0);
        ck_assert_uint_eq(histogram_bucket(ns), histogram_bucket(4000));
        end();
}
END_TEST

static int answer_in_pieces(unsigned wait_nr, uint64_t timeout_ns) {
        while (n_requests > 0) {
                seen[n_seen++] = requests[0];
                answer(requests[0].length > 1024 ? 1024 : (int32_t) requests[0].length);
        }
        return 0;
}

START_TEST(a_short_transfer_goes_on_where_it_ended) {
        start(answer_in_pieces, 1, 1);
        await_idle();
        ck_assert_uint_eq(n_seen, 4);
        for (unsigned i = 0; i < n_seen; i++) {
                ck_assert_uint_eq(seen[i].offset, seen[0].offset + i * 1024);
                ck_assert_ptr_eq(seen[i].buf, seen[0].buf + i * 1024);
                ck_assert_uint_eq(seen[i].length, 4096 - i * 1024);
        }
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 1);
        ck_assert_uint_eq(counters.bytes[DIRECTION_WRITE], 4096);
        end();
}
END_TEST

static _Atomic bool is_stopped;

static int answer_try_again_for_ever(unsigned wait_nr, uint64_t timeout_ns) {
        while (n_requests > 0 && n_answers < 2)
                answer(-EAGAIN);
        if (!atomic_exchange(&is_stopped, true))
                engine_stop_phase(engine);
        return 0;
}

START_TEST(try_again_does_not_hold_up_a_stop) {
        start(answer_try_again_for_ever, 2, 1000);
        await_idle();
        ck_assert_uint_eq(counters.errors, 2);
        ck_assert_uint_eq(engine_errnos(engine, errnos), 1);
        ck_assert_int_eq(errnos[0].errnum, EAGAIN);
        end();
}
END_TEST

static uint64_t latency_ns;

static int answer_after_a_time(unsigned wait_nr, uint64_t timeout_ns) {
        engine_beat(engine, atomic_fetch_add(&now_ns, latency_ns) + latency_ns - START_NS);
        answer_all();
        return 0;
}

START_TEST(latency_is_from_submit_to_completion) {
        static const uint64_t latencies[] = { 1, 100, 12345, 3 * NSEC_PER_SEC, 7200 * NSEC_PER_SEC };

        for (size_t i = 0; i < ELEMENTSOF(latencies); i++) {
                latency_ns = latencies[i];
                start(answer_after_a_time, 4, 40);
                await_idle();
                ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 40);
                ck_assert_uint_eq(counters.latency[DIRECTION_WRITE].buckets[histogram_bucket(latencies[i])], 40);
                ck_assert_uint_eq(engine_phase_running_ns(engine), 10 * latencies[i]);
                end();
        }
}
END_TEST

START_TEST(running_time_begins_at_zero_in_each_phase) {
        latency_ns = 1000;
        start(answer_after_a_time, 4, 40);
        await_idle();
        ck_assert_uint_eq(engine_phase_running_ns(engine), 10 * latency_ns);
        atomic_fetch_add(&now_ns, NSEC_PER_SEC);
        ck_assert_uint_eq(engine_phase_running_ns(engine), 10 * latency_ns);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_idle();
        ck_assert_uint_eq(engine_phase_running_ns(engine), 10 * latency_ns);
        end();
}
END_TEST

/* One answer every ns_per_io, as many as are waited for. */
static uint64_t ns_per_io;
static unsigned wait_nr_last, wait_nr_largest, n_turns;
static uint64_t timeout_last;

static int answer_at_a_rate(unsigned wait_nr, uint64_t timeout_ns) {
        wait_nr_last = wait_nr;
        wait_nr_largest = MAX(wait_nr_largest, wait_nr);
        timeout_last = timeout_ns;
        n_turns++;
        for (unsigned i = 0; i < wait_nr; i++) {
                answer(4096);
                atomic_fetch_add(&now_ns, ns_per_io);
        }
        if (wait_nr == 0 || n_turns == 1000)
                engine_stop_phase(engine);
        if (n_turns > 1000)
                answer_all();
        return 0;
}

static void run_at_a_rate(uint64_t ns, uint32_t depth) {
        ns_per_io = ns;
        n_turns = wait_nr_largest = 0;
        start(answer_at_a_rate, depth, UINT64_MAX / 4096);
        await_idle();
        end();
}

START_TEST(waits_for_several_only_while_they_come_soon) {
        static const struct {
                uint64_t ns;
                uint32_t depth;
                unsigned largest;
        } cases[] = {
                { 1000, 64, 8 },   { 8000, 64, 8 },  { 15000, 64, 5 }, { 30000, 64, 3 }, { 60000, 64, 2 },
                { 70000, 64, 1 },  { 2000000, 64, 1 },
                { 1000, 16, 4 },   { 1000, 4, 1 },    { 1000, 1, 1 }, /* never for most of what is outstanding */
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                run_at_a_rate(cases[i].ns, cases[i].depth);
                ck_assert_uint_eq(wait_nr_largest, cases[i].largest);
        }
}
END_TEST

static unsigned n_single_waits;

/* As answer_at_a_rate(), with 5 ms lost to others every 20 turns. */
static int answer_on_a_busy_host(unsigned wait_nr, uint64_t timeout_ns) {
        n_single_waits += wait_nr == 1;
        if (n_turns % 20 == 19)
                atomic_fetch_add(&now_ns, 5 * NSEC_PER_MSEC);
        return answer_at_a_rate(wait_nr, timeout_ns);
}

START_TEST(gaps_between_bursts_do_not_end_waiting_for_several) {
        ns_per_io = 2000;
        start(answer_on_a_busy_host, 64, UINT64_MAX / 4096);
        await_idle();
        ck_assert_uint_eq(wait_nr_largest, 8);
        ck_assert_uint_lt(n_single_waits, n_turns / 10);
        end();
}
END_TEST

/* Fast, then from one turn to the next a cliff. */
static uint64_t timeout_at_the_cliff;
static unsigned wait_nr_after_the_cliff;

static int answer_over_a_cliff(unsigned wait_nr, uint64_t timeout_ns) {
        n_turns++;
        if (n_turns < 200)
                for (unsigned i = 0; i < wait_nr; i++) {
                        answer(4096);
                        atomic_fetch_add(&now_ns, 2000);
                }
        else if (n_turns == 200) {
                timeout_at_the_cliff = wait_nr > 1 ? timeout_ns : UINT64_MAX;
                atomic_fetch_add(&now_ns, timeout_ns);
        } else if (n_turns == 201) {
                wait_nr_after_the_cliff = wait_nr;
                atomic_fetch_add(&now_ns, 2 * NSEC_PER_MSEC);
                answer(4096);
        } else {
                wait_nr_after_the_cliff = MAX(wait_nr_after_the_cliff, wait_nr);
                engine_stop_phase(engine);
                answer_all();
        }
        return 0;
}

START_TEST(a_cliff_costs_one_short_wait) {
        start(answer_over_a_cliff, 64, UINT64_MAX / 4096);
        await_idle();
        ck_assert_uint_le(timeout_at_the_cliff, 5 * NSEC_PER_MSEC);
        ck_assert_uint_eq(wait_nr_after_the_cliff, 1);
        end();
}
END_TEST

static unsigned n_queued_first, wait_nr_first;

static int watch_the_first_fill(unsigned wait_nr, uint64_t timeout_ns) {
        if (n_queued_first == 0) {
                n_queued_first = n_requests;
                wait_nr_first = wait_nr;
        }
        answer_all();
        return 0;
}

START_TEST(a_deep_queue_is_filled_in_steps) {
        start(watch_the_first_fill, 1000, 1000);
        await_idle();
        ck_assert_uint_le(n_queued_first, 64);
        ck_assert_uint_eq(wait_nr_first, 0);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 1000);
        end();
}
END_TEST

static int hang(unsigned wait_nr, uint64_t timeout_ns) {
        if (n_turns++ == 0) {
                atomic_fetch_add(&now_ns, 500);
                answer(4096);
                return 0;
        }
        ck_assert_uint_le(timeout_ns, 100 * NSEC_PER_MSEC);
        if (atomic_load(&is_stopped))
                answer_all();
        else
                sched_yield();
        return 0;
}

START_TEST(the_age_of_the_oldest) {
        uint64_t oldest_ns;
        uint32_t n;

        start(hang, 3, 1000);
        do
                engine_in_flight(engine, &n, &oldest_ns);
        while (atomic_load(&now_ns) != START_NS + 500 || n != 3);

        /* Two are from the start, one came in place of the first. */
        atomic_fetch_add(&now_ns, NSEC_PER_SEC);
        engine_in_flight(engine, &n, &oldest_ns);
        ck_assert_uint_eq(n, 3);
        ck_assert_uint_eq(oldest_ns, NSEC_PER_SEC + 500);
        ck_assert_uint_eq(engine_phase_running_ns(engine), NSEC_PER_SEC + 500);

        engine_stop_phase(engine);
        atomic_store(&is_stopped, true);
        await_idle();
        engine_in_flight(engine, &n, &oldest_ns);
        ck_assert_uint_eq(n, 0);
        ck_assert_uint_eq(oldest_ns, 0);
        end();
}
END_TEST

/* A millisecond a turn; in the hundredth the thread does not run for ten seconds, and perhaps its owner neither. */
#define SLEEP_NS (10 * NSEC_PER_SEC)
static uint64_t owner_awake_ns;

static int sleep_once(unsigned wait_nr, uint64_t timeout_ns) {
        if (++n_turns == 100) {
                atomic_fetch_add(&now_ns, SLEEP_NS);
                engine_beat(engine, owner_awake_ns);
        }
        atomic_fetch_add(&now_ns, NSEC_PER_MSEC);
        answer_all();
        return 0;
}

static void run_with_sleep(uint64_t owner_is_awake_ns) {
        n_turns = 0;
        owner_awake_ns = owner_is_awake_ns;
        reading_ns = 1000;
        start(sleep_once, 4, 1000);
        await_idle();
        reading_ns = 0;
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 1000);
}

static uint64_t n_slower_than(uint64_t ns) {
        const Histogram *latency = &counters.latency[DIRECTION_WRITE];
        uint64_t n = 0;

        for (unsigned i = histogram_bucket(ns); i < HISTOGRAM_N_BUCKETS; i++)
                n += latency->buckets[i];
        return n;
}

START_TEST(what_all_threads_sleep_through_is_no_time) {
        run_with_sleep(0);
        ck_assert_uint_le(engine_phase_running_ns(engine), NSEC_PER_SEC);
        ck_assert_uint_le(engine_awake_ns(engine), NSEC_PER_SEC);
        ck_assert_uint_eq(n_slower_than(NSEC_PER_SEC), 0);
        end();
}
END_TEST

START_TEST(a_thread_that_is_held_up_alone_has_the_time_counted) {
        run_with_sleep(SLEEP_NS);
        ck_assert_uint_ge(engine_phase_running_ns(engine), SLEEP_NS);
        ck_assert_uint_ge(engine_awake_ns(engine), SLEEP_NS);
        ck_assert_uint_eq(n_slower_than(NSEC_PER_SEC), 4);
        end();
}
END_TEST

static int break_ring(unsigned wait_nr, uint64_t timeout_ns) {
        return -EBADFD;
}

START_TEST(a_broken_ring_ends_the_phase_and_is_told) {
        start(break_ring, 4, 1000);
        await_idle();
        ck_assert_int_eq(engine_ring_error(engine), -EBADFD);
        ck_assert_int_eq(engine_start_phase(engine, 0), -EBADFD);
        end();
}
END_TEST

static int lack_memory_at_first(unsigned wait_nr, uint64_t timeout_ns) {
        if (n_turns++ < 3)
                return n_turns % 2 ? -EAGAIN : -EBUSY;
        answer_all();
        return 0;
}

START_TEST(a_kernel_short_of_memory_loses_nothing) {
        start(lack_memory_at_first, 4, 100);
        await_idle();
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 100);
        ck_assert_uint_eq(counters.errors, 0);
        ck_assert_int_eq(engine_ring_error(engine), 0);
        end();
}
END_TEST

static int answer_all_errors(unsigned wait_nr, uint64_t timeout_ns) {
        while (n_requests > 0) {
                answer(-(1000 + (int) n_seen++ % 50));
                atomic_fetch_add(&now_ns, 10);
        }
        return 0;
}

static int fail_the_third(unsigned wait_nr, uint64_t timeout_ns) {
        while (n_requests > 0)
                answer(++n_seen == 3 ? -ENODATA : (int32_t) requests[0].length);
        atomic_fetch_add(&now_ns, NSEC_PER_USEC);
        return 0;
}

static void run_failing(Direction direction) {
        n_seen = 0;
        ends_on_error[direction] = true;
        start(fail_the_third, 2, 10000);
        ends_on_error[direction] = false;
        await_idle();
}

START_TEST(the_first_error_ends_a_phase_that_does_not_continue) {
        run_failing(DIRECTION_WRITE);

        EngineFailure failure = engine_failure(engine);
        engine_errnos(engine, errnos);
        ck_assert_int_eq(failure.errnum, ENODATA);
        ck_assert_int_eq(failure.direction, DIRECTION_WRITE);
        ck_assert_uint_eq(failure.offset, errnos[0].first_offset);
        ck_assert_uint_eq(counters.errors, 1);
        ck_assert_uint_lt(counters.ios[DIRECTION_WRITE], 10); /* what was outstanding, and nothing more */

        phase.ends_on_error[DIRECTION_WRITE] = false;
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        await_idle();
        ck_assert_int_eq(engine_failure(engine).errnum, 0);
        end();
}
END_TEST

START_TEST(errors_of_the_other_direction_end_nothing) {
        run_failing(DIRECTION_READ);
        ck_assert_int_eq(engine_failure(engine).errnum, 0);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 9999);
        ck_assert_uint_eq(counters.errors, 1);
        end();
}
END_TEST

START_TEST(errors_of_too_many_kinds_count_as_the_last) {
        uint64_t n = 0;

        start(answer_all_errors, 50, 100);
        await_idle();
        ck_assert_uint_eq(counters.errors, 100);
        ck_assert_uint_eq(engine_errnos(engine, errnos), ENGINE_N_ERRNOS_MAX);
        for (unsigned i = 0; i < ENGINE_N_ERRNOS_MAX - 1; i++) {
                ck_assert_int_eq(errnos[i].errnum, 1000 + (int) i);
                ck_assert_uint_eq(errnos[i].count, 2);
                n += errnos[i].count;
        }
        ck_assert_int_eq(errnos[ENGINE_N_ERRNOS_MAX - 1].errnum, EIO);
        ck_assert_uint_eq(n + errnos[ENGINE_N_ERRNOS_MAX - 1].count, 100);
        end();
}
END_TEST

static atomic_bool hold_first;

/* The oldest request waits, the others are answered. */
static int answer_all_but_the_first(unsigned wait_nr, uint64_t timeout_ns) {
        while (n_requests > 1) {
                Request last = requests[--n_requests];
                answers[n_answers++] = (RingCompletion){ .slot = last.slot, .result = (int32_t) last.length };
        }
        if (!atomic_load(&hold_first))
                answer_all();
        return 0;
}

static Position await_bytes(uint64_t bytes) {
        Positions positions;

        do
                engine_positions(engine, &positions);
        while (positions.of[0].done_bytes < bytes);
        return positions.of[0];
}

static Position await_index(uint64_t index) {
        Positions positions;

        do
                engine_positions(engine, &positions);
        while (positions.of[0].next_index < index);
        return positions.of[0];
}

START_TEST(position_tells_what_has_completed_without_a_gap) {
        atomic_store(&hold_first, true);
        start(answer_all_but_the_first, 4, 12);
        Position position = await_bytes(11 * 4096);
        ck_assert_uint_eq(position.low_index, 0);
        ck_assert_uint_eq(position.next_index, 12);
        ck_assert_uint_eq(position.next_write, 12);
        ck_assert_uint_eq(position.done_bytes, 11 * 4096);

        atomic_store(&hold_first, false);
        await_idle();
        position = await_index(12);
        ck_assert_uint_eq(position.low_index, 12);
        ck_assert_uint_eq(position.next_index, 12);
        ck_assert_uint_eq(position.first_index, 0);
        end();
}
END_TEST

START_TEST(a_phase_goes_on_where_it_stood) {
        const Positions at = {
                .n = 1,
                .of[0] = { .first_index = 100, .low_index = 100, .next_index = 100, .done_bytes = 8 * 4096,
                           .settled_from = 3, .settled_to = 9 },
        };

        atomic_store(&hold_first, false);
        start(answer_all_but_the_first, 4, 12);
        await_idle();
        ck_assert_int_eq(engine_take_up_phase(engine, 0, &at, 5 * NSEC_PER_SEC), 0);
        await_idle();
        ck_assert_uint_ge(engine_phase_running_ns(engine), 5 * NSEC_PER_SEC);
        Position position = await_index(0);
        ck_assert_uint_eq(position.first_index, 100);
        ck_assert_uint_eq(position.next_index, 104); /* four were left */
        ck_assert_uint_eq(position.next_write, 16);  /* numbered over all phases */
        ck_assert_uint_eq(position.done_bytes, 12 * 4096);
        ck_assert_uint_eq(position.settled_to, 9);
        end();
}
END_TEST

/* What was outstanding at a kill is no part of what the limit allows: it is not recorded, and may not be there. */
START_TEST(a_limit_counts_what_had_completed_at_a_kill) {
        for (int of_ios = 0; of_ios < 2; of_ios++) {
                Positions at = { .n = 1 };

                atomic_store(&hold_first, true);
                start(answer_all_but_the_first, 4, 12);
                at.of[0] = await_bytes(11 * 4096);
                engine_counters(engine, &counters);
                ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 11);
                atomic_store(&hold_first, false);
                await_idle();

                if (of_ios) {
                        phase.limit_bytes = UINT64_MAX;
                        phase.limit_ios = 12;
                }
                pattern_take_up(&phase, false, &at.of[0]);
                ck_assert_int_eq(engine_take_up_phase(engine, 0, &at, 0), 0);
                await_idle();
                ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 1);
                end();
        }
}
END_TEST

/* A flush that is outstanding holds no place in the order. */
static int hold_flushes(unsigned wait_nr, uint64_t timeout_ns) {
        for (unsigned n = n_requests; n > 0; n--) {
                Request first = requests[0];

                if (!first.is_flush || !atomic_load(&hold_first)) {
                        answer((int32_t) first.length);
                        continue;
                }
                memmove(requests, requests + 1, (n_requests - 1) * sizeof(*requests));
                requests[n_requests - 1] = first;
        }
        return 0;
}

START_TEST(a_flush_that_is_outstanding_holds_no_place) {
        atomic_store(&hold_first, true);
        fsync_writes = 2;
        start(hold_flushes, 4, 3);
        Position position = await_bytes(3 * 4096);
        ck_assert_uint_eq(position.low_index, 3);
        atomic_store(&hold_first, false);
        await_idle();
        fsync_writes = 0;
        end();
}
END_TEST

/* As after a power cut: it had run for longer than the machine is up now. */
START_TEST(a_phase_goes_on_after_a_start_of_the_machine) {
        const Positions at = { .n = 1 };

        start(answer_all_but_the_first, 4, 12);
        await_idle();
        ck_assert_int_eq(engine_take_up_phase(engine, 0, &at, 10 * START_NS), 0);
        await_idle();
        ck_assert_uint_ge(engine_phase_running_ns(engine), 10 * START_NS);
        ck_assert_uint_le(engine_phase_running_ns(engine), 11 * START_NS);
        end();
}
END_TEST

static unsigned n_flushes, n_writes_between[8];
static int32_t flush_result;

static int answer_flushes(unsigned wait_nr, uint64_t timeout_ns) {
        while (n_requests > 0)
                if (requests[0].is_flush) {
                        answer(flush_result);
                        n_flushes++;
                } else {
                        n_writes_between[n_flushes]++;
                        answer((int32_t) requests[0].length);
                }
        atomic_fetch_add(&now_ns, 1000);
        return 0;
}

START_TEST(a_flush_comes_after_so_many_writes) {
        fsync_writes = 3;
        start(answer_flushes, 4, 10);
        await_idle();
        ck_assert_uint_eq(n_flushes, 3);
        for (unsigned i = 0; i < 3; i++)
                ck_assert_uint_eq(n_writes_between[i], 3);
        ck_assert_uint_eq(n_writes_between[3], 1);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 10);
        ck_assert_uint_eq(counters.errors, 0);
        end();
}
END_TEST

START_TEST(a_flush_that_fails_is_an_error) {
        fsync_writes = 3;
        flush_result = -EIO;
        start(answer_flushes, 4, 10);
        await_idle();
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 10);
        ck_assert_uint_eq(counters.errors, 3);
        ck_assert_uint_eq(engine_errnos(engine, errnos), 1);
        ck_assert_int_eq(errnos[0].errnum, EIO);
        end();
}
END_TEST

static unsigned n_waits;

/* A device that takes 10 us; the kernel comes back when it has answered or when the time is over. */
static int answer_after_ten_us(unsigned wait_nr, uint64_t timeout_ns) {
        n_waits++;
        atomic_fetch_add(&now_ns, n_requests > 0 ? MIN(timeout_ns, 10 * NSEC_PER_USEC) : timeout_ns);
        answer_all();
        return 0;
}

/* To the nanosecond on the average, and woken twice an I/O at most: when it is done, and when the next is due. */
START_TEST(a_rate_is_kept_by_sleeping_until_the_next_is_due) {
        enum { IOS = 101 };

        rate_iops = 1000;
        start(answer_after_ten_us, 8, IOS);
        await_idle();
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], IOS);
        ck_assert_uint_ge(engine_phase_running_ns(engine), (IOS - 1) * NSEC_PER_MSEC);
        ck_assert_uint_le(engine_phase_running_ns(engine), (IOS - 1) * NSEC_PER_MSEC + 100 * NSEC_PER_USEC);
        ck_assert_uint_le(n_waits, 2 * IOS);
        end();
}
END_TEST

START_TEST(a_rate_that_is_kept_holds_the_load_back) {
        rate_iops = 1000;
        start(answer_after_ten_us, 8, 101);
        await_idle();
        ck_assert_uint_ge(engine_held_ns(engine), 99 * NSEC_PER_MSEC);
        ck_assert_uint_le(engine_held_ns(engine), engine_phase_running_ns(engine));
        end();
}
END_TEST

/* Whoever is late is never early. */
START_TEST(a_rate_that_is_missed_holds_nothing_back) {
        rate_iops = 1000 * 1000;
        start(answer_after_ten_us, 1, 101);
        await_idle();
        ck_assert_uint_ge(engine_phase_running_ns(engine), 101 * 10 * NSEC_PER_USEC);
        ck_assert_uint_eq(engine_held_ns(engine), 0);
        end();
}
END_TEST

START_TEST(a_phase_without_a_load_is_held_back) {
        runtime_ns = NSEC_PER_SEC;
        start(answer_after_ten_us, 0, 1);
        await_idle();
        ck_assert_uint_ge(engine_held_ns(engine), NSEC_PER_SEC);
        end();
}
END_TEST

START_TEST(pauses_are_no_credit_for_the_rate) {
        enum { IOS = 50 };

        rate_iops = 1000;
        start(answer_after_ten_us, 8, IOS);
        engine_pause(engine);
        while (engine_state(engine) != ENGINE_PAUSED && engine_state(engine) != ENGINE_IDLE)
                await_change();
        atomic_fetch_add(&now_ns, 100 * NSEC_PER_SEC);
        engine_resume(engine);
        await_idle();
        ck_assert_uint_ge(engine_phase_running_ns(engine), (IOS - 1) * NSEC_PER_MSEC);
        ck_assert_uint_le(engine_phase_running_ns(engine), IOS * NSEC_PER_MSEC);
        end();
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("slice");
        TCase *c = tcase_create("slice");

        tcase_set_timeout(c, 60);
        tcase_add_test(c, try_again_is_the_same_io_and_counts_once);
        tcase_add_test(c, a_short_transfer_goes_on_where_it_ended);
        tcase_add_test(c, try_again_does_not_hold_up_a_stop);
        tcase_add_test(c, latency_is_from_submit_to_completion);
        tcase_add_test(c, running_time_begins_at_zero_in_each_phase);
        tcase_add_test(c, waits_for_several_only_while_they_come_soon);
        tcase_add_test(c, gaps_between_bursts_do_not_end_waiting_for_several);
        tcase_add_test(c, a_cliff_costs_one_short_wait);
        tcase_add_test(c, a_deep_queue_is_filled_in_steps);
        tcase_add_test(c, the_age_of_the_oldest);
        tcase_add_test(c, what_all_threads_sleep_through_is_no_time);
        tcase_add_test(c, a_thread_that_is_held_up_alone_has_the_time_counted);
        tcase_add_test(c, a_broken_ring_ends_the_phase_and_is_told);
        tcase_add_test(c, a_kernel_short_of_memory_loses_nothing);
        tcase_add_test(c, the_first_error_ends_a_phase_that_does_not_continue);
        tcase_add_test(c, errors_of_the_other_direction_end_nothing);
        tcase_add_test(c, errors_of_too_many_kinds_count_as_the_last);
        tcase_add_test(c, position_tells_what_has_completed_without_a_gap);
        tcase_add_test(c, a_phase_goes_on_where_it_stood);
        tcase_add_test(c, a_limit_counts_what_had_completed_at_a_kill);
        tcase_add_test(c, a_flush_that_is_outstanding_holds_no_place);
        tcase_add_test(c, a_phase_goes_on_after_a_start_of_the_machine);
        tcase_add_test(c, a_flush_comes_after_so_many_writes);
        tcase_add_test(c, a_flush_that_fails_is_an_error);
        tcase_add_test(c, a_rate_is_kept_by_sleeping_until_the_next_is_due);
        tcase_add_test(c, a_rate_that_is_kept_holds_the_load_back);
        tcase_add_test(c, a_rate_that_is_missed_holds_nothing_back);
        tcase_add_test(c, a_phase_without_a_load_is_held_back);
        tcase_add_test(c, pauses_are_no_credit_for_the_rate);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

/*
 * Files in memory stand in for devices that work; a pipe for one that hangs until the test lets it go, or answers in
 * pieces. What no file can be made to answer is in slice.c.
 */

#include "engine/engine.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "engine/pattern.h"
#include "engine/payload.h"
#include "unit.h"
#include "util/macro.h"
#include "util/time.h"

#define RUN_TAG UINT64_C(0xfeedfacecafebeef)

static PhasePlan phase_plan(RwMode rw, uint64_t region_bytes, uint64_t bs, uint32_t depth, uint64_t limit_bytes) {
        PhasePlan p = {
                .rw = rw,
                .read_percent = rw == RW_READ || rw == RW_RANDREAD ? 100 : rw == RW_RANDRW ? 50 : 0,
                .block_bytes = { bs, bs, bs },
                .iodepth = depth,
                .numjobs = 1,
                .workers = 1,
                .region_bytes = region_bytes,
                .n_blocks = { region_bytes / bs, region_bytes / bs, region_bytes / bs },
                .limit_bytes = limit_bytes,
                .seed = 1,
        };
        return p;
}

static Engine *engine;
static Counters counters, later;

static void start_engine(const Plan *plan, int fd, RingKind kind, uint64_t first_write) {
        _cleanup_error_ Error error = ERROR_INIT;
        int r = engine_new(&engine, &(EngineConfig){
                .plan = plan,
                .fd = fd,
                .ring_kind = kind,
                .run_tag = RUN_TAG,
                .first_write = first_write,
        }, &error);

        ck_assert_msg(r == 0, "%s", error_message(&error));
        ck_assert_int_eq(engine_state(engine), ENGINE_IDLE);
}

static void await_state(EngineState state) {
        struct pollfd event = { .fd = engine_event_fd(engine), .events = POLLIN };
        uint64_t n_events;

        while (engine_state(engine) != state) {
                ck_assert_int_eq(poll(&event, 1, -1), 1);
                ck_assert_int_eq(read(event.fd, &n_events, sizeof n_events), sizeof n_events);
        }
}

/* Runs all phases, one after another. */
static void run_phases(const Plan *plan) {
        for (unsigned i = 0; i < plan->n_phases; i++) {
                ck_assert_int_eq(engine_start_phase(engine, i), 0);
                await_state(ENGINE_IDLE);
        }
        engine_counters(engine, &counters);
}

static void assert_nothing_in_flight(void) {
        uint64_t oldest_ns;
        uint32_t n;

        engine_in_flight(engine, &n, &oldest_ns);
        ck_assert_uint_eq(n, 0);
        ck_assert_uint_eq(oldest_ns, 0);
}

static int memory_file(uint64_t n_bytes) {
        int fd = memfd_create("device", MFD_CLOEXEC | MFD_ALLOW_SEALING);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(ftruncate(fd, (off_t) n_bytes), 0);
        return fd;
}

START_TEST(what_is_counted_is_what_was_written) {
        enum { BLOCKS = 64, WRITES = 1000 };
        PhasePlan phase = phase_plan(RW_RANDWRITE, BLOCKS * 4096, 4096, 1, WRITES * 4096);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_close_ int fd = memory_file(phase.region_bytes);
        static _Alignas(64) uint8_t expected[BLOCKS * 4096], found[BLOCKS * 4096];
        Payload *payload;
        Pattern pattern;

        start_engine(&plan, fd, RING_URING, 0);
        run_phases(&plan);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], WRITES);
        ck_assert_uint_eq(counters.bytes[DIRECTION_WRITE], WRITES * 4096);
        ck_assert_uint_eq(histogram_count(&counters.latency[DIRECTION_WRITE]), WRITES);
        ck_assert_uint_eq(counters.ios[DIRECTION_READ], 0);
        ck_assert_uint_eq(counters.errors, 0);
        assert_nothing_in_flight();

        /* At a depth of one the order is the order of the indices: recompute what must be there. */
        ck_assert_int_eq(payload_new(&payload, RUN_TAG), 0);
        pattern_init(&pattern, &phase, 0);
        for (uint64_t i = 0; i < WRITES; i++) {
                PatternOp op = pattern_at(&pattern, i);
                payload_fill(payload, expected + op.offset, op.length, op.offset, i);
        }
        payload_free(payload);
        ck_assert_int_eq(pread(fd, found, sizeof found, 0), sizeof found);
        ck_assert_mem_eq(found, expected, sizeof found);
        engine = engine_free(engine);
}
END_TEST

START_TEST(a_number_of_ios_ends_the_phase) {
        enum { BLOCKS = 64, IOS = 1000 };
        PhasePlan phase = phase_plan(RW_RANDWRITE, BLOCKS * 4096, 4096, 7, UINT64_MAX);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_close_ int fd = memory_file(phase.region_bytes);
        Positions at = { .n = 1, .of[0] = { .next_index = 600, .low_index = 600, .done_bytes = 600 * 4096 } };

        phase.limit_ios = IOS;
        start_engine(&plan, fd, RING_URING, 0);
        run_phases(&plan);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], IOS);

        /* What had been issued before it was taken up counts too. */
        ck_assert_int_eq(engine_take_up_phase(engine, 0, &at, 0), 0);
        await_state(ENGINE_IDLE);
        engine_counters(engine, &counters);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], IOS - 600);
        engine = engine_free(engine);
}
END_TEST

/* They are done, and neither counted nor told as errors, at every depth. */
START_TEST(flushes_are_no_ios) {
        enum { BLOCKS = 64, IOS = 1000 };

        for (uint32_t depth = 1; depth <= 8; depth *= 8)
                for (uint32_t n = 1; n <= 7; n += 6) {
                        PhasePlan phase = phase_plan(RW_RANDRW, BLOCKS * 4096, 4096, depth, IOS * 4096);
                        Plan plan = { .n_phases = 1, .phases = &phase };
                        _cleanup_close_ int fd = memory_file(phase.region_bytes);

                        phase.fsync_writes = n;
                        start_engine(&plan, fd, RING_URING, 0);
                        run_phases(&plan);
                        ck_assert_uint_eq(counters.ios[DIRECTION_READ] + counters.ios[DIRECTION_WRITE], IOS);
                        ck_assert_uint_eq(counters.errors, 0);
                        assert_nothing_in_flight();
                        engine = engine_free(engine);
                }
}
END_TEST

static uint64_t cpu_ns(void) {
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t) t.tv_sec * NSEC_PER_SEC + (uint64_t) t.tv_nsec;
}

/* Never faster than said, and asleep until the next is due. */
START_TEST(a_rate_is_kept_without_burning_the_processor) {
        enum { IOS = 501, PER_SECOND = 1000 };
        PhasePlan phase = phase_plan(RW_RANDWRITE, 64 * 4096, 4096, 4, IOS * 4096);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_close_ int fd = memory_file(phase.region_bytes);

        phase.rate_iops[DIRECTION_WRITE] = PER_SECOND;
        start_engine(&plan, fd, RING_URING, 0);
        uint64_t cpu_before = cpu_ns();
        run_phases(&plan);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], IOS);
        ck_assert_uint_ge(engine_phase_running_ns(engine), (IOS - 1) * NSEC_PER_SEC / PER_SECOND);
        ck_assert_uint_lt(cpu_ns() - cpu_before, engine_phase_running_ns(engine) / 4);
        engine = engine_free(engine);
}
END_TEST

/* The rate counts from where the phase was taken up: what had been issued before is no debt, and no credit. */
START_TEST(a_rate_begins_anew_where_a_phase_is_taken_up) {
        enum { IOS = 101, PER_SECOND = 1000 };
        PhasePlan phase = phase_plan(RW_RANDWRITE, 64 * 4096, 4096, 4, 2 * IOS * 4096);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_close_ int fd = memory_file(phase.region_bytes);
        Positions at = { .n = 1, .of[0] = { .next_index = IOS, .low_index = IOS, .done_bytes = IOS * 4096 } };

        phase.rate_iops[DIRECTION_WRITE] = PER_SECOND;
        start_engine(&plan, fd, RING_URING, 0);
        ck_assert_int_eq(engine_take_up_phase(engine, 0, &at, 500 * NSEC_PER_SEC), 0);
        await_state(ENGINE_IDLE);
        engine_counters(engine, &counters);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], IOS);
        ck_assert_uint_ge(engine_phase_running_ns(engine), 500 * NSEC_PER_SEC + (IOS - 1) * NSEC_PER_SEC / PER_SECOND);
        engine = engine_free(engine);
}
END_TEST

START_TEST(every_depth_block_and_mix_adds_up) {
        static const uint64_t sizes[] = { 512, 4096, 131072, 3 * 4096 };
        static const uint32_t depths[] = { 1, 7, 64, 2048 };

        for (size_t b = 0; b < ELEMENTSOF(sizes); b++)
                for (size_t d = 0; d < ELEMENTSOF(depths); d++) {
                        uint64_t n = 3000, reads = 0;
                        PhasePlan phase = phase_plan(RW_RANDRW, 32 * MIB, sizes[b], depths[d], n * sizes[b]);
                        Plan plan = { .n_phases = 1, .phases = &phase };
                        _cleanup_close_ int fd = memory_file(phase.region_bytes);
                        Pattern pattern;

                        if (sizes[b] * depths[d] > 64 * MIB)
                                continue;
                        pattern_init(&pattern, &phase, 0);
                        for (uint64_t i = 0; i < n; i++)
                                reads += pattern_at(&pattern, i).direction == DIRECTION_READ;

                        start_engine(&plan, fd, RING_URING, 0);
                        run_phases(&plan);
                        ck_assert_uint_eq(counters.ios[DIRECTION_READ], reads);
                        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], n - reads);
                        ck_assert_uint_eq(counters.bytes[DIRECTION_READ] + counters.bytes[DIRECTION_WRITE],
                                          n * sizes[b]);
                        ck_assert_uint_eq(counters.errors, 0);
                        assert_nothing_in_flight();
                        engine = engine_free(engine);
                }
}
END_TEST

START_TEST(writes_are_numbered_over_all_phases) {
        PhasePlan phases[] = {
                phase_plan(RW_WRITE, 8 * 4096, 4096, 4, 8 * 4096),
                phase_plan(RW_READ, 8 * 4096, 4096, 4, 8 * 4096),
                phase_plan(RW_WRITE, 4 * 4096, 4096, 2, 4 * 4096),
        };
        Plan plan = { .n_phases = ELEMENTSOF(phases), .phases = phases };
        _cleanup_close_ int fd = memory_file(8 * 4096);

        start_engine(&plan, fd, RING_URING, 1000);
        run_phases(&plan);
        for (uint64_t block = 0; block < 8; block++) {
                uint8_t sector[PAYLOAD_SECTOR];
                PayloadStamp stamp;

                ck_assert_int_eq(pread(fd, sector, sizeof sector, (off_t) block * 4096), sizeof sector);
                payload_read_stamp(sector, &stamp);
                ck_assert(stamp.run_tag == RUN_TAG);
                ck_assert_uint_eq(stamp.sector, block * 8);
                ck_assert_uint_eq(stamp.index, block < 4 ? 1008 + block : 1000 + block);
        }
        engine = engine_free(engine);
}
END_TEST

START_TEST(counters_begin_at_zero_in_each_phase) {
        PhasePlan phases[] = {
                phase_plan(RW_RANDWRITE, MIB, 4096, 4, 100 * 4096),
                phase_plan(RW_RANDREAD, MIB, 4096, 4, 10 * 4096),
        };
        Plan plan = { .n_phases = ELEMENTSOF(phases), .phases = phases };
        _cleanup_close_ int fd = memory_file(MIB);

        start_engine(&plan, fd, RING_URING, 0);
        run_phases(&plan);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 0);
        ck_assert_uint_eq(counters.ios[DIRECTION_READ], 10);
        ck_assert_uint_eq(histogram_count(&counters.latency[DIRECTION_READ]), 10);
        ck_assert_int_eq(engine_start_phase(engine, 2), -EINVAL);
        engine = engine_free(engine);
}
END_TEST

START_TEST(runtime_ends_the_phase) {
        PhasePlan phase = phase_plan(RW_RANDWRITE, MIB, 4096, 16, UINT64_MAX);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_close_ int fd = memory_file(MIB);

        phase.runtime_ns = 20 * NSEC_PER_MSEC;
        start_engine(&plan, fd, RING_URING, 0);
        run_phases(&plan);
        ck_assert_uint_ge(engine_phase_running_ns(engine), phase.runtime_ns);
        ck_assert_uint_gt(counters.ios[DIRECTION_WRITE], 0);
        assert_nothing_in_flight();
        engine = engine_free(engine);
}
END_TEST

/* Each snapshot of a running phase is one of whole I/Os, and none is lost. */
START_TEST(snapshots_are_consistent) {
        PhasePlan phase = phase_plan(RW_RANDRW, GIB, 512, 32, UINT64_MAX);
        Plan plan = { .n_phases = 1, .phases = &phase };
        uint64_t before = 0;

        start_engine(&plan, -EBADF, RING_NOOP, 0);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        ck_assert_int_eq(engine_start_phase(engine, 0), -EBUSY);
        for (unsigned i = 0; i < 300; i++) {
                engine_counters(engine, &counters);
                for (Direction d = DIRECTION_READ; d <= DIRECTION_WRITE; d++) {
                        ck_assert_uint_eq(counters.bytes[d], counters.ios[d] * 512);
                        ck_assert_uint_eq(histogram_count(&counters.latency[d]), counters.ios[d]);
                }
                ck_assert_uint_ge(counters.ios[DIRECTION_READ] + counters.ios[DIRECTION_WRITE], before);
                before = counters.ios[DIRECTION_READ] + counters.ios[DIRECTION_WRITE];
        }
        engine_stop_phase(engine);
        await_state(ENGINE_IDLE);
        assert_nothing_in_flight();
        engine = engine_free(engine);
}
END_TEST

START_TEST(pause_stands_still_and_resume_goes_on) {
        PhasePlan phase = phase_plan(RW_RANDWRITE, MIB, 4096, 8, UINT64_MAX);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_close_ int fd = memory_file(MIB);

        start_engine(&plan, fd, RING_URING, 0);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        for (unsigned i = 0; i < 20; i++) {
                engine_pause(engine);
                await_state(ENGINE_PAUSED);
                assert_nothing_in_flight();

                uint64_t running_ns = engine_phase_running_ns(engine);
                engine_counters(engine, &counters);
                for (uint64_t t = time_monotonic_ns(); time_monotonic_ns() < t + NSEC_PER_MSEC;)
                        ;
                engine_counters(engine, &later);
                ck_assert_mem_eq(&counters, &later, sizeof counters);
                ck_assert_uint_eq(engine_phase_running_ns(engine), running_ns);

                engine_resume(engine);
                await_state(ENGINE_RUNNING);
                do
                        engine_counters(engine, &later);
                while (later.ios[DIRECTION_WRITE] == counters.ios[DIRECTION_WRITE]);
                ck_assert_uint_gt(engine_phase_running_ns(engine), running_ns);
        }

        engine_pause(engine);
        await_state(ENGINE_PAUSED);
        engine_stop_phase(engine);
        await_state(ENGINE_IDLE);

        /* What belongs to a phase that is over changes nothing. */
        engine_pause(engine);
        engine_resume(engine);
        engine_stop_phase(engine);
        ck_assert_int_eq(engine_state(engine), ENGINE_IDLE);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        ck_assert_int_eq(engine_state(engine), ENGINE_RUNNING);
        engine = engine_free(engine);
}
END_TEST

START_TEST(pause_is_no_running_time) {
        PhasePlan phase = phase_plan(RW_RANDWRITE, MIB, 4096, 8, UINT64_MAX);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_close_ int fd = memory_file(MIB);
        uint64_t paused_ns, paused_at;

        phase.runtime_ns = 100 * NSEC_PER_MSEC;
        start_engine(&plan, fd, RING_URING, 0);

        uint64_t started_at = time_monotonic_ns();
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        engine_pause(engine);
        await_state(ENGINE_PAUSED);
        paused_at = time_monotonic_ns();
        while (time_monotonic_ns() < paused_at + 2 * phase.runtime_ns)
                ;
        paused_ns = time_monotonic_ns() - paused_at;
        ck_assert_int_eq(engine_state(engine), ENGINE_PAUSED);
        engine_resume(engine);
        await_state(ENGINE_IDLE);
        ck_assert_uint_ge(time_monotonic_ns() - started_at, paused_ns + phase.runtime_ns);
        ck_assert_uint_ge(engine_phase_running_ns(engine), phase.runtime_ns);
        ck_assert_uint_le(engine_phase_running_ns(engine), time_monotonic_ns() - started_at - paused_ns);
        engine = engine_free(engine);
}
END_TEST

static int device_fds[2]; /* a pipe: [0] is the device, [1] lets it go on */

static void start_pipe(const Plan *plan) {
        ck_assert_int_eq(pipe2(device_fds, O_CLOEXEC), 0);
        start_engine(plan, device_fds[0], RING_URING, 0);
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
}

static void feed_pipe(size_t n) {
        uint8_t bytes[4096] = {};

        ck_assert_int_eq(write(device_fds[1], bytes, n), (ssize_t) n);
}

static void end_pipe(void) {
        engine = engine_free(engine);
        close(device_fds[0]);
        close(device_fds[1]);
}

static uint64_t await_ios(uint64_t n) {
        do
                engine_counters(engine, &counters);
        while (counters.ios[DIRECTION_READ] < n);
        return counters.ios[DIRECTION_READ];
}

static uint64_t await_age(uint64_t ns) {
        uint64_t oldest_ns;
        uint32_t n;

        do {
                engine_in_flight(engine, &n, &oldest_ns);
                ck_assert_uint_eq(engine_state(engine), ENGINE_RUNNING);
        } while (oldest_ns < ns);
        ck_assert_uint_eq(n, 1);
        return oldest_ns;
}

START_TEST(a_hung_device_tells_its_oldest_io) {
        PhasePlan phase = phase_plan(RW_RANDREAD, GIB, 512, 1, 2 * 512);
        Plan plan = { .n_phases = 1, .phases = &phase };
        uint64_t ns = 0;

        start_pipe(&plan);
        uint64_t age = await_age(30 * NSEC_PER_MSEC);
        engine_counters(engine, &counters);
        ck_assert_uint_eq(counters.ios[DIRECTION_READ], 0);

        feed_pipe(512);
        ck_assert_uint_eq(await_ios(1), 1);
        ck_assert_int_eq(histogram_max(&counters.latency[DIRECTION_READ], &ns), 0);
        ck_assert_uint_ge(ns, age - age / 64);
        feed_pipe(512);
        await_state(ENGINE_IDLE);
        end_pipe();
}
END_TEST

START_TEST(commands_are_noticed_while_the_device_hangs) {
        PhasePlan phase = phase_plan(RW_RANDREAD, GIB, 512, 1, UINT64_MAX);
        Plan plan = { .n_phases = 1, .phases = &phase };

        start_pipe(&plan);
        await_age(1);
        engine_pause(engine);
        await_state(ENGINE_DRAINING);
        engine_resume(engine);
        await_state(ENGINE_RUNNING);
        engine_pause(engine);
        await_state(ENGINE_DRAINING);
        feed_pipe(512);
        await_state(ENGINE_PAUSED);
        engine_resume(engine);
        await_state(ENGINE_RUNNING);
        await_age(1);
        engine_stop_phase(engine);
        await_state(ENGINE_DRAINING);
        feed_pipe(512);
        await_state(ENGINE_IDLE);
        ck_assert_uint_eq(await_ios(2), 2);
        assert_nothing_in_flight();
        end_pipe();
}
END_TEST

START_TEST(runtime_ends_while_the_device_hangs) {
        PhasePlan phase = phase_plan(RW_RANDREAD, GIB, 512, 1, UINT64_MAX);
        Plan plan = { .n_phases = 1, .phases = &phase };

        phase.runtime_ns = 10 * NSEC_PER_MSEC;
        start_pipe(&plan);
        await_state(ENGINE_DRAINING);
        feed_pipe(512);
        await_state(ENGINE_IDLE);
        ck_assert_uint_eq(await_ios(1), 1);
        end_pipe();
}
END_TEST

START_TEST(a_transfer_in_pieces_counts_once) {
        PhasePlan phase = phase_plan(RW_RANDREAD, GIB, 4096, 1, 2 * 4096);
        Plan plan = { .n_phases = 1, .phases = &phase };

        start_pipe(&plan);
        for (unsigned i = 0; i < 8; i++) {
                int n_unread;

                feed_pipe(1024);
                /* Only what has been taken makes the next one a piece of its own. */
                do
                        ck_assert_int_eq(ioctl(device_fds[0], FIONREAD, &n_unread), 0);
                while (n_unread > 0);
        }
        await_state(ENGINE_IDLE);
        ck_assert_uint_eq(await_ios(2), 2);
        ck_assert_uint_eq(counters.bytes[DIRECTION_READ], 2 * 4096);
        ck_assert_uint_eq(counters.errors, 0);
        end_pipe();
}
END_TEST

START_TEST(errors_are_counted_and_the_phase_goes_on) {
        enum { N = 70 };
        PhasePlan phase = phase_plan(RW_RANDWRITE, MIB, 4096, 1, N * 4096);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_close_ int fd = memory_file(MIB);
        EngineErrno errnos[ENGINE_N_ERRNOS_MAX];
        int64_t before = time_realtime_ns();
        Pattern pattern;

        ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
        start_engine(&plan, fd, RING_URING, 0);
        run_phases(&plan);
        run_phases(&plan);

        pattern_init(&pattern, &phase, 0);
        ck_assert_uint_eq(counters.errors, N);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 0);
        ck_assert_uint_eq(counters.bytes[DIRECTION_WRITE], 0);
        ck_assert_uint_eq(engine_errnos(engine, errnos), 1);
        ck_assert_int_eq(errnos[0].errnum, EPERM);
        ck_assert_uint_eq(errnos[0].count, 2 * N);
        ck_assert_uint_eq(errnos[0].first_offset, pattern_at(&pattern, 0).offset);
        ck_assert_uint_eq(errnos[0].last_offset, pattern_at(&pattern, N - 1).offset);
        ck_assert(errnos[0].first_at_ns >= before && errnos[0].first_at_ns <= errnos[0].last_at_ns);
        ck_assert(errnos[0].last_at_ns <= time_realtime_ns());

        /* After 64 in a row it waits 10 ms a turn: a dead device costs little. */
        ck_assert_uint_ge(engine_phase_running_ns(engine), (N - 64 - 1) * 10 * NSEC_PER_MSEC);
        engine = engine_free(engine);
}
END_TEST

START_TEST(the_device_ends_early) {
        PhasePlan phase = phase_plan(RW_READ, 4 * 4096, 4096, 1, 4 * 4096);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_close_ int fd = memory_file(2 * 4096 + 1024);
        EngineErrno errnos[ENGINE_N_ERRNOS_MAX];

        start_engine(&plan, fd, RING_URING, 0);
        run_phases(&plan);
        ck_assert_uint_eq(counters.ios[DIRECTION_READ], 2);
        ck_assert_uint_eq(counters.errors, 2);
        ck_assert_uint_eq(engine_errnos(engine, errnos), 1);
        ck_assert_int_eq(errnos[0].errnum, EIO);
        ck_assert_uint_eq(errnos[0].first_offset, 2 * 4096 + 1024);
        ck_assert_uint_eq(errnos[0].last_offset, 3 * 4096);
        engine = engine_free(engine);
}
END_TEST

START_TEST(the_deepest_job_runs) {
        PhasePlan phase = phase_plan(RW_RANDWRITE, 64 * MIB, 512, 256, 50000 * 512);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_close_ int fd = memory_file(phase.region_bytes);

        phase.numjobs = JOB_OUTSTANDING_MAX / 256;
        start_engine(&plan, fd, RING_URING, 0);
        run_phases(&plan);
        ck_assert_uint_eq(counters.ios[DIRECTION_WRITE], 50000);
        engine = engine_free(engine);
}
END_TEST

START_TEST(more_memory_than_there_is_is_refused) {
        PhasePlan phase = phase_plan(RW_WRITE, TIB, 256 * MIB, JOB_OUTSTANDING_MAX, UINT64_MAX);
        Plan plan = { .n_phases = 1, .phases = &phase };
        _cleanup_error_ Error error = ERROR_INIT;
        int r = engine_new(&engine, &(EngineConfig){ .plan = &plan, .ring_kind = RING_NOOP }, &error);

        ck_assert_int_eq(r, -ENOMEM);
        ck_assert_int_eq(error.kind, ERROR_FAILED);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "4 TiB"));
        ck_assert_ptr_null(engine);
}
END_TEST

static uint64_t blocked_signals(const char *tid) {
        char path[64], line[256];
        uint64_t mask = 0;

        snprintf(path, sizeof path, "/proc/self/task/%s/status", tid);
        _cleanup_fclose_ FILE *f = fopen(path, "re");
        ck_assert_ptr_nonnull(f);
        while (fgets(line, sizeof line, f))
                if (sscanf(line, "SigBlk: %" SCNx64, &mask) == 1)
                        return mask;
        ck_abort_msg("no SigBlk in %s", path);
}

START_TEST(the_ring_thread_takes_no_signals) {
        PhasePlan phase = phase_plan(RW_RANDWRITE, MIB, 4096, 1, 4096);
        Plan plan = { .n_phases = 1, .phases = &phase };
        char own[16];
        unsigned n = 0;

        snprintf(own, sizeof own, "%d", gettid());
        uint64_t before = blocked_signals(own);
        start_engine(&plan, -EBADF, RING_NOOP, 0);
        ck_assert(blocked_signals(own) == before);

        DIR *d = opendir("/proc/self/task");
        ck_assert_ptr_nonnull(d);
        for (struct dirent *e; (e = readdir(d));) {
                if (e->d_name[0] == '.' || strcmp(e->d_name, own) == 0)
                        continue;
                /* All but KILL, STOP and the two that the C library keeps for itself (setuid in all threads). */
                ck_assert(blocked_signals(e->d_name) == ~(1ULL << 8 | 1ULL << 18 | 3ULL << 31));
                n++;
        }
        closedir(d);
        ck_assert_uint_eq(n, 1);
        engine = engine_free(engine);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__ /* which allocates and makes system calls of its own */

/* Kills the process at any system call that engine.h does not name, in all threads. */
static void allow_only_what_the_header_names(void) {
        static const unsigned allowed[] = {
                __NR_io_uring_enter, __NR_read, __NR_write, __NR_futex, __NR_clock_nanosleep, __NR_clock_gettime,
                __NR_io_uring_register, __NR_close, __NR_munmap, __NR_madvise, __NR_exit, __NR_rt_sigprocmask,
                __NR_rseq, /* and for the test itself: */ __NR_poll, __NR_exit_group,
        };
        struct sock_filter code[ELEMENTSOF(allowed) + 3];
        unsigned n = 0;

        code[n++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
        for (unsigned i = 0; i < ELEMENTSOF(allowed); i++)
                code[n++] = (struct sock_filter)
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], (uint8_t) (ELEMENTSOF(allowed) - i), 0);
        code[n++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
        code[n++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

        ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        ck_assert_int_eq(syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                                 &(struct sock_fprog){ .len = (unsigned short) n, .filter = code }), 0);
}

START_TEST(after_setup_it_calls_only_what_the_header_names) {
        PhasePlan phases[] = {
                phase_plan(RW_RANDRW, MIB, 4096, 16, UINT64_MAX),
                phase_plan(RW_RANDWRITE, 2 * MIB, 4096, 1, 700 * 4096), /* some beyond the file's sealed end */
        };
        Plan plan = { .n_phases = ELEMENTSOF(phases), .phases = phases };
        _cleanup_close_ int fd = memory_file(MIB);

        ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
        start_engine(&plan, fd, RING_URING, 0);
        allow_only_what_the_header_names();
        ck_assert_int_eq(engine_start_phase(engine, 0), 0);
        engine_pause(engine);
        await_state(ENGINE_PAUSED);
        engine_resume(engine);
        await_state(ENGINE_RUNNING);
        engine_counters(engine, &counters);
        engine_stop_phase(engine);
        await_state(ENGINE_IDLE);
        ck_assert_int_eq(engine_start_phase(engine, 1), 0);
        await_state(ENGINE_IDLE);
        engine_counters(engine, &counters);
        ck_assert_uint_gt(counters.errors, 0);
        engine = engine_free(engine);

        /* Now: what check does after a test is not on the list. */
        _exit(EXIT_SUCCESS);
}
END_TEST

/* Stands before the C library's, to see whether any thread but the first allocates. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static _Atomic bool is_watching;
static _Atomic unsigned n_allocations;

static void watch_allocation(void) {
        if (is_watching && gettid() != getpid())
                n_allocations++;
}

void *malloc(size_t n) {
        watch_allocation();
        return __libc_malloc(n);
}

void *calloc(size_t n, size_t size) {
        watch_allocation();
        return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n) {
        watch_allocation();
        return __libc_realloc(p, n);
}

static void *allocate(void *userdata) {
        void *volatile p = malloc(1);
        free(p);
        return NULL;
}

START_TEST(the_ring_thread_allocates_nothing) {
        PhasePlan phases[] = {
                phase_plan(RW_RANDRW, MIB, 4096, 64, 20000 * 4096),
                phase_plan(RW_RANDRW, 2 * MIB, 4096, 2, 100 * 4096), /* half of it fails */
        };
        Plan plan = { .n_phases = ELEMENTSOF(phases), .phases = phases };
        _cleanup_close_ int fd = memory_file(MIB);
        pthread_t thread;

        start_engine(&plan, fd, RING_URING, 0);
        is_watching = true;
        run_phases(&plan);
        ck_assert_uint_eq(n_allocations, 0);

        ck_assert_int_eq(pthread_create(&thread, NULL, allocate, NULL), 0);
        pthread_join(thread, NULL);
        ck_assert_uint_eq(n_allocations, 1);
        is_watching = false;
        engine = engine_free(engine);
}
END_TEST

#endif

static Suite *make_suite(void) {
        Suite *s = suite_create("engine");
        TCase *c = tcase_create("engine");

        tcase_set_timeout(c, 60);
        tcase_add_test(c, what_is_counted_is_what_was_written);
        tcase_add_test(c, a_number_of_ios_ends_the_phase);
        tcase_add_test(c, flushes_are_no_ios);
        tcase_add_test(c, a_rate_is_kept_without_burning_the_processor);
        tcase_add_test(c, a_rate_begins_anew_where_a_phase_is_taken_up);
        tcase_add_test(c, every_depth_block_and_mix_adds_up);
        tcase_add_test(c, writes_are_numbered_over_all_phases);
        tcase_add_test(c, counters_begin_at_zero_in_each_phase);
        tcase_add_test(c, runtime_ends_the_phase);
        tcase_add_test(c, snapshots_are_consistent);
        tcase_add_test(c, pause_stands_still_and_resume_goes_on);
        tcase_add_test(c, pause_is_no_running_time);
        tcase_add_test(c, a_hung_device_tells_its_oldest_io);
        tcase_add_test(c, commands_are_noticed_while_the_device_hangs);
        tcase_add_test(c, runtime_ends_while_the_device_hangs);
        tcase_add_test(c, a_transfer_in_pieces_counts_once);
        tcase_add_test(c, errors_are_counted_and_the_phase_goes_on);
        tcase_add_test(c, the_device_ends_early);
        tcase_add_test(c, the_deepest_job_runs);
        tcase_add_test(c, more_memory_than_there_is_is_refused);
        tcase_add_test(c, the_ring_thread_takes_no_signals);
#ifndef __SANITIZE_ADDRESS__
        tcase_add_exit_test(c, after_setup_it_calls_only_what_the_header_names, EXIT_SUCCESS);
        tcase_add_test(c, the_ring_thread_allocates_nothing);
#endif
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

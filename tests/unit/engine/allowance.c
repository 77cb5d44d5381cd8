/* SPDX-License-Identifier: MIT */

/* What a run may write, on files in memory: an engine's whole life is one run's, or what is left of it. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/engine.h"
#include "unit.h"
#include "util/macro.h"

static Engine *engine;
static Counters counters;
static int fd;

static void setup(void) {
        fd = memfd_create("device", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(ftruncate(fd, MIB), 0);
}

static void teardown(void) {
        engine = engine_free(engine);
        fd_close(fd);
}

static PhasePlan phase_plan(RwMode rw, uint64_t bs, uint64_t limit_bytes) {
        return (PhasePlan){
                .rw = rw,
                .read_percent = rw == RW_RANDRW ? 50 : 0,
                .block_bytes = { bs, bs, bs },
                .iodepth = 8,
                .numjobs = 1,
                .workers = 1,
                .region_bytes = MIB,
                .n_blocks = { MIB / bs, MIB / bs, MIB / bs },
                .limit_bytes = limit_bytes,
                .seed = 1,
        };
}

static void start_engine(const Plan *plan, uint64_t written_bytes) {
        const EngineConfig config = { .plan = plan, .fd = fd, .run_tag = 1, .written_bytes = written_bytes };

        engine = engine_free(engine);
        ck_assert_int_eq(engine_new(&engine, &config, NULL), 0);
}

static void run_phase(unsigned index) {
        ck_assert_int_eq(engine_start_phase(engine, index), 0);
        while (engine_state(engine) != ENGINE_IDLE) {
                struct pollfd event = { .fd = engine_event_fd(engine), .events = POLLIN };
                uint64_t n_events;

                ck_assert_int_eq(poll(&event, 1, -1), 1);
                ck_assert_int_eq(read(event.fd, &n_events, sizeof n_events), sizeof n_events);
        }
        engine_counters(engine, &counters);
}

START_TEST(no_more_is_written_than_may_be) {
        PhasePlan phases[] = { phase_plan(RW_RANDRW, 4096, 200 * 4096), phase_plan(RW_RANDWRITE, 16384, UINT64_MAX) };
        const Plan plan = { .n_phases = 2, .phases = phases, .stop_written_max = MIB + 4096 + 1 };
        uint64_t first, n_bytes = 42;

        start_engine(&plan, 0);
        run_phase(0);
        first = counters.bytes[DIRECTION_WRITE];
        ck_assert_uint_eq(counters.bytes[DIRECTION_READ] + first, 200 * 4096);
        ck_assert(!engine_has_written_all(engine, &n_bytes));
        ck_assert_uint_eq(n_bytes, 42);

        run_phase(1); /* which nothing else would end */
        ck_assert(engine_has_written_all(engine, &n_bytes));
        ck_assert_uint_eq(n_bytes, first + counters.bytes[DIRECTION_WRITE]);
        ck_assert_uint_le(n_bytes, plan.stop_written_max);
        ck_assert_uint_gt(n_bytes + 16384, plan.stop_written_max);
}
END_TEST

START_TEST(what_was_written_before_counts) {
        PhasePlan phase = phase_plan(RW_RANDWRITE, 4096, UINT64_MAX);
        const Plan plan = { .n_phases = 1, .phases = &phase, .stop_written_max = 100 * 4096 };
        uint64_t n_bytes;

        start_engine(&plan, 97 * 4096);
        run_phase(0);
        ck_assert_uint_eq(counters.bytes[DIRECTION_WRITE], 3 * 4096);
        ck_assert(engine_has_written_all(engine, &n_bytes));
        ck_assert_uint_eq(n_bytes, 100 * 4096);

        start_engine(&plan, 101 * 4096);
        ck_assert(engine_has_written_all(engine, &n_bytes));
}
END_TEST

START_TEST(a_write_that_fails_is_not_written) {
        PhasePlan phase = phase_plan(RW_RANDWRITE, 4096, 20 * 4096);
        const Plan plan = { .n_phases = 1, .phases = &phase, .stop_written_max = 8 * 4096 };
        uint64_t n_bytes;

        ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
        start_engine(&plan, 0);
        run_phase(0);
        ck_assert_uint_eq(counters.errors, 20);
        ck_assert(!engine_has_written_all(engine, &n_bytes));
}
END_TEST

START_TEST(without_a_limit_all_is_written) {
        PhasePlan phase = phase_plan(RW_RANDWRITE, 4096, 1000 * 4096);
        const Plan plan = { .n_phases = 1, .phases = &phase };
        uint64_t n_bytes;

        start_engine(&plan, UINT64_MAX);
        run_phase(0);
        ck_assert_uint_eq(counters.bytes[DIRECTION_WRITE], 1000 * 4096);
        ck_assert(!engine_has_written_all(engine, &n_bytes));
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("allowance");
        TCase *tc = tcase_create("allowance");

        tcase_set_timeout(tc, 60);
        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_test(tc, no_more_is_written_than_may_be);
        tcase_add_test(tc, what_was_written_before_counts);
        tcase_add_test(tc, a_write_that_fails_is_not_written);
        tcase_add_test(tc, without_a_limit_all_is_written);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

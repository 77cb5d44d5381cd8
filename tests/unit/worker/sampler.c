/* SPDX-License-Identifier: MIT */

#include <math.h>
#include <string.h>

#include "unit.h"
#include "util/macro.h"
#include "worker/sampler.h"

#define MS NSEC_PER_MSEC
#define START (UINT64_C(1000) * NSEC_PER_SEC)

/* An engine that has counted what the test says. */
static Counters counters;
static uint32_t in_flight;
static uint64_t oldest_ns;

/* And does so many writes between any two looks at it. */
static uint64_t n_between_looks;
static Positions positions;

static void go_on(void) {
        counters.ios[DIRECTION_WRITE] += n_between_looks;
        positions.of[0].low_index += n_between_looks;
}

void engine_counters(Engine *engine, Counters *ret) {
        *ret = counters;
        go_on();
}

void engine_in_flight(const Engine *engine, uint32_t *ret_n, uint64_t *ret_oldest_ns) {
        *ret_n = in_flight;
        *ret_oldest_ns = oldest_ns;
}

static uint64_t awake_ns;

static uint64_t ring_cpu_ns, held_ns;

uint64_t engine_cpu_ns(Engine *engine) {
        return ring_cpu_ns;
}

uint64_t engine_held_ns(Engine *engine) {
        return held_ns;
}

uint64_t engine_awake_ns(Engine *engine) {
        return awake_ns;
}

void engine_positions(Engine *engine, Positions *ret) {
        *ret = positions;
        go_on();
}

static Sampler *sampler;

static void setup(void) {
        memset(&counters, 0, sizeof(counters));
        positions = (Positions){ .n = 1 };
        n_between_looks = 0;
        in_flight = 0;
        oldest_ns = 0;
        awake_ns = 7 * NSEC_PER_SEC; /* of earlier phases */
        sampler = malloc(sizeof(*sampler));
        ck_assert_ptr_nonnull(sampler);
        sampler_init(sampler, NULL, 100 * MS);
}

static void teardown(void) {
        sampler_done(sampler);
        free(sampler);
}

static void complete_writes(uint64_t n) {
        counters.ios[DIRECTION_WRITE] += n;
        counters.bytes[DIRECTION_WRITE] += n * 4096;
        counters.latency[DIRECTION_WRITE].buckets[7] += n;
}

static void assert_sample(const Sample *sample, uint64_t seq, uint64_t duration_ms, uint64_t n_writes) {
        ck_assert_ptr_nonnull(sample);
        ck_assert_uint_eq(sample->seq, seq);
        ck_assert_uint_eq(sample->duration_ns, duration_ms * MS);
        ck_assert_uint_eq(sample->ios[DIRECTION_WRITE], n_writes);
        ck_assert_uint_eq(sample->bytes[DIRECTION_WRITE], n_writes * 4096);
        ck_assert_uint_eq(histogram_count(&sample->latency[DIRECTION_WRITE]), n_writes);
}

START_TEST(test_running_time_goes_on_within_a_sample) {
        sampler_begin_phase(sampler, 0, 0, START);
        sampler_take(sampler, START + 100 * MS);
        ck_assert_uint_eq(sampler_elapsed_ns(sampler, START + 130 * MS), 130 * MS);
        sampler_suspend(sampler);
        ck_assert_uint_eq(sampler_elapsed_ns(sampler, START + 900 * MS), 100 * MS);
}
END_TEST

START_TEST(test_numbers_and_times_go_on) {
        positions.of[0] = (Position){ .low_index = 5, .next_index = 7 };
        sampler_take_up(sampler, 41, 930 * MS, 430 * MS);
        sampler_begin_phase(sampler, 1, 0, START);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 70 * MS); /* on the phase's own grid */
        const Sample *sample = sampler_take(sampler, START + 70 * MS);
        assert_sample(sample, 41, 70, 0);
        ck_assert_uint_eq(sample->elapsed_ns, 1000 * MS);
        ck_assert_uint_eq(sample->positions.of[0].low_index, 5);
        ck_assert_uint_eq(sample->positions.of[0].next_index, 7);
        ck_assert_uint_gt(sample->boot_ns, 0);

        /* The next phase has not been interrupted. */
        sampler_begin_phase(sampler, 2, 0, START + 70 * MS);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 170 * MS);
}
END_TEST

START_TEST(test_counts_and_durations) {
        sampler_begin_phase(sampler, 3, 0, START);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 100 * MS);

        /* What completed before the first look belongs to the first sample. */
        complete_writes(5);
        in_flight = 7;
        oldest_ns = 9;
        const Sample *sample = sampler_take(sampler, START + 100 * MS);
        assert_sample(sample, 0, 100, 5);
        ck_assert_uint_eq(sample->phase, 3);
        ck_assert_uint_eq(sample->elapsed_ns, 100 * MS);
        ck_assert_uint_eq(sample->in_flight, 7);
        ck_assert_uint_eq(sample->oldest_ns, 9);
        ck_assert(isnan(sample->temperature_c));

        complete_writes(2);
        assert_sample(sampler_take(sampler, START + 200 * MS), 1, 100, 2);
}
END_TEST

/* After 30 ms of its sample the process stands for five seconds. */
static const Sample *take_after_sleep(uint64_t engine_awake, uint64_t owner_overslept) {
        sampler_begin_phase(sampler, 0, 0, START);
        complete_writes(3);
        awake_ns += engine_awake;
        sampler_overslept(sampler, owner_overslept);
        return sampler_take(sampler, START + 5030 * MS);
}

START_TEST(test_what_nobody_was_awake_for_is_no_running_time) {
        assert_sample(take_after_sleep(130 * MS, 5010 * MS), 0, 130, 3);
        ck_assert_uint_eq(sampler->asleep_ns, 4900 * MS);
        ck_assert_uint_eq(sampler->elapsed_ns, 130 * MS);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 5100 * MS);

        /* Told once. */
        awake_ns += 70 * MS;
        assert_sample(sampler_take(sampler, START + 5100 * MS), 1, 70, 0);
        ck_assert_uint_eq(sampler->asleep_ns, 0);
}
END_TEST

START_TEST(test_what_completed_took_some_time) {
        assert_sample(take_after_sleep(1, 5010 * MS), 0, 100, 3);
        ck_assert_uint_eq(sampler->asleep_ns, 4930 * MS);
}
END_TEST

START_TEST(test_a_late_tick_makes_a_longer_sample) {
        assert_sample(take_after_sleep(5030 * MS, 5010 * MS), 0, 5030, 3);
        ck_assert_uint_eq(sampler->asleep_ns, 0);
}
END_TEST

START_TEST(test_a_ring_that_hangs_is_running_time) {
        assert_sample(take_after_sleep(30 * MS, 0), 0, 5030, 3);
        ck_assert_uint_eq(sampler->asleep_ns, 0);
}
END_TEST

START_TEST(test_what_was_slept_through_in_a_pause_is_forgotten) {
        sampler_overslept(sampler, 5000 * MS);
        sampler_begin_phase(sampler, 0, 0, START);
        assert_sample(sampler_take(sampler, START + 2000 * MS), 0, 2000, 0);
}
END_TEST

START_TEST(test_zero_rows) {
        sampler_begin_phase(sampler, 0, 0, START);
        for (uint64_t i = 0; i < 7; i++)
                assert_sample(sampler_take(sampler, START + (i + 1) * 100 * MS), i, 100, 0);
}
END_TEST

START_TEST(test_late_tick_makes_a_longer_sample_and_the_next_is_on_the_grid) {
        sampler_begin_phase(sampler, 0, 0, START);
        assert_sample(sampler_take(sampler, START + 330 * MS), 0, 330, 0);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 400 * MS);
        assert_sample(sampler_take(sampler, START + 400 * MS), 1, 70, 0);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 500 * MS);
}
END_TEST

START_TEST(test_runtime_leaves_no_crumb) {
        sampler_begin_phase(sampler, 0, 200 * MS, START);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 100 * MS);
        assert_sample(sampler_take(sampler, START + 100 * MS), 0, 100, 0);

        /* The phase may drain a little after its runtime; one that does not goes on being sampled, on the grid. */
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 225 * MS);
        assert_sample(sampler_take(sampler, START + 225 * MS), 1, 125, 0);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 300 * MS);

        /* A runtime off the grid ends in a part of an interval, unless that is as good as nothing. */
        sampler_begin_phase(sampler, 1, 150 * MS, START);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 100 * MS);
        sampler_begin_phase(sampler, 1, 110 * MS, START);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 125 * MS);
        sampler_begin_phase(sampler, 1, 111 * MS, START);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 100 * MS);
}
END_TEST

START_TEST(test_pause) {
        sampler_begin_phase(sampler, 0, 0, START);
        complete_writes(1);
        assert_sample(sampler_take(sampler, START + 30 * MS), 0, 30, 1);
        sampler_suspend(sampler);
        ck_assert_ptr_null(sampler_take(sampler, START + 50 * MS));

        /* An hour later: not running time, and the grid has waited. */
        uint64_t later = START + 3600 * NSEC_PER_SEC;
        sampler_resume(sampler, later);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), later + 70 * MS);
        complete_writes(2);
        const Sample *sample = sampler_take(sampler, later + 70 * MS);
        assert_sample(sample, 1, 70, 2);
        ck_assert_uint_eq(sample->elapsed_ns, 100 * MS);
}
END_TEST

START_TEST(test_nothing_at_all_is_no_sample) {
        sampler_begin_phase(sampler, 0, 0, START);
        ck_assert_ptr_null(sampler_take(sampler, START));

        /* Counts are never dropped, even if the clock has not moved: an error, an I/O. */
        counters.errors = 1;
        ck_assert_uint_eq(sampler_take(sampler, START)->errors, 1);
        complete_writes(1);
        assert_sample(sampler_take(sampler, START), 1, 0, 1);

        /* And no time is, even if nothing was counted. */
        ck_assert_ptr_nonnull(sampler_take(sampler, START + 1));
}
END_TEST

START_TEST(test_next_phase) {
        sampler_begin_phase(sampler, 0, 0, START);
        complete_writes(9);
        assert_sample(sampler_take(sampler, START + 130 * MS), 0, 130, 9);
        sampler_suspend(sampler);

        /* Its counters begin at zero, seq and running time go on, and the grid is its own. */
        memset(&counters, 0, sizeof(counters));
        complete_writes(3);
        sampler_begin_phase(sampler, 1, 0, START + 500 * MS);
        ck_assert_uint_eq(sampler_deadline_ns(sampler), START + 600 * MS);
        const Sample *sample = sampler_take(sampler, START + 600 * MS);
        assert_sample(sample, 1, 100, 3);
        ck_assert_uint_eq(sample->phase, 1);
        ck_assert_uint_eq(sample->elapsed_ns, 230 * MS);
}
END_TEST

/* What a phase is taken up after must be in the samples, or the record of a run that was killed is short of it. */
START_TEST(test_the_position_is_never_ahead_of_the_counts) {
        uint64_t n_counted = 0;

        n_between_looks = 3;
        sampler_begin_phase(sampler, 0, 0, START);
        for (uint64_t i = 1; i <= 5; i++) {
                const Sample *sample = sampler_take(sampler, START + i * 100 * MS);

                ck_assert_ptr_nonnull(sample);
                n_counted += sample->ios[DIRECTION_WRITE];
                ck_assert_uint_le(sample->positions.of[0].low_index, n_counted);
        }
}
END_TEST

START_TEST(test_host_cpu) {
        sampler_begin_phase(sampler, 0, 0, START);

        /* Busy until the kernel has counted a tick. */
        double percent = NAN;
        for (uint64_t i = 1; isnan(percent); i++)
                percent = sampler_take(sampler, START + i)->cpu_percent;
        ck_assert(percent >= 0 && percent <= 100);
}
END_TEST

START_TEST(test_own_cpu) {
        ring_cpu_ns = 77 * NSEC_PER_SEC; /* of earlier phases */
        sampler_begin_phase(sampler, 0, 0, START);
        ring_cpu_ns += 25 * MS;
        const Sample *sample = sampler_take(sampler, START + 100 * MS);
        ck_assert_double_eq(sample->ring_cpu_percent, 25);
        ck_assert(sample->worker_cpu_percent >= 0 && isfinite(sample->worker_cpu_percent));

        /* The clocks of threads and of the machine do not stop at the same moment. */
        ring_cpu_ns += 101 * MS;
        ck_assert_double_eq(sampler_take(sampler, START + 200 * MS)->ring_cpu_percent, 100);

        /* What is used in a pause is no sample's. */
        sampler_suspend(sampler);
        ring_cpu_ns += 50 * MS;
        sampler_resume(sampler, START + 900 * MS);
        ring_cpu_ns += 10 * MS;
        ck_assert_double_eq(sampler_take(sampler, START + 1000 * MS)->ring_cpu_percent, 10);
}
END_TEST

START_TEST(test_held_back) {
        held_ns = 77 * NSEC_PER_SEC; /* of earlier phases */
        sampler_begin_phase(sampler, 0, 0, START);
        held_ns += 40 * MS;
        ck_assert_double_eq(sampler_take(sampler, START + 100 * MS)->held_percent, 40);
        ck_assert_double_eq(sampler_take(sampler, START + 200 * MS)->held_percent, 0);

        /* A turn that began before the sample counts with its end. */
        held_ns += 105 * MS;
        ck_assert_double_eq(sampler_take(sampler, START + 300 * MS)->held_percent, 100);

        sampler_suspend(sampler);
        held_ns += 50 * MS;
        sampler_resume(sampler, START + 900 * MS);
        held_ns += 10 * MS;
        ck_assert_double_eq(sampler_take(sampler, START + 1000 * MS)->held_percent, 10);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("sampler");
        TCase *tc = tcase_create("sampler");

        tcase_set_timeout(tc, 60);
        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_test(tc, test_running_time_goes_on_within_a_sample);
        tcase_add_test(tc, test_numbers_and_times_go_on);
        tcase_add_test(tc, test_counts_and_durations);
        tcase_add_test(tc, test_what_nobody_was_awake_for_is_no_running_time);
        tcase_add_test(tc, test_what_completed_took_some_time);
        tcase_add_test(tc, test_a_late_tick_makes_a_longer_sample);
        tcase_add_test(tc, test_a_ring_that_hangs_is_running_time);
        tcase_add_test(tc, test_what_was_slept_through_in_a_pause_is_forgotten);
        tcase_add_test(tc, test_zero_rows);
        tcase_add_test(tc, test_late_tick_makes_a_longer_sample_and_the_next_is_on_the_grid);
        tcase_add_test(tc, test_runtime_leaves_no_crumb);
        tcase_add_test(tc, test_pause);
        tcase_add_test(tc, test_nothing_at_all_is_no_sample);
        tcase_add_test(tc, test_next_phase);
        tcase_add_test(tc, test_own_cpu);
        tcase_add_test(tc, test_held_back);
        tcase_add_test(tc, test_the_position_is_never_ahead_of_the_counts);
        tcase_add_test(tc, test_host_cpu);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

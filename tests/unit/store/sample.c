/* SPDX-License-Identifier: MIT */

/* Samples: exact, in order, summed up, and read without standing in the service's way. */

#include <math.h>
#include <string.h>

#include "fixture.h"
#include "util/macro.h"

static const StoreSampleQuery all = { .run = 1, .phase = -1, .to_ns = UINT64_MAX };

typedef struct Copy {
        Sample sample;
        StoreLatency latency;
        unsigned n;
} Copy;

static int keep(const Sample *sample, const StoreLatency *latency, void *userdata) {
        Copy *copy = userdata;

        copy->sample = *sample;
        copy->latency = *latency;
        copy->n++;
        return 0;
}

/* The last sample that query gives, and how many there were. */
static Copy *read_last(Store *store, StoreSampleQuery query) {
        _cleanup_error_ Error error = ERROR_INIT;
        Copy *copy = calloc(1, sizeof *copy);

        ck_assert_msg(store_each_sample(store, &query, keep, copy, &error) == 0, "%s", error_message(&error));
        return copy;
}

static void add_many(Store *store, uint32_t run, uint64_t from, uint64_t to) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        for (uint64_t seq = from; seq < to; seq++) {
                _cleanup_free_ Sample *sample = new_sample(seq);
                ck_assert_int_eq(store_insert_sample(store, run, sample, NULL), 0);
        }
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

START_TEST(sample_is_kept_whole) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_free_ Sample *sample = new_sample(0);
        add_run(store);

        sample->phase = 1;
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                sample->ios[d] = d + 1;
                sample->bytes[d] = 4096 * (d + 1);
                sample->latency[d].buckets[100 * d + 7] = d + 1;
        }
        sample->errors = 5;
        sample->in_flight = 64;
        sample->oldest_ns = 12345;
        sample->cpu_percent = 12.5;
        sample->worker_cpu_percent = 150;
        sample->ring_cpu_percent = 75.5;
        sample->held_percent = 8.25;
        sample->temperature_c = -3.25;
        add_sample(store, 1, sample);

        StoreSampleQuery query = all;
        query.with_latency = true;
        _cleanup_free_ Copy *copy = read_last(store, query);
        ck_assert_uint_eq(copy->n, 1);
        ck_assert_mem_eq(&copy->sample, sample, sizeof *sample);
}
END_TEST

START_TEST(zero_second_is_a_row_of_zeros) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_free_ Sample *sample = calloc(1, sizeof *sample);
        add_run(store);

        sample->duration_ns = sample->elapsed_ns = NSEC_PER_SEC;
        sample->cpu_percent = sample->worker_cpu_percent = sample->ring_cpu_percent = NAN;
        sample->held_percent = sample->temperature_c = NAN;
        sample->in_flight = 32;
        add_sample(store, 1, sample);

        _cleanup_free_ Copy *copy = read_last(store, all);
        ck_assert_uint_eq(copy->n, 1);
        ck_assert_uint_eq(copy->sample.ios[DIRECTION_WRITE], 0);
        ck_assert_uint_eq(copy->sample.in_flight, 32);
        ck_assert(isnan(copy->sample.cpu_percent));
        ck_assert(isnan(copy->sample.temperature_c));
        ck_assert(!copy->latency.known);
        ck_assert_int_eq(sql_number(store, "SELECT count(*) FROM samples"
                                            " WHERE cpu_percent IS NULL AND worker_cpu_percent IS NULL"
                                            " AND ring_cpu_percent IS NULL AND held_percent IS NULL"
                                            " AND latency_p50_ns IS NULL"), 1);
        ck_assert_int_eq(sql_number(store, "SELECT count(*) FROM latencies"), 0);
}
END_TEST

START_TEST(what_a_phase_took_of_the_host) {
        /* Host, worker, ring thread, held back: of a second each. */
        static const double percents[][4] = {
                { 10, 20, 15, 0 },   { 98, 40, 30, 9.9 },  { 100, 90, 99, NAN },      { 50, 110, 98, 0 },
                { 100, 90, 99, 10 }, { 50, 110, 98, 100 }, { NAN, NAN, NAN, NAN },
        };
        _cleanup_store_ Store *store = open_writer();
        StorePhaseCpu cpu[3];
        add_run(store);

        for (unsigned i = 0; i < ELEMENTSOF(percents); i++) {
                _cleanup_free_ Sample *sample = new_sample(i);

                sample->phase = 1;
                sample->duration_ns = NSEC_PER_SEC;
                sample->cpu_percent = percents[i][0];
                sample->worker_cpu_percent = percents[i][1];
                sample->ring_cpu_percent = percents[i][2];
                sample->held_percent = percents[i][3];
                add_sample(store, 1, sample);
        }
        _cleanup_free_ Sample *hung = new_sample(ELEMENTSOF(percents));

        memset(hung->ios, 0, sizeof(hung->ios));
        hung->phase = 1;
        hung->errors = 0;
        hung->in_flight = 1;
        hung->duration_ns = hung->oldest_ns = NSEC_PER_SEC;
        hung->cpu_percent = hung->ring_cpu_percent = 100;
        hung->worker_cpu_percent = NAN;
        add_sample(store, 1, hung);
        ck_assert_int_eq(store_get_phase_cpu(store, 1, cpu, ELEMENTSOF(cpu), NULL), 0);
        ck_assert_double_eq(cpu[1].host_percent, (10 + 98 + 100 + 50 + 100 + 50 + 100) / 7.0);
        ck_assert_double_eq(cpu[1].worker_percent, (20 + 40 + 90 + 110 + 90 + 110) / 6.0);
        ck_assert_uint_eq(cpu[1].cores_limited_ns, 2 * NSEC_PER_SEC);
        ck_assert_uint_eq(cpu[1].ring_limited_ns, NSEC_PER_SEC);
        ck_assert_double_nan(cpu[0].host_percent);
        ck_assert_double_nan(cpu[2].worker_percent);
        ck_assert_uint_eq(cpu[2].cores_limited_ns, 0);
}
END_TEST

START_TEST(latency_figures_cover_all_directions) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_free_ Sample *sample = calloc(1, sizeof *sample);
        add_run(store);

        /* 60 reads of 50 ns, 39 writes of 100 ns, 1 trim of 120 ns: below 128 buckets are exact. */
        sample->duration_ns = NSEC_PER_SEC;
        sample->latency[DIRECTION_READ].buckets[50] = 60;
        sample->latency[DIRECTION_WRITE].buckets[100] = 39;
        sample->latency[DIRECTION_TRIM].buckets[120] = 1;
        add_sample(store, 1, sample);

        _cleanup_free_ Copy *copy = read_last(store, all);
        ck_assert(copy->latency.known);
        ck_assert_uint_eq(copy->latency.p50_ns, 50);
        ck_assert_uint_eq(copy->latency.p99_ns, 100);
        ck_assert_uint_eq(copy->latency.max_ns, 120);
}
END_TEST

START_TEST(histograms_are_read_only_when_asked_for) {
        _cleanup_store_ Store *store = open_writer();
        add_run(store);
        add_many(store, 1, 0, 1);

        _cleanup_free_ Copy *copy = read_last(store, all);
        ck_assert_uint_eq(histogram_count(&copy->sample.latency[DIRECTION_WRITE]), 0);
        ck_assert(copy->latency.known);
}
END_TEST

START_TEST(phase_totals_are_the_sums) {
        _cleanup_store_ Store *store = open_writer();
        StorePhase *phases;
        size_t n;
        add_run(store);

        add_many(store, 1, 0, 10);
        _cleanup_free_ Sample *sample = new_sample(10);
        sample->phase = 1;
        sample->errors = 4;
        sample->ios[DIRECTION_READ] = 9;
        sample->latency[DIRECTION_READ].buckets[5] = 9;
        add_sample(store, 1, sample);

        ck_assert_int_eq(store_get_phases(store, 1, &phases, &n, NULL), 0);
        ck_assert_uint_eq(phases[0].n_samples, 10);
        ck_assert_uint_eq(phases[0].first_elapsed_ns, 0);
        ck_assert_uint_eq(phases[0].elapsed_ns, 10 * NSEC_PER_SEC);
        ck_assert_uint_eq(phases[0].ios[DIRECTION_WRITE], 30);
        ck_assert_uint_eq(phases[0].bytes[DIRECTION_WRITE], 30 * 4096);
        ck_assert_uint_eq(histogram_count(phases[0].latency), 30);
        ck_assert_uint_eq(phases[0].latency->buckets[histogram_bucket(100000)], 20);
        ck_assert_uint_eq(phases[1].first_elapsed_ns, 10 * NSEC_PER_SEC);
        ck_assert_uint_eq(phases[1].ios[DIRECTION_READ], 9);
        ck_assert_uint_eq(phases[1].errors, 4);
        ck_assert_uint_eq(histogram_count(phases[1].latency), 12);
        store_phases_free(phases, n);

        _cleanup_store_run_ StoreRun run = {};
        ck_assert_int_eq(store_get_run(store, 1, &run, NULL), 0);
        ck_assert_uint_eq(run.n_samples, 11);
        ck_assert_uint_eq(run.elapsed_ns, 11 * NSEC_PER_SEC);
        ck_assert_double_eq(run.last_iops, 12);
}
END_TEST

static int in_order(const Sample *sample, const StoreLatency *latency, void *userdata) {
        uint64_t *next = userdata;

        ck_assert_uint_eq(sample->seq, *next);
        ++*next;
        return 0;
}

START_TEST(many_pages_come_in_order) {
        _cleanup_store_ Store *store = open_writer();
        uint64_t next = 0;
        StoreSampleQuery query = all;
        add_run(store);
        add_run(store);
        add_many(store, 1, 0, 2 * 4096 + 5);
        add_many(store, 2, 0, 3);

        ck_assert_int_eq(store_each_sample(store, &query, in_order, &next, NULL), 0);
        ck_assert_uint_eq(next, 2 * 4096 + 5);
        next = 0;
        query.with_latency = true;
        ck_assert_int_eq(store_each_sample(store, &query, in_order, &next, NULL), 0);
        ck_assert_uint_eq(next, 2 * 4096 + 5);
        next = 4096;
        query.first_seq = 4096;
        ck_assert_int_eq(store_each_sample(store, &query, in_order, &next, NULL), 0);
        ck_assert_uint_eq(next, 2 * 4096 + 5);
}
END_TEST

START_TEST(samples_are_chosen_by_time_and_phase) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_free_ Sample *sample = new_sample(10);
        add_run(store);
        add_many(store, 1, 0, 10);
        sample->phase = 1;
        add_sample(store, 1, sample);

        StoreSampleQuery query = all;
        query.from_ns = 3 * NSEC_PER_SEC;
        query.to_ns = 5 * NSEC_PER_SEC;
        Copy *copy = read_last(store, query);
        ck_assert_uint_eq(copy->n, 3);
        ck_assert_uint_eq(copy->sample.seq, 4);
        free(copy);

        query = all;
        query.phase = 1;
        copy = read_last(store, query);
        ck_assert_uint_eq(copy->n, 1);
        ck_assert_uint_eq(copy->sample.seq, 10);
        free(copy);
}
END_TEST

static int stop_at_two(const Sample *sample, const StoreLatency *latency, void *userdata) {
        ++*(unsigned *) userdata;
        return sample->seq == 2 ? -ECANCELED : 0;
}

START_TEST(handler_can_end_it) {
        _cleanup_store_ Store *store = open_writer();
        unsigned n = 0;
        add_run(store);
        add_many(store, 1, 0, 10);

        ck_assert_int_eq(store_each_sample(store, &all, stop_at_two, &n, NULL), -ECANCELED);
        ck_assert_uint_eq(n, 3);
}
END_TEST

/* A checkpoint that empties the WAL needs that nobody reads from it. */
static int empty_wal(const Sample *sample, const StoreLatency *latency, void *userdata) {
        ck_assert_int_eq(sql_number(userdata, "PRAGMA wal_checkpoint(TRUNCATE)"), 0);
        return 0;
}

START_TEST(slow_handler_does_not_pin_the_wal) {
        _cleanup_store_ Store *store = open_writer();
        add_run(store);
        add_many(store, 1, 0, 3);

        sqlite3_busy_timeout(store->db, 0);
        _cleanup_store_ Store *reader = open_reader();
        ck_assert_int_eq(store_each_sample(reader, &all, empty_wal, store, NULL), 0);
}
END_TEST

START_TEST(same_second_twice_is_refused_and_changes_nothing) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_free_ Sample *again = new_sample(0), *next = new_sample(1);
        add_run(store);
        add_many(store, 1, 0, 1);

        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_insert_sample(store, 1, again, NULL), -EINVAL);
        ck_assert_int_eq(store_insert_sample(store, 1, next, NULL), 0); /* the transaction goes on */
        ck_assert_int_eq(store_commit(store, NULL), 0);
        ck_assert_int_eq(sql_number(store, "SELECT n_samples FROM phases WHERE run = 1 AND phase = 0"), 2);
}
END_TEST

START_TEST(sample_of_an_unknown_phase_is_refused) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_free_ Sample *sample = new_sample(0);
        add_run(store);

        sample->phase = 2;
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_insert_sample(store, 1, sample, NULL), -EINVAL);
        sample->phase = 0;
        ck_assert_int_eq(store_insert_sample(store, 9, sample, NULL), -EINVAL);
        store_rollback(store);
}
END_TEST

/* What a worker that has been taken over may say. */
START_TEST(huge_numbers_are_cut_off) {
        _cleanup_store_ Store *store = open_writer();
        StorePhase *phases;
        size_t n;
        add_run(store);

        for (uint64_t seq = 0; seq < 3; seq++) {
                _cleanup_free_ Sample *sample = new_sample(seq);

                sample->elapsed_ns = sample->duration_ns = UINT64_MAX;
                sample->bytes[DIRECTION_WRITE] = sample->ios[DIRECTION_WRITE] = sample->errors = UINT64_MAX;
                sample->latency[DIRECTION_WRITE].buckets[9] = UINT64_MAX - 10;
                add_sample(store, 1, sample);
        }
        ck_assert_int_eq(store_get_phases(store, 1, &phases, &n, NULL), 0);
        ck_assert_uint_eq(phases[0].bytes[DIRECTION_WRITE], INT64_MAX);
        ck_assert_uint_eq(phases[0].errors, INT64_MAX);
        ck_assert_uint_eq(phases[0].latency->buckets[9], UINT64_MAX - 10);
        store_phases_free(phases, n);
}
END_TEST

static uint32_t add_run_with_ramp(Store *store, uint64_t ramp_ns) {
        StoreNewRun run = new_run();
        PhasePlan phases[] = { run.plan->phases[0], run.plan->phases[1] };
        const Plan plan = { .n_phases = 2, .phases = phases };
        uint32_t id = 0;

        phases[1].ramp_ns = ramp_ns;
        run.plan = &plan;
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_insert_run(store, &run, &id, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
        return id;
}

/* How many of ten samples of the second phase, each of a second and three writes, a ramp takes. */
static void expect_ramp(uint64_t ramp_ns, uint64_t n) {
        _cleanup_store_ Store *store = open_writer();
        uint32_t id = add_run_with_ramp(store, ramp_ns);
        _cleanup_store_run_ StoreRun run = {};
        StorePhase *phases;
        size_t n_phases;

        add_many(store, id, 0, 1);
        for (uint64_t seq = 1; seq <= 10; seq++) {
                _cleanup_free_ Sample *sample = new_sample(seq);
                sample->phase = 1;
                add_sample(store, id, sample);
        }
        ck_assert_int_eq(store_get_phases(store, id, &phases, &n_phases, NULL), 0);
        ck_assert_uint_eq(phases[1].elapsed_ns, 10 * NSEC_PER_SEC);
        ck_assert_uint_eq(phases[1].ramp_elapsed_ns, n * NSEC_PER_SEC);
        ck_assert_uint_eq(store_phase_counted_ns(&phases[1]), (10 - n) * NSEC_PER_SEC);
        ck_assert_uint_eq(phases[1].ios[DIRECTION_WRITE], 30);
        ck_assert_uint_eq(phases[1].bytes[DIRECTION_WRITE], 30 * 4096);
        ck_assert_uint_eq(phases[1].counted_ios[DIRECTION_WRITE], 3 * (10 - n));
        ck_assert_uint_eq(phases[1].counted_bytes[DIRECTION_WRITE], 3 * (10 - n) * 4096);
        ck_assert_uint_eq(phases[1].latency ? histogram_count(phases[1].latency) : 0, 3 * (10 - n));
        ck_assert_uint_eq(phases[0].counted_ios[DIRECTION_WRITE], 3);
        store_phases_free(phases, n_phases);

        ck_assert_int_eq(store_get_run(store, id, &run, NULL), 0);
        ck_assert_double_eq(run.mean_iops, 3);
        if (n < 10)
                ck_assert_int_eq(sql_number(store, "SELECT write_iops_mean FROM phase_summary"
                                                   " WHERE phase = 1 ORDER BY run DESC"), 3);
}

START_TEST(a_sample_that_begins_in_the_ramp_is_not_counted) {
        expect_ramp(0, 0);
        expect_ramp(1, 1);
        expect_ramp(2 * NSEC_PER_SEC - 1, 2);
        expect_ramp(2 * NSEC_PER_SEC, 2);
        expect_ramp(2 * NSEC_PER_SEC + 1, 3);
        expect_ramp(3600 * NSEC_PER_SEC, 10);
}
END_TEST

START_TEST(views_tell_rates_and_sums) {
        _cleanup_store_ Store *store = open_writer();
        add_run(store);
        add_many(store, 1, 0, 10);

        ck_assert_int_eq(sql_number(store, "SELECT write_iops FROM sample_rates WHERE seq = 4"), 3);
        ck_assert_int_eq(sql_number(store, "SELECT write_bytes_per_s FROM sample_rates WHERE seq = 4"), 3 * 4096);
        ck_assert_int_eq(sql_number(store, "SELECT elapsed_s FROM sample_rates WHERE seq = 4"), 5);
        ck_assert_int_eq(sql_number(store, "SELECT write_ios FROM run_summary"), 30);
        ck_assert_int_eq(sql_number(store, "SELECT n_samples FROM run_summary"), 10);
        ck_assert_int_eq(sql_number(store, "SELECT created_at = '1970-01-01T00:00:00.000Z' FROM run_summary"), 1);
        ck_assert_int_eq(sql_number(store, "SELECT write_iops_mean FROM phase_summary WHERE phase = 0"), 3);
        ck_assert_int_eq(sql_number(store, "SELECT write_iops_mean IS NULL FROM phase_summary WHERE phase = 1"), 1);
        ck_assert_int_eq(sql_number(store, "SELECT count(*) FROM event_log"), 0);
        ck_assert_int_eq(sql_number(store, "SELECT count(*) FROM error_log"), 0);
}
END_TEST

/* What another tool told of latencies is kept as it is, though a histogram would round it. */
START_TEST(imported_sample_is_kept_as_it_was_told) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_free_ Sample *sample = new_sample(0);
        const StoreLatency told = { .mean_ns = 1001, .known = true, .p50_ns = 1003, .p99_ns = 1005, .max_ns = 1007,
                                    .direction_mean_ns = { 0, 1009, 1011 } };
        StorePhase totals = { .n_samples = 1, .elapsed_ns = 7, .ios = { 1, 2, 3 }, .bytes = { 4, 5, 6 }, .errors = 8,
                              .ramp_elapsed_ns = 2, .counted_ios = { 1, 1, 0 }, .counted_bytes = { 3, 5, 1 },
                              .latency_mean_ns = 9 };
        add_run(store);

        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_insert_imported_sample(store, 1, sample, &told, NULL), 0);
        ck_assert_int_eq(store_insert_imported_sample(store, 1, sample, &told, NULL), -EINVAL);
        ck_assert_int_eq(store_set_imported_totals(store, 1, &totals, NULL), 0);
        totals.index = 99;
        ck_assert_int_eq(store_set_imported_totals(store, 1, &totals, NULL), -ENOENT);
        ck_assert_int_eq(store_commit(store, NULL), 0);

        StoreSampleQuery query = all;
        query.with_latency = true;
        _cleanup_free_ Copy *copy = read_last(store, query);
        ck_assert_uint_eq(copy->n, 1);
        ck_assert_uint_eq(copy->latency.mean_ns, told.mean_ns);
        ck_assert(copy->latency.known);
        ck_assert_uint_eq(copy->latency.p50_ns, told.p50_ns);
        ck_assert_uint_eq(copy->latency.p99_ns, told.p99_ns);
        ck_assert_uint_eq(copy->latency.max_ns, told.max_ns);
        ck_assert_mem_eq(copy->latency.direction_mean_ns, told.direction_mean_ns, sizeof told.direction_mean_ns);
        ck_assert_uint_eq(histogram_count(&copy->sample.latency[DIRECTION_WRITE]), 0);
        ck_assert_int_eq(sql_number(store, "SELECT count(*) FROM latencies"), 0);

        _cleanup_free_ StorePhase *phases = NULL;
        size_t n = 0;
        ck_assert_int_eq(store_get_phases(store, 1, &phases, &n, NULL), 0);
        ck_assert_uint_eq(phases[0].n_samples, 1);
        ck_assert_uint_eq(phases[0].elapsed_ns, 7);
        ck_assert_mem_eq(phases[0].ios, totals.ios, sizeof totals.ios);
        ck_assert_mem_eq(phases[0].bytes, totals.bytes, sizeof totals.bytes);
        ck_assert_uint_eq(phases[0].ramp_elapsed_ns, 2);
        ck_assert_mem_eq(phases[0].counted_ios, totals.counted_ios, sizeof totals.counted_ios);
        ck_assert_mem_eq(phases[0].counted_bytes, totals.counted_bytes, sizeof totals.counted_bytes);
        ck_assert_uint_eq(phases[0].errors, 8);
        ck_assert_uint_eq(phases[0].latency_mean_ns, 9);
        ck_assert_ptr_null(phases[0].latency);
        store_phases_free(TAKE_PTR(phases), n);
}
END_TEST

START_TEST(imported_sample_of_which_nothing_is_told) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_free_ Sample *sample = new_sample(0);
        const StoreLatency nothing = {};
        add_run(store);

        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_insert_imported_sample(store, 1, sample, &nothing, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
        ck_assert_int_eq(sql_number(store, "SELECT count(*) FROM samples WHERE latency_mean_ns IS NULL AND"
                                           " latency_p50_ns IS NULL AND write_latency_mean_ns IS NULL"), 1);
        StoreSampleQuery query = all;
        query.with_latency = true;
        _cleanup_free_ Copy *copy = read_last(store, query);
        ck_assert_uint_eq(copy->latency.mean_ns, 0);
        ck_assert(!copy->latency.known);
        ck_assert_mem_eq(copy->latency.direction_mean_ns, nothing.direction_mean_ns, sizeof nothing.direction_mean_ns);
}
END_TEST

static Suite *sample_suite(void) {
        Suite *suite = suite_create("sample");
        TCase *tcase = store_case("sample");

        tcase_add_test(tcase, sample_is_kept_whole);
        tcase_add_test(tcase, zero_second_is_a_row_of_zeros);
        tcase_add_test(tcase, what_a_phase_took_of_the_host);
        tcase_add_test(tcase, latency_figures_cover_all_directions);
        tcase_add_test(tcase, histograms_are_read_only_when_asked_for);
        tcase_add_test(tcase, phase_totals_are_the_sums);
        tcase_add_test(tcase, many_pages_come_in_order);
        tcase_add_test(tcase, samples_are_chosen_by_time_and_phase);
        tcase_add_test(tcase, handler_can_end_it);
        tcase_add_test(tcase, slow_handler_does_not_pin_the_wal);
        tcase_add_test(tcase, same_second_twice_is_refused_and_changes_nothing);
        tcase_add_test(tcase, sample_of_an_unknown_phase_is_refused);
        tcase_add_test(tcase, huge_numbers_are_cut_off);
        tcase_add_test(tcase, a_sample_that_begins_in_the_ramp_is_not_counted);
        tcase_add_test(tcase, views_tell_rates_and_sums);
        tcase_add_test(tcase, imported_sample_is_kept_as_it_was_told);
        tcase_add_test(tcase, imported_sample_of_which_nothing_is_told);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(sample_suite)

/* SPDX-License-Identifier: MIT */

#include "sample/sample.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"

static Sample sample, decoded;
static uint8_t buf[SAMPLE_ENCODED_MAX];

/* Every field different, so that none can stand in for another. */
static void fill_sample(void) {
        sample = (Sample){
                .seq = UINT64_C(0x0102030405060708),
                .phase = 0xa1a2a3a4,
                .at_ns = -5,
                .elapsed_ns = UINT64_C(4320000) * NSEC_PER_SEC,
                .duration_ns = 1000000123,
                .errors = 77,
                .in_flight = 16384,
                .oldest_ns = 123456789,
                .cpu_percent = 12.5,
                .worker_cpu_percent = 250.5,
                .ring_cpu_percent = 99.5,
                .held_percent = 12.5,
                .temperature_c = -3.25,
                .boot_ns = UINT64_MAX - 1,
                .positions = { .n = 2, .of = { { 1, 2, 3, 4, 5, 6, UINT64_MAX }, { 11, 12, 13, 14, 15, 16, 17 } } },
        };
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                sample.ios[d] = 100 + d;
                sample.bytes[d] = (UINT64_C(1) << 50) + d;
                sample.latency[d].buckets[1000 + d] = 100 + d;
        }
}

static void assert_round_trip(void) {
        size_t n = sample_encode(&sample, buf, sizeof buf);

        ck_assert_uint_gt(n, 0);
        memset(&decoded, 0x5a, sizeof decoded);
        ck_assert_int_eq(sample_decode(&decoded, buf, n), 0);

        ck_assert(decoded.seq == sample.seq);
        ck_assert(decoded.boot_ns == sample.boot_ns);
        ck_assert_int_eq(memcmp(&decoded.positions, &sample.positions, sizeof sample.positions), 0);
        ck_assert(decoded.phase == sample.phase);
        ck_assert(decoded.at_ns == sample.at_ns);
        ck_assert(decoded.elapsed_ns == sample.elapsed_ns);
        ck_assert(decoded.duration_ns == sample.duration_ns);
        ck_assert_mem_eq(decoded.ios, sample.ios, sizeof sample.ios);
        ck_assert_mem_eq(decoded.bytes, sample.bytes, sizeof sample.bytes);
        ck_assert(decoded.errors == sample.errors);
        ck_assert(decoded.in_flight == sample.in_flight);
        ck_assert(decoded.oldest_ns == sample.oldest_ns);
        ck_assert_mem_eq(decoded.latency, sample.latency, sizeof sample.latency);
        ck_assert(isnan(sample.cpu_percent) ? isnan(decoded.cpu_percent) :
                                              !islessgreater(decoded.cpu_percent, sample.cpu_percent));
        ck_assert(isnan(sample.worker_cpu_percent) ? isnan(decoded.worker_cpu_percent) :
                  !islessgreater(decoded.worker_cpu_percent, sample.worker_cpu_percent));
        ck_assert(isnan(sample.ring_cpu_percent) ? isnan(decoded.ring_cpu_percent) :
                                                   !islessgreater(decoded.ring_cpu_percent, sample.ring_cpu_percent));
        ck_assert(isnan(sample.temperature_c) ? isnan(decoded.temperature_c) :
                                                !islessgreater(decoded.temperature_c, sample.temperature_c));
}

START_TEST(round_trip) {
        fill_sample();
        assert_round_trip();

        sample.cpu_percent = sample.worker_cpu_percent = sample.ring_cpu_percent = sample.held_percent = NAN;
        sample.temperature_c = NAN;
        assert_round_trip();

        sample = (Sample){ .cpu_percent = 0, .temperature_c = 0 };
        assert_round_trip();
}
END_TEST

START_TEST(the_largest_fits) {
        fill_sample();
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                for (unsigned i = 0; i < HISTOGRAM_N_BUCKETS; i++)
                        sample.latency[d].buckets[i] = UINT64_MAX / HISTOGRAM_N_BUCKETS;
        sample.positions.n = JOB_WORKERS_MAX;
        for (unsigned i = 0; i < JOB_WORKERS_MAX; i++)
                sample.positions.of[i].next_write = i;
        assert_round_trip();
}
END_TEST

START_TEST(no_room_gives_zero_and_stays_inside) {
        fill_sample();

        size_t n = sample_encode(&sample, buf, sizeof buf);
        for (size_t size = 0; size < n; size++) {
                buf[size] = 0xa5;
                ck_assert_uint_eq(sample_encode(&sample, buf, size), 0);
                ck_assert_uint_eq(buf[size], 0xa5);
        }
        ck_assert_uint_eq(sample_encode(&sample, buf, n), n);
}
END_TEST

START_TEST(cut_short_or_too_long_is_refused) {
        fill_sample();

        size_t n = sample_encode(&sample, buf, sizeof buf);
        decoded.seq = 4711;
        for (size_t length = 0; length < n; length++)
                ck_assert_int_eq(sample_decode(&decoded, buf, length), -EBADMSG);
        buf[n] = 0;
        ck_assert_int_eq(sample_decode(&decoded, buf, n + 1), -EBADMSG);
        ck_assert_uint_eq(decoded.seq, 4711);
}
END_TEST

START_TEST(impossible_values_are_refused) {
        static const double bad_cpu[] = { -0.5, 100.5, INFINITY, -INFINITY };
        static const double bad_temperature[] = { -300, 1e6, INFINITY, -INFINITY };

        for (size_t i = 0; i < ELEMENTSOF(bad_cpu); i++) {
                fill_sample();
                sample.cpu_percent = bad_cpu[i];
                ck_assert_int_eq(sample_decode(&decoded, buf, sample_encode(&sample, buf, sizeof buf)), -EBADMSG);
                fill_sample();
                sample.ring_cpu_percent = bad_cpu[i];
                ck_assert_int_eq(sample_decode(&decoded, buf, sample_encode(&sample, buf, sizeof buf)), -EBADMSG);
                fill_sample();
                sample.held_percent = bad_cpu[i];
                ck_assert_int_eq(sample_decode(&decoded, buf, sample_encode(&sample, buf, sizeof buf)), -EBADMSG);
                fill_sample();
                sample.worker_cpu_percent = bad_cpu[i] * 1e6;
                ck_assert_int_eq(sample_decode(&decoded, buf, sample_encode(&sample, buf, sizeof buf)), -EBADMSG);
        }
        for (size_t i = 0; i < ELEMENTSOF(bad_temperature); i++) {
                fill_sample();
                sample.temperature_c = bad_temperature[i];
                ck_assert_int_eq(sample_decode(&decoded, buf, sample_encode(&sample, buf, sizeof buf)), -EBADMSG);
        }
}
END_TEST

START_TEST(the_host_sets_the_pace_when_cores_or_a_ring_thread_have_nothing_to_spare) {
        static const struct {
                double cpu, ring;
                HostLimit limit;
        } cases[] = {
                { 0, 0, HOST_LIMIT_NONE },      { 97.9, 97.9, HOST_LIMIT_NONE }, { 98, 0, HOST_LIMIT_CORES },
                { 50, 98, HOST_LIMIT_RING },    { 100, 100, HOST_LIMIT_CORES },  { NAN, NAN, HOST_LIMIT_NONE },
                { NAN, 100, HOST_LIMIT_RING },  { 100, NAN, HOST_LIMIT_CORES },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                sample = (Sample){ .cpu_percent = cases[i].cpu, .ring_cpu_percent = cases[i].ring };
                ck_assert_int_eq(sample_host_limit(&sample), cases[i].limit);
        }

        /* A load that was held back could not have been held up. Earlier versions told nothing of it. */
        static const struct {
                double held;
                HostLimit limit;
        } held[] = {
                { 9.9, HOST_LIMIT_CORES }, { 10, HOST_LIMIT_NONE }, { 100, HOST_LIMIT_NONE }, { NAN, HOST_LIMIT_CORES },
        };

        for (size_t i = 0; i < ELEMENTSOF(held); i++) {
                sample = (Sample){ .cpu_percent = 100, .ring_cpu_percent = 100, .held_percent = held[i].held };
                ck_assert_int_eq(sample_host_limit(&sample), held[i].limit);
        }

        /* A drive that hangs is slow by itself, also beside a busy host. */
        sample = (Sample){ .cpu_percent = 100, .duration_ns = 10, .in_flight = 1, .oldest_ns = 10 };
        ck_assert_int_eq(sample_host_limit(&sample), HOST_LIMIT_NONE);
        sample.oldest_ns = 9;
        ck_assert_int_eq(sample_host_limit(&sample), HOST_LIMIT_CORES);
        sample.oldest_ns = 10;
        sample.ios[DIRECTION_READ] = 1;
        ck_assert_int_eq(sample_host_limit(&sample), HOST_LIMIT_CORES);

        /* However much the worker's threads take together: kernel workers do, for drives that take I/O no other way. */
        sample = (Sample){ .cpu_percent = 50, .worker_cpu_percent = 400, .ring_cpu_percent = 20 };
        ck_assert_int_eq(sample_host_limit(&sample), HOST_LIMIT_NONE);
}
END_TEST

START_TEST(more_positions_than_there_may_be_are_refused) {
        static const uint32_t n_bad[] = { JOB_WORKERS_MAX + 1, UINT32_MAX };

        for (size_t i = 0; i < ELEMENTSOF(n_bad); i++) {
                fill_sample();
                size_t n = sample_encode(&sample, buf, sizeof buf);
                uint8_t *at = memmem(buf, n, &sample.boot_ns, sizeof sample.boot_ns);

                ck_assert_ptr_nonnull(at);
                memcpy(at + sizeof sample.boot_ns, &n_bad[i], sizeof n_bad[i]);
                ck_assert_int_eq(sample_decode(&decoded, buf, sizeof buf), -EBADMSG);
        }
}
END_TEST

/* Whatever is changed in it, decoding ends, and what it takes encodes to the same bytes. */
START_TEST(damaged_is_refused_or_encodes_to_itself) {
        static uint8_t damaged[SAMPLE_ENCODED_MAX], again[SAMPLE_ENCODED_MAX];

        fill_sample();
        size_t n = sample_encode(&sample, buf, sizeof buf);

        for (uint64_t round = 0; round < 50000; round++) {
                memcpy(damaged, buf, n);
                for (unsigned i = 0; i <= round % 3; i++)
                        damaged[hash_mix64_2(round, i) % n] = (uint8_t) hash_mix64_2(i, round);
                if (sample_decode(&decoded, damaged, n) < 0)
                        continue;
                ck_assert_uint_eq(sample_encode(&decoded, again, sizeof again), n);
                ck_assert_mem_eq(again, damaged, n);
        }
}
END_TEST

/* At the beginning of a run, and after more than any has ever done. */
START_TEST(difference_of_counters) {
        static const uint64_t pasts[] = { 3, UINT64_C(1) << 41, UINT64_C(1) << 62 };
        static Counters before, now;
        uint64_t past = pasts[_i];

        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                before.ios[d] = past;
                now.ios[d] = past + 5 * (d + 1);
                before.bytes[d] = past;
                now.bytes[d] = past + 4096 * (d + 1);
                before.latency[d].buckets[d] = past;
                now.latency[d].buckets[d] = past + 5;
        }
        before.errors = past;
        now.errors = past + 2;

        fill_sample();
        sample_set_difference(&sample, &now, &before);
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                ck_assert_uint_eq(sample.ios[d], 5 * (d + 1));
                ck_assert_uint_eq(sample.bytes[d], 4096 * (d + 1));
                ck_assert_uint_eq(sample.latency[d].buckets[d], 5);
                ck_assert_uint_eq(histogram_count(&sample.latency[d]), 5);
        }
        ck_assert_uint_eq(sample.errors, 2);
        ck_assert_uint_eq(sample.in_flight, 16384);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("sample");
        TCase *c = tcase_create("sample");

        tcase_set_timeout(c, 60);
        tcase_add_test(c, round_trip);
        tcase_add_test(c, the_largest_fits);
        tcase_add_test(c, no_room_gives_zero_and_stays_inside);
        tcase_add_test(c, cut_short_or_too_long_is_refused);
        tcase_add_test(c, impossible_values_are_refused);
        tcase_add_test(c, the_host_sets_the_pace_when_cores_or_a_ring_thread_have_nothing_to_spare);
        tcase_add_test(c, more_positions_than_there_may_be_are_refused);
        tcase_add_test(c, damaged_is_refused_or_encodes_to_itself);
        tcase_add_loop_test(c, difference_of_counters, 0, 3);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

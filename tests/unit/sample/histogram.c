/* SPDX-License-Identifier: MIT */

#include "sample/histogram.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"

static Histogram h, other;
static uint8_t buf[HISTOGRAM_ENCODED_MAX];

static void clear(void) {
        memset(&h, 0, sizeof h);
        memset(&other, 0, sizeof other);
}

START_TEST(every_value_lies_within_its_bucket) {
        for (uint64_t i = 0; i < 1000000; i++) {
                uint64_t value = hash_mix64(i) >> (i % 64);
                unsigned bucket = histogram_bucket(value);

                /* Speaks only when it fails, since each ck_assert() costs a write to a pipe. */
                if (bucket >= HISTOGRAM_N_BUCKETS || histogram_bucket_floor(bucket) > value ||
                    (bucket + 1 < HISTOGRAM_N_BUCKETS && histogram_bucket_floor(bucket + 1) <= value))
                        ck_abort_msg("bucket %u is not that of %" PRIu64, bucket, value);
        }
}
END_TEST

START_TEST(buckets_are_in_order_and_at_most_a_64th_wide) {
        for (unsigned i = 0; i + 1 < HISTOGRAM_N_BUCKETS; i++) {
                uint64_t floor = histogram_bucket_floor(i), next = histogram_bucket_floor(i + 1);

                ck_assert(next > floor);
                ck_assert(next - floor == 1 || next - floor <= floor / 64);
                ck_assert(histogram_bucket_middle(i) >= floor);
                ck_assert(histogram_bucket_middle(i) < next);
                ck_assert_uint_eq(histogram_bucket(floor), i);
                ck_assert_uint_eq(histogram_bucket(next - 1), i);
        }
}
END_TEST

START_TEST(beyond_the_last_octave_counts_in_the_last_bucket) {
        ck_assert_uint_eq(histogram_bucket(INT64_MAX), HISTOGRAM_N_BUCKETS - 1);
        ck_assert_uint_eq(histogram_bucket(UINT64_MAX), HISTOGRAM_N_BUCKETS - 1);
        ck_assert_uint_lt(histogram_bucket(UINT64_C(1) << 62), HISTOGRAM_N_BUCKETS - 1);
}
END_TEST

START_TEST(percentiles_of_a_known_distribution) {
        static const double fractions[] = { 0, 0.001, 0.5, 0.9, 0.99, 0.999, 0.9999, 1 };

        clear();
        for (uint64_t ns = 1; ns <= 100000; ns++)
                h.buckets[histogram_bucket(ns)]++;
        ck_assert_uint_eq(histogram_count(&h), 100000);

        for (size_t i = 0; i < ELEMENTSOF(fractions); i++) {
                double exact = MAX(fractions[i] * 100000, 1.0);
                uint64_t ns = 0;

                ck_assert_int_eq(histogram_percentile(&h, fractions[i], &ns), 0);
                ck_assert_double_le_tol(ns, exact * (1 + 1.0 / 64), 1);
                ck_assert_double_ge_tol(ns, exact * (1 - 1.0 / 64), 1);
        }
}
END_TEST

START_TEST(percentile_takes_the_value_that_completes_the_fraction) {
        uint64_t ns = 0;

        clear();
        h.buckets[10] = 1;
        h.buckets[20] = 1;
        ck_assert_int_eq(histogram_percentile(&h, 0.5, &ns), 0);
        ck_assert_uint_eq(ns, 10);
        ck_assert_int_eq(histogram_percentile(&h, 0.5000001, &ns), 0);
        ck_assert_uint_eq(ns, 20);
        ck_assert_int_eq(histogram_max(&h, &ns), 0);
        ck_assert_uint_eq(ns, 20);
}
END_TEST

START_TEST(nothing_counted_has_no_percentile) {
        uint64_t ns = 4711;

        clear();
        ck_assert_int_eq(histogram_percentile(&h, 0.5, &ns), -ENODATA);
        ck_assert_int_eq(histogram_max(&h, &ns), -ENODATA);
        ck_assert_int_eq(histogram_mean(&h, &ns), -ENODATA);
        ck_assert_uint_eq(ns, 4711);
        ck_assert_uint_eq(histogram_encode(&h, buf, sizeof buf), 0);
        ck_assert_int_eq(histogram_decode(&other, buf, 0), 0);
        ck_assert_uint_eq(histogram_count(&other), 0);
}
END_TEST

START_TEST(mean_weighs_by_count) {
        uint64_t ns;

        clear();
        h.buckets[histogram_bucket(10)] = 3;
        h.buckets[histogram_bucket(50)] = 1;
        ck_assert_int_eq(histogram_mean(&h, &ns), 0);
        ck_assert_uint_eq(ns, 20);

        /* Of one value it is what percentiles tell, also beyond what the sum of a long run would hold in 64 bits. */
        clear();
        h.buckets[histogram_bucket(1000000000)] = UINT64_C(1) << 62;
        ck_assert_int_eq(histogram_mean(&h, &ns), 0);
        ck_assert_uint_eq(ns, histogram_bucket_middle(histogram_bucket(1000000000)));
}
END_TEST

START_TEST(difference_undoes_add) {
        Histogram sum = {};

        clear();
        for (unsigned i = 0; i < HISTOGRAM_N_BUCKETS; i++) {
                h.buckets[i] = hash_mix64(i) >> 8;
                other.buckets[i] = hash_mix64(i + 5000) >> 8;
        }
        histogram_add(&sum, &h);
        histogram_add(&sum, &other);
        histogram_difference(&sum, &sum, &other);
        ck_assert_mem_eq(&sum, &h, sizeof h);
}
END_TEST

static void assert_round_trip(void) {
        size_t n = histogram_encode(&h, buf, sizeof buf);

        ck_assert_uint_gt(n, 0);
        ck_assert_int_eq(histogram_decode(&other, buf, n), 0);
        ck_assert_mem_eq(&h, &other, sizeof h);
}

START_TEST(round_trip) {
        clear();
        h.buckets[0] = 1;
        assert_round_trip();
        ck_assert_uint_eq(histogram_encode(&h, buf, sizeof buf), 2);

        clear();
        h.buckets[HISTOGRAM_N_BUCKETS - 1] = UINT64_MAX;
        assert_round_trip();

        clear();
        for (unsigned i = 0; i < HISTOGRAM_N_BUCKETS; i++)
                h.buckets[i] = UINT64_MAX / HISTOGRAM_N_BUCKETS;
        assert_round_trip();

        for (uint64_t round = 0; round < 200; round++) {
                clear();
                for (unsigned i = 0; i < 100; i++)
                        h.buckets[hash_mix64_2(round, i) % HISTOGRAM_N_BUCKETS] =
                                hash_mix64_2(i, round) >> (8 + i % 56);
                h.buckets[0] = 1;
                assert_round_trip();
        }
}
END_TEST

START_TEST(no_room_gives_zero_and_stays_inside) {
        clear();
        for (unsigned i = 0; i < HISTOGRAM_N_BUCKETS; i += 3)
                h.buckets[i] = i + 1;

        size_t n = histogram_encode(&h, buf, sizeof buf);
        for (size_t size = 0; size < n; size++) {
                buf[size] = 0xa5;
                ck_assert_uint_eq(histogram_encode(&h, buf, size), 0);
                ck_assert_uint_eq(buf[size], 0xa5);
        }
        ck_assert_uint_eq(histogram_encode(&h, buf, n), n);
}
END_TEST

START_TEST(malformed_is_refused) {
        static const struct {
                uint8_t data[24];
                size_t length;
        } bad[] = {
                { { 0x01 }, 1 },                   /* no count */
                { { 0x81 }, 1 },                   /* distance cut short */
                { { 0x01, 0x80 }, 2 },             /* count cut short */
                { { 0x01, 0x00 }, 2 },             /* a count of nothing */
                { { 0x81, 0x00, 0x01 }, 3 },       /* longer than need be */
                { { 0x80, 0x1d, 0x01 }, 3 },       /* bucket 3712: one too many */
                { { 0xff, 0x1c, 0x01, 0x00, 0x01 }, 5 }, /* the last, and one more */
                { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x01 }, 11 },
                { { 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 }, 11 }, /* 65 bits */
                { { 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x00 }, 12 },
                { { 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00, 0x01 }, 13 }, /* sum */
        };

        clear();
        h.buckets[7] = 7;
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                ck_assert_int_eq(histogram_decode(&h, bad[i].data, bad[i].length), -EBADMSG);
                ck_assert_uint_eq(h.buckets[7], 7);
        }
}
END_TEST

START_TEST(noise_is_refused_or_encodes_to_itself) {
        uint8_t noise[64];
        unsigned n_taken = 0;

        for (uint64_t round = 0; round < 50000; round++) {
                size_t length = hash_mix64(round) % (sizeof noise / (1 + round % 8));

                for (size_t i = 0; i < length; i++)
                        noise[i] = (uint8_t) (hash_mix64_2(round, i) >> (round % 3 ? 57 : 3));
                if (histogram_decode(&h, noise, length) < 0)
                        continue;
                n_taken++;
                ck_assert_uint_eq(histogram_encode(&h, buf, sizeof buf), length);
                ck_assert_mem_eq(buf, noise, length);
        }
        ck_assert_uint_gt(n_taken, 500);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("histogram");
        TCase *c = tcase_create("histogram");

        tcase_set_timeout(c, 60);
        tcase_add_test(c, every_value_lies_within_its_bucket);
        tcase_add_test(c, buckets_are_in_order_and_at_most_a_64th_wide);
        tcase_add_test(c, beyond_the_last_octave_counts_in_the_last_bucket);
        tcase_add_test(c, percentiles_of_a_known_distribution);
        tcase_add_test(c, percentile_takes_the_value_that_completes_the_fraction);
        tcase_add_test(c, nothing_counted_has_no_percentile);
        tcase_add_test(c, mean_weighs_by_count);
        tcase_add_test(c, difference_undoes_add);
        tcase_add_test(c, round_trip);
        tcase_add_test(c, no_room_gives_zero_and_stays_inside);
        tcase_add_test(c, malformed_is_refused);
        tcase_add_test(c, noise_is_refused_or_encodes_to_itself);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

/* Latencies added up over samples are what their histograms add up to one by one. */

#include "fixture.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"
#include "util/time.h"

enum { N_SAMPLES = 5000 }; /* more than a page */

static void add_samples(Store *store) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
        for (uint64_t seq = 0; seq < N_SAMPLES; seq++) {
                _cleanup_free_ Sample *sample = new_sample(seq);
                sample->phase = seq < 4000 ? 0 : 1;
                sample->latency[DIRECTION_WRITE].buckets[100 + seq % 7] = seq + 1;
                sample->latency[DIRECTION_READ].buckets[200] = seq % 3;
                ck_assert_int_eq(store_insert_sample(store, 1, sample, NULL), 0);
        }
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

typedef struct Sum {
        Histogram histogram;
        Direction direction;
} Sum;

static int add(const Sample *sample, const StoreLatency *latency, void *userdata) {
        Sum *sum = userdata;

        histogram_add(&sum->histogram, &sample->latency[sum->direction]);
        return 0;
}

START_TEST(sum_is_that_of_the_samples) {
        _cleanup_store_ Store *store = open_writer();
        add_run(store);
        add_samples(store);

        const StoreSampleQuery queries[] = {
                { .run = 1, .phase = -1, .to_ns = UINT64_MAX, .with_latency = true },
                { .run = 1, .phase = 1, .to_ns = UINT64_MAX, .with_latency = true },
                { .run = 1, .phase = 0, .first_seq = 10, .from_ns = 20 * NSEC_PER_SEC, .to_ns = 4200 * NSEC_PER_SEC,
                  .with_latency = true },
                { .run = 2, .phase = -1, .to_ns = UINT64_MAX, .with_latency = true },
        };
        for (size_t i = 0; i < ELEMENTSOF(queries); i++)
                for (Direction d = 0; d < N_DIRECTIONS; d++) {
                        static Sum one_by_one;
                        static Histogram sum;
                        one_by_one = (Sum){ .direction = d };
                        ck_assert_int_eq(store_each_sample(store, &queries[i], add, &one_by_one, NULL), 0);
                        ck_assert_int_eq(store_sum_latency(store, &queries[i], d, &sum, NULL), 0);
                        ck_assert_mem_eq(&sum, &one_by_one.histogram, sizeof sum);
                        ck_assert_int_eq(histogram_count(&sum) > 0, i < 3 && d != DIRECTION_TRIM);
                }
}
END_TEST

START_TEST(damaged_latency_is_told) {
        _cleanup_store_ Store *store = open_writer();
        const StoreSampleQuery query = { .run = 1, .phase = -1, .to_ns = UINT64_MAX };
        static Histogram sum;
        add_run(store);
        add_samples(store);

        const char *damage = "UPDATE latencies SET write_latency = x'ff' WHERE seq = 4500";
        ck_assert_int_eq(store_exec(store, damage, NULL, "write"), 0);
        sum.buckets[1] = 42;
        ck_assert_int_eq(store_sum_latency(store, &query, DIRECTION_WRITE, &sum, NULL), -EBADMSG);
        ck_assert_uint_eq(sum.buckets[1], 42);
        ck_assert_int_eq(store_sum_latency(store, &query, DIRECTION_READ, &sum, NULL), 0);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("latency");
        TCase *t = store_case("latency");
        tcase_add_test(t, sum_is_that_of_the_samples);
        tcase_add_test(t, damaged_latency_is_told);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include "engine/distribution.h"

#include <inttypes.h>
#include <math.h>

#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"

#define N_DRAWS (1U << 20)

static int compare_down(const void *a, const void *b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return x < y ? 1 : x > y ? -1 : 0;
}

static void count_draws(const Distribution *d, uint64_t *counts) {
        for (uint64_t i = 0; i < N_DRAWS; i++) {
                uint64_t block = distribution_draw(d, hash_mix64(i));

                if (block >= d->blocks.n)
                        ck_abort_msg("block %" PRIu64 " of %" PRIu64, block, d->blocks.n);
                counts[block]++;
        }
}

/* The two most frequent blocks exactly, and the shares that the first 1 and 10 percent have, by the law itself. */
START_TEST(zipf_follows_its_law) {
        static const double thetas[] = { 0.5, 0.9, 1.1, 1.5 };
        enum { N = 10000 };

        for (size_t i = 0; i < ELEMENTSOF(thetas); i++) {
                PhasePlan plan = { .distribution = DISTRIBUTION_ZIPF, .zipf_theta = thetas[i], .seed = 42 };
                static uint64_t counts[N];
                double total = 0, sum = 0, drawn = 0;
                Distribution d;

                memset(counts, 0, sizeof(counts));
                distribution_init(&d, &plan, DIRECTION_WRITE, N);
                count_draws(&d, counts);
                qsort(counts, N, sizeof(counts[0]), compare_down);

                for (unsigned k = 1; k <= N; k++)
                        total += pow(k, -thetas[i]);
                ck_assert_double_eq_tol(d.zeta, total, 1e-9 * total);
                for (unsigned k = 1; k <= N / 10; k++) {
                        sum += pow(k, -thetas[i]) / total;
                        drawn += (double) counts[k - 1] / N_DRAWS;
                        if (k <= 2 && thetas[i] > 0.8)
                                ck_assert_double_eq_tol(drawn, sum, 0.002);
                        if (k == N / 100 || k == N / 10)
                                ck_assert_double_eq_tol(drawn, sum, 0.03);
                }
        }
}
END_TEST

/* Its frequent blocks lie anywhere, not all at the start. */
START_TEST(zipf_is_spread_over_the_region) {
        PhasePlan plan = { .distribution = DISTRIBUTION_ZIPF, .zipf_theta = 0.9, .seed = 42 };
        enum { N = 1 << 16 };
        static uint64_t counts[N];
        uint64_t half = 0;
        Distribution d;

        distribution_init(&d, &plan, DIRECTION_WRITE, N);
        count_draws(&d, counts);
        for (unsigned i = 0; i < N / 2; i++)
                half += counts[i];
        ck_assert_double_eq_tol((double) half / N_DRAWS, 0.5, 0.15);
}
END_TEST

START_TEST(zones_have_their_shares_and_are_uniform) {
        PhasePlan plan = { .distribution = DISTRIBUTION_ZONED, .seed = 42 };
        static uint64_t counts[1000];
        uint64_t zone[4] = {};
        Distribution d;

        ck_assert_int_eq(zone_split_parse(&plan.zones[DIRECTION_WRITE], "60/10:30/20:0/5:10/60"), 0);
        distribution_init(&d, &plan, DIRECTION_WRITE, 1000);
        count_draws(&d, counts);
        for (unsigned i = 0; i < 1000; i++) {
                unsigned k = i < 100 ? 0 : i < 300 ? 1 : i < 350 ? 2 : i < 950 ? 3 : 2;
                double expected = (double[]){ 0.6 / 100, 0.3 / 200, 0, 0.1 / 600 }[k] * N_DRAWS;

                ck_assert_double_eq_tol((double) counts[i], expected, 6 * sqrt(expected) + 0.5);
                zone[k] += counts[i];
        }
        ck_assert_double_eq_tol((double) zone[0] / N_DRAWS, 0.6, 0.003);
        ck_assert_double_eq_tol((double) zone[1] / N_DRAWS, 0.3, 0.003);
        ck_assert_uint_eq(zone[2], 0);

        /* Without zones of its own a direction goes everywhere. */
        distribution_init(&d, &plan, DIRECTION_READ, 1000);
        ck_assert_int_eq(d.kind, DISTRIBUTION_RANDOM);
}
END_TEST

START_TEST(regions_of_every_size_stay_inside) {
        static const uint64_t sizes[] = { 1, 2, 3, 99, 100, 101, UINT64_C(1) << 37, UINT64_C(1) << 55 };
        static const double thetas[] = { 0.01, 0.99999, 1.00001, 10 };

        for (size_t i = 0; i < ELEMENTSOF(sizes); i++)
                for (size_t k = 0; k <= ELEMENTSOF(thetas); k++) {
                        bool zoned = k == ELEMENTSOF(thetas);
                        PhasePlan plan = {
                                .distribution = zoned ? DISTRIBUTION_ZONED : DISTRIBUTION_ZIPF,
                                .zipf_theta = zoned ? 0 : thetas[k],
                        };
                        Distribution d;

                        ck_assert_int_eq(zone_split_parse(&plan.zones[DIRECTION_WRITE], "50/1:25/98:25/1"), 0);
                        distribution_init(&d, &plan, DIRECTION_WRITE, sizes[i]);
                        for (uint64_t n = 0; n < 10000; n++)
                                if (distribution_draw(&d, hash_mix64(n)) >= sizes[i])
                                        ck_abort_msg("beyond %" PRIu64 " blocks", sizes[i]);
                        ck_assert_uint_lt(distribution_draw(&d, UINT64_MAX), sizes[i]);
                        ck_assert_uint_lt(distribution_draw(&d, 0), sizes[i]);
                }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("distribution");
        TCase *c = tcase_create("distribution");

        tcase_add_test(c, zipf_follows_its_law);
        tcase_add_test(c, zipf_is_spread_over_the_region);
        tcase_add_test(c, zones_have_their_shares_and_are_uniform);
        tcase_add_test(c, regions_of_every_size_stay_inside);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

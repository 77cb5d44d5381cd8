/* SPDX-License-Identifier: MIT */

/* The judgement that ends a phase agrees with that of a recorded one, which is held against fio's own. */

#include "analysis/fio-watch.h"

#include <math.h>

#include "analysis/criteria.h"
#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"

#define N 400U

static uint64_t rates[N];

/* Falls, and then wavers about a level. */
static void make_rates(uint64_t seed) {
        for (unsigned i = 0; i < N; i++)
                rates[i] = (i < 150 ? 9000 - 40 * i : 3000) + hash_below(hash_mix64_2(seed, i), 200);
}

/* The second at whose end it is attained, from the begin on; 0: it is not. */
static unsigned attained_at(const FioSteady *criterion, uint64_t interval_ns, uint64_t begin_ns, unsigned cut_at) {
        _cleanup_(fio_watch_freep) FioWatch *watch = NULL;
        _cleanup_free_ Sample *sample = calloc(1, sizeof(*sample));
        uint64_t per_s = NSEC_PER_SEC / interval_ns;
        double value;

        ck_assert_int_eq(fio_watch_new(&watch, criterion, interval_ns, begin_ns), 0);
        for (unsigned i = 0; i < N * per_s; i++) {
                sample->duration_ns = interval_ns;
                sample->elapsed_ns += interval_ns;
                sample->ios[DIRECTION_READ] = rates[i / per_s] / 2 / per_s;
                sample->ios[DIRECTION_WRITE] = rates[i / per_s] / per_s - sample->ios[DIRECTION_READ];
                sample->bytes[DIRECTION_WRITE] = 4096 * rates[i / per_s] / per_s;
                if (cut_at > 0 && i / per_s == cut_at)
                        fio_watch_cut(watch);
                if (fio_watch_add(watch, sample, &value)) {
                        ck_assert_double_lt(value, criterion->limit);
                        return (unsigned) (i / per_s) + 1;
                }
        }
        return 0;
}

static double recorded_at(const FioCriterion *criterion) {
        SeriesPoint points[N];
        FioResult result;
        Series series;

        for (unsigned i = 0; i < N; i++)
                points[i] = (SeriesPoint){ .from_s = i, .to_s = i + 1, .ios = (double) rates[i] };
        ck_assert_int_eq(series_init(&series, points, N), 0);
        ck_assert_int_eq(fio_judge(&series, criterion, &result), 0);
        series_done(&series);
        return result.attained ? result.attained_at_s : 0;
}

START_TEST(agrees_with_the_judgement_of_a_recorded_phase) {
        static const double limits[] = { 0.02, 0.1, 0.5, 2, 3, 5 };
        unsigned n_attained = 0;

        for (unsigned i = 0; i < ELEMENTSOF(limits) * 2; i++) {
                FioCriterion criterion = { .slope = i % 2, .limit_percent = limits[i / 2], .duration_s = 60 };
                FioSteady steady = { .is_set = true, .of_slope = i % 2, .in_percent = true, .limit = limits[i / 2],
                                     .duration_ns = 60 * NSEC_PER_SEC };

                make_rates(i);
                unsigned at = attained_at(&steady, NSEC_PER_SEC, 0, 0);
                ck_assert_double_eq_tol(at, recorded_at(&criterion), 1e-9);
                n_attained += at > 0;
        }
        ck_assert_uint_ge(n_attained, 4);
        ck_assert_uint_lt(n_attained, ELEMENTSOF(limits) * 2);
}
END_TEST

START_TEST(limits_without_percent_are_amounts) {
        FioSteady steady = { .is_set = true, .limit = 5, .duration_ns = 10 * NSEC_PER_SEC };

        for (unsigned i = 0; i < N; i++)
                rates[i] = 1000 + (i < 100 ? 5 * (i % 2) * 2 : 4 * (i % 2) * 2);
        ck_assert_uint_eq(attained_at(&steady, NSEC_PER_SEC, 0, 0), 110); /* 5 from the mean is not below 5 */
        steady.of_bandwidth = true;
        steady.limit = 5 * 4096;
        ck_assert_uint_eq(attained_at(&steady, NSEC_PER_SEC, 0, 0), 110);
}
END_TEST

START_TEST(the_window_begins_where_it_may) {
        FioSteady steady = { .is_set = true, .limit = 1, .duration_ns = 10 * NSEC_PER_SEC };

        for (unsigned i = 0; i < N; i++)
                rates[i] = 1000;
        ck_assert_uint_eq(attained_at(&steady, NSEC_PER_SEC, 0, 0), 10);
        ck_assert_uint_eq(attained_at(&steady, NSEC_PER_SEC, 7 * NSEC_PER_SEC, 0), 17);
        ck_assert_uint_eq(attained_at(&steady, NSEC_PER_SEC, 0, 6), 16);
        ck_assert_uint_eq(attained_at(&steady, NSEC_PER_SEC / 10, 0, 0), 10);
}
END_TEST

START_TEST(a_dead_drive_is_not_steady) {
        FioSteady steady = { .is_set = true, .in_percent = true, .limit = 5, .duration_ns = 10 * NSEC_PER_SEC };

        for (unsigned i = 0; i < N; i++)
                rates[i] = 0;
        ck_assert_uint_eq(attained_at(&steady, NSEC_PER_SEC, 0, 0), 0);
        steady.of_slope = true;
        ck_assert_uint_eq(attained_at(&steady, NSEC_PER_SEC, 0, 0), 0);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("fio-watch");
        TCase *c = tcase_create("fio-watch");

        tcase_add_test(c, agrees_with_the_judgement_of_a_recorded_phase);
        tcase_add_test(c, limits_without_percent_are_amounts);
        tcase_add_test(c, the_window_begins_where_it_may);
        tcase_add_test(c, a_dead_drive_is_not_steady);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

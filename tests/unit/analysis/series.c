/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "analysis/series.h"
#include "curve.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

static Series series_of(const Curve *curve) {
        Series series;
        ck_assert_int_eq(series_init(&series, curve->points, curve->n), 0);
        return series;
}

START_TEST(short_ends_are_dropped) {
        static const struct { double first_s, last_s; size_t n; } cases[] = {
                { 1, 1, 20 }, { 0.89, 1, 19 }, { 0.91, 1, 20 }, { 1, 0.89, 19 }, { 1, 0.91, 20 }, { 0.1, 0.2, 18 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(curve_done) Curve curve = curve_make(1000, NULL, 0, NULL, 20, 1, 1);
                curve.points[0].from_s = 1 - cases[i].first_s;
                curve.points[10].to_s -= 0.5; /* in the middle it may have any length */
                curve.points[11].from_s -= 0.5;
                curve.points[19].to_s = 19 + cases[i].last_s;
                Series series = series_of(&curve);
                ck_assert_msg(series.n_points == cases[i].n, "case %zu: %zu", i, series.n_points);
                series_done(&series);
        }
}
END_TEST

START_TEST(blocks_have_their_length) {
        static const struct { double iops, length_s, step_s, block_s; size_t n; } cases[] = {
                { 1000, 599, 1, 1, 599 },     { 1000, 600, 1, 10, 60 },   { 19, 300, 1, 10, 30 },
                { 20, 300, 1, 1, 300 },       { 1000, 609, 1, 10, 60 },   { 1000, 1000, 0.25, 10, 100 },
                { 1000, 6000, 60, 60, 100 },  { 1000, 81920, 1, 10, 8192 }, { 1000, 81930, 1, 11, 7448 },
                /* Ten I/Os to a block, unless that makes fewer than thirty of them. */
                { 1, 3600, 1, 10, 360 },      { 0.5, 3600, 2, 20, 180 },  { 0.5, 300, 2, 10, 30 },
                { 0.05, 3600, 20, 120, 30 },  { 0, 3600, 1, 10, 360 },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(curve_done) Curve curve = curve_make(cases[i].iops, NULL, 0, NULL, cases[i].length_s,
                                                               cases[i].step_s, 1);
                Series series = series_of(&curve);
                ck_assert_double_eq_tol(series.block_s, cases[i].block_s, 1e-9);
                ck_assert_msg(series.n_blocks == cases[i].n, "case %zu: %zu blocks", i, series.n_blocks);
                ck_assert_double_eq_tol(series.total_s, cases[i].length_s, 1e-6);
                ck_assert_double_eq_tol(series_level(&series, 0, series.n_blocks), cases[i].iops, 1e-6);
                series_done(&series);
        }
}
END_TEST

/* Second 1003 is cut out, and all that begins within 30 s of its end; blocks begin anew after that. */
START_TEST(less_than_one_io_in_a_block_is_as_good_as_none) {
        ck_assert_double_eq_tol(series_y(0.2, 10), log(0.2), 1e-12);
        ck_assert_double_eq_tol(series_y(0.05, 10), log(0.1), 1e-12);
        ck_assert_double_eq_tol(series_y(0, 60), log(1.0 / 60), 1e-12);
}
END_TEST

START_TEST(cuts_take_what_follows_with_them) {
        _cleanup_(curve_done) Curve curve = curve_make(1000, NULL, 0, NULL, 2000, 1, 1);
        curve.points[1003].cut = true;
        Series series = series_of(&curve);
        ck_assert_uint_eq(series.n_points, 2000 - 31);
        ck_assert_double_eq_tol(series.total_s, 2000 - 31, 1e-9);
        ck_assert_uint_eq(series.n_blocks, 100 + 96);
        for (size_t i = 0; i < series.n_blocks; i++) {
                ck_assert_int_eq(series.blocks[i].after_cut, i == 100);
                ck_assert_double_eq_tol(series.blocks[i].duration_s, 10, 1e-9);
        }
        ck_assert_double_eq_tol(series.blocks[100].from_s, 1034, 1e-9);
        series_done(&series);
}
END_TEST

START_TEST(level_is_ios_by_duration) {
        SeriesPoint points[30] = {};
        for (size_t i = 0; i < ELEMENTSOF(points); i++)
                points[i] = (SeriesPoint){ .from_s = (double) i, .to_s = (double) i + 1, .ios = 100, .bytes = 7 };
        points[3].ios = 400; /* one second late in a sample of its own: four seconds' worth of work in four */
        for (size_t i = 3; i < ELEMENTSOF(points); i++) {
                points[i].from_s += i > 3 ? 3 : 0;
                points[i].to_s += 3;
        }
        Series series;
        ck_assert_int_eq(series_init(&series, points, ELEMENTSOF(points)), 0);
        ck_assert_uint_eq(series.n_blocks, 30);
        for (size_t i = 0; i < series.n_blocks; i++)
                ck_assert_double_eq_tol(series.blocks[i].level, 100, 1e-9);
        ck_assert_double_eq_tol(series.blocks[5].y, log(100), 1e-9);
        ck_assert_double_eq_tol(series.blocks[5].bytes, 7, 1e-9);
        series_done(&series);
}
END_TEST

START_TEST(extremes_are_those_of_windows) {
        _cleanup_(curve_done) Curve curve = curve_make(1000, NULL, 0, NULL, 300, 1, 1);
        curve.points[100].ios = 100;
        curve.points[200].ios = 4000;
        Series series = series_of(&curve);
        ck_assert_double_eq_tol(series_extreme(&series, 0, 1, fmin), 100, 1e-9);
        ck_assert_double_eq_tol(series_extreme(&series, 0, 0.1, fmin), 100, 1e-9);
        ck_assert_double_eq_tol(series_extreme(&series, 0, 10, fmin), 910, 1e-9);
        ck_assert_double_eq_tol(series_extreme(&series, 0, 10, fmax), 1300, 1e-9);
        ck_assert_double_eq_tol(series_extreme(&series, 101, 10, fmin), 1000, 1e-9);
        ck_assert(isnan(series_extreme(&series, 291, 10, fmin)));
        series_done(&series);
}
END_TEST

START_TEST(a_host_that_set_the_pace_counts_with_what_follows) {
        _cleanup_(curve_done) Curve curve = curve_make(1000, NULL, 0, NULL, 200, 1, 1);
        curve.points[10].host_limited = curve.points[20].host_limited = true; /* up to 51 s */
        curve.points[199].host_limited = true;
        Series series = series_of(&curve), none = {};
        ck_assert_double_eq_tol(series_host_share(&series, NAN), 42.0 / 200, 1e-9);
        ck_assert_double_eq_tol(series_host_share(&series, 50), 2.0 / 150, 1e-9); /* what follows is in it */
        ck_assert_double_eq_tol(series_host_share(&series, 100), 1.0 / 100, 1e-9);
        ck_assert_double_eq(series_host_share(&series, 1000), 0);
        ck_assert_double_eq(series_host_share(&none, NAN), 0);
        series_done(&series);
}
END_TEST

START_TEST(level_with_room_is_that_of_enough_seconds_with_room) {
        _cleanup_(curve_done) Curve curve = curve_make(1000, NULL, 0, NULL, 200, 1, 1);
        for (size_t i = 100; i < 110; i++) {
                curve.points[i].host_had_room = true;
                curve.points[i].ios = 500;
        }
        Series series = series_of(&curve);
        ck_assert_double_eq_tol(series_level_with_room(&series, NAN), 500, 1e-9);
        ck_assert_double_eq_tol(series_level_with_room(&series, 100), 500, 1e-9);
        ck_assert(isnan(series_level_with_room(&series, 101))); /* nine seconds are left */
        series_done(&series);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("series");
        TCase *t = tcase_create("series");
        tcase_add_test(t, short_ends_are_dropped);
        tcase_add_test(t, blocks_have_their_length);
        tcase_add_test(t, less_than_one_io_in_a_block_is_as_good_as_none);
        tcase_add_test(t, cuts_take_what_follows_with_them);
        tcase_add_test(t, level_is_ios_by_duration);
        tcase_add_test(t, extremes_are_those_of_windows);
        tcase_add_test(t, a_host_that_set_the_pace_counts_with_what_follows);
        tcase_add_test(t, level_with_room_is_that_of_enough_seconds_with_room);
        suite_add_tcase(s, t);
        return s;
}
UNIT_TEST_MAIN(make_suite)

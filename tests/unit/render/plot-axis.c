/* SPDX-License-Identifier: MIT */

#include "render/plot-axis.h"

#include <math.h>

#include "render/canvas.h"
#include "unit.h"
#include "util/macro.h"

START_TEST(steps_are_nice) {
        static const struct {
                double x, step;
        } cases[] = {
                { 1, 1 },        { 1.01, 2 },     { 2, 2 },     { 2.5, 5 },     { 5, 5 },        { 5.1, 10 },
                { 7000, 10000 }, { 0.011, 0.02 }, { 0.5, 0.5 }, { 1000, 1000 }, { 1e15, 1e15 },  { 0.1, 0.1 },
                { 3e-9, 5e-9 },  { 0, 1 },        { -3, 1 },    { NAN, 1 },     { INFINITY, 1 },
        };

        for (unsigned i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_double_eq_tol(axis_nice_step(cases[i].x) / cases[i].step, 1, 1e-9);
}
END_TEST

static void assert_label(double value, const char *expected) {
        char buf[AXIS_LABEL_MAX];

        ck_assert_str_eq(axis_format_value(value, buf), expected);
}

START_TEST(labels_are_short) {
        assert_label(0, "0");
        assert_label(0.2, "0.2");
        assert_label(500, "500");
        assert_label(1000, "1k");
        assert_label(2500, "2.5k");
        assert_label(40000, "40k");
        assert_label(350000, "350k");
        assert_label(1000000, "1M");
        assert_label(2e9, "2G");
        assert_label(999.9999999, "1k");
}
END_TEST

/* For every height and highest value: it fits, uses most of the height, and each label is exactly at the foot of its
 * row. */
START_TEST(linear_scale_fits_and_ticks_are_exact) {
        for (unsigned rows = 4; rows <= 60; rows++)
                for (double highest = 1e-3; highest < 1e9; highest *= 1.37) {
                        ValueAxis axis = value_axis_make(rows, false, highest, highest, false);
                        unsigned n_ticks = 0;

                        ck_assert_double_le(highest,
                                            axis.step * (rows * 4 - 1) / (axis.rows_per_step * 4.0) * (1 + 1e-9));
                        ck_assert_uint_ge(value_axis_dot(&axis, highest), (unsigned) (rows * 4 * 0.4));
                        for (unsigned row = 0; row < rows; row++) {
                                double value;
                                if (!value_axis_tick(&axis, row, &value))
                                        continue;
                                n_ticks++;
                                ck_assert_uint_eq(value_axis_dot(&axis, value), row * CELL_DOTS_HIGH);
                        }
                        ck_assert_uint_ge(n_ticks, 2);
                }
}
END_TEST

START_TEST(log_scale_has_exact_decades) {
        ValueAxis axis = value_axis_make(16, true, 35000, 500, false);
        unsigned n = 0;
        double value;

        for (unsigned row = 0; row < 16; row++)
                if (value_axis_tick(&axis, row, &value) && fabs(log10(value) - round(log10(value))) < 1e-9) {
                        ck_assert_double_eq_tol(value, pow(10, 2 + n), 1e-6);
                        ck_assert_uint_eq(value_axis_dot(&axis, value), row * CELL_DOTS_HIGH);
                        n++;
                }
        ck_assert_uint_eq(n, 3); /* 100, 1k, 10k */
        ck_assert_uint_gt(value_axis_dot(&axis, 35000), value_axis_dot(&axis, 34000) - 1);
        ck_assert_uint_ge(value_axis_dot(&axis, 35000), 40);
}
END_TEST

START_TEST(log_scale_keeps_a_row_for_zeros) {
        ValueAxis axis = value_axis_make(16, true, 35000, 1000, true);
        double value;

        ck_assert(value_axis_tick(&axis, 0, &value));
        ck_assert_double_eq(value, 0);
        ck_assert_uint_eq(value_axis_dot(&axis, 0), 0);
        ck_assert_uint_eq(value_axis_dot(&axis, -1), 0);
        ck_assert_uint_eq(value_axis_dot(&axis, 1000), CELL_DOTS_HIGH);
}
END_TEST

START_TEST(log_scale_takes_anything) {
        static const struct {
                double highest, lowest;
        } cases[] = { { 0, 0 }, { 1, 1 }, { 1e18, 1e-18 }, { 1e-300, 1e-300 }, { 1e300, 1e-300 }, { 10, 10 } };

        for (unsigned i = 0; i < ELEMENTSOF(cases); i++)
                for (unsigned rows = 4; rows < 40; rows++) {
                        ValueAxis axis = value_axis_make(rows, true, cases[i].highest, cases[i].lowest, true);

                        ck_assert_uint_ge(axis.rows_per_decade, 1);
                        ck_assert_uint_lt(value_axis_dot(&axis, cases[i].highest), rows * CELL_DOTS_HIGH);
                        ck_assert_uint_le(value_axis_dot(&axis, cases[i].lowest),
                                          value_axis_dot(&axis, cases[i].highest));
                }
}
END_TEST

static void assert_times(double span_s, double step_s, const char *label) {
        TimeAxis axis = time_axis_make(0, span_s, 6);
        char buf[AXIS_LABEL_MAX];

        ck_assert_double_eq_tol(axis.step_s / step_s, 1, 1e-9);
        ck_assert_str_eq(time_axis_format(&axis, axis.step_s, buf), label);
        ck_assert_str_eq(time_axis_format(&axis, 0, buf), "0");
}

START_TEST(time_units_fit_the_span) {
        assert_times(1, 0.2, "0.2 s");
        assert_times(10, 2, "2 s");
        assert_times(60, 10, "10 s");
        assert_times(120, 20, "20 s");
        assert_times(300, 60, "1 min");
        assert_times(1200, 300, "5 min");
        assert_times(7200, 1200, "20 min");
        assert_times(5 * 3600, 3600, "1 h");
        assert_times(36000, 7200, "2 h");
        assert_times(86400, 4 * 3600, "4 h");
        assert_times(10 * 86400, 2 * 86400, "2 d");
        assert_times(100 * 86400, 20 * 86400, "20 d");
}
END_TEST

START_TEST(time_ticks_are_few) {
        for (double span_s = 1e-3; span_s < 1e8; span_s *= 1.17) {
                TimeAxis axis = time_axis_make(0, span_s, 6);

                ck_assert_double_le(span_s / axis.step_s, 6 + 1e-9);
                ck_assert_double_ge(span_s / axis.step_s, 1);
        }
}
END_TEST

START_TEST(amounts_have_decimal_steps) {
        static const struct {
                double to, step;
                const char *second;
        } cases[] = {
                { 1, 0.2, "0.2 GB" },
                { 0.04, 0.01, "0.01 GB" },
                { 480, 100, "100 GB" },
                { 3600, 1000, "1000 GB" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                TimeAxis axis = amount_axis_make(0, cases[i].to, 6, "GB");
                char label[AXIS_LABEL_MAX];

                ck_assert_double_eq_tol(axis.step_s, cases[i].step, 1e-9);
                ck_assert_str_eq(time_axis_format(&axis, 0, label), "0");
                ck_assert_str_eq(time_axis_format(&axis, axis.step_s, label), cases[i].second);
        }
}
END_TEST

static Suite *axis_suite(void) {
        Suite *suite = suite_create("plot-axis");
        TCase *tcase = tcase_create("plot-axis");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, steps_are_nice);
        tcase_add_test(tcase, labels_are_short);
        tcase_add_test(tcase, linear_scale_fits_and_ticks_are_exact);
        tcase_add_test(tcase, log_scale_has_exact_decades);
        tcase_add_test(tcase, log_scale_keeps_a_row_for_zeros);
        tcase_add_test(tcase, log_scale_takes_anything);
        tcase_add_test(tcase, time_units_fit_the_span);
        tcase_add_test(tcase, time_ticks_are_few);
        tcase_add_test(tcase, amounts_have_decimal_steps);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(axis_suite)

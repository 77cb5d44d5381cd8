/* SPDX-License-Identifier: MIT */

#include "render/plot.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "render/columns.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define N_MAX 36000

static double from_s[N_MAX], to_s[N_MAX], values[N_MAX], others[N_MAX];

static PlotSeries make(size_t n, double (*value)(size_t i)) {
        for (size_t i = 0; i < n; i++) {
                from_s[i] = (double) i;
                to_s[i] = (double) i + 1;
                values[i] = value(i);
                others[i] = 2 * values[i];
        }
        return (PlotSeries) { .label = "one", .from_s = from_s, .to_s = to_s, .value = values, .n = n };
}

static double flat(size_t i) {
        return 8000;
}

static double dip(size_t i) {
        return i == 20000 ? 0 : 8000;
}

/* In the middle of a dot column of 240 s each, even and odd ones. */
static double dips(size_t i) {
        return i == 20 * 240 + 120 || i == 31 * 240 + 120 || i == 40 * 240 + 120 || i == 51 * 240 + 120 ? 0 : 8000;
}

static double cliff(size_t i) {
        return i < 45 ? 6500 : 256;
}

static double zero(size_t i) {
        return 0;
}

static char *print(const PlotSeries *series, size_t n, const PlotOptions *options) {
        _cleanup_error_ Error error = ERROR_INIT;
        char *text = NULL;
        size_t length;
        FILE *f = open_memstream(&text, &length);

        ck_assert_msg(plot_print(f, series, n, options, &error) == 0, "%s", error_message(&error));
        fclose(f);
        return text;
}

/* The nth line, from 0, allocated. */
static char *line_of(const char *text, unsigned n) {
        for (; n > 0; n--) {
                text = strchr(text, '\n');
                ck_assert_ptr_nonnull(text);
                text++;
        }
        return strndup(text, strcspn(text, "\n"));
}

static unsigned count_lines(const char *text) {
        unsigned n = 0;

        for (; (text = strchr(text, '\n')); text++)
                n++;
        return n;
}

static void assert_narrow(const char *text, unsigned width) {
        for (unsigned i = 0, n = count_lines(text); i < n; i++) {
                _cleanup_free_ char *line = line_of(text, i);
                ck_assert_msg(text_columns(line) <= width, "wider than %u: %s", width, line);
        }
}

START_TEST(cliff_is_drawn) {
        PlotSeries series = make(120, cliff);
        PlotOptions options = { .title = "Write IOPS", .unit = "IOPS", .width = 60, .height = 7 };
        _cleanup_free_ char *text = print(&series, 1, &options);

        /* 45 s of 120 in 56 columns end in the middle of the 22nd; 256 IOPS lie one dot above zero. */
        ck_assert_str_eq(text,
                "Write IOPS                  ⠤⠤⠤ mean   ⡪⡪⡪ lowest to highest\n"
                "IOPS\n"
                "6k ┤⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⡄\n"
                "   │                     ⡇\n"
                "4k ┤                     ⡇\n"
                "   │                     ⡇\n"
                "2k ┤                     ⡇\n"
                "   │                     ⡇\n"
                " 0 ┤                     ⠧⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤\n"
                "   └┬─────────────┬─────────────┬─────────────┬────────────┬\n"
                "    0           30 s          60 s          90 s       120 s\n");
}
END_TEST

START_TEST(single_bad_second_is_seen) {
        PlotSeries series = make(N_MAX, dip);
        PlotOptions options = { .ascii = true };
        _cleanup_free_ char *text = print(&series, 1, &options);
        _cleanup_free_ char *lowest = line_of(text, count_lines(text) - 3);

        ck_assert_ptr_nonnull(strstr(text, "lowest to highest"));
        ck_assert_ptr_nonnull(strchr(lowest, ':'));
}
END_TEST

START_TEST(bad_seconds_are_seen_down_to_the_ground) {
        PlotSeries series = make(N_MAX, dips);
        PlotOptions options = { .width = 80 };
        _cleanup_free_ char *text = print(&series, 1, &options);
        _cleanup_free_ char *lowest = line_of(text, count_lines(text) - 3);

        /* Every other dot of the range, but the lowest one in any case. */
        ck_assert_str_eq(lowest, "  0 ┤          ⡂    ⢨    ⡂    ⢨");
}
END_TEST

START_TEST(no_line_is_too_wide) {
        static const PlotMark marks[] = {
                { .at_s = 0, .text = "begin" },
                { .at_s = 470, .text = "日本語 in the middle" },
                { .at_s = 471,
                  .text = "again, and with a great many words that do not fit on any line of a terminal at all" },
                { .at_s = 1000, .text = "end" },
        };
        PlotSeries series[] = { make(1000, cliff), {} };
        series[1] = series[0];
        series[1].label =
                "a label 日本語 that is so long that it can never be shown on a line of 80 columns, whatever happens";

        for (unsigned width = 40; width <= 200; width += 7)
                for (unsigned style = 0; style < 4; style++) {
                        PlotOptions options = {
                                .title = "ein sehr langer Titel für diese Kurve 日本語 日本語 日本語 日本語 日本語 日本語",
                                .unit = "IOPS",
                                .width = width,
                                .ascii = style & 1,
                                .log_scale = style & 2,
                                .marks = marks,
                                .n_marks = ELEMENTSOF(marks),
                        };
                        _cleanup_free_ char *text = print(series, 2, &options);
                        assert_narrow(text, width);
                }
}
END_TEST

START_TEST(ascii_is_ascii) {
        static const PlotMark mark = { .at_s = 5, .text = "é" };
        PlotSeries series = make(N_MAX, dip);
        PlotOptions options = { .title = "é", .unit = "é", .ascii = true, .marks = &mark, .n_marks = 1 };
        _cleanup_free_ char *text = print(&series, 1, &options);

        for (const char *p = text; *p; p++)
                ck_assert(*p == '\n' || (*p >= ' ' && *p <= '~'));
}
END_TEST

START_TEST(colour_only_when_asked_for) {
        PlotSeries series = make(100, flat);
        PlotOptions options = { .title = "t" };
        _cleanup_free_ char *plain = print(&series, 1, &options);
        ck_assert_ptr_null(strchr(plain, '\033'));

        options.color = true;
        _cleanup_free_ char *color = print(&series, 1, &options);
        ck_assert_ptr_nonnull(strstr(color, "\033[36m"));
}
END_TEST

START_TEST(hostile_text_stays_on_its_line) {
        static const PlotMark mark = { .at_s = 5, .text = "c\n\033[2J" };
        PlotSeries series[] = { make(10, flat), {} };
        series[0].label = "a\nb";
        series[1] = series[0];
        PlotOptions options = { .title = "t\n\033[2J\xff%n", .unit = "u\n", .height = 4, .marks = &mark, .n_marks = 1 };
        _cleanup_free_ char *text = print(series, 2, &options);

        ck_assert_ptr_null(strchr(text, '\033'));
        ck_assert_uint_eq(count_lines(text), 1 + 2 + 1 + 4 + 2 + 1);
}
END_TEST

START_TEST(several_series_have_a_legend) {
        PlotSeries series[] = { make(100, flat), {} };
        PlotOptions options = { .ascii = true };
        series[1] = series[0];
        series[1].value = others;
        series[1].label = "two";
        _cleanup_free_ char *text = print(series, 2, &options);

        ck_assert_ptr_nonnull(strstr(text, "*** one\nooo two\n"));
}
END_TEST

START_TEST(looks_that_come_again_are_told) {
        static const struct {
                PlotOptions options;
                size_t n;
                const char *expected;
        } cases[] = {
                { { .ascii = true }, 7, "after 6 curves the characters come again" },
                { { .color = true }, 7, "after 6 curves the colours come again" },
                { {}, 5, "after 4 curves the dashes come again" },
        };
        PlotSeries series[7];

        for (size_t i = 0; i < ELEMENTSOF(series); i++)
                series[i] = make(100, flat);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *enough = print(series, cases[i].n - 1, &cases[i].options);
                _cleanup_free_ char *text = print(series, cases[i].n, &cases[i].options);

                ck_assert_ptr_null(strstr(enough, "come again"));
                ck_assert_ptr_nonnull(strstr(text, cases[i].expected));
        }
}
END_TEST

START_TEST(marks_stand_below_their_time) {
        static const PlotMark marks[] = {
                { .at_s = 0, .text = "begin" },
                { .at_s = 50, .text = "middle" },
                { .at_s = 100, .text = "end" },
                { .at_s = 101, .text = "never" },
        };
        PlotSeries series = make(100, flat);
        PlotOptions options = { .width = 52, .height = 4, .ascii = true, .marks = marks, .n_marks = ELEMENTSOF(marks) };
        _cleanup_free_ char *text = print(&series, 1, &options);
        _cleanup_free_ char *line = line_of(text, count_lines(text) - 1);

        ck_assert_str_eq(line, "    ^ begin                 ^ middle           end ^");
        ck_assert_ptr_null(strstr(text, "never"));
}
END_TEST

START_TEST(too_many_marks_are_counted) {
        PlotMark marks[20];
        PlotSeries series = make(100, flat);
        PlotOptions options = { .marks = marks, .n_marks = ELEMENTSOF(marks) };

        for (unsigned i = 0; i < ELEMENTSOF(marks); i++)
                marks[i] = (PlotMark) { .at_s = 50, .text = "here" };
        _cleanup_free_ char *text = print(&series, 1, &options);
        ck_assert_ptr_nonnull(strstr(text, "and 14 more\n"));
}
END_TEST

START_TEST(edges_are_drawn) {
        PlotOptions options = {};
        PlotSeries series = make(1, flat);

        for (unsigned log_scale = 0; log_scale < 2; log_scale++) {
                options.log_scale = log_scale;
                _cleanup_free_ char *one = print(&series, 1, &options);
                ck_assert_uint_eq(count_lines(one), 18);
        }

        series = make(60, zero);
        options.log_scale = true;
        _cleanup_free_ char *log_zero = print(&series, 1, &options);
        options.log_scale = false;
        _cleanup_free_ char *linear_zero = print(&series, 1, &options);
        ck_assert_ptr_nonnull(strstr(log_zero, "0 ┤⣀⣀⣀"));
        ck_assert_ptr_nonnull(strstr(linear_zero, "0 ┤⣀⣀⣀"));
}
END_TEST

START_TEST(nothing_to_plot_is_said) {
        PlotSeries series = make(3, zero);
        PlotOptions options = { .title = "t" };
        _cleanup_free_ char *none = print(NULL, 0, &options);
        ck_assert_str_eq(none, "t\nno samples to plot\n");

        for (unsigned i = 0; i < 3; i++)
                values[i] = NAN;
        _cleanup_free_ char *nan = print(&series, 1, &options);
        ck_assert_str_eq(nan, "t\nno samples to plot\n");
}
END_TEST

START_TEST(failure_to_write_is_told) {
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_fclose_ FILE *full = fopen("/dev/full", "we");
        PlotSeries series = make(3, flat);
        PlotOptions options = {};

        ck_assert_int_eq(plot_print(full, &series, 1, &options, &error), -ENOSPC);
        ck_assert_int_eq(error.kind, ERROR_FAILED);
}
END_TEST

static Suite *plot_suite(void) {
        Suite *suite = suite_create("plot");
        TCase *tcase = tcase_create("plot");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, cliff_is_drawn);
        tcase_add_test(tcase, single_bad_second_is_seen);
        tcase_add_test(tcase, bad_seconds_are_seen_down_to_the_ground);
        tcase_add_test(tcase, no_line_is_too_wide);
        tcase_add_test(tcase, ascii_is_ascii);
        tcase_add_test(tcase, colour_only_when_asked_for);
        tcase_add_test(tcase, hostile_text_stays_on_its_line);
        tcase_add_test(tcase, several_series_have_a_legend);
        tcase_add_test(tcase, looks_that_come_again_are_told);
        tcase_add_test(tcase, marks_stand_below_their_time);
        tcase_add_test(tcase, too_many_marks_are_counted);
        tcase_add_test(tcase, edges_are_drawn);
        tcase_add_test(tcase, nothing_to_plot_is_said);
        tcase_add_test(tcase, failure_to_write_is_told);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(plot_suite)

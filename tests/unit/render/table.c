/* SPDX-License-Identifier: MIT */

#include "render/table.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

static const TableColumn columns[] = {
        { .heading = "RUN", .right = true },
        { .heading = "NAME", .truncate = true },
        { .heading = "STATE" },
};

static char *print_within(const Table *table, unsigned width) {
        char *text = NULL;
        size_t length;
        FILE *f = open_memstream(&text, &length);

        ck_assert_int_eq(table_print(table, f, width, false), 0);
        fclose(f);
        return text;
}

static char *print(const Table *table) {
        return print_within(table, 0);
}

static Table *make(const char *const (*rows)[3], size_t n) {
        Table *table;

        ck_assert_int_eq(table_new(&table, columns, ELEMENTSOF(columns)), 0);
        for (size_t i = 0; i < n; i++)
                ck_assert_int_eq(table_add_row(table, rows[i]), 0);
        return table;
}

START_TEST(columns_are_aligned) {
        _cleanup_(table_freep) Table *table =
                make((const char *const[][3]){ { "7", "x", "done" }, { "10", "yy", NULL } }, 2);
        _cleanup_free_ char *text = print(table);

        ck_assert_str_eq(text, "RUN NAME STATE\n"
                               "  7 x    done\n"
                               " 10 yy   -\n");
}
END_TEST

/* In a locale that cannot show it too: there libsmartcols alone would not come to an end. */
START_TEST(text_is_measured_in_columns) {
        ck_assert_ptr_nonnull(setlocale(LC_ALL, _i == 0 ? "C" : "C.UTF-8"));
        _cleanup_(table_freep) Table *table =
                make((const char *const[][3]){ { "1", "日本", "é" }, { "2", "bür", "x" } }, 2);
        _cleanup_free_ char *text = print(table);

        ck_assert_str_eq(text, "RUN NAME STATE\n"
                               "  1 日本 é\n"
                               "  2 bür  x\n");
}
END_TEST

START_TEST(hostile_cells_stay_on_their_line) {
        ck_assert_ptr_nonnull(setlocale(LC_ALL, _i == 0 ? "C" : "C.UTF-8"));
        _cleanup_(table_freep) Table *table =
                make((const char *const[][3]){ { "1", "a\nb\x1b[31m\xff\\", "%s%n" } }, 1);
        _cleanup_free_ char *text = print(table);

        ck_assert_ptr_null(strchr(text, '\x1b'));
        ck_assert_ptr_null(strchr(text, '\xff'));
        ck_assert_ptr_nonnull(strstr(text, "a\\nb\\x1"));
        ck_assert_ptr_nonnull(strstr(text, "\\\\ %s%n"));
        ck_assert_ptr_eq(strchr(strchr(text, '\n') + 1, '\n') + 1, text + strlen(text));
}
END_TEST

START_TEST(table_without_rows_prints_nothing) {
        _cleanup_(table_freep) Table *table = make(NULL, 0);
        _cleanup_free_ char *text = print(table);

        ck_assert_str_eq(text, "");
}
END_TEST

static const TableColumn ranked[] = {
        { "RUN", .right = true }, { "NAME", .truncate = true, .columns_max = 30 }, { "MODEL", .rank = 2 },
        { "LABEL", .may_be_empty = true }, { "SERIAL", .rank = 1 },
};

static Table *make_ranked(const char *name) {
        const char *const row[] = { "7", name, "ModelX", NULL, "S3Z8NB0K" };
        Table *table;

        ck_assert_int_eq(table_new(&table, ranked, ELEMENTSOF(ranked)), 0);
        ck_assert_int_eq(table_add_row(table, row), 0);
        return table;
}

START_TEST(columns_go_by_rank_before_others_are_squeezed) {
        static const struct {
                unsigned width;
                const char *expected;
        } cases[] = {
                { 0, "RUN NAME                 MODEL  SERIAL\n  7 a name of 20 columns ModelX S3Z8NB0K\n" },
                { 40, "RUN NAME                 MODEL  SERIAL\n  7 a name of 20 columns ModelX S3Z8NB0K\n" },
                { 36, "RUN NAME             MODEL  SERIAL\n  7 a name of 20 co… ModelX S3Z8NB0K\n" },
                { 31, "RUN NAME               SERIAL\n  7 a name of 20 colu… S3Z8NB0K\n" },
                { 20, "RUN NAME\n  7 a name of 20 co…\n" },
                { 9, "RUN NAME\n  7 a na…\n" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(table_freep) Table *table = make_ranked("a name of 20 columns");
                _cleanup_free_ char *text = print_within(table, cases[i].width);

                ck_assert_str_eq(text, cases[i].expected);
        }
}
END_TEST

START_TEST(long_cells_are_cut_where_a_column_is_bounded) {
        _cleanup_(table_freep) Table *table = make_ranked("a name of many more columns than thirty");
        _cleanup_free_ char *text = print(table);

        ck_assert_ptr_nonnull(strstr(text, " a name of many more columns t… ModelX"));
}
END_TEST

START_TEST(failure_to_write_is_told) {
        _cleanup_(table_freep) Table *table = make((const char *const[][3]) { { "1", "x", "y" } }, 1);
        _cleanup_fclose_ FILE *full = fopen("/dev/full", "we");

        ck_assert_int_eq(table_print(table, full, 0, false), -ENOSPC);
}
END_TEST

static Suite *table_suite(void) {
        Suite *suite = suite_create("table");
        TCase *tcase = tcase_create("table");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, columns_are_aligned);
        tcase_add_loop_test(tcase, text_is_measured_in_columns, 0, 2);
        tcase_add_loop_test(tcase, hostile_cells_stay_on_their_line, 0, 2);
        tcase_add_test(tcase, table_without_rows_prints_nothing);
        tcase_add_test(tcase, columns_go_by_rank_before_others_are_squeezed);
        tcase_add_test(tcase, long_cells_are_cut_where_a_column_is_bounded);
        tcase_add_test(tcase, failure_to_write_is_told);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(table_suite)

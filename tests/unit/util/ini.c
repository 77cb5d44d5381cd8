/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "unit.h"
#include "util/ini.h"

/* Writes every entry as "line:section#index:key=value|" ("key|" for a bare one, "[]|" for a header). */
static int record(const IniEntry *entry, void *userdata, Error *error) {
        FILE *out = userdata;

        fprintf(out, "%u:%s#%u:", entry->line, entry->section, entry->section_index);
        if (!entry->key)
                fputs("[]|", out);
        else if (!entry->value)
                fprintf(out, "%s|", entry->key);
        else
                fprintf(out, "%s=%s|", entry->key, entry->value);
        return 0;
}

static int parse(const char *text, size_t length, char **ret_recorded, Error *error) {
        size_t size;
        FILE *out = open_memstream(ret_recorded, &size);

        ck_assert_ptr_nonnull(out);
        int r = ini_parse("f.ini", text, length, record, out, error);
        fclose(out);
        return r;
}

static void check_entries(const char *text, const char *expected) {
        _cleanup_free_ char *recorded = NULL;
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_msg(parse(text, strlen(text), &recorded, &error) == 0, "%s", error_message(&error));
        ck_assert_str_eq(recorded, expected);
}

static void check_refused(const char *text, size_t length, const char *place) {
        _cleanup_free_ char *recorded = NULL;
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_eq(parse(text, length, &recorded, &error), -EINVAL);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        ck_assert_msg(strncmp(error_message(&error), place, strlen(place)) == 0, "%s", error_message(&error));
}

START_TEST(test_sections_keys_and_bare_keys) {
        check_entries("[global]\nbs=4k\n[a]\nnorandommap\nrw=read\n",
                      "1:global#1:[]|2:global#1:bs=4k|3:a#2:[]|4:a#2:norandommap|5:a#2:rw=read|");
}
END_TEST

START_TEST(test_repeated_sections_and_options_are_all_told) {
        check_entries("[a]\nx=1\nx=2\n[a]\n[a]\nx=3",
                      "1:a#1:[]|2:a#1:x=1|3:a#1:x=2|4:a#2:[]|5:a#3:[]|6:a#3:x=3|");
}
END_TEST

START_TEST(test_entries_before_the_first_section) {
        check_entries("x=1\n[a]\n", "1:#0:x=1|2:a#1:[]|");
}
END_TEST

START_TEST(test_comments_anywhere) {
        check_entries("; c\n# c\n  ;c\n[a] # c\nx=1 # y=2\nx=1;2\n#[b]\nbare ; c\n",
                      "4:a#1:[]|5:a#1:x=1|6:a#1:x=1|8:a#1:bare|");
}
END_TEST

START_TEST(test_blanks_and_line_ends) {
        check_entries("  [a b]  \r\n\r\n\t x \t=\t 1 2 \r\n   \nbare \r\nempty=\r\n",
                      "1:a b#1:[]|3:a b#1:x=1 2|5:a b#1:bare|6:a b#1:empty=|");
        check_entries("[ a ]\n", "1: a #1:[]|");
        check_entries("", "");
        check_entries("\n\n", "");
        check_entries("[a]\nx=1=2", "1:a#1:[]|2:a#1:x=1=2|");
}
END_TEST

START_TEST(test_a_byte_order_mark_is_skipped_at_the_start_only) {
        check_entries("\xef\xbb\xbf[a]\nx=1\n", "1:a#1:[]|2:a#1:x=1|");
        check_entries("\xef\xbb\xbf", "");
        check_entries("[a]\n\xef\xbb\xbfx=1\n", "1:a#1:[]|2:a#1:\xef\xbb\xbfx=1|");
}
END_TEST

START_TEST(test_lines_of_any_length) {
        enum { LENGTH = 200000 };
        _cleanup_free_ char *text = malloc(LENGTH + 1);
        _cleanup_free_ char *recorded = NULL;
        _cleanup_error_ Error error = ERROR_INIT;

        memset(text, 'v', LENGTH);
        text[LENGTH] = '\0';
        memcpy(text, "k=", 2);
        ck_assert_int_eq(parse(text, LENGTH, &recorded, &error), 0);
        ck_assert_uint_eq(strlen(recorded), strlen("1:#0:") + LENGTH + strlen("|"));
}
END_TEST

START_TEST(test_text_needs_no_terminator) {
        _cleanup_free_ char *recorded = NULL;

        ck_assert_int_eq(parse("[a]\nx=12345", strlen("[a]\nx=12"), &recorded, NULL), 0);
        ck_assert_str_eq(recorded, "1:a#1:[]|2:a#1:x=12|");
}
END_TEST

START_TEST(test_broken_lines_are_refused_where_they_are) {
        check_refused("[a\n", 3, "f.ini:1: ");
        check_refused("[a]\n[]\n", 7, "f.ini:2: ");
        check_refused("[a]\n[\n", 6, "f.ini:2: ");
        check_refused("[a]x\n", 5, "f.ini:1: ");
        check_refused("[a]\n\n=5\n", 8, "f.ini:3: ");
        check_refused("[a]\nx=\0001\n", 9, "f.ini:2: ");
        check_refused("[a]\n# a comment\0too\n", 20, "f.ini:2: ");
}
END_TEST

static int stop_at_second(const IniEntry *entry, void *userdata, Error *error) {
        unsigned *calls = userdata;

        return ++*calls == 2 ? error_set(error, ERROR_REFUSED, EPERM, "enough") : 0;
}

START_TEST(test_handler_ends_the_parse) {
        _cleanup_error_ Error error = ERROR_INIT;
        unsigned calls = 0;

        ck_assert_int_eq(ini_parse("f", "[a]\nx\ny\n", 8, stop_at_second, &calls, &error), -EPERM);
        ck_assert_uint_eq(calls, 2);
        ck_assert_str_eq(error_message(&error), "enough");
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("ini");
        TCase *tc = tcase_create("ini");

        tcase_add_test(tc, test_sections_keys_and_bare_keys);
        tcase_add_test(tc, test_repeated_sections_and_options_are_all_told);
        tcase_add_test(tc, test_entries_before_the_first_section);
        tcase_add_test(tc, test_comments_anywhere);
        tcase_add_test(tc, test_blanks_and_line_ends);
        tcase_add_test(tc, test_a_byte_order_mark_is_skipped_at_the_start_only);
        tcase_add_test(tc, test_lines_of_any_length);
        tcase_add_test(tc, test_text_needs_no_terminator);
        tcase_add_test(tc, test_broken_lines_are_refused_where_they_are);
        tcase_add_test(tc, test_handler_ends_the_parse);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

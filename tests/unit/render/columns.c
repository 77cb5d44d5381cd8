/* SPDX-License-Identifier: MIT */

#include "render/columns.h"

#include <string.h>

#include "unit.h"
#include "util/cleanup.h"

static void assert_fit(const char *s, size_t columns, bool ascii, const char *expected) {
        _cleanup_free_ char *text = text_fit(s, columns, ascii);

        ck_assert_str_eq(text, expected);
        ck_assert_uint_le(text_columns(text), columns);
}

START_TEST(columns_are_what_is_shown) {
        ck_assert_uint_eq(text_columns(""), 0);
        ck_assert_uint_eq(text_columns("abc"), 3);
        ck_assert_uint_eq(text_columns("bür"), 3);
        ck_assert_uint_eq(text_columns("日本"), 4);
        ck_assert_uint_eq(text_columns("e\xcc\x81"), 1); /* a combining accent */
        ck_assert_uint_eq(text_columns("\xff\x1b"), 2);
}
END_TEST

START_TEST(text_is_cut_to_fit) {
        assert_fit("abc", 3, false, "abc");
        assert_fit("abcd", 3, false, "ab…");
        assert_fit("abcdef", 5, true, "ab...");
        assert_fit("日本語", 5, false, "日本…");
        assert_fit("日本語", 4, false, "日…"); /* a wide character is not halved */
        assert_fit("abc", 0, false, "");
        assert_fit("abc", 2, true, "");
}
END_TEST

START_TEST(text_is_harmless) {
        assert_fit("a\nb\x1b\xff", 10, false, "a?b??");
        assert_fit("bür", 10, true, "b?r");
}
END_TEST

static Suite *columns_suite(void) {
        Suite *suite = suite_create("columns");
        TCase *tcase = tcase_create("columns");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, columns_are_what_is_shown);
        tcase_add_test(tcase, text_is_cut_to_fit);
        tcase_add_test(tcase, text_is_harmless);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(columns_suite)

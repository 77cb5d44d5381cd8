/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"
#include "util/text.h"

typedef struct TextCase {
        const char *text, *expected;
} TextCase;

static void check_cases(char *(*convert)(const char *), const TextCase *cases, size_t n) {
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *converted = convert(cases[i].text);

                ck_assert_pstr_eq(converted, cases[i].expected);
        }
}

#define R "\xef\xbf\xbd"

START_TEST(test_invalid_bytes_are_replaced_one_by_one) {
        static const TextCase cases[] = {
                { "", "" },
                { "plain", "plain" },
                { "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
                { "a\xff" "b", "a" R "b" },
                { "\x80", R },
                { "\xc3", R },                         /* cut short by the end */
                { "\xe2\x82z", R R "z" },              /* cut short by another character */
                { "\xc0\xaf", R R },                   /* overlong */
                { "\xe0\x80\xaf", R R R },             /* overlong */
                { "\xf0\x80\x80\xaf", R R R R },       /* overlong */
                { "\xed\xa0\x80", R R R },             /* a surrogate */
                { "\xf4\x90\x80\x80", R R R R },       /* beyond U+10FFFF */
                { "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
                { "\xf8\x88\x80\x80\x80", R R R R R },
        };

        check_cases(text_to_utf8, cases, ELEMENTSOF(cases));
}
END_TEST

START_TEST(test_escape_leaves_nothing_that_acts_on_a_terminal) {
        static const TextCase cases[] = {
                { "", "" },
                { "INTEL SSDSC2BW12 %s %n", "INTEL SSDSC2BW12 %s %n" },
                { "a\nb\rc\td\\", "a\\nb\\rc\\td\\\\" },
                { "\x1b[31m\x07\x7f", "\\x1B[31m\\x07\\x7F" },
                { "\xc2\x9b" "2J", "\\x9B2J" },                   /* C1: CSI in one character */
                { "\xff\xc3", "\\xFF\\xC3" },
                { "a\xe2\x80\xaeg", "a\\u{202E}g" },              /* right-to-left override */
                { "\xe2\x80\x8b\xef\xbb\xbf", "\\u{200B}\\u{FEFF}" },
                { "\xe2\x80\xa8", "\\u{2028}" },                  /* a line separator */
                { "\xf3\xa0\x80\x81", "\\u{E0001}" },
                { "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac" },
        };

        check_cases(text_escape, cases, ELEMENTSOF(cases));
}
END_TEST

START_TEST(test_a_shell_gets_one_word) {
        static const char *const cases[][2] = {
                { "S3Z8_NB0K-n1", "S3Z8_NB0K-n1" }, { "", "''" }, { "a b", "'a b'" }, { "it's", "'it'\\''s'" },
                { "$(x)`y`", "'$(x)`y`'" }, { "~root", "'~root'" }, { "a\nb", "'a\nb'" }, { "'", "''\\'''" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *word = text_shell_word(cases[i][0]);
                ck_assert_str_eq(word, cases[i][1]);
        }
}
END_TEST

START_TEST(test_strip) {
        static const TextCase cases[] = {
                { "", "" }, { "   ", "" }, { "a", "a" }, { "  a b\t\n", "a b" }, { "\r\n\v\fx", "x" },
        };

        check_cases(text_strip, cases, ELEMENTSOF(cases));
}
END_TEST

START_TEST(test_sizes_are_rounded_to_a_decimal) {
        static const struct {
                uint64_t bytes;
                const char *expected;
        } cases[] = {
                { 0, "0 B" },
                { 512, "512 B" },
                { 1023, "1023 B" },
                { 1024, "1 KiB" },
                { 1536, "1.5 KiB" },
                { 1048575, "1 MiB" }, /* never "1024 KiB" */
                { UINT64_C(120034123776), "111.8 GiB" },
                { 64 * TIB, "64 TiB" },
                { UINT64_MAX, "16 EiB" },
        };
        char buf[TEXT_SIZE_MAX];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_str_eq(text_format_size(cases[i].bytes, buf), cases[i].expected);
}
END_TEST

START_TEST(test_sizes_at_most_are_never_less) {
        static const struct {
                uint64_t bytes;
                const char *expected;
        } cases[] = {
                { 0, "0 B" },
                { 1023, "1023 B" },
                { 1024, "1 KiB" },
                { 1025, "1.1 KiB" },
                { 1048575, "1 MiB" },
                { 1048577, "1.1 MiB" },
                { 6082560, "5.9 MiB" },
                { UINT64_MAX, "16 EiB" },
        };
        char buf[TEXT_SIZE_MAX];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_str_eq(text_format_size_up(cases[i].bytes, buf), cases[i].expected);
        ck_assert_str_eq(text_format_size(6082560, buf), "5.8 MiB");
}
END_TEST

START_TEST(test_counts_have_three_digits) {
        static const struct {
                double value;
                const char *expected;
        } cases[] = {
                { 0, "0" },          { 0.5, "0.5" },         { 512, "512" },        { 999.4, "999" },
                { 999.6, "1.00k" },  { 1000, "1.00k" },      { 9994, "9.99k" },     { 9996, "10.0k" },
                { 35200, "35.2k" },  { 99960, "100k" },      { 1210000, "1.21M" },  { 999600, "1.00M" },
                { -1500, "-1.50k" }, { NAN, "-" },           { INFINITY, "-" },     { 2.5e9, "2.50G" },
        };
        char buf[TEXT_SIZE_MAX];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_str_eq(text_format_count(cases[i].value, buf), cases[i].expected);
        text_format_count(1e308, buf);
        text_format_count(-1e308, buf);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("text");
        TCase *tc = tcase_create("text");

        tcase_add_test(tc, test_invalid_bytes_are_replaced_one_by_one);
        tcase_add_test(tc, test_escape_leaves_nothing_that_acts_on_a_terminal);
        tcase_add_test(tc, test_a_shell_gets_one_word);
        tcase_add_test(tc, test_strip);
        tcase_add_test(tc, test_sizes_are_rounded_to_a_decimal);
        tcase_add_test(tc, test_sizes_at_most_are_never_less);
        tcase_add_test(tc, test_counts_have_three_digits);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

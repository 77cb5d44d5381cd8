/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "arguments.h"
#include "unit.h"

static const Option verb_options[] = {
        { .name = "device", .argument = "DEV", .many = true },
        { .name = "label", .argument = "TEXT" },
        { .name = "wait" },
        {},
};
static const Option global_options[] = {
        { .name = "host", .letter = 'H', .argument = "HOST" },
        { .name = "json" },
        {},
};
static const ArgumentRules rules = {
        .tables = (const Option *const[]) { verb_options, global_options, NULL },
        .n_words_min = 1,
};

#define READ(a, error, ...) arguments_read(a, (char *[]) { __VA_ARGS__, NULL }, &rules, error)

static char *s(const char *text) {
        return (char *) text;
}

START_TEST(test_options_and_words_in_any_order) {
        _cleanup_arguments_ Arguments a = {};

        ck_assert_int_eq(READ(&a, NULL, s("--wait"), s("job"), s("--label"), s("x"), s("--json")), 5);
        ck_assert_uint_eq(a.n_words, 1);
        ck_assert_str_eq(a.words[0], "job");
        ck_assert_str_eq(arguments_value(&a, "label"), "x");
        ck_assert(arguments_has(&a, "wait"));
        ck_assert(arguments_has(&a, "json"));
        ck_assert(!arguments_has(&a, "host"));
        ck_assert_ptr_null(arguments_value(&a, "host"));
}
END_TEST

START_TEST(test_value_after_equals) {
        _cleanup_arguments_ Arguments a = {};

        ck_assert_int_eq(READ(&a, NULL, s("--label=a=b"), s("--label=")), 2);
        ck_assert_str_eq(a.values[0].value, "a=b");
        ck_assert_str_eq(arguments_value(&a, "label"), "");
}
END_TEST

START_TEST(test_letter) {
        _cleanup_arguments_ Arguments a = {};

        ck_assert_int_eq(READ(&a, NULL, s("-H"), s("one"), s("-Htwo")), 3);
        ck_assert_str_eq(a.values[0].value, "one");
        ck_assert_str_eq(arguments_value(&a, "host"), "two");
}
END_TEST

START_TEST(test_words_after_a_many_option_are_its_values) {
        _cleanup_arguments_ Arguments a = {};

        READ(&a, NULL, s("job"), s("--device"), s("a"), s("b"), s("--wait"), s("--device=c"));
        ck_assert_uint_eq(a.n_words, 1);
        _cleanup_free_ const char **devices = arguments_values(&a, "device");
        ck_assert_str_eq(devices[0], "a");
        ck_assert_str_eq(devices[1], "b");
        ck_assert_str_eq(devices[2], "c");
        ck_assert_ptr_null(devices[3]);
}
END_TEST

/* start --device DEV JOB: the word that the verb needs comes first. */
START_TEST(test_many_option_leaves_the_words_needed) {
        _cleanup_arguments_ Arguments a = {};

        READ(&a, NULL, s("--device"), s("a"), s("job"), s("b"));
        ck_assert_uint_eq(a.n_words, 1);
        ck_assert_str_eq(a.words[0], "job");
        ck_assert_uint_eq(a.n_values, 2);
        ck_assert_str_eq(a.values[1].value, "b");
}
END_TEST

START_TEST(test_word_after_another_option_is_a_word) {
        _cleanup_arguments_ Arguments a = {};

        READ(&a, NULL, s("job"), s("--device"), s("a"), s("--wait"), s("b"));
        ck_assert_uint_eq(a.n_words, 2);
        ck_assert_str_eq(a.words[1], "b");
}
END_TEST

START_TEST(test_dashes_end_options) {
        _cleanup_arguments_ Arguments a = {};

        READ(&a, NULL, s("job"), s("--device"), s("a"), s("--"), s("--wait"), s("-"));
        ck_assert_uint_eq(a.n_words, 3);
        ck_assert_str_eq(a.words[1], "--wait");
        ck_assert_str_eq(a.words[2], "-");
        ck_assert(!arguments_has(&a, "wait"));
}
END_TEST

START_TEST(test_a_single_dash_is_a_word) {
        _cleanup_arguments_ Arguments a = {};

        READ(&a, NULL, s("-"));
        ck_assert_str_eq(a.words[0], "-");
}
END_TEST

START_TEST(test_stop_at_word) {
        const ArgumentRules stop = { .tables = rules.tables, .stop_at_word = true };
        _cleanup_arguments_ Arguments a = {};

        ck_assert_int_eq(arguments_read(&a, (char *[]) { s("--json"), s("verb"), s("--nonsense"), NULL }, &stop, NULL),
                         1);
        ck_assert_uint_eq(a.n_words, 0);
}
END_TEST

static void expect_error(char *const *argv, const char *part) {
        _cleanup_arguments_ Arguments a = {};
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_eq(arguments_read(&a, argv, &rules, &error), -EINVAL);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        ck_assert_msg(strstr(error_message(&error), part), "%s: %s", part, error_message(&error));
}

START_TEST(test_errors_name_what_is_wrong) {
        expect_error((char *[]) { s("--devise"), NULL }, "did you mean --device?");
        expect_error((char *[]) { s("--lable=x"), NULL }, "unknown option --lable; did you mean --label?");
        expect_error((char *[]) { s("--dev"), NULL }, "unknown option --dev"); /* no abbreviations */
        expect_error((char *[]) { s("--quite-another"), NULL }, "--help lists");
        expect_error((char *[]) { s("--label"), NULL }, "--label needs a value: TEXT");
        expect_error((char *[]) { s("--wait=yes"), NULL }, "--wait takes no value");
        expect_error((char *[]) { s("-H"), NULL }, "-H needs a value");
        expect_error((char *[]) { s("-x"), NULL }, "unknown option '-x'");
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("arguments");
        TCase *tc = tcase_create("read");

        tcase_add_test(tc, test_options_and_words_in_any_order);
        tcase_add_test(tc, test_value_after_equals);
        tcase_add_test(tc, test_letter);
        tcase_add_test(tc, test_words_after_a_many_option_are_its_values);
        tcase_add_test(tc, test_many_option_leaves_the_words_needed);
        tcase_add_test(tc, test_word_after_another_option_is_a_word);
        tcase_add_test(tc, test_dashes_end_options);
        tcase_add_test(tc, test_a_single_dash_is_a_word);
        tcase_add_test(tc, test_stop_at_word);
        tcase_add_test(tc, test_errors_name_what_is_wrong);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

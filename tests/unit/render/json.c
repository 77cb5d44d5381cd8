/* SPDX-License-Identifier: MIT */

#include "render/json.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "unit.h"
#include "util/cleanup.h"

/* The object on one line, and the object freed. */
static char *print(json_object *object) {
        char *text = NULL;
        size_t length;
        FILE *f = open_memstream(&text, &length);

        ck_assert_ptr_nonnull(f);
        ck_assert_int_eq(json_print(object, true, f), 0);
        fclose(f);
        json_object_put(object);
        return text;
}

static void assert_double(double value, const char *expected) {
        json_object *object = json_object_new_object();

        json_add_double(object, "x", value);
        _cleanup_free_ char *text = print(object);
        _cleanup_free_ char *line = NULL;
        ck_assert_int_ge(asprintf(&line, "{\"x\":%s}\n", expected), 0);
        ck_assert_str_eq(text, line);
}

START_TEST(doubles_are_short_and_finite) {
        assert_double(12.5, "12.5");
        assert_double(0.1 + 0.2, "0.3");
        assert_double(1.0 / 3, "0.333333333333333");
        assert_double(35000, "35000");
        assert_double(0, "0");
        assert_double(-0.0, "0");
        assert_double(-2.25, "-2.25");
        assert_double(1e300, "1e+300");
        assert_double(NAN, "null");
        assert_double(INFINITY, "null");
        assert_double(-INFINITY, "null");
}
END_TEST

/* A locale with a decimal comma, made for this program alone, for hardly a machine has one. */
static char locale_dir[] = "/tmp/plateau-locale-XXXXXX";

static void shell(const char *before, const char *after) {
        _cleanup_free_ char *command = NULL;

        ck_assert_int_ge(asprintf(&command, "%s %s%s", before, locale_dir, after), 0);
        if (system(command) != 0)
                printf("# failed: %s\n", command);
}

static void make_locale(void) {
        ck_assert_ptr_nonnull(mkdtemp(locale_dir));
        shell("localedef -i de_DE -f UTF-8", "/de_DE.UTF-8 >/dev/null 2>&1");
        setenv("LOCPATH", locale_dir, 1);
}

static void remove_locale(void) {
        shell("rm -r", "");
}

START_TEST(decimal_point_is_a_point_in_every_locale) {
        if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
                puts("# no locale with a decimal comma: the package locales is missing");
                return;
        }
        assert_double(-1.5e-7, "-1.5e-07");
        assert_double(12.5, "12.5");
}
END_TEST

START_TEST(integers_are_exact) {
        json_object *object = json_object_new_object();

        json_add_u64(object, "max", UINT64_MAX);
        json_add_u64(object, "beyond_double", (UINT64_C(1) << 53) + 1);
        _cleanup_free_ char *text = print(object);
        ck_assert_str_eq(text, "{\"max\":18446744073709551615,\"beyond_double\":9007199254740993}\n");
}
END_TEST

START_TEST(seconds_keep_nanoseconds) {
        json_object *object = json_object_new_object();

        json_add_seconds(object, "a", 0);
        json_add_seconds(object, "b", UINT64_C(60000000000));
        json_add_seconds(object, "c", UINT64_C(1500000000));
        json_add_seconds(object, "d", UINT64_C(36000000000001));
        json_add_seconds(object, "e", UINT64_C(50000000));
        json_add_seconds(object, "f", UINT64_MAX);
        _cleanup_free_ char *text = print(object);
        ck_assert_str_eq(text,
                         "{\"a\":0,\"b\":60,\"c\":1.5,\"d\":36000.000000001,\"e\":0.05,\"f\":18446744073.709551615}\n");
}
END_TEST

START_TEST(strings_are_valid_utf8_or_null) {
        json_object *object = json_object_new_object(), *array = json_object_new_array();

        json_add_string(object, "bad\n", "a\xff/\"\x1b");
        json_add_string(object, "null", NULL);
        json_append_string(array, "\xc3\xa9");
        json_append_string(array, NULL);
        json_add(object, "array", array);
        _cleanup_free_ char *text = print(object);
        ck_assert_str_eq(text,
                         "{\"bad\\n\":\"a\xef\xbf\xbd/\\\"\\u001b\",\"null\":null,\"array\":[\"\xc3\xa9\",null]}\n");
}
END_TEST

START_TEST(nothing_acts_on_a_terminal) {
        static const char hostile[] = "a\xc2\x9b" "31m\x7f\xe2\x80\xae\x1b[0m\xf3\xa0\x80\x81\xc3\xa9";
        json_object *object = json_object_new_object();
        json_add_string(object, hostile, hostile);
        _cleanup_free_ char *text = print(object);
        ck_assert_str_eq(text, "{\"a\\u009b31m\\u007f\\u202e\\u001b[0m\\udb40\\udc01\xc3\xa9\":"
                               "\"a\\u009b31m\\u007f\\u202e\\u001b[0m\\udb40\\udc01\xc3\xa9\"}\n");

        /* And it reads back as what it was. */
        _cleanup_json_ json_object *again = json_tokener_parse(text);
        ck_assert_str_eq(json_object_get_string(json_object_object_get(again, hostile)), hostile);
}
END_TEST

START_TEST(times_have_an_offset) {
        json_object *object = json_object_new_object();

        setenv("TZ", "UTC", 1);
        json_add_time(object, "never", 0);
        json_add_time(object, "at", INT64_C(1772399645123000000));
        json_add_bool(object, "b", true);
        json_add_null(object, "n");
        _cleanup_free_ char *text = print(object);
        ck_assert_str_eq(text, "{\"never\":null,\"at\":\"2026-03-01T21:14:05.123+00:00\",\"b\":true,\"n\":null}\n");
}
END_TEST

START_TEST(document_is_pretty_or_one_line) {
        _cleanup_json_ json_object *object = json_object_new_object();
        _cleanup_free_ char *text = NULL;
        size_t length;
        FILE *f = open_memstream(&text, &length);

        json_add_u64(object, "x", 1);
        json_add_u64(object, "y", 2);
        ck_assert_int_eq(json_print(object, false, f), 0);
        fclose(f);
        ck_assert_str_eq(text, "{\n  \"x\": 1,\n  \"y\": 2\n}\n");
}
END_TEST

START_TEST(failure_to_write_is_told) {
        _cleanup_json_ json_object *object = json_object_new_object();
        _cleanup_fclose_ FILE *full = fopen("/dev/full", "we");

        ck_assert_ptr_nonnull(full);
        ck_assert_int_eq(json_print(object, true, full), -ENOSPC);
}
END_TEST

static Suite *json_suite(void) {
        Suite *suite = suite_create("json");
        TCase *tcase = tcase_create("json");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, doubles_are_short_and_finite);
        tcase_add_test(tcase, integers_are_exact);
        tcase_add_test(tcase, seconds_keep_nanoseconds);
        tcase_add_test(tcase, strings_are_valid_utf8_or_null);
        tcase_add_test(tcase, nothing_acts_on_a_terminal);
        tcase_add_test(tcase, times_have_an_offset);
        tcase_add_test(tcase, document_is_pretty_or_one_line);
        tcase_add_test(tcase, failure_to_write_is_told);
        suite_add_tcase(suite, tcase);

        TCase *comma = tcase_create("comma");
        tcase_set_timeout(comma, 60);
        tcase_add_unchecked_fixture(comma, make_locale, remove_locale);
        tcase_add_test(comma, decimal_point_is_a_point_in_every_locale);
        suite_add_tcase(suite, comma);
        return suite;
}

UNIT_TEST_MAIN(json_suite)

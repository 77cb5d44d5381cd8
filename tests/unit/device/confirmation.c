/* SPDX-License-Identifier: MIT */

/* What --confirm must say, and what it is told to say. */

#include <string.h>

#include "device/confirmation.h"
#include "unit.h"

static void expect(const DeviceInfo *info, const char *confirmation, bool fits) {
        const char *const confirmations[] = { "another", confirmation, NULL };
        _cleanup_free_ char *word = device_confirmation(info);
        _cleanup_reasons_ Reasons reasons = {};

        ck_assert_int_eq(confirmation_check(word, NULL, confirmations, &reasons), 0);
        ck_assert_msg((reasons.n == 0) == fits, "%s", confirmation);
}

static void expect_told(const DeviceInfo *info, const char *text) {
        _cleanup_free_ char *word = device_confirmation(info);
        _cleanup_reasons_ Reasons reasons = {};

        ck_assert_int_eq(confirmation_check(word, NULL, NULL, &reasons), 0);
        ck_assert_uint_eq(reasons.n, 1);
        ck_assert_int_eq((int) reasons.items[0].kind, REASON_UNCONFIRMED);
        ck_assert_str_eq(reasons.items[0].text, text);
}

static DeviceInfo device(const char *serial) {
        return (DeviceInfo) { .path = (char *) "/dev/sdx", .name = (char *) "sdx", .serial = (char *) serial };
}

START_TEST(test_serial) {
        const DeviceInfo info = device("S4EW NX0");

        expect(&info, "S4EW NX0", true);
        expect(&info, "S4EW NX", false);
        expect(&info, "s4ew nx0", false);
        expect(&info, "S4EW NX0-part1", false);
        expect(&info, "sdx", false); /* the name is the drive's only while it has no serial */
        expect(&info, "", false);
}
END_TEST

START_TEST(test_name) {
        const DeviceInfo info = device(NULL);

        expect(&info, "sdx", true);
        expect(&info, "/dev/sdx", false);
        expect_told(&info, "not confirmed; confirm with --confirm sdx");
}
END_TEST

START_TEST(test_twin) {
        const char *const confirmations[] = { "X1", NULL };
        _cleanup_reasons_ Reasons reasons = {};

        ck_assert_int_eq(confirmation_check("sdx", "/dev/sdy", confirmations, &reasons), 0);
        ck_assert_uint_eq(reasons.n, 1);
        ck_assert_str_eq(reasons.items[0].text, "not confirmed: /dev/sdy has the same serial number, which so confirms "
                                                "neither; confirm with --confirm sdx");
}
END_TEST

START_TEST(test_partition_and_namespace) {
        DeviceInfo info = device("X1");

        info.partition = 3;
        expect(&info, "X1-part3", true);
        expect(&info, "X1", false);
        info.n_namespaces = 1;
        info.namespace_id = 1;
        expect(&info, "X1-part3", true);
        info.n_namespaces = 2;
        expect(&info, "X1-n1-part3", true);
        expect(&info, "X1-part3", false);
        info.partition = 0;
        expect(&info, "X1-n1", true);
        expect(&info, "X1", false);
}
END_TEST

/* A drive whose serial cannot be typed is confirmed by what is shown of it. */
START_TEST(test_hostile_serial) {
        const DeviceInfo info = device("a\xff\033b");

        expect(&info, "a\xff\033b", true);
        expect(&info, "a\xef\xbf\xbd\033b", true);
        expect(&info, "a\\xFF\\x1Bb", true);
        expect(&info, "ab", false);
}
END_TEST

START_TEST(test_told_as_a_shell_word) {
        const DeviceInfo plain = device("WD-WX1:2/3_4.5"), blank = device("A B"), quote = device("it's $HOME");

        expect_told(&plain, "not confirmed; confirm with --confirm WD-WX1:2/3_4.5");
        expect_told(&blank, "not confirmed; confirm with --confirm 'A B'");
        expect_told(&quote, "not confirmed; confirm with --confirm 'it'\\''s $HOME'");
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("confirmation");
        TCase *tests = tcase_create("confirmation");

        tcase_add_test(tests, test_serial);
        tcase_add_test(tests, test_name);
        tcase_add_test(tests, test_twin);
        tcase_add_test(tests, test_partition_and_namespace);
        tcase_add_test(tests, test_hostile_serial);
        tcase_add_test(tests, test_told_as_a_shell_word);
        suite_add_tcase(suite, tests);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

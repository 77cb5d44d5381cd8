/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "device/configuration.h"
#include "unit.h"
#include "util/macro.h"

static Configuration configuration;
static Error error = ERROR_INIT;
static char path[64];

/* Reads text as a file. */
static int read_bytes(const char *text, size_t length) {
        int fd = memfd_create("plateaud.conf", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, text, length), (ssize_t) length);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        int r = configuration_read(&configuration, path, &error);
        close(fd);
        return r;
}

static void clear(void) {
        configuration_clear(&configuration);
        error_clear(&error);
}

static void assert_strings(char **strings, const char *const *expected, size_t n) {
        for (size_t i = 0; i < n; i++)
                ck_assert_str_eq(strings[i], expected[i]);
        ck_assert(n == 0 ? !strings : !strings[n]);
}

START_TEST(test_patterns_come_in_their_order) {
        static const char text[] = "# ours\n[devices]\ndeny = Samsung SSD 870*\r\n\ndeny=/dev/disk/by-id/ata-*\n"
                                   "[devices]\ndeny=S3*  ; the boot drives\n";

        ck_assert_int_eq(read_bytes(text, strlen(text)), 0);
        assert_strings(configuration.deny, (const char *[]) { "Samsung SSD 870*", "/dev/disk/by-id/ata-*", "S3*" }, 3);
        clear();
}
END_TEST

START_TEST(test_what_is_wrong_is_told_by_its_line) {
        static const struct {
                const char *text, *words;
        } cases[] = {
                { "[devices]\n\ndeny=\n", ":3: deny has no value" },
                { "[devices]\ndeny\n", ":2: deny has no value" },
                { "[devices]\ndeny=/mnt/x\n", ":2: deny=/mnt/x: expected a path below /dev" },
                { "[devices\ndeny=x\n", ":1: " },
                { "[devices]\ndeny=/dev/sda /dev/sdb\n", ":2: deny=/dev/sda /dev/sdb: expected one path" },
                { "deny=sda\n[devices]\n", ":1: no section: expected the section [devices]" },
                { "[devices]\ndenny=sda\n", ":2: unknown option 'denny': expected deny=" },
                { "[devices]\ndeny sda\n", ":2: unknown option 'deny sda'" },
                { "[Devices]\ndeny=sda\n", ":1: [Devices]: expected the section [devices]" },
                { "[device]\n", ":1: [device]: expected" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                ck_assert_int_lt(read_bytes(cases[i].text, strlen(cases[i].text)), 0);
                ck_assert_int_eq((int) error.kind, ERROR_USAGE);
                ck_assert_msg(strstr(error_message(&error), cases[i].words) != NULL, "%s", error_message(&error));
                ck_assert_int_eq(strncmp(error_message(&error), path, strlen(path)), 0);
                ck_assert_ptr_null(configuration.deny);
                clear();
        }
        ck_assert_int_lt(read_bytes("[devices]\n\0\n", 12), 0);
        clear();
}
END_TEST

START_TEST(test_what_is_no_file_is_refused) {
        _cleanup_free_ char *large = malloc(CONFIGURATION_BYTES_MAX + 1);

        memset(large, '\n', CONFIGURATION_BYTES_MAX + 1);
        ck_assert_int_eq(read_bytes(large, CONFIGURATION_BYTES_MAX), 0);
        ck_assert_int_eq(read_bytes(large, CONFIGURATION_BYTES_MAX + 1), -E2BIG);
        clear();
        ck_assert_int_eq(configuration_read(&configuration, "/dev", &error), -EINVAL);
        clear();
        ck_assert_int_eq(configuration_read(&configuration, "/dev/zero", &error), -EINVAL);
        clear();
        ck_assert_int_eq(configuration_read(&configuration, "/nonexistent/plateaud.conf", &error), -ENOENT);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "/nonexistent/plateaud.conf"));
        clear();
}
END_TEST

/* A partition that no machine has, so that only what is said here can fit. */
static const DeviceInfo partition = {
        .path = (char *) "/dev/sdzz3", .name = (char *) "sdzz3", .disk_name = (char *) "sdzz",
        .model = (char *) "ACME [Turbo] 9", .serial = (char *) "S*\n%n",
        .major = 4095, .minor = 1048575,
};

static unsigned n_denied(const DeviceInfo *info, const char *pattern) {
        _cleanup_reasons_ Reasons reasons = {};
        const char *const deny[] = { pattern, "nothing fits this", NULL };

        ck_assert_int_eq(device_check_denied(info, deny, &reasons), 0);
        for (size_t i = 0; i < reasons.n; i++) {
                ck_assert_int_eq((int) reasons.items[i].kind, REASON_DENIED);
                ck_assert_ptr_nonnull(strstr(reasons.items[i].text, pattern));
        }
        return (unsigned) reasons.n;
}

START_TEST(test_model_serial_and_path_are_denied) {
        static const DeviceInfo bare = { .path = (char *) "/dev/sdzz", .name = (char *) "sdzz",
                                         .disk_name = (char *) "sdzz", .major = 4095, .minor = 1048574 };
        static const char *const fit[] = { "ACME*", "*Turbo*", "S\\**", "S?\n%n", "/dev/sdzz3", "/dev/sdzz", "/dev/sd*",
                                           "*", "sdzz", "sdzz3", "sd*" };
        static const char *const miss[] = { "ACME", "acme*", "S", "sdzz33", "/dev/sdzz33", "/dev/sdz", "Turbo",
                                            "/dev/null" };

        for (size_t i = 0; i < ELEMENTSOF(fit); i++)
                ck_assert_msg(n_denied(&partition, fit[i]) == 1, "%s", fit[i]);
        for (size_t i = 0; i < ELEMENTSOF(miss); i++)
                ck_assert_msg(n_denied(&partition, miss[i]) == 0, "%s", miss[i]);
        ck_assert_uint_eq(n_denied(&bare, "ACME*"), 0);
        ck_assert_uint_eq(n_denied(&bare, "/dev/sdzz"), 1);
}
END_TEST

START_TEST(test_without_patterns_nothing_is_denied) {
        _cleanup_reasons_ Reasons reasons = {};

        ck_assert_int_eq(device_check_denied(&partition, NULL, &reasons), 0);
        ck_assert_uint_eq(reasons.n, 0);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("configuration");
        TCase *tc = tcase_create("configuration");

        tcase_add_test(tc, test_patterns_come_in_their_order);
        tcase_add_test(tc, test_what_is_wrong_is_told_by_its_line);
        tcase_add_test(tc, test_what_is_no_file_is_refused);
        tcase_add_test(tc, test_model_serial_and_path_are_denied);
        tcase_add_test(tc, test_without_patterns_nothing_is_denied);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

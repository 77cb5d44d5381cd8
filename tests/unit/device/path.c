/* SPDX-License-Identifier: MIT */

/* What a path may name, and what is said of one that names no block device. */

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "device/info.h"
#include "unit.h"

static char dir[] = P_tmpdir "/plateau-path-XXXXXX";

static void enter(void) {
        ck_assert_ptr_nonnull(mkdtemp(dir));
        ck_assert_int_eq(chdir(dir), 0);
}

static void leave(void) {
        static const char *const names[] = { "file", "link", "pipe", "socket", "folder" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                (void) remove(names[i]);
        ck_assert_int_eq(chdir("/"), 0);
        ck_assert_int_eq(rmdir(dir), 0); /* so nothing else was made in it */
        memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
}

static void make_file(const char *name) {
        FILE *file = fopen(name, "we");

        ck_assert_ptr_nonnull(file);
        fclose(file);
}

static void expect(const char *path, int errnum, ErrorKind kind, const char *words) {
        _cleanup_error_ Error error = ERROR_INIT;
        DeviceInfo *info = NULL;

        ck_assert_int_eq(device_info_read(&info, path, &error), -errnum);
        ck_assert_int_eq((int) error.kind, (int) kind);
        ck_assert_ptr_null(info);
        ck_assert_msg(strstr(error_message(&error), path) && strstr(error_message(&error), words),
                      "%s", error_message(&error));
}

START_TEST(test_missing) {
        expect("missing", ENOENT, ERROR_NOT_FOUND, "there is no device");
        ck_assert_int_ne(access("missing", F_OK), 0);
}
END_TEST

START_TEST(test_missing_below_file) {
        make_file("file");
        expect("file/disk", ENOENT, ERROR_NOT_FOUND, "there is no device");
}
END_TEST

START_TEST(test_dangling_link) {
        ck_assert_int_eq(symlink("nowhere", "link"), 0);
        expect("link", ENOENT, ERROR_REFUSED, "leads nowhere (to nowhere)");
}
END_TEST

START_TEST(test_link_to_itself) {
        ck_assert_int_eq(symlink("link", "link"), 0);
        expect("link", ENOENT, ERROR_REFUSED, "leads nowhere");
}
END_TEST

START_TEST(test_regular_file) {
        make_file("file");
        expect("file", ENOTBLK, ERROR_REFUSED, "a regular file");
        ck_assert_int_eq(symlink("file", "link"), 0);
        expect("link", ENOTBLK, ERROR_REFUSED, "a regular file");
}
END_TEST

START_TEST(test_directory) {
        ck_assert_int_eq(mkdir("folder", 0700), 0);
        expect("folder", ENOTBLK, ERROR_REFUSED, "a directory");
}
END_TEST

START_TEST(test_character_device) {
        expect("/dev/null", ENOTBLK, ERROR_REFUSED, "a character device");
}
END_TEST

START_TEST(test_pipe) {
        ck_assert_int_eq(mkfifo("pipe", 0600), 0);
        expect("pipe", ENOTBLK, ERROR_REFUSED, "a pipe");
}
END_TEST

START_TEST(test_socket) {
        struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(bind(fd, (const struct sockaddr *) &address, sizeof(address)), 0);
        expect("socket", ENOTBLK, ERROR_REFUSED, "a socket");
        close(fd);
}
END_TEST

/* Whatever devices this machine has: each that is listed can be read, by any link, and is what it was listed as. */
START_TEST(test_listed_devices) {
        _cleanup_error_ Error error = ERROR_INIT;
        char **paths = NULL;

        ck_assert_int_eq(device_list(&paths, &error), 0);
        for (char **path = paths; *path; path++) {
                _cleanup_device_info_ DeviceInfo *info = NULL;
                if (access(*path, F_OK) < 0)
                        continue; /* no node for it in this container */
                ck_assert_int_eq(symlink(*path, "link"), 0);
                ck_assert_msg(device_info_read(&info, "link", &error) == 0, "%s", error_message(&error));
                ck_assert_str_eq(info->path, *path);
                ck_assert_uint_gt(info->size_bytes, 0);
                ck_assert_uint_ge(info->logical_block_bytes, 512);
                ck_assert_int_eq(unlink("link"), 0);
        }
        strv_free(paths);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("path");
        TCase *tests = tcase_create("kinds");

        tcase_add_checked_fixture(tests, enter, leave);
        tcase_add_test(tests, test_missing);
        tcase_add_test(tests, test_missing_below_file);
        tcase_add_test(tests, test_dangling_link);
        tcase_add_test(tests, test_link_to_itself);
        tcase_add_test(tests, test_regular_file);
        tcase_add_test(tests, test_directory);
        tcase_add_test(tests, test_character_device);
        tcase_add_test(tests, test_pipe);
        tcase_add_test(tests, test_socket);
        tcase_add_test(tests, test_listed_devices);
        suite_add_tcase(suite, tests);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

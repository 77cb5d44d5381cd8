/* SPDX-License-Identifier: MIT */

/* The service's lock tells whether it lives, however it ends and whoever asks. */

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"

START_TEST(lock_tells_that_the_service_lives) {
        ck_assert(!store_service_is_alive(test_path));
        int fd = store_service_lock(test_path, NULL);
        ck_assert_int_ge(fd, 0);
        ck_assert(store_service_is_alive(test_path));
        fd_close(fd);
        ck_assert(!store_service_is_alive(test_path));
}
END_TEST

START_TEST(second_service_is_refused) {
        _cleanup_close_ int fd = store_service_lock(test_path, NULL);
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_eq(store_service_lock(test_path, &error), -EBUSY);
        ck_assert_int_eq(error.kind, ERROR_FAILED);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "another plateaud"));
}
END_TEST

START_TEST(asking_makes_no_file) {
        uint64_t before = dir_fingerprint(test_dir);

        ck_assert(!store_service_is_alive(test_path));
        ck_assert(dir_fingerprint(test_dir) == before);
}
END_TEST

START_TEST(lock_ends_with_a_killed_service) {
        int ready[2], status;
        char c;

        ck_assert_int_eq(pipe(ready), 0);
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                if (store_service_lock(test_path, NULL) < 0 || write(ready[1], "x", 1) != 1)
                        _exit(1);
                for (;;)
                        pause();
        }
        ck_assert_int_eq(read(ready[0], &c, 1), 1);
        ck_assert(store_service_is_alive(test_path));
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(!store_service_is_alive(test_path));
}
END_TEST

START_TEST(lock_is_of_the_file_and_not_of_its_name) {
        _cleanup_free_ char *link = test_file("link.db");

        store_close(open_writer());
        ck_assert_int_eq(symlink(test_path, link), 0);
        _cleanup_close_ int fd = store_service_lock(test_path, NULL);
        ck_assert(store_service_is_alive(link));
}
END_TEST

static int ask(void) {
        return store_service_is_alive(test_path);
}

START_TEST(group_may_ask) {
        umask(077);
        _cleanup_close_ int fd = store_service_lock(test_path, NULL);
        ck_assert_int_eq(run_unprivileged(ask), 1);
}
END_TEST

static Suite *lock_suite(void) {
        Suite *suite = suite_create("lock");
        TCase *tcase = store_case("lock");

        tcase_add_test(tcase, lock_tells_that_the_service_lives);
        tcase_add_test(tcase, second_service_is_refused);
        tcase_add_test(tcase, asking_makes_no_file);
        tcase_add_test(tcase, lock_ends_with_a_killed_service);
        tcase_add_test(tcase, lock_is_of_the_file_and_not_of_its_name);
        if (geteuid() == 0)
                tcase_add_test(tcase, group_may_ask);
        else
                puts("# not root: asking as another user is not tested");
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(lock_suite)

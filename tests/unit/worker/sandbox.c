/* SPDX-License-Identifier: MIT */

/* Each test runs in a process of its own, which the sandbox changes for good. */

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "util/macro.h"
#include "worker/sandbox.h"

static void enter_to_trim(int trim_fd) {
        Sandbox sandbox;
        const char *notice;
        Error error = ERROR_INIT;

        ck_assert_msg(sandbox_prepare(&sandbox, &notice, &error) == 0, "%s", error_message(&error));
        ck_assert_msg(sandbox_enter(&sandbox, trim_fd, &error) == 0, "%s", error_message(&error));
}

static void enter(void) {
        enter_to_trim(-1);
}

static void call_open(void) {
#ifdef __SANITIZE_ADDRESS__
        raise(SIGSYS); /* the sanitizer needs it for its reports */
#else
        open("/dev/null", O_RDONLY | O_CLOEXEC);
#endif
}

static void call_socket(void) {
        socket(AF_INET, SOCK_STREAM, 0);
}

static void call_fork(void) {
        syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void call_exec(void) {
        char *const argv[] = { (char *) "true", NULL };

        execve("/bin/true", argv, NULL);
}

static void call_kill_parent(void) {
        kill(getppid(), 0);
}

static void call_tgkill_parent(void) {
        pid_t parent = (pid_t) syscall(SYS_getpid) == 1 ? 2 : 1;

        syscall(SYS_tgkill, parent, parent, 0);
}

static void call_partition_ioctl(void) {
        ioctl(-1, BLKRRPART);
}

static void call_discard_ioctl(void) {
        ioctl(-1, BLKDISCARD, (uint64_t[]) { 0, 0 });
}

static void call_mmap_exec(void) {
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void call_pwrite(void) {
        pwrite(-1, "", 1, 0);
}

static void call_setuid(void) {
        syscall(SYS_setresuid, 0, 0, 0);
}

static void (*const forbidden[])(void) = {
        call_open, call_socket, call_fork, call_exec, call_kill_parent, call_tgkill_parent, call_partition_ioctl,
        call_discard_ioctl, call_mmap_exec, call_pwrite, call_setuid,
};

START_TEST(test_forbidden) {
        enter();
        forbidden[_i]();
        _exit(EXIT_FAILURE);
}
END_TEST

/* Trims are allowed on the run's own device, and nothing else is on it. */
START_TEST(test_trims_allowed) {
        enter_to_trim(STDIN_FILENO);
        ioctl(STDIN_FILENO, BLKDISCARD, NULL);
        if (_i == 0)
                _exit(EXIT_SUCCESS);
        if (_i == 1)
                ioctl(STDIN_FILENO, BLKSECDISCARD, NULL);
        else
                ioctl(STDOUT_FILENO, BLKDISCARD, NULL);
        _exit(EXIT_SUCCESS);
}
END_TEST

static sem_t go;

static void *other_thread(void *userdata) {
        while (sem_wait(&go) < 0)
                ;
        call_socket();
        _exit(EXIT_FAILURE);
}

START_TEST(test_threads_that_were_there) {
        pthread_t thread;

        sem_init(&go, 0, 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, NULL), 0);
        enter();
        sem_post(&go);
        pthread_join(thread, NULL);
        _exit(EXIT_FAILURE);
}
END_TEST

static void ask_device(void) {
        uint64_t size;
        int read_only;

        ioctl(-1, BLKGETSIZE64, &size);
        ioctl(-1, BLKROGET, &read_only);
        ioctl(-1, BLKGETDISKSEQ, &size);
}

/* What the worker does from there on: memory, descriptors it has, three questions to the device, its end. */
START_TEST(test_allowed) {
        int pipes[2], status;

        ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                enter();
                for (size_t size = 1; size < 64 * MIB; size *= 4) {
                        char *p = malloc(size);

                        if (!p)
                                _exit(2);
                        p[size - 1] = 1;
                        if (write(pipes[1], p, 1) != 1)
                                _exit(3);
                        free(p);
                }
                ask_device();
                _exit(EXIT_SUCCESS);
        }

        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned) status);
}
END_TEST

/* Nobody of the same user may look into it: its files in /proc belong to root, whoever started it. */
START_TEST(test_no_protection_from_the_oom_killer) {
        int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
        char score[16] = "";

        if (write(fd, "-500", 4) == 4) { /* needs CAP_SYS_RESOURCE */
                enter();
                ck_assert_int_gt(pread(fd, score, sizeof(score) - 1, 0), 0);
                ck_assert_str_eq(score, "0\n");
        }
        close(fd);
}
END_TEST

START_TEST(test_not_dumpable) {
        int to_child[2], to_parent[2];
        char path[64], byte = 0;
        struct stat st;

        ck_assert_int_eq(pipe2(to_child, O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(to_parent, O_CLOEXEC), 0);
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                fd_close(to_child[1]);
                if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
                        _exit(2);
                prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
                enter();
                if (write(to_parent[1], &byte, 1) != 1)
                        _exit(3);
                _exit(read(to_child[0], &byte, 1) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
        }

        ck_assert_int_eq(read(to_parent[0], &byte, 1), 1);
        snprintf(path, sizeof(path), "/proc/%d/mem", pid);
        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert_uint_eq(st.st_uid, 0);

        int status;
        fd_close(to_child[1]);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned) status);
}
END_TEST

START_TEST(test_limits) {
        Sandbox sandbox;
        const char *notice;
        Error error = ERROR_INIT;
        struct rlimit limit;

        ck_assert_int_eq(sandbox_prepare(&sandbox, &notice, &error), 0);
        ck_assert_int_eq(getrlimit(RLIMIT_CORE, &limit), 0);
        ck_assert_uint_eq(limit.rlim_max, 0);
        ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
        ck_assert_uint_eq(limit.rlim_cur, limit.rlim_max);
        ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
        ck_assert_uint_ne(sandbox.uid, 0);
        ck_assert_uint_ne(sandbox.gid, 0);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("sandbox");
        TCase *tc = tcase_create("sandbox");

        tcase_set_timeout(tc, 60);
        tcase_add_loop_test_raise_signal(tc, test_forbidden, SIGSYS, 0, (int) ELEMENTSOF(forbidden));
        tcase_add_loop_test(tc, test_trims_allowed, 0, 1);
        tcase_add_loop_test_raise_signal(tc, test_trims_allowed, SIGSYS, 1, 3);
        tcase_add_test_raise_signal(tc, test_threads_that_were_there, SIGSYS);
        tcase_add_test(tc, test_allowed);
        tcase_add_test(tc, test_no_protection_from_the_oom_killer);
        tcase_add_test(tc, test_not_dumpable);
        tcase_add_test(tc, test_limits);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

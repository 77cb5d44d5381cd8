/* SPDX-License-Identifier: MIT */

/* A reader works for whoever may read the file, whatever the writer does, and leaves no trace. */

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "fixture.h"
#include "util/macro.h"

static int64_t count_runs(Store *store) {
        StoreRun *runs;
        size_t n;

        if (store_list_runs(store, &runs, &n, NULL) < 0)
                return -1;
        store_runs_free(runs, n);
        return (int64_t) n;
}

/* Opens, counts, closes: as a query verb does. -1 if it cannot. */
static int64_t count_runs_of(const char *path) {
        _cleanup_store_ Store *store = NULL;

        return store_open_reader(&store, path, NULL) < 0 ? -1 : count_runs(store);
}

static int count_unprivileged(void) {
        return (int) count_runs_of(test_path) & 0xff;
}

static void assert_reads_without_trace(int64_t expected) {
        uint64_t before = dir_fingerprint(test_dir);

        ck_assert_int_eq(count_runs_of(test_path), expected);
        ck_assert(dir_fingerprint(test_dir) == before);
}

/* A database with two runs whose writer was killed: all of it is in the WAL. */
static void make_killed(void) {
        pid_t pid = fork();
        int status;

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                Store *store = open_writer();
                add_run(store);
                add_run(store);
                raise(SIGKILL);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status));
}

static void make_stopped(void) {
        Store *store = open_writer();

        add_run(store);
        add_run(store);
        store_close(store);
}

static void drop(const char *name) {
        _cleanup_free_ char *path = test_file(name);

        ck_assert_int_eq(unlink(path), 0);
}

/*
 * A writer in a process of its own, as the service is one: within one process SQLite shares its view of the file
 * among all connections (and a child takes it over: so it is started before a reader opens). It opens
 * the database with the first letter that it is sent, adds a run or empties the WAL for each, and answers.
 */
typedef struct Writer {
        pid_t pid;
        int to, from;
} Writer;

_Noreturn static void writer_main(int in, int out) {
        Store *store = NULL;
        char c;

        while (read(in, &c, 1) == 1) {
                store = store ?: open_writer();
                if (c == '+')
                        add_run(store);
                else if (sql_number(store, "PRAGMA wal_checkpoint(TRUNCATE)") != 0)
                        _exit(1);
                if (write(out, &c, 1) != 1)
                        _exit(1);
        }
        store_close(store);
        _exit(0);
}

static void writer_tell(Writer *writer, char c) {
        ck_assert_int_eq(write(writer->to, &c, 1), 1);
        ck_assert_int_eq(read(writer->from, &c, 1), 1);
}

static void writer_stop(Writer *writer) {
        int status;

        close(writer->to);
        close(writer->from);
        ck_assert_int_eq(waitpid(writer->pid, &status, 0), writer->pid);
        ck_assert_int_eq(status, 0);
}

static Writer writer_start(void) {
        int to[2], from[2];

        ck_assert_int_eq(pipe(to), 0);
        ck_assert_int_eq(pipe(from), 0);
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                close(to[1]);
                close(from[0]);
                writer_main(to[0], from[1]);
        }
        close(to[0]);
        close(from[1]);
        return (Writer) { .pid = pid, .to = to[1], .from = from[0] };
}

START_TEST(reads_beside_a_living_writer) {
        _cleanup_(writer_stop) Writer writer = writer_start();
        writer_tell(&writer, '+');

        assert_reads_without_trace(1);
        _cleanup_store_ Store *reader = open_reader();
        ck_assert_int_eq(count_runs(reader), 1);
        writer_tell(&writer, '+');
        ck_assert_int_eq(count_runs(reader), 2);
}
END_TEST

/*
 * The WAL index begins with its header twice; a writer changes one copy after the other. The descriptor must stay open
 * as long as the writer: closing it would drop the locks that this process holds on the file.
 */
static uint8_t *map_index(int *ret_fd) {
        _cleanup_free_ char *name = NULL;

        ck_assert_int_gt(asprintf(&name, "%s-shm", test_path), 0);
        *ret_fd = open(name, O_RDWR | O_CLOEXEC);
        ck_assert_int_ge(*ret_fd, 0);
        uint8_t *index = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
        ck_assert_ptr_ne(index, MAP_FAILED);
        return index;
}

/* In another process, and one that never knew the writer: connections of one share what they know of the index. */
START_TEST(waits_for_a_writer_in_the_middle_of_a_change) {
        int go[2], index_fd, status;

        ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                char byte;
                _exit(read(go[0], &byte, 1) == 1 ? (int) count_runs_of(test_path) & 0xff : 99);
        }

        Store *writer = open_writer();
        add_run(writer);
        uint8_t *index = map_index(&index_fd);
        index[8] ^= 1;
        ck_assert_int_eq(write(go[1], "", 1), 1);
        nanosleep(&(struct timespec){ .tv_nsec = 100 * NSEC_PER_MSEC }, NULL); /* the writer lost the CPU */
        index[8] ^= 1;
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 1);
        munmap(index, 4096);
        store_close(writer);
        close(index_fd);
        close(go[0]);
        close(go[1]);
}
END_TEST

START_TEST(reads_after_the_writer_stopped) {
        make_stopped();
        assert_reads_without_trace(2);
}
END_TEST

START_TEST(reads_after_the_writer_was_killed) {
        make_killed();
        assert_reads_without_trace(2);
}
END_TEST

START_TEST(reads_when_the_writer_starts_again) {
        make_killed();
        _cleanup_(writer_stop) Writer writer = writer_start();
        _cleanup_store_ Store *reader = open_reader();
        ck_assert_int_eq(count_runs(reader), 2);

        writer_tell(&writer, '+');
        ck_assert_int_eq(count_runs(reader), 3);
}
END_TEST

START_TEST(reads_a_copy_without_shm) {
        make_killed();
        drop("plateau.db-shm");
        assert_reads_without_trace(2);
}
END_TEST

START_TEST(reads_a_copy_without_wal) {
        make_stopped();
        drop("plateau.db-shm");
        drop("plateau.db-wal");
        assert_reads_without_trace(2);
}
END_TEST

START_TEST(reads_after_the_wal_was_emptied) {
        make_stopped();
        _cleanup_(writer_stop) Writer writer = writer_start();
        writer_tell(&writer, 't');
        assert_reads_without_trace(2);

        /* Then it goes on: a reader must not have taken the file for one that nobody writes. */
        _cleanup_store_ Store *reader = open_reader();
        ck_assert_int_eq(count_runs(reader), 2);
        writer_tell(&writer, '+');
        ck_assert_int_eq(count_runs(reader), 3);
}
END_TEST

START_TEST(reads_paths_that_look_like_uris) {
        free(test_path);
        test_path = test_file("a ?b=c#d%20e.db");
        make_killed();
        assert_reads_without_trace(2);
}
END_TEST

START_TEST(reads_through_a_link) {
        _cleanup_free_ char *link = test_file("link.db");

        make_killed();
        ck_assert_int_eq(symlink(test_path, link), 0);
        ck_assert_int_eq(count_runs_of(link), 2);
}
END_TEST

START_TEST(cannot_write) {
        make_stopped();
        _cleanup_store_ Store *reader = open_reader();

        ck_assert_int_eq(store_begin(reader, NULL), 0); /* of a reader: locks nothing */
        ck_assert_int_eq(store_set_run_state(reader, 1, RUN_DONE, 1, NULL), -EROFS);
        store_rollback(reader);
}
END_TEST

START_TEST(group_reads_after_the_writer_stopped) {
        make_stopped();
        ck_assert_int_eq(run_unprivileged(count_unprivileged), 2);
}
END_TEST

START_TEST(group_reads_after_the_writer_was_killed) {
        make_killed();
        ck_assert_int_eq(run_unprivileged(count_unprivileged), 2);
}
END_TEST

START_TEST(group_reads_beside_a_living_writer) {
        _cleanup_(writer_stop) Writer writer = writer_start();
        writer_tell(&writer, '+');
        ck_assert_int_eq(run_unprivileged(count_unprivileged), 1);
}
END_TEST

static int open_errno(void) {
        _cleanup_store_ Store *store = NULL;

        return -store_open_reader(&store, test_path, NULL);
}

static int open_tells_the_group(void) {
        _cleanup_error_ Error error = ERROR_INIT;
        Store *store;

        return store_open_reader(&store, test_path, &error) < 0 && strstr(error_message(&error), "the group plateau");
}

START_TEST(others_are_told_that_they_may_not) {
        make_stopped();
        ck_assert_int_eq(chmod(test_path, 0600), 0);
        ck_assert_int_eq(run_unprivileged(open_errno), EACCES);
        ck_assert_int_eq(run_unprivileged(open_tells_the_group), 1);
        ck_assert_int_eq(chmod(test_dir, 0700), 0);
        ck_assert_int_eq(run_unprivileged(open_tells_the_group), 1);
}
END_TEST

static Suite *reader_suite(void) {
        Suite *suite = suite_create("reader");
        TCase *tcase = store_case("reader");

        tcase_add_test(tcase, reads_beside_a_living_writer);
        tcase_add_test(tcase, waits_for_a_writer_in_the_middle_of_a_change);
        tcase_add_test(tcase, reads_after_the_writer_stopped);
        tcase_add_test(tcase, reads_after_the_writer_was_killed);
        tcase_add_test(tcase, reads_when_the_writer_starts_again);
        tcase_add_test(tcase, reads_a_copy_without_shm);
        tcase_add_test(tcase, reads_a_copy_without_wal);
        tcase_add_test(tcase, reads_after_the_wal_was_emptied);
        tcase_add_test(tcase, reads_paths_that_look_like_uris);
        tcase_add_test(tcase, reads_through_a_link);
        tcase_add_test(tcase, cannot_write);
        if (geteuid() == 0) {
                tcase_add_test(tcase, group_reads_after_the_writer_stopped);
                tcase_add_test(tcase, group_reads_after_the_writer_was_killed);
                tcase_add_test(tcase, group_reads_beside_a_living_writer);
                tcase_add_test(tcase, others_are_told_that_they_may_not);
        } else
                puts("# not root: reading as another user is not tested");
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(reader_suite)

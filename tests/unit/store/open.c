/* SPDX-License-Identifier: MIT */

/* Opening: what is made, what is refused, and that what is refused stays as it is. */

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"

static unsigned file_mode(const char *path, const char *suffix) {
        _cleanup_free_ char *name = NULL;
        struct stat st;

        ck_assert_int_ge(asprintf(&name, "%s%s", path, suffix), 0);
        ck_assert_msg(stat(name, &st) == 0, "no %s", name);
        return st.st_mode & 07777;
}

/* Neither as writer nor as reader, with this error and these words, and not a byte is changed. */
static void assert_refused(int expected, const char *words) {
        uint64_t before = dir_fingerprint(test_dir);

        for (int i = 0; i < 2; i++) {
                _cleanup_error_ Error error = ERROR_INIT;
                Store *store = NULL;
                int r = i == 0 ? store_open_writer(&store, test_path, &error)
                               : store_open_reader(&store, test_path, &error);

                ck_assert_int_eq(r, expected);
                ck_assert_ptr_null(store);
                ck_assert_int_eq(error.kind, ERROR_UNREACHABLE);
                ck_assert_ptr_nonnull(strstr(error_message(&error), words));
                ck_assert(dir_fingerprint(test_dir) == before);
        }
}

START_TEST(makes_files_that_the_group_may_read) {
        umask(077);
        _cleanup_store_ Store *store = open_writer();
        add_run(store);

        ck_assert_uint_eq(file_mode(test_path, ""), 0640);
        ck_assert_uint_eq(file_mode(test_path, "-wal"), 0640);
        ck_assert_uint_eq(file_mode(test_path, "-shm"), 0640);
}
END_TEST

START_TEST(writes_ahead_and_syncs) {
        _cleanup_store_ Store *store = open_writer();

        ck_assert_int_eq(sql_number(store, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
        ck_assert_int_eq(sql_number(store, "PRAGMA synchronous"), 2);
        ck_assert_int_eq(sql_number(store, "PRAGMA foreign_keys"), 1);
        ck_assert_int_eq(sql_number(store, "PRAGMA application_id"), SCHEMA_APPLICATION_ID);
        ck_assert_int_eq(sql_number(store, "PRAGMA user_version"), schema_version);
}
END_TEST

START_TEST(keeps_the_wal_file_when_closed) {
        Store *store = open_writer();

        add_run(store);
        store_close(store);
        ck_assert_uint_eq(file_mode(test_path, "-wal"), 0640);
}
END_TEST

START_TEST(opens_again_what_it_made) {
        store_close(open_writer());
        Store *store = open_writer();
        ck_assert_uint_eq(add_run(store), 1);
        store_close(store);

        _cleanup_store_ Store *again = open_writer();
        ck_assert_uint_eq(add_run(again), 2);
}
END_TEST

START_TEST(refuses_a_newer_schema) {
        store_close(open_writer());
        sql_run(test_path, "PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");

        assert_refused(-EPROTO, "schema version 99");
}
END_TEST

/* What another version left in the WAL stays there: closing must not move it into the file. */
START_TEST(refusal_leaves_the_wal_as_it_is) {
        _cleanup_free_ char *wal = test_file("plateau.db-wal");
        pid_t pid = fork();
        int status;

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                Store *store = open_writer();
                ck_assert_int_eq(store_exec(store, "PRAGMA user_version = 99", NULL, "write"), 0);
                raise(SIGKILL);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);

        uint64_t file_before = file_fingerprint(test_path), wal_before = file_fingerprint(wal);
        Store *store = NULL;
        ck_assert_int_eq(store_open_writer(&store, test_path, NULL), -EPROTO);
        ck_assert(file_fingerprint(test_path) == file_before);
        ck_assert(file_fingerprint(wal) == wal_before);
}
END_TEST

START_TEST(refuses_a_database_with_another_application_id) {
        sql_run(test_path, "PRAGMA application_id = 7; PRAGMA user_version = 1; CREATE TABLE t (x)");

        assert_refused(-EBADMSG, "another program (application id 0x7)");
}
END_TEST

START_TEST(refuses_a_database_without_application_id) {
        sql_run(test_path, "CREATE TABLE t (x)");

        assert_refused(-EBADMSG, "another program");
}
END_TEST

START_TEST(refuses_what_is_no_database) {
        _cleanup_fclose_ FILE *f = fopen(test_path, "we");

        for (int i = 0; i < 1000; i++)
                fputs("this is no database\n", f);
        fflush(f);

        assert_refused(-EBADMSG, "not a database");
}
END_TEST

START_TEST(refuses_what_is_no_regular_file) {
        ck_assert_int_eq(mkdir(test_path, 0700), 0);

        assert_refused(-EBADMSG, "not a regular file");
}
END_TEST

START_TEST(reader_makes_no_file) {
        uint64_t before = dir_fingerprint(test_dir);
        _cleanup_error_ Error error = ERROR_INIT;
        Store *store = NULL;

        ck_assert_int_eq(store_open_reader(&store, test_path, &error), -ENOENT);
        ck_assert_int_eq(error.kind, ERROR_UNREACHABLE);
        ck_assert(dir_fingerprint(test_dir) == before);
}
END_TEST

START_TEST(writer_in_a_missing_folder_says_so) {
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_free_ char *path = test_file("missing/plateau.db");
        Store *store = NULL;

        ck_assert_int_eq(store_open_writer(&store, path, &error), -ENOENT);
        ck_assert_ptr_nonnull(strstr(error_message(&error), path));
}
END_TEST

START_TEST(reader_refuses_an_empty_file) {
        _cleanup_fclose_ FILE *f = fopen(test_path, "we");
        _cleanup_error_ Error error = ERROR_INIT;
        Store *store = NULL;

        ck_assert_int_eq(store_open_reader(&store, test_path, &error), -EBADMSG);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "empty"));
        ck_assert_ptr_nonnull(strstr(error_message(&error), "db-wal that belongs to it"));
}
END_TEST

/* Several programs that come to a new file at once: one makes the schema, the others find it made. */
START_TEST(migrates_once) {
        enum { N = 8 };
        int start[2];
        ck_assert_int_eq(pipe(start), 0);

        for (int i = 0; i < N; i++) {
                pid_t pid = fork();
                ck_assert_int_ge(pid, 0);
                if (pid == 0) {
                        Store *store = NULL;
                        char c;

                        close(start[1]);
                        if (read(start[0], &c, 1) != 0) /* until all can begin */
                                _exit(2);
                        Error error = ERROR_INIT;
                        int r = store_open_writer(&store, test_path, &error);
                        if (r < 0)
                                fprintf(stderr, "%s\n", error_message(&error));
                        _exit(r == 0 ? 0 : 1);
                }
        }
        close(start[0]);
        close(start[1]);
        for (int i = 0; i < N; i++) {
                int status;

                ck_assert_int_gt(wait(&status), 0);
                ck_assert_int_eq(status, 0);
        }
}
END_TEST

static Suite *open_suite(void) {
        Suite *suite = suite_create("open");
        TCase *tcase = store_case("open");

        tcase_add_test(tcase, makes_files_that_the_group_may_read);
        tcase_add_test(tcase, writes_ahead_and_syncs);
        tcase_add_test(tcase, keeps_the_wal_file_when_closed);
        tcase_add_test(tcase, opens_again_what_it_made);
        tcase_add_test(tcase, refuses_a_newer_schema);
        tcase_add_test(tcase, refusal_leaves_the_wal_as_it_is);
        tcase_add_test(tcase, refuses_a_database_with_another_application_id);
        tcase_add_test(tcase, refuses_a_database_without_application_id);
        tcase_add_test(tcase, refuses_what_is_no_database);
        tcase_add_test(tcase, refuses_what_is_no_regular_file);
        tcase_add_test(tcase, reader_makes_no_file);
        tcase_add_test(tcase, writer_in_a_missing_folder_says_so);
        tcase_add_test(tcase, reader_refuses_an_empty_file);
        tcase_add_test(tcase, migrates_once);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(open_suite)

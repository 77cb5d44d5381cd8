/* SPDX-License-Identifier: MIT */

/* What happens to the database's own disk: each fault has its errno, and after it things go on. */

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"
#include "util/macro.h"

/* Events until it fails; how. */
static int fill(Store *store, uint32_t run, Error *error) {
        _cleanup_free_ char *detail = malloc(100001);
        int r = 0;

        memset(detail, 'x', 100000);
        detail[100000] = '\0';
        for (unsigned i = 0; r >= 0 && i < 1000; i++) {
                r = store_begin(store, error);
                if (r >= 0)
                        r = store_insert_event(store, run, 1, 0, EVENT_DATABASE, detail, error);
                if (r >= 0)
                        r = store_commit(store, error);
        }
        store_rollback(store);
        return r;
}

/* Mounted for this process alone, so that it is gone with it. */
static void mount_small(void) {
        ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
        ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
        ck_assert_int_eq(mount("plateau", test_dir, "tmpfs", 0, "size=2m"), 0);
}

START_TEST(full_disk_is_told_and_got_over) {
        mount_small();
        _cleanup_free_ char *ballast = test_file("ballast");
        _cleanup_close_ int fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ck_assert_int_eq(posix_fallocate(fd, 0, 1 << 20), 0);

        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);
        ck_assert_int_eq(fill(store, run, &error), -ENOSPC);
        ck_assert_int_eq(error.kind, ERROR_UNREACHABLE);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "No space left"));

        ck_assert_int_eq(ftruncate(fd, 0), 0);
        _cleanup_free_ Sample *sample = new_sample(0);
        add_sample(store, run, sample);
        ck_assert_int_eq(sql_number(store, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
        ck_assert_int_eq(sql_number(store, "SELECT count(*) FROM samples"), 1);
}
END_TEST

/* A megabyte a transaction, as long as the place allows it; how it ended. */
static int fill_while_allowed(Store *store, uint32_t run, unsigned n, Error *error) {
        _cleanup_free_ char *detail = malloc(MIB);
        int r = 0;

        memset(detail, 'x', MIB - 1);
        detail[MIB - 1] = '\0';
        for (unsigned i = 0; r >= 0 && i < n; i++) {
                r = store_check_place(store, error);
                if (r < 0)
                        break;
                ck_assert_int_eq(store_begin(store, NULL), 0);
                ck_assert_int_eq(store_insert_event(store, run, 1, 0, EVENT_DATABASE, detail, NULL), 0);
                ck_assert_int_eq(store_commit(store, NULL), 0);
        }
        return r;
}

static off_t wal_bytes(void) {
        _cleanup_free_ char *wal = NULL;
        struct stat st;

        ck_assert_int_gt(asprintf(&wal, "%s-wal", test_path), 0);
        ck_assert_int_eq(stat(wal, &st), 0);
        return st.st_size;
}

START_TEST(reader_without_an_end_does_not_fill_the_disk) {
        const off_t max = (off_t) STORE_WAL_BYTES_MAX;
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_store_ Store *store = open_writer();
        uint32_t run = add_run(store);
        _cleanup_store_ Store *reader = open_reader();

        /* Without a reader it is moved on long before. */
        ck_assert_int_eq(fill_while_allowed(store, run, 40, &error), 0);
        ck_assert_int_lt(wal_bytes(), max / 4);

        ck_assert_int_eq(sqlite3_exec(reader->db, "BEGIN; SELECT count(*) FROM events", NULL, NULL, NULL), SQLITE_OK);
        ck_assert_int_eq(fill_while_allowed(store, run, 400, &error), -EBUSY);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "-wal has come to 25"));
        ck_assert_ptr_nonnull(strstr(error_message(&error), "end that one"));
        ck_assert_int_gt(wal_bytes(), max);
        ck_assert_int_lt(wal_bytes(), max + 4 * (off_t) MIB);

        ck_assert_int_eq(sqlite3_exec(reader->db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
        ck_assert_int_eq(fill_while_allowed(store, run, 2, &error), 0);
        ck_assert_int_lt(wal_bytes(), max / 4);
}
END_TEST

START_TEST(locked_database_is_busy) {
        _cleanup_store_ Store *store = open_writer(), *other = open_writer();

        sqlite3_busy_timeout(other->db, 0);
        ck_assert_int_eq(store_begin(store, NULL), 0);
        _cleanup_error_ Error error = ERROR_INIT;
        ck_assert_int_eq(store_begin(other, &error), -EBUSY);
        ck_assert_int_eq(error.kind, ERROR_UNREACHABLE);
        store_rollback(store);
        ck_assert_int_eq(store_begin(other, NULL), 0);
}
END_TEST

static int ignore(const Sample *sample, const StoreLatency *latency, void *userdata) {
        return 0;
}

START_TEST(damaged_histogram_is_told) {
        _cleanup_store_ Store *store = open_writer();
        _cleanup_free_ Sample *sample = new_sample(0);
        StoreSampleQuery query = { .run = 1, .phase = -1, .to_ns = UINT64_MAX, .with_latency = true };
        StorePhase *phases;
        size_t n;
        add_run(store);
        add_sample(store, 1, sample);

        ck_assert_int_eq(store_exec(store, "UPDATE latencies SET write_latency = x'ff'", NULL, "write"), 0);
        ck_assert_int_eq(store_each_sample(store, &query, ignore, NULL, NULL), -EBADMSG);
        ck_assert_int_eq(store_exec(store, "UPDATE phases SET read_latency = x'ff'", NULL, "write"), 0);
        ck_assert_int_eq(store_get_phases(store, 1, &phases, &n, NULL), -EBADMSG);
}
END_TEST

START_TEST(damaged_page_is_told) {
        _cleanup_close_ int fd = -EBADF;
        Store *store = open_writer();
        StoreRun *runs;
        size_t n;

        for (int i = 0; i < 10; i++)
                add_run(store);
        ck_assert_int_eq(sql_number(store, "PRAGMA wal_checkpoint(TRUNCATE)"), 0);
        int64_t page = sql_number(store, "SELECT rootpage FROM sqlite_schema WHERE name = 'runs'");
        store_close(store);

        fd = open(test_path, O_WRONLY | O_CLOEXEC);
        ck_assert_int_eq(pwrite(fd, "garbage garbage garbage", 23, (page - 1) * 4096), 23);
        _cleanup_store_ Store *reader = open_reader();
        ck_assert_int_eq(store_list_runs(reader, &runs, &n, NULL), -EBADMSG);
}
END_TEST

static bool may_mount(void) {
        int status;
        pid_t pid = fork();

        if (pid == 0)
                _exit(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ? 0 : 1);
        return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static Suite *fault_suite(void) {
        Suite *suite = suite_create("fault");
        TCase *tcase = store_case("fault");

        tcase_add_test(tcase, reader_without_an_end_does_not_fill_the_disk);
        tcase_add_test(tcase, locked_database_is_busy);
        tcase_add_test(tcase, damaged_histogram_is_told);
        tcase_add_test(tcase, damaged_page_is_told);
        if (may_mount())
                tcase_add_test(tcase, full_disk_is_told_and_got_over);
        else
                puts("# may not mount: a full disk is not tested");
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(fault_suite)

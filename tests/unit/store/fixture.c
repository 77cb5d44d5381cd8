/* SPDX-License-Identifier: MIT */

#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "util/hash.h"
#include "util/macro.h"

char *test_dir;
char *test_path;

static char base_dir[] = "/tmp/plateau-store-XXXXXX";

/* In the parent of all tests, so that what a failed test leaves is removed too. */
static void make_base(void) {
        ck_assert_ptr_nonnull(mkdtemp(strcpy(base_dir, "/tmp/plateau-store-XXXXXX")));
        ck_assert_int_eq(chmod(base_dir, 0755), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        return remove(path);
}

static void remove_base(void) {
        nftw(base_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void make_dir(void) {
        ck_assert_int_ge(asprintf(&test_dir, "%s/XXXXXX", base_dir), 0);
        ck_assert_ptr_nonnull(mkdtemp(test_dir));
        if (geteuid() == 0)
                ck_assert_int_eq(chown(test_dir, 0, TEST_GROUP), 0);
        ck_assert_int_eq(chmod(test_dir, 02750), 0);
        test_path = test_file("plateau.db");
}

static void free_dir(void) {
        free(test_dir);
        free(test_path);
}

TCase *store_case(const char *name) {
        TCase *tcase = tcase_create(name);

        tcase_set_timeout(tcase, 60);
        tcase_add_unchecked_fixture(tcase, make_base, remove_base);
        tcase_add_checked_fixture(tcase, make_dir, free_dir);
        return tcase;
}

char *test_file(const char *name) {
        char *path;

        ck_assert_int_ge(asprintf(&path, "%s/%s", test_dir, name), 0);
        return path;
}

Store *open_writer(void) {
        _cleanup_error_ Error error = ERROR_INIT;
        Store *store = NULL;

        ck_assert_msg(store_open_writer(&store, test_path, &error) == 0, "%s", error_message(&error));
        return store;
}

Store *open_reader(void) {
        _cleanup_error_ Error error = ERROR_INIT;
        Store *store = NULL;

        ck_assert_msg(store_open_reader(&store, test_path, &error) == 0, "%s", error_message(&error));
        return store;
}

int64_t sql_number(Store *store, const char *sql) {
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;

        ck_assert_msg(statement_prepare(store, sql, &stmt, &error) == 0, "%s", error_message(&error));
        ck_assert_msg(statement_step(store, stmt, &error, "read") == 1, "%s", error_message(&error));
        return sqlite3_column_int64(stmt, 0);
}

void sql_run(const char *path, const char *sql) {
        sqlite3 *db;

        ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
        ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
        ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

StoreNewRun new_run(void) {
        static JobPhase job_phases[] = { { .name = (char *) "torture" }, { .name = (char *) "read\xff back" } };
        static Job job = {
                .name = (char *) "overnight",
                .text = (char *) "[torture]\nrw=randwrite\n",
                .sample_interval_ns = NSEC_PER_SEC,
                .n_phases = 2,
                .phases = job_phases,
        };
        static PhasePlan phases[] = {
                {
                        .index = 0,
                        .rw = RW_RANDWRITE,
                        .block_bytes = { 4096, 8192, 512 },
                        .iodepth = 32,
                        .numjobs = 2,
                        .workers = 2,
                        .region_offset = 4096,
                        .region_bytes = UINT64_C(1) << 40,
                        .has_planned_time = true,
                        .planned_ns = 60 * NSEC_PER_SEC,
                        .has_planned_bytes = true,
                        .planned_write_bytes = 1 << 20,
                },
                { .index = 1,
                  .rw = RW_READ,
                  .read_percent = 100,
                  .block_bytes = { 4096, 4096, 4096 },
                  .iodepth = 1,
                  .numjobs = 1,
                  .workers = 1,
                  .region_bytes = 1 << 20,
                  .limit_bytes = UINT64_MAX,
                  .is_checked = true,
                  .has_planned_bytes = true },
        };
        static Plan plan = { .n_phases = 2, .phases = phases };
        static DeviceInfo device = {
                .path = (char *) "/dev/loop7",
                .name = (char *) "loop7",
                .disk_name = (char *) "loop7",
                .model = (char *) "Disk'); DROP TABLE runs; --",
                .serial = (char *) "\xff\x1b[31m",
                .size_bytes = UINT64_C(64) << 40,
                .logical_block_bytes = 512,
                .physical_block_bytes = 4096,
                .transport = (char *) "loop",
                .read_ahead_kib = 128,
                .nr_requests = 256,
        };

        return (StoreNewRun) {
                .label = "a label",
                .job = &job,
                .plan = &plan,
                .device = &device,
                .run_tag = UINT64_MAX,
                .seed = UINT64_C(0x8000000000000001),
                .created_at_ns = 1000,
                .boot_id = "a-boot-id",
                .host = "rack7 6.1.0",
        };
}

static void begin(Store *store) {
        ck_assert_int_eq(store_begin(store, NULL), 0);
}

static void commit(Store *store) {
        ck_assert_int_eq(store_commit(store, NULL), 0);
}

uint32_t add_run(Store *store) {
        _cleanup_error_ Error error = ERROR_INIT;
        StoreNewRun run = new_run();
        uint32_t id = 0;

        begin(store);
        ck_assert_msg(store_insert_run(store, &run, &id, &error) == 0, "%s", error_message(&error));
        commit(store);
        return id;
}

void add_sample(Store *store, uint32_t run, const Sample *sample) {
        _cleanup_error_ Error error = ERROR_INIT;

        begin(store);
        ck_assert_msg(store_insert_sample(store, run, sample, &error) == 0, "%s", error_message(&error));
        commit(store);
}

Sample *new_sample(uint64_t seq) {
        Sample *sample = calloc(1, sizeof *sample);

        ck_assert_ptr_nonnull(sample);
        sample->seq = seq;
        sample->at_ns = 5000 + (int64_t) seq;
        sample->elapsed_ns = (seq + 1) * NSEC_PER_SEC;
        sample->duration_ns = NSEC_PER_SEC;
        sample->ios[DIRECTION_WRITE] = 3;
        sample->bytes[DIRECTION_WRITE] = 3 * 4096;
        sample->latency[DIRECTION_WRITE].buckets[histogram_bucket(100000)] = 2;
        sample->latency[DIRECTION_WRITE].buckets[histogram_bucket(9000000)] = 1;
        sample->cpu_percent = NAN;
        sample->temperature_c = NAN;
        return sample;
}

uint64_t file_fingerprint(const char *path) {
        _cleanup_fclose_ FILE *f = fopen(path, "re");
        uint64_t h = 0;
        int c;

        ck_assert_ptr_nonnull(f);
        while ((c = fgetc(f)) != EOF)
                h = hash_mix64_2(h, (uint64_t) c);
        return h;
}

uint64_t dir_fingerprint(const char *path) {
        struct dirent **names;
        uint64_t h = 0;
        int n = scandir(path, &names, NULL, alphasort);

        ck_assert_int_ge(n, 0);
        for (int i = 0; i < n; i++) {
                _cleanup_free_ char *file = NULL;

                ck_assert_int_ge(asprintf(&file, "%s/%s", path, names[i]->d_name), 0);
                for (const char *p = names[i]->d_name; *p; p++)
                        h = hash_mix64_2(h, (uint64_t) (unsigned char) *p);
                if (names[i]->d_type == DT_REG)
                        h = hash_mix64_2(h, file_fingerprint(file));
                free(names[i]);
        }
        free(names);
        return h;
}

int run_unprivileged(int (*function)(void)) {
        gid_t group = TEST_GROUP;
        int status;
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                if (setgroups(1, &group) < 0 || setgid(65534) < 0 || setuid(65534) < 0)
                        _exit(99);
                _exit(function());
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        return WEXITSTATUS(status);
}

/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <string.h>

#include "sample/recording.h"
#include "unit.h"
#include "util/macro.h"

#define S NSEC_PER_SEC
#define R DIRECTION_READ
#define W DIRECTION_WRITE
#define T DIRECTION_TRIM

static Recording *recording;
static RecordingRow *rows;
static size_t n_rows;
static Error error;

static void set_up(void) {
        ck_assert_int_eq(recording_new(&recording, 0), 0);
        rows = NULL;
        n_rows = 0;
        error = ERROR_INIT;
}

static void tear_down(void) {
        recording = recording_free(recording);
        free(rows);
        error_clear(&error);
}

/* In a block of its own, so that a sanitizer sees every read beyond the end. */
static char *exactly(const char *text, size_t length) {
        char *copy = malloc(MAX(length, (size_t) 1));
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, text, length);
        return copy;
}

static int try_fio(const char *name, const char *text, RecordingKind kind) {
        _cleanup_free_ char *copy = exactly(text, strlen(text));
        return recording_add_fio(recording, name, copy, strlen(text), kind, &error);
}

static int try_csv(const char *text) {
        _cleanup_free_ char *copy = exactly(text, strlen(text));
        return recording_add_csv(recording, "a.csv", copy, strlen(text), &error);
}

static void fio(const char *name, const char *text) {
        ck_assert_msg(try_fio(name, text, RECORDING_UNKNOWN) == 0, "%s", error_message(&error));
}

static void csv(const char *text) {
        ck_assert_msg(try_csv(text) == 0, "%s", error_message(&error));
}

static void get(size_t n) {
        free(rows);
        rows = NULL;
        ck_assert_msg(recording_get_rows(recording, &rows, &n_rows, &error) == 0, "%s", error_message(&error));
        ck_assert_uint_eq(n_rows, n);
        ck_assert_uint_eq(rows[0].from_ns, 0);
        for (size_t i = 1; i < n; i++)
                ck_assert_uint_eq(rows[i].from_ns, rows[i - 1].to_ns);
}

static void expect_row(size_t i, uint64_t to_ms, Direction d, uint64_t ios, uint64_t bytes) {
        ck_assert_uint_eq(rows[i].to_ns, to_ms * NSEC_PER_MSEC);
        ck_assert_uint_eq(rows[i].ios[d], ios);
        ck_assert_uint_eq(rows[i].bytes[d], bytes);
}

/* Nothing of the file is kept, and the message says what and where. */
static void expect_refused(int r, const char *says) {
        ck_assert_int_lt(r, 0);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        ck_assert_msg(strstr(error_message(&error), says), "'%s' not in '%s'", says, error_message(&error));
        error_clear(&error);
        ck_assert_int_eq(recording_get_rows(recording, &rows, &n_rows, &error), -ENODATA);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        error_clear(&error);
}

/* --- fio --- */

START_TEST(fio_of_three_to_seven_columns) {
        static const char *const texts[] = {
                "1000, 50, 1\n2000, 60, 1\n",
                "1000, 50, 1, 0\n2000, 60, 1, 0\n",
                "1000, 50, 1, 4096, 0\n2000, 60, 1, 4096, 8192\n",
                "1000, 50, 1, 4096, 0, 0x0000\n2000, 60, 1, 4096, 8192, 0x0000\n",
                "1000, 50, 1, 4096, 0, 0x0000, 12\n2000, 60, 1, 4096, 8192, 0x0000, 13\n",
                "1000,50,1\n2000,60,1", /* the last line need not end */
        };

        fio("x_iops.1.log", texts[_i]);
        get(2);
        expect_row(0, 1000, W, 50, 50 * 4096);
        expect_row(1, 2000, W, 60, 60 * 4096);
        ck_assert_uint_eq(rows[0].ios[R], 0);
        ck_assert_uint_eq(recording_interval_ns(recording), S);
}
END_TEST

START_TEST(fio_directions) {
        fio("x_iops.log", "1000, 10, 0, 512\n1000, 20, 1, 4096\n1000, 30, 2, 65536\n2000, 11, 0, 512\n");
        get(2);
        expect_row(0, 1000, R, 10, 10 * 512);
        expect_row(0, 1000, W, 20, 20 * 4096);
        expect_row(0, 1000, T, 30, 30 * 65536);
        expect_row(1, 2000, R, 11, 11 * 512);
        expect_row(1, 2000, W, 0, 0);
}
END_TEST

START_TEST(fio_block_size_as_told) {
        tear_down();
        error = ERROR_INIT;
        ck_assert_int_eq(recording_new(&recording, 8192), 0);
        fio("x_iops.log", "1000, 10, 1, 0\n2000, 10, 1, 512\n");
        get(2);
        expect_row(0, 1000, W, 10, 10 * 8192);
        expect_row(1, 2000, W, 10, 10 * 512);
}
END_TEST

START_TEST(kind_by_name) {
        static const struct {
                const char *name;
                uint64_t ios, bytes, latency_ns;
        } cases[] = {
                { "x_iops.1.log", 1000, 1000 * 4096, 0 },
                { "/a/b_lat/x.iops.log", 1000, 1000 * 4096, 0 },
                { "x_bw.1.log", 250, 1000 * 1024, 0 },
                { "finally_bw.1.bw.log", 250, 1000 * 1024, 0 },
                { "x_lat.12.log", 10, 10 * 4096, 1000 },
                { "x_clat.1.log", 10, 10 * 4096, 1000 },
        };

        if (cases[_i].latency_ns > 0)
                fio("y_iops.log", "1000, 10, 1\n");
        fio(cases[_i].name, "1000, 1000, 1\n");
        get(1);
        expect_row(0, 1000, W, cases[_i].ios, cases[_i].bytes);
        ck_assert_uint_eq(rows[0].latency_ns[W], cases[_i].latency_ns);
}
END_TEST

START_TEST(kind_that_the_name_does_not_tell) {
        RecordingKind kind;

        expect_refused(try_fio("x.log", "1000, 10, 1\n", RECORDING_UNKNOWN), "--kind");
        expect_refused(try_fio("biops.log", "1000, 10, 1\n", RECORDING_UNKNOWN), "--kind");
        expect_refused(try_fio("x_slat.1.log", "1000, 10, 1\n", RECORDING_UNKNOWN), "--kind");

        ck_assert_int_eq(recording_kind_from_name("bw", &kind), 0);
        ck_assert_int_eq(try_fio("x_iops.log", "1000, 40, 1\n", kind), 0);
        get(1);
        expect_row(0, 1000, W, 10, 40 * 1024);
        ck_assert_int_eq(recording_kind_from_name("slat", &kind), -EINVAL);
        ck_assert_int_eq(recording_kind_from_name("IOPS", &kind), -EINVAL);
}
END_TEST

START_TEST(last_latency_may_be_told_twice) {
        fio("x_iops.1.log", "1000, 10, 0\n1000, 10, 1\n2000, 10, 0\n2000, 10, 1\n");
        fio("x_clat.1.log", "1000, 500, 0\n1000, 50, 1\n2000, 600, 0\n2000, 60, 1\n2000, 800, 0\n2000, 80, 1\n");
        get(2);
        ck_assert_uint_eq(rows[0].latency_ns[R], 500);
        ck_assert_uint_eq(rows[1].latency_ns[R], 700);
        ck_assert_uint_eq(rows[1].latency_ns[W], 70);
}
END_TEST

START_TEST(only_the_last_latency_may_be_told_twice) {
        static const char *const texts[] = {
                "1000, 5, 1\n1000, 6, 1\n2000, 7, 1\n",
                "1000, 5, 1\n1000, 6, 1\n1000, 7, 1\n",
        };

        expect_refused(try_fio("x_clat.1.log", texts[_i], RECORDING_UNKNOWN), "log:3: the time does not go on");
}
END_TEST

START_TEST(latencies_alone_are_no_run) {
        fio("x_clat.1.log", "1000, 5, 1\n2000, 5, 1\n");
        ck_assert_int_eq(recording_get_rows(recording, &rows, &n_rows, &error), -ENODATA);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "write_iops_log"));
}
END_TEST

START_TEST(what_fio_leaves_beside_is_not_needed) {
        static const struct {
                const char *name, *text, *says;
        } cases[] = {
                { "x_slat.1.log", "1000, 10, 1\n", "submission" },
                { "x_clat_hist.1.log", "1000, 1, 4096, 0, 0\n", "histograms" },
                { "x_iops.1.log", "", "not one row" },
                { "x_iops.1.log", "\n# x\n", "not one row" },
                { "x_iops.1.log", "1000, 10, 1\n", NULL },
                { "/slat/x_clat.1.log", "1000, 10, 1\n", NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const char *why = recording_unneeded(cases[i].name, cases[i].text, strlen(cases[i].text),
                                                     RECORDING_UNKNOWN);
                ck_assert_msg(!why == !cases[i].says && (!why || strstr(why, cases[i].says)), "%s: %s", cases[i].name,
                              why ?: "needed");
        }
        ck_assert_ptr_null(recording_unneeded("x_slat.1.log", "1000, 10, 1\n", 12, RECORDING_LATENCY));
}
END_TEST

START_TEST(csv_names_in_either_case) {
        csv("Time_S,WRITE_IOPS\n1,10\n2,20\n");
        get(2);
        expect_row(1, 2000, W, 20, 20 * 4096);
}
END_TEST

START_TEST(csv_is_of_one_phase) {
        static const char text[] = "phase,time_s,write_iops\n3,1,10\n3,2,10\n4,3,10\n";

        expect_refused(recording_add_csv(recording, "a.csv", text, strlen(text), &error), "a.csv:4: phase 4 begins");
        csv("phase,time_s,write_iops\n3,1,10\n3,2,20\n");
        get(2);
        expect_row(1, 2000, W, 20, 20 * 4096);
}
END_TEST

START_TEST(csv_with_decimal_commas_is_told) {
        static const char text[] = "time_s;write_iops\n1;10,5\n";

        expect_refused(recording_add_csv(recording, "a.csv", text, strlen(text), &error), "decimal commas");
}
END_TEST

START_TEST(jobs_are_summed) {
        fio("x_iops.1.log", "1000, 10, 1\n2000, 20, 1\n3000, 30, 1\n");
        fio("x_iops.2.log", "1003, 100, 1\n1998, 200, 1\n2999, 300, 1\n"); /* ends wobble, the first file's count */
        get(3);
        ck_assert_uint_eq(rows[0].to_ns, 1 * S);
        ck_assert_uint_eq(rows[1].to_ns, 2 * S);
        ck_assert_uint_eq(rows[0].ios[W], 110);
        ck_assert_uint_eq(rows[0].ios[W] + rows[1].ios[W] + rows[2].ios[W], 60 + 600);
}
END_TEST

START_TEST(jobs_in_one_file) {
        fio("x_iops.log", "250, 40, 1\n500, 80, 1\n750, 40, 1\n251, 40, 1\n500, 40, 1\n749, 40, 1\n");
        get(3);
        expect_row(0, 250, W, 20, 20 * 4096);
        expect_row(1, 500, W, 30, 30 * 4096);
        expect_row(2, 750, W, 20, 20 * 4096);
}
END_TEST

START_TEST(kinds_describe_one_run) {
        fio("x_iops.1.log", "1000, 10, 1, 0\n2000, 0, 1, 0\n3000, 30, 1, 0\n");
        fio("x_bw.1.log", "1000, 80, 1, 0\n2000, 0, 1, 0\n3000, 240, 1, 0\n");
        fio("x_lat.1.log", "1000, 700, 1, 0\n3000, 900, 1, 0\n");
        fio("x_clat.1.log", "1000, 600, 1, 0\n4000, 5, 1, 0\n");
        get(3); /* the last latency is of an interval of which nothing else is told */
        expect_row(0, 1000, W, 10, 10 * 8192);
        expect_row(1, 2000, W, 0, 0);
        expect_row(2, 3000, W, 30, 30 * 8192);
        ck_assert_uint_eq(rows[0].latency_ns[W], 600); /* clat before lat */
        ck_assert_uint_eq(rows[1].latency_ns[W], 0);
        ck_assert_uint_eq(rows[2].latency_ns[W], 0);
}
END_TEST

START_TEST(latencies_of_jobs_are_averaged) {
        fio("x_iops.1.log", "1000, 10, 1\n");
        fio("x_lat.1.log", "1000, 700, 1\n");
        fio("x_lat.2.log", "1000, 900, 1\n");
        get(1);
        ck_assert_uint_eq(rows[0].latency_ns[W], 800);
}
END_TEST

START_TEST(silent_intervals_are_zero) {
        fio("x_iops.log", "250, 40, 1\n500, 44, 1\n1000, 48, 1\n1250, 40, 1\n2000, 40, 1\n2250, 40, 1\n2500, 40, 1\n");
        get(10);
        expect_row(1, 500, W, 11, 11 * 4096);
        expect_row(2, 750, W, 0, 0);
        expect_row(3, 1000, W, 12, 12 * 4096);
        expect_row(5, 1500, W, 0, 0);
        expect_row(6, 1750, W, 0, 0);
        expect_row(7, 2000, W, 10, 10 * 4096);
}
END_TEST

START_TEST(long_step_is_silence_from_one_and_a_half) {
        fio("x_iops.log", "1000, 100, 1\n2000, 100, 1\n3000, 100, 1\n4499, 100, 1\n5999, 100, 1\n");
        get(6);
        expect_row(3, 4499, W, 150, 150 * 4096); /* but a long interval: 149.9 */
        expect_row(4, 5499, W, 0, 0);
        expect_row(5, 5999, W, 50, 50 * 4096);
}
END_TEST

/* What a direction that is hardly used leaves out is no longer interval. */
START_TEST(rare_direction_has_the_step_of_the_other) {
        fio("x_iops.log", "1000, 100, 1\n2000, 100, 1\n2000, 8, 0\n3000, 100, 1\n4000, 100, 1\n4000, 8, 0\n");
        get(4);
        expect_row(0, 1000, R, 0, 0);
        expect_row(1, 2000, R, 8, 8 * 4096);
        expect_row(2, 3000, R, 0, 0);
        expect_row(3, 4000, R, 8, 8 * 4096);
}
END_TEST

START_TEST(job_that_begins_late) {
        fio("x_iops.1.log", "1000, 10, 1\n2000, 10, 1\n");
        fio("x_iops.2.log", "5000, 20, 1\n6000, 20, 1\n");
        get(6);
        expect_row(2, 3000, W, 0, 0);
        expect_row(3, 4000, W, 0, 0);
        expect_row(4, 5000, W, 20, 20 * 4096);
}
END_TEST

START_TEST(first_interval_may_be_partial) {
        fio("x_iops.log", "400, 100, 1\n1400, 100, 1\n2400, 100, 1\n");
        get(3);
        expect_row(0, 400, W, 40, 40 * 4096);
        expect_row(1, 1400, W, 100, 100 * 4096);
}
END_TEST

START_TEST(first_interval_may_be_long) {
        fio("x_iops.log", "1300, 100, 1\n2300, 100, 1\n3300, 100, 1\n");
        get(3);
        expect_row(0, 1300, W, 130, 130 * 4096);
}
END_TEST

START_TEST(time_begins_with_the_first_interval) {
        fio("x_iops.log", "1700000001000, 10, 1\n1700000002000, 20, 1\n1700000003000, 30, 1\n"); /* log_unix_epoch */
        get(3);
        expect_row(0, 1000, W, 10, 10 * 4096);
        expect_row(2, 3000, W, 30, 30 * 4096);
}
END_TEST

START_TEST(last_interval_may_be_partial) {
        fio("x_iops.log", "1000, 100, 1\n2000, 100, 1\n3000, 100, 1\n3400, 100, 1\n");
        get(4);
        expect_row(3, 3400, W, 40, 40 * 4096);
}
END_TEST

/* 0.3 I/O in each interval: one every three or four, and none is lost. */
START_TEST(rounding_is_carried_on) {
        char text[16384];
        size_t length = 0;
        uint64_t sum = 0;

        for (unsigned i = 1; i <= 200; i++)
                length += (size_t) snprintf(text + length, sizeof(text) - length, "%u, 3, 1\n", i * 100);
        fio("x_iops.log", text);
        get(200);
        for (size_t i = 0; i < n_rows; i++) {
                ck_assert_uint_le(rows[i].ios[W], 1);
                ck_assert_uint_eq(rows[i].bytes[W], rows[i].ios[W] * 4096);
                sum += rows[i].ios[W];
        }
        ck_assert_uint_eq(sum, 60);
}
END_TEST

START_TEST(decimals_of_time_and_value) {
        fio("x_iops.log", "1000.000001, 10, 1\n2000.5, 10.994502748625688, 1\n");
        get(2);
        ck_assert_uint_eq(rows[0].to_ns, S + 1);
        ck_assert_uint_eq(rows[1].to_ns, 2 * S + 500000);
        ck_assert_uint_eq(rows[1].ios[W], 11);
}
END_TEST

START_TEST(line_ends_blank_lines_comments_and_marks) {
        fio("x_iops.log", "\xef\xbb\xbf# made by hand\r\n1000, 10, 1\r\n\r\n   \r\n#\r\n2000 , 20 , 1 \r\n");
        get(2);
        expect_row(1, 2000, W, 20, 20 * 4096);
}
END_TEST

START_TEST(wrong_lines_of_fio) {
        static const struct {
                const char *text, *says;
        } cases[] = {
                { "1000, 10, 1\n2000, 1", "x_iops.log:2: 2 columns" },
                { "1000, 10, 1, 4096\n2000, 10, 1\n", "x_iops.log:2: 3 columns, but" },
                { "1000, 10, 1, 0, 0, 0, 0, 0\n", "x_iops.log:1: 8 columns" },
                { "# c\n\n1000, ten, 1\n", "x_iops.log:3: the value is 'ten'" },
                { "x, 10, 1\n", "x_iops.log:1: the time in ms is 'x'" },
                { "-5, 10, 1\n", "x_iops.log:1: the time" },
                { "1000, -1, 1\n", "x_iops.log:1: the value" },
                { "1000, nan, 1\n", "x_iops.log:1: the value" },
                { "1000, inf, 1\n", "x_iops.log:1: the value" },
                { "1000, 1e300, 1\n", "x_iops.log:1: the value" },
                { "1e300, 1, 1\n", "x_iops.log:1: the time" },
                { "1000, 10, 3\n", "x_iops.log:1: the direction" },
                { "1000, 10, 1.5\n", "x_iops.log:1: the direction" },
                { "1000, 10, , 0\n", "x_iops.log:1: the direction" },
                { "1000, 10, 1, -4\n", "x_iops.log:1: the block size" },
                { "1000, 10, 1\n1000, 10, 1\n", "x_iops.log:2: the time does not go on" },
                { "1000, 10, 1\n2000, 10, 1\n1700, 10, 1\n", "x_iops.log:3: the time does not go on" },
                { "1000, 10, 1\n500, 10, 1\n", "x_iops.log:2: the time does not go on" },
                { "", "not one row" },
                { "# nothing\n\n", "not one row" },
                { "0, 10, 1\n", "not one row" },
        };
        expect_refused(try_fio("x_iops.log", cases[_i].text, RECORDING_UNKNOWN), cases[_i].says);
}
END_TEST

START_TEST(lines_that_are_no_text) {
        char text[8192];

        memset(text, '1', sizeof(text));
        expect_refused(recording_add_fio(recording, "x", text, sizeof(text), RECORDING_IOPS, &error), ":1: not a line");
        for (size_t i = 1; i < 4000; i += 2)
                text[i] = ',';
        text[4000] = '\n';
        expect_refused(recording_add_fio(recording, "x", text, sizeof(text), RECORDING_IOPS, &error), "x:1: more than");
        expect_refused(recording_add_fio(recording, "x", "1000, 1\0, 1\n", 12, RECORDING_IOPS, &error), ":1: not a");
}
END_TEST

START_TEST(bad_file_leaves_the_others_alone) {
        fio("x_iops.1.log", "1000, 10, 1\n2000, 10, 1\n");
        ck_assert_int_lt(try_fio("x_iops.2.log", "1000, 99, 1\n2000, bad, 1\n", RECORDING_UNKNOWN), 0);
        get(2);
        expect_row(0, 1000, W, 10, 10 * 4096);
}
END_TEST

START_TEST(files_of_different_intervals_are_no_run) {
        fio("x_iops.1.log", "1000, 10, 1\n2000, 10, 1\n3000, 10, 1\n");
        ck_assert_int_eq(try_fio("x_bw.1.log", "250, 10, 1\n500, 10, 1\n750, 10, 1\n", RECORDING_UNKNOWN), -EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "not logs of one run"));
        get(3);
}
END_TEST

START_TEST(times_too_far_apart) {
        fio("x_iops.log", "1, 10, 1\n2, 10, 1\n3, 10, 1\n10000000000, 10, 1\n");
        ck_assert_int_eq(recording_get_rows(recording, &rows, &n_rows, &error), -E2BIG);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        ck_assert_ptr_null(rows);
}
END_TEST

START_TEST(longest_times_and_largest_values) {
        fio("x_iops.log", "5e12, 1e15, 1, 900000000000000\n1e13, 1e15, 1, 900000000000000\n");
        ck_assert_int_eq(recording_get_rows(recording, &rows, &n_rows, &error), -E2BIG);
        tear_down();
        set_up();
        fio("x_iops.log", "5e11, 1e15, 1, 900000000000000\n1e12, 1e15, 1, 900000000000000\n");
        get(2);
        ck_assert_uint_ge(rows[1].bytes[W], INT64_MAX);
}
END_TEST

/* --- CSV --- */

START_TEST(csv_separators) {
        static const char *const texts[] = {
                "time_s,write_iops,read_iops\n1,10,20\n2,11,21\n",
                "time_s\twrite_iops\tread_iops\n1\t10\t20\n2\t11\t21\n",
                "time_s;write_iops;read_iops\n1;10;20\n2;11;21\n",
                "time_s write_iops read_iops\n1 10 20\n2 11 21\n",
                "  time_s , write_iops , read_iops \r\n 1 , 10 , 20 \r\n 2 , 11 , 21\r\n",
                "# by hand\n\ntime_s,write_iops,read_iops\n# more\n1,10,20\n2,11,21",
                "\xef\xbb\xbf\"time_s\",\"write_iops\",\"read_iops\"\n\"1\",\"10\",\"20\"\n\"2\",\"11\",\"21\"\n",
                "read_iops,note,time_s,write_iops,\n20,hot,1,10,\n21,,2,11,x\n",
                "elapsed_s,write_iops,read_iops,time_s\n7,10,20,1\n8,11,21,2\n",
                "time_s,write_iops,read_iops,elapsed_s\n1,10,20,7\n2,11,21,8\n",
        };

        csv(texts[_i]);
        get(2);
        expect_row(0, 1000, W, 10, 10 * 4096);
        expect_row(1, 2000, R, 21, 21 * 4096);
        expect_row(1, 2000, W, 11, 11 * 4096);
}
END_TEST

START_TEST(csv_quantities) {
        csv("elapsed_s,read_iops,read_bytes_per_s,write_ios,write_bytes,trim_bytes,write_latency_ns,read_latency_ns\n"
            "0.5,10,5120,7,3584,40960,1500,\n1,20,10240,8,4096,0,,900\n");
        get(2);
        expect_row(0, 500, R, 5, 2560);
        expect_row(1, 1000, R, 10, 5120);
        expect_row(0, 500, W, 7, 3584);
        expect_row(1, 1000, W, 8, 4096);
        expect_row(0, 500, T, 10, 40960);
        ck_assert_uint_eq(rows[0].latency_ns[W], 1500);
        ck_assert_uint_eq(rows[0].latency_ns[R], 0);
        ck_assert_uint_eq(rows[1].latency_ns[R], 900);
}
END_TEST

START_TEST(csv_counts_go_before_rates) {
        csv("time_s,write_iops,write_ios,write_bytes,write_bytes_per_s\n1,99,7,512,99\n2,99,8,1024,99\n");
        get(2);
        expect_row(0, 1000, W, 7, 512);
        expect_row(1, 2000, W, 8, 1024);
}
END_TEST

START_TEST(csv_durations) {
        csv("time_s,duration_s,write_ios,write_iops\n1,1,10,1\n1.000000001,0.000000001,1,1\n4,2.999999999,30,1\n"
            "7,1,40,1\n7.25,0.25,5,1\n");
        get(7);
        ck_assert_uint_eq(rows[1].to_ns - rows[1].from_ns, 1);
        ck_assert_uint_eq(rows[2].to_ns - rows[2].from_ns, 3 * S - 1); /* long, but not silent */
        expect_row(2, 4000, W, 30, 30 * 4096);
        expect_row(3, 5000, W, 0, 0); /* nothing is told of 4 to 6 s */
        expect_row(4, 6000, W, 0, 0);
        expect_row(5, 7000, W, 40, 40 * 4096);
        expect_row(6, 7250, W, 5, 5 * 4096);
}
END_TEST

START_TEST(csv_duration_makes_the_rate_a_count) {
        csv("time_s,duration_s,write_iops\n2,0.5,10\n2.5,0.5,20\n");
        get(2);
        expect_row(0, 500, W, 5, 5 * 4096);
        expect_row(1, 1000, W, 10, 10 * 4096);
}
END_TEST

START_TEST(csv_large_counts_are_exact) {
        csv("time_s,write_ios,write_bytes\n1,999999999999999,999999999999999\n2,1,1\n3,999999999999998,3\n");
        get(3);
        ck_assert_uint_eq(rows[0].ios[W], 999999999999999);
        ck_assert_uint_eq(rows[2].ios[W], 999999999999998);
        ck_assert_uint_eq(rows[0].bytes[W], 999999999999999);
        ck_assert_uint_eq(rows[2].bytes[W], 3);
}
END_TEST

START_TEST(csv_that_begins_at_nothing) {
        csv("time_s,write_iops\n0,0\n1.00009,100\n2.0001,100\n");
        get(2);
        ck_assert_uint_eq(rows[0].ios[W], 100);
}
END_TEST

START_TEST(wrong_csv) {
        static const struct {
                const char *text, *says;
        } cases[] = {
                { "", "not one row" },
                { "# only\n", "not one row" },
                { "time_s,write_iops\n", "not one row" },
                { "seconds,write_iops\n1,2\n", "a.csv:1: the header names no time_s" },
                { "# c\ntime_s,iops\n1,2\n", "a.csv:2: the header names no values" },
                { "time_s,write_iopsx\n1,2\n", "a.csv:1: the header names no values" },
                { "time_s,write_iops\n1,2\n2\n", "a.csv:3: 1 columns, but the header has 2" },
                { "time_s,write_iops\n1,2\n2,3,4\n", "a.csv:3: 3 columns" },
                { "time_s,write_iops\n1,\n", "a.csv:2: the value is ''" },
                { "time_s,write_iops\n1,2x\n", "a.csv:2: the value is '2x'" },
                { "time_s,write_iops\n1,-2\n", "a.csv:2: the value" },
                { "time_s,write_iops\nx,2\n", "a.csv:2: the time" },
                { "time_s,duration_s,write_iops\n1,-1,2\n", "a.csv:2: the duration" },
                { "time_s,write_iops\n2,2\n1,2\n", "a.csv:3: the time does not go on from the row before" },
        };
        expect_refused(try_csv(cases[_i].text), cases[_i].says);
}
END_TEST

START_TEST(guess) {
        static const struct {
                const char *text;
                bool fio;
        } cases[] = {
                { "1000, 10, 1\n", true }, { "# c\n\n1000,10,1", true }, { "time_s,write_iops\n1,2\n", false },
                { "", false },
                { "\xef\xbb\xbf""1000, 10, 1\n", true }, { "\"time_s\"\n", false },
        };
        ck_assert_int_eq(recording_is_fio(cases[_i].text, strlen(cases[_i].text)), cases[_i].fio);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("recording");
        TCase *fio_case = tcase_create("fio"), *csv_case = tcase_create("csv");

        tcase_add_checked_fixture(fio_case, set_up, tear_down);
        tcase_add_loop_test(fio_case, fio_of_three_to_seven_columns, 0, 6);
        tcase_add_test(fio_case, fio_directions);
        tcase_add_test(fio_case, fio_block_size_as_told);
        tcase_add_loop_test(fio_case, kind_by_name, 0, 6);
        tcase_add_test(fio_case, kind_that_the_name_does_not_tell);
        tcase_add_test(fio_case, jobs_are_summed);
        tcase_add_test(fio_case, jobs_in_one_file);
        tcase_add_test(fio_case, kinds_describe_one_run);
        tcase_add_test(fio_case, latencies_of_jobs_are_averaged);
        tcase_add_test(fio_case, silent_intervals_are_zero);
        tcase_add_test(fio_case, long_step_is_silence_from_one_and_a_half);
        tcase_add_test(fio_case, rare_direction_has_the_step_of_the_other);
        tcase_add_test(fio_case, job_that_begins_late);
        tcase_add_test(fio_case, last_latency_may_be_told_twice);
        tcase_add_loop_test(fio_case, only_the_last_latency_may_be_told_twice, 0, 2);
        tcase_add_test(fio_case, latencies_alone_are_no_run);
        tcase_add_test(fio_case, what_fio_leaves_beside_is_not_needed);
        tcase_add_test(fio_case, csv_names_in_either_case);
        tcase_add_test(fio_case, csv_is_of_one_phase);
        tcase_add_test(fio_case, csv_with_decimal_commas_is_told);
        tcase_add_test(fio_case, first_interval_may_be_partial);
        tcase_add_test(fio_case, first_interval_may_be_long);
        tcase_add_test(fio_case, time_begins_with_the_first_interval);
        tcase_add_test(fio_case, last_interval_may_be_partial);
        tcase_add_test(fio_case, rounding_is_carried_on);
        tcase_add_test(fio_case, decimals_of_time_and_value);
        tcase_add_test(fio_case, line_ends_blank_lines_comments_and_marks);
        tcase_add_loop_test(fio_case, wrong_lines_of_fio, 0, 21);
        tcase_add_test(fio_case, lines_that_are_no_text);
        tcase_add_test(fio_case, bad_file_leaves_the_others_alone);
        tcase_add_test(fio_case, files_of_different_intervals_are_no_run);
        tcase_add_test(fio_case, times_too_far_apart);
        tcase_add_test(fio_case, longest_times_and_largest_values);
        suite_add_tcase(s, fio_case);

        tcase_add_checked_fixture(csv_case, set_up, tear_down);
        tcase_add_loop_test(csv_case, csv_separators, 0, 10);
        tcase_add_test(csv_case, csv_quantities);
        tcase_add_test(csv_case, csv_counts_go_before_rates);
        tcase_add_test(csv_case, csv_durations);
        tcase_add_test(csv_case, csv_duration_makes_the_rate_a_count);
        tcase_add_test(csv_case, csv_large_counts_are_exact);
        tcase_add_test(csv_case, csv_that_begins_at_nothing);
        tcase_add_loop_test(csv_case, wrong_csv, 0, 14);
        tcase_add_loop_test(csv_case, guess, 0, 6);
        suite_add_tcase(s, csv_case);
        return s;
}

UNIT_TEST_MAIN(make_suite)

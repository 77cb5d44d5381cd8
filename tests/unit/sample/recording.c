/* SPDX-License-Identifier: MIT */

/* Time lines, and the files of fio. */

#include <errno.h>
#include <string.h>

#include "recording-fixture.h"
#include "sample/recording-lines.h"

START_TEST(fio_of_three_to_seven_columns) {
        static const char *const texts[] = {
                "1000, 50, 1\n2000, 60, 1\n",
                "1000, 50, 1, 0\n2000, 60, 1, 0\n",
                "1000, 50, 1, 4096, 0\n2000, 60, 1, 4096, 8192\n",
                "1000, 50, 1, 4096, 0, 0x0000\n2000, 60, 1, 4096, 8192, 0x0000\n",
                "1000, 50, 1, 4096, 0, 0x0000, 12\n2000, 60, 1, 4096, 8192, 0x0000, 13\n",
                "1000,50,1\n2000,60,1\n",
        };

        fio("x_iops.1.log", texts[_i]);
        get(2);
        expect_row(0, 1000, W, 50, 50 * 4096);
        expect_row(1, 2000, W, 60, 60 * 4096);
        ck_assert_uint_eq(rows[0].ios[R], 0);
        ck_assert_uint_eq(series.interval_ns, S);
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
        said = ERROR_INIT;
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
        ck_assert_int_eq(get_series(), -ENODATA);
        ck_assert_ptr_nonnull(strstr(error_message(&said), "write_iops_log"));
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
        const char *why;

        ck_assert_int_eq(try_fio(cases[_i].name, cases[_i].text, RECORDING_UNKNOWN), 0);
        why = notes.left_out;
        ck_assert_msg(!why == !cases[_i].says && (!why || strstr(why, cases[_i].says)), "%s", why ?: "needed");
        ck_assert_int_eq(get_series(), why || strstr(cases[_i].name, "clat") ? -ENODATA : 0);
}
END_TEST

START_TEST(kind_as_told_needs_any_name) {
        fio("x_iops.1.log", "1000, 10, 1\n");
        ck_assert_int_eq(try_fio("x_slat.1.log", "1000, 70, 1\n", RECORDING_LATENCY), 0);
        ck_assert_ptr_null(notes.left_out);
        get(1);
        ck_assert_uint_eq(rows[0].latency_ns[W], 70);
}
END_TEST

/* A latency that is told of some intervals only belongs to the one with its time, however near the others are. */
START_TEST(block_size_that_is_assumed) {
        static const struct {
                const char *name, *text;
                uint64_t assumed;
        } cases[] = {
                { "x_iops.log", "1000, 10, 1\n", 4096 }, { "x_iops.log", "1000, 10, 1, 512\n", 0 },
                { "x_iops.log", "1000, 0, 1, 0\n", 0 }, { "x_bw.log", "1000, 10, 1, 0\n", 4096 },
                { "x_bw.log", "1000, 10, 1, 4096\n", 0 },
        };

        fio(cases[_i].name, cases[_i].text);
        get(1);
        ck_assert_uint_eq(series.assumed_block_bytes, cases[_i].assumed);
        fio(strstr(cases[_i].name, "iops") ? "x_bw.log" : "x_iops.log", "1000, 10, 1\n");
        get(1);
        ck_assert_uint_eq(series.assumed_block_bytes, 0); /* both are told */
}
END_TEST

START_TEST(block_size_as_told_is_not_assumed) {
        recording_free(recording);
        ck_assert_int_eq(recording_new(&recording, 4096), 0);
        fio("x_iops.log", "1000, 10, 1\n");
        get(1);
        ck_assert_uint_eq(series.assumed_block_bytes, 0);
}
END_TEST

START_TEST(interval_is_one_that_people_choose) {
        static const struct {
                const char *text;
                uint64_t ms;
        } cases[] = {
                { "1000.012, 1, 1\n2000.031, 1, 1\n3000.044, 1, 1\n", 1000 },
                { "251, 1, 1\n502, 1, 1\n753, 1, 1\n", 250 },
                { "7, 1, 1\n14, 1, 1\n21, 1, 1\n", 7 },
                { "60001, 1, 1\n120003, 1, 1\n180003, 1, 1\n", 60000 },
        };

        fio("x_iops.log", cases[_i].text);
        get(3);
        ck_assert_uint_eq(series.interval_ns, cases[_i].ms * NSEC_PER_MSEC);
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

static void expect_change(size_t i, uint64_t at_ms, const char *text) {
        ck_assert_uint_lt(i, series.n_changes);
        ck_assert_uint_eq(series.changes[i].phase, i + 1);
        ck_assert_uint_eq(series.changes[i].at_ns, at_ms * NSEC_PER_MSEC);
        ck_assert_str_eq(series.changes[i].text, text);
}

START_TEST(job_that_ends_early_ends_a_phase) {
        fio("/a/x_iops.1.log", "1000, 10, 1\n2000, 10, 1\n3000, 10, 1\n4000, 10, 1\n");
        fio("/a/x_iops.2.log", "1001, 10, 1\n2001, 10, 1\n");
        get(4);
        ck_assert_uint_eq(series.n_changes, 1);
        expect_change(0, 2001, "x_iops.2.log ended");
        ck_assert_uint_eq(rows[1].phase, 0);
        expect_row(1, 2000, W, 20, 20 * 4096);
        ck_assert_uint_eq(rows[2].phase, 1);
        expect_row(2, 3000, W, 10, 10 * 4096);
        ck_assert_uint_eq(rows[3].phase, 1);
}
END_TEST

START_TEST(end_an_interval_earlier_is_none) {
        fio("x_iops.1.log", "1000, 10, 1\n2000, 10, 1\n3000, 10, 1\n");
        fio("x_iops.2.log", "1000, 10, 1\n2000, 10, 1\n");
        fio("x_iops.3.log", "1000, 10, 1\n2000, 10, 1\n3000, 10, 1\n3400, 10, 1\n");
        get(4);
        ck_assert_uint_eq(series.n_changes, 0);
        ck_assert_uint_eq(rows[3].phase, 0);
}
END_TEST

START_TEST(jobs_of_one_file_end_and_begin) {
        fio("x_iops.log", "1000, 10, 1\n2000, 10, 1\n3000, 10, 1\n11000, 10, 1\n30000, 10, 1\n"
                          "1000, 10, 1\n2000, 10, 1\n3000, 10, 1\n");
        get(30);
        ck_assert_uint_eq(series.n_changes, 1);
        expect_change(0, 3000, "job 2 in x_iops.log ended");
        tear_down();
        set_up();
        fio("x_iops.1.log", "101000, 10, 1\n102000, 10, 1\n120000, 10, 1\n");
        fio("x_iops.2.log", "115000, 10, 1\n116000, 10, 1\n120000, 10, 1\n");
        get(20); /* time begins with the first */
        expect_change(0, 14000, "x_iops.2.log began");
        ck_assert_uint_eq(rows[13].phase, 0);
        ck_assert_uint_eq(rows[14].phase, 1);
}
END_TEST

/* As of jobs that a drive hardly serves any more: one has its last row a little before the other. */
START_TEST(ends_close_together_are_one_change) {
        fio("x_iops.1.log", "1000, 10, 1\n2000, 10, 1\n60000, 10, 1\n");
        fio("x_iops.2.log", "1000, 10, 1\n2000, 10, 1\n20000, 10, 1\n");
        fio("x_iops.3.log", "1000, 10, 1\n2000, 10, 1\n22000, 10, 1\n");
        fio("x_iops.4.log", "1000, 10, 1\n2000, 10, 1\n22000, 10, 1\n");
        fio("x_iops.5.log", "1000, 10, 1\n2000, 10, 1\n24000, 10, 1\n");
        fio("x_iops.6.log", "1000, 10, 1\n2000, 10, 1\n28000, 10, 1\n");
        fio("x_iops.7.log", "1000, 10, 1\n2000, 10, 1\n40000, 10, 1\n");
        get(60);
        ck_assert_uint_eq(series.n_changes, 3);
        expect_change(0, 20000, "x_iops.2.log ended, x_iops.3.log ended, x_iops.4.log ended and 1 more began or ended");
        expect_change(1, 28000, "x_iops.6.log ended");
        expect_change(2, 40000, "x_iops.7.log ended");
        ck_assert_uint_eq(rows[19].phase, 0);
        ck_assert_uint_eq(rows[20].phase, 1);
        ck_assert_uint_eq(rows[28].phase, 2);
        ck_assert_uint_eq(rows[59].phase, 3);
}
END_TEST

START_TEST(directions_of_a_job_end_with_it) {
        fio("x_iops.1.log", "1000, 10, 0\n1000, 1, 1\n2000, 10, 0\n3000, 10, 0\n4000, 10, 0\n5000, 10, 0\n");
        fio("x_bw.1.log", "1000, 40, 0\n1000, 4, 1\n2000, 40, 0\n3000, 40, 0\n4000, 40, 0\n5000, 40, 0\n");
        fio("x_clat.1.log", "1000, 10, 0\n1000, 1, 1\n2000, 10, 0\n");
        get(5);
        ck_assert_uint_eq(series.n_changes, 0);
}
END_TEST

START_TEST(phases_that_are_told_go_before_ends) {
        csv("time_s,write_ios,phase\n1,10,0\n2,10,0\n3,10,1\n4,10,1\n");
        csv("time_s,write_ios\n1,10\n2,10\n");
        get(4);
        ck_assert_uint_eq(series.n_changes, 0);
        ck_assert_uint_eq(rows[1].phase, 0);
        ck_assert_uint_eq(rows[2].phase, 1);
}
END_TEST

START_TEST(kinds_are_of_the_same_jobs) {
        fio("x_iops.1.log", "1000, 10, 1\n2000, 10, 1\n");
        fio("x_iops.2.log", "1000, 10, 1\n2000, 10, 1\n");
        fio("x_bw.1.log", "1000, 10, 1\n2000, 10, 1\n");
        ck_assert_int_eq(get_series(), -EINVAL);
        expect_error(-EINVAL, "I/Os are told of 2 jobs, bandwidth of 1: name the logs of all jobs");
        fio("x_bw.2.log", "1000, 10, 1\n2000, 10, 1\n");
        get(2);
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
                { "1000, 10, 1\n2000, 1", "x_iops.log:2: the line is cut off" },
                { "1000, 10, 1, 4096\n2000, 10, 1, 40", "x_iops.log:2: the line is cut off" },
                { "1000, 10, 1\n2000, 1\n", "x_iops.log:2: 2 columns" },
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
                { "0, 10, 1\n", "not one row" },
        };
        expect_refused(try_fio("x_iops.log", cases[_i].text, RECORDING_UNKNOWN), cases[_i].says);
}
END_TEST

START_TEST(lines_that_are_no_text) {
        static const char nul[] = "1000, 10, 1\n2000, 1\0, 1\n", control[] = "1000, 10, 1\n2000, \x1b[1m1, 1\n";
        char text[8192];

        memset(text, '1', sizeof(text));
        expect_refused(try_bytes("x", text, sizeof(text), RECORDING_FIO, RECORDING_IOPS),
                       "x:1: not a line of text: it is");
        for (size_t i = 1; i < 4000; i += 2)
                text[i] = ',';
        text[4000] = '\n';
        expect_refused(try_bytes("x", text, sizeof(text), RECORDING_FIO, RECORDING_IOPS), "x:1: more than");
        expect_refused(try_bytes("x", nul, sizeof(nul) - 1, RECORDING_FIO, RECORDING_IOPS), "x:2: not a line of text");
        expect_refused(try_bytes("x", control, sizeof(control) - 1, RECORDING_FIO, RECORDING_IOPS), "x:2: not a line");
}
END_TEST

/* The longest line, and the first that is longer: with its end 4096 and 4097 bytes. */
START_TEST(longest_line) {
        char text[LINE_BYTES_MAX + 64];
        int begin = snprintf(text, sizeof(text), "time_s,write_iops,note\n1,1,");

        memset(text + begin, 'x', sizeof(text) - (size_t) begin);
        size_t end = (size_t) begin - strlen("1,1,") + LINE_BYTES_MAX - 1;
        text[end] = '\n';
        ck_assert_int_eq(try_bytes("x", text, end + 1, RECORDING_CSV, RECORDING_UNKNOWN), 0);
        get(1);
        text[end] = 'x';
        text[end + 1] = '\n';
        expect_error(try_bytes("x", text, end + 2, RECORDING_CSV, RECORDING_UNKNOWN), "x:2: not a line of text");
}
END_TEST

START_TEST(other_forms_are_named) {
        static const struct {
                const char *data;
                size_t length;
                const char *says;
        } cases[] = {
                { "\x1f\x8b\x08\0\0", 5, "zcat" }, { "\x1f\x8b\x08\x01\n1", 6, "zcat" },
                { "\x28\xb5\x2f\xfd\0", 5, "zstdcat" }, { "\xfd" "7zXZ\0", 6, "xzcat" }, { "BZh91", 5, "bzcat" },
                { "PK\x03\x04\x14\0", 6, "spreadsheets" }, { "\xff\xfet\0i\0", 6, "UTF-16" },
                { "SQLite format 3\0", 16, "--db" }, { "\n\n {\"x\": [\n", 12, "JSON" },
        };

        expect_refused(try_bytes("x", cases[_i].data, cases[_i].length, RECORDING_GUESSED, RECORDING_UNKNOWN),
                       cases[_i].says);
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
        ck_assert_ptr_nonnull(strstr(error_message(&said), "not logs of one run"));
        get(3);
}
END_TEST

START_TEST(times_too_far_apart) {
        fio("x_iops.log", "1, 10, 1\n2, 10, 1\n3, 10, 1\n10000000000, 10, 1\n");
        ck_assert_int_eq(get_series(), -E2BIG);
        ck_assert_int_eq(said.kind, ERROR_USAGE);
        ck_assert_ptr_null(rows);
}
END_TEST

START_TEST(longest_times_and_largest_values) {
        fio("x_iops.log", "5e12, 1e15, 1, 900000000000000\n1e13, 1e15, 1, 900000000000000\n");
        ck_assert_int_eq(get_series(), -E2BIG);
        tear_down();
        set_up();
        fio("x_iops.log", "5e11, 1e15, 1, 900000000000000\n1e12, 1e15, 1, 900000000000000\n");
        get(2);
        ck_assert_uint_ge(rows[1].bytes[W], INT64_MAX);
}
END_TEST

START_TEST(guess) {
        static const struct {
                const char *text;
                bool good;
        } cases[] = {
                { "1000, 10, 1\n", true }, { "# c\n\n1000,10,1\n", true }, { "time_s,write_iops\n1,2\n", true },
                { "\xef\xbb\xbf""1000, 10, 1\n", true }, { "\"time_s\"\n", false },
        };
        int r = try_bytes("x_iops.log", cases[_i].text, strlen(cases[_i].text), RECORDING_GUESSED, RECORDING_UNKNOWN);
        ck_assert_int_eq(r == 0, cases[_i].good);
        ck_assert(r == 0 || strstr(error_message(&said), "header"));
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("recording");
        TCase *c = tcase_create("fio");

        tcase_add_checked_fixture(c, set_up, tear_down);
        tcase_add_loop_test(c, fio_of_three_to_seven_columns, 0, 6);
        tcase_add_test(c, fio_directions);
        tcase_add_test(c, fio_block_size_as_told);
        tcase_add_loop_test(c, kind_by_name, 0, 6);
        tcase_add_test(c, kind_that_the_name_does_not_tell);
        tcase_add_test(c, jobs_are_summed);
        tcase_add_test(c, jobs_in_one_file);
        tcase_add_test(c, job_that_ends_early_ends_a_phase);
        tcase_add_test(c, end_an_interval_earlier_is_none);
        tcase_add_test(c, jobs_of_one_file_end_and_begin);
        tcase_add_test(c, ends_close_together_are_one_change);
        tcase_add_test(c, directions_of_a_job_end_with_it);
        tcase_add_test(c, phases_that_are_told_go_before_ends);
        tcase_add_test(c, kinds_are_of_the_same_jobs);
        tcase_add_test(c, kinds_describe_one_run);
        tcase_add_test(c, latencies_of_jobs_are_averaged);
        tcase_add_test(c, silent_intervals_are_zero);
        tcase_add_test(c, long_step_is_silence_from_one_and_a_half);
        tcase_add_test(c, rare_direction_has_the_step_of_the_other);
        tcase_add_test(c, job_that_begins_late);
        tcase_add_test(c, last_latency_may_be_told_twice);
        tcase_add_loop_test(c, only_the_last_latency_may_be_told_twice, 0, 2);
        tcase_add_test(c, latencies_alone_are_no_run);
        tcase_add_loop_test(c, what_fio_leaves_beside_is_not_needed, 0, 6);
        tcase_add_test(c, kind_as_told_needs_any_name);
        tcase_add_loop_test(c, block_size_that_is_assumed, 0, 5);
        tcase_add_test(c, block_size_as_told_is_not_assumed);
        tcase_add_loop_test(c, interval_is_one_that_people_choose, 0, 4);
        tcase_add_test(c, first_interval_may_be_partial);
        tcase_add_test(c, first_interval_may_be_long);
        tcase_add_test(c, time_begins_with_the_first_interval);
        tcase_add_test(c, last_interval_may_be_partial);
        tcase_add_test(c, rounding_is_carried_on);
        tcase_add_test(c, decimals_of_time_and_value);
        tcase_add_test(c, line_ends_blank_lines_comments_and_marks);
        tcase_add_loop_test(c, wrong_lines_of_fio, 0, 21);
        tcase_add_test(c, lines_that_are_no_text);
        tcase_add_test(c, longest_line);
        tcase_add_loop_test(c, other_forms_are_named, 0, 9);
        tcase_add_test(c, bad_file_leaves_the_others_alone);
        tcase_add_test(c, files_of_different_intervals_are_no_run);
        tcase_add_test(c, times_too_far_apart);
        tcase_add_test(c, longest_times_and_largest_values);
        tcase_add_loop_test(c, guess, 0, 5);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <string.h>

#include "recording-fixture.h"
#include "sample/recording-lines.h"

START_TEST(csv_names_in_either_case) {
        csv("Time_S,WRITE_IOPS\n1,10\n2,20\n");
        get(2);
        expect_row(1, 2000, W, 20, 20 * 4096);
}
END_TEST

START_TEST(csv_phases) {
        csv("phase,time_s,write_iops\n3,1,10\n3,2,10\n5,3,20\n5,6,20\n");
        get(6);
        ck_assert_uint_eq(rows[0].phase, 0); /* the first */
        ck_assert_uint_eq(rows[1].phase, 0);
        ck_assert_uint_eq(rows[2].phase, 2);
        ck_assert_uint_eq(rows[3].phase, 2); /* silent */
        ck_assert_ptr_null(rows[3].detail);
        ck_assert_uint_eq(rows[5].phase, 2);
}
END_TEST

START_TEST(csv_details) {
        csv("time_s,write_ios,at,errors,in_flight,oldest_io_ns,cpu_percent,worker_cpu_percent,ring_cpu_percent,"
            "held_percent,temperature_c,latency_mean_ns,latency_p50_ns,latency_p99_ns,latency_max_ns\n"
            "1,10,2026-03-01T22:14:05.5+01:00,3,32,7,12.5,250,99.5,8.5,-5.25,100,101,102,103\n"
            "2,10,2026-03-01T21:14:07Z,0,0,0,,,,,,,,,\n");
        get(2);
        const RecordingDetail *first = rows[0].detail, *second = rows[1].detail;
        ck_assert(first && first->has_at && first->has_errors && first->has_percentiles && series.errors_known);
        ck_assert_int_eq(first->at_ns, INT64_C(1772399645500000000));
        ck_assert_uint_eq(first->errors, 3);
        ck_assert_uint_eq(first->in_flight, 32);
        ck_assert_uint_eq(first->oldest_ns, 7);
        ck_assert_double_eq(first->cpu_percent, 12.5);
        ck_assert_double_eq(first->worker_cpu_percent, 250);
        ck_assert_double_eq(first->ring_cpu_percent, 99.5);
        ck_assert_double_eq(first->held_percent, 8.5);
        ck_assert_double_eq(first->temperature_c, -5.25);
        ck_assert_uint_eq(first->latency_mean_ns, 100);
        ck_assert_uint_eq(first->latency_p50_ns, 101);
        ck_assert_uint_eq(first->latency_p99_ns, 102);
        ck_assert_uint_eq(first->latency_max_ns, 103);
        ck_assert(second && second->at_ns - first->at_ns == 1500 * (int64_t) NSEC_PER_MSEC);
        ck_assert(!second->has_percentiles && second->latency_mean_ns == 0);
        ck_assert_double_nan(second->temperature_c);
        ck_assert_double_nan(second->cpu_percent);
        ck_assert_double_nan(second->worker_cpu_percent);
        ck_assert_double_nan(second->ring_cpu_percent);
        ck_assert_double_nan(second->held_percent);
}
END_TEST

START_TEST(csv_errors_that_are_not_told_are_not_known) {
        csv("time_s,write_ios,errors\n1,10,0\n2,10,\n");
        get(2);
        ck_assert(!series.errors_known);
        tear_down();
        set_up();
        csv("time_s,write_ios\n1,10\n");
        get(1);
        ck_assert(!series.errors_known && !rows[0].detail);
}
END_TEST

START_TEST(details_are_of_one_file) {
        csv("time_s,write_ios,errors\n1,10,0\n");
        expect_error(try_csv("time_s,write_ios,phase\n1,10,0\n"), "already");
        csv("time_s,write_ios\n1,10\n");
        get(1);
        expect_row(0, 1000, W, 20, 20 * 4096);
}
END_TEST

START_TEST(short_intervals_are_not_mixed_up) {
        csv("time_s,duration_s,write_ios,write_latency_ns\n1,1,10,\n1.001,0.001,1,55\n2.001,1,10,\n");
        get(3);
        ck_assert_uint_eq(rows[0].latency_ns[W], 0);
        ck_assert_uint_eq(rows[1].latency_ns[W], 55);
        ck_assert_uint_eq(rows[2].latency_ns[W], 0);
}
END_TEST

START_TEST(csv_last_line_without_end_is_told) {
        csv("time_s,write_iops\n1,10\n2,20");
        ck_assert_uint_eq(notes.open_line, 3);
        get(2);
        csv("time_s,write_iops\n1,10\n2,20\n");
        ck_assert_uint_eq(notes.open_line, 0);
        csv("time_s,write_iops\n1,10\n2,20\n# the end");
        ck_assert_uint_eq(notes.open_line, 0);
}
END_TEST

START_TEST(csv_with_decimal_commas_is_told) {
        expect_refused(try_csv("time_s;write_iops\n1;10,5\n"), "decimal commas");
}
END_TEST

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
        csv("time_s,write_iops,write_ios,write_bytes,write_bytes_per_s\n1,7.5,7,512,500\n2,7.5,8,1024,1000\n");
        get(2);
        expect_row(0, 1000, W, 7, 512);
        expect_row(1, 2000, W, 8, 1024);
}
END_TEST

/* As many as a job may have. */
START_TEST(csv_last_phase) {
        csv("time_s,write_iops,phase\n1,2,1\n2,2,1536\n");
        get(2);
        ck_assert_uint_eq(rows[1].phase, JOB_N_PHASES_MAX - 1);
}
END_TEST

START_TEST(csv_durations) {
        csv("time_s,duration_s,write_ios,write_iops\n1,1,10,10\n1.000000001,0.000000001,1,1\n4,2.999999999,30,10\n"
            "7,1,40,40\n7.25,0.25,5,20\n");
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
        csv("time_s,write_ios,write_bytes\n1,999999999999999,999999999999999\n2,1,3\n3,999999999999998,"
            "999999999999998\n");
        get(3);
        ck_assert_uint_eq(rows[0].ios[W], 999999999999999);
        ck_assert_uint_eq(rows[2].ios[W], 999999999999998);
        ck_assert_uint_eq(rows[0].bytes[W], 999999999999999);
        ck_assert_uint_eq(rows[1].bytes[W], 3);
        ck_assert_uint_eq(rows[2].bytes[W], 999999999999998);
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
                { "time_s,write_iops\n", "not one row" },
                { "time_s,write_iops,Write_IOPS\n1,2,2\n", "a.csv:1: the header names Write_IOPS twice" },
                { "time_s,note,write_iops,note\n1,2,2,3\n", "a.csv:1: the header names note twice" },
                { "time_s,write_iops,time_s\n1,2,2\n", "a.csv:1: the header names time_s twice" },
                { "time_s,write_iops,phase\n1,2,1\n2,2,0\n", "a.csv:3: phase 0 comes after phase 1" },
                { "time_s,write_iops,phase\n1,2,1\n2,2,1537\n", "a.csv:3: phase 1537 is too far" },
                { "time_s,write_iops,phase\n1,2,-1\n", "a.csv:2: phase is '-1'" },
                { "time_s,write_iops,at\n1,2,noon\n", "a.csv:2: at is 'noon'" },
                { "time_s,write_iops,errors\n1,2,1.5\n", "a.csv:2: errors is '1.5'" },
                { "time_s,write_iops,temperature_c\n1,2,-300\n", "a.csv:2: temperature_c is '-300'" },
                { "time_s,write_iops,cpu_percent\n1,2,101\n", "a.csv:2: cpu_percent is '101'" },
                { "time_s,write_iops,cpu_percent\n1,2,nan\n", "a.csv:2: cpu_percent is 'nan'" },
                { "time_s,write_iops,latency_p50_ns\n1,2,1e300\n", "a.csv:2: latency_p50_ns is '1e300'" },
                { "time_s,write_iops\n1,2\n2", "a.csv:3: 1 columns, but the header has 2; it seems to be cut off" },
                { "seconds,write_iops\n1,2\n", "a.csv:1: the header names no time_s" },
                { "# c\ntime_s,wa\n1,2\n", "a.csv:2: the header names no values" },
                { "time_s,iops\n1,2\n", "a.csv:1: column 2, iops, does not tell whether of reads or writes" },
                { "time_s,write_iops,IOPS\n1,2,2\n", "a.csv:1: column 3, IOPS, does not tell" },
                { "time_s,write_ios,bytes\n1,2,2\n", "a.csv:1: column 3, bytes, does not tell" },
                { "time_s,write_iopsx\n1,2\n", "a.csv:1: the header names no values" },
                { "time_s,write_iops\n1,2\n2\n", "a.csv:3: 1 columns, but the header has 2" },
                { "time_s,write_iops\n1,2\n2,3,4\n", "a.csv:3: 3 columns" },
                { "time_s,write_iops\n1,\n", "a.csv:2: write_iops is ''" },
                { "time_s,write_iops\n1,2x\n", "a.csv:2: write_iops is '2x'" },
                { "time_s,write_iops\n1,-2\n", "a.csv:2: write_iops is '-2'" },
                { "time_s,write_iops\nx,2\n", "a.csv:2: time_s is 'x'" },
                { "time_s,duration_s,write_iops\n1,-1,2\n", "a.csv:2: duration_s is '-1'" },
                { "time_s,write_iops\n2,2\n1,2\n", "a.csv:3: the time does not go on from the row before" },
        };
        expect_refused(try_csv(cases[_i].text), cases[_i].says);
}
END_TEST

START_TEST(contradictions_in_csv) {
        static const struct {
                const char *text, *says;
        } cases[] = {
                { "time_s,write_iops,write_ios\n1,100,100\n2,99,7\n",
                  "a.csv:3: write_ios is 7 and write_iops is 99, which contradict each other over 1 s" },
                { "time_s,write_ios,write_iops\n1,100,100\n2,100,115\n",
                  "a.csv:3: write_ios is 100 and write_iops is 115" },
                { "time_s,duration_s,read_bytes,read_bytes_per_s\n10,10,40960,40960\n",
                  "a.csv:2: read_bytes is 40960 and read_bytes_per_s is 40960, which contradict each other over 10 s" },
                { "time_s,write_ios,write_iops\n1,100,\n", "a.csv:2: write_iops is ''" },
                { "time_s,write_ios,write_bytes\n1,1,4096\n2,0,4096\n",
                  "a.csv:3: write_ios is 0 and write_bytes is 4096, which contradict each other: no I/O" },
                { "time_s,write_ios,write_bytes\n1,5,0\n", "a.csv:2: write_ios is 5 and write_bytes is 0" },
                { "time_s,write_ios,write_bytes\n1,1000,3900\n2,1000,390\n", "a.csv:3: write_ios is 1000 and" },
                { "time_s,trim_iops,trim_bytes_per_s\n1,9,3\n", "a.csv:2: trim_iops is 9 and trim_bytes_per_s is 3" },
                { "time_s,write_iops,write_bytes_per_s\n1,0,9e9\n", "a.csv:2: write_iops is 0 and" },
                { "time_s,duration_s,write_ios\n1,1,5\n2,2,5\n",
                  "a.csv:3: the interval of 2 s that ends at 2 s would begin before 1 s, where the row before ended" },
                { "time_s,duration_s,write_ios\n0,1,5\n1,1,5\n",
                  "a.csv:2: the interval of 1 s that ends at 0 s would begin before 0 s, where time begins" },
                { "time_s,write_ios,write_iops\n2,7,7\n1,7,7\n", "a.csv:3: the time does not go on" },
                { "time_s,duration_s,write_ios\n2,1,7\n2,1,7\n", "a.csv:3: the time does not go on" },
        };
        expect_refused(try_csv(cases[_i].text), cases[_i].says);
}
END_TEST

START_TEST(roundings_in_csv_are_no_contradiction) {
        static const char *const texts[] = {
                "time_s,write_ios,write_iops\n1,100,100\n2,101,100.6\n3,100,101\n", /* a rate of another length */
                "time_s,write_ios,write_iops\n10,7,1\n20,7,1\n30,0,0\n",            /* 0.7, rounded */
                "time_s,write_ios,write_iops\n1,500,500\n2,500,500\n60,480,480\n",  /* silence before */
                "time_s,duration_s,write_ios,write_iops\n1,0.98,98,100\n2,1.02,102,100\n3,1,0,0\n",
                "time_s,write_iops,write_bytes_per_s\n10,0,1229\n20,1,0\n30,9,36864\n", /* 0.3 IOPS */
                "time_s,trim_ios,trim_bytes\n1,1,4294967296\n2,0,0\n3,1,1\n",
        };
        csv(texts[_i]);
        ck_assert_int_eq(get_series(), 0);
}
END_TEST

START_TEST(csv_tells_what_it_leaves_out) {
        csv("seq,time_s,wa,write_iops,note,,elapsed_s\n0,0,1,0,x,,5\n1,1,1,10,x,,6\n");
        ck_assert_str_eq(notes.unknown_columns, "wa, note");
        ck_assert_uint_eq(notes.line_at_zero, 0);
        tear_down();
        set_up();
        csv("# from a spreadsheet\ntime_s,write_iops\n0,10\n1,11\n");
        ck_assert_str_eq(notes.unknown_columns, "");
        ck_assert_uint_eq(notes.line_at_zero, 3);
        get(1);
}
END_TEST

START_TEST(csv_of_many_columns_names_the_first_of_them) {
        char text[LINE_BYTES_MAX] = "time_s,write_iops";

        for (int i = 0; i < 60; i++)
                sprintf(text + strlen(text), ",unknown_%d", i);
        strcat(text, "\n");
        expect_refused(try_csv(text), "not one row");
        strcat(text, "1,2");
        for (int i = 0; i < 60; i++)
                strcat(text, ",0");
        csv(text);
        ck_assert_ptr_nonnull(strstr(notes.unknown_columns, "unknown_0, unknown_1, "));
        ck_assert_str_eq(notes.unknown_columns + strlen(notes.unknown_columns) - 5, ", ...");
        ck_assert_uint_lt(strlen(notes.unknown_columns), sizeof(notes.unknown_columns));
}
END_TEST

START_TEST(csv_with_thousands_is_told) {
        expect_refused(try_csv("time_s,write_iops\n1,\"12,345\"\n"),
                       "a.csv:2: write_iops is '12,345', expected a number from 0 to 1e+15, written as 1234.5");
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("recording-csv");
        TCase *c = tcase_create("csv");

        tcase_add_checked_fixture(c, set_up, tear_down);
        tcase_add_loop_test(c, csv_separators, 0, 10);
        tcase_add_test(c, csv_names_in_either_case);
        tcase_add_test(c, csv_with_decimal_commas_is_told);
        tcase_add_test(c, csv_phases);
        tcase_add_test(c, csv_last_phase);
        tcase_add_test(c, csv_details);
        tcase_add_test(c, csv_errors_that_are_not_told_are_not_known);
        tcase_add_test(c, details_are_of_one_file);
        tcase_add_test(c, short_intervals_are_not_mixed_up);
        tcase_add_test(c, csv_last_line_without_end_is_told);
        tcase_add_test(c, csv_quantities);
        tcase_add_test(c, csv_counts_go_before_rates);
        tcase_add_test(c, csv_durations);
        tcase_add_test(c, csv_duration_makes_the_rate_a_count);
        tcase_add_test(c, csv_large_counts_are_exact);
        tcase_add_test(c, csv_that_begins_at_nothing);
        tcase_add_loop_test(c, wrong_csv, 0, 28);
        tcase_add_loop_test(c, contradictions_in_csv, 0, 13);
        tcase_add_loop_test(c, roundings_in_csv_are_no_contradiction, 0, 6);
        tcase_add_test(c, csv_tells_what_it_leaves_out);
        tcase_add_test(c, csv_of_many_columns_names_the_first_of_them);
        tcase_add_test(c, csv_with_thousands_is_told);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include <errno.h>

#include "unit.h"
#include "util/macro.h"
#include "util/parse.h"

typedef struct NumberCase {
        const char *text;
        int result;
        uint64_t value;
} NumberCase;

#define UNTOUCHED UINT64_C(0x5a5a5a5a)

static void check_cases(int (*parse)(const char *, uint64_t *), const NumberCase *cases, size_t n) {
        for (size_t i = 0; i < n; i++) {
                uint64_t value = UNTOUCHED;
                int r = parse(cases[i].text, &value);

                ck_assert_msg(r == cases[i].result, "'%s' gives %d, not %d", cases[i].text, r, cases[i].result);
                ck_assert_msg(value == (r < 0 ? UNTOUCHED : cases[i].value), "'%s' gives %llu", cases[i].text,
                              (unsigned long long) value);
        }
}

START_TEST(test_u64) {
        static const NumberCase cases[] = {
                { "0", 0, 0 },
                { "42", 0, 42 },
                { "010", 0, 10 },
                { "0x1F", 0, 31 },
                { "0XaB", 0, 171 },
                { "18446744073709551615", 0, UINT64_MAX },
                { "0xffffffffffffffff", 0, UINT64_MAX },
                { "18446744073709551616", -ERANGE },
                { "99999999999999999999999", -ERANGE },
                { "0x10000000000000000", -ERANGE },
                { "99999999999999999999999x", -EINVAL },
                { "", -EINVAL },
                { "0x", -EINVAL },
                { "-1", -EINVAL },
                { "+1", -EINVAL },
                { " 1", -EINVAL },
                { "1 ", -EINVAL },
                { "1.5", -EINVAL },
                { "1k", -EINVAL },
                { "1e3", -EINVAL },
        };

        check_cases(parse_u64, cases, ELEMENTSOF(cases));
}
END_TEST

START_TEST(test_range_includes_its_ends) {
        uint64_t value = UNTOUCHED;

        ck_assert_int_eq(parse_u64_range("0", 1, 5, &value), -ERANGE);
        ck_assert_int_eq(parse_u64_range("6", 1, 5, &value), -ERANGE);
        ck_assert_int_eq(parse_u64_range("x", 1, 5, &value), -EINVAL);
        ck_assert_uint_eq(value, UNTOUCHED);
        ck_assert_int_eq(parse_u64_range("1", 1, 5, &value), 0);
        ck_assert_uint_eq(value, 1);
        ck_assert_int_eq(parse_u64_range("5", 1, 5, &value), 0);
        ck_assert_uint_eq(value, 5);
}
END_TEST

/* The values are those of fio 3.33. */
START_TEST(test_sizes_mean_what_fio_means) {
        static const NumberCase cases[] = {
                { "0", 0, 0 },
                { "512", 0, 512 },
                { "10b", 0, 10 },
                { "10B", 0, 10 },
                { "4k", 0, 4096 },
                { "4K", 0, 4096 },
                { "4kb", 0, 4096 },
                { "4KB", 0, 4096 },
                { "4kib", 0, 4000 },
                { "4KiB", 0, 4000 },
                { "1m", 0, MIB },
                { "1mib", 0, 1000000 },
                { "1G", 0, GIB },
                { "1gib", 0, 1000000000 },
                { "1t", 0, TIB },
                { "1TiB", 0, UINT64_C(1000000000000) },
                { "1p", 0, 1024 * TIB },
                { "1pib", 0, UINT64_C(1000000000000000) },
                { "0x1000", 0, 4096 },
                { "16383p", 0, 16383 * 1024 * TIB },
                { "16384p", -ERANGE },
                { "99999999999999999999", -ERANGE },
        };

        check_cases(parse_size, cases, ELEMENTSOF(cases));
}
END_TEST

/* fio takes all of these and drops what it does not understand. */
START_TEST(test_sizes_that_fio_guesses_at_are_refused) {
        static const NumberCase cases[] = {
                { "", -EINVAL },     { "k", -EINVAL },    { "1.5g", -EINVAL },  { "4ki", -EINVAL },
                { "4kk", -EINVAL },  { "4x", -EINVAL },   { "1e", -EINVAL },    { "-1", -EINVAL },
                { "4 k", -EINVAL },  { "4k ", -EINVAL },  { "0x10k", -EINVAL }, { "4bb", -EINVAL },
                { "2*4k", -EINVAL }, { "4k,8", -EINVAL }, { "50%", -EINVAL },   { "4s", -EINVAL },
        };

        check_cases(parse_size, cases, ELEMENTSOF(cases));
}
END_TEST

START_TEST(test_counts) {
        static const NumberCase cases[] = {
                { "0", 0, 0 },           { "60000", 0, 60000 },     { "60k", 0, 60000 },    { "60K", 0, 60000 },
                { "1m", 0, 1000000 },    { "1g", 0, 1000000000 },
                { "18446744073g", 0, UINT64_C(18446744073000000000) },
                { "18446744074g", -ERANGE }, { "", -EINVAL },       { "k", -EINVAL },       { "1.5k", -EINVAL },
                { "1kb", -EINVAL },      { "1t", -EINVAL },         { "-1", -EINVAL },      { "1k ", -EINVAL },
        };

        check_cases(parse_count, cases, ELEMENTSOF(cases));
}
END_TEST

START_TEST(test_durations) {
        static const NumberCase cases[] = {
                { "0", 0, 0 },
                { "90", 0, 90 * NSEC_PER_SEC },
                { "90s", 0, 90 * NSEC_PER_SEC },
                { "2m", 0, 120 * NSEC_PER_SEC },
                { "2M", 0, 120 * NSEC_PER_SEC },
                { "10h", 0, 36000 * NSEC_PER_SEC },
                { "1d", 0, 86400 * NSEC_PER_SEC },
                { "5ms", 0, 5000000 },
                { "5msec", 0, 5000000 },
                { "7us", 0, 7000 },
                { "7USEC", 0, 7000 },
                { "60000", 0, 60000 * NSEC_PER_SEC },
                { "213503d", 0, UINT64_C(213503) * 86400 * NSEC_PER_SEC },
                { "213504d", -ERANGE },
                { "18446744074", -ERANGE },
                { "1.5h", -EINVAL },
                { "10sec", -EINVAL },
                { "10min", -EINVAL },
                { "10n", -EINVAL },
                { "1h30m", -EINVAL },
                { "-1", -EINVAL },
                { "", -EINVAL },
                { "s", -EINVAL },
        };

        check_cases(parse_duration, cases, ELEMENTSOF(cases));
}
END_TEST

START_TEST(test_spans) {
        static const NumberCase cases[] = {
                { "0", 0, 0 },
                { "90", 0, 90 * NSEC_PER_SEC },
                { "6.5", 0, 6500 * NSEC_PER_MSEC },
                { "0.1s", 0, 100 * NSEC_PER_MSEC },
                { "1.5H", 0, 5400 * NSEC_PER_SEC },
                { "0.000000001", 0, 1 },
                { "0.0000000019", 0, 1 },
                { "1.25d", 0, 108000 * NSEC_PER_SEC },
                { "0.33333333333333333333333333333333333333d", 0, UINT64_C(28799999999999) },
                { "250.5ms", 0, 250500000 },
                { "0.9us", 0, 900 },
                { "213503.5d", 0, UINT64_C(427007) * 43200 * NSEC_PER_SEC },
                { "213504.5d", -ERANGE },
                { "18446744073.8", -ERANGE },
                { "99999999999999999999.5", -ERANGE },
                { "6.", -EINVAL },
                { ".5", -EINVAL },
                { "6,5", -EINVAL },
                { "6.5.1", -EINVAL },
                { "6.5 s", -EINVAL },
                { "6.5x", -EINVAL },
                { "-6.5", -EINVAL },
                { "1e3", -EINVAL },
                { "", -EINVAL },
        };

        check_cases(parse_span, cases, ELEMENTSOF(cases));
}
END_TEST

START_TEST(test_fills) {
        static const NumberCase cases[] = {
                { "1 fill", 0, 1000 },
                { "3 fills", 0, 3000 },
                { "2.5fills", 0, 2500 },
                { "0.0019 FILLS", 0, 1 },
                { "18446744073709551 fills", 0, UINT64_C(18446744073709551000) },
                { "18446744073709552 fills", -ERANGE },
                { "99999999999999999999 fills", -ERANGE },
                { "2", -EINVAL },
                { "2  fills", -EINVAL },
                { " 2 fills", -EINVAL },
                { "2 fills ", -EINVAL },
                { "2. fills", -EINVAL },
                { "fills", -EINVAL },
                { "", -EINVAL },
        };

        check_cases(parse_fills, cases, ELEMENTSOF(cases));
}
END_TEST

START_TEST(test_doubles) {
        static const struct {
                const char *text;
                int result;
                double value;
        } cases[] = {
                { "1.5", 0, 1.5 },     { "-2", 0, -2 },      { "1e3", 0, 1000 },    { ".5", 0, 0.5 },
                { "", -EINVAL },       { "1,5", -EINVAL },   { "nan", -EINVAL },    { "inf", -EINVAL },
                { "0x10", -EINVAL },   { " 1", -EINVAL },    { "1 ", -EINVAL },     { "1e", -EINVAL },
                { "1e999", -ERANGE },  { "1.5.2", -EINVAL }, { "-", -EINVAL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                double value = 42;

                ck_assert_msg(parse_double(cases[i].text, &value) == cases[i].result, "'%s'", cases[i].text);
                ck_assert_double_eq(value, cases[i].result < 0 ? 42 : cases[i].value);
        }
}
END_TEST

START_TEST(test_nearest_word) {
        static const char *const words[] = { "iodepth", "rw", "bs", "rwmixread", "rwmixwrite", "runtime" };
        static const struct {
                const char *text, *nearest;
        } cases[] = {
                { "iodepht", "iodepth" }, /* a swap counts once */
                { "iodept", "iodepth" },
                { "rwmixraed", "rwmixread" },
                { "rwmixwrit", "rwmixwrite" },
                { "wr", "rw" },
                { "b", "bs" },
                { "bs", "bs" },
                { "runntimee", "runtime" },
                { "zzzz", NULL },
                { "qq", NULL },
                { "", NULL },
                { "x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x-x", NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const char *nearest = nearest_word(cases[i].text, words, ELEMENTSOF(words));

                ck_assert_pstr_eq(nearest, cases[i].nearest);
        }
        ck_assert_ptr_null(nearest_word("bs", words, 0));
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("parse");
        TCase *tc = tcase_create("parse");

        tcase_add_test(tc, test_u64);
        tcase_add_test(tc, test_range_includes_its_ends);
        tcase_add_test(tc, test_sizes_mean_what_fio_means);
        tcase_add_test(tc, test_sizes_that_fio_guesses_at_are_refused);
        tcase_add_test(tc, test_counts);
        tcase_add_test(tc, test_durations);
        tcase_add_test(tc, test_spans);
        tcase_add_test(tc, test_fills);
        tcase_add_test(tc, test_doubles);
        tcase_add_test(tc, test_nearest_word);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include <unistd.h>

#include "spec/expression.h"
#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

static void check_value(const char *text, uint64_t expected) {
        uint64_t value = 0;

        ck_assert_msg(expression_evaluate(text, &value) == 0, "%s", text);
        ck_assert_msg(value == expected, "%s gives %llu", text, (unsigned long long) value);
}

START_TEST(test_plain_numbers_are_sizes) {
        check_value("42", 42);
        check_value("1k", 1024);
        check_value("0x10", 16);
}
END_TEST

START_TEST(test_keywords_are_the_machines) {
        uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);

        check_value("$ncpus", (uint64_t) sysconf(_SC_NPROCESSORS_ONLN));
        check_value("$pagesize", page);
        check_value("$mb_memory", (uint64_t) sysconf(_SC_PHYS_PAGES) / (MIB / page));
}
END_TEST

START_TEST(test_times_are_in_seconds) {
        uint64_t n = (uint64_t) sysconf(_SC_NPROCESSORS_ONLN), ns = 42;

        ck_assert_int_eq(expression_evaluate_time("$ncpus*60", &ns), 0);
        ck_assert_uint_eq(ns, n * 60 * NSEC_PER_SEC);
        ck_assert_int_eq(expression_evaluate_time("5ms", &ns), 0);
        ck_assert_uint_eq(ns, 5 * NSEC_PER_MSEC);
        ck_assert_int_eq(expression_evaluate_time("$ncpus*1000000000000", &ns), -ERANGE);
        ck_assert_int_eq(expression_evaluate_time("$ncpus*60s", &ns), -EINVAL);
        ck_assert_int_eq(expression_evaluate_time("2*60", &ns), -EINVAL);
        ck_assert_uint_eq(ns, 5 * NSEC_PER_MSEC);
}
END_TEST

START_TEST(test_operators_bind_as_in_arithmetic) {
        uint64_t n = (uint64_t) sysconf(_SC_NPROCESSORS_ONLN);

        check_value("$ncpus*2", 2 * n);
        check_value("2 + $ncpus * 3", 2 + 3 * n);
        check_value("(2 + $ncpus) * 3", (2 + n) * 3);
        check_value("$ncpus*100/3%7", n * 100 / 3 % 7);
        check_value("100 - $ncpus - 1", 99 - n);
        check_value(" ( $ncpus ) ", n);
}
END_TEST

START_TEST(test_what_is_no_expression_is_refused) {
        static const struct {
                const char *text;
                int result;
        } cases[] = {
                { "$ncpus*", -EINVAL },
                { "$ncpus 2", -EINVAL },
                { "2$ncpus", -EINVAL },
                { "$ncpusx", -EINVAL },
                { "$NCPUS", -EINVAL },
                { "$", -EINVAL },
                { "${HOME}", -EINVAL },
                { "($ncpus", -EINVAL },
                { "$ncpus)", -EINVAL },
                { "$ncpus/0", -EINVAL },
                { "$ncpus%0", -EINVAL },
                { "-$ncpus", -EINVAL },
                { "$ncpus*4k", -EINVAL },
                { "(2*4096)", -EINVAL }, /* without a keyword fio takes no arithmetic either */
                { "0-$ncpus", -ERANGE },
                { "$ncpus*18446744073709551615*2", -ERANGE },
                { "18446744073709551615+$ncpus", -ERANGE },
                { "$ncpus*99999999999999999999", -ERANGE },
                { "$ncpus*111111111111111111111111111111", -ERANGE },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                uint64_t value = 42;
                int r = expression_evaluate(cases[i].text, &value);

                ck_assert_msg(r == cases[i].result, "'%s' gives %d", cases[i].text, r);
                ck_assert_uint_eq(value, 42);
        }
}
END_TEST

START_TEST(test_nesting_is_bounded) {
        enum { N = 100000 };
        _cleanup_free_ char *text = malloc(N + 1);
        uint64_t value;

        for (size_t i = 0; i < N; i++)
                text[i] = '(';
        text[N - 1] = '$';
        text[N] = '\0';
        ck_assert_int_eq(expression_evaluate(text, &value), -EINVAL);
        check_value("((((((((((((((((((((1+0*$ncpus))))))))))))))))))))", 1);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("expression");
        TCase *tc = tcase_create("expression");

        tcase_add_test(tc, test_plain_numbers_are_sizes);
        tcase_add_test(tc, test_keywords_are_the_machines);
        tcase_add_test(tc, test_times_are_in_seconds);
        tcase_add_test(tc, test_operators_bind_as_in_arithmetic);
        tcase_add_test(tc, test_what_is_no_expression_is_refused);
        tcase_add_test(tc, test_nesting_is_bounded);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

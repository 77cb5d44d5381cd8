/* SPDX-License-Identifier: MIT */

#include "spec/split.h"

#include <errno.h>
#include <string.h>

#include "unit.h"
#include "util/cleanup.h"
#include "util/macro.h"

/* What fio 3.33 makes of each, by the sizes that it wrote. */
START_TEST(shares_are_those_of_fio) {
        static const struct {
                const char *text;
                uint32_t n;
                uint8_t percent[4];
        } cases[] = {
                { "4k", 1, { 100 } },
                { "4k/60:64k/40", 2, { 60, 40 } },
                { "4k/40:64k/60", 2, { 40, 60 } },
                { "4k:8k", 2, { 50, 50 } },
                { "4k/10:8k:16k", 3, { 10, 45, 45 } },
                { "4k/10:8k/:16k/0", 3, { 10, 45, 45 } },
                { "4k/10:8k/20", 2, { 10, 90 } },
                { "4k/20:8k/10", 2, { 90, 10 } },
                { "4k:8k:16k", 3, { 33, 33, 34 } },
                { "4k/100:8k", 2, { 100, 0 } },
                { "512/1:1k/1:2k/1:256m/97", 4, { 1, 1, 1, 97 } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                BlockSplit split;

                ck_assert_msg(block_split_parse(&split, cases[i].text) == 0, "%s", cases[i].text);
                ck_assert_uint_eq(split.n, cases[i].n);
                for (uint32_t k = 0; k < split.n; k++)
                        ck_assert_msg(split.percent[k] == cases[i].percent[k], "%s: %u: %u", cases[i].text, k,
                                      split.percent[k]);
        }
}
END_TEST

START_TEST(what_makes_no_split_is_refused) {
        static const char *const cases[] = {
                "", "/50", "4k/50:", "4k/50::8k/50", "4k/101", "4k/-1", "4k/x", "x/50", "0/50:4k", "4k/60:8k/60",
                "4k/60:8k/60:16k", "4k/50:6k/50", "512m", "4k/50/50", "4k 50",
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                BlockSplit split = { .n = 77 };

                ck_assert_msg(block_split_parse(&split, cases[i]) < 0, "%s", cases[i]);
                ck_assert_uint_eq(split.n, 77);
        }
}
END_TEST

START_TEST(as_many_shares_as_percents) {
        char text[8 * (SPLIT_N_MAX + 1)] = "4k/1";
        BlockSplit split;

        for (unsigned i = 1; i < SPLIT_N_MAX; i++)
                strcat(text, ":4k/1");
        ck_assert_int_eq(block_split_parse(&split, text), 0);
        ck_assert_uint_eq(split.n, SPLIT_N_MAX);
        strcat(text, ":4k");
        ck_assert_int_eq(block_split_parse(&split, text), -ERANGE);
}
END_TEST

START_TEST(sizes_of_a_split) {
        BlockSplit split, none = {};

        ck_assert_int_eq(block_split_parse(&split, "8k/25:4k/75"), 0);
        ck_assert_uint_eq(block_smallest(&split, 1), 4096);
        ck_assert_uint_eq(block_largest(&split, 1), 8192);
        ck_assert_uint_eq(block_hundred(&split, 1), 75 * 4096 + 25 * 8192);
        ck_assert_uint_eq(block_smallest(&none, 512), 512);
        ck_assert_uint_eq(block_largest(&none, 512), 512);
        ck_assert_uint_eq(block_hundred(&none, 512), 51200);
}
END_TEST

START_TEST(zones_are_those_of_fio) {
        static const struct {
                const char *text;
                uint32_t n;
                uint8_t access[3], size[3];
        } cases[] = {
                { "100", 1, { 100 }, { 100 } },
                { "60/10:40/90", 2, { 60, 40 }, { 10, 90 } },
                { "60/10:30/20:10", 3, { 60, 30, 10 }, { 10, 20, 70 } },
                { "50/10:50/20", 2, { 50, 50 }, { 10, 20 } },
                { "0/50:100/50", 2, { 0, 100 }, { 50, 50 } },
        };
        static const char *const wrong[] = { "", "50/50:40/50", "60/10:50/20", "50/70:50/70", "x", "100/101", "100/x" };
        ZoneSplit zones;

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                ck_assert_msg(zone_split_parse(&zones, cases[i].text) == 0, "%s", cases[i].text);
                ck_assert_uint_eq(zones.n, cases[i].n);
                ck_assert_mem_eq(zones.access, cases[i].access, zones.n);
                ck_assert_mem_eq(zones.size, cases[i].size, zones.n);
        }
        for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
                ck_assert_msg(zone_split_parse(&zones, wrong[i]) < 0, "%s", wrong[i]);
}
END_TEST

START_TEST(directions_as_fio_divides_them) {
        static const struct {
                const char *text, *parts[N_DIRECTIONS];
        } cases[] = {
                { "a", { "a", "a", "a" } },  { "a,b", { "a", "b", "b" } }, { "a,b,c", { "a", "b", "c" } },
                { ",b", { NULL, "b", "b" } }, { "a,", { "a", NULL, NULL } }, { "a,,c", { "a", NULL, "c" } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *copy = NULL;
                const char *parts[N_DIRECTIONS];

                ck_assert_int_eq(split_directions(cases[i].text, &copy, parts), 0);
                for (Direction d = 0; d < N_DIRECTIONS; d++)
                        ck_assert_pstr_eq(parts[d], cases[i].parts[d]);
        }
        for (unsigned i = 0; i < 2; i++) {
                _cleanup_free_ char *copy = NULL;
                const char *parts[N_DIRECTIONS];

                ck_assert_int_eq(split_directions(i == 0 ? "" : "a,b,c,d", &copy, parts), -EINVAL);
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("split");
        TCase *c = tcase_create("split");

        tcase_add_test(c, shares_are_those_of_fio);
        tcase_add_test(c, what_makes_no_split_is_refused);
        tcase_add_test(c, as_many_shares_as_percents);
        tcase_add_test(c, sizes_of_a_split);
        tcase_add_test(c, zones_are_those_of_fio);
        tcase_add_test(c, directions_as_fio_divides_them);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

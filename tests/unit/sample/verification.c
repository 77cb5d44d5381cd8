/* SPDX-License-Identifier: MIT */

#include "sample/verification.h"
#include "unit.h"
#include "util/macro.h"

/* An amount is no coverage: what is read at random, or by several streams, is read more than once elsewhere. */
START_TEST(all_is_told_only_of_what_was_read_in_order_to_its_end) {
        static const struct {
                uint64_t checked_bytes;
                bool in_order;
                uint64_t done_bytes;
                VerifiedShare share;
        } cases[] = {
                { 0, true, 100, VERIFIED_NOTHING },
                { 0, false, 100, VERIFIED_NOTHING },
                { 99, true, 100, VERIFIED_PART },  /* the rest was not known */
                { 99, false, 200, VERIFIED_PART },
                { 100, false, 100, VERIFIED_AMOUNT },
                { 300, false, 300, VERIFIED_AMOUNT },
                { 110, true, 99, VERIFIED_PART },  /* some of it twice, after the death of a process */
                { 100, true, 100, VERIFIED_ALL },
                { 100, true, 128, VERIFIED_ALL },  /* the last I/O may go beyond */
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const Verification v = { .asked_bytes = 100, .checked_bytes = cases[i].checked_bytes };

                ck_assert_int_eq(verification_share(&v, cases[i].in_order, cases[i].done_bytes), cases[i].share);
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("verification");
        TCase *c = tcase_create("verification");

        tcase_add_test(c, all_is_told_only_of_what_was_read_in_order_to_its_end);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

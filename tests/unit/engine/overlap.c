/* SPDX-License-Identifier: MIT */

#include "engine/overlap.h"

#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"

#define DEPTH 64U

START_TEST(neighbours_do_not_overlap) {
        Overlap *o;

        ck_assert_int_eq(overlap_new(&o, DEPTH), 0);
        overlap_begin(o, 8192);
        overlap_add(o, 0, 4096, 8192);
        ck_assert(!overlap_hits(o, 0, 4096));
        ck_assert(!overlap_hits(o, 12288, 8192));
        ck_assert(overlap_hits(o, 0, 4608));
        ck_assert(overlap_hits(o, 11776, 8192));
        ck_assert(overlap_hits(o, 8192, 512));
        overlap_remove(o, 0);
        ck_assert(!overlap_hits(o, 4096, 8192));
        overlap_remove(o, 0); /* a read, that was not added */
        overlap_free(o);
}
END_TEST

/* Against all pairs, with many a place in common. */
START_TEST(it_agrees_with_a_look_at_all) {
        struct {
                uint64_t offset;
                uint32_t length;
        } ios[DEPTH] = {};
        unsigned n_hits = 0;
        Overlap *o;

        ck_assert_int_eq(overlap_new(&o, DEPTH), 0);
        overlap_begin(o, 16 * 512);
        for (uint64_t i = 0; i < 200000; i++) {
                uint64_t offset = hash_mix64_2(1, i) % 4096 * 512;
                uint32_t length = (uint32_t) (1 + hash_mix64_2(2, i) % 16) * 512, slot = hash_mix64_2(3, i) % DEPTH;
                bool expected = false;

                overlap_remove(o, slot);
                ios[slot].length = 0;
                for (unsigned k = 0; k < DEPTH; k++)
                        expected |= ios[k].length > 0 && ios[k].offset < offset + length &&
                                    offset < ios[k].offset + ios[k].length;
                n_hits += expected;
                if (overlap_hits(o, offset, length) != expected)
                        ck_abort_msg("I/O %u: expected %d", (unsigned) i, expected);
                overlap_add(o, slot, offset, length);
                ios[slot].offset = offset;
                ios[slot].length = length;
        }
        ck_assert_uint_gt(n_hits, 1000);
        ck_assert_uint_lt(n_hits, 199000);
        overlap_free(o);
}
END_TEST

START_TEST(a_new_beginning_forgets_all) {
        Overlap *o;

        ck_assert_int_eq(overlap_new(&o, DEPTH), 0);
        overlap_begin(o, 4096);
        overlap_add(o, 3, 0, 4096);
        overlap_begin(o, 512);
        ck_assert(!overlap_hits(o, 0, 512));
        overlap_add(o, 3, 512, 512);
        ck_assert(overlap_hits(o, 512, 512));
        overlap_free(o);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("engine-overlap");
        TCase *c = tcase_create("overlap");

        tcase_add_test(c, neighbours_do_not_overlap);
        tcase_add_test(c, it_agrees_with_a_look_at_all);
        tcase_add_test(c, a_new_beginning_forgets_all);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

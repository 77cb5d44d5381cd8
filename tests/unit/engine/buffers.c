/* SPDX-License-Identifier: MIT */

#include "engine/buffers.h"

#include "unit.h"
#include "util/macro.h"

/* Only the lay-out is looked at; nothing lies behind the address. */
START_TEST(slots_lie_apart_and_inside_a_region) {
        static const uint64_t strides[] = { 512, 4096, 12288, 3 * MIB, 256 * MIB };
        Buffers buffers = { .base = (uint8_t *) (UINT64_C(1) << 40) };

        for (size_t i = 0; i < ELEMENTSOF(strides); i++) {
                uint8_t *end = buffers.base;

                for (uint32_t slot = 0; slot < JOB_OUTSTANDING_MAX; slot++) {
                        unsigned region;
                        uint8_t *buf = buffers_slot(&buffers, strides[i], slot, &region);

                        if (buf < end || (uint64_t) (buf - buffers.base) / GIB != region ||
                            (uint64_t) (buf - buffers.base + strides[i] - 1) / GIB != region)
                                ck_abort_msg("slot %u of %zu bytes", slot, (size_t) strides[i]);
                        end = buf + strides[i];
                }
        }
}
END_TEST

START_TEST(buffers_suffice_for_the_deepest_phase) {
        PhasePlan phases[] = {
                { .block_bytes = { 4096, 8192, 8192 }, .iodepth = 8, .numjobs = 4 },
                { .block_bytes = { 3 * MIB, 512, 512 }, .iodepth = 19, .numjobs = 18 }, /* 341 fit into one GiB */
                { .block_bytes = { 512, 512, 512 }, .iodepth = 64, .numjobs = 64 },
        };
        Plan plan = { .n_phases = ELEMENTSOF(phases), .phases = phases };
        _cleanup_error_ Error error = ERROR_INIT;
        Buffers buffers;
        unsigned region;

        ck_assert_int_eq(buffers_map(&buffers, &plan, &error), 0);
        ck_assert_uint_eq(buffers.n_bytes, GIB + 3 * MIB);
        ck_assert_uint_eq(buffers.n_regions, 2);
        ck_assert_uint_eq(buffers.regions[1].iov_len, 3 * MIB);
        for (size_t i = 0; i < plan.n_phases; i++) {
                uint64_t stride = buffers_stride(&phases[i]);
                uint8_t *buf = buffers_slot(&buffers, stride, phases[i].iodepth * phases[i].numjobs - 1, &region);

                ck_assert_uint_lt(region, buffers.n_regions);
                ck_assert(buf + stride <=
                          (uint8_t *) buffers.regions[region].iov_base + buffers.regions[region].iov_len);
        }
        buffers_unmap(&buffers);
        ck_assert_ptr_null(buffers.base);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("buffers");
        TCase *c = tcase_create("buffers");

        tcase_set_timeout(c, 60);
        tcase_add_test(c, slots_lie_apart_and_inside_a_region);
        tcase_add_test(c, buffers_suffice_for_the_deepest_phase);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

/* Whether a run that is taken up has the order of I/O that it had. */

#include <errno.h>
#include <string.h>

#include "random-phase.h"
#include "unit.h"
#include "util/macro.h"
#include "wire/standing.h"

#define SIZE (16 * MIB)
#define BLOCK 4096

/* A job that counts CPUs comes to another order on a machine that has others. */
START_TEST(another_plan_is_named) {
        static const struct {
                size_t offset;
                bool is_u32;
                const char *part;
        } cases[] = {
                { offsetof(PhasePlan, numjobs), true, "phase 1 of the run has numjobs=1, but its job comes to 9 now" },
                { offsetof(PhasePlan, iodepth), true, "iodepth=1" },
                { offsetof(PhasePlan, workers), true, "workers=1" },
                { offsetof(PhasePlan, block_bytes[DIRECTION_READ]), false, "bs of reads=4096" },
                { offsetof(PhasePlan, block_bytes[DIRECTION_WRITE]), false, "bs of writes=4096" },
                { offsetof(PhasePlan, block_bytes[DIRECTION_TRIM]), false, "bs of trims=4096" },
                { offsetof(PhasePlan, region_offset), false, "offset=0" },
                { offsetof(PhasePlan, region_bytes), false, "size=16777216" },
                { offsetof(PhasePlan, rw), true, "another order" },
                { offsetof(PhasePlan, read_percent), true, "another order" },
                { offsetof(PhasePlan, split[DIRECTION_WRITE].n), true, "another order" },
                { offsetof(PhasePlan, zones[DIRECTION_READ].n), true, "another order" },
                { offsetof(PhasePlan, stream_step_bytes), false, "another order" },
                { offsetof(PhasePlan, n_blocks[DIRECTION_READ]), false, "another order" },
                { offsetof(PhasePlan, limit_bytes), false, "another order" },
                { offsetof(PhasePlan, limit_ios), false, "another order" },
                { offsetof(PhasePlan, distribution), true, "another order" },
                { offsetof(PhasePlan, zipf_theta), false, "another order" },
                { offsetof(PhasePlan, seed), false, "another order" },
        };

        PhasePlan phases[2] = {
                random_phase(RW_RANDWRITE, 0, SIZE, BLOCK),
                random_phase(RW_RANDREAD, 100, SIZE, BLOCK),
        };
        const Plan plan = { .n_phases = 2, .phases = phases };
        _cleanup_standing_ Standing *standing = standing_new(2);
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_eq(standing_note_plan(standing, &plan), 0);
        ck_assert_int_eq(standing_check_plan(standing, &plan, &error), 0);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                PhasePlan was = phases[1];
                uint8_t *field = (uint8_t *) &phases[1] + cases[i].offset;

                memcpy(field, cases[i].is_u32 ? (const void *) &(uint32_t){ 9 } : &(uint64_t){ 9 },
                       cases[i].is_u32 ? sizeof(uint32_t) : sizeof(uint64_t));
                ck_assert_int_eq(standing_check_plan(standing, &plan, &error), -EPROTO);
                ck_assert_msg(strstr(error_message(&error), cases[i].part) != NULL, "%s", error_message(&error));
                error_clear(&error);
                phases[1] = was;
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("wire-plan");
        TCase *c = tcase_create("plan");

        tcase_add_test(c, another_plan_is_named);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

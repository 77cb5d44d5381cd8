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
#define FIELD(field) offsetof(PhasePlan, field), sizeof((PhasePlan){}.field)
        static const struct {
                size_t offset, size;
                const char *part;
        } cases[] = {
                { FIELD(numjobs), "phase 1 of the run has numjobs=1, but its job comes to 9 now" },
                { FIELD(iodepth), "iodepth=1" },
                { FIELD(workers), "workers=1" },
                { FIELD(block_bytes[DIRECTION_READ]), "bs of reads=4096" },
                { FIELD(block_bytes[DIRECTION_WRITE]), "bs of writes=4096" },
                { FIELD(block_bytes[DIRECTION_TRIM]), "bs of trims=4096" },
                { FIELD(region_offset), "offset=0" },
                { FIELD(region_bytes), "size=16777216" },
                { FIELD(rw), "another order" },
                { FIELD(read_percent), "another order" },
                { FIELD(split[DIRECTION_WRITE].n), "another order" },
                { FIELD(zones[DIRECTION_READ].n), "another order" },
                { FIELD(stream_step_bytes), "another order" },
                { FIELD(n_blocks[DIRECTION_READ]), "another order" },
                { FIELD(limit_bytes), "another order" },
                { FIELD(limit_ios), "another order" },
                { FIELD(distribution), "another order" },
                { FIELD(zipf_theta), "another order" },
                { FIELD(seed), "another order" },
                { FIELD(action), "another order" },
                { FIELD(random_map), "another order" },
                { FIELD(content.is_zero), "another order" },
                { FIELD(content.compress_percent), "another order" },
                { FIELD(content.dedupe_percent), "another order" },
                { FIELD(split[DIRECTION_READ].bytes[1]), "another order" },
                { FIELD(split[DIRECTION_WRITE].percent[0]), "another order" },
                { FIELD(zones[DIRECTION_WRITE].access[1]), "another order" },
                { FIELD(zones[DIRECTION_TRIM].size[0]), "another order" },
        };
#undef FIELD

        PhasePlan phases[2] = {
                random_phase(RW_RANDWRITE, 0, SIZE, BLOCK),
                random_phase(RW_RANDREAD, 100, SIZE, BLOCK),
        };
        const Plan plan = { .n_phases = 2, .phases = phases };
        _cleanup_standing_ Standing *standing = standing_new(2);
        _cleanup_error_ Error error = ERROR_INIT;

        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                phases[1].split[d] = (BlockSplit){ .n = 2, .bytes = { BLOCK, BLOCK }, .percent = { 50, 50 } };
                phases[1].zones[d] = (ZoneSplit){ .n = 2, .access = { 50, 50 }, .size = { 50, 50 } };
        }
        ck_assert_int_eq(standing_note_plan(standing, &plan), 0);
        ck_assert_int_eq(standing_check_plan(standing, &plan, &error), 0);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                PhasePlan was = phases[1];
                uint8_t *field = (uint8_t *) &phases[1] + cases[i].offset;

                field[0] ^= cases[i].size == sizeof(bool) ? 1 : 8; /* the lowest of its bytes */
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

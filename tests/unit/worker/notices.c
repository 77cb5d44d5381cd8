/* SPDX-License-Identifier: MIT */

/* Trims of which a drive may heed nothing are told, before anybody takes the drive for trimmed. */

#include "worker/notices.h"

#include <string.h>
#include <sys/mman.h>

#include "unit.h"
#include "util/macro.h"
#include "util/text.h"

/* The notice of trims that this job gets on a device that trims in pieces of 64 KiB; NULL: none. To be freed. */
static char *trim_notice(const char *text, uint32_t granularity_bytes) {
        DeviceInfo info = { .path = (char *) "/dev/sdx", .discard_granularity_bytes = granularity_bytes };
        _cleanup_close_ int fd = memfd_create("device", MFD_CLOEXEC);
        const PlanTarget target = { .size_bytes = GIB, .logical_block_bytes = 512, .can_discard = true };
        const Claim claim = { .info = &info, .fd = fd };
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = NULL;
        char *found = NULL;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(job_parse(&job, "t.fio", text, strlen(text), NULL), 0);
        ck_assert_int_eq(plan_new(&plan, job, &target, 0, NULL), 0);
        char **notices = notices_new(&claim, plan);
        ck_assert_ptr_nonnull(notices);
        for (char **notice = notices; *notice; notice++)
                if (!found && strstr(*notice, "discard_granularity"))
                        found = strdup(*notice);
        strv_free(notices);
        return found;
}

START_TEST(trims_of_parts_of_pieces_are_told) {
        static const struct {
                const char *job;
                const char *part; /* of the notice; NULL: none */
        } cases[] = {
                { "[t]\nrw=trim\nbs=64k\n", NULL },
                { "[t]\nrw=trim\nbs=128k\noffset=1m\n", NULL },
                { "[t]\nrw=trim\nbs=4k\n", "blocks of 4096 from byte 0 on" },
                { "[t]\nrw=trim\nbs=64k\noffset=32k\n", "blocks of 65536 from byte 32768 on" },
                { "[t]\nrw=trim\nbs=64k\noffset_increment=96k\nnumjobs=2\nsize=64k\n", "blocks of 65536" },
                { "[w]\nrw=write\nbs=4k\noffset=512\n", NULL },
                { "[d]\naction=discard\n", NULL },
                { "[d]\naction=discard\noffset=64k\nsize=128k\n", NULL },
                { "[d]\naction=discard\noffset=4k\nsize=64k\n", "discards 65536 bytes from byte 4096 on" },
                { "[d]\naction=discard\nsize=100k\n", "discards 102400 bytes from byte 0 on" },
                { "[w]\nrw=write\n[d]\naction=discard\nsize=100k\n", "discards 102400 bytes" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *notice = trim_notice(cases[i].job, 64 * KIB);

                ck_assert_msg((notice != NULL) == (cases[i].part != NULL), "%s", cases[i].job);
                if (notice)
                        ck_assert_msg(strstr(notice, cases[i].part) != NULL, "%s: %s", cases[i].job, notice);
                ck_assert_ptr_null(trim_notice(cases[i].job, 0));
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("notices");
        TCase *tc = tcase_create("notices");

        tcase_add_test(tc, trims_of_parts_of_pieces_are_told);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

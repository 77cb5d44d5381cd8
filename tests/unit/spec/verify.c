/* SPDX-License-Identifier: MIT */

/* verify=: from text to the phases that read back, and to those that are written so that they can be. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "spec/plan.h"
#include "unit.h"
#include "util/macro.h"

static int bind(const char *text, uint64_t size_bytes, Job **ret_job, Plan **ret, Error *error) {
        const PlanTarget target = { .size_bytes = size_bytes, .logical_block_bytes = 512, .can_discard = true };

        int r = job_parse(ret_job, "t.fio", text, strlen(text), error);
        return r < 0 ? r : plan_new(ret, *ret_job, &target, 7, error);
}

static Plan *bind_good(const char *text, uint64_t size_bytes, Job **ret_job) {
        _cleanup_error_ Error error = ERROR_INIT;
        Plan *plan = NULL;

        ck_assert_msg(bind(text, size_bytes, ret_job, &plan, &error) == 0, "%s\n%s", text, error_message(&error));
        return plan;
}

static void check_refused(const char *text, uint64_t size_bytes, const char *words) {
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = NULL;

        ck_assert_msg(bind(text, size_bytes, &job, &plan, &error) < 0, "%s", text);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        ck_assert_msg(strstr(error_message(&error), words), "no \"%s\" in \"%s\"", words, error_message(&error));
}

START_TEST(a_phase_that_writes_is_followed_by_its_read_back) {
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = bind_good("[w]\nrw=randrw\nbs=4k\niodepth=16\nnumjobs=2\nsize=10m\noffset=1m\n"
                                              "verify=crc32c\n[after]\nrw=write\n", GIB, &job);
        const PhasePlan *back = &plan->phases[1];
        _cleanup_free_ char *name = phase_plan_name(back, job);

        ck_assert_uint_eq(plan->n_phases, 3);
        ck_assert_str_eq(name, "w verify");
        ck_assert(back->is_read_back && back->is_checked && !back->is_tracked && back->fails_on_mismatch);
        ck_assert_int_eq(back->rw, RW_READ);
        ck_assert_uint_eq(back->region_offset, MIB);
        ck_assert_uint_eq(back->region_bytes, 10 * MIB);
        ck_assert_uint_eq(back->limit_bytes, 10 * MIB);
        ck_assert_uint_eq(back->iodepth * back->numjobs, 32);
        ck_assert_uint_eq(back->planned_write_bytes, 0);
        ck_assert(back->has_planned_bytes);
        ck_assert_uint_ge(back->block_bytes[DIRECTION_READ], 64 * KIB);
        ck_assert(plan->phases[0].is_tracked && !plan->phases[0].is_checked);
        ck_assert(!plan->phases[2].is_tracked); /* nobody reads after it */
        ck_assert_uint_eq(plan->granule_bytes, 4096);
        ck_assert_uint_eq(plan->verify_memory_bytes, JOB_VERIFY_MEMORY_DEFAULT);
}
END_TEST

START_TEST(a_read_back_spans_the_regions_of_all_streams) {
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = bind_good("[w]\nrw=write\nbs=4k\nnumjobs=3\noffset_increment=10m\nsize=2m\n"
                                              "verify=md5\n", GIB, &job);

        ck_assert_uint_eq(plan->phases[1].region_bytes, 22 * MIB);
        ck_assert_uint_eq(plan->phases[1].limit_bytes, 22 * MIB);
        ck_assert_uint_eq(plan->phases[1].stream_step_bytes, 0);
}
END_TEST

START_TEST(what_is_asked_is_what_the_streams_reach) {
        static const struct {
                const char *options;
                uint64_t bytes;
        } cases[] = {
                { "rw=read\nbs=64k\nsize=10m\n", 10 * MIB },
                { "rw=read\nbs=96k,4k\nsize=1m\n", 960 * KIB }, /* the rest is no block */
                { "rw=read\nbssplit=64k/50:128k/50\nsize=1088k\n", 1088 * KIB },
                { "rw=read\nbs=64k\nsize=1m\nnumjobs=4\n", MIB }, /* the same region */
                { "rw=read\nbs=64k\nsize=4m\nnumjobs=3\noffset_increment=1m\n", 6 * MIB },
                { "rw=read\nbs=64k\nsize=1m\nnumjobs=3\noffset_increment=4m\n", 3 * MIB }, /* gaps between */
                { "rw=read\nbs=64k\nsize=1m\nnumjobs=3\noffset_increment=4m\ntime_based\nruntime=5\n", 3 * MIB },
                { "rw=read\nbs=96k\nsize=1m\nnumjobs=3\noffset_increment=1m\n", 3 * 960 * KIB },
                { "rw=randread\nbs=64k\nsize=10m\nio_size=3m\n", 3 * MIB },
                { "rw=randread\nbs=64k\nsize=10m\nnumber_ios=5\n", 320 * KIB },
                { "rw=randread\nbs=64k\nsize=10m\nnumber_ios=500\n", 10 * MIB },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_job_ Job *job = NULL;
                char text[256];

                snprintf(text, sizeof(text), "[w]\nrw=write\nbs=4k\n[r]\nverify=md5\n%s", cases[i].options);
                _cleanup_plan_ Plan *plan = bind_good(text, GIB, &job);
                ck_assert(plan->phases[1].is_checked);
                ck_assert_msg(phase_plan_asked_bytes(&plan->phases[1]) == cases[i].bytes, "%s", cases[i].options);
        }
}
END_TEST

START_TEST(without_a_read_back_a_later_reading_checks) {
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = bind_good("[old]\nrw=write\nbs=512\n[w]\nrw=write\nbs=4k\nverify=sha256\n"
                                              "do_verify=0\n[r]\nrw=randread\nverify=sha256\n", MIB, &job);

        ck_assert_uint_eq(plan->n_phases, 3);
        ck_assert(plan->phases[0].is_tracked && plan->phases[1].is_tracked);
        ck_assert(plan->phases[2].is_checked && !plan->phases[2].is_read_back);
        ck_assert_uint_eq(plan->granule_bytes, 512);
}
END_TEST

/* What reads nothing checks nothing, wherever verify= was said. */
START_TEST(trims_are_tracked_and_check_nothing) {
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = bind_good("[global]\nverify=md5\n[w]\nrw=write\nbs=4k\n[t]\nrw=randtrim\nbs=4k\n"
                                              "[d]\naction=discard\n[r]\nrw=read\n", MIB, &job);

        ck_assert_uint_eq(plan->n_phases, 5);
        ck_assert(plan->phases[2].is_tracked && !plan->phases[2].is_checked);
        ck_assert(plan->phases[3].is_tracked && !plan->phases[3].is_checked);
        ck_assert(plan->phases[4].is_checked);
}
END_TEST

START_TEST(without_verify_nothing_is_tracked) {
        static const char *const texts[] = {
                "[w]\nrw=write\n[r]\nrw=read\n",
                "[w]\nrw=write\nverify=0\n[r]\nrw=read\n",
                "[w]\nrw=write\nverify=crc32c\ndo_verify=0\n",
                "[r]\nrw=read\nverify=crc32c\n", /* before anything is written */
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_job_ Job *job = NULL;
                _cleanup_plan_ Plan *plan = bind_good(texts[i], MIB, &job);

                for (size_t k = 0; k < plan->n_phases; k++)
                        ck_assert_msg(!plan->phases[k].is_tracked && !plan->phases[k].is_checked, "%s", texts[i]);
                ck_assert_uint_eq(plan->granule_bytes, 0);
        }
}
END_TEST

START_TEST(each_method_of_fio_is_taken_with_one_notice) {
        static const char *const methods[] = {
                "md5", "crc64", "crc32", "crc32c-intel", "crc32c", "crc16", "crc7", "sha1", "sha256", "sha512",
                "sha3-224", "sha3-256", "sha3-384", "sha3-512", "xxhash", "meta", "pattern", "null",
        };

        for (size_t i = 0; i < ELEMENTSOF(methods); i++) {
                _cleanup_job_ Job *job = NULL;
                char text[128];

                snprintf(text, sizeof(text), "[global]\nverify=%s\n[a]\nrw=write\n[b]\nrw=write\n", methods[i]);
                _cleanup_plan_ Plan *plan = bind_good(text, MIB, &job);
                ck_assert_uint_eq(plan->n_phases, 4);
                ck_assert_uint_eq(job->n_notices, 1);
                ck_assert(strstr(job->notices[0], "compares every byte"));
        }
        check_refused("[a]\nrw=write\nverify=crc33\n", MIB, "verify=crc33: expected 0, or one of fio's methods");
        check_refused("[a]\nrw=write\nverify=crc32c\nverify_pattern=1\n", MIB, "does not have");
}
END_TEST

START_TEST(what_cannot_be_verified_is_refused) {
        check_refused("[a]\nrw=write\nverify=md5\nzero_buffers\n", MIB, "t.fio:3: phase 'a': verify: zeros do not");
        check_refused("[a]\nrw=write\nverify=md5\nbuffer_compress_percentage=100\n", MIB, "zeros do not tell");
        check_refused("[a]\naction=matrix\nrw=write\nstep_time=1\nverify=md5\n", MIB, "a matrix has no read-back");
        check_refused("[global]\nverify_memory=63k\n[a]\n", MIB, "expected 64k to 8g");
        check_refused("[a]\nverify_memory=64m\n", MIB, "[global]");
}
END_TEST

START_TEST(a_reading_that_jumps_needs_memory_for_all_of_its_region) {
#define JUMPS "[w]\nrw=write\nbs=4k\nverify=md5\ndo_verify=0\n[r]\nrw=randread\nverify=md5\n"
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = bind_good("[global]\nverify_memory=2m\n" JUMPS, GIB, &job);

        ck_assert(plan->phases[1].is_checked);
        check_refused("[global]\nverify_memory=1m\n" JUMPS, GIB, "2097152 bytes of memory");
        check_refused("[global]\nverify_memory=1m\n" JUMPS "rw=read\nnumjobs=2\n", GIB, "one stream");

        _cleanup_job_ Job *ordered = NULL;
        plan_free(plan);
        plan = bind_good("[global]\nverify_memory=1m\n" JUMPS "rw=read\n", GIB, &ordered);
        ck_assert(plan->phases[1].is_checked);
}
END_TEST

/* Each I/O that begins in a window's part ends in what it holds, and no two take more than is allowed. */
START_TEST(windows_hold_what_they_serve) {
        for (uint64_t memory = 64 * KIB; memory <= 2 * MIB; memory *= 2) {
                char text[160];
                _cleanup_job_ Job *job = NULL;
                Windows w;

                snprintf(text, sizeof(text), "[global]\nverify_memory=%" PRIu64 "\n[w]\nrw=randwrite\nbs=512\n"
                         "size=100m\noffset=1m\niodepth=64\nverify=md5\n", memory);
                _cleanup_plan_ Plan *plan = bind_good(text, GIB, &job);
                plan_windows(plan, &plan->phases[1], &w);
                uint64_t n = (w.end - w.first + w.step - 1) / w.step;

                ck_assert_uint_eq(w.first, MIB / 512);
                ck_assert_uint_eq(w.end, 101 * MIB / 512);
                ck_assert_uint_le((n > 1 ? 2 : 1) * w.n_each * sizeof(uint64_t), memory);
                if (n > 1)
                        ck_assert_uint_ge(w.n_each - w.step, plan->phases[1].block_bytes[DIRECTION_READ] / 512);
        }
}
END_TEST

START_TEST(granules_divide_all_that_is_written) {
        static const struct {
                const char *text;
                uint32_t granule_bytes;
        } cases[] = {
                { "[w]\nrw=randwrite\nbs=1m\nverify=md5\n", 64 * KIB },
                { "[w]\nrw=randwrite\nbs=12k\nverify=md5\n", 12 * KIB },
                { "[w]\nrw=randwrite\nbs=4k\noffset=2k\nverify=md5\n", 2 * KIB },
                { "[w]\nrw=randwrite\nbssplit=2k/50:16k/50\nverify=md5\n", 2 * KIB },
                { "[w]\nrw=randwrite\nbs=8k\nnumjobs=2\nsize=32m\noffset_increment=3k\nverify=md5\n", KIB },
                { "[t]\nrw=randtrim\nbs=1k\n[w]\nrw=randwrite\nbs=8k\nverify=md5\n", KIB },
                { "[i]\naction=idle\nruntime=1\n[w]\nrw=write\nbs=8k\nverify=md5\n", 8 * KIB },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_job_ Job *job = NULL;
                _cleanup_plan_ Plan *plan = bind_good(cases[i].text, 64 * MIB, &job);

                ck_assert_msg(plan->granule_bytes == cases[i].granule_bytes, "%s: %u", cases[i].text,
                              plan->granule_bytes);
        }
}
END_TEST

START_TEST(continue_on_error_tells_what_a_mismatch_does) {
        static const struct {
                const char *option;
                bool ends, fails;
        } cases[] = {
                { "", false, true },
                { "continue_on_error=none\n", true, true },
                { "continue_on_error=io\n", true, true },
                { "continue_on_error=verify\n", false, false },
                { "continue_on_error=all\n", false, false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_job_ Job *job = NULL;
                char text[128];

                snprintf(text, sizeof(text), "[w]\nrw=write\nverify=md5\n%s", cases[i].option);
                _cleanup_plan_ Plan *plan = bind_good(text, MIB, &job);
                ck_assert_int_eq(plan->phases[1].ends_on_mismatch, cases[i].ends);
                ck_assert_int_eq(plan->phases[1].fails_on_mismatch, cases[i].fails);
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("spec-verify");
        TCase *c = tcase_create("verify");

        tcase_add_test(c, a_phase_that_writes_is_followed_by_its_read_back);
        tcase_add_test(c, a_read_back_spans_the_regions_of_all_streams);
        tcase_add_test(c, what_is_asked_is_what_the_streams_reach);
        tcase_add_test(c, without_a_read_back_a_later_reading_checks);
        tcase_add_test(c, trims_are_tracked_and_check_nothing);
        tcase_add_test(c, without_verify_nothing_is_tracked);
        tcase_add_test(c, each_method_of_fio_is_taken_with_one_notice);
        tcase_add_test(c, what_cannot_be_verified_is_refused);
        tcase_add_test(c, a_reading_that_jumps_needs_memory_for_all_of_its_region);
        tcase_add_test(c, windows_hold_what_they_serve);
        tcase_add_test(c, granules_divide_all_that_is_written);
        tcase_add_test(c, continue_on_error_tells_what_a_mismatch_does);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

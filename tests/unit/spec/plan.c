/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "spec/plan.h"
#include "unit.h"
#include "util/macro.h"

static int bind(const char *text, uint64_t size_bytes, uint32_t logical_block_bytes, Plan **ret, Error *error) {
        _cleanup_job_ Job *job = NULL;
        const PlanTarget target = {
                .size_bytes = size_bytes,
                .logical_block_bytes = logical_block_bytes,
                .can_discard = true,
        };

        ck_assert_msg(job_parse(&job, "t.fio", text, strlen(text), error) == 0, "%s\n%s", text, error_message(error));
        return plan_new(ret, job, &target, 7, error);
}

/* Binds a job that must fit, to logical blocks of 512 bytes. The caller frees the plan. */
static Plan *bind_good(const char *text, uint64_t size_bytes) {
        _cleanup_error_ Error error = ERROR_INIT;
        Plan *plan = NULL;

        ck_assert_msg(bind(text, size_bytes, 512, &plan, &error) == 0, "%s\n%s", text, error_message(&error));
        return plan;
}

static void check_refused(const char *text, uint64_t size_bytes, uint32_t logical_block_bytes, const char *word) {
        _cleanup_error_ Error error = ERROR_INIT;
        Plan *plan = NULL;

        ck_assert_msg(bind(text, size_bytes, logical_block_bytes, &plan, &error) < 0, "%s", text);
        ck_assert_ptr_null(plan);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        ck_assert_msg(strstr(error_message(&error), word), "no \"%s\" in \"%s\"", word, error_message(&error));
        ck_assert_int_eq(strncmp(error_message(&error), "t.fio:", strlen("t.fio:")), 0);
        ck_assert_ptr_nonnull(strstr(error_message(&error), ": phase 'a': "));
}

typedef struct AmountCase {
        const char *options; /* separated by blanks, not newlines, for reading */
        uint64_t offset, region, limit;
} AmountCase;

static void check_amounts(const AmountCase *cases, size_t n, uint64_t size_bytes) {
        for (size_t i = 0; i < n; i++) {
                char text[256];

                snprintf(text, sizeof(text), "[a]\n%s\n", cases[i].options);
                for (char *p = text; (p = strchr(p, ' '));)
                        *p = '\n';

                _cleanup_plan_ Plan *plan = bind_good(text, size_bytes);
                const PhasePlan *phase = &plan->phases[0];
                ck_assert_msg(phase->region_offset == cases[i].offset, "%s: offset %llu", cases[i].options,
                              (unsigned long long) phase->region_offset);
                ck_assert_msg(phase->region_bytes == cases[i].region, "%s: region %llu", cases[i].options,
                              (unsigned long long) phase->region_bytes);
                ck_assert_msg(phase->limit_bytes == cases[i].limit, "%s: limit %llu", cases[i].options,
                              (unsigned long long) phase->limit_bytes);
        }
}

/* What fio 3.33 does with each of these on a loop device of 64 MiB: bytes by its own count, offsets by its log. */
START_TEST(test_amounts_are_those_of_fio) {
        static const AmountCase cases[] = {
                { "rw=write", 0, 64 * MIB, 64 * MIB },
                { "rw=write size=1m numjobs=2 norandommap loops=3", 0, MIB, 6 * MIB },
                { "rw=write size=50%", 0, 32 * MIB, 32 * MIB },
                { "rw=write size=50% offset=50%", 32 * MIB, 32 * MIB, 32 * MIB },
                { "rw=write offset=50%", 32 * MIB, 32 * MIB, 32 * MIB },
                { "rw=write size=100% offset=50%", 32 * MIB, 32 * MIB, 32 * MIB },
                { "rw=write offset=60m size=8m", 60 * MIB, 4 * MIB, 4 * MIB },
                { "rw=write size=128m", 0, 64 * MIB, 64 * MIB },
                { "rw=write size=0", 0, 64 * MIB, 64 * MIB },
                { "rw=write offset=33% size=33%", 22147072, 22142976, 22142976 },
                { "rw=write offset=512 size=1m", 512, MIB, MIB },
                { "rw=randrw bs=4k,8k size=4m rwmixread=30", 0, 4 * MIB, 4 * MIB },
        };

        check_amounts(cases, ELEMENTSOF(cases), 64 * MIB);
}
END_TEST

START_TEST(test_io_size_is_that_of_fio) {
        static const AmountCase cases[] = {
                { "rw=write size=1m io_size=3m", 0, MIB, 3 * MIB },
                { "rw=write size=4m io_size=1m", 0, 4 * MIB, MIB },
                { "rw=write size=4m io_size=1m loops=2", 0, 4 * MIB, 2 * MIB },
                { "rw=write size=1m io_size=3m loops=2", 0, MIB, 3 * MIB },
                { "rw=write size=128k io_size=384k loops=5", 0, 128 * KIB, 640 * KIB },
                { "rw=randwrite size=128k io_size=384k loops=2 norandommap", 0, 128 * KIB, 768 * KIB },
                { "rw=randwrite size=128k io_size=384k loops=2 norandommap=0", 0, 128 * KIB, 384 * KIB },
                { "rw=write size=128k io_size=10k loops=2", 0, 128 * KIB, 20 * KIB },
                { "rw=write io_size=50%", 0, 64 * MIB, 32 * MIB },
                { "rw=write size=50% io_size=50%", 0, 32 * MIB, 16 * MIB },
                { "rw=write offset=50% io_size=50%", 32 * MIB, 32 * MIB, 16 * MIB },
                { "rw=write size=1m io_size=1m numjobs=4", 0, MIB, 4 * MIB },
                { "rw=write io_size=7k numjobs=4", 0, 64 * MIB, 32 * KIB }, /* each stream ends with a whole block */
                { "rw=randwrite io_size=3002k numjobs=2 norandommap", 0, 64 * MIB, 2 * 751 * 4 * KIB },
                { "rw=write io_size=5k loops=3", 0, 64 * MIB, 16 * KIB },
                { "rw=randrw rwmixread=0 bs=4k,8k io_size=12k numjobs=2", 0, 64 * MIB, 32 * KIB },
                { "rw=write size=64k io_size=160k loops=2", 0, 64 * KIB, 192 * KIB }, /* whole passes */
                { "rw=randread size=64k io_size=160k loops=2", 0, 64 * KIB, 320 * KIB },
                { "rw=rw size=1m io_size=2100k bs=64k", 0, MIB, 33 * 64 * KIB },
                { "rw=rw rwmixread=0 size=64k io_size=160k loops=2", 0, 64 * KIB, 192 * KIB },
                /* No pass for less than a block; one for more ends with a whole one. */
                { "rw=randread size=1m io_size=2100k bs=64k norandommap=0", 0, MIB, 32 * 64 * KIB },
                { "rw=randwrite size=1m io_size=2113k bs=64k norandommap=0", 0, MIB, 34 * 64 * KIB },
                { "rw=write size=1m io_size=1025k bs=64k", 0, MIB, MIB },
        };

        check_amounts(cases, ELEMENTSOF(cases), 64 * MIB);
}
END_TEST

START_TEST(test_tail_is_lost_and_told) {
        _cleanup_plan_ Plan *plan = bind_good("[a]\nrw=write\nbs=3k\n", 10 * KIB);

        ck_assert_uint_eq(plan->phases[0].region_bytes, 9 * KIB);
        ck_assert_uint_eq(plan->phases[0].n_blocks[DIRECTION_WRITE], 3);
        ck_assert_uint_eq(plan->phases[0].limit_bytes, 9 * KIB);
        ck_assert_uint_eq(plan->n_notices, 1);
        ck_assert_str_eq(plan->notices[0],
                         "t.fio: the target's last 1024 bytes are left out with bs=3072: no multiple of it");

        /* Of a region that a phase or its streams have to themselves it is told with the phase. */
        static const char *const own[] = { "[a]\nrw=write\nbs=3k\nsize=10k\n",
                                           "[a]\nrw=write\nbs=3k\nnumjobs=2\noffset_increment=10k\nsize=10k\n" };
        for (size_t i = 0; i < ELEMENTSOF(own); i++) {
                _cleanup_plan_ Plan *cut = bind_good(own[i], 20 * KIB);

                ck_assert_ptr_nonnull(strstr(cut->notices[cut->n_notices - 1],
                                             "phase 'a': its last 1024 bytes are left out: no multiple of bs=3072"));
        }
}
END_TEST

START_TEST(test_cut_at_the_end_is_told) {
        _cleanup_plan_ Plan *cut = bind_good("[a]\nsize=2m\n", MIB);
        _cleanup_plan_ Plan *whole = bind_good("[a]\nsize=1m\n", MIB);

        ck_assert_uint_eq(cut->n_notices, 1);
        ck_assert_ptr_nonnull(strstr(cut->notices[0], "phase 'a': the size of 2097152 bytes"));
        ck_assert_uint_eq(whole->n_notices, 0);
}
END_TEST

START_TEST(test_each_direction_has_its_blocks) {
        _cleanup_plan_ Plan *plan = bind_good("[a]\nrw=randrw\nbs=4k,16k\nsize=44k\n", MIB);
        const PhasePlan *phase = &plan->phases[0];

        ck_assert_uint_eq(phase->region_bytes, 44 * KIB);
        ck_assert_uint_eq(phase->block_bytes[DIRECTION_READ], 4 * KIB);
        ck_assert_uint_eq(phase->block_bytes[DIRECTION_WRITE], 16 * KIB);
        ck_assert_uint_eq(phase->n_blocks[DIRECTION_READ], 11);
        ck_assert_uint_eq(phase->n_blocks[DIRECTION_WRITE], 2);
}
END_TEST

START_TEST(test_several_sizes) {
        _cleanup_plan_ Plan *plan = bind_good("[a]\nrw=rw\nbs=64k\nbssplit=,8k/75:16k/25\nsize=1m\n[b]\nrw=randwrite\n"
                                              "bssplit=4k/50:12k/50\nsize=50k\n", 16 * MIB);
        const PhasePlan *a = &plan->phases[0], *b = &plan->phases[1];

        ck_assert_uint_eq(a->block_bytes[DIRECTION_READ], 64 * KIB);
        ck_assert_uint_eq(a->split[DIRECTION_READ].n, 0);
        ck_assert_uint_eq(a->block_bytes[DIRECTION_WRITE], 8 * KIB);
        ck_assert_uint_eq(a->split[DIRECTION_WRITE].n, 2);
        /* As many writes of 10 KiB as reads of 64. */
        ck_assert_uint_eq(a->planned_write_bytes, 18 * 8 * KIB); /* up to whole blocks */
        ck_assert_uint_eq(b->region_bytes, 48 * KIB);
        ck_assert_uint_eq(b->n_blocks[DIRECTION_WRITE], 12);
        ck_assert_uint_eq(b->limit_bytes, 48 * KIB);
}
END_TEST

static const PhasePlan *bind_phase(Plan **plan, const char *text, uint64_t size_bytes) {
        *plan = bind_good(text, size_bytes);
        return &(*plan)->phases[0];
}

START_TEST(test_streams_with_regions_of_their_own) {
        static const struct {
                const char *options;
                uint64_t step, region, limit;
                unsigned n_notices;
        } cases[] = {
                { "rw=write numjobs=4 size=25% offset_increment=25%", 16 * MIB, 16 * MIB, 64 * MIB, 0 },
                { "rw=write numjobs=4 size=1m offset_increment=2m", 2 * MIB, MIB, 4 * MIB, 0 },
                { "rw=write numjobs=3 offset=4m size=20m offset_increment=20m", 20 * MIB, 20 * MIB, 60 * MIB, 0 },
                { "rw=write numjobs=3 size=24m offset_increment=20m", 20 * MIB, 24 * MIB, 72 * MIB, 0 },
                /* 4681.14 blocks go down for step and size, and up for the offset: 4680.85 are left then. */
                { "rw=write numjobs=4 bs=3584 size=25% offset_increment=25%", 4681 * 3584, 4681 * 3584,
                  4 * 4681 * 3584, 0 },
                { "rw=write numjobs=3 bs=3584 size=25% offset_increment=25% offset=25%", 4681 * 3584, 4680 * 3584,
                  3 * 4680 * 3584, 0 },
                { "rw=write numjobs=2 bs=1m size=2m offset_increment=1%", MIB, 2 * MIB, 4 * MIB, 0 },
                { "rw=write numjobs=1 offset_increment=20m", 0, 64 * MIB, 64 * MIB, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_plan_ Plan *plan = NULL;
                char text[256];

                snprintf(text, sizeof(text), "[a]\n%s\n", cases[i].options);
                for (char *p = text; (p = strchr(p, ' '));)
                        *p = '\n';
                const PhasePlan *phase = bind_phase(&plan, text, 64 * MIB);
                ck_assert_uint_eq(phase->stream_step_bytes, cases[i].step);
                ck_assert_uint_eq(phase->region_bytes, cases[i].region);
                ck_assert_uint_eq(phase->limit_bytes, cases[i].limit);
                ck_assert_uint_eq(plan->n_notices, cases[i].n_notices);
        }
        check_refused("[a]\nnumjobs=3\nsize=25m\noffset_increment=20m\n", 64 * MIB, 512,
                      "t.fio:3: phase 'a': with offset_increment=20971520 the last of 3 streams begins 25165824 bytes "
                      "before the target's end, and the size of 26214400 is more: expected at most that");
        check_refused("[a]\nnumjobs=2\noffset_increment=10%\nsize=100%\n", 64 * MIB, 512, "expected at most that");
        check_refused("[a]\nnumjobs=3\noffset_increment=20m\n", 64 * MIB, 512, "t.fio:3: phase 'a': with "
                      "offset_increment all streams have regions of one size: expected it in size");
        check_refused("[a]\nnumjobs=3\noffset_increment=40m\n", 64 * MIB, 512, "last of 3 streams begins beyond");
        check_refused("[a]\nnumjobs=2\noffset_increment=100\n", 64 * MIB, 512, "offset_increment=100");
        check_refused("[a]\nnumjobs=16384\noffset_increment=18446744073709551104\n", 64 * MIB, 512, "begins beyond");
}
END_TEST

/* fio 3.33: of each stream and loop, and not at all where time ends the phase. */
START_TEST(test_number_of_ios) {
        _cleanup_plan_ Plan *a = NULL, *b = NULL, *c = NULL;

        ck_assert_uint_eq(bind_phase(&a, "[a]\nrw=write\nnumber_ios=10\nloops=3\nnumjobs=2\n", MIB)->limit_ios, 60);
        ck_assert_uint_eq(a->phases[0].planned_write_bytes, 60 * 4096);
        ck_assert_uint_eq(bind_phase(&b, "[a]\nrw=write\nnumber_ios=10\ntime_based\nruntime=1\n", MIB)->limit_ios, 0);
        ck_assert_uint_eq(bind_phase(&c, "[a]\nrw=write\nnumber_ios=1000\n", MIB)->planned_write_bytes, MIB);
}
END_TEST

START_TEST(test_rates_are_of_all_streams_and_bound_what_is_written) {
        static const char timed[] = "[a]\nrw=randwrite\ntime_based\nruntime=10\nnumjobs=2\n";
        static const struct {
                const char *rate;
                uint64_t read, write, planned;
        } cases[] = {
                { "rate=1m\n", MIB, MIB, 20 * MIB },
                { "rate=1m,2m\n", MIB, 2 * MIB, 40 * MIB },
                { "rate=,3m\n", 0, 3 * MIB, 60 * MIB },
                { "rate_iops=100\n", 100, 100, 2000 * 4096 },
                { "rate=1k\n", KIB, KIB, 5 * 4096 },
                { "rate=1000\n", 1000, 1000, 5 * 4096 }, /* the last block begins before the time is over */
                { "workers=2\nrate=1k\n", KIB, KIB, 2 * 3 * 4096 }, /* each ring thread has a last block */
                { "workers=2\nrate_iops=100\n", 100, 100, 2000 * 4096 },
                { "bssplit=4k/50:16k/50\nrate=1k\n", KIB, KIB, 5 * 4096 + 12288 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                bool iops = strstr(cases[i].rate, "iops");
                _cleanup_plan_ Plan *plan = NULL;
                char text[128];

                snprintf(text, sizeof(text), "%s%s", timed, cases[i].rate);
                const PhasePlan *phase = bind_phase(&plan, text, MIB);
                const uint64_t *rates = iops ? phase->rate_iops : phase->rate_bytes;
                ck_assert_uint_eq(rates[DIRECTION_READ], 2 * cases[i].read);
                ck_assert_uint_eq(rates[DIRECTION_WRITE], 2 * cases[i].write);
                ck_assert(phase->has_planned_bytes);
                ck_assert_uint_eq(phase->planned_write_bytes, cases[i].planned);
        }

        /* So does an I/O that is one of a second with a half. */
        _cleanup_plan_ Plan *odd = NULL, *plan = NULL;
        bind_phase(&odd, "[a]\nrw=randwrite\ntime_based\nruntime=1500ms\nrate_iops=1\n", MIB);
        ck_assert_uint_eq(odd->phases[0].planned_write_bytes, 2 * 4096);
        ck_assert(!bind_phase(&plan, "[a]\nrw=randrw\ntime_based\nruntime=10\nrate=1m,\n", MIB)->has_planned_bytes);
}
END_TEST

START_TEST(test_what_does_not_fit_is_refused) {
        check_refused("[a]\nbs=512\n", MIB, 4096, "multiple");
        check_refused("[a]\nbs=768\n", MIB, 512, "multiple");
        check_refused("[a]\nbssplit=512/50:4k\n", MIB, 4096, "bssplit=512");
        check_refused("[a]\nbssplit=4k/99:2m/1\n", MIB, 512, "holds no block of bs=2097152");
        check_refused("[a]\nrw=rw\nbs=4k,1k\n", MIB, 4096, "bs=1024");
        check_refused("[a]\noffset=100\n", MIB, 512, "multiple");
        check_refused("[a]\noffset=1m\n", MIB, 512, "end of the target");
        check_refused("[a]\noffset=2m\n", MIB, 512, "end of the target");
        check_refused("[a]\noffset=100%\n", MIB, 512, "end of the target");
        check_refused("[a]\nsize=1%\nbs=16k\n", MIB, 512, "holds no block");
        check_refused("[a]\nbs=16k\n", 10 * KIB, 512, "holds no block");
        check_refused("[a]\nbs=4k\n", 0, 512, "end of the target");
}
END_TEST

START_TEST(test_what_does_not_fit_is_told_by_the_line_that_says_it) {
        check_refused("[a]\nrw=read\n\nbs=1000\n", MIB, 512, "t.fio:4: ");
        check_refused("[global]\nbs=1000\n[b]\nbs=4k\n[a]\n", MIB, 512, "t.fio:2: ");
        check_refused("[a]\nbs=4k\noffset=100\n", MIB, 512, "t.fio:3: ");
        check_refused("[a]\noffset=2m\n", MIB, 512, "t.fio:2: ");
        check_refused("[a]\nbs=16k\nsize=1%\n", MIB, 512, "t.fio:3: ");
        check_refused("# bs is a default\n[a]\n", MIB, 8192, "t.fio:2: ");
        check_refused("[a]\nbs=4KiB\n", MIB, 512, "; as in fio, KiB, MiB, GiB are powers of 1000");
        check_refused("[a]\noffset=1KiB\n", MIB, 512, "; as in fio, KiB, MiB, GiB are powers of 1000");

        _cleanup_error_ Error error = ERROR_INIT;
        Plan *plan = NULL;
        ck_assert_int_lt(bind("[a]\nbs=1KiB\nbs=1000\n", MIB, 512, &plan, &error), 0);
        ck_assert_ptr_null(strstr(error_message(&error), "KiB"));
}
END_TEST

START_TEST(test_unused_direction_needs_no_fitting_block) {
        _cleanup_plan_ Plan *plan = NULL;

        ck_assert_int_eq(bind("[a]\nrw=write\nbs=512,4k\n", MIB, 4096, &plan, NULL), 0);
        ck_assert_uint_eq(plan->phases[0].n_blocks[DIRECTION_WRITE], 256);
}
END_TEST

START_TEST(test_runtime_and_time_based) {
        _cleanup_plan_ Plan *timed = bind_good("[a]\nrw=write\nruntime=10\n", MIB);
        _cleanup_plan_ Plan *based = bind_good("[a]\nrw=write\nruntime=10\ntime_based\nio_size=4k\n", MIB);
        _cleanup_plan_ Plan *vain = bind_good("[a]\nrw=write\ntime_based\n", MIB);

        ck_assert_uint_eq(timed->phases[0].limit_bytes, MIB);
        ck_assert_uint_eq(timed->phases[0].runtime_ns, 10 * NSEC_PER_SEC);
        ck_assert_uint_eq(based->phases[0].limit_bytes, UINT64_MAX);
        ck_assert_uint_eq(vain->phases[0].limit_bytes, MIB);
        ck_assert_uint_eq(vain->phases[0].runtime_ns, 0);
}
END_TEST

START_TEST(test_forecast) {
        _cleanup_plan_ Plan *plan = bind_good("[global]\nruntime=10\nsize=1m\n[a]\nrw=write\nnumjobs=3\n"
                                              "[b]\nrw=read\ntime_based\n"
                                              "[c]\nrw=rw\nrwmixread=75\n[d]\nrw=rw\nrwmixread=50\nbs=4k,12k\n", GIB);
        uint64_t total = 0;

        for (size_t i = 0; i < plan->n_phases; i++) {
                ck_assert(plan->phases[i].has_planned_time);
                ck_assert_uint_eq(plan->phases[i].planned_ns, 10 * NSEC_PER_SEC);
                ck_assert(plan->phases[i].has_planned_bytes);
        }
        ck_assert_uint_eq(plan->phases[0].planned_write_bytes, 3 * MIB);
        ck_assert_uint_eq(plan->phases[1].planned_write_bytes, 0);
        ck_assert_uint_eq(plan->phases[2].planned_write_bytes, MIB / 4);
        ck_assert_uint_eq(plan->phases[3].planned_write_bytes, MIB * 3 / 4);
        ck_assert(plan_total_time(plan, &total));
        ck_assert_uint_eq(total, 40 * NSEC_PER_SEC);
        ck_assert(plan_total_write_bytes(plan, &total));
        ck_assert_uint_eq(total, 4 * MIB);
}
END_TEST

START_TEST(test_what_cannot_be_told_is_not_told) {
        _cleanup_plan_ Plan *plan = bind_good("[a]\nrw=write\nruntime=10\ntime_based\n[b]\nrw=write\nsize=1m\n", GIB);
        uint64_t total = 42;

        ck_assert(!plan->phases[0].has_planned_bytes);
        ck_assert(!plan->phases[1].has_planned_time);
        ck_assert(!plan_total_time(plan, &total));
        ck_assert(!plan_total_write_bytes(plan, &total));
        ck_assert_uint_eq(total, 42);
}
END_TEST

START_TEST(test_what_may_be_written_bounds_what_is_planned) {
        _cleanup_plan_ Plan *fills = bind_good("[stop]\nwritten_max=2.5 fills\n[a]\nrw=write\nloops=2\n[b]\nrw=write\n"
                                               "loops=2\n", GIB);
        _cleanup_plan_ Plan *more = bind_good("[stop]\nwritten_max=3g\n[a]\nrw=write\n[b]\nrw=read\n", GIB);
        _cleanup_plan_ Plan *timed = bind_good("[stop]\nwritten_max=3g\n[a]\nrw=write\nruntime=9\ntime_based\n[b]\n",
                                               GIB);
        _cleanup_plan_ Plan *huge = bind_good("[stop]\nwritten_max=1000000 fills\n[a]\n", UINT64_MAX);
        _cleanup_plan_ Plan *tiny = bind_good("[stop]\nwritten_max=0.001 fills\n[a]\nbs=512\n", 512);
        _cleanup_plan_ Plan *none = bind_good("[a]\n", GIB);
        uint64_t total;

        ck_assert_uint_eq(fills->stop_written_max, 5 * GIB / 2);
        ck_assert(plan_total_write_bytes(fills, &total));
        ck_assert_uint_eq(total, 5 * GIB / 2);
        ck_assert(plan_total_write_bytes(more, &total));
        ck_assert_uint_eq(total, GIB);
        ck_assert(plan_total_write_bytes(timed, &total));
        ck_assert_uint_eq(total, 3 * GIB);
        ck_assert_uint_eq(huge->stop_written_max, UINT64_MAX);
        ck_assert_uint_eq(tiny->stop_written_max, 1); /* 0 would be no limit */
        ck_assert_uint_eq(none->stop_written_max, 0);
}
END_TEST

START_TEST(test_nothing_overflows) {
        _cleanup_plan_ Plan *big = bind_good("[a]\nrw=randwrite\nloops=4294967295\nnumjobs=16384\n", 64 * TIB);
        _cleanup_plan_ Plan *percent = bind_good("[a]\nrw=randwrite\noffset=99%\nsize=99%\nio_size=99%\n", UINT64_MAX);
        _cleanup_plan_ Plan *half = bind_good("[a]\nsize=50%\n", UINT64_C(1) << 63);
        _cleanup_plan_ Plan *times = bind_good("[global]\nruntime=200000d\n[a]\n[b]\n", MIB);
        _cleanup_plan_ Plan *bytes = bind_good("[global]\nrw=write\nloops=100000\n[a]\n[b]\n[c]\n", 64 * TIB);
        uint64_t total;

        ck_assert_uint_eq(big->phases[0].n_blocks[DIRECTION_WRITE], 64 * TIB / 4096);
        ck_assert_uint_eq(big->phases[0].limit_bytes, UINT64_MAX);
        ck_assert(!big->phases[0].has_planned_bytes);
        ck_assert_uint_le(percent->phases[0].region_bytes, UINT64_MAX - percent->phases[0].region_offset);
        ck_assert_uint_gt(percent->phases[0].region_bytes, UINT64_MAX / 101);
        ck_assert_uint_eq(half->phases[0].region_bytes, UINT64_C(1) << 62);
        ck_assert(plan_total_time(times, &total));
        ck_assert_uint_eq(total, UINT64_MAX);
        ck_assert(plan_total_write_bytes(bytes, &total));
        ck_assert_uint_eq(total, UINT64_MAX);
}
END_TEST

static uint64_t seed_of(const char *text, uint64_t random_seed, size_t phase) {
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = NULL;
        const PlanTarget target = { .size_bytes = MIB, .logical_block_bytes = 512 };

        ck_assert_int_eq(job_parse(&job, "t.fio", text, strlen(text), NULL), 0);
        ck_assert_int_eq(plan_new(&plan, job, &target, random_seed, NULL), 0);
        return plan->phases[phase].seed;
}

START_TEST(test_seeds) {
        static const char repeat[] = "[a]\n[b]\n", fresh[] = "[a]\nrandrepeat=0\n[b]\nrandrepeat=0\n",
                          given[] = "[a]\nrandseed=5\nrandrepeat=0\n[b]\nrandseed=5\n";

        ck_assert_uint_eq(seed_of(repeat, 1, 0), seed_of(repeat, 2, 0));
        ck_assert_uint_ne(seed_of(repeat, 1, 0), seed_of(repeat, 1, 1));
        ck_assert_uint_ne(seed_of(fresh, 1, 0), seed_of(fresh, 2, 0));
        ck_assert_uint_ne(seed_of(fresh, 1, 0), seed_of(fresh, 1, 1));
        ck_assert_uint_eq(seed_of(fresh, 1, 0), seed_of(fresh, 1, 0));
        ck_assert_uint_eq(seed_of(given, 1, 0), 5);
        ck_assert_uint_eq(seed_of(given, 2, 1), 5);
}
END_TEST

START_TEST(test_the_rest_is_carried_over) {
        _cleanup_plan_ Plan *plan = bind_good("[x]\n[a]\nrw=randrw\nrwmixread=30\niodepth=8\nnumjobs=4\n"
                                              "norandommap=0\ncontinue_on_error=read\n[stop]\nerrors_max=9\n", MIB);
        const PhasePlan *phase = &plan->phases[1];

        ck_assert_uint_eq(plan->n_phases, 2);
        ck_assert_uint_eq(phase->index, 1);
        ck_assert_int_eq(phase->action, PHASE_ACTION_IO);
        ck_assert_int_eq(phase->rw, RW_RANDRW);
        ck_assert_uint_eq(phase->read_percent, 30);
        ck_assert_uint_eq(phase->iodepth, 8);
        ck_assert_uint_eq(phase->numjobs, 4);
        ck_assert(phase->random_map);
        ck_assert(!plan->phases[0].random_map);
        ck_assert(phase->ends_on_error[DIRECTION_WRITE] && !phase->ends_on_error[DIRECTION_READ]);
        ck_assert(!plan->phases[0].ends_on_error[DIRECTION_WRITE]);
        ck_assert_uint_eq(plan->stop_errors_max, 9);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("plan");
        TCase *tc = tcase_create("plan");

        tcase_add_test(tc, test_amounts_are_those_of_fio);
        tcase_add_test(tc, test_io_size_is_that_of_fio);
        tcase_add_test(tc, test_tail_is_lost_and_told);
        tcase_add_test(tc, test_cut_at_the_end_is_told);
        tcase_add_test(tc, test_each_direction_has_its_blocks);
        tcase_add_test(tc, test_several_sizes);
        tcase_add_test(tc, test_streams_with_regions_of_their_own);
        tcase_add_test(tc, test_number_of_ios);
        tcase_add_test(tc, test_rates_are_of_all_streams_and_bound_what_is_written);
        tcase_add_test(tc, test_what_does_not_fit_is_refused);
        tcase_add_test(tc, test_what_does_not_fit_is_told_by_the_line_that_says_it);
        tcase_add_test(tc, test_unused_direction_needs_no_fitting_block);
        tcase_add_test(tc, test_runtime_and_time_based);
        tcase_add_test(tc, test_forecast);
        tcase_add_test(tc, test_what_cannot_be_told_is_not_told);
        tcase_add_test(tc, test_what_may_be_written_bounds_what_is_planned);
        tcase_add_test(tc, test_nothing_overflows);
        tcase_add_test(tc, test_seeds);
        tcase_add_test(tc, test_the_rest_is_carried_over);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

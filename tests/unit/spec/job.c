/* SPDX-License-Identifier: MIT */

#include <math.h>
#include <string.h>

#include "parse-job.h"
#include "spec/job.h"
#include "spec/option.h"
#include "spec/stop.h"
#include "unit.h"
#include "util/macro.h"

static size_t count_notices(const Job *job, const char *word) {
        size_t n = 0;

        for (size_t i = 0; i < job->n_notices; i++)
                if (strstr(job->notices[i], word))
                        n++;
        return n;
}

START_TEST(test_sandforce_command_line_means_what_fio_means) {
        _cleanup_job_ Job *job = parse_good("[sandforce]\nbs=4k\nnumjobs=64\nrandrepeat=0\nrwmixread=0\nnorandommap\n"
                                            "rw=randrw\nruntime=60000\ndo_verify=0\ndirect=1\nioengine=sync\n");
        const JobPhase *phase = &job->phases[0];

        ck_assert_uint_eq(job->n_phases, 1);
        ck_assert_str_eq(phase->name, "sandforce");
        ck_assert_int_eq(phase->action, PHASE_ACTION_IO);
        ck_assert_int_eq(phase->rw, RW_RANDRW);
        ck_assert_uint_eq(phase->read_percent, 0);
        ck_assert_uint_eq(phase->block_bytes[DIRECTION_READ], 4096);
        ck_assert_uint_eq(phase->block_bytes[DIRECTION_WRITE], 4096);
        ck_assert_uint_eq(phase->numjobs, 64);
        ck_assert_uint_eq(phase->iodepth, 1);
        ck_assert_uint_eq(phase->runtime_ns, 60000 * NSEC_PER_SEC);
        ck_assert(!phase->time_based);
        ck_assert(!phase->random_map);
        ck_assert(!phase->random_repeat);
        ck_assert_int_eq(phase->size.kind, EXTENT_UNSET);
        ck_assert_uint_eq(job->n_notices, 1);
        ck_assert_str_eq(job->notices[0], "t.fio:11: ioengine=sync has no effect: io_uring is used");
}
END_TEST

START_TEST(test_defaults_are_those_of_fio_but_for_the_map) {
        _cleanup_job_ Job *job = parse_good("[a]\n");
        const JobPhase *phase = &job->phases[0];

        ck_assert_int_eq(phase->rw, RW_READ);
        ck_assert_uint_eq(phase->read_percent, 100);
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                ck_assert_uint_eq(phase->block_bytes[d], 4096);
        ck_assert_uint_eq(phase->iodepth, 1);
        ck_assert_uint_eq(phase->numjobs, 1);
        ck_assert_uint_eq(phase->runtime_ns, 0);
        ck_assert(!phase->time_based);
        ck_assert_uint_eq(phase->loops, 1);
        ck_assert_int_eq(phase->size.kind, EXTENT_UNSET);
        ck_assert_int_eq(phase->io_size.kind, EXTENT_UNSET);
        ck_assert_int_eq(phase->offset.kind, EXTENT_UNSET);
        ck_assert(!phase->random_map);
        ck_assert(phase->random_repeat);
        ck_assert(!phase->has_seed);
        ck_assert_ptr_null(phase->description);
        ck_assert_uint_eq(job->sample_interval_ns, NSEC_PER_SEC);
        ck_assert_uint_eq(job->n_notices, 0);
}
END_TEST

START_TEST(test_sections_are_phases_in_file_order) {
        _cleanup_job_ Job *job = parse_good("[fill]\nrw=write\n[a b]\nrw=randread\n[fill]\n");

        ck_assert_uint_eq(job->n_phases, 3);
        ck_assert_str_eq(job->phases[0].name, "fill");
        ck_assert_int_eq(job->phases[0].rw, RW_WRITE);
        ck_assert_str_eq(job->phases[1].name, "a b");
        ck_assert_int_eq(job->phases[1].rw, RW_RANDREAD);
        ck_assert_str_eq(job->phases[2].name, "fill");
        ck_assert_int_eq(job->phases[2].rw, RW_READ);
}
END_TEST

START_TEST(test_global_changes_what_later_phases_start_from) {
        _cleanup_job_ Job *job = parse_good("[a]\n[global]\nbs=8k\niodepth=4\n[b]\niodepth=2\n[global]\nbs=16k\n[c]\n");

        ck_assert_uint_eq(job->n_phases, 3);
        ck_assert_uint_eq(job->phases[0].block_bytes[DIRECTION_WRITE], 4096);
        ck_assert_uint_eq(job->phases[1].block_bytes[DIRECTION_WRITE], 8192);
        ck_assert_uint_eq(job->phases[1].iodepth, 2);
        ck_assert_uint_eq(job->phases[2].block_bytes[DIRECTION_WRITE], 16384);
        ck_assert_uint_eq(job->phases[2].iodepth, 4);
}
END_TEST

START_TEST(test_later_option_wins) {
        _cleanup_job_ Job *job = parse_good("[a]\nrw=write\nrw=read\nsize=1g\nsize=50%\nsize=0\n"
                                            "norandommap=1\nnorandommap=0\n");

        ck_assert_int_eq(job->phases[0].rw, RW_READ);
        ck_assert_int_eq(job->phases[0].size.kind, EXTENT_UNSET);
        ck_assert(job->phases[0].random_map);
}
END_TEST

START_TEST(test_rw_words) {
        static const struct {
                const char *word;
                RwMode mode;
                bool reads, writes, random;
        } cases[] = {
                { "rw=read", RW_READ, true, false, false },
                { "rw=write", RW_WRITE, false, true, false },
                { "rw=rw", RW_READWRITE, true, true, false },
                { "rw=readwrite", RW_READWRITE, true, true, false },
                { "readwrite=randread", RW_RANDREAD, true, false, true },
                { "rw=randwrite", RW_RANDWRITE, false, true, true },
                { "rw=randrw", RW_RANDRW, true, true, true },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[64];

                snprintf(text, sizeof(text), "[a]\n%s\n", cases[i].word);
                _cleanup_job_ Job *job = parse_good(text);
                RwMode mode = job->phases[0].rw;
                ck_assert_int_eq(mode, cases[i].mode);
                ck_assert_int_eq(rw_mode_reads(mode), cases[i].reads);
                ck_assert_int_eq(rw_mode_writes(mode), cases[i].writes);
                ck_assert_int_eq(rw_mode_is_random(mode), cases[i].random);
                ck_assert_int_eq(rw_mode_uses(mode, DIRECTION_READ), cases[i].reads);
                ck_assert_int_eq(rw_mode_uses(mode, DIRECTION_WRITE), cases[i].writes);
                ck_assert(!rw_mode_uses(mode, DIRECTION_TRIM));
                ck_assert_uint_eq(job->phases[0].read_percent, !cases[i].writes ? 100 : !cases[i].reads ? 0 : 50);
        }
        ck_assert_ptr_null(rw_mode_name(N_RW_MODES));
        ck_assert_ptr_null(phase_action_name(N_PHASE_ACTIONS));
        ck_assert_str_eq(phase_action_name(PHASE_ACTION_IO), "io");
}
END_TEST

START_TEST(test_mix_counts_only_where_reads_and_writes_mix) {
        _cleanup_job_ Job *job = parse_good("[global]\nrwmixread=30\n[a]\nrw=rw\n[b]\nrw=write\n[c]\nrw=read\n"
                                            "[d]\nrw=randrw\nrwmixwrite=10\n"
                                            "[e]\nrw=randrw\nrwmixwrite=10\nrwmixread=60\n");

        ck_assert_uint_eq(job->phases[0].read_percent, 30);
        ck_assert_uint_eq(job->phases[1].read_percent, 0);
        ck_assert_uint_eq(job->phases[2].read_percent, 100);
        ck_assert_uint_eq(job->phases[3].read_percent, 90);
        ck_assert_uint_eq(job->phases[4].read_percent, 60);
}
END_TEST

START_TEST(test_block_sizes_for_each_direction) {
        static const struct {
                const char *value;
                uint64_t bytes[N_DIRECTIONS];
        } cases[] = {
                { "8k", { 8192, 8192, 8192 } },
                { "4k,8k", { 4096, 8192, 8192 } },
                { "4k,8k,16k", { 4096, 8192, 16384 } },
                { ",8k", { 512, 8192, 8192 } },
                { "8k,", { 8192, 512, 512 } },
                { "8k,,", { 8192, 512, 512 } },
                { "8k,32k,", { 8192, 32768, 512 } },
                { ",8k,", { 512, 8192, 512 } },
                { ",,8k", { 512, 512, 8192 } },
                { "4k,,8k", { 4096, 512, 8192 } },
                { "8k,16k,32k,", { 8192, 16384, 32768 } },
                { "256m", { 256 * MIB, 256 * MIB, 256 * MIB } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[64];

                snprintf(text, sizeof(text), "[global]\nbs=512\n[a]\nblocksize=%s\n", cases[i].value);
                _cleanup_job_ Job *job = parse_good(text);
                for (Direction d = 0; d < N_DIRECTIONS; d++)
                        ck_assert_msg(job->phases[0].block_bytes[d] == cases[i].bytes[d], "%s", cases[i].value);
        }
}
END_TEST

START_TEST(test_extents_are_bytes_or_percent) {
        _cleanup_job_ Job *job = parse_good("[a]\nsize=50%\nio_size=1g\noffset=4096\n"
                                            "[b]\nsize=1G\nio_limit=100%\noffset=1%\n");
        const JobPhase *a = &job->phases[0], *b = &job->phases[1];

        ck_assert(a->size.kind == EXTENT_PERCENT && a->size.value == 50);
        ck_assert(a->io_size.kind == EXTENT_BYTES && a->io_size.value == GIB);
        ck_assert(a->offset.kind == EXTENT_BYTES && a->offset.value == 4096);
        ck_assert(b->size.kind == EXTENT_BYTES && b->size.value == GIB);
        ck_assert(b->io_size.kind == EXTENT_PERCENT && b->io_size.value == 100);
        ck_assert(b->offset.kind == EXTENT_PERCENT && b->offset.value == 1);
}
END_TEST

START_TEST(test_the_other_options_arrive) {
        _cleanup_job_ Job *job = parse_good("[a]\ntimeout=1h\ntime_based\nloops=3\niodepth=1k\nnumjobs=2\n"
                                            "randseed=0x2a\n"
                                            "stonewall\nwait_for_previous=1\naction=io\ndo_verify=1\nnorandommap=0\n"
                                            "description=what for\n[b]\nloops=0\ntime_based=0\nrandrepeat=0\n");
        const JobPhase *phase = &job->phases[0];

        ck_assert_uint_eq(phase->runtime_ns, 3600 * NSEC_PER_SEC);
        ck_assert(phase->time_based);
        ck_assert_uint_eq(phase->loops, 3);
        ck_assert_uint_eq(phase->iodepth, 1024);
        ck_assert_uint_eq(phase->numjobs, 2);
        ck_assert(phase->has_seed && phase->seed == 42);
        ck_assert(phase->random_map);
        ck_assert_str_eq(phase->description, "what for");
        ck_assert_uint_eq(job->phases[1].loops, 1);
        ck_assert(!job->phases[1].time_based);
        ck_assert(!job->phases[1].random_repeat);
        ck_assert_ptr_null(job->phases[1].description);
}
END_TEST

START_TEST(test_numjobs_may_follow_the_machine) {
        _cleanup_job_ Job *job = parse_good("[a]\nnumjobs=$ncpus\nbs=$pagesize,8k\n");

        ck_assert_int_eq(job->phases[0].numjobs, sysconf(_SC_NPROCESSORS_ONLN));
        ck_assert_int_eq((long) job->phases[0].block_bytes[DIRECTION_READ], sysconf(_SC_PAGESIZE));
}
END_TEST

START_TEST(test_global_holds_what_concerns_the_whole_job) {
        _cleanup_job_ Job *job = parse_good("[global]\nsample_interval=250ms\ndescription=first\n"
                                            "description=all of it\n[a]\n");

        ck_assert_uint_eq(job->sample_interval_ns, 250 * NSEC_PER_MSEC);
        ck_assert_str_eq(job->description, "all of it");
        ck_assert_ptr_null(job->phases[0].description);

        check_refused("[a]\nsample_interval=1\n", -EINVAL,
                      WORDS("t.fio:2: ", "sample_interval", "expected in [global]"));
        check_refused("[global]\nsample_interval=99ms\n[a]\n", -ERANGE, WORDS("t.fio:2: ", "100ms to 10s"));
        check_refused("[global]\nsample_interval=10001ms\n[a]\n", -ERANGE, WORDS("t.fio:2: ", "100ms to 10s"));
}
END_TEST

START_TEST(test_name_and_text_are_kept) {
        static const struct {
                const char *path, *name;
        } cases[] = {
                { "dir/night.fio", "night" }, { "a.b.job", "a.b" }, { "x.ini", "x" },
                { "plain", "plain" },         { ".fio", ".fio" },   { "a.txt", "a.txt" }, { "-", "-" },
        };
        static const char text[] = "; a comment\r\n[a]\n";

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_job_ Job *job = NULL;

                ck_assert_int_eq(job_parse(&job, cases[i].path, text, strlen(text), NULL), 0);
                ck_assert_str_eq(job->name, cases[i].name);
                ck_assert_str_eq(job->text, text);
                ck_assert_uint_eq(job->text_length, strlen(text));
        }
}
END_TEST

START_TEST(test_options_without_effect_are_told_once) {
        _cleanup_job_ Job *job = parse_good(
                "[global]\nioengine=libaio\ngroup_reporting\n[a]\nioengine=sync\nname=x\nthread\ninvalidate=1\n"
                "write_bw_log\nwrite_lat_log=y\nwrite_iops_log=y\nwrite_hist_log\nlog_avg_msec=100\niodepth_batch=4\n"
                "iodepth_batch_submit=4\niodepth_batch_complete_min=4\nfixedbufs\nregisterfiles=1\n");
        static const char *const words[] = {
                "t.fio:2: ioengine=libaio has no effect", "group_reporting", "name", "thread", "invalidate",
                "write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "log_avg_msec", "iodepth_batch",
                "fixedbufs", "registerfiles",
        };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                ck_assert_msg(count_notices(job, words[i]) == 1, "%s", words[i]);
        ck_assert_uint_eq(job->n_notices, ELEMENTSOF(words));
        ck_assert_str_eq(job->phases[0].name, "a");
}
END_TEST

START_TEST(test_relying_on_the_default_order_is_told_once) {
        _cleanup_job_ Job *silent = parse_good("[a]\nrw=randwrite\nnorandommap\n[b]\nrw=write\n"
                                               "[c]\nrw=randread\nnorandommap=0\n");
        _cleanup_job_ Job *told = parse_good("[s]\nrw=write\n[a]\nrw=randwrite\n[b]\nrw=randread\n");
        _cleanup_job_ Job *global = parse_good("[global]\nnorandommap\n[a]\nrw=randwrite\n");

        ck_assert_uint_eq(silent->n_notices, 0);
        ck_assert_uint_eq(global->n_notices, 0);
        ck_assert_uint_eq(told->n_notices, 1);
        ck_assert_uint_eq(count_notices(told, "t.fio:3: phase 'a': norandommap=1"), 1);
}
END_TEST

START_TEST(test_traps_are_told) {
        _cleanup_job_ Job *job = parse_good("[a]\nsize=10GiB\n[b]\ntime_based\n");

        ck_assert_uint_eq(job->phases[0].size.value, UINT64_C(10000000000));
        ck_assert_uint_eq(count_notices(job, "t.fio:2: size=10GiB"), 1);
        ck_assert_uint_eq(count_notices(job, "t.fio:3: phase 'b': time_based has no effect without runtime"), 1);
}
END_TEST

START_TEST(test_unknown_options_name_the_nearest) {
        check_refused("[a]\nrwmixraed=3\n", -EINVAL, WORDS("t.fio:2: ", "'rwmixraed'", "expected", "'rwmixread'"));
        check_refused("[a]\n\nblocksise=4k\n", -EINVAL, WORDS("t.fio:3: ", "'blocksise'", "expected", "'blocksize'"));
        check_refused("[a]\nIODEPTH=3\n", -EINVAL, WORDS("t.fio:2: ", "'IODEPTH'", "expected", "'iodepth'"));
        check_refused("[a]\nRW=read\n", -EINVAL, WORDS("t.fio:2: ", "'RW'", "did you mean 'rw'?"));
        check_refused("[a]\nxyzzy=3\n", -EINVAL, WORDS("t.fio:2: ", "'xyzzy'", "expected"));
        check_refused("[a]\ninclude other.fio\n", -EINVAL, WORDS("t.fio:2: ", "include", "expected"));
}
END_TEST

START_TEST(test_a_forgotten_equals_sign_is_told) {
        check_refused("[a]\nrw randwrite\n", -EINVAL, WORDS("t.fio:2: ", "'rw randwrite'", "expected rw=randwrite"));
        check_refused("[a]\nbs\t 4k\n", -EINVAL, WORDS("t.fio:2: ", "expected bs=4k"));
        check_refused("[a]\nrv randwrite\n", -EINVAL, WORDS("t.fio:2: ", "unknown option 'rv randwrite'"));
}
END_TEST

START_TEST(test_options_of_fio_that_are_missing_are_told_from_typing_errors) {
        static const char *const options[] = {
                "verify_pattern=0xff", "bsrange=4k", "thinktime=3", "percentage_random=50",
                "end_fsync=1",
        };

        for (size_t i = 0; i < ELEMENTSOF(options); i++) {
                char text[64];

                snprintf(text, sizeof(text), "[a]\n%s\n", options[i]);
                check_refused(text, -EINVAL,
                              WORDS("t.fio:2: ", "an option of fio that plateau does not have", "expected"));
        }
}
END_TEST

START_TEST(test_values_that_do_not_fit_say_what_is_expected) {
        static const struct {
                const char *option;
                int result;
                const char *expected;
        } cases[] = {
                { "rw=trimwrite", -EINVAL, "expected read, write, rw, trim" },
                { "rw=randwrite:4", -EINVAL, "expected read, write, rw" },
                { "rw=WRITE", -EINVAL, "expected read, write, rw" },
                { "rw", -EINVAL, "rw has no value: expected read" },
                { "rwmixread=101", -ERANGE, "expected a percentage" },
                { "rwmixwrite=30%", -EINVAL, "expected a percentage" },
                { "bs=0", -ERANGE, "expected a block size" },
                { "bs=", -EINVAL, "expected a block size" },
                { "bs=,", -EINVAL, "expected a block size" },
                { "bs=1.5k", -EINVAL, "expected a block size" },
                { "bs=4k-8k", -EINVAL, "expected a block size" },
                { "bs=257m", -ERANGE, "expected a block size" },
                { "iodepth=0", -ERANGE, "expected a number from 1 to 16384" },
                { "iodepth=16385", -ERANGE, "expected a number from 1 to 16384" },
                { "numjobs=0", -ERANGE, "or $ncpus" },
                { "numjobs=-1", -EINVAL, "or $ncpus" },
                { "runtime=1.5h", -EINVAL, "expected a time" },
                { "runtime=10sec", -EINVAL, "expected a time" },
                { "runtime=", -EINVAL, "expected a time" },
                { "runtime=99999999999d", -ERANGE, "expected a time" },
                { "time_based=yes", -EINVAL, "expected 0 or 1" },
                { "norandommap=2", -ERANGE, "expected 0 or 1" },
                { "norandommap=", -EINVAL, "expected 0 or 1" },
                { "randrepeat", -EINVAL, "expected 0 or 1" },
                { "do_verify=2", -ERANGE, "expected 0 or 1" },
                { "direct=0", -EINVAL, "expected 1: plateau always goes past the page cache" },
                { "direct", -EINVAL, "expected 1" },
                { "stonewall=0", -EINVAL, "expected 1: phases always run one after another" },
                { "loops=4294967296", -ERANGE, "expected a number" },
                { "size=101%", -ERANGE, "1% to 100%" },
                { "size=0%", -ERANGE, "1% to 100%" },
                { "size=%", -EINVAL, "1% to 100%" },
                { "size=99999999999999999999", -ERANGE, "expected bytes" },
                { "io_size=1z", -EINVAL, "expected bytes" },
                { "offset=-1", -EINVAL, "expected bytes" },
                { "randseed=x", -EINVAL, "expected a number" },
                { "action=format", -EINVAL, "expected io, matrix, idle or discard" },
                { "description=", -EINVAL, "expected a text" },
                { "filename=/dev/sda", -EINVAL, "--device" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[64], name[32];

                snprintf(text, sizeof(text), "[a]\n%s\n", cases[i].option);
                snprintf(name, sizeof(name), "t.fio:2: %.*s", (int) strcspn(cases[i].option, "="), cases[i].option);
                check_refused(text, cases[i].result, WORDS(name, cases[i].expected));
        }
}
END_TEST

START_TEST(test_a_job_needs_a_phase_and_options_a_section) {
        check_refused("", -EINVAL, WORDS("t.fio: no phase", "expected"));
        check_refused("[global]\nbs=4k\n", -EINVAL, WORDS("t.fio: no phase", "expected"));
        check_refused("bs=4k\n[a]\n", -EINVAL, WORDS("t.fio:1: ", "'bs'", "expected [global]"));
        check_refused("[a\n", -EINVAL, WORDS("t.fio:1: ", "expected ']'"));
        check_refused("[a]\n[global2]\n", -EINVAL, WORDS("t.fio:2: [global2]", "expected [global]"));
}
END_TEST

START_TEST(test_a_size_holds_a_block) {
        job_free(parse_good("[a]\nsize=4k\n[b]\nrw=write\nbs=16k,4k\nsize=4k\n[c]\naction=discard\nsize=1k\n"));
        check_refused("[a]\nbs=4k\nsize=2k\n", -ERANGE, WORDS("t.fio:3: phase 'a'", "holds no block of 4096"));
        check_refused("[a]\nrw=rw\nbs=4k,8k\nsize=4k\n", -ERANGE, WORDS("t.fio:4: ", "holds no block of 8192"));
        check_refused("[a]\nbssplit=4k/50:64k/50\nsize=32k\n", -ERANGE, WORDS("holds no block of 65536"));
        check_refused("[a]\nsize=4KiB\n", -ERANGE, WORDS("size of 4000 bytes", "powers of 1000"));
}
END_TEST

START_TEST(test_bounds_hold) {
        _cleanup_job_ Job *deepest = parse_good("[a]\niodepth=128\nnumjobs=128\n");
        _cleanup_free_ char *text = malloc(JOB_TEXT_MAX + 2);
        _cleanup_error_ Error error = ERROR_INIT;
        Job *job = NULL;

        ck_assert_uint_eq(deepest->phases[0].iodepth, 128);
        check_refused("[a]\n[b]\niodepth=129\nnumjobs=128\n", -ERANGE,
                      WORDS("t.fio:2: phase 'b'", "16512", "expected at most 16384"));
        check_refused("[a]\nrw=write\nbs=4k,1m\niodepth=8193\n", -ERANGE, WORDS("t.fio:1: phase 'a'", "8 GiB"));

        memset(text, ' ', JOB_TEXT_MAX + 1);
        memcpy(text, "[a]\n", 4);
        ck_assert_int_eq(job_parse(&job, "t.fio", text, JOB_TEXT_MAX + 1, &error), -E2BIG);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        ck_assert_int_eq(job_parse(&job, "t.fio", text, JOB_TEXT_MAX, NULL), 0);
        job_free(job);
}
END_TEST

/* With n bytes in between. */
static char *text_with(const char *before, size_t n, const char *after) {
        _cleanup_free_ char *xs = calloc(n + 1, 1);
        char *text;

        memset(xs, 'x', n);
        ck_assert_int_gt(asprintf(&text, "%s%s%s", before, xs, after), 0);
        return text;
}

START_TEST(test_names_and_descriptions_are_bounded) {
        static const struct {
                const char *before, *after;
                size_t n_max;
                int result;
                const char *words[3];
        } cases[] = {
                { "[", "]\n", JOB_NAME_MAX, -E2BIG, { "t.fio:1: [xxx", "at most 255 bytes, this has 256" } },
                { "[a]\ndescription=", "\n", JOB_DESCRIPTION_MAX, -EINVAL, { "t.fio:2: ", "at most 4096 bytes" } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *fits = text_with(cases[i].before, cases[i].n_max, cases[i].after);
                _cleanup_free_ char *too_long = text_with(cases[i].before, cases[i].n_max + 1, cases[i].after);
                _cleanup_job_ Job *job = parse_good(fits);

                ck_assert_uint_eq(job->n_phases, 1);
                check_refused(too_long, cases[i].result, cases[i].words);
        }
}
END_TEST

START_TEST(test_the_name_of_a_job_is_bounded) {
        static const struct {
                const char *before, *after;
                size_t n_max;
        } cases[] = {
                { "/", "", JOB_NAME_MAX },
                { "/", "/a", JOB_FILE_NAME_MAX - 3 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *fits = text_with(cases[i].before, cases[i].n_max, cases[i].after);
                _cleanup_free_ char *too_long = text_with(cases[i].before, cases[i].n_max + 1, cases[i].after);
                _cleanup_error_ Error error = ERROR_INIT;
                Job *job = NULL;

                ck_assert_int_eq(job_parse(&job, fits, "[a]\n", 4, NULL), 0);
                job_free(job);
                ck_assert_int_eq(job_parse(&job, too_long, "[a]\n", 4, &error), -ENAMETOOLONG);
                ck_assert_int_eq(error.kind, ERROR_USAGE);
                ck_assert_ptr_nonnull(strstr(error_message(&error), "expected at most 4096, and 255 without"));
        }
}
END_TEST

START_TEST(test_phases_are_counted) {
        _cleanup_free_ char *text = malloc(4 * JOB_N_PHASES_MAX + 5);

        for (size_t i = 0; i <= JOB_N_PHASES_MAX; i++)
                memcpy(text + 4 * i, "[a]\n", sizeof("[a]\n"));
        check_refused(text, -E2BIG, WORDS("t.fio:1537: ", "expected at most 1536 phases"));

        text[4 * JOB_N_PHASES_MAX] = '\0';
        _cleanup_job_ Job *job = parse_good(text);
        ck_assert_uint_eq(job->n_phases, JOB_N_PHASES_MAX);
}
END_TEST

/* Does the page have a paragraph headed by this option? */
static bool page_describes(const char *page, const char *name) {
        char heading[64];
        size_t length = (size_t) snprintf(heading, sizeof(heading), "\n.B %s", name);

        for (const char *p = page; (p = strstr(p, heading)); p += length)
                if (p[length] == '\\' || p[length] == '\n')
                        return true;
        return false;
}

static char *read_page(void) {
        _cleanup_fclose_ FILE *f = fopen(JOB_MANUAL_PAGE, "re");
        char *page = NULL;
        size_t size = 0;

        ck_assert_ptr_nonnull(f);
        ck_assert_int_gt(getdelim(&page, &size, '\0', f), 0);
        return page;
}

/* The table is the truth: what it holds must be in the manual page. */
START_TEST(test_manual_page_knows_every_option) {
        _cleanup_free_ char *page = read_page();

        for (size_t i = 0; i < job_options_n; i++) {
                const JobOption *option = &job_options[i];

                ck_assert_msg(page_describes(page, option->name), "%s is not in the manual page", option->name);
                ck_assert_msg(!option->alias || strstr(page, option->alias),
                              "%s is not in the manual page", option->alias);
        }
        for (size_t i = 0; i < N_EXPECTATIONS; i++)
                ck_assert_msg(page_describes(page, expect_options[i].name), "%s is not in the manual page",
                              expect_options[i].name);
        for (size_t i = 0; i < stop_options_n; i++)
                ck_assert_msg(!stop_options[i].set || page_describes(page, stop_options[i].name),
                              "%s is not in the manual page", stop_options[i].name);
}
END_TEST

/* And it has no others: each heading of a paragraph, but for those of the values of one. */
START_TEST(test_manual_page_has_no_other_options) {
        _cleanup_free_ char *page = read_page();
        char *rest = strstr(page, ".SH OPTIONS"), *end = strstr(page, ".SH WHAT IS EXPECTED"), *line;
        bool heads = false, in_values = false;
        unsigned n_options = 0;

        ck_assert(rest && end && rest < end);
        *end = '\0';
        while ((line = strsep(&rest, "\n"))) {
                if (strcmp(line, ".RS") == 0 || strcmp(line, ".RE") == 0)
                        in_values = strcmp(line, ".RS") == 0;
                else if (heads && !in_values) {
                        ck_assert_int_eq(strncmp(line, ".B ", 3), 0);
                        line[3 + strcspn(line + 3, "\\[= ")] = '\0';
                        ck_assert_msg(job_option_find(line + 3), "%s is no option", line + 3);
                        n_options++;
                }
                heads = strcmp(line, ".TP") == 0 || strcmp(line, ".TQ") == 0;
        }
        ck_assert_uint_eq(n_options, job_options_n);
}
END_TEST

START_TEST(test_expectations_are_read) {
        _cleanup_job_ Job *job = parse_good("[expect]\nclaimed_iops=60k\nclaimed_bandwidth=550m\nsteady_iops_min=7\n"
                                            "floor_ratio_min=0.5\nerrors_max=0\nlatency_p999_max=5ms\n"
                                            "[a]\nrw=write\n[expect]\ntemperature_max=70\nsteady_iops_min=1m\n"
                                            "verify_errors_max=3\n");
        const double expected[N_EXPECTATIONS] = { 60000, 550.0 * MIB, 1000000, 0.5, 0, 5e6, 70, 3 };

        ck_assert_uint_eq(job->n_phases, 1);
        for (size_t i = 0; i < N_EXPECTATIONS; i++) {
                ck_assert_msg(job->expectations.is_set[i], "%s", expect_options[i].name);
                ck_assert_double_eq(job->expectations.value[i], expected[i]);
        }
        ck_assert(expectations_any(&job->expectations));
}
END_TEST

START_TEST(test_nothing_is_expected_unless_said) {
        _cleanup_job_ Job *job = parse_good("[global]\nrw=write\n[a]\n[expect]\n[b]\n");

        ck_assert_uint_eq(job->n_phases, 2);
        ck_assert_int_eq(job->phases[1].rw, RW_WRITE);
        ck_assert(!expectations_any(&job->expectations));
}
END_TEST

START_TEST(test_expectations_that_do_not_fit_say_what_is_expected) {
        static const struct {
                const char *line;
                int result;
                const char *expected;
        } cases[] = {
                { "claimed_iops=", -EINVAL, "IOPS from 1" },
                { "claimed_iops", -EINVAL, "IOPS from 1" },
                { "claimed_iops=0", -ERANGE, "IOPS from 1" },
                { "claimed_iops=6.5k", -EINVAL, "k and m are 1000" },
                { "claimed_bandwidth=500MB/s", -EINVAL, "bytes a second" },
                { "floor_ratio_min=0", -ERANGE, "above 0 and up to 1" },
                { "floor_ratio_min=1.01", -ERANGE, "above 0 and up to 1" },
                { "floor_ratio_min=nan", -EINVAL, "above 0 and up to 1" },
                { "errors_max=-1", -EINVAL, "a number from 0" },
                { "latency_p999_max=5", -EINVAL, "with its unit" },
                { "latency_p999_max=", -EINVAL, "with its unit" },
                { "latency_p999_max=0ms", -ERANGE, "with its unit" },
                { "temperature_max=201", -ERANGE, "degrees Celsius" },
                { "claimed_iop=5", -EINVAL, "did you mean 'claimed_iops'?" },
                { "rw=write", -EINVAL, "unknown criterion 'rw'" },
                { "verify_errors_max=-1", -EINVAL, "a number from 0" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[80];

                snprintf(text, sizeof(text), "[a]\n[expect]\n%s\n", cases[i].line);
                check_refused(text, cases[i].result, WORDS("t.fio:3: ", cases[i].expected));
        }
        check_refused("[expect]\nclaimed_iops=5\n", -EINVAL, WORDS("t.fio: no phase"));
}
END_TEST

START_TEST(test_on_which_errors_a_phase_ends) {
        static const struct {
                const char *line;
                bool reads, writes;
        } cases[] = {
                { "", false, false },
                { "continue_on_error=all", false, false },
                { "continue_on_error=1", false, false },
                { "continue_on_error=io", false, false },
                { "continue_on_error=read", false, true },
                { "continue_on_error=write", true, false },
                { "continue_on_error=verify", true, true },
                { "continue_on_error=none", true, true },
                { "continue_on_error=0", true, true },
                { "continue_on_error=none\ncontinue_on_error=read", false, true },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[128];

                snprintf(text, sizeof(text), "[global]\n%s\n[a]\n", cases[i].line);
                _cleanup_job_ Job *job = parse_good(text);
                const bool *ends = job->phases[0].ends_on_error;
                ck_assert_msg(ends[DIRECTION_READ] == cases[i].reads && ends[DIRECTION_WRITE] == cases[i].writes &&
                              ends[DIRECTION_TRIM] == cases[i].writes, "%s", cases[i].line);
        }
        check_refused("[a]\ncontinue_on_error=some\n", -EINVAL, WORDS("t.fio:2: ", "none, read, write, io"));
        check_refused("[a]\ncontinue_on_error\n", -EINVAL, WORDS("t.fio:2: ", "has no value"));
}
END_TEST

START_TEST(test_expectations_are_told_to_people) {
        char buf[EXPECT_VALUE_MAX];

        ck_assert_str_eq(expect_format(EXPECT_UNIT_IOPS, 60000, buf), "60000 IOPS");
        ck_assert_str_eq(expect_format(EXPECT_UNIT_IOPS, 639.52, buf), "639.5 IOPS");
        ck_assert_str_eq(expect_format(EXPECT_UNIT_BYTES_PER_S, 550.0 * MIB, buf), "576.7 MB/s (550 MiB/s)");
        ck_assert_str_eq(expect_format(EXPECT_UNIT_BYTES_PER_S, 12345.0 * MIB, buf), "12945 MB/s (12345 MiB/s)");
        ck_assert_str_eq(expect_format(EXPECT_UNIT_RATIO, 0.5, buf), "0.5");
        ck_assert_str_eq(expect_format(EXPECT_UNIT_NS, 5e6, buf), "5 ms");
        ck_assert_str_eq(expect_format(EXPECT_UNIT_CELSIUS, NAN, buf), "unknown");
        ck_assert_str_eq(expect_format(EXPECT_UNIT_BYTES_PER_S, 1.8e19, buf),
                         "18000000000000 MB/s (17166137695312 MiB/s)");
}
END_TEST

START_TEST(test_what_is_held_against_each_other_is_told_apart) {
        static const struct {
                ExpectUnit unit;
                double a, b;
                const char *told_a, *told_b;
        } cases[] = {
                { EXPECT_UNIT_IOPS, 8000, 7999, "8000 IOPS", "7999 IOPS" },
                { EXPECT_UNIT_IOPS, 8000, 7999.97, "8000.00 IOPS", "7999.97 IOPS" },
                { EXPECT_UNIT_IOPS, 8000, 8000, "8000 IOPS", "8000 IOPS" },
                { EXPECT_UNIT_RATIO, 0.2, 0.199999, "0.2", "0.199999" },
                { EXPECT_UNIT_NS, 5e6, 5000001, "5 ms", "5.000001 ms" },
                { EXPECT_UNIT_BYTES_PER_S, 550.0 * MIB, 550.0 * MIB - 1e4, "576.72 MB/s (550 MiB/s)",
                  "576.71 MB/s (549.99 MiB/s)" },
                { EXPECT_UNIT_COUNT, 0, NAN, "0", "unknown" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char a[EXPECT_VALUE_MAX], b[EXPECT_VALUE_MAX];

                expect_format_apart(cases[i].unit, cases[i].a, cases[i].b, a, b);
                ck_assert_str_eq(a, cases[i].told_a);
                ck_assert_str_eq(b, cases[i].told_b);
        }
}
END_TEST

START_TEST(test_distributions_are_read) {
        _cleanup_job_ Job *job = parse_good("[a]\nrandom_distribution=zipf\n[b]\nrandom_distribution=zipf:0.8\n"
                                            "[c]\nrandom_distribution=zoned:60/10:40,100/50\n"
                                            "[d]\nrandom_distribution=zipf\nrandom_distribution=random\n");
        static const char *const wrong[] = { "zipf:1", "zipf:1.0", "zipf:0", "zipf:-1", "zipf:x", "zipf:", "zipf:11",
                                             "zipf:1.2:0.5", "zoned", "zoned:", "zoned:50/50:40/50", "pareto:0.9",
                                             "normal:5", "zoned_abs:100/1g", "xyz", "" };

        ck_assert_int_eq(job->phases[0].distribution, DISTRIBUTION_ZIPF);
        ck_assert_double_eq_tol(job->phases[0].zipf_theta, 1.1, 1e-9);
        ck_assert_double_eq_tol(job->phases[1].zipf_theta, 0.8, 1e-9);
        ck_assert_int_eq(job->phases[2].distribution, DISTRIBUTION_ZONED);
        ck_assert_uint_eq(job->phases[2].zones[DIRECTION_READ].n, 2);
        ck_assert_uint_eq(job->phases[2].zones[DIRECTION_WRITE].n, 1);
        ck_assert_uint_eq(job->phases[2].zones[DIRECTION_WRITE].size[0], 50);
        ck_assert_int_eq(job->phases[3].distribution, DISTRIBUTION_RANDOM);
        for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
                _cleanup_error_ Error error = ERROR_INIT;
                Job *none = NULL;
                char text[128];

                snprintf(text, sizeof(text), "[a]\nrandom_distribution=%s\n", wrong[i]);
                ck_assert_msg(job_parse(&none, "t.fio", text, strlen(text), &error) < 0, "%s", wrong[i]);
        }
}
END_TEST

START_TEST(test_contents_are_read) {
        _cleanup_job_ Job *job = parse_good("[global]\nrw=write\n[a]\nbuffer_compress_percentage=40\n"
                                            "dedupe_percentage=30\n[b]\nbuffer_compress_percentage=100\n"
                                            "[c]\nzero_buffers\nrefill_buffers=1\n[d]\nzero_buffers=0\n");

        ck_assert_uint_eq(job->phases[0].content.compress_percent, 40);
        ck_assert_uint_eq(job->phases[0].content.dedupe_percent, 30);
        ck_assert(!job->phases[0].content.is_zero);
        ck_assert(job->phases[1].content.is_zero);
        ck_assert(job->phases[2].content.is_zero);
        ck_assert(!job->phases[3].content.is_zero);
        ck_assert_uint_eq(count_notices(job, "without a stamp"), 2);
        ck_assert_uint_eq(count_notices(job, "refill_buffers=1 has no effect"), 1);
        check_refused("[a]\nbuffer_compress_percentage=94\n", -ERANGE, WORDS("expected a percentage from 0 to 93"));
        check_refused("[a]\ndedupe_percentage=101\n", -ERANGE, WORDS("from 0 to 100"));
}
END_TEST

START_TEST(test_loads_that_do_not_go_together_are_refused) {
        check_refused("[a]\nrate=1m\nrate_iops=5\n", -EINVAL, WORDS("t.fio:1: ", "both rate and rate_iops"));
        check_refused("[a]\nrw=randread\nrandom_distribution=zipf\nnorandommap=0\n", -EINVAL,
                      WORDS("expected norandommap=1"));
        check_refused("[a]\naction=matrix\nstep_time=1\nbssplit=4k/50:8k\n", -EINVAL, WORDS("with bssplit"));
        job_free(parse_good("[global]\nrate=1m\n[a]\nrate=0\nrate_iops=5\n"));
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("job");
        TCase *tc = tcase_create("job");

        tcase_add_test(tc, test_sandforce_command_line_means_what_fio_means);
        tcase_add_test(tc, test_defaults_are_those_of_fio_but_for_the_map);
        tcase_add_test(tc, test_sections_are_phases_in_file_order);
        tcase_add_test(tc, test_global_changes_what_later_phases_start_from);
        tcase_add_test(tc, test_later_option_wins);
        tcase_add_test(tc, test_rw_words);
        tcase_add_test(tc, test_mix_counts_only_where_reads_and_writes_mix);
        tcase_add_test(tc, test_block_sizes_for_each_direction);
        tcase_add_test(tc, test_extents_are_bytes_or_percent);
        tcase_add_test(tc, test_the_other_options_arrive);
        tcase_add_test(tc, test_numjobs_may_follow_the_machine);
        tcase_add_test(tc, test_global_holds_what_concerns_the_whole_job);
        tcase_add_test(tc, test_name_and_text_are_kept);
        tcase_add_test(tc, test_options_without_effect_are_told_once);
        tcase_add_test(tc, test_relying_on_the_default_order_is_told_once);
        tcase_add_test(tc, test_traps_are_told);
        tcase_add_test(tc, test_unknown_options_name_the_nearest);
        tcase_add_test(tc, test_a_forgotten_equals_sign_is_told);
        tcase_add_test(tc, test_options_of_fio_that_are_missing_are_told_from_typing_errors);
        tcase_add_test(tc, test_values_that_do_not_fit_say_what_is_expected);
        tcase_add_test(tc, test_a_job_needs_a_phase_and_options_a_section);
        tcase_add_test(tc, test_a_size_holds_a_block);
        tcase_add_test(tc, test_bounds_hold);
        tcase_add_test(tc, test_names_and_descriptions_are_bounded);
        tcase_add_test(tc, test_the_name_of_a_job_is_bounded);
        tcase_add_test(tc, test_phases_are_counted);
        tcase_add_test(tc, test_manual_page_knows_every_option);
        tcase_add_test(tc, test_manual_page_has_no_other_options);
        tcase_add_test(tc, test_expectations_are_read);
        tcase_add_test(tc, test_nothing_is_expected_unless_said);
        tcase_add_test(tc, test_expectations_that_do_not_fit_say_what_is_expected);
        tcase_add_test(tc, test_on_which_errors_a_phase_ends);
        tcase_add_test(tc, test_expectations_are_told_to_people);
        tcase_add_test(tc, test_what_is_held_against_each_other_is_told_apart);
        tcase_add_test(tc, test_distributions_are_read);
        tcase_add_test(tc, test_contents_are_read);
        tcase_add_test(tc, test_loads_that_do_not_go_together_are_refused);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

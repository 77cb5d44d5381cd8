/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <string.h>

#include "spec/expression.h"
#include "spec/option.h"
#include "spec/option-load.h"
#include "util/macro.h"
#include "util/parse.h"

#define BLOCK_BYTES_DEFAULT 4096

const PhaseDraft phase_draft_default = {
        .phase = {
                .block_bytes = { BLOCK_BYTES_DEFAULT, BLOCK_BYTES_DEFAULT, BLOCK_BYTES_DEFAULT },
                .iodepth = 1,
                .numjobs = 1,
                .workers = 1,
                .loops = 1,
                .random_repeat = true,
                .has_read_back = true,
        },
        .block_bytes = { 1, { BLOCK_BYTES_DEFAULT } },
        .depths = { 1, { 1 } },
        .read_percent_mix = 50,
};

static void *field_of(const JobOption *option, PhaseDraft *draft) {
        return (char *) draft + option->field;
}

static int evaluate_range(const JobOption *option, const char *value, uint64_t *ret) {
        uint64_t number;
        int r = expression_evaluate(value, &number);

        if (r < 0)
                return r;
        if (number < option->min || number > option->max)
                return -ERANGE;

        *ret = number;
        return 0;
}

static int set_u32(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        uint64_t number;
        int r = evaluate_range(option, value, &number);

        if (r < 0)
                return r;
        *(uint32_t *) field_of(option, draft) = (uint32_t) number;
        return 0;
}

static int set_u64(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        return evaluate_range(option, value, field_of(option, draft));
}

static int parse_bool(const char *value, bool *ret) {
        uint64_t number;
        int r;

        if (!value) {
                *ret = true;
                return 0;
        }
        r = parse_u64_range(value, 0, 1, &number);
        if (r < 0)
                return r;
        *ret = number == 1;
        return 0;
}

static int set_bool(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        return parse_bool(value, field_of(option, draft));
}

/* For what can be said one way only. */
static int set_one(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        bool one;
        int r = parse_bool(value, &one);

        if (r < 0)
                return r;
        return one ? 0 : -EINVAL;
}

static int set_norandommap(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        bool norandommap;
        int r = parse_bool(value, &norandommap);

        if (r < 0)
                return r;
        draft->phase.random_map = !norandommap;
        draft->has_norandommap = true;
        return 0;
}

static int set_loops(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        uint64_t loops;
        int r = evaluate_range(option, value, &loops);

        if (r < 0)
                return r;
        draft->phase.loops = MAX(loops, UINT64_C(1)); /* fio takes 0 as 1 */
        return 0;
}

static int set_seed(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        int r = expression_evaluate(value, &draft->phase.seed);

        if (r < 0)
                return r;
        draft->phase.has_seed = true;
        return 0;
}

static int set_runtime(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        return expression_evaluate_time(value, &draft->phase.runtime_ns);
}

static int set_ramp_time(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        return expression_evaluate_time(value, &draft->phase.ramp_ns);
}

static int set_step_time(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        return expression_evaluate_time(value, &draft->phase.step_ns);
}

static int set_capacity_loops(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        return evaluate_range(option, value, &draft->phase.capacity_loops);
}

static int set_until(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        static const char steady[] = "steady:";
        uint64_t hold_ns = 0;

        if (strcmp(value, "never") == 0) {
                draft->phase.steady_hold_ns = 0;
                return 0;
        }
        if (strncmp(value, steady, strlen(steady)) != 0)
                return -EINVAL;
        int r = expression_evaluate_time(value + strlen(steady), &hold_ns);
        if (r < 0)
                return r;
        draft->phase.steady_hold_ns = hold_ns;
        return hold_ns > 0 ? 0 : -ERANGE;
}

static int set_sample_interval(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        uint64_t interval_ns;
        int r = expression_evaluate_time(value, &interval_ns);

        if (r < 0)
                return r;
        if (interval_ns < option->min || interval_ns > option->max)
                return -ERANGE;
        job->sample_interval_ns = interval_ns;
        return 0;
}

static int set_rw(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        if (strcmp(value, "readwrite") == 0)
                value = "rw";

        for (RwMode mode = 0; mode < N_RW_MODES; mode++)
                if (strcmp(value, rw_mode_name(mode)) == 0) {
                        draft->phase.rw = mode;
                        return 0;
                }
        return -EINVAL;
}

static int set_rwmixwrite(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        uint64_t write_percent;
        int r = evaluate_range(option, value, &write_percent);

        if (r < 0)
                return r;
        draft->read_percent_mix = 100 - (uint32_t) write_percent;
        return 0;
}

/* Values separated by commas; an empty place among them makes it none (-ENODATA). */
static int parse_list(const JobOption *option, const char *value, ValueList *ret) {
        _cleanup_free_ char *copy = strdup(value);
        ValueList list = {};
        bool has_gap = false;
        char *rest = copy;

        if (!copy)
                return -ENOMEM;
        while (rest) {
                const char *part = strsep(&rest, ",");

                if (*part == '\0') {
                        has_gap = true;
                        continue;
                }
                if (list.n == ELEMENTSOF(list.values))
                        return -E2BIG;
                int r = evaluate_range(option, part, &list.values[list.n++]);
                if (r < 0)
                        return r;
        }
        if (has_gap)
                return -ENODATA;
        *ret = list;
        return 0;
}

static int set_iodepth(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        int r = parse_list(option, value, &draft->depths);

        if (r < 0)
                return r == -ENODATA ? -EINVAL : r;
        draft->phase.iodepth = (uint32_t) draft->depths.values[0];
        return 0;
}

/* read,write,trim. The last counts for those behind it; an empty place leaves its direction as it was. As fio. */
static int set_directions(const JobOption *option, const char *value, PhaseDraft *draft) {
        uint64_t sizes[N_DIRECTIONS];
        _cleanup_free_ char *copy = strdup(value);
        char *rest = copy;
        bool is_given = false;

        if (!copy)
                return -ENOMEM;

        memcpy(sizes, draft->phase.block_bytes, sizeof(sizes));
        for (Direction d = 0; d < N_DIRECTIONS && rest; d++) {
                const char *part = strsep(&rest, ",");

                if (*part == '\0')
                        continue;
                int r = evaluate_range(option, part, &sizes[d]);
                if (r < 0)
                        return r;
                is_given = true;
                for (Direction other = d + 1; !rest && other < N_DIRECTIONS; other++)
                        sizes[other] = sizes[d];
        }
        if (!is_given || (rest && *rest != '\0'))
                return -EINVAL;

        memcpy(draft->phase.block_bytes, sizes, sizeof(sizes));
        return 0;
}

/* Directions or a list: what it is shows when the phase's action is known. */
static int set_bs(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        ValueList list = {};
        int r = parse_list(option, value, &list);

        if (r < 0 && r != -ENODATA)
                return r;
        if (list.n <= N_DIRECTIONS)
                r = set_directions(option, value, draft);
        if (r >= 0)
                draft->block_bytes = list;
        return r;
}

static int parse_percent(const char *value, size_t length, Extent *ret) {
        _cleanup_free_ char *digits = strndup(value, length);
        uint64_t percent;

        if (!digits)
                return -ENOMEM;
        int r = parse_u64_range(digits, 1, 100, &percent);
        if (r < 0)
                return r;
        *ret = (Extent) { .kind = EXTENT_PERCENT, .value = percent };
        return 0;
}

static int set_extent(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        Extent *extent = field_of(option, draft);
        size_t length = strlen(value);
        uint64_t bytes;

        if (length > 0 && value[length - 1] == '%')
                return parse_percent(value, length - 1, extent);

        int r = expression_evaluate(value, &bytes);
        if (r < 0)
                return r;

        /* To fio 0 is the same as nothing said: the whole target, from its start. */
        *extent = bytes > 0 ? (Extent) { .kind = EXTENT_BYTES, .value = bytes } : (Extent) { .kind = EXTENT_UNSET };
        return 0;
}

static int set_description(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        if (*value == '\0' || strlen(value) > JOB_DESCRIPTION_MAX)
                return -EINVAL;

        char *description = strdup(value);
        if (!description)
                return -ENOMEM;
        free(draft->phase.description);
        draft->phase.description = description;
        return 0;
}

static int set_action(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        for (PhaseAction action = 0; action < N_PHASE_ACTIONS; action++)
                if (strcmp(value, phase_action_name(action)) == 0) {
                        draft->phase.action = action;
                        return 0;
                }
        return -EINVAL;
}

/* What fio stores in its blocks, plateau makes again; so all of its methods mean the same here. */
static int set_verify(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        static const char *const methods[] = {
                "md5", "crc64", "crc32", "crc32c-intel", "crc32c", "crc16", "crc7", "sha1", "sha256", "sha512",
                "sha3-224", "sha3-256", "sha3-384", "sha3-512", "xxhash", "meta", "pattern", "null",
        };

        if (strcmp(value, "0") == 0) {
                draft->phase.verifies = false;
                return 0;
        }
        for (size_t i = 0; i < ELEMENTSOF(methods); i++)
                if (strcmp(value, methods[i]) == 0) {
                        draft->phase.verifies = true;
                        return 0;
                }
        return -EINVAL;
}

static int set_verify_memory(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        return evaluate_range(option, value, &job->verify_memory_bytes);
}

/* fio's words. To fio a trim is a kind of write, and what is wrong with data is no matter of I/O. */
static int set_continue_on_error(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        static const struct {
                const char *name;
                bool reads, writes, data;
        } words[] = {
                { "all", true, true, true }, { "1", true, true, true },
                { "io", true, true },        { "read", .reads = true },
                { "write", .writes = true }, { "verify", .data = true },
                { "none" },                  { "0" },
        };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strcmp(value, words[i].name) == 0) {
                        draft->phase.ends_on_error[DIRECTION_READ] = !words[i].reads;
                        draft->phase.ends_on_error[DIRECTION_WRITE] = !words[i].writes;
                        draft->phase.ends_on_error[DIRECTION_TRIM] = !words[i].writes;
                        draft->phase.ends_on_mismatch = !words[i].data;
                        draft->phase.forgives_mismatches = words[i].data;
                        return 0;
                }
        return -EINVAL;
}

#define FIELD(name) offsetof(PhaseDraft, name)
#define NUMBER_TEXT " (k, m, g, t, p for powers of 1024)"
#define OUTSTANDING_TEXT "a number from 1 to 16384"
#define BOOL_TEXT "0 or 1"
#define TIME_TEXT "a time: a whole number with d, h, m, s, ms or us (s if none)"
#define LOG_TEXT "every run records its samples in the database"
#define BATCH_TEXT "the engine chooses its batches by the rate it sees"

const JobOption job_options[] = {
        { "action", .in_discard = true, .in_idle = true, .set = set_action, .text = "io, matrix, idle or discard" },
        { "bs", "blocksize", .set = set_bs, .is_bytes = true, .place = FIELD(phase.bs_place), .min = 1,
          .max = JOB_BLOCK_BYTES_MAX,
          .text = "a block size up to 256m" NUMBER_TEXT ", or read,write sizes; of a matrix a list" },
        { "buffer_compress_percentage", .set = set_compress_percent, .text = "a percentage from 0 to 93, or 100" },
        { "capacity_loops", .set = set_capacity_loops, .min = 1, .max = UINT32_MAX,
          .text = "a number from 1 to 4294967295" },
        { "bssplit", .set = set_bssplit, .is_bytes = true, .place = FIELD(phase.split_place),
          .text = "sizes up to 256m" NUMBER_TEXT ", multiples of the smallest, with percentages that make 100 at most, "
                  "as in 4k/60:64k/40, or read,write lists" },
        { "continue_on_error", .in_discard = true,
          .set = set_continue_on_error, .text = "none, read, write, io, verify or all" },
        { "dedupe_percentage", .set = set_dedupe_percent, .text = "a percentage from 0 to 100" },
        { "description", .in_discard = true, .in_idle = true,
          .set = set_description, .text = "a text of at most 4096 bytes" },
        { "direct", .in_discard = true, .in_idle = true,
          .set = set_one, .text = "1: plateau always goes past the page cache" },
        { "do_verify", .set = set_bool, .field = FIELD(phase.has_read_back), .text = BOOL_TEXT },
        { "fsync", .set = set_u32, .field = FIELD(phase.fsync_writes), .max = INT32_MAX, .text = "a number of writes" },
        { "io_size", "io_limit", .set = set_extent, .is_bytes = true, .field = FIELD(phase.io_size),
          .text = "bytes" NUMBER_TEXT ", or 1% to 100% of size" },
        { "iodepth", .set = set_iodepth, .min = 1, .max = JOB_OUTSTANDING_MAX,
          .text = OUTSTANDING_TEXT "; of a matrix a list" },
        { "loops", .set = set_loops, .max = UINT32_MAX, .text = "a number up to 4294967295" },
        { "norandommap", .set = set_norandommap, .may_be_bare = true, .text = BOOL_TEXT },
        { "number_ios", .set = set_u64, .field = FIELD(phase.number_ios), .max = INT64_MAX, .text = "a number" },
        { "numjobs", .set = set_u32, .field = FIELD(phase.numjobs), .min = 1, .max = JOB_OUTSTANDING_MAX,
          .text = OUTSTANDING_TEXT " or $ncpus" },
        { "offset", "fileoffset", .in_discard = true, .set = set_extent, .is_bytes = true, .field = FIELD(phase.offset),
          .place = FIELD(phase.offset_place), .text = "bytes" NUMBER_TEXT ", or 1% to 100% of the target" },
        { "offset_increment", .set = set_extent, .is_bytes = true, .field = FIELD(phase.offset_increment),
          .place = FIELD(phase.offset_increment_place), .text = "bytes" NUMBER_TEXT ", or 1% to 100% of the target" },
        { "random_distribution", .set = set_random_distribution,
          .text = "random, zipf, zipf: and a number up to 10 that is not 1, or zoned: and access/size percentages, "
                  "accesses 100 together, sizes 100 at most" },
        { "ramp_time", .set = set_ramp_time, .text = TIME_TEXT },
        { "randrepeat", .set = set_bool, .field = FIELD(phase.random_repeat), .text = BOOL_TEXT },
        { "randseed", .set = set_seed, .text = "a number" },
        { "rate", .set = set_rate, .is_bytes = true, .field = FIELD(phase.rate_bytes),
          .text = "bytes a second" NUMBER_TEXT ", or read,write numbers" },
        { "rate_iops", .set = set_rate, .field = FIELD(phase.rate_iops),
          .text = "I/Os a second" NUMBER_TEXT ", or read,write numbers" },
        { "runtime", "timeout", .in_idle = true, .set = set_runtime, .text = TIME_TEXT },
        { "rw", "readwrite", .set = set_rw, .text = "read, write, rw, trim, randread, randwrite, randrw or randtrim" },
        { "rwmixread", .set = set_u32, .field = FIELD(read_percent_mix), .max = 100,
          .text = "a percentage from 0 to 100, without a sign" },
        { "rwmixwrite", .set = set_rwmixwrite, .max = 100, .text = "a percentage from 0 to 100, without a sign" },
        { "sample_interval", .set = set_sample_interval, .only_global = true, .min = 100 * NSEC_PER_MSEC,
          .max = 10 * NSEC_PER_SEC, .text = "a time from 100ms to 10s" },
        { "size", .in_discard = true,
          .set = set_extent, .is_bytes = true, .field = FIELD(phase.size), .place = FIELD(phase.size_place),
          .text = "bytes" NUMBER_TEXT ", or 1% to 100% of the target" },
        { "steadystate", "ss", .set = set_steadystate,
          .text = "iops:, iops_slope:, bw: or bw_slope: and a limit above 0, with % of the mean" },
        { "steadystate_duration", "ss_dur", .set = set_steady_time, .field = FIELD(phase.fio_steady.duration_ns),
          .max = JOB_STEADY_DURATION_NS_MAX, .text = TIME_TEXT ", up to 1d" },
        { "steadystate_ramp_time", "ss_ramp", .set = set_steady_time, .field = FIELD(phase.fio_steady.ramp_ns),
          .max = UINT64_MAX, .text = TIME_TEXT },
        { "step_time", .set = set_step_time, .text = "a time: a whole number with d, h, m, s, ms or us (s if none)" },
        { "stonewall", "wait_for_previous", .in_discard = true, .in_idle = true, .set = set_one, .may_be_bare = true,
          .text = "1: phases always run one after another" },
        { "time_based", .in_idle = true,
          .set = set_bool, .field = FIELD(phase.time_based), .may_be_bare = true, .text = BOOL_TEXT },
        { "until", .set = set_until, .text = "never, or steady: and a time" },
        { "verify", .set = set_verify, .place = FIELD(phase.verify_place),
          .text = "0, or one of fio's methods (crc32c, md5, sha256, xxhash, ...)" },
        { "verify_memory", .set = set_verify_memory, .is_bytes = true, .only_global = true,
          .min = JOB_VERIFY_MEMORY_MIN, .max = JOB_BUFFER_BYTES_MAX, .text = "64k to 8g" NUMBER_TEXT },
        { "workers", .set = set_u32, .field = FIELD(phase.workers), .place = FIELD(phase.workers_place), .min = 1,
          .max = JOB_WORKERS_MAX, .text = "a number from 1 to 32" },
        { "zero_buffers", .set = set_bool, .field = FIELD(phase.content.is_zero), .may_be_bare = true,
          .text = BOOL_TEXT },

        { "filename", .kind = OPTION_REFUSED,
          .text = "the target is no part of a job: name it at the start (--device), for one job serves all drives" },

        { "fixedbufs", .kind = OPTION_NO_EFFECT, .text = "buffers are always registered" },
        { "group_reporting", .kind = OPTION_NO_EFFECT, .text = "all streams of a phase are always counted together" },
        { "invalidate", .kind = OPTION_NO_EFFECT, .text = "direct I/O goes past the page cache" },
        { "ioengine", .kind = OPTION_NO_EFFECT, .text = "io_uring is used" },
        { "iodepth_batch*", .kind = OPTION_NO_EFFECT, .text = BATCH_TEXT },
        { "log_avg_msec", .kind = OPTION_NO_EFFECT, .text = "see sample_interval" },
        { "name", .kind = OPTION_NO_EFFECT, .text = "a phase is called what its section is called" },
        { "refill_buffers", .kind = OPTION_NO_EFFECT, .text = "every write has contents of its own" },
        { "registerfiles", .kind = OPTION_NO_EFFECT, .text = "the target is always registered" },
        { "thread", .kind = OPTION_NO_EFFECT, .text = "the threads are those of workers" },
        { "write_bw_log", .kind = OPTION_NO_EFFECT, .text = LOG_TEXT },
        { "write_hist_log", .kind = OPTION_NO_EFFECT, .text = LOG_TEXT },
        { "write_iops_log", .kind = OPTION_NO_EFFECT, .text = LOG_TEXT },
        { "write_lat_log", .kind = OPTION_NO_EFFECT, .text = LOG_TEXT },
};

const size_t job_options_n = ELEMENTSOF(job_options);

static bool option_has_name(const JobOption *option, const char *name) {
        size_t length = strlen(option->name);

        if (option->name[length - 1] == '*')
                return strncmp(option->name, name, length - 1) == 0;
        return strcmp(option->name, name) == 0 || (option->alias && strcmp(option->alias, name) == 0);
}

const JobOption *job_option_find(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(job_options); i++)
                if (option_has_name(&job_options[i], name))
                        return &job_options[i];
        return NULL;
}

const char *job_option_nearest(const char *name) {
        const char *names[2 * ELEMENTSOF(job_options)];
        size_t n = 0;

        for (size_t i = 0; i < ELEMENTSOF(job_options); i++) {
                if (job_options[i].kind == OPTION_REFUSED)
                        continue;
                names[n++] = job_options[i].name;
                if (job_options[i].alias)
                        names[n++] = job_options[i].alias;
        }
        for (size_t i = 0; i < n; i++)
                if (strcasecmp(names[i], name) == 0)
                        return names[i];
        return nearest_word(name, names, n);
}

/* So that a user of fio learns that an option is missing here, and does not look for a typing error. */
static const char *const fio_only[] = {
        "allow_file_create", "allow_mounted_write", "allrandrepeat", "atomic", "ba", "block_error_percentiles",
        "blockalign", "bs_unaligned", "bsrange", "buffer_compress_chunk",
        "buffer_pattern", "buffered", "bwavgtime", "cgroup", "cgroup_nodelete", "cgroup_weight",
        "clat_percentiles", "clocksource", "cpumask", "cpus_allowed", "cpus_allowed_policy",
        "create_fsync", "create_on_open", "create_only", "create_serialize", "dedupe_global", "dedupe_mode",
        "dedupe_working_set_percentage", "directory", "disable_bw_measurement",
        "disable_clat", "disable_lat", "disable_slat", "disk_util", "end_fsync", "error_dump", "exec_postrun",
        "exec_prerun", "exit_what", "exitall", "exitall_on_error", "experimental_verify", "fadvise_hint",
        "fallocate", "fdatasync", "file_append", "file_service_type", "filename_format", "filesize",
        "fill_device", "fill_fs", "flow", "flow_id", "flow_sleep", "fsync_on_close", "gid",
        "gtod_cpu", "gtod_reduce", "hipri", "hugepage-size", "ignore_error", "ignore_zone_limits",
        "io_submit_mode", "iodepth_low", "iomem", "iomem_align", "iopsavgtime", "ioscheduler", "job_max_open_zones",
        "kb_base", "lat_percentiles", "latency_percentile", "latency_run", "latency_target", "latency_window",
        "lockfile", "lockmem", "log_alternate_epoch", "log_compression", "log_compression_cpus", "log_entries",
        "log_hist_coarseness", "log_hist_msec", "log_max_value", "log_offset", "log_prio",
        "log_store_compressed", "log_unix_epoch", "max_latency", "max_open_zones", "mem", "mem_align",
        "merge_blktrace_file", "merge_blktrace_iters", "merge_blktrace_scalars", "new_group", "nice", "nonvectored",
        "nrfiles", "numa_cpu_nodes", "numa_mem_policy", "offset_align",
        "opendir", "openfiles", "overwrite", "per_job_logs", "percentage_random", "percentile_list", "pre_read",
        "prio", "prioclass", "profile", "random_generator",
        "rate_cycle", "rate_ignore_thinktime", "rate_iops_min", "rate_min", "rate_process",
        "read_beyond_wp", "read_iolog", "read_iolog_chunked", "replay_align",
        "replay_no_stall", "replay_redirect", "replay_scale", "replay_skip", "replay_time_scale",
        "rw_sequencer", "scramble_buffers", "serialize_overlap", "significant_figures", "slat_percentiles",
        "softrandommap", "sqthread_poll", "sqthread_poll_cpu", "startdelay", "stats", "sync", "sync_file_range",
        "thinktime",
        "thinktime_blocks", "thinktime_blocks_type", "thinktime_iotime", "thinktime_spin", "trim_backlog",
        "trim_backlog_batch", "trim_percentage", "trim_verify_zero", "uid", "unified_rw_reporting",
        "unique_filename", "unit_base", "unlink", "unlink_each_loop", "verify_async", "verify_backlog",
        "verify_backlog_batch", "verify_dump", "verify_fatal", "verify_interval", "verify_offset", "verify_only",
        "verify_pattern", "verify_state_load", "verify_state_save", "wait_for", "write_barrier", "write_hint",
        "write_iolog", "zonecapacity", "zonemode", "zonerange", "zonesize", "zoneskip",
        "zone_reset_frequency", "zone_reset_threshold",
};

bool job_option_is_fio_only(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(fio_only); i++)
                if (strcmp(fio_only[i], name) == 0)
                        return true;
        return false;
}

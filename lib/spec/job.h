/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A job: the text of a job file, read and validated, in fio's words and with fio's
 * meaning. It knows nothing of a device; spec/plan.h binds it to one.
 *
 * A Job is immutable once parsed. The same text always gives an equal Job on the same
 * machine ($ncpus, $pagesize and $mb_memory are its own), so the text is what travels (to the
 * daemon, to the worker, into the database).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/direction.h"
#include "spec/expect.h"
#include "spec/split.h"
#include "util/error.h"
#include "util/macro.h"

/* Upper bounds: a job beyond them is refused with a message, never truncated. */
#define JOB_TEXT_MAX (1024 * 1024)  /* bytes */
#define JOB_FILE_NAME_MAX 4096      /* bytes, with its directories */
#define JOB_NAME_MAX 255            /* bytes: of a job, as of a file without directories, and of a phase */
#define JOB_DESCRIPTION_MAX 4096    /* bytes */
#define JOB_N_PHASES_MAX 1536       /* each cell of a matrix is one; SNIA's IOPS test has 1401 */
#define JOB_N_VALUES_MAX 32         /* of a list */
#define JOB_OUTSTANDING_MAX 16384   /* iodepth * numjobs; bounded by io_uring's queue */
#define JOB_WORKERS_MAX 32          /* ring threads of a phase */
#define JOB_N_SHARES_MAX 2048       /* ring threads of all phases, cells of a matrix counted */
#define JOB_BLOCK_BYTES_MAX (UINT64_C(256) << 20)
#define JOB_VERIFY_MEMORY_MIN (UINT64_C(1) << 16) /* bytes */
#define JOB_VERIFY_MEMORY_DEFAULT (UINT64_C(256) << 20)
#define JOB_BUFFER_BYTES_MAX (UINT64_C(8) << 30) /* of all I/O outstanding */

/* Of one trim of action=discard: between two of them it can be stopped. */
#define JOB_DISCARD_BYTES (UINT64_C(1) << 30)

typedef enum PhaseAction {
        PHASE_ACTION_IO,
        PHASE_ACTION_MATRIX, /* I/O with each block size of a list, at each depth of another */
        PHASE_ACTION_IDLE,   /* nothing is submitted */
        PHASE_ACTION_DISCARD, /* the region is trimmed, once and in order */
        N_PHASE_ACTIONS,
} PhaseAction;

/* rw= : which directions, in which order. */
typedef enum RwMode {
        RW_READ,
        RW_WRITE,
        RW_READWRITE,
        RW_TRIM,
        RW_RANDREAD,
        RW_RANDWRITE,
        RW_RANDRW,
        RW_RANDTRIM,
        N_RW_MODES,
} RwMode;

/*
 * An amount that is bytes or relative: a share of the target's size, as fio's size=50%, or of size, as io_size=50%; or
 * as often as that fills the target.
 */
typedef struct Extent {
        enum {
                EXTENT_UNSET,
                EXTENT_BYTES,
                EXTENT_PERCENT,
                EXTENT_FILLS,
        } kind;
        uint64_t value; /* bytes, percent (1..100), or thousandths of a fill */
} Extent;

/* random_distribution= */
typedef enum RandomDistribution {
        DISTRIBUTION_RANDOM, /* uniform */
        DISTRIBUTION_ZIPF,
        DISTRIBUTION_ZONED,
} RandomDistribution;

/* What is written. */
typedef struct Content {
        bool is_zero;             /* zero_buffers, or all of it compressible */
        uint8_t compress_percent; /* buffer_compress_percentage */
        uint8_t dedupe_percent;   /* dedupe_percentage */
} Content;

#define JOB_COMPRESS_PERCENT_MAX 93 /* but for 100: the stamp that each sector keeps is no zeros */

/* Values of a list, in the order in which they stand. */
typedef struct ValueList {
        size_t n;
        uint64_t values[JOB_N_VALUES_MAX];
} ValueList;

/* Where a value was said, for messages about what only a target shows. */
typedef struct OptionPlace {
        unsigned line;   /* of the section's header, if the value is a default */
        bool iec_suffix; /* it was written as in 4KiB, which is 4000 bytes */
} OptionPlace;

/* What to add to words on a value that may not be what its writer thinks: "", or how fio reads its suffix. */
const char *option_place_hint(const OptionPlace *place);

/* steadystate= : as fio judges it, of all directions together; analysis/fio-watch.h computes it. */
typedef struct FioSteady {
        bool is_set;
        bool of_bandwidth; /* bytes a second, else IOPS */
        bool of_slope;     /* a second; else the largest deviation from the mean */
        bool in_percent;   /* of the mean */
        double limit;      /* above 0; it is attained below that */
        uint64_t duration_ns; /* 0: it is never looked at */
        uint64_t ramp_ns;     /* after the phase's own, in a plan after its start: data is collected from then on */
} FioSteady;

#define JOB_STEADY_DURATION_NS_MAX (24 * 3600 * NSEC_PER_SEC)

typedef struct JobPhase {
        char *name; /* the section's */
        unsigned line;     /* of its header */
        char *description; /* its own, or NULL */
        PhaseAction action;
        RwMode rw;
        uint32_t read_percent; /* rwmixread, as it applies: 100 for reads only, 0 for writes only */
        uint64_t block_bytes[N_DIRECTIONS]; /* bs=read,write,trim; the smallest of a split */
        BlockSplit split[N_DIRECTIONS]; /* bssplit= */
        uint32_t iodepth; /* of each stream */
        uint32_t numjobs; /* streams */
        uint32_t workers; /* ring threads, at most as many as I/Os are outstanding; of a matrix in its largest cell */
        uint64_t runtime_ns; /* 0: no limit; counts from the end of the ramp */
        uint64_t ramp_ns; /* ramp_time: at its start, recorded but not counted */
        bool time_based;
        ValueList matrix_block_bytes, matrix_depths; /* of a matrix; block_bytes and iodepth are the largest of them */
        uint64_t step_ns; /* of each cell of a matrix */
        uint64_t steady_hold_ns; /* until=steady: ends when a steady state has held that long; 0: it does not */
        FioSteady fio_steady; /* ends the phase when it is attained */
        uint64_t loops; /* at least 1 */
        uint64_t number_ios; /* of each stream in each loop, at most; 0: no limit */
        uint64_t rate_bytes[N_DIRECTIONS], rate_iops[N_DIRECTIONS]; /* of each stream, a second, at most; 0: no limit */
        uint64_t capacity_loops; /* instead: written is this many times the target's size; 0: not said */
        Extent size;
        Extent io_size; /* of each stream */
        Extent offset;
        Extent offset_increment; /* from each stream's region to the next one's; in percent of the target */
        OptionPlace bs_place, split_place, size_place, offset_place, offset_increment_place, workers_place;
        OptionPlace verify_place;
        bool verifies;           /* verify=: what it writes is read back, what it only reads is held against that */
        bool has_read_back;      /* do_verify */
        bool ends_on_mismatch;   /* continue_on_error without verify: at the first block that is not what was written */
        bool forgives_mismatches; /* continue_on_error with verify: they fail no run */
        bool ends_on_error[N_DIRECTIONS]; /* continue_on_error: an I/O of it that fails ends the run */
        bool random_map; /* norandommap=0: every block once before any comes again */
        RandomDistribution distribution;
        double zipf_theta;
        ZoneSplit zones[N_DIRECTIONS];
        Content content;
        uint32_t fsync_writes; /* fsync: the device's cache is flushed after so many writes; 0: not */
        bool random_repeat; /* randrepeat */
        bool has_seed;
        uint64_t seed; /* randseed, if has_seed */
} JobPhase;

typedef struct Job {
        char *name; /* the file's base name without .fio/.job/.ini, or the preset's */
        char *file; /* what messages call it, as given to job_parse() */
        char *text; /* exactly as read */
        size_t text_length; /* bytes */
        char *description; /* of [global], or NULL */
        uint64_t sample_interval_ns; /* 100 ms to 10 s */
        uint64_t verify_memory_bytes; /* verify_memory */
        Expectations expectations; /* [expect] */
        uint64_t stop_errors_max; /* [stop]: more I/Os of the run that fail end it; UINT64_MAX: however many */
        Extent stop_written_max;  /* [stop]: so much written by the run ends it; bytes or fills, above 0 */
        bool stop_snia_iops_steady; /* [stop]: it ends with the round in which SNIA's IOPS test is steady */
        size_t n_phases; /* at least 1 */
        JobPhase *phases;
        size_t n_notices;
        char **notices; /* "name:3: ioengine=sync has no effect: ...", each once; norandommap's default too */
} Job;

/*
 * Reads a job. name is what messages call the file ("sandforce.fio:3: ..."). On a
 * bad job -EINVAL (or -E2BIG, -ERANGE) with an ERROR_USAGE message that holds file, line, the
 * option, what was expected and, for an unknown option, the nearest known one.
 * The result is owned by the caller.
 */
int job_parse(Job **ret, const char *name, const char *text, size_t length, Error *error);

Job *job_free(Job *job);
DEFINE_CLEANUP(Job *, job_free)
#define _cleanup_job_ _cleanup_(job_freep)

/* "randwrite" and so on: the word in a job file, in JSON and in the database. NULL / -EINVAL if there is none. */
const char *rw_mode_name(RwMode mode);
const char *phase_action_name(PhaseAction action);

static inline bool rw_mode_is_random(RwMode mode) {
        return mode >= RW_RANDREAD;
}

bool rw_mode_writes(RwMode mode);
bool rw_mode_reads(RwMode mode);
bool rw_mode_trims(RwMode mode);
bool rw_mode_uses(RwMode mode, Direction direction);

/* What it does besides reading, if anything: the direction that a phase is judged by. */
Direction rw_mode_direction(RwMode mode);

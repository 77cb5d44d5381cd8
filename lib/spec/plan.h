/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A job bound to a target: every size is bytes within the device, every limit a
 * number, nothing is left to decide. This is what the engine runs and what
 * check-job prints.
 */

#include "spec/job.h"

typedef struct PhasePlan {
        unsigned index; /* in Job.phases, from 0; of each cell of a matrix that of its phase */
        PhaseAction action;
        RwMode rw;
        uint32_t read_percent;
        uint64_t block_bytes[N_DIRECTIONS]; /* the smallest of a split */
        BlockSplit split[N_DIRECTIONS];
        uint32_t iodepth; /* per stream; 0 of an idle phase, which has no I/O: no blocks, no region, no streams */
        uint32_t numjobs; /* streams */
        uint32_t workers; /* ring threads, at least 1: each has a share of the phase (spec/share.h) */

        /*
         * The first stream's I/O of direction d lies in [region_offset, region_offset + n_blocks[d] * block_bytes[d]),
         * if it has one size, and else in the whole region (as the pieces of action=discard do); that of each other
         * stream stream_step_bytes further on.
         */
        uint64_t region_offset; /* bytes, a multiple of the logical block */
        uint64_t stream_step_bytes; /* 0: all have the same region */
        uint64_t region_bytes;  /* a multiple of the smallest block used, at least one block of each direction used */
        uint64_t n_blocks[N_DIRECTIONS]; /* whole blocks in the region; the tail is lost */

        /* The phase ends at the first of these; the last I/O may go beyond limit_bytes by less than a block. */
        uint64_t limit_bytes; /* read and written by all streams and loops together; UINT64_MAX: none */
        uint64_t limit_ios;   /* of all streams and loops together; 0: none */
        uint64_t runtime_ns;  /* 0: none; the ramp is part of it */
        uint64_t steady_hold_ns; /* a steady state has held that long; 0: does not matter */

        uint64_t ramp_ns; /* its samples that begin before that are kept out of what is told of the phase */

        FioSteady fio_steady; /* it ends too when that is attained */

        bool ends_on_error[N_DIRECTIONS]; /* with the first I/O of it that fails, as a failure of the run */

        uint64_t rate_bytes[N_DIRECTIONS], rate_iops[N_DIRECTIONS]; /* of all streams, a second, at most; 0: no limit */

        Content content;
        uint32_t fsync_writes; /* of all streams; 0: no flushes */

        /* Of verification; the phases of a job without verify= have none of it. */
        bool is_tracked;       /* a later phase reads back: what it writes is written so that it can be told */
        bool is_checked;       /* what it reads is held against what the run has written */
        bool is_read_back;     /* it is the reading that belongs to the phase before: a phase of its own */
        bool ends_on_mismatch; /* with the first block that is not what was written, as a failure of the run */
        bool fails_on_mismatch; /* so does the run that goes on, in the end */

        RandomDistribution distribution;
        double zipf_theta;
        ZoneSplit zones[N_DIRECTIONS];
        bool random_map;
        uint64_t seed; /* of the order; equal seeds give equal sequences */

        /* What can be said beforehand. */
        bool has_planned_time;
        uint64_t planned_ns; /* at most this long */
        bool has_planned_bytes;
        uint64_t planned_write_bytes; /* at most this much is written, or about: phase_plan_draws_amounts() */
        uint64_t planned_trim_bytes;  /* likewise trimmed; UINT64_MAX: cannot be said */
} PhasePlan;

typedef struct Plan {
        size_t n_phases; /* at least 1; cells of a matrix are phases of their own */
        PhasePlan *phases;
        uint32_t granule_bytes; /* of verification: each write that is tracked is made of whole ones; 0: none is */
        uint64_t verify_memory_bytes; /* at most, for what it has to know of the device at a time */
        uint64_t stop_errors_max; /* more I/Os of the run that fail end it; UINT64_MAX: however many */
        uint64_t stop_written_max; /* bytes: the run never writes more, and ends with them; 0: however many */
        bool stop_snia_iops_steady; /* the run ends with the round in which SNIA's IOPS test is steady */
        size_t n_notices;
        char **notices; /* "phase 'x': ... loses its tail", and so on */
} Plan;

typedef struct PlanTarget {
        uint64_t size_bytes;
        uint32_t logical_block_bytes; /* at least 1 */
        bool can_discard;             /* it takes trims */
} PlanTarget;

/*
 * Binds job to target. random_seed stands in for the seed where randrepeat=0 asks for
 * another one in every run. ERROR_USAGE (-EINVAL, -ERANGE) if the job does not fit:
 * a block below the logical block or no multiple of it, an offset beyond the end or within a logical
 * block, a region smaller than a block, or too small for its ring threads, trims for a target that takes none. A size
 * beyond the end is cut there with a notice, as in fio. Of a matrix the cells with blocks below the logical block are
 * left out with a notice; the rest of it must fit.
 */
int plan_new(Plan **ret, const Job *job, const PlanTarget *target, uint64_t random_seed, Error *error);

Plan *plan_free(Plan *plan);
DEFINE_CLEANUP(Plan *, plan_free)
#define _cleanup_plan_ _cleanup_(plan_freep)

/* What a phase is called: its section's name, and of one that reads back " verify" behind it. To be freed; or NULL. */
char *phase_plan_name(const PhasePlan *phase, const Job *job);

/*
 * Whether the reads of a phase go through its region from its start to its end: then all of it was read when as much
 * was. At random, and with streams or ring threads that end together, some of it may be left out.
 */
bool phase_plan_reads_in_order(const PhasePlan *phase);

/* Of all of a phase's plan by which it is settled what is done where, and with what contents: 63 bits, not 0. */
uint64_t phase_plan_order_hash(const PhasePlan *phase);

/* Bytes from the first stream's region's start to the last one's end. */
uint64_t phase_plan_span_bytes(const PhasePlan *phase);

/*
 * Bytes of the device that a phase reads if it reads each of them once: all that its streams come to, or less if it is
 * to end before. With a split and number_ios it is the most that these may be.
 */
uint64_t phase_plan_asked_bytes(const PhasePlan *phase);

/*
 * What of the device has to be known at a time where a phase is checked, in granules: window i, from first + i * step,
 * holds n_each of them (fewer at the end), and serves the I/Os that begin in its first `step`. Two are held if there
 * are several.
 */
typedef struct Windows {
        uint64_t first, end; /* of the region */
        uint64_t step, n_each;
} Windows;

void plan_windows(const Plan *plan, const PhasePlan *phase, Windows *ret);

/* I/Os of one ring thread outstanding at most, if all streams are its own. It trims one at a time, without buffers. */
uint32_t phase_plan_outstanding(const PhasePlan *phase);

/* Whether any phase trims. */
bool plan_trims(const Plan *plan);

/* How many I/Os of this phase make so many bytes: exact where all have one size, else by expectation. */
uint64_t phase_plan_ios(const PhasePlan *phase, uint64_t bytes);

/* Whether directions or sizes are drawn, so that what is planned to be written or trimmed is an expectation. */
bool phase_plan_draws_amounts(const PhasePlan *phase);

/*
 * Sums over the phases, at most UINT64_MAX; false if one of them cannot be told beforehand. What is written is bounded
 * by stop_written_max besides.
 */
bool plan_total_time(const Plan *plan, uint64_t *ret_ns);
bool plan_total_write_bytes(const Plan *plan, uint64_t *ret_bytes);

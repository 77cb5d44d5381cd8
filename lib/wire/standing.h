/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Where a run stands: all that is needed to find its drive again, to prove that it is the one, and to go on. The
 * service keeps it up with each sample; a worker is given it to take the run up again.
 */

#include "device/info.h"
#include "sample/history.h"
#include "sample/position.h"
#include "sample/verification.h"
#include "spec/plan.h"

/* What a phase was planned as: enough to see whether it is planned otherwise now, and to name what is most likely. */
typedef struct PhaseShape {
        uint64_t block_bytes[N_DIRECTIONS];
        uint64_t region_offset, region_bytes; /* bytes */
        uint32_t iodepth, numjobs, workers;
        uint64_t order_hash; /* phase_plan_order_hash(); 0: not known */
} PhaseShape;

typedef struct PhaseStanding {
        uint64_t elapsed_ns; /* running time in it */
        uint64_t boot_ns;    /* CLOCK_BOOTTIME of its newest sample, in the boot of boot_id; 0: it has none */
        Positions positions; /* none before its first sample */
        PhaseShape shape;
        Verification verified; /* what came of checking what it read */
} PhaseStanding;

typedef struct Standing {
        DeviceInfo *device; /* as it was found last: identity, size, diskseq, and the path that it had */
        char *boot_id;      /* of the boot in which its diskseq counts; the service's, not sent */
        bool same_boot;     /* that is this boot */
        uint64_t run_tag, seed;
        bool drained;       /* all that was submitted is told by the samples */
        bool paused;        /* it goes on as paused */
        uint64_t next_seq;
        uint64_t elapsed_ns; /* running time of the run */
        uint64_t n_writes;   /* that did not fail */
        uint64_t written_bytes; /* by them */
        uint64_t n_errors;   /* I/Os that failed */
        uint32_t phase;      /* to go on in; n_phases: all are done */
        uint32_t n_phases;
        PhaseStanding *phases; /* by index */
        Histories *histories;  /* of the shares that the phases' shapes tell; NULL before standing_make_histories() */
} Standing;

/* Nothing done yet, n_phases of zeros. NULL if memory ran out. */
Standing *standing_new(uint32_t n_phases);
Standing *standing_free(Standing *standing);
DEFINE_CLEANUP(Standing *, standing_free)
#define _cleanup_standing_ _cleanup_(standing_freep)

/* Notes as what each phase is planned. plan: of as many phases. -ENOMEM. */
int standing_note_plan(Standing *standing, const Plan *plan);

/* When the shapes are known: histories of phases that have not begun. -ENOMEM. */
int standing_make_histories(Standing *standing);

/*
 * Of a run that is taken up: whether its histories are not as they were. A worker that died may have submitted more
 * than it told, as far as limits let it, also in phases that it had not told of; and where the machine has gone down,
 * and the device's cache ("write back", or not known) with it, what was not flushed may be lost. What it had checked,
 * but not in order up to there, is not counted as checked.
 */
bool standing_look_back(Standing *standing, const Plan *plan, const char *write_cache);

/* The last phase that may have begun, be it in the seconds of which no sample tells. */
uint32_t standing_last_begun(const Standing *standing, const Plan *plan);

/*
 * Where each share of a phase that is tracked stands, for its worker to go on: `end` and `resumed` of the
 * histories. at: of the phase to go on in, as pattern_take_up() has it; an order that jumps goes on
 * beyond what is known to have been submitted, and what may have been.
 */
void standing_end_histories(Standing *standing, const Plan *plan);
void standing_take_up(Standing *standing, const PhasePlan *phase, Positions *at);

/*
 * The index to which such an order jumps if a worker dies that began at first_index: all that it submitted, in limits
 * that let it do ios_max (phase_plan_ios_max()), is below that.
 */
uint64_t standing_jump_to(const History *history, uint64_t first_index, uint64_t ios_max);

/*
 * Whether a plan that was made again, of as many phases, is the one that the run has: else the order of I/O is another
 * one, and neither what was written is known nor where to go on. ERROR_REFUSED (-EPROTO).
 */
int standing_check_plan(const Standing *standing, const Plan *plan, Error *error);

/* Above the numbers of all of the run's writes, as far as they are known. */
uint64_t standing_next_write(const Standing *standing);

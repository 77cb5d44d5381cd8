/* SPDX-License-Identifier: MIT */

/* Each amount is cut at the same places, and a share is what lies between two of them: nothing is lost by rounding. */

#include "spec/share.h"

#include "util/macro.h"

static uint64_t part_of(uint64_t amount, uint64_t part, uint64_t whole) {
        return (uint64_t) ((unsigned __int128) amount * part / whole);
}

static uint64_t part_between(uint64_t amount, uint64_t from, uint64_t to, uint64_t whole) {
        return part_of(amount, to, whole) - part_of(amount, from, whole);
}

/* Whole streams; of fewer streams than ring threads none is whole. */
static uint32_t streams_before(const PhasePlan *phase, uint32_t number) {
        return (uint32_t) part_of(phase->numjobs, number, phase->workers);
}

uint32_t phase_plan_slots_before(const PhasePlan *phase, uint32_t number) {
        if (phase->numjobs >= phase->workers)
                return streams_before(phase, number) * phase->iodepth;
        return (uint32_t) part_of((uint64_t) phase->numjobs * phase->iodepth, number, phase->workers);
}

/* A multiple of the smallest blocks of all directions used. They are far too small for it to overflow. */
static uint64_t granule_of(const PhasePlan *phase) {
        uint64_t granule = 1;

        for (Direction d = 0; d < N_DIRECTIONS; d++)
                if (rw_mode_uses(phase->rw, d))
                        granule *= phase->block_bytes[d] / gcd_u64(granule, phase->block_bytes[d]);
        return granule;
}

/* How much of the region lies before this share; with a region for each stream, of all of them. */
static uint64_t region_before(const PhasePlan *phase, uint32_t number) {
        if (phase->stream_step_bytes > 0)
                return streams_before(phase, number) * phase->region_bytes;
        if (number == phase->workers)
                return phase->region_bytes;

        uint64_t granule = granule_of(phase);
        return granule * part_of(phase->region_bytes / granule, phase_plan_slots_before(phase, number),
                                 phase_plan_slots_before(phase, phase->workers));
}

/* At whole blocks: an order that writes each block once needs just those of its region. */
static uint64_t limit_before(const PhasePlan *phase, uint64_t part, uint64_t whole) {
        uint64_t bytes = part_of(phase->limit_bytes, part, whole);

        return part == whole ? bytes : bytes - bytes % granule_of(phase);
}

/* I/Os in a part at most: soon done, and yet so many that nobody sees what taking it costs. */
#define PART_IOS 64U

/* Of few I/Os so many parts for each ring thread, so that the last ones have some, too. */
#define PARTS_OF_FEW 8U

bool phase_plan_pools(const PhasePlan *phase) {
        return phase->workers > 1 && rw_mode_is_random(phase->rw) && !phase->random_map;
}

uint64_t phase_plan_n_parts(const PhasePlan *phase) {
        uint64_t granule = granule_of(phase);
        uint64_t n_ios = phase->limit_bytes / granule + (phase->limit_bytes % granule > 0);

        if (phase->limit_ios > 0)
                n_ios = MIN(n_ios, phase->limit_ios);
        else if (phase->limit_bytes == UINT64_MAX)
                return 0;

        uint64_t n_parts = MAX(n_ios / PART_IOS + 1, (uint64_t) phase->workers * PARTS_OF_FEW);
        return MIN(n_ios, n_parts);
}

void phase_plan_part(const PhasePlan *phase, uint64_t number, uint64_t n, uint64_t *ret_bytes, uint64_t *ret_ios) {
        *ret_bytes = limit_before(phase, number + 1, n) - limit_before(phase, number, n);
        *ret_ios = part_between(phase->limit_ios, number, number + 1, n);
}

uint64_t phase_plan_ios_max(const PhasePlan *share) {
        Direction direction = rw_mode_direction(share->rw);
        uint64_t smallest = rw_mode_reads(share->rw) ?
                MIN(share->block_bytes[DIRECTION_READ], share->block_bytes[direction]) : share->block_bytes[direction];
        uint64_t n = UINT64_MAX;

        if (share->limit_bytes < UINT64_MAX)
                n = share->limit_bytes / smallest + 1;
        if (share->limit_ios > 0)
                n = MIN(n, share->limit_ios);
        return n;
}

static void share_limits(PhasePlan *ret, const PhasePlan *phase, uint64_t from, uint64_t to, uint64_t whole) {
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                ret->rate_bytes[d] = part_between(phase->rate_bytes[d], from, to, whole);
                ret->rate_iops[d] = part_between(phase->rate_iops[d], from, to, whole);
        }
        if (phase_plan_pools(phase))
                return;

        if (phase->limit_bytes != UINT64_MAX)
                ret->limit_bytes = limit_before(phase, to, whole) - limit_before(phase, from, whole);
        ret->limit_ios = part_between(phase->limit_ios, from, to, whole);
        if (phase->limit_ios > 0 && ret->limit_ios == 0)
                ret->limit_bytes = 0; /* nothing at all, where no limit of I/Os would mean any number */
}

void phase_plan_share(PhasePlan *ret, const PhasePlan *phase, uint32_t number) {
        *ret = *phase;
        if (phase->workers == 1)
                return;

        uint64_t from = region_before(phase, number), to = region_before(phase, number + 1);
        uint32_t n_slots = phase_plan_slots_before(phase, number + 1) - phase_plan_slots_before(phase, number);

        ret->workers = 1;
        ret->numjobs = MAX(streams_before(phase, number + 1) - streams_before(phase, number), 1U);
        ret->iodepth = phase->numjobs >= phase->workers ? phase->iodepth : n_slots;
        if (phase->stream_step_bytes > 0)
                ret->region_offset += streams_before(phase, number) * phase->stream_step_bytes;
        else {
                ret->region_offset += from;
                ret->region_bytes = to - from;
                for (Direction d = 0; d < N_DIRECTIONS; d++)
                        ret->n_blocks[d] = ret->region_bytes / ret->block_bytes[d];
        }
        share_limits(ret, phase, from, to, region_before(phase, phase->workers));
}

uint32_t plan_workers_max(const Plan *plan) {
        uint32_t workers = 1;

        for (size_t i = 0; i < plan->n_phases; i++)
                workers = MAX(workers, plan->phases[i].workers);
        return workers;
}

/* SPDX-License-Identifier: MIT */

/*
 * A read-back is a phase of its own, as cells of a matrix are: it has its samples, and goes on where it stood. It reads
 * in large blocks from the first to the last byte that its phase may have written, so that what has to be known of the
 * device comes in windows, one after another. A reading that jumps has no such order: it needs all of its region at
 * once.
 */

#include "spec/plan-verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/macro.h"

/* Of one I/O of a read-back, and of all outstanding. */
#define READ_BYTES_MIN (64 * KIB)
#define READ_BYTES_MAX (512 * KIB)
#define READ_OUTSTANDING_BYTES (32 * MIB)

/* A larger one would only make what is told of a mismatch coarser. */
#define GRANULE_BYTES_MAX (64 * KIB)
#define SECTOR_BYTES 512U

bool plan_has_read_back(const JobPhase *phase) {
        return phase->action == PHASE_ACTION_IO && phase->verifies && phase->has_read_back && rw_mode_writes(phase->rw);
}

bool phase_plan_reads_in_order(const PhasePlan *phase) {
        return !rw_mode_is_random(phase->rw) && phase->numjobs == 1 && phase->workers == 1;
}

/* Of all streams, as far as they lie on the target. */
uint64_t phase_plan_span_bytes(const PhasePlan *phase) {
        return phase->region_bytes + (phase->numjobs - 1) * phase->stream_step_bytes;
}

uint64_t phase_plan_asked_bytes(const PhasePlan *phase) {
        const BlockSplit *split = &phase->split[DIRECTION_READ];
        uint64_t largest = block_largest(split, phase->block_bytes[DIRECTION_READ]);
        uint64_t apart = MIN(phase->stream_step_bytes, phase->region_bytes);
        uint64_t bytes = MIN(phase->region_bytes + (phase->numjobs - 1) * apart, phase->limit_bytes);

        return phase->limit_ios > 0 && phase->limit_ios < bytes / largest ? phase->limit_ios * largest : bytes;
}

static uint64_t read_bytes(uint32_t depth, uint64_t region_bytes, uint32_t logical) {
        uint64_t bytes = READ_BYTES_MAX;

        while (bytes > READ_BYTES_MIN && bytes * depth > READ_OUTSTANDING_BYTES)
                bytes /= 2;
        bytes = MAX(bytes, (uint64_t) logical);
        return MIN(bytes, region_bytes);
}

void plan_add_read_back(Plan *plan, const PlanTarget *target) {
        const PhasePlan *phase = &plan->phases[plan->n_phases - 1];
        PhasePlan *back = &plan->phases[plan->n_phases++];
        uint64_t span = phase_plan_span_bytes(phase);
        uint32_t depth = phase->iodepth * phase->numjobs;
        uint64_t block = read_bytes(depth, span, target->logical_block_bytes);

        *back = (PhasePlan){
                .index = phase->index,
                .action = PHASE_ACTION_IO,
                .rw = RW_READ,
                .read_percent = 100,
                .iodepth = depth,
                .numjobs = 1,
                .workers = 1,
                .region_offset = phase->region_offset,
                .region_bytes = span,
                .limit_bytes = span,
                .is_checked = true,
                .is_read_back = true,
                .ends_on_mismatch = phase->ends_on_mismatch,
                .fails_on_mismatch = phase->fails_on_mismatch,
                .has_planned_bytes = true,
                .seed = phase->seed,
                /* Of a split the tail of the region is the last tile; of one size it would be left out. */
                .split[DIRECTION_READ] = { .n = 1, .bytes = { (uint32_t) block }, .percent = { SPLIT_WHOLE } },
        };
        memcpy(back->ends_on_error, phase->ends_on_error, sizeof(back->ends_on_error));
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                back->block_bytes[d] = block;
                back->n_blocks[d] = span / block;
        }
}

/* --- which phases, and in what pieces --- */

static bool is_written(const PhasePlan *phase) {
        return phase->iodepth > 0 && (rw_mode_writes(phase->rw) || rw_mode_uses(phase->rw, DIRECTION_TRIM));
}

/* Each I/O of all of them begins and ends at a multiple of it. */
static uint64_t common_granule(const Plan *plan) {
        uint64_t granule = 0;

        for (size_t i = 0; i < plan->n_phases; i++) {
                const PhasePlan *phase = &plan->phases[i];

                if (!phase->is_tracked)
                        continue;
                granule = gcd_u64(gcd_u64(granule, phase->region_offset), phase->stream_step_bytes);
                for (Direction d = DIRECTION_WRITE; d <= DIRECTION_TRIM; d++)
                        if (rw_mode_uses(phase->rw, d))
                                granule = gcd_u64(granule, phase->block_bytes[d]);
        }
        while (granule > GRANULE_BYTES_MAX && granule % (2 * SECTOR_BYTES) == 0)
                granule /= 2;
        return granule;
}

/* What a window has to hold beyond what it is for: an I/O that begins in it may end behind it. */
static uint64_t tail_granules(const Plan *plan, const PhasePlan *phase) {
        uint64_t largest = block_largest(&phase->split[DIRECTION_READ], phase->block_bytes[DIRECTION_READ]);

        return largest / plan->granule_bytes + 2;
}

void plan_windows(const Plan *plan, const PhasePlan *phase, Windows *ret) {
        uint64_t first = phase->region_offset / plan->granule_bytes;
        uint64_t end = (phase->region_offset + phase_plan_span_bytes(phase) - 1) / plan->granule_bytes + 1;
        uint64_t n_max = plan->verify_memory_bytes / sizeof(uint64_t);

        *ret = (Windows){ .first = first, .end = end, .step = end - first, .n_each = end - first };
        if (ret->n_each > n_max && phase_plan_reads_in_order(phase) && n_max / 2 > tail_granules(plan, phase)) {
                ret->n_each = n_max / 2;
                ret->step = ret->n_each - tail_granules(plan, phase);
        }
}

static int check_memory(const Plan *plan, const Job *job, const PhasePlan *phase, Error *error) {
        const JobPhase *named = &job->phases[phase->index];
        Windows windows;

        plan_windows(plan, phase, &windows);
        uint64_t bytes = windows.n_each * sizeof(uint64_t) * (windows.step < windows.end - windows.first ? 2 : 1);
        if (bytes <= plan->verify_memory_bytes)
                return 0;
        return error_set(error, ERROR_USAGE, ERANGE,
                         "%s:%u: phase '%s': verify: what it reads lies all over its region, so %" PRIu64 " bytes of "
                         "memory have to hold what was written there, and verify_memory=%" PRIu64 " is less: expected "
                         "that much, a smaller size, or rw=read with one stream, which goes in windows", job->file,
                         named->verify_place.line, named->name, bytes, plan->verify_memory_bytes);
}

int plan_bind_verification(Plan *plan, const Job *job, const PlanTarget *target, Error *error) {
        bool is_read_later = false;
        int r = 0;

        for (size_t i = plan->n_phases; i-- > 0;) {
                PhasePlan *phase = &plan->phases[i];

                phase->is_tracked = is_read_later && is_written(phase);
                is_read_later = is_read_later || phase->is_checked;
        }
        plan->verify_memory_bytes = job->verify_memory_bytes;
        plan->granule_bytes = (uint32_t) common_granule(plan);
        for (size_t i = 0; i < plan->n_phases; i++) {
                /* Nothing was written before: nothing is to be held against it. */
                plan->phases[i].is_checked = plan->phases[i].is_checked && plan->granule_bytes > 0;
                if (r >= 0 && plan->phases[i].is_checked)
                        r = check_memory(plan, job, &plan->phases[i], error);
        }
        return r;
}

char *phase_plan_name(const PhasePlan *phase, const Job *job) {
        char *name;

        if (asprintf(&name, "%s%s", job->phases[phase->index].name, phase->is_read_back ? " verify" : "") < 0)
                return NULL;
        return name;
}

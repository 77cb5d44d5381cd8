/* SPDX-License-Identifier: MIT */

/* Jobs and plans: a bad one is refused with words, a good one stays within its bounds and its target. */

#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "spec/plan.h"
#include "util/macro.h"

static void check_phase(const JobPhase *phase) {
        fuzz_require(phase->name && phase->name[0] != '\0');
        fuzz_require(rw_mode_name(phase->rw) && phase_action_name(phase->action));
        fuzz_require(phase->read_percent <= 100);
        fuzz_require(phase->loops >= 1);
        fuzz_require(phase->iodepth >= 1 && phase->numjobs >= 1);
        fuzz_require((uint64_t) phase->iodepth * phase->numjobs <= JOB_OUTSTANDING_MAX);
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                fuzz_require(phase->block_bytes[d] >= 1 && phase->block_bytes[d] <= JOB_BLOCK_BYTES_MAX);
}

static void check_job(const Job *job) {
        fuzz_require(job->n_phases >= 1 && job->n_phases <= JOB_N_PHASES_MAX);
        fuzz_require(job->sample_interval_ns >= 100 * NSEC_PER_MSEC && job->sample_interval_ns <= 10 * NSEC_PER_SEC);
        for (size_t i = 0; i < job->n_notices; i++)
                fuzz_require(job->notices[i]);
        for (size_t i = 0; i < job->n_phases; i++)
                check_phase(&job->phases[i]);
        for (size_t i = 0; i < N_EXPECTATIONS; i++)
                fuzz_require(isfinite(job->expectations.value[i]) && job->expectations.value[i] >= 0);
}

static void check_bound(const PhasePlan *phase, const PlanTarget *target) {
        if (phase->action == PHASE_ACTION_IDLE) {
                fuzz_require(phase->iodepth == 0 && phase->runtime_ns > 0);
                return;
        }
        fuzz_require(phase->region_offset < target->size_bytes);
        fuzz_require(phase->region_offset % target->logical_block_bytes == 0);
        fuzz_require(phase->region_bytes <= target->size_bytes - phase->region_offset);
        fuzz_require((unsigned __int128) phase->stream_step_bytes * (phase->numjobs - 1) + phase->region_bytes <=
                     target->size_bytes - phase->region_offset);
        fuzz_require(phase->stream_step_bytes % target->logical_block_bytes == 0);
        fuzz_require(phase->limit_bytes > 0);
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                if (!rw_mode_uses(phase->rw, d))
                        continue;
                fuzz_require(phase->block_bytes[d] % target->logical_block_bytes == 0);
                fuzz_require(phase->n_blocks[d] >= 1);
                fuzz_require(phase->n_blocks[d] <= phase->region_bytes / phase->block_bytes[d]);
        }
        fuzz_require(!phase->has_planned_bytes || phase_plan_draws_amounts(phase) ||
                     phase->planned_write_bytes <= phase->limit_bytes);
}

static void check_plan(const Job *job, const PlanTarget *target) {
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_plan_ Plan *plan = NULL;

        if (plan_new(&plan, job, target, 1, &error) < 0) {
                fuzz_require(error.kind == ERROR_USAGE && error.message);
                return;
        }
        fuzz_require(plan->n_phases >= 1 && plan->n_phases <= JOB_N_PHASES_MAX);
        for (size_t i = 0; i < plan->n_phases; i++)
                check_bound(&plan->phases[i], target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const PlanTarget targets[] = {
                { .size_bytes = 0, .logical_block_bytes = 512 },
                { .size_bytes = 4096, .logical_block_bytes = 512 },
                { .size_bytes = 1000215216 * UINT64_C(512), .logical_block_bytes = 512, .can_discard = true },
                { .size_bytes = 64 * TIB, .logical_block_bytes = 4096, .can_discard = true },
                { .size_bytes = UINT64_MAX, .logical_block_bytes = 1, .can_discard = true },
        };
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_job_ Job *job = NULL;
        int r = job_parse(&job, "f", (const char *) data, size, &error);

        if (r < 0) {
                fuzz_require(error.kind == ERROR_USAGE && error.message && !job);
                return 0;
        }
        fuzz_require(job->text_length == size && memcmp(job->text, data, size) == 0);
        check_job(job);
        for (size_t i = 0; i < ELEMENTSOF(targets); i++)
                check_plan(job, &targets[i]);
        return 0;
}

/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "spec/plan.h"
#include "util/hash.h"
#include "util/macro.h"

static uint64_t hash_direction(uint64_t hash, const PhasePlan *plan, Direction d) {
        const BlockSplit *split = &plan->split[d];
        const ZoneSplit *zones = &plan->zones[d];

        hash = hash_mix64_2(hash, plan->block_bytes[d]);
        hash = hash_mix64_2(hash, plan->n_blocks[d]);
        hash = hash_mix64_2(hash, split->n);
        for (uint32_t i = 0; i < MIN(split->n, (uint32_t) SPLIT_N_MAX); i++)
                hash = hash_mix64_2(hash, (uint64_t) split->bytes[i] << 8 | split->percent[i]);
        hash = hash_mix64_2(hash, zones->n);
        for (uint32_t i = 0; i < MIN(zones->n, (uint32_t) SPLIT_N_MAX); i++)
                hash = hash_mix64_2(hash, (uint64_t) zones->access[i] << 8 | zones->size[i]);
        return hash;
}

/* It is kept with the run: what is added to a plan must change the hash only where it is used. */
uint64_t phase_plan_order_hash(const PhasePlan *plan) {
        const Content *content = &plan->content;
        uint64_t theta;

        memcpy(&theta, &plan->zipf_theta, sizeof(theta));
        const uint64_t values[] = {
                plan->action,           plan->rw,
                plan->read_percent,     plan->iodepth,
                plan->numjobs,          plan->workers,
                plan->region_offset,    plan->stream_step_bytes,
                plan->region_bytes,     plan->limit_bytes,
                plan->limit_ios,        plan->distribution,
                theta,                  plan->random_map,
                plan->seed,             content->is_zero,
                content->compress_percent, content->dedupe_percent,
        };
        uint64_t hash = 0;

        for (size_t i = 0; i < ELEMENTSOF(values); i++)
                hash = hash_mix64_2(hash, values[i]);
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                hash = hash_direction(hash, plan, d);
        return MAX(hash >> 1, UINT64_C(1));
}

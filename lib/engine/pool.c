/* SPDX-License-Identifier: MIT */

/* One number says what has been taken, so bytes and I/Os are taken together without a lock, and none gets lost. */

#include "engine/pool.h"

#include "spec/share.h"
#include "util/macro.h"

void pool_begin(Pool *ret, const PhasePlan *phase, const Positions *at) {
        PhasePlan *rest = &ret->rest;

        *rest = *phase;
        ret->is_on = phase_plan_pools(phase);
        for (uint32_t i = 0; i < at->n; i++) {
                uint64_t bytes = at->of[i].done_bytes;

                if (rest->limit_bytes != UINT64_MAX)
                        rest->limit_bytes -= MIN(rest->limit_bytes, bytes);
                rest->limit_ios -= MIN(rest->limit_ios, phase_plan_ios(phase, bytes));
        }
        ret->n_parts = ret->is_on ? phase_plan_n_parts(rest) : 0;
        atomic_store_explicit(&ret->n_taken, 0, memory_order_relaxed);
}

bool pool_take(Pool *pool, uint64_t *bytes, uint64_t *ios) {
        uint64_t part_bytes, part_ios, number;

        if (atomic_load_explicit(&pool->n_taken, memory_order_relaxed) >= pool->n_parts)
                return false;
        number = atomic_fetch_add_explicit(&pool->n_taken, 1, memory_order_relaxed);
        if (number >= pool->n_parts)
                return false;

        phase_plan_part(&pool->rest, number, pool->n_parts, &part_bytes, &part_ios);
        if (pool->rest.limit_bytes != UINT64_MAX)
                *bytes += part_bytes;
        if (pool->rest.limit_ios > 0)
                *ios += part_ios;
        return true;
}

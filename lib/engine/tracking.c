/* SPDX-License-Identifier: MIT */

#include "engine/tracking.h"

#include "util/macro.h"
#include "util/time.h"

static void publish(Tracking *t) {
        unsigned version = atomic_load_explicit(&t->version, memory_order_relaxed);

        atomic_store_explicit(&t->version, version + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&t->flushed, t->own.flushed, memory_order_relaxed);
        atomic_store_explicit(&t->n_maybes, t->own.n_maybes, memory_order_relaxed);
        for (uint32_t i = 0; i < t->own.n_maybes; i++) {
                atomic_store_explicit(&t->from[i], t->own.maybes[i].from, memory_order_relaxed);
                atomic_store_explicit(&t->to[i], t->own.maybes[i].to, memory_order_relaxed);
        }
        atomic_store_explicit(&t->version, version + 2, memory_order_release);
}

static uint64_t largest_block(const PhasePlan *share) {
        uint64_t bytes = 1;

        for (Direction d = DIRECTION_WRITE; d < N_DIRECTIONS; d++)
                if (rw_mode_uses(share->rw, d))
                        bytes = MAX(bytes, block_largest(&share->split[d], share->block_bytes[d]));
        return bytes;
}

void tracking_begin(Tracking *t, const PhasePlan *share, uint64_t number, const History *history) {
        t->is_on = share->is_tracked;
        if (!t->is_on)
                return;
        t->number = number;
        t->own = *history;
        t->is_flushing = t->is_dirty = false;
        t->flushed_at_ns = time_monotonic_ns();
        overlap_begin(t->overlap, largest_block(share));
        atomic_store_explicit(&t->ceiling, history->ceiling, memory_order_relaxed);
        publish(t);
}

void tracking_fail(Tracking *t, uint64_t index) {
        if (history_add_maybe(&t->own, index, index + 1))
                publish(t);
}

void tracking_flush_begins(Tracking *t, uint64_t low, uint64_t now_ns) {
        t->flush_low = low;
        t->flushed_at_ns = now_ns;
        t->is_flushing = true;
        t->is_dirty = false;
}

void tracking_flush_ends(Tracking *t, bool done) {
        t->is_flushing = false;
        if (done && t->flush_low > t->own.flushed) {
                t->own.flushed = t->flush_low;
                publish(t);
        }
}

bool tracking_read(const Tracking *t, History *ret) {
        unsigned version = atomic_load_explicit(&t->version, memory_order_acquire);
        History read = *ret;

        read.flushed = atomic_load_explicit(&t->flushed, memory_order_relaxed);
        read.n_maybes = MIN(atomic_load_explicit(&t->n_maybes, memory_order_relaxed), HISTORY_N_MAYBES_MAX);
        for (uint32_t i = 0; i < read.n_maybes; i++) {
                read.maybes[i].from = atomic_load_explicit(&t->from[i], memory_order_relaxed);
                read.maybes[i].to = atomic_load_explicit(&t->to[i], memory_order_relaxed);
        }
        atomic_thread_fence(memory_order_acquire);
        if (version % 2 == 1 || atomic_load_explicit(&t->version, memory_order_relaxed) != version)
                return false;
        *ret = read;
        return true;
}

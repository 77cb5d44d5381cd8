/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How many bytes may be written yet, by all ring threads together. A write takes its bytes before it is submitted, so
 * that never more is written; one that fails gives them back. Only where there is a limit do the threads share this.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Allowance {
        _Atomic uint64_t left_bytes;
        _Atomic bool is_refused; /* some write found too little left */
} Allowance;

static inline bool allowance_take(Allowance *allowance, uint64_t bytes) {
        uint64_t left = atomic_load_explicit(&allowance->left_bytes, memory_order_relaxed);

        do
                if (left < bytes) {
                        atomic_store_explicit(&allowance->is_refused, true, memory_order_relaxed);
                        return false;
                }
        while (!atomic_compare_exchange_weak_explicit(&allowance->left_bytes, &left, left - bytes,
                                                      memory_order_relaxed, memory_order_relaxed));
        return true;
}

static inline void allowance_give_back(Allowance *allowance, uint64_t bytes) {
        atomic_fetch_add_explicit(&allowance->left_bytes, bytes, memory_order_relaxed);
}

/* Whether no further write is to come. */
static inline bool allowance_is_spent(const Allowance *allowance) {
        return atomic_load_explicit(&allowance->is_refused, memory_order_relaxed) ||
               atomic_load_explicit(&allowance->left_bytes, memory_order_relaxed) == 0;
}

/* SPDX-License-Identifier: MIT */

#include "engine/pace.h"

#include "util/macro.h"

/* A wake-up that issues several is not put off by more: bursts shorter than this are no matter to any drive. */
#define BURST_NS_MAX (64 * NSEC_PER_USEC)

void pace_begin(Pace *ret, const PhasePlan *plan, uint64_t running_ns) {
        *ret = (Pace){ .plan = plan, .began_ns = running_ns };
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                ret->is_limited |= plan->rate_bytes[d] > 0 || plan->rate_iops[d] > 0;
}

static uint64_t time_of(uint64_t n, uint64_t n_more, uint64_t each, uint64_t per_second) {
        unsigned __int128 amount = n + (unsigned __int128) n_more * each;

        return per_second > 0 ? (uint64_t) MIN(amount * NSEC_PER_SEC / per_second, (unsigned __int128) INT64_MAX) : 0;
}

uint64_t pace_due_ns(const Pace *pace, Direction direction, uint64_t n, uint64_t bytes) {
        uint64_t by_ios = time_of(pace->n_ios[direction], n, 1, pace->plan->rate_iops[direction]);
        uint64_t by_bytes = time_of(pace->n_bytes[direction], n, bytes, pace->plan->rate_bytes[direction]);

        return pace->began_ns + MAX(by_ios, by_bytes);
}

void pace_count(Pace *pace, Direction direction, uint64_t bytes) {
        pace->n_ios[direction]++;
        pace->n_bytes[direction] += bytes;
}

uint64_t pace_wait_ns(const Pace *pace, Direction direction, uint64_t bytes, uint64_t n_free, uint64_t running_ns) {
        uint64_t due_ns = pace_due_ns(pace, direction, 0, bytes);

        if (due_ns <= running_ns)
                return 0;
        return MIN(pace_due_ns(pace, direction, n_free / 2, bytes), due_ns + BURST_NS_MAX) - running_ns;
}

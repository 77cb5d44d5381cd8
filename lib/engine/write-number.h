/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The number that each sector carries of the write it is of: which phase, which ring thread's share of it, which
 * index of the order there. So a sector tells by itself what its run meant to write there and when; of two writes to
 * one place the later one has the greater number, for no two shares of a phase have a place in common.
 *
 * An index that is submitted again after an interruption has the same number, and writes the same.
 */

#include "sample/history.h"

#define WRITE_PHASES_MAX 2047U /* the greatest number of all is left to what is no write */
#define WRITE_SHARES_MAX 32U

static inline uint64_t write_number(uint32_t phase, uint32_t share, uint64_t index) {
        return ((uint64_t) phase * WRITE_SHARES_MAX + share) * HISTORY_INDEX_MAX + index;
}

static inline uint32_t write_number_phase(uint64_t number) {
        return (uint32_t) (number / HISTORY_INDEX_MAX / WRITE_SHARES_MAX);
}

static inline uint32_t write_number_share(uint64_t number) {
        return (uint32_t) (number / HISTORY_INDEX_MAX % WRITE_SHARES_MAX);
}

static inline uint64_t write_number_index(uint64_t number) {
        return number % HISTORY_INDEX_MAX;
}

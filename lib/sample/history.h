/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What is known of the writes of one ring thread's share of a phase whose contents are to be verified, besides its
 * Position: which indices may or may not have been written ("maybe"), and how far that which was is safe from a power
 * cut. Writes that overlap are submitted one after another, so all others took effect in the order of their indices.
 *
 * No index at or above `ceiling` is submitted before a higher one has been recorded: that is what makes the history
 * hold whatever dies.
 */

#include <stdbool.h>
#include <stdint.h>

/* Beyond it the two ranges that are nearest to each other become one, with what lies between. */
#define HISTORY_N_MAYBES_MAX 32U

/* So many indices may be submitted without a further word to the database. */
#define HISTORY_RESERVE (UINT64_C(1) << 26)

/* Indices are below that in any case: 15 years of a million a second. */
#define HISTORY_INDEX_MAX (UINT64_C(1) << 47)

typedef struct IndexRange {
        uint64_t from, to; /* [from, to) */
} IndexRange;

typedef struct History {
        uint64_t end;     /* [0, end) has completed; the Position tells that, so it is neither sent nor stored */
        uint64_t resumed; /* what this process does of it begins there; UINT64_MAX: nothing. Neither sent nor stored */
        uint64_t ceiling; /* nothing from there on has been submitted, ever */
        uint64_t reach;   /* [end, reach) may have been submitted by a process that died */
        uint64_t flushed; /* what is below and was written has been flushed from the device's cache */
        uint32_t n_maybes;
        IndexRange maybes[HISTORY_N_MAYBES_MAX + 1]; /* in order, with gaps between; the last one is scratch */
} History;

/* Of a share that has not begun. */
static inline History history_new(void) {
        return (History){ .ceiling = HISTORY_RESERVE };
}

/* Whether anything changed by it. */
bool history_add_maybe(History *history, uint64_t from, uint64_t to);

/* Of an index that may have been submitted at all. */
bool history_is_maybe(const History *history, uint64_t index);

/* Power was lost, and with it perhaps all of [0, end) that had not been flushed. */
void history_lose_cache(History *history, uint64_t end);

/* Whether it can be: of what comes from outside. */
bool history_is_valid(const History *history);

/* The histories of all shares of all phases. */
typedef struct Histories {
        uint32_t n_phases;
        uint32_t *first; /* of each phase, and behind the last */
        History *of;     /* of share k of phase p: first[p] + k */
} Histories;

/* n_shares: of each phase. NULL if memory ran out. */
Histories *histories_new(const uint32_t *n_shares, uint32_t n_phases);
Histories *histories_free(Histories *histories);

/* NULL if there is no such share. */
History *histories_at(const Histories *histories, uint32_t phase, uint32_t share);

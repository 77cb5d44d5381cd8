/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a ring thread counts, handed to another thread without either waiting for the other. One writer
 * (the ring thread), one reader (the engine's owner).
 */

#include <stdatomic.h>

#include "engine/engine.h"

/* What was counted since the reader last took it. */
typedef struct TallyCounts {
        uint64_t bytes[N_DIRECTIONS];
        Histogram latency[N_DIRECTIONS]; /* their counts are the I/Os completed without error */
        uint64_t errors;
        unsigned n_errnos;
        EngineErrno errnos[ENGINE_N_ERRNOS_MAX];
} TallyCounts;

typedef struct Tally {
        TallyCounts counts[2];
        _Atomic unsigned active;  /* the one that the next burst goes to */
        _Atomic unsigned writing; /* 1 + the one that a burst is going to; 0: no burst */

        /* The reader's own. */
        bool pending; /* the inactive one was still written to when last looked at */
        Counters totals; /* since tally_begin_phase() */
        unsigned n_errnos;
        EngineErrno errnos[ENGINE_N_ERRNOS_MAX]; /* since the beginning */
} Tally;

/* The writer counts between these two; never blocks. */
TallyCounts *tally_begin(Tally *tally);
void tally_end(Tally *tally);

/* By the reader: whether a burst goes on. */
bool tally_is_counting(const Tally *tally);

/* One completion with an error, by the writer. */
void tally_count_error(TallyCounts *counts, int errnum, uint64_t offset);

/*
 * Adds to the reader's totals what was counted so far: all of it, unless a burst goes on. That one comes next time, and
 * with it what its set held before.
 */
void tally_collect(Tally *tally);

/* Adds the totals of a tally to *counters, and its errnos to others. */
void tally_add_totals(const Tally *tally, Counters *counters);
void tally_add_errnos(const Tally *tally, EngineErrno *errnos, unsigned *n);

/* Sets the totals to zero, errnos excepted; by the reader, while the writer is parked. */
void tally_begin_phase(Tally *tally);

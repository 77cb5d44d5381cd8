/* SPDX-License-Identifier: MIT */

/*
 * Two sets of counts: the ring thread adds to the active one in bursts, one a batch of completions; the reader
 * makes the other one active and takes what is in the first, once no burst goes there. So a snapshot is exact
 * (I/Os, bytes, errors and histograms belong together) although both are written without locked
 * instructions, and it costs the writer one store with a fence a batch.
 *
 * The order of the two stores and loads on either side is sequentially consistent: either the writer sees that
 * the other set became active and starts anew there, or the reader sees that the burst goes on.
 */

#include "engine/tally.h"

#include <errno.h>
#include <string.h>

#include "util/time.h"

/* A burst lasts microseconds, unless its thread was preempted; then the reader does not wait for it. */
#define COLLECT_N_TRIES 2000

TallyCounts *tally_begin(Tally *tally) {
        unsigned active;

        do {
                active = atomic_load_explicit(&tally->active, memory_order_relaxed);
                atomic_store_explicit(&tally->writing, active + 1, memory_order_seq_cst);
        } while (atomic_load_explicit(&tally->active, memory_order_seq_cst) != active);

        return &tally->counts[active];
}

void tally_end(Tally *tally) {
        atomic_store_explicit(&tally->writing, 0, memory_order_release);
}

bool tally_is_counting(const Tally *tally) {
        return atomic_load_explicit(&tally->writing, memory_order_acquire) != 0;
}

/* The last entry is kept for EIO, as which further kinds count. */
static EngineErrno *errnos_find(EngineErrno *errnos, unsigned *n, int errnum) {
        for (unsigned i = 0; i < *n; i++)
                if (errnos[i].errnum == errnum)
                        return &errnos[i];

        if (*n + 1 >= ENGINE_N_ERRNOS_MAX && errnum != EIO)
                return errnos_find(errnos, n, EIO);

        errnos[*n] = (EngineErrno){ .errnum = errnum };
        return &errnos[(*n)++];
}

static void errnos_add(EngineErrno *errnos, unsigned *n, const EngineErrno *more) {
        EngineErrno *e = errnos_find(errnos, n, more->errnum);

        if (e->count == 0) {
                e->first_at_ns = more->first_at_ns;
                e->first_offset = more->first_offset;
        }
        e->count += more->count;
        e->last_at_ns = more->last_at_ns;
        e->last_offset = more->last_offset;
}

void tally_count_error(TallyCounts *counts, int errnum, uint64_t offset) {
        int64_t now = time_realtime_ns();

        counts->errors++;
        errnos_add(counts->errnos, &counts->n_errnos, &(EngineErrno){
                .errnum = errnum,
                .count = 1,
                .first_at_ns = now,
                .last_at_ns = now,
                .first_offset = offset,
                .last_offset = offset,
        });
}

static void take(Tally *tally, TallyCounts *counts) {
        Counters *totals = &tally->totals;

        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                totals->ios[d] += histogram_count(&counts->latency[d]);
                totals->bytes[d] += counts->bytes[d];
                histogram_add(&totals->latency[d], &counts->latency[d]);
        }
        totals->errors += counts->errors;
        for (unsigned i = 0; i < counts->n_errnos; i++)
                errnos_add(tally->errnos, &tally->n_errnos, &counts->errnos[i]);

        memset(counts, 0, sizeof *counts);
}

/* False: a burst goes to this set, and the reader does not wait for its end. */
static bool drain(Tally *tally, unsigned set) {
        bool is_written = true;

        for (unsigned i = 0; i < COLLECT_N_TRIES && is_written; i++)
                is_written = atomic_load_explicit(&tally->writing, memory_order_seq_cst) == set + 1;
        if (!is_written)
                take(tally, &tally->counts[set]);
        return !is_written;
}

void tally_collect(Tally *tally) {
        unsigned active = atomic_load_explicit(&tally->active, memory_order_relaxed);

        if (tally->pending && !drain(tally, 1 - active))
                return;
        atomic_store_explicit(&tally->active, 1 - active, memory_order_seq_cst);
        tally->pending = !drain(tally, active);
}

void tally_add_totals(const Tally *tally, Counters *counters) {
        const Counters *totals = &tally->totals;

        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                counters->ios[d] += totals->ios[d];
                counters->bytes[d] += totals->bytes[d];
                histogram_add(&counters->latency[d], &totals->latency[d]);
        }
        counters->errors += totals->errors;
}

/* They were counted at the same time: the wall clock tells which was first. */
void tally_add_errnos(const Tally *tally, EngineErrno *errnos, unsigned *n) {
        for (unsigned i = 0; i < tally->n_errnos; i++) {
                EngineErrno more = tally->errnos[i];
                EngineErrno *e = errnos_find(errnos, n, more.errnum);

                if (e->count > 0 && e->first_at_ns <= more.first_at_ns) {
                        more.first_at_ns = e->first_at_ns;
                        more.first_offset = e->first_offset;
                }
                if (e->count > 0 && e->last_at_ns > more.last_at_ns) {
                        more.last_at_ns = e->last_at_ns;
                        more.last_offset = e->last_offset;
                }
                more.errnum = e->errnum;
                more.count += e->count;
                *e = more;
        }
}

void tally_begin_phase(Tally *tally) {
        tally_collect(tally);
        memset(&tally->totals, 0, sizeof tally->totals);
}

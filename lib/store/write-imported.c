/* SPDX-License-Identifier: MIT */

/*
 * Samples that another tool recorded. There may be millions of them, in one transaction, so each is one narrow row:
 * of latencies there are no histograms, and the totals of the phase are written once, at its end.
 */

#include "store/store-internal.h"

/* 0 is a latency that nobody told. */
static void bind_mean(Binder *b, uint64_t mean_ns) {
        bind_u64_if(b, mean_ns > 0, mean_ns);
}

int store_insert_imported_sample(Store *store, uint32_t run, const Sample *sample, const StoreLatency *latency,
                                 Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_IMPORTED_SAMPLE, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_sample(&b, run, sample);
        bind_mean(&b, latency->mean_ns);
        bind_u64_if(&b, latency->known, latency->p50_ns);
        bind_u64_if(&b, latency->known, latency->p99_ns);
        bind_u64_if(&b, latency->known, latency->max_ns);
        bind_double(&b, sample->cpu_percent);
        bind_double(&b, sample->temperature_c);
        bind_double(&b, sample->worker_cpu_percent);
        bind_double(&b, sample->ring_cpu_percent);
        bind_double(&b, sample->held_percent);
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                bind_mean(&b, latency->direction_mean_ns[d]);
        return statement_step(store, stmt, error, "add a sample to");
}

int store_set_imported_totals(Store *store, uint32_t run, const StorePhase *totals, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_IMPORTED_TOTALS, &stmt, error);
        if (r < 0)
                return r;

        uint64_t ramp_ios[N_DIRECTIONS], ramp_bytes[N_DIRECTIONS];
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                ramp_ios[d] = totals->ios[d] - totals->counted_ios[d];
                ramp_bytes[d] = totals->bytes[d] - totals->counted_bytes[d];
        }
        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_u64(&b, totals->index);
        bind_u64(&b, totals->n_samples);
        bind_u64(&b, totals->first_elapsed_ns);
        bind_u64(&b, totals->elapsed_ns);
        bind_directions(&b, totals->ios);
        bind_directions(&b, totals->bytes);
        bind_u64(&b, totals->errors);
        bind_mean(&b, totals->latency_mean_ns);
        bind_u64(&b, totals->ramp_elapsed_ns);
        bind_directions(&b, ramp_ios);
        bind_directions(&b, ramp_bytes);
        return statement_update_one(store, stmt, run, error);
}

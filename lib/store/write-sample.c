/* SPDX-License-Identifier: MIT */

/*
 * A sample is several writes: its row, its histograms, the totals of its phase, and where its order of I/O stands. The
 * totals cost one more page a second and save every reader from adding up all samples of a run, which after
 * weeks of writing would take seconds.
 *
 * The row comes first: if it contradicts the database (a seq that is there already), nothing else is written.
 */

#include "store/store-internal.h"

typedef struct Encoded {
        uint8_t data[N_DIRECTIONS][HISTOGRAM_ENCODED_MAX];
        size_t length[N_DIRECTIONS];
} Encoded;

/* NULLs where nothing was counted. */
static void bind_percentile(Binder *b, const Histogram *h, double fraction) {
        uint64_t ns = 0;
        int r = histogram_percentile(h, fraction, &ns);

        bind_u64_if(b, r >= 0, ns);
}

static void bind_mean(Binder *b, const Histogram *h) {
        uint64_t ns = 0;
        int r = histogram_mean(h, &ns);

        bind_u64_if(b, r >= 0, ns);
}

static void bind_max(Binder *b, const Histogram *h) {
        uint64_t ns = 0;
        int r = histogram_max(h, &ns);

        bind_u64_if(b, r >= 0, ns);
}

void bind_sample(Binder *b, uint32_t run, const Sample *sample) {
        bind_u64(b, run);
        bind_u64(b, sample->seq);
        bind_u64(b, sample->phase);
        bind_i64(b, sample->at_ns);
        bind_u64(b, sample->elapsed_ns);
        bind_u64(b, sample->duration_ns);
        bind_directions(b, sample->ios);
        bind_directions(b, sample->bytes);
        bind_u64(b, sample->errors);
        bind_u64(b, sample->in_flight);
        bind_u64(b, sample->oldest_ns);
}

static void bind_encoded(Binder *b, const Encoded *encoded) {
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                bind_blob(b, encoded->data[d], encoded->length[d]);
}

static int insert_row(Store *store, uint32_t run, const Sample *sample, const Histogram *all, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_SAMPLE, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_sample(&b, run, sample);
        bind_mean(&b, all);
        bind_percentile(&b, all, 0.50);
        bind_percentile(&b, all, 0.99);
        bind_max(&b, all);
        bind_double(&b, sample->cpu_percent);
        bind_double(&b, sample->temperature_c);
        bind_double(&b, sample->worker_cpu_percent);
        bind_double(&b, sample->ring_cpu_percent);
        bind_double(&b, sample->held_percent);
        return statement_step(store, stmt, error, "add a sample to");
}

static int insert_latencies(Store *store, uint32_t run, const Sample *sample, Encoded *encoded, Error *error) {
        size_t total = 0;
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                encoded->length[d] = histogram_encode(&sample->latency[d], encoded->data[d], sizeof encoded->data[d]);
                total += encoded->length[d];
        }
        if (total == 0)
                return 0;

        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_LATENCY, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_u64(&b, sample->seq);
        bind_encoded(&b, encoded);
        return statement_step(store, stmt, error, "add a sample to");
}

/*
 * Adds more to *total. A worker that was taken over can report any counts: a sum that does not fit into 64 bits would
 * not decode again, so from there on the total stays as it is.
 */
static void add_bounded(Histogram *total, const Histogram *more) {
        uint64_t sum;

        if (!__builtin_add_overflow(histogram_count(total), histogram_count(more), &sum))
                histogram_add(total, more);
}

/* Of a phase without samples this one is the first, and its beginning the phase's. */
static bool is_in_ramp(sqlite3_stmt *stmt, const Sample *sample) {
        Columns c = { .stmt = stmt, .next = N_DIRECTIONS };
        uint64_t ramp_ns = column_u64(&c), began_ns = sample_began_ns(sample);

        return sample_ramp_holds(began_ns, column_is_null(&c) ? began_ns : column_u64(&c), ramp_ns);
}

/*
 * Makes total the phase's histograms so far, with those of the sample unless that began in the phase's ramp: means
 * and percentiles are of what came after.
 */
static int sum_up_latency(Store *store, uint32_t run, const Sample *sample, Histogram total[static N_DIRECTIONS],
                          bool *ret_in_ramp, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_TOTALS_GET, &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, run);
        sqlite3_bind_int64(stmt, 2, sample->phase);
        r = statement_step(store, stmt, error, "read");
        if (r < 0)
                return r;

        *ret_in_ramp = is_in_ramp(stmt, sample);
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                const void *data = sqlite3_column_blob(stmt, (int) d) ?: ""; /* NULL: empty so far */
                size_t length = (size_t) sqlite3_column_bytes(stmt, (int) d);

                if (histogram_decode(&total[d], data, length) < 0)
                        return error_set(error, ERROR_UNREACHABLE, EBADMSG,
                                         "%s is corrupt: histogram of phase %u of run %u", store->path, sample->phase,
                                         run);
                if (!*ret_in_ramp)
                        add_bounded(&total[d], &sample->latency[d]);
        }
        return 0;
}

static void add_all(Histogram *all, const Histogram of[static N_DIRECTIONS]) {
        *all = of[0];
        for (unsigned d = 1; d < N_DIRECTIONS; d++)
                histogram_add(all, &of[d]);
}

static int set_totals(Store *store, uint32_t run, const Sample *sample, bool in_ramp, const Histogram *all,
                      const Encoded *encoded, Error *error) {
        static const uint64_t none[N_DIRECTIONS];
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_TOTALS_SET, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_u64(&b, sample->phase);
        bind_u64(&b, sample_began_ns(sample));
        bind_u64(&b, sample->duration_ns);
        bind_directions(&b, sample->ios);
        bind_directions(&b, sample->bytes);
        bind_u64(&b, sample->errors);
        bind_mean(&b, all);
        bind_percentile(&b, all, 0.50);
        bind_percentile(&b, all, 0.99);
        bind_percentile(&b, all, 0.999);
        bind_max(&b, all);
        bind_encoded(&b, encoded);
        bind_u64(&b, sample->boot_ns);
        bind_u64(&b, in_ramp ? sample->duration_ns : 0);
        bind_directions(&b, in_ramp ? sample->ios : none);
        bind_directions(&b, in_ramp ? sample->bytes : none);
        return statement_step(store, stmt, error, "add a sample to");
}

static int set_position(Store *store, uint32_t run, uint32_t phase, uint32_t share, const Position *position,
                        Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_POSITION, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_u64(&b, phase);
        bind_u64(&b, share);
        bind_u64(&b, position->first_index);
        bind_u64(&b, position->low_index);
        bind_u64(&b, position->next_index);
        bind_u64(&b, position->next_write);
        bind_u64(&b, position->done_bytes);
        bind_u64(&b, position->settled_from);
        bind_u64(&b, position->settled_to);
        return statement_step(store, stmt, error, "add a sample to");
}

static int set_positions(Store *store, uint32_t run, const Sample *sample, Error *error) {
        int r = 0;

        for (uint32_t i = 0; r >= 0 && i < sample->positions.n; i++)
                r = set_position(store, run, sample->phase, i, &sample->positions.of[i], error);
        return r;
}

/* Histograms are large; one allocation keeps them off the stack of a thread. */
typedef struct Scratch {
        Histogram total[N_DIRECTIONS];
        Histogram all;
        Encoded encoded;
} Scratch;

int store_insert_sample(Store *store, uint32_t run, const Sample *sample, Error *error) {
        _cleanup_free_ Scratch *scratch = malloc(sizeof *scratch);
        bool in_ramp;

        if (!scratch)
                return store_out_of_memory(error);

        add_all(&scratch->all, sample->latency);
        int r = insert_row(store, run, sample, &scratch->all, error);
        if (r < 0)
                return r;
        r = insert_latencies(store, run, sample, &scratch->encoded, error);
        if (r < 0)
                return r;

        r = sum_up_latency(store, run, sample, scratch->total, &in_ramp, error);
        if (r < 0)
                return r;

        add_all(&scratch->all, scratch->total);
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                scratch->encoded.length[d] =
                        histogram_encode(&scratch->total[d], scratch->encoded.data[d], sizeof scratch->encoded.data[d]);
        r = set_totals(store, run, sample, in_ramp, &scratch->all, &scratch->encoded, error);
        return r < 0 ? r : set_positions(store, run, sample, error);
}

/* SPDX-License-Identifier: MIT */

/*
 * Samples, in pages: a page is read whole, its transaction ended, and only then handed on. So a reader
 * that writes to a slow terminal, or sleeps in a pager over night, holds nothing that would keep
 * the service from checkpointing.
 */

#include "store/store-internal.h"

#include <assert.h>
#include <string.h>

#include "util/macro.h"

#define PAGE_ROWS 4096
#define PAGE_ROWS_WITH_LATENCY 512

/* A Sample without its histograms, which are 90 KB: kept encoded until it is its turn; and without positions. */
typedef struct Row {
        uint8_t scalars[offsetof(Sample, positions)];
        StoreLatency latency;
        void *histogram[N_DIRECTIONS];
        size_t histogram_length[N_DIRECTIONS];
} Row;
static_assert(offsetof(Sample, latency) >= offsetof(Sample, positions) + sizeof(Positions) &&
              offsetof(Sample, latency) + sizeof(((Sample *) NULL)->latency) == sizeof(Sample),
              "positions and histograms are a sample's last members");

typedef struct Page {
        Row *rows;
        size_t n;
        size_t n_max;
        Sample *sample; /* the one that is shown */
} Page;

static void page_clear(Page *page) {
        for (size_t i = 0; i < page->n; i++)
                for (unsigned d = 0; d < N_DIRECTIONS; d++)
                        free(page->rows[i].histogram[d]);
        page->n = 0;
}

static void page_free(Page *page) {
        page_clear(page);
        free(page->rows);
        free(page->sample);
}

#define SAMPLE_COLUMNS                                                                                       \
        "s.seq, s.phase, s.at_ns, s.elapsed_ns, s.duration_ns, s.read_ios, s.write_ios, s.trim_ios,"         \
        " s.read_bytes, s.write_bytes, s.trim_bytes, s.errors, s.in_flight, s.oldest_ns,"                    \
        " s.cpu_percent, s.temperature_c, s.worker_cpu_percent, s.ring_cpu_percent, s.held_percent,"         \
        " s.latency_mean_ns, s.latency_p50_ns IS NOT NULL, s.latency_p50_ns, s.latency_p99_ns, s.latency_max_ns"
#define SAMPLE_CONDITIONS                                                                                    \
        " WHERE s.run = ?1 AND s.seq >= ?2 AND s.elapsed_ns BETWEEN ?3 AND ?4 AND (?5 < 0 OR s.phase = ?5)"  \
        " ORDER BY s.seq LIMIT ?6"

static const char *page_sql(bool with_latency) {
        return with_latency ?
                "SELECT " SAMPLE_COLUMNS ", s.read_latency_mean_ns, s.write_latency_mean_ns, s.trim_latency_mean_ns,"
                " l.read_latency, l.write_latency, l.trim_latency"
                " FROM samples AS s LEFT JOIN latencies AS l USING (run, seq)" SAMPLE_CONDITIONS :
                "SELECT " SAMPLE_COLUMNS " FROM samples AS s" SAMPLE_CONDITIONS;
}

static void read_scalars(Columns *c, Sample *sample) {
        sample->seq = column_u64(c);
        sample->phase = column_u32(c);
        sample->at_ns = column_i64(c);
        sample->elapsed_ns = column_u64(c);
        sample->duration_ns = column_u64(c);
        column_directions(c, sample->ios);
        column_directions(c, sample->bytes);
        sample->errors = column_u64(c);
        sample->in_flight = column_u32(c);
        sample->oldest_ns = column_u64(c);
        sample->cpu_percent = column_double(c);
        sample->temperature_c = column_double(c);
        sample->worker_cpu_percent = column_double(c);
        sample->ring_cpu_percent = column_double(c);
        sample->held_percent = column_double(c);
}

static int copy_blob(Columns *c, void **ret, size_t *ret_length) {
        const void *data = sqlite3_column_blob(c->stmt, c->next);
        size_t length = (size_t) sqlite3_column_bytes(c->stmt, c->next);
        c->next++;
        if (length == 0)
                return 0;

        void *copy = malloc(length);
        if (!copy)
                return -ENOMEM;
        *ret = memcpy(copy, data, length);
        *ret_length = length;
        return 0;
}

static int page_read_row(Page *page, sqlite3_stmt *stmt, bool with_latency) {
        Row *row = &page->rows[page->n++];
        Columns c = { .stmt = stmt };

        *row = (Row) {};
        read_scalars(&c, page->sample);
        memcpy(row->scalars, page->sample, sizeof row->scalars);
        row->latency.mean_ns = column_u64(&c);
        row->latency.known = column_i64(&c) != 0;
        row->latency.p50_ns = column_u64(&c);
        row->latency.p99_ns = column_u64(&c);
        row->latency.max_ns = column_u64(&c);

        if (with_latency)
                column_directions(&c, row->latency.direction_mean_ns);
        for (unsigned d = 0; with_latency && d < N_DIRECTIONS; d++)
                if (copy_blob(&c, &row->histogram[d], &row->histogram_length[d]) < 0)
                        return -ENOMEM;
        return 0;
}

/* Fills the page from seq on; all in the life of one statement, which is one transaction. */
static int page_read(Page *page, Store *store, const StoreSampleQuery *query, uint64_t seq, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store, page_sql(query->with_latency), &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, query->run);
        bind_u64(&b, seq);
        bind_u64(&b, query->from_ns);
        bind_u64(&b, query->to_ns);
        bind_i64(&b, query->phase);
        bind_u64(&b, page->n_max);

        while ((r = statement_step(store, stmt, error, "read")) > 0)
                if (page_read_row(page, stmt, query->with_latency) < 0)
                        return store_out_of_memory(error);
        return r;
}

static int decode_histograms(Row *row, Sample *sample) {
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                Histogram *h = &sample->latency[d];

                if (row->histogram_length[d] == 0) {
                        memset(h, 0, sizeof *h);
                        continue;
                }
                if (histogram_decode(h, row->histogram[d], row->histogram_length[d]) < 0)
                        return -EBADMSG;
                if (row->latency.direction_mean_ns[d] == 0)
                        histogram_mean(h, &row->latency.direction_mean_ns[d]);
        }
        return 0;
}

static int page_show(Page *page, Store *store, const StoreSampleQuery *query, StoreSampleHandler handler,
                     void *userdata, Error *error) {
        Sample *sample = page->sample;

        for (size_t i = 0; i < page->n; i++) {
                Row *row = &page->rows[i];

                memcpy(sample, row->scalars, sizeof row->scalars);
                if (query->with_latency && decode_histograms(row, sample) < 0)
                        return error_set(error, ERROR_UNREACHABLE, EBADMSG, "%s is corrupt: histogram of a sample",
                                         store->path);

                int r = handler(sample, &row->latency, userdata);
                if (r < 0)
                        return r;
        }
        return 0;
}

int store_each_sample(Store *store, const StoreSampleQuery *query, StoreSampleHandler handler, void *userdata,
                      Error *error) {
        _cleanup_(page_free) Page page = { .n_max = query->with_latency ? PAGE_ROWS_WITH_LATENCY : PAGE_ROWS };
        uint64_t seq = query->first_seq;
        bool full;

        page.rows = calloc(page.n_max, sizeof *page.rows);
        page.sample = calloc(1, sizeof *page.sample);
        if (!page.rows || !page.sample)
                return store_out_of_memory(error);

        do {
                int r = page_read(&page, store, query, seq, error);
                if (r >= 0)
                        r = page_show(&page, store, query, handler, userdata, error);
                if (r < 0)
                        return r;

                full = page.n == page.n_max;
                seq = page.sample->seq + 1;
                page_clear(&page);
        } while (full);

        return 0;
}

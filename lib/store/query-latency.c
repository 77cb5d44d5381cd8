/* SPDX-License-Identifier: MIT */

/*
 * Latencies of many samples as one histogram. They are added as they are encoded: hours of samples whose histograms
 * are decoded one by one, each of some thousand buckets of which a dozen are in use, take ten times as long.
 */

#include "store/store-internal.h"

#define PAGE_ROWS 4096

static const char *const sum_sql[N_DIRECTIONS] = {
#define SUM_SQL(column)                                                                                          \
        "SELECT s.seq, l." column " FROM samples AS s JOIN latencies AS l USING (run, seq)"                      \
        " WHERE s.run = ?1 AND s.seq >= ?2 AND s.elapsed_ns BETWEEN ?3 AND ?4 AND (?5 < 0 OR s.phase = ?5)"      \
        " AND s.latency_p50_ns IS NOT NULL ORDER BY s.seq LIMIT ?6"
        [DIRECTION_READ] = SUM_SQL("read_latency"),
        [DIRECTION_WRITE] = SUM_SQL("write_latency"),
        [DIRECTION_TRIM] = SUM_SQL("trim_latency"),
};

/* Adds a page from *seq on, which it moves behind the page. Returns how many rows it had. */
static int sum_page(Store *store, const StoreSampleQuery *query, Direction direction, uint64_t *seq, Histogram *sum,
                    Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int n = 0, r = statement_prepare(store, sum_sql[direction], &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, query->run);
        bind_u64(&b, *seq);
        bind_u64(&b, query->from_ns);
        bind_u64(&b, query->to_ns);
        bind_i64(&b, query->phase);
        bind_u64(&b, PAGE_ROWS);

        while ((r = statement_step(store, stmt, error, "read")) > 0) {
                Columns c = { .stmt = stmt };
                *seq = column_u64(&c) + 1;
                const void *data = sqlite3_column_blob(stmt, c.next);
                if (histogram_add_encoded(sum, data, (size_t) sqlite3_column_bytes(stmt, c.next)) < 0)
                        return error_set(error, ERROR_UNREACHABLE, EBADMSG, "%s is corrupt: histogram of a sample",
                                         store->path);
                n++;
        }
        return r < 0 ? r : n;
}

int store_sum_latency(Store *store, const StoreSampleQuery *query, Direction direction, Histogram *ret, Error *error) {
        _cleanup_free_ Histogram *sum = calloc(1, sizeof *sum);
        uint64_t seq = query->first_seq;
        int n;

        if (!sum)
                return store_out_of_memory(error);
        do {
                n = sum_page(store, query, direction, &seq, sum, error);
                if (n < 0)
                        return n;
        } while (n == PAGE_ROWS);

        *ret = *sum;
        return 0;
}

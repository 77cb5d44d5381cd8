/* SPDX-License-Identifier: MIT */

/* Histories of what is written, and what came of reading it back. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/store-internal.h"
#include "util/macro.h"

/* A row of a ring thread's share: run, phase, share, and what follows. */
static int write_share(Store *store, WriteKind kind, uint32_t run, uint32_t phase, uint32_t share,
                       const uint64_t *values, size_t n, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, kind, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_u64(&b, phase);
        bind_u64(&b, share);
        for (size_t i = 0; i < n; i++)
                bind_u64(&b, values[i]);
        return statement_step(store, stmt, error, "write to");
}

int store_set_history(Store *store, uint32_t run, uint32_t phase, uint32_t share, const History *history,
                      Error *error) {
        const uint64_t values[] = { history->ceiling, history->reach, history->flushed };
        int r = write_share(store, WRITE_HISTORY, run, phase, share, values, ELEMENTSOF(values), error);

        if (r >= 0)
                r = write_share(store, WRITE_MAYBES_CLEAR, run, phase, share, NULL, 0, error);
        for (uint32_t i = 0; r >= 0 && i < history->n_maybes; i++) {
                const uint64_t range[] = { history->maybes[i].from, history->maybes[i].to };

                r = write_share(store, WRITE_MAYBE, run, phase, share, range, ELEMENTSOF(range), error);
        }
        return r;
}

int store_set_verification(Store *store, uint32_t run, uint32_t phase, const Verification *verification,
                           Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_VERIFICATION, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_u64(&b, phase);
        bind_u64(&b, verification->asked_bytes);
        bind_u64(&b, verification->checked_bytes);
        for (unsigned i = 0; i < N_MISMATCHES; i++)
                bind_u64(&b, verification->n_blocks[i]);
        return statement_step(store, stmt, error, "write to");
}

int store_insert_finding(Store *store, uint32_t run, const StoreFinding *finding, Error *error) {
        _cleanup_reset_ sqlite3_stmt *stmt = NULL;
        int r = statement_write(store, WRITE_FINDING, &stmt, error);
        if (r < 0)
                return r;

        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_u64(&b, finding->phase);
        bind_text(&b, mismatch_name(finding->kind));
        bind_u64(&b, finding->offset);
        bind_u64(&b, finding->bytes);
        bind_text(&b, finding->detail);
        return statement_step(store, stmt, error, "write to");
}

/* --- reading --- */

static int corrupt(Store *store, uint32_t run, Error *error) {
        return error_set(error, ERROR_UNREACHABLE, EBADMSG, "%s is corrupt: what run %u has written", store->path, run);
}

static int read_maybes(Store *store, uint32_t run, Standing *standing, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store, "SELECT phase, share, from_index, to_index FROM maybes WHERE run = ?"
                                  " ORDER BY phase, share, from_index", &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, run);
        while ((r = statement_step(store, stmt, error, "read")) > 0) {
                Columns c = { .stmt = stmt };
                uint32_t phase = column_u32(&c), share = column_u32(&c);
                uint64_t from = column_u64(&c), to = column_u64(&c);
                History *history = histories_at(standing->histories, phase, share);

                if (!history)
                        return corrupt(store, run, error);
                history_add_maybe(history, from, to);
        }
        return r;
}

int store_read_histories(Store *store, uint32_t run, Standing *standing, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store, "SELECT phase, share, ceiling_index, reach_index, flushed_index FROM histories"
                                  " WHERE run = ?", &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, run);
        while ((r = statement_step(store, stmt, error, "read")) > 0) {
                Columns c = { .stmt = stmt };
                uint32_t phase = column_u32(&c), share = column_u32(&c);
                History *history = histories_at(standing->histories, phase, share);

                if (!history)
                        return corrupt(store, run, error);
                history->ceiling = column_u64(&c);
                history->reach = column_u64(&c);
                history->flushed = column_u64(&c);
        }
        return r < 0 ? r : read_maybes(store, run, standing, error);
}

static void read_verification(Columns *c, StoreVerification *ret) {
        ret->is_asked = true;
        ret->so_far.asked_bytes = column_u64(c);
        ret->so_far.checked_bytes = column_u64(c);
        for (unsigned i = 0; i < N_MISMATCHES; i++)
                ret->so_far.n_blocks[i] = column_u64(c);
        bool in_order = column_i64(c) != 0;
        ret->share = verification_share(&ret->so_far, in_order, column_u64(c));
}

/* phase_plan_reads_in_order(), of what is kept of the plan: a phase that checks only reads. */
int store_get_verifications(Store *store, uint32_t run, StoreVerification *ret, size_t n, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store,
                "SELECT phase, asked_bytes, checked_bytes, corrupt, misplaced, torn, lost,"
                " rw = ?2 AND numjobs = 1 AND workers = 1,"
                " (SELECT issued_bytes FROM positions AS s WHERE s.run = v.run AND s.phase = v.phase AND s.share = 0)"
                " FROM verifications AS v JOIN phases USING (run, phase) WHERE run = ?1", &stmt, error);
        if (r < 0)
                return r;

        for (size_t i = 0; i < n; i++)
                ret[i] = (StoreVerification){};
        Binder b = { .stmt = stmt };
        bind_u64(&b, run);
        bind_text(&b, rw_mode_name(RW_READ));
        while ((r = statement_step(store, stmt, error, "read")) > 0) {
                Columns c = { .stmt = stmt };
                uint32_t phase = column_u32(&c);

                if (phase < n)
                        read_verification(&c, &ret[phase]);
        }
        return r;
}

static int mismatch_from_name(const char *name) {
        for (Mismatch i = 0; i < N_MISMATCHES; i++)
                if (name && strcmp(mismatch_name(i), name) == 0)
                        return (int) i;
        return -EINVAL;
}

static int read_finding(Columns *c, StoreFinding *finding) {
        finding->phase = column_u32(c);
        _cleanup_free_ char *kind = column_string(c);
        int r = mismatch_from_name(kind);

        finding->kind = r < 0 ? MISMATCH_CORRUPT : (Mismatch) r;
        finding->offset = column_u64(c);
        finding->bytes = column_u64(c);
        finding->detail = column_string(c);
        return c->failed ? -ENOMEM : r;
}

int store_get_findings(Store *store, uint32_t run, StoreFinding **ret, size_t *ret_n, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        StoreFinding *findings = NULL;
        size_t n = 0;
        int r = statement_prepare(store, "SELECT phase, kind, offset_bytes, length_bytes, detail FROM findings"
                                  " WHERE run = ? ORDER BY phase, finding", &stmt, error);
        if (r < 0)
                return r;

        sqlite3_bind_int64(stmt, 1, run);
        while ((r = statement_step(store, stmt, error, "read")) > 0) {
                Columns c = { .stmt = stmt };
                StoreFinding *grown = reallocarray(findings, n + 1, sizeof(*grown));

                if (grown) {
                        findings = grown;
                        findings[n] = (StoreFinding){};
                        r = read_finding(&c, &findings[n++]);
                }
                if (!grown || r < 0) {
                        store_findings_free(findings, n);
                        return r == -EINVAL ? corrupt(store, run, error) : store_out_of_memory(error);
                }
        }
        if (r < 0) {
                store_findings_free(findings, n);
                return r;
        }
        *ret = findings;
        *ret_n = n;
        return 0;
}

void store_findings_free(StoreFinding *findings, size_t n) {
        for (size_t i = 0; i < n; i++)
                free(findings[i].detail);
        free(findings);
}

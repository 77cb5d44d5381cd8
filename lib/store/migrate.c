/* SPDX-License-Identifier: MIT */

/*
 * The schema's version is SQLite's user_version. Two programs may come to an old or empty file at the same time, so
 * the version counts only when it is read again with the write lock held. All pending
 * migrations are one transaction: a file is at its old version or at the newest, never between.
 */

#include <time.h>

#include "store/store-internal.h"
#include "util/macro.h"
#include "util/time.h"

#define WAL_PATIENCE_NS (5 * NSEC_PER_SEC) /* as long as SQLite waits for other locks */
#define WAL_RETRY_NS (10 * (long) NSEC_PER_MSEC)

typedef enum Identity {
        IDENTITY_EMPTY,
        IDENTITY_OURS,
} Identity;

static int read_number(Store *store, const char *sql, int64_t *ret, Error *error) {
        _cleanup_statement_ sqlite3_stmt *stmt = NULL;
        int r = statement_prepare(store, sql, &stmt, error);
        if (r < 0)
                return r;

        r = statement_step(store, stmt, error, "read");
        if (r < 0)
                return r;

        *ret = r > 0 ? sqlite3_column_int64(stmt, 0) : 0;
        return 0;
}

typedef struct Header {
        int64_t application_id, version, n_objects;
} Header;

/* All of one moment: between two reads another program may make the schema. Works inside a transaction too. */
static int read_header(Store *store, Header *ret, Error *error) {
        int r = store_exec(store, "SAVEPOINT header", error, "read");
        if (r < 0)
                return r;

        r = read_number(store, "PRAGMA application_id", &ret->application_id, error);
        if (r >= 0)
                r = read_number(store, "PRAGMA user_version", &ret->version, error);
        if (r >= 0)
                r = read_number(store, "SELECT count(*) FROM sqlite_schema", &ret->n_objects, error);

        int released = store_exec(store, "RELEASE header", r < 0 ? NULL : error, "read");
        return r < 0 ? r : released;
}

/* Whose database is it, and which version? Returns an Identity. */
static int identify(Store *store, unsigned *ret_version, Error *error) {
        Header header;

        int r = read_header(store, &header, error);
        if (r < 0)
                return r;

        int64_t application_id = header.application_id, version = header.version, n_objects = header.n_objects;

        if (application_id == 0 && version == 0 && n_objects == 0) {
                *ret_version = 0;
                return IDENTITY_EMPTY;
        }
        if (application_id != SCHEMA_APPLICATION_ID || version < 1)
                return error_set(error, ERROR_UNREACHABLE, EBADMSG,
                                 "%s is the database of another program (application id %#x); name another file",
                                 store->path, (unsigned) application_id);
        if (version > (int64_t) schema_version)
                return error_set(error, ERROR_UNREACHABLE, EPROTO,
                                 "%s has schema version %lld and this plateau knows only %u: it needs a newer plateau",
                                 store->path, (long long) version, schema_version);

        *ret_version = (unsigned) version;
        return IDENTITY_OURS;
}

static int apply_pending(Store *store, Error *error) {
        unsigned version;
        int r = identify(store, &version, error);

        for (; r >= 0 && version < schema_version; version++)
                r = store_exec(store, schema_migrations[version], error, "bring the schema up to date");

        return r;
}

/* The one statement for which SQLite calls no busy handler: two programs that come to a new file would fail at once. */
static int set_wal(Store *store, Error *error) {
        uint64_t until_ns = time_monotonic_ns() + WAL_PATIENCE_NS;

        for (;;) {
                _cleanup_error_ Error now = ERROR_INIT;
                int r = store_exec(store, "PRAGMA journal_mode = WAL", &now, "set up write-ahead logging");
                if (r != -EBUSY || time_monotonic_ns() >= until_ns) {
                        if (r < 0 && error)
                                error_move(error, &now);
                        return r;
                }
                clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = WAL_RETRY_NS }, NULL);
        }
}

int migrate(Store *store, Error *error) {
        unsigned version;
        int r = identify(store, &version, error);
        if (r < 0)
                return r;

        /* Only now that the file is known to be ours: this writes into its header. */
        r = set_wal(store, error);
        if (r < 0 || version == schema_version)
                return r;

        r = store_exec(store, "BEGIN IMMEDIATE", error, "lock");
        if (r < 0)
                return r;

        r = apply_pending(store, error);
        if (r >= 0)
                r = store_exec(store, "COMMIT", error, "bring the schema up to date");
        if (r < 0)
                store_rollback(store);

        return r;
}

int migrate_check(Store *store, Error *error) {
        unsigned version;
        int r = identify(store, &version, error);
        if (r < 0)
                return r;

        if (r == IDENTITY_EMPTY)
                return error_set(error, ERROR_UNREACHABLE, EBADMSG,
                                 "%s is empty: nothing was recorded in it yet, or it is a copy without the %s-wal "
                                 "that belongs to it", store->path, store->path);
        if (version < schema_version)
                return error_set(error, ERROR_UNREACHABLE, EPROTO,
                                 "%s has the older schema version %u and this plateau reads %u: "
                                 "start plateaud with it once, which brings it up to date",
                                 store->path, version, schema_version);

        return 0;
}

/* SPDX-License-Identifier: MIT */
#pragma once

/* What the files of this room share. */

#include <sqlite3.h>

#include "store/store.h"

/* Statements that are run every second stay prepared. */
typedef enum WriteKind {
        WRITE_BEGIN,
        WRITE_COMMIT,
        WRITE_RUN_STATE,
        WRITE_STOP_ASKED,
        WRITE_DRAINED,
        WRITE_WAITS_FOR,
        WRITE_PLACE,
        WRITE_PHASE_STATE,
        WRITE_SAMPLE,
        WRITE_LATENCY,
        WRITE_TOTALS_GET,
        WRITE_TOTALS_SET,
        WRITE_POSITION,
        WRITE_IMPORTED_SAMPLE,
        WRITE_IMPORTED_TOTALS,
        WRITE_EVENT,
        WRITE_ERRNO,
        WRITE_HISTORY,
        WRITE_MAYBES_CLEAR,
        WRITE_MAYBE,
        WRITE_VERIFICATION,
        WRITE_FINDING,
        N_WRITES,
} WriteKind;

struct Store {
        sqlite3 *db;
        char *path; /* absolute, symbolic links resolved */
        _Atomic uint64_t waited_at_ns; /* monotonic: found locked by another connection then; 0: never */
        sqlite3_stmt *writes[N_WRITES];
        bool knows_wal; /* store_check_files() has seen it: */
        dev_t wal_device;
        ino_t wal_inode;
};

/* schema/: schema_migrations[n] leads from version n to n + 1. */
extern const char *const schema_migrations[];
extern const unsigned schema_version;

#define SCHEMA_APPLICATION_ID 0x504c4154 /* "PLAT" */

/* Makes the database's schema the newest one; refuses a newer one and another program's database. */
int migrate(Store *store, Error *error);

/* Refuses whatever is not exactly the schema this build reads. */
int migrate_check(Store *store, Error *error);

/*
 * When the running phase of the row `p` of phases saw its last sample end; when it began, if it has none. The run's
 * newest sample is of that phase or of an earlier one.
 */
#define SQL_PHASE_BROKEN_OFF_AT_NS                                                               \
        "coalesce((SELECT CASE WHEN s.phase = p.phase THEN s.at_ns END FROM samples AS s"        \
        " WHERE s.run = p.run ORDER BY s.seq DESC LIMIT 1), p.started_at_ns)"

/* The negative errno for what SQLite says last, with a message: "cannot ACTION in PATH: ...". */
int store_fail(Store *store, Error *error, const char *action);
int store_exec(Store *store, const char *sql, Error *error, const char *action);

/*
 * After a call of SQLite that failed: whether to call again (a statement is to be reset before). A reader that comes
 * upon the WAL's index while a writer changes it cannot tell that from the remains of a dead one, being unable to
 * repair them; SQLite waits for locks by itself, but not for this. *n_tries begins at 0.
 */
bool store_may_try_again(Store *store, unsigned *n_tries);
int store_out_of_memory(Error *error);

/* Statements. A SELECT is finalized when its scope is left, which ends its transaction. */
int statement_prepare(Store *store, const char *sql, sqlite3_stmt **ret, Error *error);
static inline void statement_finalizep(sqlite3_stmt **stmt) {
        sqlite3_finalize(*stmt);
}
#define _cleanup_statement_ _cleanup_(statement_finalizep)

/* A write that stays prepared; reset when its scope is left. -EINVAL outside of a transaction. */
int statement_write(Store *store, WriteKind kind, sqlite3_stmt **ret, Error *error);
void statement_resetp(sqlite3_stmt **stmt);
#define _cleanup_reset_ _cleanup_(statement_resetp)

/* 1: a row; 0: done; else an error as store_fail() tells it. */
int statement_step(Store *store, sqlite3_stmt *stmt, Error *error, const char *action);

/* Steps an UPDATE of one row that must be there; else -ENOENT. */
int statement_update_one(Store *store, sqlite3_stmt *stmt, uint32_t run, Error *error);

/* Parameters in their order. What is bound must live until the step. Errors come out in the step. */
typedef struct Binder {
        sqlite3_stmt *stmt;
        int last;
} Binder;

void bind_i64(Binder *binder, int64_t value);
void bind_u64(Binder *binder, uint64_t value); /* cut off at INT64_MAX */
void bind_u64_if(Binder *binder, bool known, uint64_t value);
void bind_double(Binder *binder, double value); /* NULL if not finite */
void bind_text(Binder *binder, const char *value);
void bind_blob(Binder *binder, const void *data, size_t length); /* NULL if empty */
void bind_directions(Binder *binder, const uint64_t value[static N_DIRECTIONS]);

/* The columns of a row of samples up to its latencies. */
void bind_sample(Binder *binder, uint32_t run, const Sample *sample);

/* Columns in their order. */
typedef struct Columns {
        sqlite3_stmt *stmt;
        int next;
        bool failed; /* memory ran out */
} Columns;

bool column_is_null(const Columns *columns); /* the next one */
int64_t column_i64(Columns *columns);        /* NULL reads as 0 */
uint64_t column_u64(Columns *columns);       /* negative ones read as 0 */
uint32_t column_u32(Columns *columns);       /* cut off */
double column_double(Columns *columns);      /* NULL reads as NaN */
char *column_string(Columns *columns);       /* allocated; NULL for NULL */
void column_directions(Columns *columns, uint64_t ret[static N_DIRECTIONS]);

/* Of a standing whose histories have been made. */
int store_read_histories(Store *store, uint32_t run, Standing *standing, Error *error);

/* 16 hexadecimal digits, as schema/ keeps bit patterns. */
#define HEX64_SIZE 17
const char *hex64_format(uint64_t value, char buf[static HEX64_SIZE]);
int hex64_parse(const char *s, uint64_t *ret);

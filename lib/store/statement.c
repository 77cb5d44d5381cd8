/* SPDX-License-Identifier: MIT */

/*
 * A thin layer over SQLite's statements: parameters and columns are taken one after another, so that a list
 * of columns in SQL and the list of fields in C can be held side by side.
 */

#include "store/store-internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "util/macro.h"

int statement_prepare(Store *store, const char *sql, sqlite3_stmt **ret, Error *error) {
        unsigned n_tries = 0;

        while (sqlite3_prepare_v3(store->db, sql, -1, 0, ret, NULL) != SQLITE_OK)
                if (!store_may_try_again(store, &n_tries))
                        return store_fail(store, error, "read");

        return 0;
}

void statement_resetp(sqlite3_stmt **stmt) {
        if (!*stmt)
                return;

        sqlite3_reset(*stmt);
        sqlite3_clear_bindings(*stmt);
}

int statement_step(Store *store, sqlite3_stmt *stmt, Error *error, const char *action) {
        for (unsigned n_tries = 0;;)
                switch (sqlite3_step(stmt)) {
                case SQLITE_ROW:
                        return 1;
                case SQLITE_DONE:
                        return 0;
                default:
                        if (!store_may_try_again(store, &n_tries))
                                return store_fail(store, error, action);
                        sqlite3_reset(stmt);
                }
}

int statement_update_one(Store *store, sqlite3_stmt *stmt, uint32_t run, Error *error) {
        int r = statement_step(store, stmt, error, "write to");
        if (r < 0)
                return r;
        if (sqlite3_changes(store->db) == 0)
                return error_set(error, ERROR_NOT_FOUND, ENOENT, "%s has no run %u, or no such phase of it",
                                 store->path, run);

        return 0;
}

void bind_i64(Binder *binder, int64_t value) {
        sqlite3_bind_int64(binder->stmt, ++binder->last, value);
}

void bind_u64(Binder *binder, uint64_t value) {
        bind_i64(binder, (int64_t) MIN(value, (uint64_t) INT64_MAX));
}

void bind_u64_if(Binder *binder, bool known, uint64_t value) {
        if (known)
                bind_u64(binder, value);
        else
                sqlite3_bind_null(binder->stmt, ++binder->last);
}

void bind_double(Binder *binder, double value) {
        if (isfinite(value))
                sqlite3_bind_double(binder->stmt, ++binder->last, value);
        else
                sqlite3_bind_null(binder->stmt, ++binder->last);
}

void bind_text(Binder *binder, const char *value) {
        sqlite3_bind_text(binder->stmt, ++binder->last, value, -1, SQLITE_STATIC);
}

void bind_blob(Binder *binder, const void *data, size_t length) {
        sqlite3_bind_blob64(binder->stmt, ++binder->last, length > 0 ? data : NULL, length, SQLITE_STATIC);
}

void bind_directions(Binder *binder, const uint64_t value[static N_DIRECTIONS]) {
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                bind_u64(binder, value[d]);
}

bool column_is_null(const Columns *columns) {
        return sqlite3_column_type(columns->stmt, columns->next) == SQLITE_NULL;
}

int64_t column_i64(Columns *columns) {
        return sqlite3_column_int64(columns->stmt, columns->next++);
}

uint64_t column_u64(Columns *columns) {
        int64_t value = column_i64(columns);
        return value < 0 ? 0 : (uint64_t) value;
}

uint32_t column_u32(Columns *columns) {
        return (uint32_t) MIN(column_u64(columns), (uint64_t) UINT32_MAX);
}

double column_double(Columns *columns) {
        double value = column_is_null(columns) ? NAN : sqlite3_column_double(columns->stmt, columns->next);
        columns->next++;
        return value;
}

char *column_string(Columns *columns) {
        int type = sqlite3_column_type(columns->stmt, columns->next);
        const char *text = (const char *) sqlite3_column_text(columns->stmt, columns->next++);
        char *copy = text ? strdup(text) : NULL;
        if (type != SQLITE_NULL && !copy)
                columns->failed = true;
        return copy;
}

void column_directions(Columns *columns, uint64_t ret[static N_DIRECTIONS]) {
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                ret[d] = column_u64(columns);
}

const char *hex64_format(uint64_t value, char buf[static HEX64_SIZE]) {
        snprintf(buf, HEX64_SIZE, "%016" PRIx64, value);
        return buf;
}

int hex64_parse(const char *s, uint64_t *ret) {
        if (!s || strlen(s) != HEX64_SIZE - 1 || strspn(s, "0123456789abcdef") != HEX64_SIZE - 1)
                return -EBADMSG;

        *ret = strtoull(s, NULL, 16);
        return 0;
}

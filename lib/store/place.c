/* SPDX-License-Identifier: MIT */

/*
 * What SQLite lets happen, and a recorder of weeks must not: to go on writing into files that nobody will ever read
 * since they were removed or replaced, and into a WAL that grows without end since a reader does not let go of it.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "store/store-internal.h"
#include "util/macro.h"

static const char *wal_path(Store *store) {
        return sqlite3_filename_wal(sqlite3_db_filename(store->db, "main"));
}

static int tell_replaced(const char *what, Error *error) {
        return error_set(error, ERROR_UNREACHABLE, ESTALE,
                         "%s was removed or replaced while it was in use: put it back, or restart "
                         "plateaud for a new one",
                         what);
}

/* SQLite knows of the file itself; of the WAL, which it makes when it first writes, we take note. */
int store_check_files(Store *store, Error *error) {
        const char *wal = wal_path(store);
        struct stat st;
        int moved = 0;

        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
        if (moved)
                return tell_replaced(store->path, error);

        bool has_wal = stat(wal, &st) >= 0;
        if (!store->knows_wal && has_wal) {
                store->knows_wal = true;
                store->wal_device = st.st_dev;
                store->wal_inode = st.st_ino;
        }
        if (store->knows_wal && (!has_wal || st.st_dev != store->wal_device || st.st_ino != store->wal_inode))
                return tell_replaced(wal, error);
        return 0;
}

/* The file keeps its length when its content has been moved on, so the length alone says nothing. */
static int check_wal(Store *store, Error *error) {
        int n_frames = 0, n_moved = 0;
        struct stat st;

        if (stat(wal_path(store), &st) < 0 || (uint64_t) st.st_size <= STORE_WAL_BYTES_MAX)
                return 0;

        int rc = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &n_frames, &n_moved);
        if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY)
                return store_fail(store, error, "move the write-ahead log into");
        if (rc == SQLITE_OK && n_moved >= n_frames)
                return 0;
        return error_set(error, ERROR_UNREACHABLE, EBUSY,
                         "%s has come to %" PRIu64 " MiB, since a program reads the database without "
                         "an end: end that one",
                         wal_path(store), (uint64_t) st.st_size / MIB);
}

int store_check_place(Store *store, Error *error) {
        int r = store_check_files(store, error);
        return r < 0 ? r : check_wal(store, error);
}

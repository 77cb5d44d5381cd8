/* SPDX-License-Identifier: MIT */

/*
 * Opening, closing, and what errors mean.
 *
 * A reader must work for anyone who may read the file, with the service alive, stopped or
 * killed, in a directory that it may not write, and must leave no trace. SQLite's own read-only open does not
 * promise that: it makes -wal and -shm files where it may. So a reader looks what is there first:
 *
 *   -wal and -shm    the usual case, as writers keep both: share them, never writing (readonly_shm)
 *   -wal alone       a copy of the file without its -shm: a private index of the WAL, in memory; there is
 *                    no writer, for a writer would have made the -shm
 *   no or empty -wal all is in the file itself, which nobody writes: immutable
 */

#include "store/store-internal.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "util/macro.h"
#include "util/time.h"

#define LOCK_TRIES_MAX 250U
#define LOCK_PAUSE_NS (20 * NSEC_PER_MSEC)

#define INDEX_TRIES_MAX 1000 /* a millisecond each: far more than a writer needs, unless it lost the CPU */

/* What a reader that was in the way made of the WAL is given back at the next checkpoint. */
#define WAL_BYTES_KEPT "16777216"

int store_out_of_memory(Error *error) {
        return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
}

/* From what SQLite says (rc, extended), and the errno of the system call behind it. */
static int error_number(int rc, int system_errno) {
        switch (rc & 0xff) {
        case SQLITE_FULL:
                return ENOSPC;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
                return EBUSY;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
                return EBADMSG;
        case SQLITE_NOMEM:
                return ENOMEM;
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH:
        case SQLITE_RANGE:
                return EINVAL;
        case SQLITE_TOOBIG:
                return E2BIG;
        case SQLITE_PERM:
        case SQLITE_AUTH:
                return EACCES;
        case SQLITE_READONLY:
                return system_errno == EACCES || system_errno == EPERM ? EACCES : EROFS;
        case SQLITE_CANTOPEN:
                return system_errno > 0 ? system_errno : EIO;
        case SQLITE_IOERR:
                return system_errno == ENOSPC || system_errno == EDQUOT ? ENOSPC : EIO;
        default:
                return EIO;
        }
}

static const char who_may_read[] = "only root and the group plateau may read the service's database";

int store_fail(Store *store, Error *error, const char *action) {
        int errnum = error_number(sqlite3_extended_errcode(store->db), sqlite3_system_errno(store->db));

        if (errnum == ENOMEM)
                return store_out_of_memory(error);

        if (errnum == EACCES)
                return error_set(error, ERROR_UNREACHABLE, EACCES, "cannot %s %s: %s; %s", action, store->path,
                                 strerrordesc_np(errnum), who_may_read);

        if (errnum == EBADMSG)
                return error_set(error, ERROR_UNREACHABLE, EBADMSG,
                                 "cannot %s %s: %s; it is left as it is: move it aside, with what stands beside it, or "
                                 "put a copy in its place", action, store->path, sqlite3_errmsg(store->db));

        /* SQLite's words where they say more than the errno's. */
        bool has_words = errnum == EINVAL || errnum == EIO;
        return error_set(error, ERROR_UNREACHABLE, errnum, "cannot %s %s: %s", action, store->path,
                         has_words ? sqlite3_errmsg(store->db) : strerrordesc_np(errnum));
}

bool store_may_try_again(Store *store, unsigned *n_tries) {
        if (sqlite3_extended_errcode(store->db) != SQLITE_READONLY_RECOVERY || ++*n_tries > INDEX_TRIES_MAX)
                return false;
        sqlite3_sleep(1);
        return true;
}

int store_exec(Store *store, const char *sql, Error *error, const char *action) {
        unsigned n_tries = 0;

        while (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
                if (!store_may_try_again(store, &n_tries))
                        return store_fail(store, error, action);

        return 0;
}

Store *store_close(Store *store) {
        if (!store)
                return NULL;

        for (unsigned i = 0; i < N_WRITES; i++)
                sqlite3_finalize(store->writes[i]);
        sqlite3_close(store->db);
        free(store->path);
        free(store);
        return NULL;
}

/* The file's real path. Only a regular file: a slip of the hand must not take a disk for a database. */
static int resolve(const char *path, char **ret, Error *error) {
        _cleanup_free_ char *real = realpath(path, NULL);
        if (!real && errno == ENOENT)
                return error_set(error, ERROR_UNREACHABLE, ENOENT,
                                 "there is no database %s: start plateaud, or name another one with --db", path);
        if (!real && errno == EACCES)
                return error_set(error, ERROR_UNREACHABLE, EACCES, "cannot open %s: %m; %s", path, who_may_read);
        if (!real)
                return error_set(error, ERROR_UNREACHABLE, errno, "cannot open %s: %m", path);

        struct stat st;
        if (stat(real, &st) < 0)
                return error_set(error, ERROR_UNREACHABLE, errno, "cannot open %s: %m", real);
        if (!S_ISREG(st.st_mode))
                return error_set(error, ERROR_UNREACHABLE, EBADMSG, "%s is no database: it is not a regular file",
                                 real);

        *ret = TAKE_PTR(real);
        return 0;
}

/* Readable for the group whatever the umask is; SQLite gives -wal and -shm the same mode. */
static int create_file(const char *path, Error *error) {
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
        if (fd < 0)
                return errno == EEXIST ? 0 : error_set(error, ERROR_UNREACHABLE, errno, "cannot create %s: %m", path);

        if (fchmod(fd, 0640) < 0)
                return error_set(error, ERROR_UNREACHABLE, errno, "cannot set the mode of %s: %m", path);

        return 0;
}

/* Tried again for about five seconds; as SQLite's own timeout does, but whoever asks can hear of it meanwhile. */
static int wait_for_lock(void *userdata, int n_tries) {
        Store *store = userdata;

        atomic_store_explicit(&store->waited_at_ns, time_monotonic_ns(), memory_order_relaxed);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = LOCK_PAUSE_NS }, NULL);
        return (unsigned) n_tries < LOCK_TRIES_MAX;
}

bool store_is_locked_out(const Store *store) {
        uint64_t at_ns = atomic_load_explicit(&store->waited_at_ns, memory_order_relaxed);

        return at_ns > 0 && time_monotonic_ns() - at_ns < 10 * LOCK_PAUSE_NS;
}

/* Opens path (with SQLite's name for it) into a new Store; real is taken over. */
static int open_database(Store **ret, char *real, const char *name, int flags, const char *vfs, Error *error) {
        _cleanup_free_ char *path = real;
        _cleanup_store_ Store *store = calloc(1, sizeof *store);
        if (!store)
                return store_out_of_memory(error);

        store->path = TAKE_PTR(path);
        flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
        if (sqlite3_open_v2(name, &store->db, flags, vfs) != SQLITE_OK)
                return store->db ? store_fail(store, error, "open") : store_out_of_memory(error);

        sqlite3_busy_handler(store->db, wait_for_lock, store);

        /* A file may come from anywhere: its schema gets no say, and its pages are looked at before use. */
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        int r = store_exec(store, "PRAGMA cell_size_check = ON", error, "open");
        if (r < 0)
                return r;

        *ret = TAKE_PTR(store);
        return 0;
}

static int set_up_writer(Store *store, Error *error) {
        /* Until the file is known to be ours, closing must not even move its WAL into it. */
        int persist = 1;
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);

        int r = store_exec(store, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON", error, "open");
        if (r < 0)
                return r;
        r = migrate(store, error);
        if (r < 0)
                return r;

        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
        return store_exec(store, "PRAGMA journal_size_limit = " WAL_BYTES_KEPT, error, "open");
}

int store_open_writer(Store **ret, const char *path, Error *error) {
        _cleanup_free_ char *real = NULL;
        _cleanup_store_ Store *store = NULL;

        int r = create_file(path, error);
        if (r < 0)
                return r;
        r = resolve(path, &real, error);
        if (r < 0)
                return r;

        /* SQLite would open it for reading, and say so only when it is written. */
        if (access(real, W_OK) < 0)
                return error_set(error, errno == EACCES ? ERROR_NOT_PERMITTED : ERROR_UNREACHABLE, errno,
                                 "cannot write %s: %s", real, strerror(errno));

        const char *name = real;
        r = open_database(&store, TAKE_PTR(real), name, SQLITE_OPEN_READWRITE, NULL, error);
        if (r < 0)
                return r;
        r = set_up_writer(store, error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(store);
        return 0;
}

/* Bytes in the file beside the database; -1 if there is none. */
static int64_t sidecar_size(const char *path, const char *suffix) {
        _cleanup_free_ char *name = NULL;
        struct stat st;

        if (asprintf(&name, "%s%s", path, suffix) < 0 || stat(name, &st) < 0)
                return -1;

        return st.st_size;
}

typedef struct ReaderMode {
        const char *query;
        const char *vfs;
        bool private_index;
} ReaderMode;

static ReaderMode reader_mode(const char *path) {
        int64_t wal = sidecar_size(path, "-wal"), shm = sidecar_size(path, "-shm");

        if (wal >= 0 && shm >= 0)
                return (ReaderMode) { .query = "mode=ro&readonly_shm=1" };
        if (wal > 0)
                return (ReaderMode) { .query = "mode=ro", .vfs = "unix-none", .private_index = true };
        return (ReaderMode) { .query = "immutable=1" };
}

/* "file:PATH?query", with what has a meaning in a URI escaped. */
static char *make_uri(const char *path, const char *query) {
        char *uri = NULL;
        size_t length;

        FILE *f = open_memstream(&uri, &length);
        if (!f)
                return NULL;
        fputs("file:", f);
        for (; *path; path++)
                fprintf(f, strchr("?#%", *path) ? "%%%02x" : "%c", (unsigned char) *path);
        fprintf(f, "?%s", query);

        /* A failed write shows when the stream is closed. */
        if (fclose(f) != 0) {
                free(uri);
                return NULL;
        }
        return uri;
}

int store_open_reader(Store **ret, const char *path, Error *error) {
        _cleanup_free_ char *real = NULL, *uri = NULL;
        _cleanup_store_ Store *store = NULL;

        int r = resolve(path, &real, error);
        if (r < 0)
                return r;

        ReaderMode mode = reader_mode(real);
        uri = make_uri(real, mode.query);
        if (!uri)
                return store_out_of_memory(error);

        r = open_database(&store, TAKE_PTR(real), uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, mode.vfs, error);
        if (r < 0)
                return r;
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        if (mode.private_index)
                r = store_exec(store, "PRAGMA locking_mode = EXCLUSIVE", error, "open");
        if (r >= 0)
                r = migrate_check(store, error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(store);
        return 0;
}

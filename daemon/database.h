/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The database thread: it alone has the writing connection. The service's loop hands it
 * changes and never waits; the thread writes all that has come in one transaction, at least
 * once a second while there is something. If the database cannot be written (its disk is full, hung, locked),
 * what has come waits in memory, in order, is tried again every second, and the state says so.
 */

#include <systemd/sd-event.h>

#include "store/store.h"

typedef struct Database Database;

typedef struct DatabaseStatus {
        int error;           /* 0: all is written; else the negative errno of the last try */
        char message[256];   /* for a person */
        uint64_t n_waiting;  /* changes */
        uint64_t bytes_waiting;
        uint64_t n_dropped;  /* samples, since the service began */
} DatabaseStatus;

/* Called in the event loop when the error in the status comes or goes. */
typedef void (*DatabaseStatusHandler)(Database *database, const DatabaseStatus *status, void *userdata);

/*
 * Opens path (creating it), marks the runs that a dead service left as interrupted, and starts the thread.
 * Blocks until that is done: before the service says that it is ready.
 */
int database_new(Database **ret, sd_event *event, const char *path, DatabaseStatusHandler handler, void *userdata, Error *error);

/* The runs that the database held when it was opened (interrupted ones already marked), newest first; may be taken once. */
void database_take_runs(Database *database, StoreRun **ret, size_t *ret_n);

/* Writes what waits, for at most timeout_ns, and ends the thread. -ETIMEDOUT if something was left unwritten. */
int database_shutdown(Database *database, uint64_t timeout_ns);
Database *database_free(Database *database);

/* Copies the status. */
void database_status(Database *database, DatabaseStatus *ret);

/* New runs, all or none. The handler is called in the event loop, once, with the numbers or an error (a database that does not answer within 10 s: ERROR_UNREACHABLE). The StoreNewRun's strings, job and plan are borrowed until then. */
typedef void (*DatabaseRunsHandler)(const uint32_t *ids, size_t n, const Error *error, void *userdata);
int database_insert_runs(Database *database, const StoreNewRun *runs, size_t n, DatabaseRunsHandler handler, void *userdata);

/* These copy what they are given and return at once. */
int database_set_run_state(Database *database, uint32_t run, RunState state, int64_t at_ns);
int database_set_phase_state(Database *database, uint32_t run, uint32_t phase, PhaseState state, int64_t at_ns);
int database_add_sample(Database *database, uint32_t run, const Sample *sample);
int database_add_event(Database *database, uint32_t run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind, const char *detail);
int database_set_errno(Database *database, uint32_t run, const EngineErrno *errnum);

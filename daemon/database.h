/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The database thread: it alone has the writing connection. The service's loop hands it
 * changes and never waits; the thread writes all that has come in one transaction, at least
 * once a second while there is something. If the database cannot be written (its disk is full, hung, locked),
 * what has come waits in memory, in order, is tried again every second, and the state says so.
 *
 * When a run has come to its end, and at the end of all, what is in the WAL is moved into the file itself as far as
 * no reader is in the way: who copies only that has all of it.
 *
 * All functions are for the event loop's thread; all handlers are called from the event loop.
 */

#include <systemd/sd-event.h>

#include "alarm.h"
#include "store/store.h"
#include "util/time.h"

typedef struct Database Database;

/* Samples (encoded) and events of one run that may wait; beyond it the oldest go, and an event marks the gap. */
#define DATABASE_WAITING_BYTES_MAX (64U * 1024U * 1024U)

typedef struct DatabaseStatus {
        int error;           /* 0: all is written; else the negative errno of the last try, -ETIMEDOUT if it hangs */
        char message[256];   /* for a person */
        uint64_t n_waiting;  /* changes */
        uint64_t bytes_waiting;
        uint64_t n_dropped;  /* samples, since the service began */
        uint64_t n_brief;    /* with news: short troubles that came and went untold (alarm.h); else 0 */
} DatabaseStatus;

/* Called when the error in the status comes or goes, and with the news that are for log and records. */
typedef void (*DatabaseStatusHandler)(Database *database, const DatabaseStatus *status, AlarmNews news,
                                      void *userdata);

/*
 * Opens path (creating it), marks the runs that a dead service left as interrupted, and starts the thread.
 * Blocks until that is done: before the service says that it is ready.
 */
int database_new(Database **ret, sd_event *event, const char *path, DatabaseStatusHandler handler, void *userdata,
                 Error *error);

/* The runs that the database held when it was opened (interrupted ones marked, with what they need to be
 * taken up), newest first. To be taken once. */
void database_take_runs(Database *database, StoreRun **ret, size_t *ret_n);

/*
 * Hands over the samples of a phase as they were when it was opened, without latencies, in order (store_each_sample()).
 * Reads the file itself, so it is for the time before the service says that it is ready.
 */
int database_each_sample(Database *database, uint32_t run, uint32_t phase, StoreSampleHandler handler, void *userdata,
                         Error *error);

/*
 * Writes what waits, for at most timeout_ns, and ends the thread. -ETIMEDOUT if something was left
 * unwritten. Of what was not answered by then, database_free() releases the runs and calls the handlers of
 * database_when_written(), so that what they own is not lost; no other handler is called any more.
 */
int database_shutdown(Database *database, uint64_t timeout_ns);
Database *database_free(Database *database);
DEFINE_CLEANUP(Database *, database_free)
#define _cleanup_database_ _cleanup_(database_freep)

/* Copies the status. */
void database_status(Database *database, DatabaseStatus *ret);

/*
 * New runs, all or none. The handler is called once, with the numbers or an error (a database that does
 * not answer within 10 s: ERROR_UNREACHABLE; no run of that kind will be started then, whatever
 * comes of it). It is not tried again: who starts a run waits for the answer.
 *
 * The thread may be stuck in the middle of it when the handler is told so. So the runs, and all they point to,
 * are borrowed until release() is called: once, after the handler, in any case. On an error
 * of this function itself neither is called.
 */
typedef void (*DatabaseRunsHandler)(const uint32_t *ids, size_t n, const Error *error, void *userdata);
typedef void (*DatabaseReleaseHandler)(void *userdata);
int database_insert_runs(Database *database, const StoreNewRun *runs, size_t n, DatabaseRunsHandler handler,
                         DatabaseReleaseHandler release, void *userdata);

/*
 * Calls handler once, when all that was handed over before is written; with written == false if that did not come
 * about within timeout_ns (UINT64_MAX: it is waited for), or the database is freed. -ENOMEM: it is not called.
 */
typedef void (*DatabaseWrittenHandler)(bool written, void *userdata);
int database_when_written(Database *database, uint64_t timeout_ns, DatabaseWrittenHandler handler, void *userdata);

/* For who only tells of it: what the bus says can be read in the database, and a hung database hides nothing. */
#define DATABASE_TELL_NS (2 * NSEC_PER_SEC)

/* These copy what they are given and return at once. -ENOMEM. */
int database_set_run_state(Database *database, uint32_t run, RunState state, int64_t at_ns);
int database_set_stop_asked(Database *database, uint32_t run, int64_t at_ns);
int database_set_drained(Database *database, uint32_t run);
int database_set_waits_for(Database *database, uint32_t run, const char *waits_for);
int database_set_place(Database *database, uint32_t run, const DeviceInfo *device, const char *boot_id);
int database_set_phase_state(Database *database, uint32_t run, uint32_t phase, PhaseState state, int64_t at_ns);
int database_add_sample(Database *database, uint32_t run, const Sample *sample);
int database_add_event(Database *database, uint32_t run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind,
                       const char *detail);
int database_set_errno(Database *database, uint32_t run, const EngineErrno *errnum);
int database_set_history(Database *database, uint32_t run, uint32_t phase, uint32_t share, const History *history);
int database_set_verification(Database *database, uint32_t run, uint32_t phase, const Verification *verification);
int database_add_finding(Database *database, uint32_t run, const StoreFinding *finding);

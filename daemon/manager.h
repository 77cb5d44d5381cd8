/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * All runs that there are, the database, and what goes on between: starting, stopping, telling. It
 * knows nothing of the bus; who wants to hear of changes observes.
 */

#include "run.h"

typedef struct Manager Manager;

typedef struct ManagerObserver {
        void (*run_added)(Run *run, void *userdata);
        void (*run_changed)(Run *run, RunChange change, void *userdata);
        void (*run_event)(Run *run, EventKind kind, const char *detail, void *userdata);
        void (*database_changed)(Manager *manager, void *userdata);
} ManagerObserver;

/*
 * Opens the database in state_directory, which this service must be the only one to use: ERROR_FAILED
 * (-EBUSY) if another one does. All runs that it holds are known then.
 */
int manager_new(Manager **ret, sd_event *event, const char *state_directory, Error *error);

/* Of runs that start from now on: patterns (device/configuration.h), borrowed until the manager is freed. */
void manager_set_deny(Manager *manager, char **deny);

/* Writes out what waits, for some seconds at most, and frees it. -ETIMEDOUT if something was left unwritten. */
int manager_close(Manager *manager);
Manager *manager_free(Manager *manager);
DEFINE_CLEANUP(Manager *, manager_free)
#define _cleanup_manager_ _cleanup_(manager_freep)

/* One only; NULL: none. observer is static data. */
void manager_set_observer(Manager *manager, const ManagerObserver *observer, void *userdata);

/* All strings and arrays are the caller's; arrays are NULL-terminated. */
typedef struct StartParameters {
        const char *job_name;
        const char *job_text;
        const char *const *devices;
        const char *const *confirmations;
        bool erase_existing;
        const char *label; /* or NULL */
} StartParameters;

/* Called once: the runs' numbers in the order of the devices, or the error that kept all of them from starting. */
typedef void (*StartHandler)(const uint32_t *ids, size_t n, const Error *error, void *userdata);

/* All devices or none. On a negative return the handler is not called. */
int manager_start_runs(Manager *manager, const StartParameters *parameters, StartHandler handler, void *userdata,
                       Error *error);

/* By number, or "last": ERROR_NOT_FOUND, ERROR_USAGE. */
int manager_find_run(Manager *manager, const char *which, Run **ret, Error *error);
Run *manager_get_run(Manager *manager, uint32_t id); /* NULL if there is none */

/* In ascending order of their numbers. */
Run *const *manager_runs(const Manager *manager, size_t *ret_n);

uint32_t manager_n_running(const Manager *manager); /* runs with a worker */
const char *manager_database_path(const Manager *manager);

/* "ok", or what is wrong. */
#define MANAGER_DATABASE_STATE_MAX 512
const char *manager_database_state(Manager *manager, char buf[static MANAGER_DATABASE_STATE_MAX]);

/* For people: "2 runs, 35.2k IOPS". */
#define MANAGER_STATUS_MAX 768
const char *manager_status(Manager *manager, char buf[static MANAGER_STATUS_MAX]);

/*
 * Nothing is started any more, workers are told to stop, those that do not in some seconds are left to themselves.
 * The handler is called once all runs have their last state, written if the database can be. Again: no effect.
 */
typedef void (*ManagerStoppedHandler)(void *userdata);
void manager_stop(Manager *manager, ManagerStoppedHandler handler, void *userdata);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Between manager.c, start.c (runs on their way to be started) and resume.c (those that were interrupted) only. */

#include <sys/types.h>

#include "manager.h"
#include "resume.h"

typedef struct Start Start;

struct Manager {
        sd_event *event;
        const ManagerObserver *observer; /* never NULL */
        void *userdata;

        char *database_path;
        int lock_fd;
        Database *database;
        char **deny; /* borrowed; NULL: none */
        char *boot_id;
        char *host;

        Run **runs; /* ascending */
        size_t n_runs;
        Start *starts;
        Resume *resumes;

        bool stopping;
        bool starts_given_up; /* starts whose rows the database still has are not waited for any more */
        bool stop_seen; /* nothing is left that could go on */
        sd_event_source *stop_timer;
        ManagerStoppedHandler stopped_handler;
        void *stopped_userdata;
};

/* A run that was inserted just now, so with the highest number. Takes it over on success. -ENOMEM. */
int manager_add_run(Manager *manager, Run *run);
extern const RunObserver manager_run_observer; /* with the manager as userdata */

/* When a start or a run's worker has come to its end. */
void manager_check_stopped(Manager *manager);

/* Gives the start up, with this error for who waits. */
void start_abort(Start *start, const Error *error);
Start *start_next(const Start *start);

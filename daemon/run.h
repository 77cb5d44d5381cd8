/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One run: what the bus tells of it, its worker while it has one, and its path through the
 * states. Every change of state goes to the database first; the bus learns of it when it is written (or
 * after two seconds, if the database hangs), so that who reads the file then finds no older state there.
 */

#include "database.h"
#include "device/related.h"
#include "run/state.h"
#include "worker-process.h"

typedef struct Run Run;

typedef enum RunChange {
        RUN_CHANGE_STATE,
        RUN_CHANGE_PHASE,
        RUN_CHANGE_DEVICE,
        RUN_CHANGE_WAITS_FOR,
} RunChange;

/*
 * Told by every run; `changed` and `event` when it is to be announced, `ended` when the worker has gone or the state
 * has become final, `wanted` when an interrupted one is to be taken up now. Never NULL.
 */
typedef struct RunObserver {
        void (*changed)(Run *run, RunChange change, void *userdata);
        void (*event)(Run *run, EventKind kind, const char *detail, void *userdata);
        void (*ended)(Run *run, void *userdata);
        int (*wanted)(Run *run, void *userdata, Error *error);
} RunObserver;

/* Newest sample; zeros before the first. */
typedef struct RunProgress {
        uint64_t elapsed_ns;
        double iops; /* all directions */
        uint32_t in_flight;
        uint64_t oldest_ns;
        uint64_t unanswered_ns; /* for how long its worker has not answered what it can answer at once; 0: it has */
} RunProgress;

/* From the database. stored is taken apart: its strings move. */
int run_new_stored(Run **ret, Database *database, const RunObserver *observer, void *userdata, StoreRun *stored);

/* Queued, as just inserted under id. Copies what it needs; takes notices (NULL-terminated, or NULL) over on success. */
int run_new(Run **ret, Database *database, const RunObserver *observer, void *userdata, uint32_t id,
            const StoreNewRun *inserted, char **notices);
Run *run_free(Run *run);
DEFINE_CLEANUP(Run *, run_free)
#define _cleanup_run_ _cleanup_(run_freep)

/* Takes the worker over, which has reported and is told to go. */
void run_go(Run *run, WorkerProcess *worker, uint64_t run_tag, uint64_t seed);

uint32_t run_id(const Run *run);
RunState run_state(const Run *run); /* as announced */
const char *run_job_name(const Run *run);
const char *run_label(const Run *run);  /* "" for none, as those below */
const char *run_device_path(const Run *run);
const char *run_model(const Run *run);
const char *run_serial(const Run *run);
uint64_t run_size_bytes(const Run *run);
const char *run_phase_name(const Run *run);
uint32_t run_phase_index(const Run *run);
uint32_t run_n_phases(const Run *run); /* cells of a matrix counted; 0: not known, as of a run that is long over */
uint64_t run_planned_ns(const Run *run); /* 0: not known */
RunProgress run_progress(const Run *run); /* the oldest I/O of a worker that is silent goes on ageing */
const char *const *run_notices(const Run *run); /* NULL-terminated */

/* Of this service's life time, or not final: worth listing. */
bool run_is_current(const Run *run);

bool run_has_worker(const Run *run);

/* Whether it has a worker on that very device, on its disk or on a partition of it. */
bool run_holds_device(const Run *run, const DeviceNumbers *numbers);

/* Interrupted, without a worker, and it is known where it stands. */
bool run_can_be_taken_up(const Run *run);

/* Of such a run, for its next worker, which is to look in this boot. The run's own. */
Standing *run_standing(Run *run, const char *boot_id);
const char *run_job_text(const Run *run);
const char *run_waits_for(const Run *run); /* what a user has to do for it to go on; "": nothing */
unsigned run_n_deaths(const Run *run); /* of its workers, none of which has told samples of some minutes since */

/*
 * Its drive was found, claimed and proven by the worker: both are taken over, and it goes on. boot_id: of this boot.
 * proof: for a person.
 */
void run_take_up(Run *run, WorkerProcess *worker, DeviceInfo *found, const char *boot_id, const char *proof);

/* Nobody takes it up until a user has done that: an event, the database and the bus say so. Until it is tried again. */
void run_wait_for(Run *run, const char *format, ...) _printf_(2, 3);
void run_wait_no_more(Run *run);

/* It cannot be taken up, ever. */
void run_refuse(Run *run, const char *why);

/*
 * Commands. They return at once; the state tells when it has happened. ERROR_FAILED in a state that does not
 * allow it. Pausing a paused run and resuming a running one change nothing. Resuming an interrupted one tries at once
 * to take it up.
 */
int run_pause(Run *run, Error *error);
int run_resume(Run *run, Error *error);

/* Tells how many I/Os are still pending. A run without a worker that is not final is stopped here and now. */
int run_stop(Run *run, uint32_t *ret_n_pending, Error *error);

/* The service is stopping: the worker is told to stop, and the run is interrupted when it has. */
void run_interrupt(Run *run);

/* It did not stop in time (its device hangs, say): interrupted now, and the worker left to itself. */
void run_abandon(Run *run);

/* An event in the database and on the bus, now. */
void run_record(Run *run, EventKind kind, const char *format, ...) _printf_(3, 4);

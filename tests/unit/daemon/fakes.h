/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What stands around the manager, in the hands of a test: workers that say what the test says, a database that notes
 * what it is given and answers when it is told to, a clock that stands still.
 */

#include "database.h"
#include "worker-process.h"

#define FAKE_N_MAX 4096

typedef struct FakeEvent {
        EventKind kind;
        int64_t at_ns;
        uint64_t elapsed_ns;
        char detail[256];
} FakeEvent;

typedef struct FakeDatabase {
        unsigned n_inserts; /* asked for */
        const StoreNewRun *inserted;
        size_t n_inserted;
        DatabaseStatusHandler status_handler;
        void *status_userdata;
        DatabaseRunsHandler runs_handler;
        DatabaseReleaseHandler release;
        void *userdata;

        bool hangs;        /* nothing is written until fake_database_answers() */
        int written_error; /* of who wants to wait for that however long it takes */
        struct {
                DatabaseWrittenHandler handler;
                void *userdata;
        } waiting[8];
        size_t n_waiting;

        int64_t state_at_ns;
        RunState state; /* the last one written, of any run */
        size_t n_events_before_state;
        PhaseState phase_state;
        unsigned n_stop_asked;
        EngineErrno errnum; /* the last one written */
        unsigned n_histories, n_findings;
        History history; /* the last ones written */
        Verification verification;
        unsigned n_drained;
        char waits_for[256];
        unsigned n_places;
        StoreRun *stored; /* what it holds when it is opened, or NULL; allocated */
        uint64_t n_stored_samples; /* of its first phase: a second each, with 100 writes */
        unsigned n_samples;
        FakeEvent events[FAKE_N_MAX];
        size_t n_events;
} FakeDatabase;

/* One worker at a time. */
typedef struct FakeWorker {
        const WorkerHandlers *handlers; /* NULL: there is none, or it was abandoned */
        void *userdata;
        int send_error; /* of the next messages to it */
        MessageType last_sent;
        unsigned n_ends_of_run; /* END_RUN */
        uint32_t last_phase;    /* as it said */
        const Standing *opened; /* with the last OPEN */
        unsigned n_spawned;
        unsigned n_abandoned;
} FakeWorker;

extern FakeDatabase fake_database;
extern FakeWorker fake_worker;
extern uint64_t fake_now_ns; /* monotonic */

void fakes_reset(void);

/* A manager's state directory, which holds no more than the lock here, as the database is none. */
#define FAKE_DIRECTORY_MAX 64
void fake_directory_make(char directory[static FAKE_DIRECTORY_MAX]);
void fake_directory_remove(const char *directory);

/* The database answers the starts with this number for the first run, and lets go of them. */
void fake_insert_done(uint32_t first_id);

/* All is written that it was given. */
void fake_database_answers(void);

/* The worker says something: 0, or the errno with which it is called nonsense. */
int fake_say(Message *message);
void fake_end(const WorkerEnd *end);

/* Calls the handler of the timer that was last set for so long. */
void fake_timer_expires(uint64_t usec);

/* The last one, NULL if there was none; how many there were. */
const FakeEvent *fake_event(EventKind kind);
unsigned fake_count_events(EventKind kind);

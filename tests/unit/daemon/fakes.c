/* SPDX-License-Identifier: MIT */

#include "fakes.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/macro.h"

FakeDatabase fake_database;
FakeWorker fake_worker;
uint64_t fake_now_ns;

typedef struct Timer {
        uint64_t usec;
        sd_event_time_handler_t handler;
        void *userdata;
} Timer;

static Timer timers[64];
static size_t n_timers;

void fake_directory_make(char directory[static FAKE_DIRECTORY_MAX]) {
        snprintf(directory, FAKE_DIRECTORY_MAX, "%s/plateau-unit-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(directory));
}

void fake_directory_remove(const char *directory) {
        char path[FAKE_DIRECTORY_MAX + 32];

        snprintf(path, sizeof(path), "%s/plateau.db-lock", directory);
        unlink(path);
        rmdir(directory);
}

void fakes_reset(void) {
        fake_database = (FakeDatabase){};
        fake_worker = (FakeWorker){};
        fake_now_ns = 1000;
        n_timers = 0;
}

/* --- the clock --- */

uint64_t __wrap_time_monotonic_ns(void);
uint64_t __wrap_time_monotonic_ns(void) {
        return fake_now_ns;
}

int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
                                      uint64_t accuracy, sd_event_time_handler_t handler, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
                                      uint64_t accuracy, sd_event_time_handler_t handler, void *userdata) {
        ck_assert_uint_lt(n_timers, ELEMENTSOF(timers));
        timers[n_timers++] = (Timer){ usec, handler, userdata };
        *ret = NULL;
        return 0;
}

void fake_timer_expires(uint64_t usec) {
        for (size_t i = n_timers; i-- > 0;)
                if (timers[i].usec == usec) {
                        ck_assert_int_ge(timers[i].handler(NULL, 0, timers[i].userdata), 0);
                        return;
                }
        ck_abort_msg("there is no such timer");
}

/* --- the worker --- */

int worker_process_new(WorkerProcess **ret, sd_event *event, const WorkerHandlers *handlers, void *userdata,
                       Error *error) {
        fake_worker.handlers = handlers;
        fake_worker.userdata = userdata;
        fake_worker.n_spawned++;
        *ret = (WorkerProcess *) &fake_worker;
        return 0;
}

void worker_process_set_handlers(WorkerProcess *worker, const WorkerHandlers *handlers, void *userdata) {
        fake_worker.handlers = handlers;
        fake_worker.userdata = userdata;
}

int worker_process_send(WorkerProcess *worker, const Message *message) {
        fake_worker.last_sent = message->type;
        if (message->type == MESSAGE_END_RUN) {
                fake_worker.n_ends_of_run++;
                fake_worker.last_phase = message->end_run.index;
        }
        if (message->type == MESSAGE_OPEN)
                fake_worker.opened = message->open.standing;
        return fake_worker.send_error;
}

void worker_process_abandon(WorkerProcess *worker, bool hard) {
        fake_worker.handlers = NULL;
        fake_worker.n_abandoned++;
}

int fake_say(Message *message) {
        ck_assert_ptr_nonnull(fake_worker.handlers);
        int r = fake_worker.handlers->message((WorkerProcess *) &fake_worker, message, fake_worker.userdata);
        message_clear(message);
        return r;
}

void fake_end(const WorkerEnd *end) {
        ck_assert_ptr_nonnull(fake_worker.handlers);
        fake_worker.handlers->ended((WorkerProcess *) &fake_worker, end, fake_worker.userdata);
        fake_worker.handlers = NULL;
}

/* --- the database --- */

int database_new(Database **ret, sd_event *event, const char *path, DatabaseStatusHandler handler, void *userdata,
                 Error *error) {
        *ret = (Database *) &fake_database;
        fake_database.status_handler = handler;
        fake_database.status_userdata = userdata;
        return 0;
}

void database_take_runs(Database *database, StoreRun **ret, size_t *ret_n) {
        *ret = TAKE_PTR(fake_database.stored);
        *ret_n = *ret ? 1 : 0;
}

int database_each_sample(Database *database, uint32_t run, uint32_t phase, StoreSampleHandler handler, void *userdata,
                         Error *error) {
        int r = 0;

        for (uint64_t i = 0; i < fake_database.n_stored_samples && r >= 0; i++) {
                _cleanup_free_ Sample *sample = calloc(1, sizeof(*sample));

                sample->seq = i;
                sample->elapsed_ns = (i + 1) * NSEC_PER_SEC;
                sample->duration_ns = NSEC_PER_SEC;
                sample->ios[DIRECTION_WRITE] = 100;
                sample->bytes[DIRECTION_WRITE] = 100 * 4096;
                r = handler(sample, NULL, userdata);
        }
        return MIN(r, 0);
}

int database_shutdown(Database *database, uint64_t timeout_ns) {
        return 0;
}

static void release(void) {
        DatabaseReleaseHandler handler = fake_database.release;

        fake_database.release = NULL;
        if (handler)
                handler(fake_database.userdata);
}

static void flush(bool written);

Database *database_free(Database *database) {
        flush(false);
        release();
        return NULL;
}

void database_status(Database *database, DatabaseStatus *ret) {
        *ret = (DatabaseStatus){};
}

int database_insert_runs(Database *database, const StoreNewRun *runs, size_t n, DatabaseRunsHandler handler,
                         DatabaseReleaseHandler release_handler, void *userdata) {
        fake_database.n_inserts++;
        fake_database.inserted = runs;
        fake_database.n_inserted = n;
        fake_database.runs_handler = handler;
        fake_database.release = release_handler;
        fake_database.userdata = userdata;
        return 0;
}

void fake_insert_done(uint32_t first_id) {
        uint32_t ids[4];

        ck_assert_uint_le(fake_database.n_inserted, ELEMENTSOF(ids));
        for (size_t i = 0; i < fake_database.n_inserted; i++)
                ids[i] = first_id + (uint32_t) i;
        fake_database.runs_handler(ids, fake_database.n_inserted, NULL, fake_database.userdata);
        release();
}

static void flush(bool written) {
        for (size_t i = 0; i < fake_database.n_waiting; i++)
                fake_database.waiting[i].handler(written, fake_database.waiting[i].userdata);
        fake_database.n_waiting = 0;
}

void fake_database_answers(void) {
        fake_database.hangs = false;
        flush(true);
}

/* Who only tells of it is told that the time is up. */
int database_when_written(Database *database, uint64_t timeout_ns, DatabaseWrittenHandler handler, void *userdata) {
        if (fake_database.written_error < 0 && timeout_ns == UINT64_MAX)
                return fake_database.written_error;
        if (!fake_database.hangs || timeout_ns != UINT64_MAX) {
                handler(!fake_database.hangs, userdata);
                return 0;
        }

        ck_assert_uint_lt(fake_database.n_waiting, ELEMENTSOF(fake_database.waiting));
        fake_database.waiting[fake_database.n_waiting].handler = handler;
        fake_database.waiting[fake_database.n_waiting++].userdata = userdata;
        return 0;
}

int database_set_run_state(Database *database, uint32_t run, RunState state, int64_t at_ns) {
        fake_database.state = state;
        fake_database.state_at_ns = at_ns;
        fake_database.n_events_before_state = fake_database.n_events;
        return 0;
}

int database_set_stop_asked(Database *database, uint32_t run, int64_t at_ns) {
        fake_database.n_stop_asked++;
        return 0;
}

int database_set_drained(Database *database, uint32_t run) {
        fake_database.n_drained++;
        return 0;
}

int database_set_waits_for(Database *database, uint32_t run, const char *waits_for) {
        snprintf(fake_database.waits_for, sizeof(fake_database.waits_for), "%s", waits_for ?: "");
        return 0;
}

int database_set_place(Database *database, uint32_t run, const DeviceInfo *device, const char *boot_id) {
        fake_database.n_places++;
        return 0;
}

int database_set_phase_state(Database *database, uint32_t run, uint32_t phase, PhaseState state, int64_t at_ns) {
        fake_database.phase_state = state;
        return 0;
}

int database_add_sample(Database *database, uint32_t run, const Sample *sample) {
        fake_database.n_samples++;
        return 0;
}

int database_add_event(Database *database, uint32_t run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind,
                       const char *detail) {
        ck_assert_uint_lt(fake_database.n_events, FAKE_N_MAX);
        FakeEvent *event = &fake_database.events[fake_database.n_events++];
        event->kind = kind;
        event->at_ns = at_ns;
        event->elapsed_ns = elapsed_ns;
        snprintf(event->detail, sizeof(event->detail), "%s", detail);
        return 0;
}

int database_set_errno(Database *database, uint32_t run, const EngineErrno *errnum) {
        fake_database.errnum = *errnum;
        return 0;
}

int database_set_history(Database *database, uint32_t run, uint32_t phase, uint32_t share, const History *history) {
        fake_database.n_histories++;
        fake_database.history = *history;
        return 0;
}

int database_set_verification(Database *database, uint32_t run, uint32_t phase, const Verification *verification) {
        fake_database.verification = *verification;
        return 0;
}

int database_add_finding(Database *database, uint32_t run, const StoreFinding *finding) {
        fake_database.n_findings++;
        return 0;
}

const FakeEvent *fake_event(EventKind kind) {
        for (size_t i = fake_database.n_events; i-- > 0;)
                if (fake_database.events[i].kind == kind)
                        return &fake_database.events[i];
        return NULL;
}

unsigned fake_count_events(EventKind kind) {
        unsigned n = 0;

        for (size_t i = 0; i < fake_database.n_events; i++)
                n += fake_database.events[i].kind == kind;
        return n;
}

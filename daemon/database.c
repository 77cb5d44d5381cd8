/* SPDX-License-Identifier: MIT */

/*
 * Two queues go to the thread: changes, which must get into the database sooner or later, and requests
 * for new runs, for whose answer somebody waits. What comes back (answers, a changed status, "all
 * written") is noted under the lock, and an eventfd wakes the loop.
 *
 * Changes are given a quarter of a second to gather, so that the samples of many runs share one
 * transaction (and one fsync); changes of state, which somebody looks at, are written at once.
 */

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "database-queue.h"
#include "database.h"
#include "log.h"
#include "util/macro.h"
#include "util/time.h"

#define GATHER_NS (250 * NSEC_PER_MSEC)
#define RETRY_NS NSEC_PER_SEC
#define HANG_NS (3 * NSEC_PER_SEC) /* then the disk is said not to answer */
#define ANSWER_NS (10 * NSEC_PER_SEC)  /* for new runs */
#define GRACE_NS (500 * NSEC_PER_MSEC) /* for a thread that is not stuck to come to its end */
#define BATCH_BYTES (8 * MIB)          /* of one transaction; what it holds cannot be dropped meanwhile */

typedef enum RequestState {
        REQUEST_WAITING,
        REQUEST_TAKEN,     /* the thread is at it */
        REQUEST_DONE,      /* the answer is there */
        REQUEST_ABANDONED, /* taken, but the handler was told that the database does not answer */
} RequestState;

/* Somebody in the loop waits: for new runs (n > 0), or until all is settled up to position `ticket`. */
typedef struct Request {
        struct Request *next;
        RequestState state;
        uint64_t deadline_ns; /* monotonic */

        const StoreNewRun *runs;
        size_t n;
        uint32_t *ids;
        Error error;
        DatabaseRunsHandler runs_handler;
        DatabaseReleaseHandler release;

        uint64_t ticket;
        DatabaseWrittenHandler written_handler;

        void *userdata;
} Request;

struct Database {
        char *path;
        Store *store; /* the thread's */
        Sample *scratch; /* likewise */
        pthread_t thread;
        bool has_thread;

        sd_event_source *wakeup;
        sd_event_source *timer;
        sd_event_source *look; /* once a second: does the thread still answer? */
        int wakeup_fd;
        DatabaseStatusHandler status_handler;
        void *userdata;
        StoreRun *found;
        size_t n_found;
        int told_error; /* of which the status handler knows */
        Alarm alarm;

        pthread_mutex_t lock;
        pthread_cond_t todo; /* for the thread */
        pthread_cond_t end;  /* the thread has ended */
        Queue queue;
        Request *requests;       /* in order */
        uint64_t gather_until_ns; /* the queue is not empty: when it is written */
        uint64_t retry_at_ns;
        uint64_t stop_at_ns;     /* 0: not stopping */
        uint64_t busy_since_ns;  /* monotonic: the thread is in the store; 0: it is not */
        bool ended;
        DatabaseStatus status;
};

/* --- the thread --- */

static void database_wake_loop(Database *database) {
        /* Full is no trouble: then it is readable already. */
        (void) !write(database->wakeup_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

static void database_set_error(Database *database, int r, const char *message) {
        database->status.error = r;
        snprintf(database->status.message, sizeof(database->status.message), "%s", message);
        database_wake_loop(database);
}

/* Around every call of the store: whoever asks for the status meanwhile can tell how long it has taken. */
static void database_leave_lock(Database *database) {
        database->busy_since_ns = time_monotonic_ns();
        pthread_mutex_unlock(&database->lock);
}

static void database_take_lock(Database *database) {
        pthread_mutex_lock(&database->lock);
        database->busy_since_ns = 0;
}

/* Whether trying again later may help: the place is at fault, not what is to be written. */
static bool error_may_pass(int r, const Error *error) {
        switch (r) {
        case -ENOENT: /* of the run, or of a file? */
                return error->kind != ERROR_NOT_FOUND;
        case -EINVAL:
        case -ERANGE:
        case -EEXIST:
        case -E2BIG:
                return false;
        default:
                return true;
        }
}

/* Into files that are still those that were opened: else it would be told as written and be nowhere. */
static int database_commit(Store *store, Error *error) {
        int r = store_check_files(store, error);
        if (r < 0)
                return r;
        return store_commit(store, error);
}

/* n pinned changes in one transaction. On failure *ret_culprit is the change that did it, if one did. */
static int database_write_batch(Database *database, Change *first, size_t n, Change **ret_culprit, Error *error) {
        Change *change = first;
        bool ends_run = false;

        *ret_culprit = NULL;

        int r = store_check_place(database->store, error);
        if (r >= 0)
                r = store_begin(database->store, error);
        if (r < 0)
                return r;

        for (size_t i = 0; i < n && r >= 0; i++) {
                change = i > 0 ? change_next(change) : first;
                ends_run = ends_run || change_ends_run(change);
                r = change_write(change, database->store, database->scratch, error);
        }
        if (r < 0)
                *ret_culprit = change;

        if (r >= 0)
                r = database_commit(database->store, error);
        if (r < 0)
                store_rollback(database->store);
        else if (ends_run)
                store_checkpoint(database->store); /* before it is told: from then on people copy the file */
        return r;
}

/* Enters and leaves with the lock held. */
static void database_write_changes(Database *database) {
        _cleanup_error_ Error error = ERROR_INIT;
        Change *culprit;
        size_t n;
        Change *first = queue_pin(&database->queue, BATCH_BYTES, &n);

        database_leave_lock(database);
        int r = database_write_batch(database, first, n, &culprit, &error);
        database_take_lock(database);

        if (r >= 0) {
                queue_settle(&database->queue);
                database->retry_at_ns = 0;
                if (database->status.error < 0)
                        database_set_error(database, 0, "");
        } else if (culprit && !error_may_pass(r, &error)) {
                /* It must not keep everybody else's seconds out of the database for ever. */
                log_error("run %" PRIu32 ": the database refuses a change, it is left out: %s", change_run(culprit),
                          error_message(&error));
                queue_reject(&database->queue, culprit);
        } else {
                queue_unpin(&database->queue);
                database->retry_at_ns = time_monotonic_ns() + RETRY_NS;
                if (database->status.error != r)
                        database_set_error(database, r, error_message(&error));
        }
}

static int database_insert(Database *database, const StoreNewRun *runs, size_t n, uint32_t *ret_ids, Error *error) {
        int r = store_check_place(database->store, error);
        if (r >= 0)
                r = store_begin(database->store, error);
        if (r < 0)
                return r;

        for (size_t i = 0; i < n && r >= 0; i++)
                r = store_insert_run(database->store, runs + i, ret_ids + i, error);
        if (r >= 0)
                r = database_commit(database->store, error);
        if (r < 0)
                store_rollback(database->store);
        return r;
}

/* Nobody waits for these any more, and nothing was started: their rows must not look as if something still would be. */
static void database_refuse_runs(Database *database, const Request *request) {
        int64_t now = time_realtime_ns();

        for (size_t i = 0; i < request->n; i++) {
                (void) queue_push_event(&database->queue, request->ids[i], now, 0, EVENT_REFUSED,
                                        "not started: the database did not answer in time");
                (void) queue_push_run_state(&database->queue, request->ids[i], RUN_REFUSED, now);
        }
}

/* Enters and leaves with the lock held. */
static void database_answer(Database *database, Request *request) {
        request->state = REQUEST_TAKEN;

        database_leave_lock(database);
        int r = database_insert(database, request->runs, request->n, request->ids, &request->error);
        database_take_lock(database);

        if (r < 0 && request->error.kind == ERROR_NONE)
                error_set(&request->error, ERROR_UNREACHABLE, -r, "the database cannot be written: %s", strerror(-r));
        if (request->state == REQUEST_ABANDONED && r >= 0)
                database_refuse_runs(database, request);
        request->state = REQUEST_DONE;
        database_wake_loop(database);
}

static Request *database_next_insert(Database *database) {
        for (Request *request = database->requests; request; request = request->next)
                if (request->n > 0 && request->state == REQUEST_WAITING)
                        return request;
        return NULL;
}

/* Monotonic time at which changes are to be written; UINT64_MAX if there are none. */
static uint64_t database_next_write(const Database *database) {
        if (!database->queue.first)
                return UINT64_MAX;
        if (database->retry_at_ns > 0)
                return database->retry_at_ns;
        if (database->stop_at_ns > 0 || database->queue.bytes > BATCH_BYTES)
                return 0;
        return database->gather_until_ns;
}

static void database_wait(Database *database, uint64_t until_ns) {
        if (database->stop_at_ns > 0)
                until_ns = MIN(until_ns, database->stop_at_ns);
        if (until_ns == UINT64_MAX) {
                pthread_cond_wait(&database->todo, &database->lock);
                return;
        }

        struct timespec until = {
                .tv_sec = (time_t) (until_ns / NSEC_PER_SEC),
                .tv_nsec = (long) (until_ns % NSEC_PER_SEC),
        };
        pthread_cond_timedwait(&database->todo, &database->lock, &until);
}

static bool database_is_finished(const Database *database) {
        if (database->stop_at_ns == 0)
                return false;
        return !database->queue.first || time_monotonic_ns() >= database->stop_at_ns;
}

static void *database_thread(void *userdata) {
        Database *database = userdata;

        pthread_mutex_lock(&database->lock);
        while (!database_is_finished(database)) {
                Request *insert = database_next_insert(database);
                uint64_t write_at = database_next_write(database);

                if (insert)
                        database_answer(database, insert);
                else if (time_monotonic_ns() >= write_at) {
                        uint64_t settled = queue_settled(&database->queue);
                        database->gather_until_ns = time_monotonic_ns() + GATHER_NS;
                        database_write_changes(database);
                        if (queue_settled(&database->queue) != settled)
                                database_wake_loop(database);
                } else
                        database_wait(database, write_at);
        }
        if (!database->queue.first) {
                database_leave_lock(database);
                store_checkpoint(database->store);
                database_take_lock(database);
        }
        database->ended = true;
        pthread_cond_broadcast(&database->end);
        pthread_mutex_unlock(&database->lock);
        return NULL;
}

/* --- the loop: answers --- */

static bool request_is_written(const Database *database, const Request *request) {
        return queue_settled(&database->queue) >= request->ticket;
}

static bool request_is_due(const Database *database, const Request *request, uint64_t now) {
        if (now >= request->deadline_ns && request->state != REQUEST_ABANDONED)
                return true;
        if (request->n > 0)
                return request->state == REQUEST_DONE;
        return request_is_written(database, request);
}

/* Takes the first request out of the list that is due (or, abandoned, need not be kept any more). */
static Request *database_next_due(Database *database, uint64_t now, RequestState *ret_state) {
        for (Request **at = &database->requests; *at; at = &(*at)->next) {
                Request *request = *at;
                if (!request_is_due(database, request, now))
                        continue;

                if (request->n == 0 && request_is_written(database, request))
                        request->state = REQUEST_DONE;
                *ret_state = request->state;
                if (request->state == REQUEST_TAKEN)
                        request->state = REQUEST_ABANDONED; /* stays: the thread has it */
                else
                        *at = request->next;
                return request;
        }
        return NULL;
}

static Request *request_free(Request *request) {
        error_clear(&request->error);
        free(request->ids);
        free(request);
        return NULL;
}

/* An insert whose handler has been called by its deadline already is only released. */
static void request_answer(Request *request, RequestState state) {
        if (request->n == 0) {
                request->written_handler(state == REQUEST_DONE, request->userdata);
                request_free(request);
                return;
        }

        if (request->runs_handler && state != REQUEST_DONE) {
                _cleanup_error_ Error error = ERROR_INIT;
                error_set(&error, ERROR_UNREACHABLE, ETIMEDOUT, "the database did not answer within %u s",
                          (unsigned) (ANSWER_NS / NSEC_PER_SEC));
                request->runs_handler(NULL, 0, &error, request->userdata);
                request->runs_handler = NULL;
        } else if (request->runs_handler && request->error.kind != ERROR_NONE)
                request->runs_handler(NULL, 0, &request->error, request->userdata);
        else if (request->runs_handler)
                request->runs_handler(request->ids, request->n, NULL, request->userdata);

        if (state == REQUEST_TAKEN)
                return;
        request->release(request->userdata);
        request_free(request);
}

static uint64_t database_next_deadline(Database *database) {
        uint64_t next = UINT64_MAX;

        for (Request *request = database->requests; request; request = request->next)
                if (request->state == REQUEST_WAITING || request->state == REQUEST_TAKEN)
                        next = MIN(next, request->deadline_ns);
        return next;
}

static void database_tell_status(Database *database) {
        DatabaseStatus status;

        database_status(database, &status);
        AlarmNews news = alarm_look(&database->alarm, status.error, time_monotonic_ns(), &status.n_brief);
        if (status.error == database->told_error && news == ALARM_NOTHING)
                return;
        database->told_error = status.error;
        if (database->status_handler)
                database->status_handler(database, &status, news, database->userdata);
}

static void database_arm_timer(Database *database) {
        uint64_t next = database_next_deadline(database);

        if (next == UINT64_MAX) {
                sd_event_source_set_enabled(database->timer, SD_EVENT_OFF);
                return;
        }
        sd_event_source_set_time(database->timer, next / NSEC_PER_USEC + 1);
        sd_event_source_set_enabled(database->timer, SD_EVENT_ONESHOT);
}

static void database_deliver(Database *database) {
        for (;;) {
                RequestState state;

                pthread_mutex_lock(&database->lock);
                Request *request = database_next_due(database, time_monotonic_ns(), &state);
                pthread_mutex_unlock(&database->lock);
                if (!request)
                        break;
                request_answer(request, state);
        }

        pthread_mutex_lock(&database->lock);
        database_arm_timer(database);
        pthread_mutex_unlock(&database->lock);
        database_tell_status(database);
}

static int on_wakeup(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        uint64_t count;

        (void) !read(fd, &count, sizeof(count));
        database_deliver(userdata);
        return 0;
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata) {
        database_tell_status(userdata);

        int r = sd_event_source_set_time_relative(source, USEC_PER_SEC);
        return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        database_deliver(userdata);
        return 0;
}

/* --- the loop: requests --- */

static void database_add_request(Database *database, Request *request) {
        Request **at = &database->requests;
        while (*at)
                at = &(*at)->next;
        *at = request;
        pthread_cond_signal(&database->todo);
        database_arm_timer(database);
}

int database_insert_runs(Database *database, const StoreNewRun *runs, size_t n, DatabaseRunsHandler handler,
                         DatabaseReleaseHandler release, void *userdata) {
        Request *request = calloc(1, sizeof(*request));
        if (!request)
                return -ENOMEM;

        *request = (Request){
                .deadline_ns = time_monotonic_ns() + ANSWER_NS,
                .runs = runs,
                .n = n,
                .ids = calloc(n, sizeof(uint32_t)),
                .runs_handler = handler,
                .release = release,
                .userdata = userdata,
        };
        if (!request->ids) {
                request_free(request);
                return -ENOMEM;
        }

        pthread_mutex_lock(&database->lock);
        database_add_request(database, request);
        pthread_mutex_unlock(&database->lock);
        return 0;
}

int database_when_written(Database *database, uint64_t timeout_ns, DatabaseWrittenHandler handler, void *userdata) {
        Request *request = calloc(1, sizeof(*request));
        if (!request)
                return -ENOMEM;

        if (__builtin_add_overflow(time_monotonic_ns(), timeout_ns, &request->deadline_ns))
                request->deadline_ns = UINT64_MAX;
        request->written_handler = handler;
        request->userdata = userdata;

        pthread_mutex_lock(&database->lock);
        request->ticket = database->queue.n_pushed;
        database->gather_until_ns = 0; /* somebody waits */
        if (queue_settled(&database->queue) >= request->ticket)
                database_wake_loop(database);
        database_add_request(database, request);
        pthread_mutex_unlock(&database->lock);
        return 0;
}

/* --- the loop: changes --- */

static void database_lock(Database *database) {
        pthread_mutex_lock(&database->lock);
}

/* After a push: wakes the thread if this was the first change. */
static int database_unlock(Database *database, bool was_empty, int r) {
        if (was_empty && database->queue.first) {
                database->gather_until_ns = time_monotonic_ns() + GATHER_NS;
                pthread_cond_signal(&database->todo);
        }
        pthread_mutex_unlock(&database->lock);
        return r;
}

#define WITH_QUEUE(database, push)                                     \
        ({                                                             \
                database_lock(database);                               \
                bool _was_empty = !(database)->queue.first;            \
                database_unlock(database, _was_empty, push);           \
        })

int database_set_run_state(Database *database, uint32_t run, RunState state, int64_t at_ns) {
        return WITH_QUEUE(database, queue_push_run_state(&database->queue, run, state, at_ns));
}

int database_set_stop_asked(Database *database, uint32_t run, int64_t at_ns) {
        return WITH_QUEUE(database, queue_push_stop_asked(&database->queue, run, at_ns));
}

int database_set_drained(Database *database, uint32_t run) {
        return WITH_QUEUE(database, queue_push_drained(&database->queue, run));
}

int database_set_waits_for(Database *database, uint32_t run, const char *waits_for) {
        return WITH_QUEUE(database, queue_push_waits_for(&database->queue, run, waits_for));
}

int database_set_place(Database *database, uint32_t run, const DeviceInfo *device, const char *boot_id) {
        return WITH_QUEUE(database, queue_push_place(&database->queue, run, device, boot_id));
}

int database_set_phase_state(Database *database, uint32_t run, uint32_t phase, PhaseState state, int64_t at_ns) {
        return WITH_QUEUE(database, queue_push_phase_state(&database->queue, run, phase, state, at_ns));
}

int database_add_sample(Database *database, uint32_t run, const Sample *sample) {
        return WITH_QUEUE(database, queue_push_sample(&database->queue, run, sample));
}

int database_add_event(Database *database, uint32_t run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind,
                       const char *detail) {
        return WITH_QUEUE(database, queue_push_event(&database->queue, run, at_ns, elapsed_ns, kind, detail));
}

int database_set_errno(Database *database, uint32_t run, const EngineErrno *errnum) {
        return WITH_QUEUE(database, queue_push_errno(&database->queue, run, errnum));
}

int database_set_history(Database *database, uint32_t run, uint32_t phase, uint32_t share, const History *history) {
        return WITH_QUEUE(database, queue_push_history(&database->queue, run, phase, share, history));
}

int database_set_verification(Database *database, uint32_t run, uint32_t phase, const Verification *verification) {
        return WITH_QUEUE(database, queue_push_verification(&database->queue, run, phase, verification));
}

int database_add_finding(Database *database, uint32_t run, const StoreFinding *finding) {
        return WITH_QUEUE(database, queue_push_finding(&database->queue, run, finding));
}

void database_status(Database *database, DatabaseStatus *ret) {
        pthread_mutex_lock(&database->lock);
        *ret = database->status;
        uint64_t now = time_monotonic_ns();
        if (ret->error == 0 && database->busy_since_ns > 0 && now - database->busy_since_ns >= HANG_NS) {
                ret->error = -ETIMEDOUT;
                snprintf(ret->message, sizeof(ret->message), "%s for %" PRIu64 " s",
                         store_is_locked_out(database->store) ? "another process has held it locked"
                                                              : "no answer from its disk",
                         (now - database->busy_since_ns) / NSEC_PER_SEC);
        }
        ret->n_waiting = database->queue.n_changes;
        ret->bytes_waiting = database->queue.bytes;
        ret->n_dropped = database->queue.n_dropped;
        pthread_mutex_unlock(&database->lock);
}

/* --- beginning and end --- */

static int database_interrupt_runs(Store *store, Error *error) {
        int r = store_begin(store, error);
        if (r < 0)
                return r;

        r = store_interrupt_active_runs(store, time_realtime_ns(), error);
        if (r >= 0)
                r = store_commit(store, error);
        if (r < 0)
                store_rollback(store);
        return r;
}

static int database_open(Database *database, const char *path, Error *error) {
        int r = store_open_writer(&database->store, path, error);
        if (r < 0)
                return r;

        r = database_interrupt_runs(database->store, error);
        if (r < 0)
                return r;

        r = store_list_runs(database->store, &database->found, &database->n_found, error);
        if (r < 0)
                return r;

        return store_read_resumes(database->store, database->found, database->n_found, error);
}

static int database_attach(Database *database, sd_event *event) {
        database->wakeup_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (database->wakeup_fd < 0)
                return -errno;

        int r = sd_event_add_io(event, &database->wakeup, database->wakeup_fd, EPOLLIN, on_wakeup, database);
        if (r < 0)
                return r;

        r = sd_event_add_time_relative(event, &database->look, CLOCK_MONOTONIC, USEC_PER_SEC, 0, on_look, database);
        if (r < 0)
                return r;
        r = sd_event_add_time(event, &database->timer, CLOCK_MONOTONIC, 0, 1, on_timer, database);
        if (r < 0)
                return r;
        return sd_event_source_set_enabled(database->timer, SD_EVENT_OFF);
}

static void database_init_sync(Database *database) {
        pthread_condattr_t monotonic;

        pthread_mutex_init(&database->lock, NULL);
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(&database->todo, &monotonic);
        pthread_cond_init(&database->end, &monotonic);
        pthread_condattr_destroy(&monotonic);
}

int database_new(Database **ret, sd_event *event, const char *path, DatabaseStatusHandler handler, void *userdata,
                 Error *error) {
        _cleanup_database_ Database *database = calloc(1, sizeof(*database));
        if (!database)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");

        database->wakeup_fd = -EBADF;
        database->status_handler = handler;
        database->userdata = userdata;
        database_init_sync(database);
        queue_init(&database->queue, DATABASE_WAITING_BYTES_MAX);
        database->path = strdup(path);
        database->scratch = calloc(1, sizeof(*database->scratch));
        if (!database->path || !database->scratch)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");

        int r = database_open(database, path, error);
        if (r < 0)
                return r;

        r = database_attach(database, event);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "cannot watch the database thread: %s", strerror(-r));

        r = pthread_create(&database->thread, NULL, database_thread, database);
        if (r > 0)
                return error_set(error, ERROR_FAILED, r, "cannot start the database thread: %s", strerror(r));
        database->has_thread = true;

        *ret = TAKE_PTR(database);
        return 0;
}

/* Through a connection of its own: the other one is the thread's by now. */
int database_each_sample(Database *database, uint32_t run, uint32_t phase, StoreSampleHandler handler, void *userdata,
                         Error *error) {
        const StoreSampleQuery query = { .run = run, .phase = phase, .to_ns = UINT64_MAX };
        _cleanup_store_ Store *reader = NULL;

        int r = store_open_reader(&reader, database->path, error);
        return r < 0 ? r : store_each_sample(reader, &query, handler, userdata, error);
}

void database_take_runs(Database *database, StoreRun **ret, size_t *ret_n) {
        *ret = TAKE_PTR(database->found);
        *ret_n = database->n_found;
        database->n_found = 0;
}

int database_shutdown(Database *database, uint64_t timeout_ns) {
        uint64_t stop_at_ns = time_monotonic_ns() + timeout_ns, until_ns = stop_at_ns + GRACE_NS;
        struct timespec until = {
                .tv_sec = (time_t) (until_ns / NSEC_PER_SEC),
                .tv_nsec = (long) (until_ns % NSEC_PER_SEC),
        };
        int r = 0;

        pthread_mutex_lock(&database->lock);
        database->stop_at_ns = stop_at_ns;
        database->retry_at_ns = 0;
        pthread_cond_signal(&database->todo);
        while (!database->ended && r == 0)
                r = pthread_cond_timedwait(&database->end, &database->lock, &until);
        bool ended = database->ended, unwritten = database->queue.first;
        pthread_mutex_unlock(&database->lock);

        if (ended) {
                pthread_join(database->thread, NULL);
                database->has_thread = false;
        }
        return ended && !unwritten ? 0 : -ETIMEDOUT;
}

Database *database_free(Database *database) {
        database->wakeup = sd_event_source_disable_unref(database->wakeup);
        database->timer = sd_event_source_disable_unref(database->timer);
        database->look = sd_event_source_disable_unref(database->look);

        /* A thread that hangs in the file system still uses all of this: it goes with the process. */
        if (database->has_thread && database_shutdown(database, 0) < 0 && database->has_thread)
                return NULL;

        for (Request *request = database->requests, *next; request; request = next) {
                next = request->next;
                if (request->n == 0)
                        request->written_handler(false, request->userdata);
                else
                        request->release(request->userdata);
                request_free(request);
        }
        queue_clear(&database->queue);
        store_runs_free(database->found, database->n_found);
        if (database->store)
                store_close(database->store);
        fd_close(database->wakeup_fd);
        pthread_cond_destroy(&database->todo);
        pthread_cond_destroy(&database->end);
        pthread_mutex_destroy(&database->lock);
        free(database->scratch);
        free(database->path);
        free(database);
        return NULL;
}

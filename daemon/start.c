/* SPDX-License-Identifier: MIT */

/*
 * Runs on their way to be started: all or none.
 *
 *     job read, devices looked at ─► a worker for each: OPEN ─► REPORT or REFUSED, from all of them
 *        ─► rows in the database ─► GO to all, and each becomes a Run
 *
 * Nothing is written to any device before GO, so until then giving up means closing the sockets. A device that
 * hangs when it is opened costs the deadline and one process.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "log.h"
#include "manager-internal.h"
#include "util/macro.h"
#include "util/time.h"

#define OPEN_USEC (30 * USEC_PER_SEC)
#define N_DEVICES_MAX 128

typedef enum TargetState {
        TARGET_OPENING,
        TARGET_READY,
        TARGET_FAILED, /* `error` says why */
} TargetState;

/* One device of a start. */
typedef struct Target {
        Start *start;
        char *path;
        DeviceNumbers numbers; /* as far as known beforehand */
        TargetState state;
        WorkerProcess *worker; /* or NULL */
        DeviceInfo *info;
        char **notices; /* of device, plan and job together */
        Plan *plan;
        uint64_t run_tag;
        uint64_t seed;
        Error error;
} Target;

struct Start {
        Manager *manager;
        Start *next;
        Job *job;
        char *label;
        Target *targets;
        size_t n_targets;
        StoreNewRun *runs; /* once they are handed to the database */
        sd_event_source *deadline;
        StartHandler handler; /* NULL once it was called */
        void *userdata;
};

Start *start_next(const Start *start) {
        return start->next;
}

static void target_close(Target *target) {
        if (target->worker)
                worker_process_abandon(TAKE_PTR(target->worker), false);
}

static void target_clear(Target *target) {
        target_close(target);
        free(target->path);
        if (target->info)
                device_info_free(target->info);
        strv_free(target->notices);
        if (target->plan)
                plan_free(target->plan);
        error_clear(&target->error);
}

static Start *start_free(Start *start) {
        for (Start **at = &start->manager->starts; *at; at = &(*at)->next)
                if (*at == start) {
                        *at = start->next;
                        break;
                }

        for (size_t i = 0; i < start->n_targets; i++)
                target_clear(start->targets + i);
        free(start->targets);
        free(start->runs);
        free(start->label);
        if (start->job)
                job_free(start->job);
        sd_event_source_disable_unref(start->deadline);
        free(start);
        return NULL;
}
DEFINE_CLEANUP(Start *, start_free)

static void start_answer(Start *start, const uint32_t *ids, size_t n, const Error *error) {
        StartHandler handler = TAKE_PTR(start->handler);

        if (handler)
                handler(ids, n, error, start->userdata);
}

/* --- the last step: rows and runs --- */

static void start_close_targets(Start *start) {
        for (size_t i = 0; i < start->n_targets; i++)
                target_close(start->targets + i);
}

static const Target *start_first_failed(const Start *start) {
        for (size_t i = 0; i < start->n_targets; i++)
                if (start->targets[i].state == TARGET_FAILED)
                        return start->targets + i;
        return NULL;
}

/* The rows are there, but nothing will come of them. */
static void start_refuse_rows(Start *start, const uint32_t *ids, size_t n, const Error *error) {
        Database *database = start->manager->database;
        int64_t now = time_realtime_ns();

        for (size_t i = 0; i < n; i++) {
                (void) database_add_event(database, ids[i], now, 0, EVENT_REFUSED, error_message(error));
                (void) database_set_run_state(database, ids[i], RUN_REFUSED, now);
        }
}

static int start_make_run(Start *start, Target *target, const StoreNewRun *inserted, uint32_t id) {
        _cleanup_run_ Run *run = NULL;

        int r = run_new(&run, start->manager->database, &manager_run_observer, start->manager, id, inserted,
                        target->notices);
        if (r < 0)
                return r;
        target->notices = NULL;

        r = manager_add_run(start->manager, run);
        if (r < 0)
                return r;
        run_go(TAKE_PTR(run), TAKE_PTR(target->worker), target->run_tag, target->seed);
        return 0;
}

static void start_make_runs(Start *start, const uint32_t *ids, size_t n) {
        for (size_t i = 0; i < n; i++) {
                int r = start_make_run(start, start->targets + i, start->runs + i, ids[i]);
                if (r < 0) {
                        _cleanup_error_ Error error = ERROR_INIT;
                        error_set(&error, ERROR_FAILED, -r, "run %" PRIu32 " cannot be started: %s", ids[i],
                                  strerror(-r));
                        log_error("%s", error_message(&error));
                        start_refuse_rows(start, ids + i, 1, &error);
                }
        }
}

static void on_inserted(const uint32_t *ids, size_t n, const Error *error, void *userdata) {
        Start *start = userdata;
        const Target *failed = start_first_failed(start);

        if (!error && failed) {
                start_refuse_rows(start, ids, n, &failed->error);
                error = &failed->error;
        }

        if (!error)
                start_make_runs(start, ids, n);
        start_close_targets(start);
        start_answer(start, ids, n, error);
}

static void on_released(void *userdata) {
        Start *start = userdata;
        Manager *manager = start->manager;

        start_free(start);
        manager_check_stopped(manager);
}

static int start_insert(Start *start, Error *error) {
        start->runs = calloc(start->n_targets, sizeof(*start->runs));
        if (!start->runs)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");

        for (size_t i = 0; i < start->n_targets; i++)
                start->runs[i] = (StoreNewRun){
                        .label = start->label,
                        .job = start->job,
                        .plan = start->targets[i].plan,
                        .device = start->targets[i].info,
                        .run_tag = start->targets[i].run_tag,
                        .seed = start->targets[i].seed,
                        .created_at_ns = time_realtime_ns(),
                        .boot_id = start->manager->boot_id,
                        .host = start->manager->host,
                };

        int r = database_insert_runs(start->manager->database, start->runs, start->n_targets, on_inserted, on_released,
                                     start);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "the database cannot be asked: %s", strerror(-r));
        return 0;
}

/* --- the workers' answers --- */

/* What stands against it, of all devices. */
static void start_join_errors(const Start *start, Error *ret) {
        ErrorKind kind = ERROR_NONE;
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        for (size_t i = 0; i < start->n_targets; i++) {
                const Error *error = &start->targets[i].error;
                if (start->targets[i].state != TARGET_FAILED)
                        continue;
                if (f)
                        fprintf(f, "%s%s", kind == ERROR_NONE ? "" : "; ", error_message(error));
                if (kind == ERROR_NONE || error->kind == ERROR_REFUSED)
                        kind = error->kind;
        }
        if (f)
                fclose(f);
        error_set(ret, kind, EINVAL, "%s", text ? text : "out of memory");
}

/* Nothing has been started and nothing will be. The start is gone. */
static void start_fail(Start *start, const Error *error) {
        Manager *manager = start->manager;

        start_answer(start, NULL, 0, error);
        start_free(start);
        manager_check_stopped(manager);
}

/* After each answer: goes on once all are there. The start may be gone then. */
static void start_check(Start *start) {
        _cleanup_error_ Error error = ERROR_INIT;

        if (start->runs)
                return; /* too late to stop the rows; they will be refused */
        for (size_t i = 0; i < start->n_targets; i++)
                if (start->targets[i].state == TARGET_OPENING)
                        return;

        start->deadline = sd_event_source_disable_unref(start->deadline);
        if (start_first_failed(start))
                start_join_errors(start, &error);
        else if (start_insert(start, &error) >= 0)
                return;
        start_fail(start, &error);
}

void start_abort(Start *start, const Error *error) {
        if (!start->runs) {
                start_fail(start, error);
                return;
        }

        /* The database has it: what it answers is made undone then. */
        for (size_t i = 0; i < start->n_targets; i++) {
                Target *target = start->targets + i;
                target->state = TARGET_FAILED;
                error_set(&target->error, error->kind, ESHUTDOWN, "%s", error_message(error));
                target_close(target);
        }
        start_answer(start, NULL, 0, error);
}

static bool info_is_sound(const DeviceInfo *info) {
        uint32_t block = info->logical_block_bytes;

        return info->path && block >= 512 && (block & (block - 1)) == 0 && info->size_bytes >= block &&
               info->size_bytes <= INT64_MAX;
}

static int strv_append_copies(char ***strings, size_t *n, char *const *more, size_t n_more) {
        char **longer = reallocarray(*strings, *n + n_more + 1, sizeof(char *));
        if (!longer)
                return -ENOMEM;
        *strings = longer;
        longer[*n] = NULL;

        for (size_t i = 0; i < n_more; i++) {
                longer[*n] = strdup(more[i]);
                if (!longer[*n])
                        return -ENOMEM;
                longer[++*n] = NULL;
        }
        return 0;
}

static int target_collect_notices(Target *target, char ***device_notices) {
        const Job *job = target->start->job;
        size_t n = 0;

        target->notices = TAKE_PTR(*device_notices);
        while (target->notices && target->notices[n])
                n++;

        int r = strv_append_copies(&target->notices, &n, target->plan->notices, target->plan->n_notices);
        if (r < 0)
                return r;
        return strv_append_copies(&target->notices, &n, job->notices, job->n_notices);
}

static int target_on_report(Target *target, Message *message) {
        DeviceInfo *info = message->report.info;

        if (!info || !info_is_sound(info))
                return -EBADMSG;
        message->report.info = NULL;
        target->info = info;

        PlanTarget plan_target = device_plan_target(info);
        int r = plan_new(&target->plan, target->start->job, &plan_target, target->seed, &target->error);
        if (r >= 0 && target_collect_notices(target, &message->report.notices) < 0)
                r = error_set(&target->error, ERROR_FAILED, ENOMEM, "out of memory");

        target->state = r < 0 ? TARGET_FAILED : TARGET_READY;
        return 0;
}

static void target_on_refused(Target *target, const Message *message) {
        ErrorKind kind = message->refused.kind == ERROR_NONE ? ERROR_REFUSED : message->refused.kind;

        error_set(&target->error, kind, EPERM, "%s", message->refused.text);
        target->state = TARGET_FAILED;
        target_close(target);
}

static int on_message(WorkerProcess *worker, Message *message, void *userdata) {
        Target *target = userdata;

        if (target->state != TARGET_OPENING)
                return -EBADMSG;

        if (message->type == MESSAGE_REPORT) {
                int r = target_on_report(target, message);
                if (r < 0)
                        return r;
        } else if (message->type == MESSAGE_REFUSED)
                target_on_refused(target, message);
        else
                return -EBADMSG;

        start_check(target->start);
        return 0;
}

static void on_ended(WorkerProcess *worker, const WorkerEnd *end, void *userdata) {
        Target *target = userdata;

        target->worker = NULL;
        if (end->fault)
                error_set(&target->error, ERROR_FAILED, EPROTO, "%s: its worker was killed: %s", target->path,
                          end->fault);
        else if (end->exited)
                error_set(&target->error, ERROR_FAILED, EPROTO,
                          "%s: its worker ended without an answer, with exit status %d",
                          target->path, end->status);
        else
                error_set(&target->error, ERROR_FAILED, EPROTO, "%s: its worker was killed by signal %d", target->path,
                          end->status);
        target->state = TARGET_FAILED;
        start_check(target->start);
}

static const WorkerHandlers target_handlers = {
        .message = on_message,
        .ended = on_ended,
};

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        Start *start = userdata;

        for (size_t i = 0; i < start->n_targets; i++) {
                Target *target = start->targets + i;
                if (target->state != TARGET_OPENING)
                        continue;
                error_set(&target->error, ERROR_FAILED, ETIMEDOUT, "%s: the device did not answer within %u s",
                          target->path,
                          (unsigned) (OPEN_USEC / USEC_PER_SEC));
                target->state = TARGET_FAILED;
                log_warning("%s", error_message(&target->error));
                worker_process_abandon(TAKE_PTR(target->worker), true);
        }
        start_check(start);
        return 0;
}

/* --- the first step --- */

/*
 * Only a look at the node, not an open; and only below /dev, since a path on a hung network
 * file system must not stop the loop. What cannot be told here the worker's claim finds out.
 */
static DeviceNumbers path_numbers(const char *path) {
        struct stat st;

        if (strncmp(path, "/dev/", strlen("/dev/")) != 0 || stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
                return (DeviceNumbers){};
        return device_numbers_read(st.st_rdev);
}

static bool target_is(const Target *target, const char *path, const DeviceNumbers *numbers) {
        return strcmp(target->path, path) == 0 || device_numbers_overlap(&target->numbers, numbers);
}

static int start_check_free(Start *start, const char *path, const DeviceNumbers *numbers, Error *error) {
        Manager *manager = start->manager;

        for (size_t i = 0; i < start->n_targets; i++)
                if (target_is(start->targets + i, path, numbers))
                        return error_set(error, ERROR_REFUSED, EBUSY,
                                         "%s is the same device as %s, or one is on the other: each can be named "
                                         "once only", path, start->targets[i].path);

        for (size_t i = 0; i < manager->n_runs; i++)
                if (run_holds_device(manager->runs[i], numbers))
                        return error_set(error, ERROR_REFUSED, EBUSY,
                                         "%s is in use: run %" PRIu32 " is on it (%s); "
                                         "'plateau stop %" PRIu32 "' ends it", path, run_id(manager->runs[i]),
                                         run_device_path(manager->runs[i]),
                                         run_id(manager->runs[i]));

        for (Start *other = manager->starts; other; other = other->next)
                for (size_t i = 0; other != start && i < other->n_targets; i++)
                        if (target_is(other->targets + i, path, numbers))
                                return error_set(error, ERROR_REFUSED, EBUSY,
                                                 "%s is in use: another run is just being started on it",
                                                 path);
        return 0;
}

/* So few bytes come whole, or not at all; a signal may come before them. */
static int random_u64(uint64_t *ret) {
        ssize_t n;

        do
                n = getrandom(ret, sizeof(*ret), 0);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        return n == sizeof(*ret) ? 0 : -EIO;
}

static int start_add_target(Start *start, const char *path, Error *error) {
        DeviceNumbers numbers = path_numbers(path);

        int r = start_check_free(start, path, &numbers, error);
        if (r < 0)
                return r;

        Target *target = start->targets + start->n_targets;
        *target = (Target){ .start = start, .path = strdup(path), .numbers = numbers };
        if (!target->path)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        start->n_targets++;

        while (r >= 0 && target->run_tag == 0)
                r = random_u64(&target->run_tag);
        if (r >= 0)
                r = random_u64(&target->seed);
        return r < 0 ? error_set(error, ERROR_FAILED, -r, "no random numbers: %s", strerror(-r)) : 0;
}

static int target_open(Target *target, const StartParameters *parameters, Error *error) {
        const Message open = {
                .type = MESSAGE_OPEN,
                .open = {
                        .version = MESSAGE_VERSION,
                        .path = target->path,
                        .confirmations = (char **) parameters->confirmations,
                        .deny = target->start->manager->deny,
                        .erase_existing = parameters->erase_existing,
                        .job_name = (char *) parameters->job_name,
                        .job_text = (char *) parameters->job_text,
                },
        };

        int r = worker_process_new(&target->worker, target->start->manager->event, &target_handlers, target, error);
        if (r < 0)
                return r;

        r = worker_process_send(target->worker, &open);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "%s: its worker cannot be told: %s", target->path,
                                 strerror(-r));
        return 0;
}

static int start_prepare(Start *start, const StartParameters *parameters, Error *error) {
        size_t n = 0;

        int r = job_parse(&start->job, parameters->job_name, parameters->job_text, strlen(parameters->job_text), error);
        if (r < 0)
                return r;

        while (parameters->devices[n])
                n++;
        if (n == 0)
                return error_set(error, ERROR_USAGE, EINVAL, "no device is named");
        if (n > N_DEVICES_MAX)
                return error_set(error, ERROR_USAGE, E2BIG, "%zu devices at once: at most %d are possible", n,
                                 N_DEVICES_MAX);
        if (parameters->label && strlen(parameters->label) > RUN_LABEL_BYTES_MAX)
                return error_set(error, ERROR_USAGE, E2BIG, "the label has %zu bytes: at most %d are possible",
                                 strlen(parameters->label), RUN_LABEL_BYTES_MAX);

        start->targets = calloc(n, sizeof(*start->targets));
        if (parameters->label)
                start->label = strdup(parameters->label);
        if (!start->targets || (parameters->label && !start->label))
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");

        for (size_t i = 0; i < n && r >= 0; i++)
                r = start_add_target(start, parameters->devices[i], error);
        return r;
}

int manager_start_runs(Manager *manager, const StartParameters *parameters, StartHandler handler, void *userdata,
                       Error *error) {
        _cleanup_(start_freep) Start *start = calloc(1, sizeof(*start));
        if (!start)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        start->manager = manager;

        if (manager->stopping)
                return error_set(error, ERROR_UNREACHABLE, ESHUTDOWN, "the service is stopping");

        int r = start_prepare(start, parameters, error);
        for (size_t i = 0; i < start->n_targets && r >= 0; i++)
                r = target_open(start->targets + i, parameters, error);
        if (r < 0)
                return r;

        r = sd_event_add_time_relative(manager->event, &start->deadline, CLOCK_MONOTONIC, OPEN_USEC, 0, on_deadline,
                                       start);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "cannot watch the time: %s", strerror(-r));

        start->handler = handler;
        start->userdata = userdata;
        start->next = manager->starts;
        manager->starts = TAKE_PTR(start);
        return 0;
}

/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "log.h"
#include "manager-internal.h"
#include "util/macro.h"
#include "util/parse.h"
#include "util/text.h"

/* For workers that are told to stop; a drive that hangs must not hold the service. */
#define STOP_USEC (8 * USEC_PER_SEC)
#define CLOSE_NS (10 * NSEC_PER_SEC)

/* --- what runs tell --- */

static void on_run_changed(Run *run, RunChange change, void *userdata) {
        Manager *manager = userdata;
        manager->observer->run_changed(run, change, manager->userdata);
}

static void on_run_event(Run *run, EventKind kind, const char *detail, void *userdata) {
        Manager *manager = userdata;
        manager->observer->run_event(run, kind, detail, manager->userdata);
}

static void on_run_ended(Run *run, void *userdata) {
        resume_consider(userdata, run);
        manager_check_stopped(userdata);
}

static int on_run_wanted(Run *run, void *userdata, Error *error) {
        return resume_now(userdata, run, error);
}

const RunObserver manager_run_observer = {
        .changed = on_run_changed,
        .event = on_run_event,
        .ended = on_run_ended,
        .wanted = on_run_wanted,
};

static void nobody_run_added(Run *run, void *userdata) {}
static void nobody_run_changed(Run *run, RunChange change, void *userdata) {}
static void nobody_run_event(Run *run, EventKind kind, const char *detail, void *userdata) {}
static void nobody_database_changed(Manager *manager, void *userdata) {}

static const ManagerObserver nobody = {
        .run_added = nobody_run_added,
        .run_changed = nobody_run_changed,
        .run_event = nobody_run_event,
        .database_changed = nobody_database_changed,
};

void manager_set_observer(Manager *manager, const ManagerObserver *observer, void *userdata) {
        manager->observer = observer ? observer : &nobody;
        manager->userdata = userdata;
}

/* --- the database --- */

#define NEWS_MAX (sizeof((DatabaseStatus){}.message) + 128)

static void database_news(const DatabaseStatus *status, AlarmNews news, char ret[static NEWS_MAX]) {
        char brief[64];

        snprintf(brief, sizeof(brief), "%" PRIu64 " %s for a moment since this was last told", status->n_brief,
                 status->n_brief == 1 ? "time" : "times");
        if (news == ALARM_OVER)
                snprintf(ret, NEWS_MAX, "is written again");
        else if (news == ALARM_BRIEF)
                snprintf(ret, NEWS_MAX, "could not be written %s, and samples waited in memory", brief);
        else
                snprintf(ret, NEWS_MAX, "cannot be written, samples wait in memory: %s%s%s", status->message,
                         status->n_brief > 0 ? "; so it was " : "", status->n_brief > 0 ? brief : "");
}

static void on_database_status(Database *database, const DatabaseStatus *status, AlarmNews news, void *userdata) {
        Manager *manager = userdata;

        if (news != ALARM_NOTHING) {
                char text[NEWS_MAX];

                database_news(status, news, text);
                (news == ALARM_OVER ? log_info : log_error)("the database %s", text);
                for (size_t i = 0; i < manager->n_runs; i++)
                        if (run_has_worker(manager->runs[i]))
                                run_record(manager->runs[i], EVENT_DATABASE, "%s", text);
        }
        manager->observer->database_changed(manager, manager->userdata);
}

const char *manager_database_path(const Manager *manager) {
        return manager->database_path;
}

const char *manager_database_state(Manager *manager, char buf[static MANAGER_DATABASE_STATE_MAX]) {
        DatabaseStatus status;

        database_status(manager->database, &status);
        if (status.error == 0)
                snprintf(buf, MANAGER_DATABASE_STATE_MAX, "ok");
        else
                snprintf(buf, MANAGER_DATABASE_STATE_MAX,
                         "%s (%" PRIu64 " changes, %" PRIu64 " KiB wait; %" PRIu64 " samples lost)", status.message,
                         status.n_waiting, status.bytes_waiting / KIB, status.n_dropped);
        return buf;
}

/* --- runs --- */

int manager_add_run(Manager *manager, Run *run) {
        Run **runs = reallocarray(manager->runs, manager->n_runs + 1, sizeof(Run *));
        if (!runs)
                return -ENOMEM;

        manager->runs = runs;
        manager->runs[manager->n_runs++] = run;
        manager->observer->run_added(run, manager->userdata);
        return 0;
}

Run *manager_get_run(Manager *manager, uint32_t id) {
        size_t low = 0, high = manager->n_runs;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (run_id(manager->runs[middle]) < id)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < manager->n_runs && run_id(manager->runs[low]) == id ? manager->runs[low] : NULL;
}

int manager_find_run(Manager *manager, const char *which, Run **ret, Error *error) {
        uint64_t id;

        if (strcmp(which, "last") == 0) {
                if (manager->n_runs == 0)
                        return error_set(error, ERROR_NOT_FOUND, ENOENT, "there are no runs yet");
                *ret = manager->runs[manager->n_runs - 1];
                return 0;
        }

        if (parse_u64(which, &id) < 0)
                return error_set(error, ERROR_USAGE, EINVAL, "'%s' is no run: expected a number or 'last'", which);

        Run *run = id <= UINT32_MAX ? manager_get_run(manager, (uint32_t) id) : NULL;
        if (!run)
                return error_set(error, ERROR_NOT_FOUND, ENOENT, "there is no run %s", which);
        *ret = run;
        return 0;
}

Run *const *manager_runs(const Manager *manager, size_t *ret_n) {
        *ret_n = manager->n_runs;
        return manager->runs;
}

uint32_t manager_n_running(const Manager *manager) {
        uint32_t n = 0;

        for (size_t i = 0; i < manager->n_runs; i++)
                n += run_has_worker(manager->runs[i]);
        return n;
}

const char *manager_status(Manager *manager, char buf[static MANAGER_STATUS_MAX]) {
        char iops_text[TEXT_SIZE_MAX], database[MANAGER_DATABASE_STATE_MAX];
        uint32_t n = manager_n_running(manager);
        double iops = 0;

        for (size_t i = 0; i < manager->n_runs; i++)
                if (run_has_worker(manager->runs[i]))
                        iops += run_progress(manager->runs[i]).iops;

        manager_database_state(manager, database);
        bool ok = strcmp(database, "ok") == 0;
        if (n == 0)
                snprintf(buf, MANAGER_STATUS_MAX, "no runs%s%s", ok ? "" : "; database: ", ok ? "" : database);
        else
                snprintf(buf, MANAGER_STATUS_MAX, "%" PRIu32 " run%s, %s IOPS%s%s", n, n == 1 ? "" : "s",
                         text_format_count(iops, iops_text), ok ? "" : "; database: ", ok ? "" : database);
        return buf;
}

/* --- stopping --- */

static void on_stopped_written(bool written, void *userdata) {
        Manager *manager = userdata;
        manager->stopped_handler(manager->stopped_userdata);
}

void manager_check_stopped(Manager *manager) {
        if (!manager->stopping || manager->stop_seen || manager_n_running(manager) > 0)
                return;
        if (manager->starts && !manager->starts_given_up)
                return;

        manager->stop_seen = true;
        manager->stop_timer = sd_event_source_disable_unref(manager->stop_timer);
        if (database_when_written(manager->database, DATABASE_TELL_NS, on_stopped_written, manager) < 0)
                on_stopped_written(false, manager);
}

static int on_stop_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *manager = userdata;

        for (size_t i = 0; i < manager->n_runs; i++)
                if (run_has_worker(manager->runs[i])) {
                        log_warning("run %" PRIu32 " on %s does not stop, it is left to itself",
                                    run_id(manager->runs[i]), run_device_path(manager->runs[i]));
                        run_abandon(manager->runs[i]);
                }

        /* A database that hangs never gives their rows back; the wish to refuse them goes with the process. */
        manager->starts_given_up = true;
        manager_check_stopped(manager);
        return 0;
}

void manager_stop(Manager *manager, ManagerStoppedHandler handler, void *userdata) {
        if (manager->stopping)
                return;

        manager->stopping = true;
        manager->stopped_handler = handler;
        manager->stopped_userdata = userdata;

        /* First, for all that follows may end the stopping at once. */
        int r = sd_event_add_time_relative(manager->event, &manager->stop_timer, CLOCK_MONOTONIC, STOP_USEC, 0,
                                           on_stop_timer, manager);

        _cleanup_error_ Error error = ERROR_INIT;
        error_set(&error, ERROR_UNREACHABLE, ESHUTDOWN, "the service is stopping");
        for (Start *start = manager->starts, *next; start; start = next) {
                next = start_next(start);
                start_abort(start, &error);
        }
        resume_abort_all(manager);

        for (size_t i = 0; i < manager->n_runs; i++)
                run_interrupt(manager->runs[i]);

        if (r < 0)
                on_stop_timer(NULL, 0, manager);
        manager_check_stopped(manager);
}

/* --- beginning and end --- */

static int manager_read_host(Manager *manager) {
        _cleanup_fclose_ FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
        char boot_id[64] = "";
        struct utsname host;

        if (f && !fgets(boot_id, sizeof(boot_id), f))
                boot_id[0] = '\0';
        boot_id[strcspn(boot_id, "\n")] = '\0';
        manager->boot_id = strdup(boot_id);

        if (uname(&host) < 0)
                return -errno;
        if (asprintf(&manager->host, "%s %s", host.nodename, host.release) < 0)
                manager->host = NULL;
        return manager->boot_id && manager->host ? 0 : -ENOMEM;
}

static int manager_load_runs(Manager *manager) {
        StoreRun *stored;
        size_t n;
        int r = 0;

        database_take_runs(manager->database, &stored, &n);
        for (size_t i = n; i-- > 0 && r >= 0;) {
                _cleanup_run_ Run *run = NULL;

                r = run_new_stored(&run, manager->database, &manager_run_observer, manager, stored + i);
                if (r >= 0)
                        r = manager_add_run(manager, run);
                if (r >= 0)
                        resume_consider(manager, TAKE_PTR(run));
        }
        store_runs_free(stored, n);
        return r;
}

static int manager_open(Manager *manager, const char *state_directory, Error *error) {
        if (asprintf(&manager->database_path, "%s/plateau.db", state_directory) < 0) {
                manager->database_path = NULL;
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        }

        manager->lock_fd = store_service_lock(manager->database_path, error);
        if (manager->lock_fd < 0)
                return manager->lock_fd;

        int r = database_new(&manager->database, manager->event, manager->database_path, on_database_status, manager,
                             error);
        if (r < 0)
                return r;

        r = manager_read_host(manager);
        if (r >= 0)
                r = manager_load_runs(manager);
        return r < 0 ? error_set(error, ERROR_FAILED, -r, "cannot take up the runs: %s", strerror(-r)) : 0;
}

int manager_new(Manager **ret, sd_event *event, const char *state_directory, Error *error) {
        _cleanup_manager_ Manager *manager = calloc(1, sizeof(*manager));
        if (!manager)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");

        manager->event = sd_event_ref(event);
        manager->observer = &nobody;
        manager->lock_fd = -EBADF;

        int r = manager_open(manager, state_directory, error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(manager);
        return 0;
}

void manager_set_deny(Manager *manager, char **deny) {
        manager->deny = deny;
}

int manager_close(Manager *manager) {
        int r = database_shutdown(manager->database, CLOSE_NS);

        /* A thread that hangs may still read what new runs point to: it all goes with the process. */
        if (r < 0)
                return r;
        manager_free(manager);
        return 0;
}

Manager *manager_free(Manager *manager) {
        manager_set_observer(manager, NULL, NULL);
        resume_abort_all(manager);
        sd_event_source_disable_unref(manager->stop_timer);

        /* Before the runs: it may still hold announcements for them. */
        if (manager->database)
                database_free(manager->database);
        for (size_t i = 0; i < manager->n_runs; i++)
                run_free(manager->runs[i]);
        free(manager->runs);
        fd_close(manager->lock_fd);
        free(manager->database_path);
        free(manager->boot_id);
        free(manager->host);
        sd_event_unref(manager->event);
        free(manager);
        return NULL;
}

/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <string.h>

#include "config.h"
#include "manager-bus.h"
#include "reply-bus.h"
#include "run-bus.h"

#define BUS_NAME "org.plateau.Plateau1"
#define MANAGER_INTERFACE "org.plateau.Plateau1.Manager"

struct ManagerBus {
        Manager *manager;
        sd_bus *bus;
        ManagerBusLostHandler lost;
        void *userdata;
};

/* --- what the manager tells --- */

static void on_run_added(Run *run, void *userdata) {
        ManagerBus *self = userdata;
        run_bus_emit_added(self->bus, run);
}

static void on_run_changed(Run *run, RunChange change, void *userdata) {
        ManagerBus *self = userdata;
        run_bus_emit_changed(self->bus, run, change);
}

static void on_run_event(Run *run, EventKind kind, const char *detail, void *userdata) {
        ManagerBus *self = userdata;
        run_bus_emit_event(self->bus, run, kind, detail);
}

static void on_database_changed(Manager *manager, void *userdata) {
        ManagerBus *self = userdata;
        (void) sd_bus_emit_properties_changed(self->bus, BUS_PATH, MANAGER_INTERFACE, "DatabaseState", NULL);
}

static const ManagerObserver observer = {
        .run_added = on_run_added,
        .run_changed = on_run_changed,
        .run_event = on_run_event,
        .database_changed = on_database_changed,
};

/* --- StartRuns --- */

/* Read out of the call, which owns the strings; the arrays are ours. */
typedef struct StartArguments {
        const char *job_name, *job_text, *label;
        char **devices, **confirmations;
        int erase_existing;
} StartArguments;

static void start_arguments_clear(StartArguments *arguments) {
        strv_free(arguments->devices);
        strv_free(arguments->confirmations);
}

static int read_option(sd_bus_message *call, StartArguments *ret, Error *error) {
        const char *name;

        int r = sd_bus_message_read(call, "s", &name);
        if (r < 0)
                return r;
        if (strcmp(name, "erase-existing") == 0)
                return sd_bus_message_read(call, "v", "b", &ret->erase_existing);
        if (strcmp(name, "label") == 0)
                return sd_bus_message_read(call, "v", "s", &ret->label);
        return error_set(error, ERROR_USAGE, EINVAL,
                         "there is no start option '%s': expected 'erase-existing' or 'label'", name);
}

static int read_options(sd_bus_message *call, StartArguments *ret, Error *error) {
        int r = sd_bus_message_enter_container(call, 'a', "{sv}");

        while (r >= 0) {
                r = sd_bus_message_enter_container(call, 'e', "sv");
                if (r <= 0)
                        break;
                r = read_option(call, ret, error);
                if (r >= 0)
                        r = sd_bus_message_exit_container(call);
        }
        return r < 0 ? r : sd_bus_message_exit_container(call);
}

static int read_start_arguments(sd_bus_message *call, StartArguments *ret, Error *error) {
        int r = sd_bus_message_read(call, "ss", &ret->job_name, &ret->job_text);

        if (r >= 0)
                r = sd_bus_message_read_strv(call, &ret->devices);
        if (r >= 0)
                r = sd_bus_message_read_strv(call, &ret->confirmations);
        if (r >= 0)
                r = read_options(call, ret, error);
        return r < 0 ? error_set(error, ERROR_USAGE, -r, "the arguments of StartRuns cannot be read: %s",
                                 strerror(-r)) : 0;
}

static int reply_run_ids(sd_bus_message *call, const uint32_t *ids, size_t n) {
        sd_bus_message *reply = NULL;

        int r = sd_bus_message_new_method_return(call, &reply);
        if (r >= 0)
                r = sd_bus_message_append_array(reply, 'u', ids, n * sizeof(*ids));
        if (r >= 0)
                r = sd_bus_send(NULL, reply, NULL);
        sd_bus_message_unref(reply);
        return r;
}

static void on_started(const uint32_t *ids, size_t n, const Error *error, void *userdata) {
        sd_bus_message *call = userdata;

        /* Who asked may have gone meanwhile: nothing to be done about that. */
        if (error)
                (void) bus_reply_error(call, error);
        else
                (void) reply_run_ids(call, ids, n);
        sd_bus_message_unref(call);
}

static int method_start_runs(sd_bus_message *call, void *userdata, sd_bus_error *ret_error) {
        _cleanup_(start_arguments_clear) StartArguments arguments = {};
        static const char *const none[] = { NULL };
        _cleanup_error_ Error error = ERROR_INIT;
        ManagerBus *self = userdata;

        if (bus_check_permission(call, &error) < 0 || read_start_arguments(call, &arguments, &error) < 0)
                return bus_reply_error(call, &error);

        const StartParameters parameters = {
                .job_name = arguments.job_name,
                .job_text = arguments.job_text,
                .devices = arguments.devices ? (const char *const *) arguments.devices : none,
                .confirmations = arguments.confirmations ? (const char *const *) arguments.confirmations : none,
                .erase_existing = arguments.erase_existing,
                .label = arguments.label,
        };
        if (manager_start_runs(self->manager, &parameters, on_started, call, &error) < 0)
                return bus_reply_error(call, &error);

        sd_bus_message_ref(call); /* answered by on_started() */
        return 1;
}

/* --- the others --- */

static int method_get_run(sd_bus_message *call, void *userdata, sd_bus_error *ret_error) {
        _cleanup_error_ Error error = ERROR_INIT;
        char path[RUN_BUS_PATH_MAX];
        ManagerBus *self = userdata;
        const char *which;
        Run *run;

        int r = sd_bus_message_read(call, "s", &which);
        if (r < 0)
                return r;
        if (manager_find_run(self->manager, which, &run, &error) < 0)
                return bus_reply_error(call, &error);
        return sd_bus_reply_method_return(call, "o", run_bus_path(run, path));
}

static int append_runs(sd_bus_message *reply, Manager *manager) {
        char path[RUN_BUS_PATH_MAX];
        size_t n;
        Run *const *runs = manager_runs(manager, &n);

        int r = sd_bus_message_open_container(reply, 'a', "(uso)");
        while (n-- > 0 && r >= 0)
                r = sd_bus_message_append(reply, "(uso)", run_id(runs[n]), run_state_name(run_state(runs[n])),
                                          run_bus_path(runs[n], path));
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int method_list_runs(sd_bus_message *call, void *userdata, sd_bus_error *ret_error) {
        sd_bus_message *reply = NULL;
        ManagerBus *self = userdata;

        int r = sd_bus_message_new_method_return(call, &reply);
        if (r >= 0)
                r = append_runs(reply, self->manager);
        if (r >= 0)
                r = sd_bus_send(NULL, reply, NULL);
        sd_bus_message_unref(reply);
        return r;
}

static int append_version(sd_bus *bus, const char *path, const char *interface, const char *property,
                          sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "s", PLATEAU_VERSION);
}

static int append_database_path(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        ManagerBus *self = userdata;
        return bus_append_text(reply, manager_database_path(self->manager));
}

static int append_database_state(sd_bus *bus, const char *path, const char *interface, const char *property,
                                 sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        char state[MANAGER_DATABASE_STATE_MAX];
        ManagerBus *self = userdata;
        return bus_append_text(reply, manager_database_state(self->manager, state));
}

static int append_n_running(sd_bus *bus, const char *path, const char *interface, const char *property,
                            sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        ManagerBus *self = userdata;
        return sd_bus_message_append(reply, "u", manager_n_running(self->manager));
}

static const sd_bus_vtable manager_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_NAMES("StartRuns", "ssasasa{sv}",
                                 SD_BUS_PARAM(job_name) SD_BUS_PARAM(job_text) SD_BUS_PARAM(devices)
                                 SD_BUS_PARAM(confirmations) SD_BUS_PARAM(options),
                                 "au", SD_BUS_PARAM(runs), method_start_runs, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_NAMES("GetRun", "s", SD_BUS_PARAM(which), "o", SD_BUS_PARAM(run), method_get_run,
                                 SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_NAMES("ListRuns", NULL, , "a(uso)", SD_BUS_PARAM(runs), method_list_runs,
                                 SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_PROPERTY("Version", "s", append_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("DatabasePath", "s", append_database_path, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("DatabaseState", "s", append_database_state, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("NRunning", "u", append_n_running, 0, 0),
        SD_BUS_VTABLE_END,
};

/* --- the connection --- */

static int on_disconnected(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        ManagerBus *self = userdata;
        self->lost(self->userdata);
        return 0;
}

static int manager_bus_connect(ManagerBus *self, sd_event *event, bool session, Error *error) {
        const char *which = session ? "session" : "system";

        int r = session ? sd_bus_open_user_with_description(&self->bus, "plateaud")
                        : sd_bus_open_system_with_description(&self->bus, "plateaud");
        if (r >= 0)
                r = sd_bus_attach_event(self->bus, event, SD_EVENT_PRIORITY_NORMAL);

        /* The connection is made in the background: only an answer proves it. */
        const char *unique;
        if (r >= 0)
                r = sd_bus_get_unique_name(self->bus, &unique);
        if (r < 0)
                return error_set(error, ERROR_UNREACHABLE, -r, "the %s bus cannot be reached: %s; is it running?",
                                 which, strerror(-r));
        return 0;
}

static int manager_bus_export(ManagerBus *self, Error *error) {
        int r = sd_bus_match_signal(self->bus, NULL, NULL, "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                                    "Disconnected", on_disconnected, self);
        if (r >= 0)
                r = sd_bus_add_object_manager(self->bus, NULL, BUS_PATH);
        if (r >= 0)
                r = sd_bus_add_object_vtable(self->bus, NULL, BUS_PATH, MANAGER_INTERFACE, manager_vtable, self);
        if (r >= 0)
                r = run_bus_add(self->bus, self->manager);
        return r < 0 ? error_set(error, ERROR_FAILED, -r, "cannot put objects on the bus: %s", strerror(-r)) : 0;
}

/* Not queued for: a second service is a mistake that somebody should hear of. */
static int manager_bus_take_name(ManagerBus *self, Error *error) {
        int r = sd_bus_request_name(self->bus, BUS_NAME, 0);

        if (r == -EEXIST || r == -EALREADY)
                return error_set(error, ERROR_FAILED, EEXIST,
                                 "another plateaud is on this bus: the name " BUS_NAME " is taken");
        if (r == -EACCES || r == -EPERM)
                return error_set(error, ERROR_NOT_PERMITTED, -r,
                                 "the bus does not allow this user to own " BUS_NAME ": is its policy file installed?");
        if (r < 0)
                return error_set(error, ERROR_UNREACHABLE, -r, "cannot take the name " BUS_NAME ": %s", strerror(-r));
        return 0;
}

int manager_bus_new(ManagerBus **ret, sd_event *event, bool session, ManagerBusLostHandler lost, void *userdata,
                    Error *error) {
        _cleanup_manager_bus_ ManagerBus *self = calloc(1, sizeof(*self));
        if (!self)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        *self = (ManagerBus){ .lost = lost, .userdata = userdata };

        int r = manager_bus_connect(self, event, session, error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(self);
        return 0;
}

int manager_bus_publish(ManagerBus *self, Manager *manager, Error *error) {
        self->manager = manager;

        int r = manager_bus_export(self, error);
        if (r >= 0)
                r = manager_bus_take_name(self, error);
        if (r < 0)
                return r;

        manager_set_observer(manager, &observer, self);
        return 0;
}

ManagerBus *manager_bus_free(ManagerBus *self) {
        if (self->manager)
                manager_set_observer(self->manager, NULL, NULL);
        sd_bus_flush_close_unref(self->bus);
        free(self);
        return NULL;
}

/* SPDX-License-Identifier: MIT */

/*
 * Calls block, with a deadline. Signals only say that something has changed: what, is then asked for, so
 * that no state is missed however many signals come, and none depends on the order of call and signal.
 */

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "bus-client.h"
#include "run/status.h"
#include "util/macro.h"
#include "util/parse.h"
#include "util/text.h"
#include "util/time.h"

#define SERVICE "org.plateau.Plateau1"
#define MANAGER_PATH "/org/plateau/Plateau1"
#define MANAGER_INTERFACE "org.plateau.Plateau1.Manager"
#define RUN_PATH_PREFIX "/org/plateau/Plateau1/run/"
#define RUN_INTERFACE "org.plateau.Plateau1.Run"

#define CALL_TIMEOUT_USEC (15 * USEC_PER_SEC)
#define START_TIMEOUT_USEC (60 * USEC_PER_SEC) /* the service gives each device 30 s to answer, and the database 10 */

struct BusClient {
        sd_bus *bus;
        bool session;
        bool changed;
        bool vanished;
};

#define _cleanup_message_ _cleanup_(sd_bus_message_unrefp)
#define _cleanup_bus_error_ _cleanup_(sd_bus_error_free)

/* What the bus itself says when there is no service behind the name, or no bus. */
static const char *const unreachable_errors[] = {
        SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER, SD_BUS_ERROR_NO_SERVER, SD_BUS_ERROR_DISCONNECTED,
        SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_TIMEOUT, "org.freedesktop.DBus.Error.TimedOut",
};

static int unreachable(const BusClient *client, const char *why, Error *error) {
        return error_set(error, ERROR_UNREACHABLE, ENOTCONN, "plateaud cannot be reached on the %s bus: %s; %s",
                         client->session ? "session" : "system", why,
                         client->session ? "start it with 'plateaud --bus session'"
                                         : "start it with 'systemctl start plateaud'");
}

static bool means_unreachable(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(unreachable_errors); i++)
                if (strcmp(name, unreachable_errors[i]) == 0)
                        return true;
        return strncmp(name, "org.freedesktop.DBus.Error.Spawn.", strlen("org.freedesktop.DBus.Error.Spawn.")) == 0;
}

/* A call failed with -r and perhaps an error of the bus or the service. */
static int call_failed(const BusClient *client, int r, const sd_bus_error *e, Error *error) {
        if (!e->name)
                return unreachable(client, strerror(-r), error);
        if (means_unreachable(e->name))
                return unreachable(client, e->message ?: e->name, error);

        ErrorKind kind = status_from_bus_error(e->name);
        if (sd_bus_error_has_name(e, SD_BUS_ERROR_ACCESS_DENIED) ||
            sd_bus_error_has_name(e, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED))
                kind = ERROR_NOT_PERMITTED;
        else if (sd_bus_error_has_name(e, SD_BUS_ERROR_UNKNOWN_OBJECT))
                kind = ERROR_NOT_FOUND;
        return error_set(error, kind, r < 0 ? -r : EIO, "%s", e->message ?: e->name);
}

static int call(BusClient *client, sd_bus_message *message, uint64_t timeout_usec, sd_bus_message **ret_reply,
                Error *error) {
        _cleanup_bus_error_ sd_bus_error e = SD_BUS_ERROR_NULL;

        int r = sd_bus_call(client->bus, message, timeout_usec, &e, ret_reply);
        return r < 0 ? call_failed(client, r, &e, error) : 0;
}

int bus_client_new(BusClient **ret, bool session, Error *error) {
        _cleanup_(bus_client_freep) BusClient *client = NULL;

        client = calloc(1, sizeof(*client));
        if (!client)
                return -ENOMEM;
        client->session = session;

        int r = session ? sd_bus_open_user(&client->bus) : sd_bus_open_system(&client->bus);
        if (r == -ENOMEDIUM)
                return unreachable(client, "DBUS_SESSION_BUS_ADDRESS is not set", error);

        /* Opening only begins to connect: what comes of it would else be told by whichever call is the first. */
        const char *own_name;
        if (r >= 0)
                r = sd_bus_get_unique_name(client->bus, &own_name);
        if (r < 0)
                return unreachable(client, strerror(-r), error);

        *ret = TAKE_PTR(client);
        return 0;
}

BusClient *bus_client_free(BusClient *client) {
        if (!client)
                return NULL;
        sd_bus_flush_close_unref(client->bus);
        free(client);
        return NULL;
}

static int append_utf8(sd_bus_message *message, const char *s) {
        _cleanup_free_ char *text = text_to_utf8(s);

        return text ? sd_bus_message_append_basic(message, 's', text) : -ENOMEM;
}

static int append_strings(sd_bus_message *message, const char *const *strings) {
        int r = sd_bus_message_open_container(message, 'a', "s");

        for (; r >= 0 && *strings; strings++)
                r = append_utf8(message, *strings);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_options(sd_bus_message *message, const BusStart *start) {
        _cleanup_free_ char *label = NULL;

        int r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0 && start->erase_existing)
                r = sd_bus_message_append(message, "{sv}", "erase-existing", "b", 1);
        if (r >= 0 && start->label) {
                label = text_to_utf8(start->label);
                r = label ? sd_bus_message_append(message, "{sv}", "label", "s", label) : -ENOMEM;
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int new_start_message(BusClient *client, const BusStart *start, sd_bus_message **ret) {
        _cleanup_message_ sd_bus_message *m = NULL;

        int r = sd_bus_message_new_method_call(client->bus, &m, SERVICE, MANAGER_PATH, MANAGER_INTERFACE, "StartRuns");
        if (r >= 0)
                r = append_utf8(m, start->job_name);
        if (r >= 0)
                r = append_utf8(m, start->job_text);
        if (r >= 0)
                r = append_strings(m, start->devices);
        if (r >= 0)
                r = append_strings(m, start->confirmations);
        if (r >= 0)
                r = append_options(m, start);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(m);
        return 0;
}

int bus_client_start(BusClient *client, const BusStart *start, uint32_t **ret_runs, size_t *ret_n, Error *error) {
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        const void *runs;
        size_t size;

        int r = new_start_message(client, start, &m);
        if (r < 0)
                return unreachable(client, strerror(-r), error);
        r = call(client, m, START_TIMEOUT_USEC, &reply, error);
        if (r < 0)
                return r;
        r = sd_bus_message_read_array(reply, 'u', &runs, &size);
        if (r < 0 || size < sizeof(uint32_t))
                return error_set(error, ERROR_FAILED, EBADMSG, "the service's answer is not understood");

        uint32_t *copy = malloc(size);
        if (!copy)
                return -ENOMEM;
        memcpy(copy, runs, size);
        *ret_runs = copy;
        *ret_n = size / sizeof(uint32_t);
        return 0;
}

int bus_client_find_run(BusClient *client, const char *which, uint32_t *ret_run, Error *error) {
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        const char *path;
        uint64_t run;

        int r = sd_bus_message_new_method_call(client->bus, &m, SERVICE, MANAGER_PATH, MANAGER_INTERFACE, "GetRun");
        if (r >= 0)
                r = append_utf8(m, which);
        if (r < 0)
                return unreachable(client, strerror(-r), error);
        r = call(client, m, CALL_TIMEOUT_USEC, &reply, error);
        if (r < 0)
                return r;

        if (sd_bus_message_read_basic(reply, 'o', &path) < 0 ||
            strncmp(path, RUN_PATH_PREFIX, strlen(RUN_PATH_PREFIX)) != 0 ||
            parse_u64_range(path + strlen(RUN_PATH_PREFIX), 1, UINT32_MAX, &run) < 0)
                return error_set(error, ERROR_FAILED, EBADMSG, "the service's answer is not understood");
        *ret_run = (uint32_t) run;
        return 0;
}

static int call_run(BusClient *client, uint32_t run, const char *interface, const char *method, const char *argument,
                    sd_bus_message **ret_reply, Error *error) {
        _cleanup_message_ sd_bus_message *m = NULL;
        char path[sizeof(RUN_PATH_PREFIX) + 16];

        snprintf(path, sizeof(path), RUN_PATH_PREFIX "%u", run);
        int r = sd_bus_message_new_method_call(client->bus, &m, SERVICE, path, interface, method);
        if (r >= 0 && argument)
                r = sd_bus_message_append_basic(m, 's', argument);
        if (r < 0)
                return unreachable(client, strerror(-r), error);
        return call(client, m, CALL_TIMEOUT_USEC, ret_reply, error);
}

int bus_client_pause(BusClient *client, uint32_t run, Error *error) {
        return call_run(client, run, RUN_INTERFACE, "Pause", NULL, NULL, error);
}

int bus_client_resume(BusClient *client, uint32_t run, Error *error) {
        return call_run(client, run, RUN_INTERFACE, "Resume", NULL, NULL, error);
}

int bus_client_stop(BusClient *client, uint32_t run, Error *error) {
        return call_run(client, run, RUN_INTERFACE, "Stop", NULL, NULL, error);
}

/* The properties that are wanted, and where they go. */
static const struct {
        const char *name;
        char type;
        size_t offset;
} run_properties[] = {
        { "State", 's', offsetof(BusRun, state) },
        { "WaitsFor", 's', offsetof(BusRun, waits_for) },
        { "Device", 's', offsetof(BusRun, device) },
        { "Model", 's', offsetof(BusRun, model) },
        { "Serial", 's', offsetof(BusRun, serial) },
        { "Phase", 's', offsetof(BusRun, phase) },
        { "SizeBytes", 't', offsetof(BusRun, size_bytes) },
        { "ElapsedNSec", 't', offsetof(BusRun, elapsed_ns) },
        { "PlannedNSec", 't', offsetof(BusRun, planned_ns) },
        { "OldestIoNSec", 't', offsetof(BusRun, oldest_io_ns) },
        { "UnansweredNSec", 't', offsetof(BusRun, unanswered_ns) },
        { "Iops", 'd', offsetof(BusRun, iops) },
        { "InFlight", 'u', offsetof(BusRun, in_flight) },
        { "PhaseIndex", 'u', offsetof(BusRun, phase_index) },
        { "NPhases", 'u', offsetof(BusRun, n_phases) },
};

static int read_property(sd_bus_message *m, BusRun *run, const char *name) {
        if (strcmp(name, "Notices") == 0) {
                int r = sd_bus_message_enter_container(m, 'v', "as");
                if (r >= 0)
                        r = sd_bus_message_read_strv(m, &run->notices);
                return r < 0 ? r : sd_bus_message_exit_container(m);
        }

        for (size_t i = 0; i < ELEMENTSOF(run_properties); i++) {
                const char type[] = { run_properties[i].type, 0 };
                void *field = (char *) run + run_properties[i].offset;

                if (strcmp(name, run_properties[i].name) != 0)
                        continue;
                if (type[0] != 's')
                        return sd_bus_message_read(m, "v", type, field);

                const char *text;
                int r = sd_bus_message_read(m, "v", type, &text);
                if (r < 0)
                        return r;
                free(*(char **) field);
                *(char **) field = strdup(text);
                return *(char **) field ? 0 : -ENOMEM;
        }
        return sd_bus_message_skip(m, "v");
}

static int read_properties(sd_bus_message *m, BusRun *run) {
        const char *name;
        int r;

        r = sd_bus_message_enter_container(m, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                r = sd_bus_message_read_basic(m, 's', &name);
                if (r >= 0)
                        r = read_property(m, run, name);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
        }
        if (r < 0)
                return r;
        return run->state && run->waits_for && run->device && run->model && run->serial && run->phase ? 0 : -EBADMSG;
}

int bus_client_get_run(BusClient *client, uint32_t run, BusRun *ret, Error *error) {
        _cleanup_message_ sd_bus_message *reply = NULL;
        _cleanup_bus_run_ BusRun result = { .iops = NAN };

        int r = call_run(client, run, "org.freedesktop.DBus.Properties", "GetAll", RUN_INTERFACE, &reply, error);
        if (r < 0)
                return r;
        r = read_properties(reply, &result);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "the service's answer about run %u is not understood: %s",
                                 run, strerror(-r));
        *ret = result;
        result = (BusRun) {};
        return 0;
}

void bus_run_clear(BusRun *run) {
        free(run->state);
        free(run->waits_for);
        free(run->device);
        free(run->model);
        free(run->serial);
        free(run->phase);
        for (char **s = run->notices; s && *s; s++)
                free(*s);
        free(run->notices);
        *run = (BusRun) {};
}

static int on_change(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        BusClient *client = userdata;

        client->changed = true;
        return 0;
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        BusClient *client = userdata;
        const char *name, *old, *new;

        if (sd_bus_message_read(m, "sss", &name, &old, &new) >= 0 && *old)
                client->vanished = true;
        return 0;
}

int bus_client_subscribe(BusClient *client, Error *error) {
        static const char changes[] = "type='signal',sender='" SERVICE "',path_namespace='" MANAGER_PATH "'";
        static const char owner[] = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
                                    "arg0='" SERVICE "'";

        int r = sd_bus_add_match(client->bus, NULL, changes, on_change, client);
        if (r >= 0)
                r = sd_bus_add_match(client->bus, NULL, owner, on_owner_changed, client);
        return r < 0 ? unreachable(client, strerror(-r), error) : 0;
}

/* What has come so far; the connection's end counts as the service's. */
static int process(BusClient *client) {
        int r;

        do
                r = sd_bus_process(client->bus, NULL);
        while (r > 0);
        if (r < 0)
                client->vanished = true;

        if (client->vanished)
                return BUS_WAKE_VANISHED;
        if (client->changed) {
                client->changed = false;
                return BUS_WAKE_CHANGE;
        }
        return BUS_WAKE_TIMEOUT;
}

int bus_client_wait(BusClient *client, int interrupt_fd, int timeout_ms, Error *error) {
        uint64_t deadline_ns = time_monotonic_ns() + (uint64_t) timeout_ms * NSEC_PER_MSEC;

        for (;;) {
                int wake = process(client);
                if (wake != BUS_WAKE_TIMEOUT)
                        return wake;

                uint64_t now_ns = time_monotonic_ns();
                int left_ms = now_ns < deadline_ns ? (int) ((deadline_ns - now_ns) / NSEC_PER_MSEC) + 1 : 0;
                int events = sd_bus_get_events(client->bus);
                struct pollfd fds[] = {
                        { .fd = sd_bus_get_fd(client->bus), .events = (short) MAX(events, 0) },
                        { .fd = interrupt_fd, .events = POLLIN },
                };

                int r = poll(fds, ELEMENTSOF(fds), left_ms);
                if (r < 0 && errno != EINTR)
                        return error_set(error, ERROR_FAILED, errno, "cannot wait for the service: %s",
                                         strerror(errno));
                if (r > 0 && fds[1].revents)
                        return BUS_WAKE_INTERRUPTED;
                if (r == 0)
                        return BUS_WAKE_TIMEOUT;
        }
}

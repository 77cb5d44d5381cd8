/* SPDX-License-Identifier: MIT */

/*
 * One vtable for all runs, found by number: also the thousands of old ones answer, but only those of this
 * service's life time and those that may still go on are listed (ObjectManager, `busctl tree`).
 *
 * Figures that change with every sample send no signals; they are there to be asked.
 */

#include <inttypes.h>
#include <string.h>

#include "reply-bus.h"
#include "run-bus.h"
#include "util/parse.h"
#include "util/text.h"

const char *run_bus_path(const Run *run, char buf[static RUN_BUS_PATH_MAX]) {
        snprintf(buf, RUN_BUS_PATH_MAX, BUS_PATH "/run/%" PRIu32, run_id(run));
        return buf;
}

/* --- properties --- */

static int append_text(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        static const struct {
                const char *property;
                const char *(*get)(const Run *run);
        } texts[] = {
                { "JobName", run_job_name }, { "Label", run_label },   { "Device", run_device_path },
                { "Model", run_model },      { "Serial", run_serial }, { "Phase", run_phase_name },
                { "WaitsFor", run_waits_for },
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                if (strcmp(property, texts[i].property) == 0)
                        return bus_append_text(reply, texts[i].get(userdata));
        return -ENOENT;
}

static int append_id(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                     void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "u", run_id(userdata));
}

static int append_state(sd_bus *bus, const char *path, const char *interface, const char *property,
                        sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "s", run_state_name(run_state(userdata)));
}

static int append_size(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "t", run_size_bytes(userdata));
}

static int append_phase_index(sd_bus *bus, const char *path, const char *interface, const char *property,
                              sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "u", run_phase_index(userdata));
}

static int append_n_phases(sd_bus *bus, const char *path, const char *interface, const char *property,
                           sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "u", run_n_phases(userdata));
}

static int append_elapsed(sd_bus *bus, const char *path, const char *interface, const char *property,
                          sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "t", run_progress(userdata).elapsed_ns);
}

static int append_planned(sd_bus *bus, const char *path, const char *interface, const char *property,
                          sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "t", run_planned_ns(userdata));
}

static int append_iops(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "d", run_progress(userdata).iops);
}

static int append_in_flight(sd_bus *bus, const char *path, const char *interface, const char *property,
                            sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "u", run_progress(userdata).in_flight);
}

static int append_oldest(sd_bus *bus, const char *path, const char *interface, const char *property,
                         sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "t", run_progress(userdata).oldest_ns);
}

static int append_unanswered(sd_bus *bus, const char *path, const char *interface, const char *property,
                             sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "t", run_progress(userdata).unanswered_ns);
}

static int append_notices(sd_bus *bus, const char *path, const char *interface, const char *property,
                          sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        int r = sd_bus_message_open_container(reply, 'a', "s");

        for (const char *const *notice = run_notices(userdata); r >= 0 && *notice; notice++)
                r = bus_append_text(reply, *notice);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* --- methods --- */

static int method_pause(sd_bus_message *call, void *userdata, sd_bus_error *ret_error) {
        _cleanup_error_ Error error = ERROR_INIT;

        if (bus_check_permission(call, &error) < 0 || run_pause(userdata, &error) < 0)
                return bus_reply_error(call, &error);
        return sd_bus_reply_method_return(call, NULL);
}

static int method_resume(sd_bus_message *call, void *userdata, sd_bus_error *ret_error) {
        _cleanup_error_ Error error = ERROR_INIT;

        if (bus_check_permission(call, &error) < 0 || run_resume(userdata, &error) < 0)
                return bus_reply_error(call, &error);
        return sd_bus_reply_method_return(call, NULL);
}

static int method_stop(sd_bus_message *call, void *userdata, sd_bus_error *ret_error) {
        _cleanup_error_ Error error = ERROR_INIT;
        uint32_t n_pending;

        if (bus_check_permission(call, &error) < 0 || run_stop(userdata, &n_pending, &error) < 0)
                return bus_reply_error(call, &error);
        return sd_bus_reply_method_return(call, "u", n_pending);
}

/* Who may do what is decided in the methods, so the bus lets all calls in. */
#define OPEN SD_BUS_VTABLE_UNPRIVILEGED
#define CONSTANT SD_BUS_VTABLE_PROPERTY_CONST
#define CHANGES SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE

static const sd_bus_vtable run_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Pause", NULL, NULL, method_pause, OPEN),
        SD_BUS_METHOD("Resume", NULL, NULL, method_resume, OPEN),
        SD_BUS_METHOD_WITH_NAMES("Stop", NULL, , "u", SD_BUS_PARAM(pending), method_stop, OPEN),
        SD_BUS_PROPERTY("Id", "u", append_id, 0, CONSTANT),
        SD_BUS_PROPERTY("State", "s", append_state, 0, CHANGES),
        SD_BUS_PROPERTY("WaitsFor", "s", append_text, 0, CHANGES),
        SD_BUS_PROPERTY("JobName", "s", append_text, 0, CONSTANT),
        SD_BUS_PROPERTY("Label", "s", append_text, 0, CONSTANT),
        SD_BUS_PROPERTY("Device", "s", append_text, 0, CHANGES),
        SD_BUS_PROPERTY("Model", "s", append_text, 0, CONSTANT),
        SD_BUS_PROPERTY("Serial", "s", append_text, 0, CONSTANT),
        SD_BUS_PROPERTY("SizeBytes", "t", append_size, 0, CONSTANT),
        SD_BUS_PROPERTY("Phase", "s", append_text, 0, CHANGES),
        SD_BUS_PROPERTY("PhaseIndex", "u", append_phase_index, 0, CHANGES),
        SD_BUS_PROPERTY("NPhases", "u", append_n_phases, 0, CONSTANT),
        SD_BUS_PROPERTY("ElapsedNSec", "t", append_elapsed, 0, 0),
        SD_BUS_PROPERTY("PlannedNSec", "t", append_planned, 0, CONSTANT),
        SD_BUS_PROPERTY("Iops", "d", append_iops, 0, 0),
        SD_BUS_PROPERTY("InFlight", "u", append_in_flight, 0, 0),
        SD_BUS_PROPERTY("OldestIoNSec", "t", append_oldest, 0, 0),
        SD_BUS_PROPERTY("UnansweredNSec", "t", append_unanswered, 0, 0),
        SD_BUS_PROPERTY("Notices", "as", append_notices, 0, CONSTANT),
        SD_BUS_SIGNAL_WITH_NAMES("Event", "ss", SD_BUS_PARAM(kind) SD_BUS_PARAM(detail), 0),
        SD_BUS_VTABLE_END,
};

/* --- objects --- */

static int find_run(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
                    sd_bus_error *ret_error) {
        const char *prefix = BUS_PATH "/run/";
        char canonical[RUN_BUS_PATH_MAX];
        uint64_t id;

        if (strncmp(path, prefix, strlen(prefix)) != 0)
                return 0;
        if (parse_u64_range(path + strlen(prefix), 0, UINT32_MAX, &id) < 0)
                return 0;

        /* "run/007" is another path, so no object. */
        Run *run = manager_get_run(userdata, (uint32_t) id);
        if (!run || strcmp(run_bus_path(run, canonical), path) != 0)
                return 0;
        *ret_found = run;
        return 1;
}

static int list_runs(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *ret_error) {
        char path[RUN_BUS_PATH_MAX];
        size_t n, n_nodes = 0;
        Run *const *runs = manager_runs(userdata, &n);

        char **nodes = calloc(n + 1, sizeof(char *));
        if (!nodes)
                return -ENOMEM;

        for (size_t i = 0; i < n; i++) {
                if (!run_is_current(runs[i]))
                        continue;
                nodes[n_nodes] = strdup(run_bus_path(runs[i], path));
                if (!nodes[n_nodes]) {
                        strv_free(nodes);
                        return -ENOMEM;
                }
                n_nodes++;
        }
        *ret_nodes = nodes;
        return 1;
}

int run_bus_add(sd_bus *bus, Manager *manager) {
        int r = sd_bus_add_fallback_vtable(bus, NULL, BUS_PATH "/run", BUS_RUN_INTERFACE, run_vtable, find_run,
                                           manager);
        if (r < 0)
                return r;
        return sd_bus_add_node_enumerator(bus, NULL, BUS_PATH "/run", list_runs, manager);
}

/* --- signals: a bus that does not take one has gone away, and that shows elsewhere --- */

void run_bus_emit_added(sd_bus *bus, Run *run) {
        char path[RUN_BUS_PATH_MAX];
        (void) sd_bus_emit_object_added(bus, run_bus_path(run, path));
}

void run_bus_emit_changed(sd_bus *bus, Run *run, RunChange change) {
        char path[RUN_BUS_PATH_MAX];

        run_bus_path(run, path);
        if (change == RUN_CHANGE_STATE)
                (void) sd_bus_emit_properties_changed(bus, path, BUS_RUN_INTERFACE, "State", "WaitsFor", NULL);
        else if (change == RUN_CHANGE_WAITS_FOR)
                (void) sd_bus_emit_properties_changed(bus, path, BUS_RUN_INTERFACE, "WaitsFor", NULL);
        else if (change == RUN_CHANGE_DEVICE)
                (void) sd_bus_emit_properties_changed(bus, path, BUS_RUN_INTERFACE, "Device", NULL);
        else
                (void) sd_bus_emit_properties_changed(bus, path, BUS_RUN_INTERFACE, "Phase", "PhaseIndex", NULL);
}

void run_bus_emit_event(sd_bus *bus, Run *run, EventKind kind, const char *detail) {
        char path[RUN_BUS_PATH_MAX];
        _cleanup_free_ char *valid = text_to_utf8(detail);

        (void) sd_bus_emit_signal(bus, run_bus_path(run, path), BUS_RUN_INTERFACE, "Event", "ss", event_kind_name(kind),
                                  valid ? valid : "");
}

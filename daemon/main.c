/* SPDX-License-Identifier: MIT */

/* plateaud: options, signals, the standing with the service manager. What it does is in manager.c. */

#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#include "config.h"
#include "device/configuration.h"
#include "log.h"
#include "manager-bus.h"
#include "manager.h"
#include "notify.h"
#include "run/status.h"
#include "state-directory.h"
#include "util/macro.h"
#include "util/text.h"

#define STATE_DIRECTORY_DEFAULT "/var/lib/plateau"

typedef struct Options {
        bool session;
        const char *configuration; /* NULL: the usual one, if there is any */
        const char *state_directory;
} Options;

typedef struct Service {
        Configuration configuration;
        sd_event *event;
        Manager *manager;
        ManagerBus *bus;
        sd_event_source *status_timer;
        sd_event_source *watchdog_timer;
        uint64_t watchdog_usec;  /* how often the manager is told that all is well */
        char status[MANAGER_STATUS_MAX]; /* as the service manager knows it */
        int exit_status;
} Service;

/* --- options --- */

static void print_help(void) {
        puts("Usage: plateaud [OPTION]...\n"
             "Service that runs torture jobs against block devices and records every second of them.\n"
             "\n"
             "  --bus system|session    the bus to be on (environment: PLATEAU_BUS; default: system)\n"
             "  --config FILE           instead of " CONFIGURATION_PATH "\n"
             "                          (environment: PLATEAU_CONFIG)\n"
             "  --state-directory DIR   where the database lives (environment: STATE_DIRECTORY;\n"
             "                          default: " STATE_DIRECTORY_DEFAULT ")\n"
             "  --help                  this text\n"
             "  --version               the version\n"
             "\n"
             "Runs are started and watched with plateau(1).");
}

static int parse_bus(const char *value, bool *ret_session, Error *error) {
        if (strcmp(value, "system") != 0 && strcmp(value, "session") != 0)
                return error_set(error, ERROR_USAGE, EINVAL, "there is no bus '%s': expected 'system' or 'session'",
                                 value);
        *ret_session = strcmp(value, "session") == 0;
        return 0;
}

static const char *environment_or(const char *name, const char *otherwise) {
        const char *value = getenv(name);
        return value && *value ? value : otherwise;
}

/* 1: go on; 0: all is said; negative: wrong usage. */
static int parse_options(int argc, char **argv, Options *ret, Error *error) {
        enum { OPTION_BUS = 256, OPTION_CONFIG, OPTION_STATE_DIRECTORY, OPTION_HELP, OPTION_VERSION };
        static const struct option options[] = {
                { "bus", required_argument, NULL, OPTION_BUS },
                { "config", required_argument, NULL, OPTION_CONFIG },
                { "state-directory", required_argument, NULL, OPTION_STATE_DIRECTORY },
                { "help", no_argument, NULL, OPTION_HELP },
                { "version", no_argument, NULL, OPTION_VERSION },
                {},
        };
        const char *bus = environment_or("PLATEAU_BUS", "system");
        int option;

        ret->configuration = environment_or("PLATEAU_CONFIG", NULL);
        ret->state_directory = environment_or("STATE_DIRECTORY", STATE_DIRECTORY_DEFAULT);
        while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
                switch (option) {
                case OPTION_BUS:
                        bus = optarg;
                        break;
                case OPTION_CONFIG:
                        ret->configuration = optarg;
                        break;
                case OPTION_STATE_DIRECTORY:
                        ret->state_directory = optarg;
                        break;
                case OPTION_HELP:
                        print_help();
                        return 0;
                case OPTION_VERSION:
                        puts("plateaud " PLATEAU_VERSION);
                        return 0;
                default: /* getopt has said what is wrong */
                        return error_set(error, ERROR_USAGE, EINVAL, "see plateaud --help");
                }

        if (optind < argc)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "'%s' is too much: there are only options; see plateaud --help", argv[optind]);
        int r = parse_bus(bus, &ret->session, error);
        return r < 0 ? r : 1;
}

/* --- the service manager --- */

/* On one line: what a file is called must not become an assignment. */
static int tell_status(const char *status) {
        _cleanup_free_ char *escaped = text_escape(status), *assignment = NULL;

        if (!escaped || asprintf(&assignment, "STATUS=%s", escaped) < 0)
                return -ENOMEM;
        return notify_manager(assignment);
}

/* If this one is not heard, the next one may be: twice as often as it must. */
static int on_watchdog_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Service *service = userdata;

        (void) notify_manager("WATCHDOG=1");
        int r = sd_event_source_set_time_relative(source, service->watchdog_usec);
        return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_status_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Service *service = userdata;
        char status[MANAGER_STATUS_MAX];

        if (strcmp(manager_status(service->manager, status), service->status) != 0 &&
            tell_status(status) >= 0)
                snprintf(service->status, sizeof(service->status), "%s", status);

        int r = sd_event_source_set_time_relative(source, USEC_PER_SEC);
        return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* --- the end --- */

static void on_stopped(void *userdata) {
        Service *service = userdata;
        (void) sd_event_exit(service->event, service->exit_status);
}

static void service_stop(Service *service, int exit_status) {
        service->exit_status = MAX(service->exit_status, exit_status);
        (void) notify_manager("STOPPING=1\nSTATUS=stopping");
        service->status_timer = sd_event_source_disable_unref(service->status_timer);
        manager_stop(service->manager, on_stopped, service);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        log_info("stopping: SIG%s", sigabbrev_np((int) info->ssi_signo) ?: "?");
        service_stop(userdata, 0);
        return 0;
}

/* Without a bus nobody can command us: end cleanly and with a failure, so that the service manager starts us again. */
static void on_bus_lost(void *userdata) {
        log_error("the connection to the bus is lost, stopping");
        service_stop(userdata, status_exit(ERROR_UNREACHABLE));
}

/* --- the beginning --- */

static int service_configure(Service *service, const Options *options, Error *error) {
        return configuration_read(&service->configuration, options->configuration, error);
}

/* Blocked before there is a second thread: sd-event takes them, and wants SIGCHLD so too. */
static int block_signals(void) {
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGCHLD);
        sigaddset(&signals, SIGPIPE);
        return sigprocmask(SIG_BLOCK, &signals, NULL) < 0 ? -errno : 0;
}

static int service_watch(Service *service) {
        int r = sd_event_add_signal(service->event, NULL, SIGTERM, on_signal, service);
        if (r >= 0)
                r = sd_event_add_signal(service->event, NULL, SIGINT, on_signal, service);
        if (r >= 0)
                r = sd_event_add_time_relative(service->event, &service->status_timer, CLOCK_MONOTONIC, 0, 0,
                                               on_status_timer, service);
        if (r < 0 || sd_watchdog_enabled(false, &service->watchdog_usec) <= 0)
                return r;

        service->watchdog_usec /= 2;
        return sd_event_add_time_relative(service->event, &service->watchdog_timer, CLOCK_MONOTONIC, 0, 1,
                                          on_watchdog_timer, service);
}

static int service_begin(Service *service, const Options *options, Error *error) {
        int r = service_configure(service, options, error);
        if (r < 0)
                return r;

        r = block_signals();
        if (r >= 0)
                r = sd_event_default(&service->event);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "no event loop: %s", strerror(-r));

        /* The bus first: without it nothing is to be left behind. */
        r = manager_bus_new(&service->bus, service->event, options->session, on_bus_lost, service, error);
        if (r >= 0)
                r = state_directory_prepare(options->state_directory, error);
        if (r >= 0)
                r = manager_new(&service->manager, service->event, options->state_directory, error);
        if (r >= 0)
                manager_set_deny(service->manager, service->configuration.deny);
        if (r >= 0)
                r = manager_bus_publish(service->bus, service->manager, error);
        if (r < 0)
                return r;

        r = service_watch(service);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "cannot watch signals and time: %s", strerror(-r));
        return 0;
}

static int service_end(Service *service) {
        int r = 0;

        service->status_timer = sd_event_source_disable_unref(service->status_timer);
        service->watchdog_timer = sd_event_source_disable_unref(service->watchdog_timer);
        if (service->bus)
                manager_bus_free(service->bus);
        if (service->manager)
                r = manager_close(service->manager);
        sd_event_unref(service->event);
        configuration_clear(&service->configuration);
        return r;
}

static int service_run(const Options *options) {
        _cleanup_error_ Error error = ERROR_INIT;
        Service service = {};

        int r = service_begin(&service, options, &error);
        if (r < 0)
                log_error("%s", error_message(&error));
        else {
                (void) notify_manager("READY=1");
                log_info("ready, database %s", manager_database_path(service.manager));
                r = sd_event_loop(service.event);
                if (r < 0)
                        error_set(&error, ERROR_FAILED, -r, "the event loop failed: %s", strerror(-r));
        }

        int exit_status = error.kind != ERROR_NONE ? status_exit(error.kind) : service.exit_status;
        if (service_end(&service) < 0) {
                log_error("the database could not be written to the end");
                exit_status = MAX(exit_status, status_exit(ERROR_UNREACHABLE));
        }
        return exit_status;
}

int main(int argc, char **argv) {
        _cleanup_error_ Error error = ERROR_INIT;
        Options options = {};

        setlocale(LC_CTYPE, "C.UTF-8");
        umask(0027);

        int r = parse_options(argc, argv, &options, &error);
        if (r == 0)
                return EXIT_SUCCESS;
        if (r < 0) {
                log_error("%s", error_message(&error));
                return status_exit(error.kind);
        }
        return service_run(&options);
}

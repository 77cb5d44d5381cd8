/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The service, as docs/bus.md describes it: the only file of the command line that knows sd-bus. Strings sent
 * are made valid UTF-8 first. Errors of all functions carry a message and the kind that the service's error
 * names; ERROR_UNREACHABLE (-ENOTCONN) when there is no service.
 */

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

typedef struct BusClient BusClient;

/* Connects to the bus, and waits until it has let us in; the service itself is looked for by the first call. */
int bus_client_new(BusClient **ret, bool session, Error *error);
BusClient *bus_client_free(BusClient *client);
DEFINE_CLEANUP(BusClient *, bus_client_free)
#define _cleanup_bus_client_ _cleanup_(bus_client_freep)

typedef struct BusStart {
        const char *job_name;
        const char *job_text;
        const char *const *devices;       /* NULL-terminated absolute paths */
        const char *const *confirmations; /* NULL-terminated */
        bool erase_existing;
        const char *label; /* or NULL */
} BusStart;

/* Starts all or none. *ret_runs: their numbers in the order of the devices, newly allocated. */
int bus_client_start(BusClient *client, const BusStart *start, uint32_t **ret_runs, size_t *ret_n, Error *error);

/* "7" or "last". */
int bus_client_find_run(BusClient *client, const char *which, uint32_t *ret_run, Error *error);

/* What the service tells of a run. */
typedef struct BusRun {
        char *state;
        char *waits_for; /* what a user has to do for it to go on; "" for nothing */
        char *device, *model, *serial; /* "" where there is none */
        char *phase;
        uint64_t size_bytes;
        uint64_t elapsed_ns, planned_ns; /* 0: not known */
        uint64_t oldest_io_ns;
        uint64_t unanswered_ns; /* for how long its worker has not answered a command; 0: it has */
        double iops; /* NaN: not known */
        uint32_t in_flight;
        uint32_t phase_index; /* from 0 */
        uint32_t n_phases;    /* 0: not known */
        char **notices; /* NULL-terminated */
} BusRun;
int bus_client_get_run(BusClient *client, uint32_t run, BusRun *ret, Error *error);
void bus_run_clear(BusRun *run);
#define _cleanup_bus_run_ _cleanup_(bus_run_clear)

int bus_client_pause(BusClient *client, uint32_t run, Error *error);
int bus_client_resume(BusClient *client, uint32_t run, Error *error);
int bus_client_stop(BusClient *client, uint32_t run, Error *error);

/* From now on changes of runs, and the service's end, wake bus_client_wait(). */
int bus_client_subscribe(BusClient *client, Error *error);

typedef enum BusWake {
        BUS_WAKE_TIMEOUT,
        BUS_WAKE_CHANGE,      /* of some run: look again */
        BUS_WAKE_VANISHED,    /* the service or the bus is gone */
        BUS_WAKE_INTERRUPTED, /* interrupt_fd is readable */
} BusWake;

/* Waits for one of these, a BusWake, or a negative errno. interrupt_fd may be -1. */
int bus_client_wait(BusClient *client, int interrupt_fd, int timeout_ms, Error *error);

/* SPDX-License-Identifier: MIT */
#pragma once

/* States and events of a run, as the database, the bus and JSON spell them. Pure. */

#include <stdbool.h>

typedef enum RunState {
        RUN_QUEUED,
        RUN_RUNNING,
        RUN_PAUSED,
        RUN_INTERRUPTED, /* the service, the worker or the machine went down */
        RUN_DONE,
        RUN_STOPPED,
        RUN_FAILED,
        RUN_LOST,        /* the device went away */
        RUN_REFUSED,
        N_RUN_STATES,
} RunState;

typedef enum EventKind {
        EVENT_STARTED,
        EVENT_PHASE,
        EVENT_PAUSED,
        EVENT_RESUMED,
        EVENT_OUTAGE,
        EVENT_STALLED,   /* the oldest I/O is older than STALL_NS */
        EVENT_RECOVERED,
        EVENT_ERROR,
        EVENT_READ_ONLY,
        EVENT_LOST,
        EVENT_STEADY,
        EVENT_STEADY_REVOKED,
        EVENT_CYCLE,
        EVENT_COLLAPSE,
        EVENT_THROTTLED,
        EVENT_TELEMETRY,
        EVENT_DATABASE,
        EVENT_CLOCK,
        EVENT_HOST,      /* the host, not the drive, sets the pace; or no longer */
        EVENT_STOPPING,
        EVENT_FINISHED,
        EVENT_REFUSED,
        N_EVENT_KINDS,
} EventKind;

/* Of what a user may call a run: it stands in tables. */
#define RUN_LABEL_BYTES_MAX 256

#define STALL_NS (UINT64_C(5) * 1000 * 1000 * 1000)

const char *run_state_name(RunState state);     /* "interrupted" */
const char *event_kind_name(EventKind kind);    /* "steady-revoked" */
int run_state_from_name(const char *name);      /* RunState, or -EINVAL */
int event_kind_from_name(const char *name);

/* Whether the drive may have had its rest there: nothing is judged across it. */
bool event_kind_cuts(EventKind kind);

/* Nothing more will happen to a run in this state. */
bool run_state_is_final(RunState state);

/* A run in this state has (or is about to have) a worker, so it needs a living service. */
bool run_state_is_active(RunState state);

/* Whether a run may go from one state to the other; every change in the service is held against this. */
bool run_state_may_become(RunState from, RunState to);

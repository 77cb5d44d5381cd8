/* SPDX-License-Identifier: MIT */

#include "run/state.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "util/macro.h"

#define BIT(state) (1U << (state))

typedef struct StateTraits {
        const char *name;
        bool active;
        unsigned successors; /* a set of BIT()s; none: final */
} StateTraits;

static const StateTraits states[N_RUN_STATES] = {
        /* Paused, if it was so when it was interrupted. */
        [RUN_QUEUED] = { "queued", true,
                BIT(RUN_RUNNING) | BIT(RUN_PAUSED) | BIT(RUN_INTERRUPTED) | BIT(RUN_STOPPED) | BIT(RUN_FAILED) |
                BIT(RUN_LOST) | BIT(RUN_REFUSED) },
        [RUN_RUNNING] = { "running", true,
                BIT(RUN_PAUSED) | BIT(RUN_INTERRUPTED) | BIT(RUN_DONE) | BIT(RUN_STOPPED) | BIT(RUN_FAILED) |
                BIT(RUN_LOST) },
        /* Nothing is outstanding, so nothing can be completed: it has to go on before it can be done. */
        [RUN_PAUSED] = { "paused", true,
                BIT(RUN_RUNNING) | BIT(RUN_INTERRUPTED) | BIT(RUN_STOPPED) | BIT(RUN_FAILED) | BIT(RUN_LOST) },
        /* Not final: it is taken up again, given up by hand, or refused because the drive is not the same one. */
        [RUN_INTERRUPTED] = { "interrupted", false,
                BIT(RUN_QUEUED) | BIT(RUN_RUNNING) | BIT(RUN_STOPPED) | BIT(RUN_FAILED) | BIT(RUN_REFUSED) },
        [RUN_DONE] = { "done", false, 0 },
        [RUN_STOPPED] = { "stopped", false, 0 },
        [RUN_FAILED] = { "failed", false, 0 },
        [RUN_LOST] = { "lost", false, 0 },
        [RUN_REFUSED] = { "refused", false, 0 },
};

static const char *const event_names[N_EVENT_KINDS] = {
        [EVENT_STARTED] = "started",
        [EVENT_PHASE] = "phase",
        [EVENT_PAUSED] = "paused",
        [EVENT_RESUMED] = "resumed",
        [EVENT_OUTAGE] = "outage",
        [EVENT_STALLED] = "stalled",
        [EVENT_RECOVERED] = "recovered",
        [EVENT_ERROR] = "error",
        [EVENT_READ_ONLY] = "read-only",
        [EVENT_LOST] = "lost",
        [EVENT_STEADY] = "steady",
        [EVENT_STEADY_REVOKED] = "steady-revoked",
        [EVENT_CYCLE] = "cycle",
        [EVENT_COLLAPSE] = "collapse",
        [EVENT_THROTTLED] = "throttled",
        [EVENT_TELEMETRY] = "telemetry",
        [EVENT_DATABASE] = "database",
        [EVENT_CLOCK] = "clock",
        [EVENT_HOST] = "host",
        [EVENT_STOPPING] = "stopping",
        [EVENT_FINISHED] = "finished",
        [EVENT_REFUSED] = "refused",
};

const char *run_state_name(RunState state) {
        return states[state].name;
}

const char *event_kind_name(EventKind kind) {
        return event_names[kind];
}

int run_state_from_name(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(states); i++)
                if (strcmp(states[i].name, name) == 0)
                        return (int) i;
        return -EINVAL;
}

int event_kind_from_name(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(event_names); i++)
                if (strcmp(event_names[i], name) == 0)
                        return (int) i;
        return -EINVAL;
}

bool event_kind_cuts(EventKind kind) {
        return kind == EVENT_PAUSED || kind == EVENT_RESUMED || kind == EVENT_OUTAGE;
}

bool run_state_is_final(RunState state) {
        return states[state].successors == 0;
}

bool run_state_is_active(RunState state) {
        return states[state].active;
}

bool run_state_may_become(RunState from, RunState to) {
        return (states[from].successors & BIT(to)) != 0;
}

/* SPDX-License-Identifier: MIT */

#include "run/status.h"

#include <string.h>

#include "util/macro.h"

#define BUS_ERROR(name) "org.plateau.Plateau1.Error." name

typedef struct Status {
        const char *code;
        const char *bus_error;
} Status;

/* Indexed by exit status, which is the kind's value; 1 is a verdict, and no error. */
static const Status statuses[] = {
        [ERROR_USAGE] = { "usage", BUS_ERROR("Usage") },
        [ERROR_REFUSED] = { "refused", BUS_ERROR("Refused") },
        [ERROR_NOT_PERMITTED] = { "not-permitted", BUS_ERROR("NotPermitted") },
        [ERROR_UNREACHABLE] = { "unreachable", BUS_ERROR("Unreachable") },
        [ERROR_NOT_FOUND] = { "not-found", BUS_ERROR("NotFound") },
        [ERROR_INCONCLUSIVE] = { "inconclusive", BUS_ERROR("Inconclusive") },
        [ERROR_FAILED] = { "failed", BUS_ERROR("Failed") },
};

int status_exit(ErrorKind kind) {
        return (int) kind;
}

int status_exit_of_run(RunState state) {
        if (state == RUN_DONE || state == RUN_STOPPED)
                return status_exit(ERROR_NONE);
        return state == RUN_REFUSED ? status_exit(ERROR_REFUSED) : STATUS_EXIT_BAD;
}

const char *status_bus_error(ErrorKind kind) {
        return statuses[kind].bus_error;
}

ErrorKind status_from_bus_error(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(statuses); i++)
                if (statuses[i].bus_error && strcmp(statuses[i].bus_error, name) == 0)
                        return (ErrorKind) i;
        return ERROR_FAILED;
}

const char *status_code(ErrorKind kind) {
        return statuses[kind].code;
}

/* SPDX-License-Identifier: MIT */
#pragma once

/* One table: kind of error, exit status, bus error, code in JSON. Pure. */

#include "run/state.h"
#include "util/error.h"

/* A run that ended badly, or a verdict of fail: the one exit status that is no error. */
#define STATUS_EXIT_BAD 1

/* 0 for ERROR_NONE. */
int status_exit(ErrorKind kind);

/*
 * Of having waited for a run until it was in this state: 0 if it is done or was stopped, be it by a user or by [stop];
 * that of ERROR_REFUSED if it was refused; else STATUS_EXIT_BAD: it failed, was lost, or will not go on by itself.
 */
int status_exit_of_run(RunState state);

/* "org.plateau.Plateau1.Error.Refused"; NULL for ERROR_NONE. */
const char *status_bus_error(ErrorKind kind);

/* ERROR_FAILED for a name that is not ours. */
ErrorKind status_from_bus_error(const char *name);

/* "refused": the "code" of an error in JSON; NULL for ERROR_NONE. */
const char *status_code(ErrorKind kind);

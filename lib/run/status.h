/* SPDX-License-Identifier: MIT */
#pragma once

/* One table: kind of error, exit status, bus error, code in JSON. Pure. */

#include "util/error.h"

/* 0 for ERROR_NONE. */
int status_exit(ErrorKind kind);

/* "org.plateau.Plateau1.Error.Refused"; NULL for ERROR_NONE. */
const char *status_bus_error(ErrorKind kind);

/* ERROR_FAILED for a name that is not ours. */
ErrorKind status_from_bus_error(const char *name);

/* "refused": the "code" of an error in JSON; NULL for ERROR_NONE. */
const char *status_code(ErrorKind kind);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Errors that a person will read. Functions of the library return 0 (or a
 * non-negative result), or a negative errno; those whose failure needs words
 * also fill an Error. The library never logs and never exits: the edge (a verb,
 * the bus, a worker's message) decides what to do with the words.
 *
 * A message says what happened, to what, why, and what to do about it. It is
 * one line, without a trailing full stop or newline, and may hold bytes that
 * came from outside: whoever prints it escapes it.
 */

#include <stdbool.h>

#include "util/cleanup.h"

/* The values are the exit statuses of the command line and name the bus errors; see run/status.h. */
typedef enum ErrorKind {
        ERROR_NONE = 0,
        ERROR_USAGE = 2,         /* usage or bad job file */
        ERROR_REFUSED = 3,       /* refused for safety */
        ERROR_NOT_PERMITTED = 4, /* the caller may not do this */
        ERROR_UNREACHABLE = 5,   /* service or database not reachable */
        ERROR_NOT_FOUND = 6,     /* no such run or device */
        ERROR_INCONCLUSIVE = 7,  /* nothing certain can be said */
        ERROR_FAILED = 8,        /* anything else */
} ErrorKind;

typedef struct Error {
        ErrorKind kind;
        char *message; /* owned; NULL while kind is ERROR_NONE, or if memory ran out */
} Error;

#define ERROR_INIT ((Error){ .kind = ERROR_NONE })

/*
 * Fills *error (which may be NULL; a message already there is kept, so the
 * innermost cause wins) and returns -errnum, so that a caller can write
 * `return error_set(error, ERROR_REFUSED, EBUSY, "...")`. errnum is positive.
 */
int error_set(Error *error, ErrorKind kind, int errnum, const char *format, ...) _printf_(4, 5);

/* Puts "text: " in front of the message, for context that only the caller knows. */
void error_prefix(Error *error, const char *format, ...) _printf_(2, 3);

/* The message, never NULL. */
const char *error_message(const Error *error);

/* Moves *from to *to (freeing what was there) and leaves *from empty. */
void error_move(Error *to, Error *from);

void error_clear(Error *error);

#define _cleanup_error_ _cleanup_(error_clear)

/* "ENOSPC" for 28; "errno 4711" for one without a name. Valid until the thread's next call. */
const char *errno_name(int errnum);

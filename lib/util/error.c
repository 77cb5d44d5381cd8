/* SPDX-License-Identifier: MIT */

/*
 * The innermost cause wins: the function nearest to what went wrong knows most, so a
 * caller may fill the same Error again without looking, and adds only context.
 */

#include <stdarg.h>
#include <string.h>

#include "util/error.h"

int error_set(Error *error, ErrorKind kind, int errnum, const char *format, ...) {
        if (!error || error->kind != ERROR_NONE)
                return -errnum;

        va_list ap;
        char *message = NULL;

        va_start(ap, format);
        if (vasprintf(&message, format, ap) < 0)
                message = NULL;
        va_end(ap);

        error->kind = kind;
        error->message = message;
        return -errnum;
}

void error_prefix(Error *error, const char *format, ...) {
        if (!error || !error->message)
                return;

        char *prefix, *message;
        va_list ap;

        va_start(ap, format);
        int r = vasprintf(&prefix, format, ap);
        va_end(ap);
        if (r < 0) /* out of memory: the message alone is better than none */
                return;

        r = asprintf(&message, "%s: %s", prefix, error->message);
        free(prefix);
        if (r < 0)
                return;
        free(error->message);
        error->message = message;
}

const char *error_message(const Error *error) {
        if (!error || error->kind == ERROR_NONE)
                return "no error";
        return error->message ?: "out of memory";
}

void error_move(Error *to, Error *from) {
        Error moved = *from;

        *from = ERROR_INIT;
        error_clear(to);
        *to = moved;
}

void error_clear(Error *error) {
        free(error->message);
        *error = ERROR_INIT;
}

const char *errno_name(int errnum) {
        static _Thread_local char buf[sizeof("errno -2147483648")];
        const char *name = errnum > 0 ? strerrorname_np(errnum) : NULL;

        if (name)
                return name;
        snprintf(buf, sizeof(buf), "errno %d", errnum);
        return buf;
}

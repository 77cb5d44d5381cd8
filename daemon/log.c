/* SPDX-License-Identifier: MIT */

/*
 * The whole line is made first and escaped as a whole: nothing in a message of ours needs escaping, so
 * no caller has to remember which argument a drive had a say in.
 */

#include <stdarg.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "log.h"
#include "util/text.h"

static void log_line(const char *priority, const char *format, va_list args) {
        _cleanup_free_ char *line = NULL, *escaped = NULL;

        if (vasprintf(&line, format, args) < 0)
                return;
        escaped = text_escape(line);
        if (escaped)
                fprintf(stderr, "%splateaud: %s\n", getenv("JOURNAL_STREAM") ? priority : "", escaped);
}

void log_info(const char *format, ...) {
        va_list args;
        va_start(args, format);
        log_line(SD_INFO, format, args);
        va_end(args);
}

void log_warning(const char *format, ...) {
        va_list args;
        va_start(args, format);
        log_line(SD_WARNING, format, args);
        va_end(args);
}

void log_error(const char *format, ...) {
        va_list args;
        va_start(args, format);
        log_line(SD_ERR, format, args);
        va_end(args);
}

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The service's log: lines on standard error, with the priority prefix that journald
 * understands if it is the journal's. What came from outside is escaped. From any thread.
 */

#include "util/cleanup.h"

void log_info(const char *format, ...) _printf_(1, 2);
void log_warning(const char *format, ...) _printf_(1, 2);
void log_error(const char *format, ...) _printf_(1, 2);

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "util/cleanup.h"

/* A growing list of lines that a person should read, though nothing is wrong. */

/* Appends a line to *notices, which holds *n, unless it stands there already. -ENOMEM. */
int notices_add(char ***notices, size_t *n, const char *format, ...) _printf_(3, 4);

void notices_free(char **notices, size_t n);

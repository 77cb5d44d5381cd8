/* SPDX-License-Identifier: MIT */
#pragma once

/* Lines of a text that may come from anywhere, cut into fields. Nothing is held but the line itself. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/error.h"
#include "util/macro.h"

#define LINE_BYTES_MAX 4096 /* with its end */
#define LINE_FIELDS_MAX 64

typedef struct Lines {
        const char *name; /* of the file, in messages */
        FILE *f;
        uint64_t number;  /* of this line, from 1 */
        bool begun;       /* a line that is not blank has been seen */
        bool cut_off;     /* this line has no end: it is the last, and whether it is whole nobody knows */
        bool decimal_commas; /* there seem to be some in it: commas within columns that something else separates */
        char line[LINE_BYTES_MAX];
        char *fields[LINE_FIELDS_MAX];
        size_t n_fields;
} Lines;

/*
 * The next line that is neither blank nor a comment (#), cut at commas, semicolons, tabs and blanks; blanks beside
 * another separator do not count. 1; 0 at the end. ERROR_USAGE with "name:17: ..." for what is no text (NUL bytes, no
 * end within LINE_BYTES_MAX) or has too many columns, with another message for files of other known forms, and for one
 * that cannot be read.
 */
int lines_next(Lines *l, Error *error);

/* ERROR_USAGE (-EINVAL) with "name:17: " and the text. */
int lines_wrong(const Lines *l, Error *error, const char *format, ...) _printf_(3, 4);

/* Field i of the line as a number from min to max. ERROR_USAGE: "name:17: WHAT is 'x', expected ..." */
int lines_number(const Lines *l, size_t i, double min, double max, const char *what, double *ret, Error *error);
/* Likewise, from 0. */
int lines_integer(const Lines *l, size_t i, uint64_t max, const char *what, uint64_t *ret, Error *error);

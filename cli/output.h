/* SPDX-License-Identifier: MIT */
#pragma once

/* What goes to stdout and stderr, and whether it arrived. */

#include <stdint.h>
#include <stdio.h>

#include "cli.h"
#include "render/json.h"
#include "render/table.h"

/* Prints the document on stdout. 0, or -EIO; whoever ends the program says why (output_finish()). */
int output_json(Cli *cli, json_object *document, bool one_line);

/*
 * A document whose last member is an array too long for memory: `head` (an object, taken over) is
 * written without its closing brace, then the array `name` element by element.
 */
typedef struct OutputArray {
        FILE *f;
        bool any;
} OutputArray;
int output_array_begin(OutputArray *ret, Cli *cli, FILE *f, json_object *head, const char *name);
int output_array_add(OutputArray *array, json_object *element); /* takes element over; NULL: no memory */
int output_array_end(OutputArray *array);

/* Ends the array, and begins another as the next member of the document. */
int output_array_next(OutputArray *array, const char *name);

/* An element of `outer` that itself is such a document: until its output_array_leave() `outer` rests. */
int output_array_enter(OutputArray *ret, OutputArray *outer, json_object *head, const char *name);
int output_array_leave(OutputArray *array);

/* The error, as text on stderr or as a document on stdout; returns the exit status. */
int output_error(Cli *cli, const Error *error);

/* One line on stderr, after "plateau: ", escaped. */
void output_notice(const char *format, ...) _printf_(1, 2);

/*
 * Flushes stdout. Returns status, or another one if what was printed did not arrive: silently
 * if nobody reads any more, as for `plateau samples 7 | head`.
 */
int output_finish(int status);

/* Columns of the terminal on stdout, or COLUMNS, or 80. */
unsigned output_width(void);

/* Prints it on stdout, as wide as the terminal or COLUMNS allows; where neither is, at its full width. */
int output_table(const Table *table);

/* Rows of the terminal on stdout; 0: it is none. */
unsigned output_rows(void);

/* The locale's encoding is UTF-8. */
bool output_is_utf8(void);

#define OUTPUT_TIME_MAX 32
/* "2026-03-01 22:14:05", local; "-" for 0. Returns buf (OUTPUT_TIME_MAX bytes). */
const char *output_format_time(int64_t realtime_ns, char *buf);

#define OUTPUT_LATENCY_MAX 24
/* "870 ns", "12.3 us", "4.56 ms", "31.2 s": three digits. Returns buf (OUTPUT_LATENCY_MAX bytes). */
const char *output_format_latency(uint64_t ns, char *buf);

/* Escaped, or "-" for NULL. Newly allocated; NULL: no memory. */
char *output_text(const char *s);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Text from outside (serial numbers, labels, file names) is bytes; these make it
 * harmless for the place it goes to. Results are newly allocated; NULL only if
 * memory ran out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every invalid byte replaced by U+FFFD: for the bus and for JSON. */
char *text_to_utf8(const char *s);

/*
 * For terminals, tables and the journal: control characters (C0, C1, DEL),
 * backslash and invalid bytes as \n, \t, \\, \xHH; bidirectional and other invisible
 * format characters as \u{HHHH}. What remains prints as it reads, on one line.
 */
char *text_escape(const char *s);

/*
 * A JSON document with the characters that text_escape() would not let through (C1, DEL, bidirectional, invisible)
 * as \uHHHH, which reads back as the same. They can only stand in its strings.
 */
char *text_escape_json(const char *json);

/* As one word of a shell command: quoted if it has to be. */
char *text_shell_word(const char *s);

/* Copy without leading and trailing white space. */
char *text_strip(const char *s);

#define TEXT_SIZE_MAX 32

/* "111.8 GiB", "512 B": powers of 1024, at most one decimal. Returns buf (TEXT_SIZE_MAX bytes). */
const char *text_format_size(uint64_t bytes, char *buf);

/* The same, rounded up where it is not exact: of what is said to be at most. */
const char *text_format_size_up(uint64_t bytes, char *buf);

/* "35.2k", "512", "1.21M": powers of 1000, three significant digits. Returns buf (TEXT_SIZE_MAX bytes). */
const char *text_format_count(double value, char *buf);

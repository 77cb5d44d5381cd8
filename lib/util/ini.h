/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The one INI reader, for job files and for the daemon's configuration, with
 * fio's grammar: [section], key=value and bare keys; ; and # begin a comment, on a line of its
 * own or behind anything else (nothing quotes them). Lines may have any length and CRLF
 * ends; a byte order mark before the first is skipped; a NUL byte or a line that is none of these is an error.
 * libinih, as Debian builds it, refuses bare keys and long lines; hence this one.
 */

#include <stddef.h>

#include "util/error.h"

typedef struct IniEntry {
        const char *section; /* "" before the first section; blanks within the brackets are kept */
        unsigned section_index; /* counts section headers from 1 (two of one name differ), 0 before the first */
        const char *key;     /* NULL for the entry that a section header itself makes */
        const char *value;   /* NULL for a bare key; stripped of blanks around it */
        unsigned line;       /* from 1 */
} IniEntry;

/*
 * Called in file order, once for each section header (key NULL) and each key. The
 * strings live only during the call. A negative return ends the parse and is returned.
 */
typedef int (*IniHandler)(const IniEntry *entry, void *userdata, Error *error);

/*
 * Parses text (length bytes, not necessarily NUL-terminated). name is used in
 * messages ("name:3: ..."). 0, or a negative errno with *error filled
 * (ERROR_USAGE for a syntax error).
 */
int ini_parse(const char *name, const char *text, size_t length, IniHandler handler, void *userdata, Error *error);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Text by display columns, whatever locale the program runs in. */

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

/* The thread takes text for UTF-8 until the scope is left. ok is false where the system has no such locale. */
typedef struct Utf8Scope {
        locale_t own;
        locale_t previous;
        bool ok;
} Utf8Scope;

Utf8Scope utf8_scope_enter(void);
void utf8_scope_leave(Utf8Scope *scope);

/* Display columns of UTF-8 text; what cannot be shown counts one. */
size_t text_columns(const char *s);

/*
 * Copy of at most `columns` columns, cut with "…" ("..." if ascii) if it is wider. What cannot be shown becomes "?",
 * and so does what is not ASCII if ascii. NULL if memory ran out.
 */
char *text_fit(const char *s, size_t columns, bool ascii);

/* SPDX-License-Identifier: MIT */

/*
 * How wide a character is, glibc tells only for the thread's locale, and a program started by cron or
 * through a pipe has none. C.UTF-8 is always there.
 */

#include "render/columns.h"

#include <string.h>
#include <wchar.h>

#include "util/cleanup.h"

Utf8Scope utf8_scope_enter(void) {
        Utf8Scope scope = { .own = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t) 0) };

        scope.ok = scope.own != (locale_t) 0;
        if (scope.ok)
                scope.previous = uselocale(scope.own);
        return scope;
}

void utf8_scope_leave(Utf8Scope *scope) {
        if (!scope->ok)
                return;

        uselocale(scope->previous);
        freelocale(scope->own);
}

/* The character at s: its bytes (at least 1), and its columns, or -1 if it cannot be shown. */
static size_t next_character(const char *s, int *ret_columns) {
        mbstate_t state = {};
        wchar_t c;
        size_t n = mbrtowc(&c, s, strlen(s), &state);

        if (n == (size_t) -1 || n == (size_t) -2 || n == 0) {
                *ret_columns = -1;
                return 1;
        }
        *ret_columns = wcwidth(c);
        return n;
}

size_t text_columns(const char *s) {
        _cleanup_(utf8_scope_leave) Utf8Scope scope = utf8_scope_enter();
        size_t columns = 0;

        while (*s) {
                int width;

                s += next_character(s, &width);
                columns += width < 0 ? 1 : (size_t) width;
        }
        return columns;
}

char *text_fit(const char *s, size_t columns, bool ascii) {
        bool cut = text_columns(s) > columns;
        const char *mark = !cut ? "" : ascii ? "..." : "…";
        size_t mark_columns = !cut ? 0 : ascii ? 3 : 1, used = 0;
        char *text = malloc(strlen(s) + strlen(mark) + 1), *out = text;
        if (!text)
                return NULL;
        if (mark_columns > columns) {
                *text = '\0';
                return text;
        }

        _cleanup_(utf8_scope_leave) Utf8Scope scope = utf8_scope_enter();
        while (*s) {
                int width;
                size_t n = next_character(s, &width);
                bool shown = width >= 0 && (n == 1 || !ascii);
                size_t needed = shown ? (size_t) width : 1;

                if (used + needed + mark_columns > columns)
                        break;
                out = shown ? mempcpy(out, s, n) : mempcpy(out, "?", 1);
                used += needed;
                s += n;
        }
        memcpy(out, mark, strlen(mark) + 1);
        return text;
}

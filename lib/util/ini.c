/* SPDX-License-Identifier: MIT */

/*
 * Works on one copy of the text and cuts it up in place: no line is too long, and nothing
 * is allocated for a line. Only the name of the current section is kept apart, as a
 * pointer to where it stands.
 */

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "util/ini.h"

typedef struct IniReader {
        const char *name;
        const char *section;
        unsigned section_index;
        unsigned line;
        IniHandler handler;
        void *userdata;
} IniReader;

/* What editors of other systems put before UTF-8 text. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

static const char blanks[] = " \t\v\f\r";

/* Strips in place; returns the new start. */
static char *strip(char *s) {
        s += strspn(s, blanks);

        size_t length = strlen(s);
        while (length > 0 && strchr(blanks, s[length - 1]))
                length--;
        s[length] = '\0';
        return s;
}

static int emit(const IniReader *reader, const char *key, const char *value, Error *error) {
        const IniEntry entry = {
                .section = reader->section,
                .section_index = reader->section_index,
                .key = key,
                .value = value,
                .line = reader->line,
        };

        return reader->handler(&entry, reader->userdata, error);
}

static int read_header(IniReader *reader, char *line, Error *error) {
        size_t last = strlen(line) - 1;

        if (line[last] != ']')
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: expected ']' at the end of the section header '%s'",
                                 reader->name, reader->line, line);
        if (last == 1)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: expected a section name within []",
                                 reader->name, reader->line);

        line[last] = '\0';
        reader->section = line + 1;
        reader->section_index++;
        return emit(reader, NULL, NULL, error);
}

static int read_option(const IniReader *reader, char *line, Error *error) {
        char *value = strchr(line, '=');

        if (value) {
                *value++ = '\0';
                value = strip(value);
        }

        char *key = strip(line);
        if (*key == '\0')
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: expected an option's name before '=%s'",
                                 reader->name, reader->line, value);
        return emit(reader, key, value, error);
}

static int read_line(IniReader *reader, char *line, Error *error) {
        line[strcspn(line, ";#")] = '\0';
        line = strip(line);

        if (*line == '\0')
                return 0;
        if (*line == '[')
                return read_header(reader, line, error);
        return read_option(reader, line, error);
}

static int count_line(IniReader *reader, Error *error) {
        if (reader->line == UINT_MAX)
                return error_set(error, ERROR_USAGE, E2BIG, "%s: more than %u lines", reader->name, UINT_MAX);
        reader->line++;
        return 0;
}

int ini_parse(const char *name, const char *text, size_t length, IniHandler handler, void *userdata, Error *error) {
        _cleanup_free_ char *copy = NULL;
        IniReader reader = { .name = name, .section = "", .handler = handler, .userdata = userdata };

        if (length == SIZE_MAX || !(copy = malloc(length + 1)))
                return error_set(error, ERROR_FAILED, ENOMEM, "%s: out of memory", name);
        if (length > 0)
                memcpy(copy, text, length);
        copy[length] = '\0';

        size_t mark = strlen(byte_order_mark);
        char *first = copy + (length >= mark && memcmp(copy, byte_order_mark, mark) == 0 ? mark : 0);

        for (char *line = first, *end = copy + length; line < end;) {
                int r = count_line(&reader, error);
                if (r < 0)
                        return r;

                char *newline = memchr(line, '\n', (size_t) (end - line)) ?: end;
                if (memchr(line, '\0', (size_t) (newline - line)))
                        return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: a NUL byte: this is not a text file",
                                         name, reader.line);

                *newline = '\0';
                r = read_line(&reader, line, error);
                if (r < 0)
                        return r;
                line = newline + 1;
        }
        return 0;
}

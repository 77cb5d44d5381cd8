/* SPDX-License-Identifier: MIT */

/*
 * A mark is a triangle below its time with the words beside it: to the right, or to the left where the
 * line is too short. Each goes to the first line on which it does not touch another.
 */

#include "render/plot-marks.h"

#include <errno.h>
#include <stdlib.h>

#include "render/columns.h"
#include "util/macro.h"

#define N_LINES_MAX 6

typedef struct Placed {
        unsigned begin, end; /* columns from the axis's begin */
        unsigned line;
        char *text;
} Placed;

typedef struct Marks {
        Placed *items;
        size_t n;
        size_t n_left_out;
} Marks;

static void marks_clear(Marks *marks) {
        for (size_t i = 0; i < marks->n; i++)
                free(marks->items[i].text);
        free(marks->items);
}

/* First line with room for [begin, end) and a blank beside it; N_LINES_MAX if there is none. */
static unsigned find_line(const Marks *marks, unsigned begin, unsigned end) {
        unsigned line = 0;

        for (size_t i = 0; i < marks->n && line < N_LINES_MAX; i++) {
                const Placed *other = &marks->items[i];

                if (other->line == line && begin < other->end + 2 && other->begin < end + 2) {
                        line++;
                        i = (size_t) -1; /* look at all of them again */
                }
        }
        return line;
}

static char *mark_text(const PlotMark *mark, bool to_left, unsigned room, bool ascii) {
        const char *sign = ascii ? "^" : "▲";
        _cleanup_free_ char *words = text_fit(mark->text, room > 2 ? room - 2 : 0, ascii);
        char *text;

        if (!words || asprintf(&text, to_left ? "%s %s" : "%2$s %1$s", words, sign) < 0)
                return NULL;
        return text;
}

static int place(Marks *marks, const PlotMark *mark, unsigned column, unsigned columns, bool ascii) {
        size_t wanted = text_columns(mark->text) + 2;
        bool to_left = wanted > columns - column && column + 1 > columns - column;
        unsigned room = to_left ? column + 1 : columns - column;

        _cleanup_free_ char *text = mark_text(mark, to_left, room, ascii);
        if (!text)
                return -ENOMEM;

        unsigned width = (unsigned) text_columns(text);
        unsigned begin = to_left ? column + 1 - width : column;
        unsigned line = find_line(marks, begin, begin + width);
        if (line == N_LINES_MAX) {
                marks->n_left_out++;
                return 0;
        }

        marks->items[marks->n++] = (Placed) {
                .begin = begin,
                .end = begin + width,
                .line = line,
                .text = TAKE_PTR(text),
        };
        return 0;
}

static int place_all(Marks *marks, const PlotOptions *options, const TimeAxis *axis, unsigned columns) {
        for (size_t i = 0; i < options->n_marks; i++) {
                const PlotMark *mark = &options->marks[i];
                double part = (mark->at_s - axis->from_s) / (axis->to_s - axis->from_s);

                if (!(part >= 0 && part <= 1))
                        continue;
                int r = place(marks, mark, MIN((unsigned) (part * columns), columns - 1), columns, options->ascii);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int by_begin(const void *a, const void *b) {
        const Placed *p = a, *q = b;

        return (p->begin > q->begin) - (p->begin < q->begin);
}

/* The items are sorted by their begin. */
static bool print_line(const Marks *marks, unsigned line, unsigned indent, FILE *f) {
        unsigned at = 0;
        bool any = false;

        for (size_t i = 0; i < marks->n; i++) {
                const Placed *placed = &marks->items[i];
                if (placed->line != line)
                        continue;

                fprintf(f, "%*s%s", (int) (placed->begin - at + (any ? 0 : indent)), "", placed->text);
                at = placed->end;
                any = true;
        }
        if (any)
                fputc('\n', f);
        return any;
}

int marks_print(FILE *f, const PlotOptions *options, const TimeAxis *axis, unsigned indent, unsigned columns) {
        _cleanup_(marks_clear) Marks marks = {};

        if (options->n_marks == 0)
                return 0;
        marks.items = calloc(options->n_marks, sizeof *marks.items);
        if (!marks.items)
                return -ENOMEM;

        int r = place_all(&marks, options, axis, columns);
        if (r < 0)
                return r;

        qsort(marks.items, marks.n, sizeof *marks.items, by_begin);
        for (unsigned line = 0; line < N_LINES_MAX && print_line(&marks, line, indent, f); line++)
                ;
        if (marks.n_left_out > 0)
                fprintf(f, "%*sand %zu more\n", (int) indent, "", marks.n_left_out);
        return 0;
}

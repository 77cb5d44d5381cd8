/* SPDX-License-Identifier: MIT */

#include "render/canvas.h"

#include <stdlib.h>

#include "util/macro.h"

typedef struct Cell {
        uint8_t dots; /* as in U+2800 + dots */
        Ink ink;
} Cell;

struct Canvas {
        unsigned columns;
        unsigned rows;
        Cell cells[];
};

Canvas *canvas_new(unsigned columns, unsigned rows) {
        Canvas *canvas = calloc(1, sizeof *canvas + (size_t) columns * rows * sizeof(Cell));
        if (!canvas)
                return NULL;

        canvas->columns = columns;
        canvas->rows = rows;
        return canvas;
}

Canvas *canvas_free(Canvas *canvas) {
        free(canvas);
        return NULL;
}

void canvas_dot(Canvas *canvas, unsigned x, unsigned y, Ink ink) {
        /* Unicode numbers the dots of a cell for six-dot braille first, then the lowest row. From below: */
        static const uint8_t bits[CELL_DOTS_HIGH][CELL_DOTS_WIDE] = {
                { 0x40, 0x80 },
                { 0x04, 0x20 },
                { 0x02, 0x10 },
                { 0x01, 0x08 },
        };
        unsigned column = x / CELL_DOTS_WIDE, row = y / CELL_DOTS_HIGH;

        if (column >= canvas->columns || row >= canvas->rows)
                return;

        Cell *cell = &canvas->cells[(size_t) row * canvas->columns + column];
        cell->dots |= bits[y % CELL_DOTS_HIGH][x % CELL_DOTS_WIDE];
        cell->ink = ink;
}

void ink_begin(Ink ink, bool color, FILE *f) {
        static const unsigned colors[INK_N_STYLES] = { 36, 33, 35, 32, 34, 31 };

        if (color)
                fprintf(f, "\033[%s%um", ink.band ? "2;" : "", colors[ink.series % ELEMENTSOF(colors)]);
}

void ink_end(bool color, FILE *f) {
        if (color)
                fputs("\033[0m", f);
}

char ink_character(Ink ink) {
        static const char characters[INK_N_STYLES] = { '*', 'o', '+', 'x', '#', '@' };

        return ink.band ? ':' : characters[ink.series % INK_N_STYLES];
}

static void print_cell(const Cell *cell, bool ascii, FILE *f) {
        if (cell->dots == 0)
                fputc(' ', f);
        else if (ascii)
                fputc(ink_character(cell->ink), f);
        else
                /* U+2800 + dots in UTF-8 */
                fprintf(f, "\xe2%c%c", 0xa0 | cell->dots >> 6, 0x80 | (cell->dots & 0x3f));
}

static bool same_ink(Ink a, Ink b) {
        return a.series == b.series && a.band == b.band;
}

void canvas_print_row(const Canvas *canvas, unsigned row, bool ascii, bool color, FILE *f) {
        const Cell *cells = &canvas->cells[(size_t) row * canvas->columns];
        unsigned n = canvas->columns;
        const Cell *inked = NULL;

        while (n > 0 && cells[n - 1].dots == 0)
                n--;

        for (unsigned i = 0; i < n; i++) {
                if (cells[i].dots != 0 && (!inked || !same_ink(inked->ink, cells[i].ink))) {
                        ink_begin(cells[i].ink, color, f);
                        inked = &cells[i];
                }
                print_cell(&cells[i], ascii, f);
        }
        if (inked)
                ink_end(color, f);
}

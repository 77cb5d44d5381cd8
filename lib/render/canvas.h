/* SPDX-License-Identifier: MIT */
#pragma once

/* A field of dots, two wide and four high to a character cell, printed as braille (or one ASCII character a cell). */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/cleanup.h"

#define CELL_DOTS_WIDE 2
#define CELL_DOTS_HIGH 4

/* What a dot belongs to: band or curve of a series. */
typedef struct Ink {
        unsigned series; /* 0 .. CANVAS_SERIES_MAX - 1 */
        bool band;
} Ink;

#define CANVAS_SERIES_MAX 64
#define INK_N_STYLES 6 /* colours, and characters in ASCII; then they come again */

typedef struct Canvas Canvas;

/* NULL if memory ran out. */
Canvas *canvas_new(unsigned columns, unsigned rows);
Canvas *canvas_free(Canvas *canvas);
DEFINE_CLEANUP(Canvas *, canvas_free)

/* A dot; (0, 0) is the lower left one, outside is nothing. The cell takes the ink of its last dot. */
void canvas_dot(Canvas *canvas, unsigned x, unsigned y, Ink ink);

/* A row of cells (0: the lowest), without blanks at its end. */
void canvas_print_row(const Canvas *canvas, unsigned row, bool ascii, bool color, FILE *f);

/* For legends: the colour of an ink, and back. */
void ink_begin(Ink ink, bool color, FILE *f);
void ink_end(bool color, FILE *f);
char ink_character(Ink ink); /* in ASCII */

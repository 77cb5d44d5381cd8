/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tables of numbers as pictures: each cell has its number, on a colour of a logarithmic scale that all tables of a
 * picture share. The colours run from dark to light, so the picture also reads in grey, and with any eyes.
 *
 * All text is UTF-8 that has gone through text_escape(), which cairo needs: it refuses all else.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "render/picture.h"
#include "util/error.h"

typedef struct HeatCell {
        double value;     /* NaN: nothing was measured, the cell stays empty */
        const char *text; /* the number, and its marks */
        bool incomplete;  /* hatched */
} HeatCell;

typedef struct HeatPanel {
        const char *title;
        const char *const *columns;
        const char *const *rows;
        size_t n_columns, n_rows; /* at least one of each */
        const HeatCell *cells;    /* n_rows * n_columns, row by row */
} HeatPanel;

typedef struct HeatMap {
        const char *title;
        const char *const *lines; /* below it */
        size_t n_lines;
        const char *column_title, *row_title, *unit;
        const HeatPanel *panels; /* one below the other; at least one */
        size_t n_panels;
        const char *const *footnotes;
        size_t n_footnotes;
} HeatMap;

/* As picture_write(). */
int heat_map_write(FILE *f, PictureFormat format, const HeatMap *map, Error *error);

typedef struct HeatColor {
        double red, green, blue; /* 0 to 1 */
} HeatColor;

/* At this part of the scale, from 0 (dark) to 1 (light). */
HeatColor heat_color(double part);

/* Whether black is better to be read on it than white. */
bool heat_color_is_light(HeatColor color);

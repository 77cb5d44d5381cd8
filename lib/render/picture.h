/* SPDX-License-Identifier: MIT */
#pragma once

/* A picture for documents and the web: what cairo draws, as an SVG or a PNG file. */

#include <cairo.h>
#include <stdio.h>

#include "util/error.h"

typedef enum PictureFormat {
        PICTURE_SVG,
        PICTURE_PNG,
        N_PICTURE_FORMATS,
} PictureFormat;

/* By the end of the name, in any case: ".svg", ".png". ERROR_USAGE (-EINVAL) for another. */
int picture_format_from_path(const char *path, PictureFormat *ret, Error *error);

/* Draws on the context, whose unit is a pixel of a screen. What fails there, cairo remembers. */
typedef void PictureDraw(cairo_t *cr, const void *userdata);

/*
 * Has a picture of this size (in pixels; a PNG has two for each, for screens of today) drawn, and writes it to f.
 * -ENOMEM; ERROR_FAILED (-EFBIG) if cairo cannot make one so large; what f says if it takes it not.
 */
int picture_write(FILE *f, PictureFormat format, double width, double height, PictureDraw *draw, const void *userdata,
                  Error *error);

/* Calls measure with a context on which nothing is kept, to learn how large texts are. */
typedef void PictureMeasure(cairo_t *cr, void *userdata);
void picture_measure(PictureMeasure *measure, void *userdata);

/* The width of a text in the font that is set. */
double picture_text_width(cairo_t *cr, const char *text);

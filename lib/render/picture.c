/* SPDX-License-Identifier: MIT */

#include "render/picture.h"

#include <cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define PNG_SCALE 2.0
#define PNG_SIDE_MAX 32767.0 /* of cairo's images */

static const char *const extensions[N_PICTURE_FORMATS] = {
        [PICTURE_SVG] = ".svg",
        [PICTURE_PNG] = ".png",
};

int picture_format_from_path(const char *path, PictureFormat *ret, Error *error) {
        const char *extension = strrchr(path, '.');

        for (PictureFormat i = 0; extension && i < N_PICTURE_FORMATS; i++)
                if (strcasecmp(extension, extensions[i]) == 0) {
                        *ret = i;
                        return 0;
                }
        return error_set(error, ERROR_USAGE, EINVAL, "%s: the name of a picture ends in .svg or .png", path);
}

static void surface_destroyp(cairo_surface_t **surface) {
        cairo_surface_destroy(*surface);
}

static void context_destroyp(cairo_t **cr) {
        cairo_destroy(*cr);
}

typedef struct Output {
        FILE *f;
        int errnum; /* why it took no more */
} Output;

static cairo_status_t write_to(void *userdata, const unsigned char *data, unsigned length) {
        Output *output = userdata;

        errno = 0;
        if (fwrite(data, 1, length, output->f) == length)
                return CAIRO_STATUS_SUCCESS;
        output->errnum = errno > 0 ? errno : EIO;
        return CAIRO_STATUS_WRITE_ERROR;
}

static int fail(cairo_status_t status, const Output *output, Error *error) {
        if (status == CAIRO_STATUS_NO_MEMORY)
                return -ENOMEM;
        if (output->errnum > 0)
                return -output->errnum;
        return error_set(error, ERROR_FAILED, EFBIG, "cannot draw the picture: %s", cairo_status_to_string(status));
}

int picture_write(FILE *f, PictureFormat format, double width, double height, PictureDraw *draw, const void *userdata,
                  Error *error) {
        _cleanup_(surface_destroyp) cairo_surface_t *surface = NULL;
        _cleanup_(context_destroyp) cairo_t *cr = NULL;
        Output output = { .f = f };

        if (format == PICTURE_PNG && fmax(width, height) * PNG_SCALE > PNG_SIDE_MAX)
                return error_set(error, ERROR_FAILED, EFBIG,
                                 "a PNG picture of %.0f x %.0f is beyond what can be made; an .svg has no such limit",
                                 width * PNG_SCALE, height * PNG_SCALE);

        surface = format == PICTURE_SVG
                          ? cairo_svg_surface_create_for_stream(write_to, &output, width, height)
                          : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int) ceil(width * PNG_SCALE),
                                                       (int) ceil(height * PNG_SCALE));
        cr = cairo_create(surface);
        if (format == PICTURE_PNG)
                cairo_scale(cr, PNG_SCALE, PNG_SCALE);
        draw(cr, userdata);

        cairo_status_t status = cairo_status(cr);
        if (status == CAIRO_STATUS_SUCCESS && format == PICTURE_PNG)
                status = cairo_surface_write_to_png_stream(surface, write_to, &output);
        /* An SVG is written when it is finished. */
        cairo_surface_finish(surface);
        if (status == CAIRO_STATUS_SUCCESS)
                status = cairo_surface_status(surface);
        return status == CAIRO_STATUS_SUCCESS ? 0 : fail(status, &output, error);
}

void picture_measure(PictureMeasure *measure, void *userdata) {
        _cleanup_(surface_destroyp) cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
        _cleanup_(context_destroyp) cairo_t *cr = cairo_create(surface);

        /* As in an SVG, whatever the size: else texts come out wider or narrower than they were measured. */
        cairo_font_options_t *options = cairo_font_options_create();
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
        cairo_set_font_options(cr, options);
        cairo_font_options_destroy(options);
        measure(cr, userdata);
}

double picture_text_width(cairo_t *cr, const char *text) {
        cairo_text_extents_t extents;

        cairo_text_extents(cr, text, &extents);
        return extents.x_advance;
}

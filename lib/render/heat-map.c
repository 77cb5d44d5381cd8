/* SPDX-License-Identifier: MIT */

/*
 * The size of everything follows from its texts, so that no number and no name of a drive is ever cut off: first all
 * is measured on a surface that is thrown away, then the picture is drawn in the size that came out.
 */

#include "render/heat-map.h"

#include <math.h>
#include <string.h>

#include "render/plot-axis.h"
#include "util/macro.h"

#define FONT "sans-serif"
#define TITLE_SIZE 17.0
#define PANEL_SIZE 13.0
#define TEXT_SIZE 12.0
#define LINE_HEIGHT 18.0
#define MARGIN 24.0
#define GAP 12.0
#define CELL_WIDTH_MIN 58.0
#define CELL_HEIGHT 30.0
#define CELL_PADDING 9.0 /* at either side of a number */
#define BAR_WIDTH 16.0
#define BAR_HEIGHT_MIN 150.0
#define BAR_STEPS 128
#define TICK_LENGTH 4.0
#define HATCH_STEP 7.0
#define N_TICKS 5

static const HeatColor ink = { 0.13, 0.13, 0.15 }, faint = { 0.42, 0.42, 0.46 }, empty = { 0.945, 0.945, 0.95 },
                       white = { 1, 1, 1 };

/* Matplotlib's viridis (CC0), which was made for this: even to the eye, in grey, and for the colour-blind. */
static const HeatColor viridis[] = {
        { 0.267, 0.005, 0.329 }, { 0.283, 0.141, 0.458 }, { 0.254, 0.265, 0.530 }, { 0.207, 0.372, 0.553 },
        { 0.164, 0.471, 0.558 }, { 0.128, 0.567, 0.551 }, { 0.135, 0.659, 0.518 }, { 0.267, 0.749, 0.441 },
        { 0.478, 0.821, 0.318 }, { 0.741, 0.873, 0.150 }, { 0.993, 0.906, 0.144 },
};

HeatColor heat_color(double part) {
        double at = fmin(fmax(part, 0), 1) * (ELEMENTSOF(viridis) - 1);
        size_t i = MIN((size_t) at, ELEMENTSOF(viridis) - 2);
        const HeatColor *a = &viridis[i], *b = &viridis[i + 1];
        double t = at - (double) i;

        return (HeatColor){ a->red + t * (b->red - a->red), a->green + t * (b->green - a->green),
                            a->blue + t * (b->blue - a->blue) };
}

static double linear(double channel) {
        return channel <= 0.04045 ? channel / 12.92 : pow((channel + 0.055) / 1.055, 2.4);
}

/* The contrast ratio of the Web Content Accessibility Guidelines is the same with ink and white at this luminance. */
bool heat_color_is_light(HeatColor c) {
        return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue) > 0.21;
}

/* --- what it comes to --- */

typedef struct Scale {
        double low, high; /* exponents of ten */
} Scale;

typedef struct Layout {
        const HeatMap *map;
        Scale scale;
        double width, height;
        double heading_height; /* title and lines */
        double row_width;      /* of the rows' labels and their title */
        double cell_width;
        double bar_x; /* left edge of the colour scale */
} Layout;

static size_t n_cells(const HeatPanel *panel) {
        return panel->n_rows * panel->n_columns;
}

/* The range of all that is above zero; at least a factor of two, so that noise looks not like a cliff. */
static Scale find_scale(const HeatMap *map) {
        double low = INFINITY, high = -INFINITY;

        for (size_t p = 0; p < map->n_panels; p++)
                for (size_t i = 0; i < n_cells(&map->panels[p]); i++) {
                        double value = map->panels[p].cells[i].value;
                        if (!(value > 0) || !isfinite(value))
                                continue;
                        low = fmin(low, log10(value));
                        high = fmax(high, log10(value));
                }
        if (low > high)
                return (Scale){ 0, 1 };
        double missing = fmax(log10(2) - (high - low), 0);
        return (Scale){ low - missing / 2, high + missing / 2 };
}

static double scale_part(const Scale *scale, double value) {
        return value > 0 ? (log10(value) - scale->low) / (scale->high - scale->low) : 0;
}

static void set_font(cairo_t *cr, double size, bool bold) {
        cairo_select_font_face(cr, FONT, CAIRO_FONT_SLANT_NORMAL,
                               bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
        cairo_set_font_size(cr, size);
}

static double widest(cairo_t *cr, const char *const *texts, size_t n) {
        double width = 0;

        for (size_t i = 0; i < n; i++)
                width = fmax(width, picture_text_width(cr, texts[i]));
        return width;
}

/* Of all panels. */
static void measure_panels(Layout *layout, cairo_t *cr, size_t *ret_n_columns) {
        size_t n_columns = 0;

        set_font(cr, TEXT_SIZE, false);
        layout->cell_width = CELL_WIDTH_MIN;
        layout->row_width = picture_text_width(cr, layout->map->row_title);
        for (size_t p = 0; p < layout->map->n_panels; p++) {
                const HeatPanel *panel = &layout->map->panels[p];

                n_columns = MAX(n_columns, panel->n_columns);
                layout->row_width = fmax(layout->row_width, widest(cr, panel->rows, panel->n_rows));
                layout->cell_width = fmax(layout->cell_width,
                                          widest(cr, panel->columns, panel->n_columns) + 2 * CELL_PADDING);
                for (size_t i = 0; i < n_cells(panel); i++)
                        layout->cell_width = fmax(layout->cell_width,
                                                  picture_text_width(cr, panel->cells[i].text) + 2 * CELL_PADDING);
                layout->cell_width = fmax(layout->cell_width, picture_text_width(cr, layout->map->column_title) /
                                                                      (double) panel->n_columns);
        }
        layout->row_width += GAP;
        *ret_n_columns = n_columns;
}

static double grid_height(const HeatPanel *panel) {
        return (double) panel->n_rows * CELL_HEIGHT;
}

/* Its title, the columns' labels and their title; the grid is below. */
#define PANEL_HEAD_HEIGHT (3 * LINE_HEIGHT + GAP)

static double panel_height(const HeatPanel *panel) {
        return PANEL_HEAD_HEIGHT + grid_height(panel) + GAP;
}

/* The colour scale stands beside them, as high as the first one if that is high enough. */
static double bar_height(const HeatMap *map) {
        return fmax(grid_height(&map->panels[0]), BAR_HEIGHT_MIN);
}

static double panels_height(const HeatMap *map) {
        double height = 0;

        for (size_t p = 0; p < map->n_panels; p++)
                height += panel_height(&map->panels[p]);
        return fmax(height, PANEL_HEAD_HEIGHT + bar_height(map) + GAP);
}

#define BAR_LABEL_WIDTH 52.0 /* of "500k", and what it counts */

static Layout lay_out(const HeatMap *map, cairo_t *cr) {
        Layout layout = { .map = map, .scale = find_scale(map) };
        size_t n_columns;

        measure_panels(&layout, cr, &n_columns);
        double grid_width = (double) n_columns * layout.cell_width, first_title_width;
        set_font(cr, PANEL_SIZE, true);
        first_title_width = picture_text_width(cr, map->panels[0].title);
        /* Those of the others can come to lie beside the colour scale. */
        for (size_t p = 1; p < map->n_panels; p++)
                grid_width = fmax(grid_width, picture_text_width(cr, map->panels[p].title));
        layout.bar_x = MARGIN + layout.row_width + grid_width + 2 * GAP;
        double inner = fmax(layout.bar_x + BAR_WIDTH + BAR_LABEL_WIDTH - MARGIN, layout.row_width + first_title_width);
        set_font(cr, TITLE_SIZE, true);
        inner = fmax(inner, picture_text_width(cr, map->title));
        set_font(cr, TEXT_SIZE, false);
        inner = fmax(inner, widest(cr, map->lines, map->n_lines));
        inner = fmax(inner, widest(cr, map->footnotes, map->n_footnotes));

        layout.heading_height = TITLE_SIZE + GAP / 2 + (double) map->n_lines * LINE_HEIGHT;
        layout.width = ceil(inner + 2 * MARGIN);
        layout.height = ceil(2 * MARGIN + layout.heading_height + panels_height(map) +
                             (double) map->n_footnotes * LINE_HEIGHT);
        return layout;
}

/* --- the picture --- */

static void set_color(cairo_t *cr, HeatColor color) {
        cairo_set_source_rgb(cr, color.red, color.green, color.blue);
}

/* x is the text's left edge, its middle or its right edge: align 0, 0.5, 1. y is the middle of its line. */
static void draw_text(cairo_t *cr, double x, double y, double align, const char *text) {
        cairo_font_extents_t font;

        cairo_font_extents(cr, &font);
        cairo_move_to(cr, x - align * picture_text_width(cr, text), y + (font.ascent - font.descent) / 2);
        cairo_show_text(cr, text);
}

static void draw_heading(cairo_t *cr, const Layout *layout) {
        const HeatMap *map = layout->map;
        double y = MARGIN + TITLE_SIZE / 2;

        set_color(cr, ink);
        set_font(cr, TITLE_SIZE, true);
        draw_text(cr, MARGIN, y, 0, map->title);
        y += TITLE_SIZE / 2 + GAP / 2 + LINE_HEIGHT / 2;
        set_color(cr, faint);
        set_font(cr, TEXT_SIZE, false);
        for (size_t i = 0; i < map->n_lines; i++, y += LINE_HEIGHT)
                draw_text(cr, MARGIN, y, 0, map->lines[i]);
}

/* Stripes of the number's own colour at the corners, where they leave the number alone. */
static void draw_hatch(cairo_t *cr, double x, double y, double width, double height) {
        cairo_save(cr);
        cairo_rectangle(cr, x, y, width, height);
        cairo_clip(cr);
        cairo_set_line_width(cr, 1);
        for (double at = HATCH_STEP / 2; at < width + height; at += HATCH_STEP) {
                cairo_move_to(cr, x + at, y);
                cairo_line_to(cr, x + at - height, y + height);
        }
        cairo_stroke(cr);
        cairo_restore(cr);
}

static void draw_cell(cairo_t *cr, const Layout *layout, const HeatCell *cell, double x, double y) {
        double width = layout->cell_width - 1, height = CELL_HEIGHT - 1;
        bool measured = !isnan(cell->value);
        HeatColor color = measured ? heat_color(scale_part(&layout->scale, cell->value)) : empty;
        HeatColor text = !measured ? faint : heat_color_is_light(color) ? ink : white;

        set_color(cr, color);
        cairo_rectangle(cr, x, y, width, height);
        cairo_fill(cr);
        if (cell->incomplete) {
                cairo_set_source_rgba(cr, text.red, text.green, text.blue, 0.35);
                draw_hatch(cr, x, y, width, height);
                /* A plain ground for the number. */
                double ground = picture_text_width(cr, cell->text) + CELL_PADDING;
                set_color(cr, color);
                cairo_rectangle(cr, x + (width - ground) / 2, y + 6, ground, height - 12);
                cairo_fill(cr);
        }
        set_color(cr, text);
        draw_text(cr, x + width / 2, y + height / 2, 0.5, cell->text);
}

/* Returns the top of its grid. */
static double draw_panel_heading(cairo_t *cr, const Layout *layout, const HeatPanel *panel, double top) {
        double x = MARGIN + layout->row_width;

        set_color(cr, ink);
        set_font(cr, PANEL_SIZE, true);
        draw_text(cr, x, top + LINE_HEIGHT / 2, 0, panel->title);
        set_font(cr, TEXT_SIZE, false);
        set_color(cr, faint);
        draw_text(cr, x + (double) panel->n_columns * layout->cell_width / 2, top + 1.5 * LINE_HEIGHT + GAP / 2, 0.5,
                  layout->map->column_title);
        draw_text(cr, x - GAP, top + 2.5 * LINE_HEIGHT + GAP / 2, 1, layout->map->row_title);
        set_color(cr, ink);
        for (size_t i = 0; i < panel->n_columns; i++)
                draw_text(cr, x + ((double) i + 0.5) * layout->cell_width, top + 2.5 * LINE_HEIGHT + GAP / 2, 0.5,
                          panel->columns[i]);
        return top + PANEL_HEAD_HEIGHT;
}

static void draw_panel(cairo_t *cr, const Layout *layout, const HeatPanel *panel, double top) {
        double x = MARGIN + layout->row_width, y = draw_panel_heading(cr, layout, panel, top);

        for (size_t r = 0; r < panel->n_rows; r++) {
                double row_y = y + (double) r * CELL_HEIGHT;

                set_color(cr, ink);
                draw_text(cr, x - GAP, row_y + CELL_HEIGHT / 2, 1, panel->rows[r]);
                for (size_t c = 0; c < panel->n_columns; c++)
                        draw_cell(cr, layout, &panel->cells[r * panel->n_columns + c],
                                  x + (double) c * layout->cell_width, row_y);
        }
}

static void draw_tick(cairo_t *cr, const Layout *layout, double top, double value) {
        double part = scale_part(&layout->scale, value), x = layout->bar_x + BAR_WIDTH;
        double y = top + (1 - part) * bar_height(layout->map);
        char label[AXIS_LABEL_MAX];

        if (part < -1e-9 || part > 1 + 1e-9)
                return;
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, x + TICK_LENGTH, y);
        cairo_stroke(cr);
        draw_text(cr, x + 2 * TICK_LENGTH, y, 0, axis_format_value(value, label));
}

/* At even steps within a decade; over several at powers of ten, and 2 and 5 times them while there are few. */
static void draw_ticks(cairo_t *cr, const Layout *layout, double top) {
        static const double steps[] = { 1, 2, 5 };
        const Scale *scale = &layout->scale;
        double decades = scale->high - scale->low, low = pow(10, scale->low), high = pow(10, scale->high);
        double step = axis_nice_step((high - low) / N_TICKS);

        if (decades < 1)
                for (double value = ceil(low / step) * step; value <= high; value += step)
                        draw_tick(cr, layout, top, value);
        else
                for (double decade = floor(scale->low); decade <= scale->high; decade++)
                        for (size_t i = 0; i < (decades < N_TICKS / 2.0 ? ELEMENTSOF(steps) : 1); i++)
                                draw_tick(cr, layout, top, steps[i] * pow(10, decade));
}

static void draw_bar(cairo_t *cr, const Layout *layout, double top) {
        double height = bar_height(layout->map), step = height / BAR_STEPS;

        for (unsigned k = 0; k < BAR_STEPS; k++) {
                set_color(cr, heat_color(1 - (k + 0.5) / BAR_STEPS));
                /* One over the other a little, else there are gaps between them. */
                cairo_rectangle(cr, layout->bar_x, top + k * step, BAR_WIDTH, fmin(step + 1, height - k * step));
                cairo_fill(cr);
        }
        set_color(cr, faint);
        set_font(cr, TEXT_SIZE, false);
        draw_text(cr, layout->bar_x, top - GAP / 2 - LINE_HEIGHT / 2, 0, layout->map->unit);
        cairo_set_line_width(cr, 1);
        draw_ticks(cr, layout, top);
}

static void draw(cairo_t *cr, const void *userdata) {
        const Layout *layout = userdata;
        const HeatMap *map = layout->map;
        double top = MARGIN + layout->heading_height + GAP, y = top;

        set_color(cr, white);
        cairo_paint(cr);
        draw_heading(cr, layout);
        draw_bar(cr, layout, top + PANEL_HEAD_HEIGHT);
        for (size_t p = 0; p < map->n_panels; p++) {
                draw_panel(cr, layout, &map->panels[p], y);
                y += panel_height(&map->panels[p]);
        }
        set_color(cr, faint);
        y = top + panels_height(map);
        for (size_t i = 0; i < map->n_footnotes; i++, y += LINE_HEIGHT)
                draw_text(cr, MARGIN, y + LINE_HEIGHT / 2, 0, map->footnotes[i]);
}

static void measure(cairo_t *cr, void *userdata) {
        Layout *layout = userdata;

        *layout = lay_out(layout->map, cr);
}

int heat_map_write(FILE *f, PictureFormat format, const HeatMap *map, Error *error) {
        Layout layout = { .map = map };

        picture_measure(measure, &layout);
        return picture_write(f, format, layout.width, layout.height, draw, &layout, error);
}

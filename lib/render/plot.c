/* SPDX-License-Identifier: MIT */

/*
 * The picture is drawn into dots, two by four to a character, so 80 columns hold about 140 points in time. Each is
 * drawn twice: first the range of all its samples, thinned out to every other dot, then the mean as a
 * full line over it. The ends of the range are never thinned out: one bad second in ten hours is one dot there.
 *
 * Without colour the curves of several series differ by their dashes.
 */

#include "render/plot.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "render/canvas.h"
#include "render/columns.h"
#include "render/plot-axis.h"
#include "render/plot-bins.h"
#include "render/plot-marks.h"
#include "util/macro.h"

#define WIDTH_DEFAULT 80U
#define WIDTH_MIN 40U
#define HEIGHT_DEFAULT 16U
#define HEIGHT_MIN 4U
#define COLUMNS_PER_TIME_TICK 11
#define N_DASHES 4U

typedef struct Plot {
        const PlotOptions *options;
        const PlotSeries *series;
        size_t n_series;
        unsigned width, height;
        unsigned label_columns; /* of the value axis's labels */
        unsigned columns;       /* of the curve */
        ValueAxis values;
        TimeAxis times;
        Bin **bins; /* of each series */
        Canvas *canvas;
        bool is_dense; /* several samples share a column: then the key says what is seen */
        FILE *f;
} Plot;

static void plot_clear(Plot *plot) {
        for (size_t i = 0; plot->bins && i < plot->n_series; i++)
                free(plot->bins[i]);
        free(plot->bins);
        canvas_free(plot->canvas);
}

typedef struct Extremes {
        double from_s, to_s;
        double highest, lowest_positive;
        bool any, has_zero;
} Extremes;

static Extremes find_extremes(const PlotSeries *series, size_t n_series) {
        Extremes e = { .from_s = INFINITY, .to_s = -INFINITY, .highest = 0, .lowest_positive = INFINITY };

        for (size_t s = 0; s < n_series; s++)
                for (size_t i = 0; i < series[s].n; i++) {
                        double value = series[s].value[i];
                        if (!isfinite(value) || !isfinite(series[s].from_s[i]) || !isfinite(series[s].to_s[i]))
                                continue;

                        e.any = true;
                        e.from_s = fmin(e.from_s, series[s].from_s[i]);
                        e.to_s = fmax(e.to_s, series[s].to_s[i]);
                        e.highest = fmax(e.highest, value);
                        if (value > 0)
                                e.lowest_positive = fmin(e.lowest_positive, value);
                        else
                                e.has_zero = true;
                }

        if (!(e.to_s > e.from_s))
                e.to_s = e.from_s + 1;
        if (!isfinite(e.lowest_positive))
                e.lowest_positive = 0;
        return e;
}

static unsigned widest_label(const ValueAxis *axis) {
        unsigned widest = 0;
        char label[AXIS_LABEL_MAX];
        double value;

        for (unsigned row = 0; row < axis->rows; row++)
                if (value_axis_tick(axis, row, &value))
                        widest = MAX(widest, (unsigned) strlen(axis_format_value(value, label)));
        return widest;
}

static int lay_out(Plot *plot, const Extremes *e) {
        plot->values = value_axis_make(plot->height, plot->options->log_scale, e->highest, e->lowest_positive,
                                       e->has_zero);
        plot->label_columns = widest_label(&plot->values);
        plot->columns = plot->width - plot->label_columns - 2;
        plot->times = plot->options->amount_unit
                              ? amount_axis_make(e->from_s, e->to_s, plot->columns / COLUMNS_PER_TIME_TICK,
                                                 plot->options->amount_unit)
                              : time_axis_make(e->from_s, e->to_s, plot->columns / COLUMNS_PER_TIME_TICK);

        plot->canvas = canvas_new(plot->columns, plot->height);
        plot->bins = calloc(plot->n_series, sizeof *plot->bins);
        if (!plot->canvas || !plot->bins)
                return -ENOMEM;
        for (size_t i = 0; i < plot->n_series; i++) {
                plot->bins[i] = bins_make(&plot->series[i], e->from_s, e->to_s, plot->columns * CELL_DOTS_WIDE);
                if (!plot->bins[i])
                        return -ENOMEM;
                plot->is_dense |= plot->series[i].n > (size_t) plot->columns * CELL_DOTS_WIDE;
        }
        return 0;
}

static void draw_band(Plot *plot, unsigned series) {
        Ink ink = { .series = series % CANVAS_SERIES_MAX, .band = true };

        for (unsigned x = 0; x < plot->columns * CELL_DOTS_WIDE; x++) {
                const Bin *bin = &plot->bins[series][x];
                if (isnan(bin->mean))
                        continue;

                unsigned low = value_axis_dot(&plot->values, bin->low), high = value_axis_dot(&plot->values, bin->high);
                for (unsigned y = low; y <= high; y++)
                        if ((x + y) % 2 == 0 || y == low || y == high)
                                canvas_dot(plot->canvas, x, y, ink);
        }
}

/* The curve's dashes: whether series has a dot at x. */
static bool is_inked(const Plot *plot, unsigned series, unsigned x) {
        static const unsigned periods[N_DASHES] = { 1, 4, 2, 6 };
        unsigned period = plot->options->color || plot->options->ascii ? 1 : periods[series % ELEMENTSOF(periods)];

        return x % period < (period + 1) / 2;
}

/* The mean, with the step from one column to the next drawn as a vertical line. */
static void draw_mean(Plot *plot, unsigned series) {
        Ink ink = { .series = series % CANVAS_SERIES_MAX };
        bool has_previous = false;
        unsigned previous = 0;

        for (unsigned x = 0; x < plot->columns * CELL_DOTS_WIDE; x++) {
                double mean = plot->bins[series][x].mean;
                if (isnan(mean)) {
                        has_previous = false;
                        continue;
                }

                unsigned y = value_axis_dot(&plot->values, mean);
                unsigned from = y, to = y;
                if (has_previous && previous < y)
                        from = previous + 1;
                if (has_previous && previous > y)
                        to = previous - 1;
                for (unsigned i = from; i <= to && is_inked(plot, series, x); i++)
                        canvas_dot(plot->canvas, x, i, ink);

                previous = y;
                has_previous = true;
        }
}

/* The first series last, so that it lies on top. */
static void draw(Plot *plot) {
        for (size_t i = plot->n_series; i-- > 0;)
                draw_band(plot, (unsigned) i);
        for (size_t i = plot->n_series; i-- > 0;)
                draw_mean(plot, (unsigned) i);
}

#define KEY_COLUMNS 3

/* A piece of curve or band. */
static void print_key(const Plot *plot, Ink ink) {
        _cleanup_(canvas_freep) Canvas *canvas = canvas_new(KEY_COLUMNS, 1);
        if (!canvas)
                return;

        for (unsigned x = 0; x < KEY_COLUMNS * CELL_DOTS_WIDE; x++)
                for (unsigned y = 0; y < CELL_DOTS_HIGH; y++)
                        if (ink.band ? (x + y) % 2 == 0 : y == 1 && is_inked(plot, ink.series, x))
                                canvas_dot(canvas, x, y, ink);
        canvas_print_row(canvas, 0, plot->options->ascii, plot->options->color, plot->f);
}

#define MEAN_WORDS " mean   "
#define BAND_WORDS " lowest to highest"

/* The title, and at its right what the two kinds of ink mean, if there are two and there is room. */
static int print_title(const Plot *plot) {
        const PlotOptions *o = plot->options;
        _cleanup_free_ char *title = text_fit(o->title ?: "", plot->width, o->ascii);
        if (!title)
                return -ENOMEM;

        size_t used = text_columns(title), key = 2 * KEY_COLUMNS + strlen(MEAN_WORDS) + strlen(BAND_WORDS);
        bool has_key = plot->is_dense && used + 2 + key <= plot->width;
        if (used == 0 && !has_key)
                return 0;

        fprintf(plot->f, "%s%s%s", o->color ? "\033[1m" : "", title, o->color ? "\033[0m" : "");
        if (has_key) {
                fprintf(plot->f, "%*s", (int) (plot->width - used - key), "");
                print_key(plot, (Ink) {});
                fputs(MEAN_WORDS, plot->f);
                print_key(plot, (Ink) { .band = true });
                fputs(BAND_WORDS, plot->f);
        }
        fputc('\n', plot->f);
        return 0;
}

/* Where curves cannot be told from each other by their looks. */
static void print_repetition(const Plot *plot) {
        const PlotOptions *o = plot->options;
        unsigned n_styles = o->color || o->ascii ? INK_N_STYLES : N_DASHES;

        if (plot->n_series > n_styles)
                fprintf(plot->f, "after %u curves the %s come again\n", n_styles,
                        o->color ? "colours" : o->ascii ? "characters" : "dashes");
}

static int print_legend(const Plot *plot) {
        unsigned room = plot->width - KEY_COLUMNS - 1;

        for (size_t i = 0; plot->n_series > 1 && i < plot->n_series; i++) {
                _cleanup_free_ char *label = text_fit(plot->series[i].label ?: "", room, plot->options->ascii);
                if (!label)
                        return -ENOMEM;

                print_key(plot, (Ink) { .series = (unsigned) i % CANVAS_SERIES_MAX });
                fprintf(plot->f, " %s\n", label);
        }

        print_repetition(plot);
        return 0;
}

static int print_unit(const Plot *plot) {
        _cleanup_free_ char *unit = text_fit(plot->options->unit ?: "", plot->width, plot->options->ascii);
        if (!unit)
                return -ENOMEM;
        if (*unit == '\0')
                return 0;

        size_t columns = text_columns(unit), indent = columns < plot->label_columns ? plot->label_columns - columns : 0;
        fprintf(plot->f, "%*s%s\n", (int) indent, "", unit);
        return 0;
}

static void print_rows(const Plot *plot) {
        bool ascii = plot->options->ascii;

        for (unsigned row = plot->height; row-- > 0;) {
                char label[AXIS_LABEL_MAX] = "";
                double value;
                bool tick = value_axis_tick(&plot->values, row, &value);
                if (tick)
                        axis_format_value(value, label);

                fprintf(plot->f, "%*s %s", (int) plot->label_columns, label,
                        ascii ? (tick ? "+" : "|") : (tick ? "┤" : "│"));
                canvas_print_row(plot->canvas, row, ascii, plot->options->color, plot->f);
                fputc('\n', plot->f);
        }
}

/* Column of the nth tick from the left, and its time; false if there are no more. */
static bool time_tick(const Plot *plot, unsigned n, unsigned *ret_column, double *ret_at_s) {
        const TimeAxis *t = &plot->times;
        double at_s = (ceil(t->from_s / t->step_s - 1e-6) + n) * t->step_s;
        double part = (at_s - t->from_s) / (t->to_s - t->from_s);
        if (part > 1 + 1e-6)
                return false;

        *ret_column = (unsigned) fmin(fmax(part, 0) * plot->columns, plot->columns - 1);
        *ret_at_s = at_s;
        return true;
}

static void print_time_line(const Plot *plot) {
        bool ascii = plot->options->ascii;
        unsigned n = 0, tick;
        double at_s;
        bool more = time_tick(plot, n, &tick, &at_s);

        fprintf(plot->f, "%*s %s", (int) plot->label_columns, "", ascii ? "+" : "└");
        for (unsigned column = 0; column < plot->columns; column++) {
                bool here = more && tick == column;
                while (more && tick == column)
                        more = time_tick(plot, ++n, &tick, &at_s);
                fputs(here ? (ascii ? "+" : "┬") : (ascii ? "-" : "─"), plot->f);
        }
        fputc('\n', plot->f);
}

/* Each label centred below its tick, as far as the line goes; one that would touch the last one is left out. */
static void print_time_labels(const Plot *plot) {
        unsigned at = 0, column;
        double at_s;

        for (unsigned n = 0; time_tick(plot, n, &column, &at_s); n++) {
                char label[AXIS_LABEL_MAX];
                unsigned length = (unsigned) strlen(time_axis_format(&plot->times, at_s, label));
                unsigned centre = plot->label_columns + 2 + column;
                unsigned begin = centre > length / 2 ? centre - length / 2 : 0;
                begin = MIN(begin, plot->width - length); /* a label is shorter than the least width */

                if (at > 0 && begin <= at)
                        continue;
                fprintf(plot->f, "%*s%s", (int) (begin - at), "", label);
                at = begin + length;
        }
        fputc('\n', plot->f);
}

static int print_all(Plot *plot) {
        int r = print_title(plot);
        if (r >= 0)
                r = print_legend(plot);
        if (r >= 0)
                r = print_unit(plot);
        if (r < 0)
                return r;

        print_rows(plot);
        print_time_line(plot);
        print_time_labels(plot);
        return marks_print(plot->f, plot->options, &plot->times, plot->label_columns + 2, plot->columns);
}

static int compose(FILE *f, const PlotSeries *series, size_t n_series, const PlotOptions *options) {
        Extremes extremes = find_extremes(series, n_series);
        _cleanup_(plot_clear) Plot plot = {
                .options = options,
                .series = series,
                .n_series = n_series,
                .width = MAX(options->width ?: WIDTH_DEFAULT, WIDTH_MIN),
                .height = MAX(options->height ?: HEIGHT_DEFAULT, HEIGHT_MIN),
                .f = f,
        };

        if (!extremes.any) {
                int r = print_title(&plot);
                fputs("no samples to plot\n", f);
                return r;
        }

        int r = lay_out(&plot, &extremes);
        if (r < 0)
                return r;
        draw(&plot);
        return print_all(&plot);
}

int plot_print(FILE *f, const PlotSeries *series, size_t n_series, const PlotOptions *options, Error *error) {
        _cleanup_free_ char *text = NULL;
        size_t length;

        /* Whole or not at all: a picture cut in the middle by a lack of memory helps nobody. */
        FILE *memory = open_memstream(&text, &length);
        if (!memory)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        int r = compose(memory, series, n_series, options);
        if (fclose(memory) < 0 || r < 0)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");

        errno = 0;
        if (fwrite(text, 1, length, f) != length || fflush(f) < 0)
                return error_set(error, ERROR_FAILED, errno > 0 ? errno : EIO, "cannot write the plot: %m");
        return 0;
}

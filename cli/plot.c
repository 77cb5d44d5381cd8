/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "metric.h"
#include "output.h"
#include "query.h"
#include "render/plot.h"
#include "util/macro.h"
#include "util/text.h"

#define PLOT_ROWS_MAX 40U

/* One run's curve. */
typedef struct Curve {
        const Metric *metric;
        StoreRun run;
        QueryPhases phases;
        StoreSampleQuery query;
        size_t n, n_allocated;
        double *from, *to, *value; /* of each sample; from and to as the axis has it: seconds, or gigabytes written */
        bool over_written;
        double written_bytes; /* up to the sample */
        char *label;
} Curve;

typedef struct Curves {
        Curve *items;
        size_t n;
} Curves;

static void curves_clear(Curves *curves) {
        for (size_t i = 0; i < curves->n; i++) {
                Curve *c = &curves->items[i];

                store_run_clear(&c->run);
                query_phases_clear(&c->phases);
                free(c->from);
                free(c->to);
                free(c->value);
                free(c->label);
        }
        free(curves->items);
}

static int grow(Curve *c) {
        double **arrays[] = { &c->from, &c->to, &c->value };
        size_t wanted = MAX((size_t) 1024, c->n_allocated * 2);

        for (size_t i = 0; i < ELEMENTSOF(arrays); i++) {
                double *grown = reallocarray(*arrays[i], wanted, sizeof(double));
                if (!grown)
                        return -ENOMEM;
                *arrays[i] = grown;
        }
        c->n_allocated = wanted;
        return 0;
}

static double begin_s(const Sample *sample) {
        return (double) (sample->elapsed_ns - MIN(sample->elapsed_ns, sample->duration_ns)) / (double) NSEC_PER_SEC;
}

static double end_s(const Sample *sample) {
        return (double) sample->elapsed_ns / (double) NSEC_PER_SEC;
}

#define GIGABYTE 1e9 /* as drives are sold */

static int on_sample(const Sample *sample, const StoreLatency *latency, void *userdata) {
        Curve *c = userdata;
        double from = begin_s(sample), to = end_s(sample);

        if (c->over_written) {
                from = c->written_bytes / GIGABYTE;
                c->written_bytes += (double) sample->bytes[DIRECTION_WRITE];
                to = c->written_bytes / GIGABYTE;
                /* Nothing was written, so this lies nowhere. */
                if (sample->bytes[DIRECTION_WRITE] == 0)
                        return 0;
        }
        if (c->n == c->n_allocated && grow(c) < 0)
                return -ENOMEM;
        c->from[c->n] = from;
        c->to[c->n] = to;
        c->value[c->n] = c->metric->value(sample, latency);
        c->n++;
        return 0;
}

static int make_label(Curve *c) {
        _cleanup_free_ char *text = NULL;

        if (asprintf(&text, "run %" PRIu32 " %s%s%s", c->run.id, c->run.name, c->run.label ? ", " : "",
                     c->run.label ?: "") < 0) {
                text = NULL;
                return -ENOMEM;
        }
        c->label = text_escape(text);
        return c->label ? 0 : -ENOMEM;
}

/* What was written before --from would not be known. */
static int read_over(Curve *c, const Arguments *arguments, Error *error) {
        const char *over = arguments_value(arguments, "over") ?: "time";

        c->over_written = strcmp(over, "written") == 0;
        if (!c->over_written && strcmp(over, "time") != 0)
                return error_set(error, ERROR_USAGE, EINVAL, "--over %s: expected time or written", over);
        if (c->over_written && (arguments_has(arguments, "from") || arguments_has(arguments, "to")))
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "--from and --to are times, which there are none with --over written");
        return 0;
}

/* All but its samples. */
static int find_curve(Curve *c, Store *store, const Arguments *arguments, const char *which, Error *error) {
        StoreSampleQuery *query = &c->query;

        int r = read_over(c, arguments, error);
        if (r >= 0)
                r = query_range(arguments, &query->from_ns, &query->to_ns, error);
        if (r >= 0)
                r = store_find_run(store, which, &query->run, error);
        if (r >= 0)
                r = store_get_run(store, query->run, &c->run, error);
        if (r >= 0)
                r = store_get_phases(store, query->run, &c->phases.items, &c->phases.n, error);
        if (r >= 0)
                r = query_phase(arguments, query->run, c->phases.items, c->phases.n, &query->phase, error);
        if (r < 0)
                return r;

        query_tell_range(&c->run, query->from_ns, query->to_ns);
        /* What comes in while this goes on is left out, that all parts of a document tell the same. */
        query->to_ns = MIN(query->to_ns, c->run.elapsed_ns);
        return make_label(c);
}

typedef struct PointPrinter {
        const Metric *metric;
        OutputArray *array;
        bool over_written;
        double written_bytes; /* up to the sample's end */
} PointPrinter;

static int on_point(const Sample *sample, const StoreLatency *latency, void *userdata) {
        PointPrinter *printer = userdata;
        json_object *point = json_object_new_object();

        if (!point)
                return -ENOMEM;
        json_add_double(point, "from_s", begin_s(sample));
        json_add_double(point, "to_s", end_s(sample));
        printer->written_bytes += (double) sample->bytes[DIRECTION_WRITE];
        if (printer->over_written)
                json_add_double(point, "written_gb", printer->written_bytes / GIGABYTE);
        json_add_double(point, "value", printer->metric->value(sample, latency));
        return output_array_add(printer->array, point);
}

static void add_run_json(json_object *o, const Curve *c) {
        json_add_u64(o, "run", c->run.id);
        json_add_string(o, "name", c->run.name);
        json_add_string(o, "label", c->run.label);
}

static int print_points(const Curve *c, Store *store, OutputArray *array, Error *error) {
        PointPrinter printer = { .metric = c->metric, .array = array, .over_written = c->over_written };

        return store_each_sample(store, &c->query, on_point, &printer, error);
}

static int print_run_json(const Curve *c, Store *store, OutputArray *runs, Error *error) {
        json_object *head = json_object_new_object();
        OutputArray points;

        if (!head)
                return -ENOMEM;
        add_run_json(head, c);
        int r = output_array_enter(&points, runs, head, "points");
        if (r >= 0)
                r = print_points(c, store, &points, error);
        return r < 0 ? r : output_array_leave(&points);
}

/* All runs in a list; one alone is also told at the top of the document. */
static int plot_json(Cli *cli, Store *store, const Metric *metric, const Curves *curves, Error *error) {
        json_object *head = json_object_new_object();
        bool one = curves->n == 1;
        OutputArray array;

        if (!head)
                return -ENOMEM;
        json_add_string(head, "metric", metric->name);
        json_add_string(head, "unit", metric->unit);
        if (one)
                add_run_json(head, &curves->items[0]);
        int r = output_array_begin(&array, cli, stdout, head, one ? "points" : "runs");
        if (r >= 0 && one)
                r = print_points(&curves->items[0], store, &array, error);
        if (r >= 0 && one)
                r = output_array_next(&array, "runs");
        for (size_t i = 0; r >= 0 && i < curves->n; i++)
                r = print_run_json(&curves->items[i], store, &array, error);
        return r < 0 ? r : output_array_end(&array);
}

typedef struct Marks {
        size_t n;
        PlotMark *items;
        char **texts;
} Marks;

static void marks_clear(Marks *marks) {
        for (size_t i = 0; i < marks->n; i++)
                free(marks->texts[i]);
        free(marks->texts);
        free(marks->items);
}

/* Where phases begin: for one run with several phases, all of them shown. */
static int make_marks(Marks *marks, const Curve *c) {
        if (c->query.phase >= 0 || c->phases.n < 2)
                return 0;
        marks->items = calloc(c->phases.n, sizeof(*marks->items));
        marks->texts = calloc(c->phases.n, sizeof(*marks->texts));
        if (!marks->items || !marks->texts)
                return -ENOMEM;

        double before_bytes = 0;
        for (size_t i = 0; i < c->phases.n; i++) {
                const StorePhase *phase = &c->phases.items[i];
                double at_gb = before_bytes / GIGABYTE;

                before_bytes += (double) phase->bytes[DIRECTION_WRITE];
                if (phase->n_samples == 0)
                        continue;
                char *text = text_escape(phase->name);
                if (!text)
                        return -ENOMEM;
                marks->texts[marks->n] = text;
                marks->items[marks->n++] = (PlotMark) {
                        .at_s = c->over_written ? at_gb
                                                : (double) phase->first_elapsed_ns / (double) NSEC_PER_SEC,
                        .text = text,
                };
        }
        return 0;
}

static char *make_title(const Metric *metric, const Curves *curves) {
        const StoreRun *run = &curves->items[0].run;
        _cleanup_free_ char *raw = NULL, *device = NULL;
        char size[TEXT_SIZE_MAX], *title;

        if (curves->n > 1)
                return strdup(metric->name);
        if (asprintf(&raw, "%s%s%s", run->device_path, run->model ? " " : "", run->model ?: "") < 0) {
                raw = NULL;
                return NULL;
        }
        device = text_escape(raw);
        if (!device || asprintf(&title, "%s (%s): %s of %s, %s", curves->items[0].label, run_state_name(run->state),
                                metric->name, device, text_format_size(run->size_bytes, size)) < 0)
                return NULL;
        return title;
}

static bool has_value(const Curve *c) {
        for (size_t i = 0; i < c->n; i++)
                if (!isnan(c->value[i]))
                        return true;
        return false;
}

/* Samples that do not know this: no sensor, or nothing completed of which there would be a latency. */
static int tell_missing(const Metric *metric, const Curves *curves) {
        for (size_t i = 0; i < curves->n; i++) {
                const Curve *c = &curves->items[i];

                if (c->n > 0 && !has_value(c) &&
                    printf("no %s was recorded in run %" PRIu32 "\n", metric->name, c->run.id) < 0)
                        return -EIO;
        }
        return 0;
}

/* As high as the terminal allows beside title, legend, axis and marks, so that all of it stays in sight. */
static unsigned plot_rows(size_t n_curves, size_t n_marks) {
        unsigned rows = output_rows();
        size_t others = 5 + (n_curves > 1 ? n_curves : 0) + MIN(n_marks, (size_t) 3);

        if (rows == 0)
                return 0;
        return (unsigned) MIN(rows > others ? rows - others : 1, (size_t) PLOT_ROWS_MAX);
}

static int plot_text(Store *store, const Metric *metric, const Arguments *arguments, Curves *curves, Error *error) {
        _cleanup_(marks_clear) Marks marks = {};
        _cleanup_free_ PlotSeries *series = NULL;
        _cleanup_free_ char *title = NULL;
        bool any = false, any_value = false;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < curves->n; i++) {
                Curve *c = &curves->items[i];

                r = store_each_sample(store, &c->query, on_sample, c, error);
                any |= c->n > 0;
                any_value |= has_value(c);
        }
        if (r >= 0)
                r = tell_missing(metric, curves);
        if (r < 0 || (any && !any_value))
                return r;

        series = calloc(curves->n, sizeof(*series));
        title = make_title(metric, curves);
        if (!series || !title)
                return -ENOMEM;
        for (size_t i = 0; i < curves->n; i++) {
                const Curve *c = &curves->items[i];
                series[i] = (PlotSeries) { .label = c->label, .from_s = c->from, .to_s = c->to, .value = c->value,
                        .n = c->n };
        }
        if (curves->n == 1)
                r = make_marks(&marks, &curves->items[0]);
        if (r < 0)
                return r;

        const PlotOptions options = {
                .title = title,
                .unit = metric->unit,
                .amount_unit = curves->items[0].over_written ? "GB" : NULL,
                .width = output_width(),
                .height = plot_rows(curves->n, marks.n),
                .log_scale = arguments_has(arguments, "log"),
                .ascii = !output_is_utf8(),
                .color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
                .marks = marks.items,
                .n_marks = marks.n,
        };
        return plot_print(stdout, series, curves->n, &options, error);
}

static int plot_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_store_ Store *store = NULL;
        _cleanup_(curves_clear) Curves curves = {};
        const Metric *metric;

        int r = metric_find(arguments_value(arguments, "metric") ?: METRIC_DEFAULT, &metric, error);
        if (r < 0)
                return r;
        r = store_open_reader(&store, cli->database, error);
        if (r < 0)
                return r;

        curves.items = calloc(arguments->n_words, sizeof(*curves.items));
        if (!curves.items)
                return -ENOMEM;
        for (size_t i = 0; i < arguments->n_words; i++) {
                curves.items[curves.n++].metric = metric;
                r = find_curve(&curves.items[i], store, arguments, arguments->words[i], error);
                if (r < 0)
                        return r;
        }

        r = cli->json ? plot_json(cli, store, metric, &curves, error)
                      : plot_text(store, metric, arguments, &curves, error);
        return r < 0 ? r : 0;
}

const Verb verb_plot = {
        .name = "plot",
        .summary = "the curve of a run, or of several, on the terminal",
        .words = "RUN... [--metric M] [--phase P] [--from S] [--to S] [--over written] [--log]",
        .description = "Draws a metric over running time: iops (default), write-iops, read-iops, trim-iops, bandwidth, "
                       "write-bandwidth, read-bandwidth, trim-bandwidth, latency-mean, latency-p50, latency-p99, "
                       "latency-max, errors, in-flight, cpu, temperature. Each column shows the lowest and the highest "
                       "sample in it, so that a dip of one second in ten hours is to be seen. Without --phase the "
                       "whole run is shown, with the phases marked. Over what was written in place of time a curve can "
                       "be held against those of larger drives, and SNIA's reports ask for it.",
        .n_words_min = 1,
        .n_words_max = SIZE_MAX,
        .uses_database = true,
        .options = (const Option[]) {
                { .name = "metric", .argument = "M", .help = "what to draw" },
                { .name = "phase", .argument = "P", .help = "this phase only: its name, or its number from 0" },
                { .name = "from", .argument = "S", .help = "from this running time on (seconds, or 250ms, 15m, 1.5h)" },
                { .name = "to", .argument = "S", .help = "up to this running time" },
                { .name = "over", .argument = "written", .help = "over the gigabytes written, not over time" },
                { .name = "log", .help = "logarithmic scale" },
                {},
        },
        .run = plot_run,
};

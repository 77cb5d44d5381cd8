/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <string.h>

#include "metric.h"
#include "output.h"
#include "query.h"
#include "render/plot.h"
#include "util/macro.h"
#include "util/text.h"

/* One run's curve. */
typedef struct Curve {
        const Metric *metric;
        StoreRun run;
        QueryPhases phases;
        int64_t phase; /* index, or -1: all */
        size_t n, n_allocated;
        double *from_s, *to_s, *value;
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
                free(c->from_s);
                free(c->to_s);
                free(c->value);
                free(c->label);
        }
        free(curves->items);
}

static int grow(Curve *c) {
        double **arrays[] = { &c->from_s, &c->to_s, &c->value };
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

static int on_sample(const Sample *sample, const StoreLatency *latency, void *userdata) {
        Curve *c = userdata;

        if (c->n == c->n_allocated && grow(c) < 0)
                return -ENOMEM;
        c->from_s[c->n] = (double) (sample->elapsed_ns - MIN(sample->elapsed_ns,
                                                             sample->duration_ns)) / (double) NSEC_PER_SEC;
        c->to_s[c->n] = (double) sample->elapsed_ns / (double) NSEC_PER_SEC;
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

static int load_curve(Curve *c, Store *store, const Arguments *arguments, const char *which, Error *error) {
        StoreSampleQuery query = {};

        int r = query_span(arguments, "from", 0, &query.from_ns, error);
        if (r >= 0)
                r = query_span(arguments, "to", UINT64_MAX, &query.to_ns, error);
        if (r >= 0)
                r = store_find_run(store, which, &query.run, error);
        if (r >= 0)
                r = store_get_run(store, query.run, &c->run, error);
        if (r >= 0)
                r = store_get_phases(store, query.run, &c->phases.items, &c->phases.n, error);
        if (r >= 0)
                r = query_phase(arguments, c->phases.items, c->phases.n, &c->phase, error);
        if (r >= 0)
                r = make_label(c);
        if (r < 0)
                return r;

        query.phase = c->phase;
        return store_each_sample(store, &query, on_sample, c, error);
}

static int add_curve_json(json_object *o, const Curve *c) {
        json_object *points = json_object_new_array();

        if (!points)
                return -ENOMEM;
        json_add_u64(o, "run", c->run.id);
        json_add_string(o, "name", c->run.name);
        json_add_string(o, "label", c->run.label);
        json_add(o, "points", points);
        for (size_t i = 0; i < c->n; i++) {
                json_object *point = json_object_new_object();

                if (!point)
                        return -ENOMEM;
                json_add_double(point, "from_s", c->from_s[i]);
                json_add_double(point, "to_s", c->to_s[i]);
                json_add_double(point, "value", c->value[i]);
                json_object_array_add(points, point);
        }
        return 0;
}

/* One run is told at the top of the document, several in a list. */
static int plot_json(Cli *cli, const Metric *metric, const Curves *curves) {
        _cleanup_json_ json_object *document = json_object_new_object();
        int r = 0;

        if (!document)
                return -ENOMEM;
        json_add_string(document, "metric", metric->name);
        json_add_string(document, "unit", metric->unit);
        if (curves->n == 1)
                r = add_curve_json(document, &curves->items[0]);
        else {
                json_object *runs = json_object_new_array();

                json_add(document, "runs", runs);
                for (size_t i = 0; r >= 0 && i < curves->n; i++) {
                        json_object *o = json_object_new_object();

                        if (!runs || !o)
                                return -ENOMEM;
                        json_object_array_add(runs, o);
                        r = add_curve_json(o, &curves->items[i]);
                }
        }
        return r < 0 ? r : output_json(cli, document, true);
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
        if (c->phase >= 0 || c->phases.n < 2)
                return 0;
        marks->items = calloc(c->phases.n, sizeof(*marks->items));
        marks->texts = calloc(c->phases.n, sizeof(*marks->texts));
        if (!marks->items || !marks->texts)
                return -ENOMEM;

        for (size_t i = 0; i < c->phases.n; i++) {
                const StorePhase *phase = &c->phases.items[i];

                if (phase->n_samples == 0)
                        continue;
                char *text = text_escape(phase->name);
                if (!text)
                        return -ENOMEM;
                marks->texts[marks->n] = text;
                marks->items[marks->n++] = (PlotMark) {
                        .at_s = (double) phase->first_elapsed_ns / (double) NSEC_PER_SEC,
                        .text = text,
                };
        }
        return 0;
}

static char *make_title(const Metric *metric, const Curves *curves) {
        const StoreRun *run = &curves->items[0].run;
        _cleanup_free_ char *text = NULL;
        char size[TEXT_SIZE_MAX];

        if (curves->n > 1)
                return strdup(metric->name);
        if (asprintf(&text, "%s (%s): %s of %s%s%s, %s", curves->items[0].label, run_state_name(run->state),
                     metric->name,
                     run->device_path, run->model ? " " : "", run->model ?: "", text_format_size(run->size_bytes,
                                                                                                 size)) < 0) {
                text = NULL;
                return NULL;
        }
        return text_escape(text);
}

static int plot_text(const Metric *metric, const Arguments *arguments, const Curves *curves, Error *error) {
        _cleanup_(marks_clear) Marks marks = {};
        _cleanup_free_ PlotSeries *series = NULL;
        _cleanup_free_ char *title = NULL;
        int r = 0;

        series = calloc(curves->n, sizeof(*series));
        title = make_title(metric, curves);
        if (!series || !title)
                return -ENOMEM;
        for (size_t i = 0; i < curves->n; i++) {
                const Curve *c = &curves->items[i];
                series[i] = (PlotSeries) { .label = c->label, .from_s = c->from_s, .to_s = c->to_s, .value = c->value,
                        .n = c->n };
        }
        if (curves->n == 1)
                r = make_marks(&marks, &curves->items[0]);
        if (r < 0)
                return r;

        const PlotOptions options = {
                .title = title,
                .unit = metric->unit,
                .width = output_width(),
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
                r = load_curve(&curves.items[i], store, arguments, arguments->words[i], error);
                if (r < 0)
                        return r;
        }

        r = cli->json ? plot_json(cli, metric, &curves) : plot_text(metric, arguments, &curves, error);
        return r < 0 ? r : 0;
}

const Verb verb_plot = {
        .name = "plot",
        .summary = "the curve of a run, or of several, on the terminal",
        .words = "RUN... [--metric M] [--phase P] [--from S] [--to S] [--log]",
        .description = "Draws a metric over running time: iops (default), write-iops, read-iops, bandwidth, "
                       "write-bandwidth, read-bandwidth, latency-p50, latency-p99, latency-max, errors, in-flight, "
                       "cpu, temperature. Each column shows the lowest and the highest sample in it, so that a dip "
                       "of one second in ten hours is to be seen. Without --phase the whole run is shown, with the "
                       "phases marked.",
        .n_words_min = 1,
        .n_words_max = SIZE_MAX,
        .options = (const Option[]) {
                { .name = "metric", .argument = "M", .help = "what to draw" },
                { .name = "phase", .argument = "P", .help = "this phase only: its name, or its number from 0" },
                { .name = "from", .argument = "S", .help = "from this running time on (seconds, or 15m, 10h)" },
                { .name = "to", .argument = "S", .help = "up to this running time" },
                { .name = "log", .help = "logarithmic scale" },
                {},
        },
        .run = plot_run,
};

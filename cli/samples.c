/* SPDX-License-Identifier: MIT */

/*
 * Samples go out as they come from the database: a run of weeks has millions, and neither a
 * document nor a table of them belongs in memory. So the table has fixed columns.
 */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "output.h"
#include "query.h"
#include "samples.h"
#include "util/macro.h"
#include "util/text.h"

/* Over time, of the samples that know it. */
typedef struct Mean {
        double sum; /* value times duration */
        uint64_t known_ns;
} Mean;

static void mean_add(Mean *mean, double value, uint64_t duration_ns) {
        if (isnan(value))
                return;
        mean->sum += value * (double) duration_ns;
        mean->known_ns += duration_ns;
}

static double mean_of(const Mean *mean) {
        return mean->known_ns > 0 ? mean->sum / (double) mean->known_ns : NAN;
}

/* One or more samples as one row. */
typedef struct Row {
        Sample sum;          /* seq is that of the first; the rest is at the end of the last */
        StoreLatency latency; /* all directions together */
        uint64_t n_samples;  /* 0: empty */
        Mean cpu, worker_cpu, ring_cpu, held;
        double latency_ns;   /* mean times I/Os, likewise */
        double latency_known_ios;
        double direction_ns[N_DIRECTIONS]; /* likewise of each */
        double direction_known_ios[N_DIRECTIONS];
} Row;

typedef struct Printer {
        Cli *cli;
        bool json;
        bool errors_known, trims;
        const QueryPhases *phases; /* of the run */
        OutputArray array; /* if so */
        uint64_t every_ns; /* 0: each sample a row */
        Row row;           /* being filled */
        uint64_t interval; /* number of it, in units of every_ns */
} Printer;

static void add_direction_means(json_object *o, const StoreLatency *latency) {
        static const char *const names[] = {
                [DIRECTION_READ] = "read_latency_ns",
                [DIRECTION_WRITE] = "write_latency_ns",
                [DIRECTION_TRIM] = "trim_latency_ns",
        };

        for (Direction d = 0; d < N_DIRECTIONS; d++)
                json_add_u64_if(o, names[d], latency->direction_mean_ns[d] > 0, latency->direction_mean_ns[d]);
}

static json_object *row_json(const Printer *printer, const Row *row) {
        const Sample *s = &row->sum;
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        json_add_u64(o, "seq", s->seq);
        json_add_u64(o, "phase", s->phase);
        json_add_time(o, "at", s->at_ns);
        json_add_seconds(o, "elapsed_s", s->elapsed_ns);
        json_add_u64(o, "duration_ns", s->duration_ns);
        json_add_u64(o, "write_ios", s->ios[DIRECTION_WRITE]);
        json_add_u64(o, "read_ios", s->ios[DIRECTION_READ]);
        json_add_u64(o, "trim_ios", s->ios[DIRECTION_TRIM]);
        json_add_u64(o, "write_bytes", s->bytes[DIRECTION_WRITE]);
        json_add_u64(o, "read_bytes", s->bytes[DIRECTION_READ]);
        json_add_u64(o, "trim_bytes", s->bytes[DIRECTION_TRIM]);
        json_add_u64_if(o, "errors", printer->errors_known, s->errors);
        json_add_u64(o, "in_flight", s->in_flight);
        json_add_u64(o, "oldest_io_ns", s->oldest_ns);
        add_direction_means(o, &row->latency);
        json_add_u64_if(o, "latency_mean_ns", row->latency.mean_ns > 0, row->latency.mean_ns);
        json_add_u64_if(o, "latency_p50_ns", row->latency.known, row->latency.p50_ns);
        json_add_u64_if(o, "latency_p99_ns", row->latency.known, row->latency.p99_ns);
        json_add_u64_if(o, "latency_max_ns", row->latency.known, row->latency.max_ns);
        json_add_double(o, "cpu_percent", s->cpu_percent);
        json_add_double(o, "worker_cpu_percent", s->worker_cpu_percent);
        json_add_double(o, "ring_cpu_percent", s->ring_cpu_percent);
        json_add_double(o, "held_percent", s->held_percent);
        json_add_double(o, "temperature_c", s->temperature_c);
        json_add_bool(o, "ramp", query_ramp_holds(printer->phases, s));
        json_add_u64(o, "n_samples", row->n_samples);
        return o;
}

static void print_heading(bool trims) {
        printf("%10s  %-19s %5s %8s %8s %s%8s %9s %9s %9s %6s %6s\n", "elapsed_s", "time", "phase", "write/s", "read/s",
               trims ? "  trim/s " : "", "MB/s", "p50", "p99", "max", "errors", "queued");
}

/* In a column that is there where the run trims. */
static const char *format_trims(const Sample *s, bool trims, char buf[static TEXT_SIZE_MAX]) {
        char rate[TEXT_SIZE_MAX];

        snprintf(buf, TEXT_SIZE_MAX, "%8s ",
                 text_format_count(query_rate(s->ios[DIRECTION_TRIM], s->duration_ns), rate));
        return trims ? buf : "";
}

static int print_row(const Row *row, bool errors_known, bool trims) {
        const Sample *s = &row->sum;
        char at[OUTPUT_TIME_MAX], writes[TEXT_SIZE_MAX], reads[TEXT_SIZE_MAX], trimmed[TEXT_SIZE_MAX],
                p50[OUTPUT_LATENCY_MAX] = "-", p99[OUTPUT_LATENCY_MAX] = "-", max[OUTPUT_LATENCY_MAX] = "-",
                errors[24] = "-";
        double bytes_per_s = query_rate(query_sum(s->bytes), s->duration_ns);

        if (row->latency.known) {
                output_format_latency(row->latency.p50_ns, p50);
                output_format_latency(row->latency.p99_ns, p99);
                output_format_latency(row->latency.max_ns, max);
        }
        if (errors_known)
                snprintf(errors, sizeof(errors), "%" PRIu64, s->errors);
        int r = printf("%10.3f  %-19s %5" PRIu32 " %8s %8s %s%8.1f %9s %9s %9s %6s %6" PRIu32 "\n",
                       (double) s->elapsed_ns / (double) NSEC_PER_SEC, output_format_time(s->at_ns, at), s->phase,
                       text_format_count(query_rate(s->ios[DIRECTION_WRITE], s->duration_ns), writes),
                       text_format_count(query_rate(s->ios[DIRECTION_READ], s->duration_ns), reads),
                       format_trims(s, trims, trimmed), bytes_per_s / 1e6, p50, p99, max, errors, s->in_flight);
        return r < 0 ? -EIO : 0;
}

static int emit(Printer *printer, const Row *row) {
        return printer->json ? output_array_add(&printer->array, row_json(printer, row))
                             : print_row(row, printer->errors_known, printer->trims);
}

/* latency: of the sample; of one whose mean alone is known nothing goes into percentiles. */
static void row_add(Row *row, const Sample *sample, const StoreLatency *latency) {
        Sample *sum = &row->sum;

        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                sum->ios[d] += sample->ios[d];
                sum->bytes[d] += sample->bytes[d];
                if (latency->known)
                        histogram_add(&sum->latency[d], &sample->latency[d]);
                if (latency->direction_mean_ns[d] > 0) {
                        row->direction_ns[d] += (double) latency->direction_mean_ns[d] * (double) sample->ios[d];
                        row->direction_known_ios[d] += (double) sample->ios[d];
                }
        }
        sum->duration_ns += sample->duration_ns;
        sum->errors += sample->errors;
        sum->at_ns = sample->at_ns;
        sum->elapsed_ns = sample->elapsed_ns;
        sum->in_flight = sample->in_flight;
        sum->oldest_ns = MAX(sum->oldest_ns, sample->oldest_ns);
        sum->temperature_c = fmax(sum->temperature_c, sample->temperature_c); /* NaN only if both are */
        mean_add(&row->cpu, sample->cpu_percent, sample->duration_ns);
        mean_add(&row->worker_cpu, sample->worker_cpu_percent, sample->duration_ns);
        mean_add(&row->ring_cpu, sample->ring_cpu_percent, sample->duration_ns);
        mean_add(&row->held, sample->held_percent, sample->duration_ns);
        if (latency->mean_ns > 0) {
                double ios = (double) (sample->ios[DIRECTION_READ] + sample->ios[DIRECTION_WRITE] +
                                       sample->ios[DIRECTION_TRIM]);
                row->latency_ns += (double) latency->mean_ns * ios;
                row->latency_known_ios += ios;
        }
        row->n_samples++;
}

static void row_begin(Row *row, const Sample *sample, const StoreLatency *latency) {
        *row = (Row) {
                .sum.seq = sample->seq,
                .sum.phase = sample->phase,
                .sum.temperature_c = NAN,
        };
        row_add(row, sample, latency);
}

static void row_finish(Row *row) {
        Histogram *all = &row->sum.latency[0];

        for (unsigned d = 1; d < N_DIRECTIONS; d++)
                histogram_add(all, &row->sum.latency[d]);
        row->latency.known = histogram_percentile(all, 0.5, &row->latency.p50_ns) == 0 &&
                             histogram_percentile(all, 0.99, &row->latency.p99_ns) == 0 &&
                             histogram_max(all, &row->latency.max_ns) == 0;
        row->latency.mean_ns = row->latency_known_ios > 0 ? (uint64_t) (row->latency_ns / row->latency_known_ios) : 0;
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                if (row->direction_known_ios[d] > 0)
                        row->latency.direction_mean_ns[d] =
                                (uint64_t) (row->direction_ns[d] / row->direction_known_ios[d]);
        row->sum.cpu_percent = mean_of(&row->cpu);
        row->sum.worker_cpu_percent = mean_of(&row->worker_cpu);
        row->sum.ring_cpu_percent = mean_of(&row->ring_cpu);
        row->sum.held_percent = mean_of(&row->held);
}

static int flush_row(Printer *printer) {
        if (printer->row.n_samples == 0)
                return 0;
        row_finish(&printer->row);
        int r = emit(printer, &printer->row);
        printer->row.n_samples = 0;
        return r;
}

/* By its middle, so that a sample that ends some microseconds late is still in its own interval. */
static uint64_t interval_of(const Printer *printer, const Sample *sample) {
        return (sample->elapsed_ns - MIN(sample->elapsed_ns, sample->duration_ns / 2)) / printer->every_ns;
}

static int on_thinned(const Sample *sample, const StoreLatency *latency, void *userdata) {
        Printer *printer = userdata;
        Row *row = &printer->row;

        if (row->n_samples > 0 && row->sum.phase == sample->phase &&
            printer->interval == interval_of(printer, sample)) {
                row_add(row, sample, latency);
                return 0;
        }
        int r = flush_row(printer);
        if (r < 0)
                return r;
        printer->interval = interval_of(printer, sample);
        row_begin(row, sample, latency);
        return 0;
}

static int on_sample(const Sample *sample, const StoreLatency *latency, void *userdata) {
        const Row row = { .sum = *sample, .latency = *latency, .n_samples = 1 };
        return emit(userdata, &row);
}

static int each_row(Printer *printer, Store *store, const StoreSampleQuery *query, Error *error) {
        int r = store_each_sample(store, query, printer->every_ns > 0 ? on_thinned : on_sample, printer, error);
        return r < 0 ? r : flush_row(printer);
}

static int print_document(Printer *printer, FILE *f, Store *store, const StoreRun *run, const StoreSampleQuery *query,
                          Error *error) {
        StoreSampleQuery with_latency = *query; /* of each direction: the table has no room for that */
        json_object *head = json_object_new_object();

        if (!head)
                return -ENOMEM;
        with_latency.with_latency = true;
        json_add_u64(head, "run", query->run);
        json_add_seconds(head, "interval_s", printer->every_ns ?: run->sample_interval_ns);
        int r = output_array_begin(&printer->array, printer->cli, f, head, "samples");
        if (r >= 0)
                r = each_row(printer, store, &with_latency, error);
        return r < 0 ? r : output_array_end(&printer->array);
}

int samples_print_document(Cli *cli, FILE *f, Store *store, const StoreRun *run, const QueryPhases *phases,
                           const StoreSampleQuery *query, Error *error) {
        _cleanup_free_ Printer *printer = calloc(1, sizeof(*printer)); /* too large for the stack: histograms */

        if (!printer)
                return -ENOMEM;
        printer->cli = cli;
        printer->json = true;
        printer->phases = phases;
        printer->errors_known = run->errors_known;
        return print_document(printer, f, store, run, query, error);
}

static bool any_trims(const QueryPhases *phases) {
        for (size_t i = 0; i < phases->n; i++)
                if (phases->items[i].ios[DIRECTION_TRIM] > 0)
                        return true;
        return false;
}

static int samples_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_store_ Store *store = NULL;
        _cleanup_store_run_ StoreRun run = {};
        _cleanup_query_phases_ QueryPhases phases = {};
        _cleanup_free_ Printer *printer = NULL; /* too large for the stack: histograms */
        StoreSampleQuery query = { .phase = -1 };

        printer = calloc(1, sizeof(*printer));
        if (!printer)
                return -ENOMEM;
        printer->cli = cli;
        printer->json = cli->json;

        int r = query_range(arguments, &query.from_ns, &query.to_ns, error);
        if (r >= 0)
                r = query_span(arguments, "every", 0, &printer->every_ns, error);
        if (r < 0)
                return r;
        if (arguments_has(arguments, "every") && printer->every_ns == 0)
                return error_set(error, ERROR_USAGE, EINVAL, "--every must be longer than nothing");

        r = query_open_run(cli, arguments->words[0], &store, &query.run, error);
        if (r >= 0)
                r = store_get_run(store, query.run, &run, error);
        if (r >= 0)
                r = store_get_phases(store, query.run, &phases.items, &phases.n, error);
        if (r < 0)
                return r;

        query_tell_range(&run, query.from_ns, query.to_ns);
        printer->errors_known = run.errors_known;
        printer->phases = &phases;
        printer->trims = any_trims(&phases);
        query.with_latency = printer->every_ns > 0;
        if (cli->json)
                return print_document(printer, stdout, store, &run, &query, error);
        print_heading(printer->trims);
        return each_row(printer, store, &query, error);
}

const Verb verb_samples = {
        .name = "samples",
        .summary = "what happened in every second",
        .words = "RUN [--from S] [--to S] [--every S]",
        .description = "Prints the samples of a run: counts and the exact duration of each interval. With --every, "
                       "samples are put together: counts and durations are summed, percentiles are those of all I/O "
                       "of the interval, the maximum is kept, CPU load is the mean, temperature the highest. An "
                       "interval never spans two phases. Times are running time, outages and pauses left out.",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_database = true,
        .options = (const Option[]) {
                { .name = "from", .argument = "S", .help = "from this running time on (seconds, or 250ms, 15m, 1.5h)" },
                { .name = "to", .argument = "S", .help = "up to this running time" },
                { .name = "every", .argument = "S", .help = "one row for every S seconds" },
                {},
        },
        .run = samples_run,
};

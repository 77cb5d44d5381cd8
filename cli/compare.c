/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/noise.h"
#include "analysis/outlier.h"
#include "judge.h"
#include "output.h"
#include "render/table.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

/* What like drives are held against each other by. */
typedef enum Trait {
        TRAIT_BURST_IOPS,
        TRAIT_STEADY_IOPS,
        TRAIT_RATIO,
        TRAIT_STEADY_P99,
        N_TRAITS,
} Trait;

static const char *const trait_names[N_TRAITS] = {
        [TRAIT_BURST_IOPS] = "burst_iops",
        [TRAIT_STEADY_IOPS] = "steady_iops",
        [TRAIT_RATIO] = "ratio",
        [TRAIT_STEADY_P99] = "steady_latency_p99_ns",
};

typedef struct Percentiles {
        bool known;
        uint64_t p50_ns, p99_ns, p999_ns;
} Percentiles;

typedef struct Compared {
        Judgement judgement;
        double cliff_bytes; /* moved in the phase before the fall; NaN: no fall */
        Percentiles burst, steady;
        bool is_outlier[N_TRAITS];
        double usual[N_TRAITS]; /* the median of the group, where it is an outlier */
} Compared;

typedef struct ComparedRuns {
        Compared *items;
        size_t n;
} ComparedRuns;

static void compared_runs_clear(ComparedRuns *runs) {
        for (size_t i = 0; i < runs->n; i++)
                judgement_clear(&runs->items[i].judgement);
        free(runs->items);
}

/* --- what each run shows --- */

static uint64_t run_time_ns(const Judgement *j, double phase_s) {
        return j->phase->first_elapsed_ns + (uint64_t) llround(phase_s * (double) NSEC_PER_SEC);
}

/* Of the samples that lie between these times of the phase. */
static int get_percentiles(const Judgement *j, Store *store, double from_s, double to_s, Percentiles *ret,
                           Error *error) {
        if (isnan(from_s) || isnan(to_s))
                return 0;

        _cleanup_free_ Histogram *sum = calloc(1, sizeof(*sum));
        const StoreSampleQuery query = {
                .run = j->run.id, .phase = j->phase->index, .from_ns = run_time_ns(j, from_s) + 1,
                .to_ns = run_time_ns(j, to_s),
        };

        if (!sum)
                return -ENOMEM;
        int r = store_sum_latency(store, &query, j->direction, sum, error);
        if (r < 0)
                return r;
        ret->known = histogram_percentile(sum, 0.5, &ret->p50_ns) == 0 &&
                     histogram_percentile(sum, 0.99, &ret->p99_ns) == 0 &&
                     histogram_percentile(sum, 0.999, &ret->p999_ns) == 0;
        return 0;
}

/* With what its ramp moved. */
static double bytes_until(const Judgement *j, double phase_s) {
        double bytes = (double) (j->phase->bytes[j->direction] - j->phase->counted_bytes[j->direction]);

        if (isnan(phase_s))
                return NAN;
        for (size_t i = 0; i < j->n_points && j->points[i].to_s <= phase_s; i++)
                bytes += j->points[i].bytes;
        return bytes;
}

static int look(void *item, Store *store, const Arguments *arguments, const char *which, Error *error) {
        Compared *c = item;
        Judgement *j = &c->judgement;

        int r = judge_run(j, store, arguments, which, error);
        if (r < 0)
                return r;

        const Analysis *a = j->analysis;
        double end_s = (double) j->phase->elapsed_ns / (double) NSEC_PER_SEC;

        c->cliff_bytes = bytes_until(j, a->collapse_from_s);
        r = get_percentiles(j, store, a->burst_from_s, a->burst_to_s, &c->burst, error);
        if (r < 0)
                return r;
        return get_percentiles(j, store, a->steady_since_s, end_s, &c->steady, error);
}

static double ratio(double a, double b) {
        return b > 0 ? a / b : NAN;
}

static double trait_of(const Compared *c, Trait trait) {
        const Analysis *a = c->judgement.analysis;

        switch (trait) {
        case TRAIT_BURST_IOPS:
                return a->burst_iops;
        case TRAIT_STEADY_IOPS:
                return a->steady_iops;
        case TRAIT_RATIO:
                return a->collapse_ratio;
        case TRAIT_STEADY_P99:
        default:
                return c->steady.known ? (double) c->steady.p99_ns : NAN;
        }
}

/* --- outliers among like drives --- */

static bool are_alike(const Compared *a, const Compared *b) {
        const char *x = a->judgement.run.model, *y = b->judgement.run.model;

        return x && y ? strcmp(x, y) == 0 : x == y; /* of unknown models, all that are named together */
}

/* Of what is no NaN; NaN if all is. Reorders the values. */
static double median_of_known(double *values, size_t n) {
        size_t n_known = 0;

        for (size_t i = 0; i < n; i++)
                if (!isnan(values[i]))
                        values[n_known++] = values[i];
        return n_known > 0 ? median_inplace(values, n_known) : NAN;
}

/* Of all runs on drives of the same model (or of none) as run `first`, by one trait. */
static int mark_group(ComparedRuns *runs, size_t first, Trait trait) {
        _cleanup_free_ double *values = calloc(runs->n, sizeof(*values));
        _cleanup_free_ size_t *members = calloc(runs->n, sizeof(*members));
        _cleanup_free_ bool *marks = calloc(runs->n, sizeof(*marks));
        size_t n = 0;

        if (!values || !members || !marks)
                return -ENOMEM;
        for (size_t i = first; i < runs->n; i++)
                if (are_alike(&runs->items[first], &runs->items[i])) {
                        members[n] = i;
                        values[n++] = trait_of(&runs->items[i], trait);
                }

        int r = outliers_mark(values, n, marks);
        if (r < 0)
                return r;
        double usual = median_of_known(values, n);
        for (size_t i = 0; i < n; i++) {
                runs->items[members[i]].is_outlier[trait] = marks[i];
                runs->items[members[i]].usual[trait] = usual;
        }
        return 0;
}

static int mark_outliers(ComparedRuns *runs) {
        for (size_t i = 0; i < runs->n; i++) {
                bool seen = false;

                for (size_t k = 0; k < i; k++)
                        seen |= are_alike(&runs->items[k], &runs->items[i]);
                for (Trait trait = 0; !seen && trait < N_TRAITS; trait++) {
                        int r = mark_group(runs, i, trait);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

/* --- JSON --- */

static void add_percentiles_json(json_object *o, const char *when, const Percentiles *p) {
        const struct {
                const char *name;
                uint64_t ns;
        } parts[] = { { "p50", p->p50_ns }, { "p99", p->p99_ns }, { "p999", p->p999_ns } };
        char key[64];

        for (size_t i = 0; i < ELEMENTSOF(parts); i++) {
                snprintf(key, sizeof(key), "%s_latency_%s_ns", when, parts[i].name);
                if (p->known)
                        json_add_u64(o, key, parts[i].ns);
                else
                        json_add_null(o, key);
        }
}

static json_object *compared_json(const Compared *c, const Compared *first) {
        const Analysis *a = c->judgement.analysis, *base = first->judgement.analysis;
        json_object *o = json_object_new_object(), *outliers = json_object_new_array();

        if (!o || !outliers) {
                json_object_put(o);
                json_object_put(outliers);
                return NULL;
        }
        judgement_add_json(o, &c->judgement);
        json_add_string(o, "model", c->judgement.run.model);
        json_add_string(o, "serial", c->judgement.run.serial);
        json_add_double(o, "burst_iops", a->burst_iops);
        json_add_double(o, "steady_iops", a->steady_iops);
        json_add_double(o, "steady_bytes_per_s", a->steady_iops * judgement_bytes_per_io(&c->judgement));
        json_add_string(o, "steady_state", steady_state_name(a->steady));
        json_add_double(o, "ratio", a->collapse_ratio);
        json_add_string(o, "collapse", collapse_verdict_name(a->collapse));
        json_add_double(o, "cliff_s", a->collapse_from_s);
        json_add_double(o, "cliff_bytes", c->cliff_bytes);
        json_add_double(o, "cliff_fills", judgement_fills(&c->judgement, c->cliff_bytes));
        json_add_double(o, "burst_ratio_to_first", ratio(a->burst_iops, base->burst_iops));
        json_add_double(o, "ratio_to_first", ratio(a->steady_iops, base->steady_iops));
        add_percentiles_json(o, "burst", &c->burst);
        add_percentiles_json(o, "steady", &c->steady);
        json_add(o, "outliers", outliers);
        for (Trait trait = 0; trait < N_TRAITS; trait++)
                if (c->is_outlier[trait])
                        json_append_string(outliers, trait_names[trait]);
        return o;
}

static int compare_json(Cli *cli, const ComparedRuns *runs) {
        _cleanup_json_ json_object *document = json_object_new_object();
        json_object *array = json_object_new_array();

        if (!document || !array)
                return -ENOMEM;
        json_add(document, "runs", array);
        for (size_t i = 0; i < runs->n; i++) {
                json_object *o = compared_json(&runs->items[i], &runs->items[0]);

                if (!o)
                        return -ENOMEM;
                json_object_array_add(array, o);
        }
        return output_json(cli, document, false);
}

/* --- text --- */

static int print_titles(const ComparedRuns *runs) {
        for (size_t i = 0; i < runs->n; i++) {
                _cleanup_free_ char *title = judgement_title(&runs->items[i].judgement);

                if (!title)
                        return -ENOMEM;
                puts(title);
        }
        return 0;
}

static int add_levels(Table *table, const Compared *c, const Compared *first) {
        const Analysis *a = c->judgement.analysis;
        double kept = 100 * a->collapse_ratio, fills = judgement_fills(&c->judgement, c->cliff_bytes);
        double to_first = ratio(a->steady_iops, first->judgement.analysis->steady_iops);
        char run[16], burst[TEXT_SIZE_MAX], steady[TEXT_SIZE_MAX], percent[32], cliff[TIME_SPAN_MAX] = "";
        char volume[TEXT_SIZE_MAX] = "", times[32], against[32], bandwidth[32];
        double mb_per_s = a->steady_iops * judgement_bytes_per_io(&c->judgement) / 1e6;
        bool fell = !isnan(a->collapse_from_s);

        snprintf(run, sizeof(run), "%" PRIu32, c->judgement.run.id);
        snprintf(percent, sizeof(percent), "%.3g %%", kept);
        snprintf(times, sizeof(times), "%.2f", fills);
        snprintf(bandwidth, sizeof(bandwidth), mb_per_s < 1000 ? "%.3g" : "%.0f", mb_per_s);
        snprintf(against, sizeof(against), "%.3g", to_first);
        if (fell) {
                time_format_span((uint64_t) (a->collapse_from_s * (double) NSEC_PER_SEC), cliff);
                text_format_size((uint64_t) c->cliff_bytes, volume);
        }
        const char *cells[] = {
                run, text_format_count(a->burst_iops, burst), text_format_count(a->steady_iops, steady),
                isnan(mb_per_s) ? NULL : bandwidth,
                steady_state_name(a->steady), isnan(kept) ? NULL : percent,
                isnan(kept) ? NULL : collapse_verdict_name(a->collapse),
                fell ? cliff : NULL, fell ? volume : NULL, isnan(fills) ? NULL : times,
                isnan(to_first) ? NULL : against,
        };
        return table_add_row(table, cells);
}

static int print_levels(const ComparedRuns *runs) {
        static const TableColumn columns[] = {
                { "RUN", .right = true }, { "BURST", .right = true }, { "LEVEL", .right = true },
                { "MB/S", .right = true, .may_be_empty = true, .rank = 2 }, { "STATE" },
                { "KEPT", .right = true }, { "VERDICT" }, { "FELL AT", .right = true, .may_be_empty = true },
                { "MOVED", .right = true, .may_be_empty = true }, { "FILLS", .right = true, .may_be_empty = true },
                { "TO FIRST", .right = true },
        };
        _cleanup_(table_freep) Table *table = NULL;

        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0; r >= 0 && i < runs->n; i++)
                r = add_levels(table, &runs->items[i], &runs->items[0]);
        return r < 0 ? r : output_table(table);
}

static int add_latencies(Table *table, const Compared *c) {
        const uint64_t values[] = { c->burst.p50_ns, c->burst.p99_ns, c->burst.p999_ns,
                                    c->steady.p50_ns, c->steady.p99_ns, c->steady.p999_ns };
        char run[16], texts[ELEMENTSOF(values)][OUTPUT_LATENCY_MAX];
        const char *cells[1 + ELEMENTSOF(values)] = { run };

        snprintf(run, sizeof(run), "%" PRIu32, c->judgement.run.id);
        for (size_t i = 0; i < ELEMENTSOF(values); i++) {
                bool known = i < ELEMENTSOF(values) / 2 ? c->burst.known : c->steady.known;
                cells[1 + i] = known ? output_format_latency(values[i], texts[i]) : NULL;
        }
        return table_add_row(table, cells);
}

static int print_latencies(const ComparedRuns *runs) {
        static const TableColumn columns[] = {
                { "RUN", .right = true }, { "BURST P50", .right = true }, { "P99", .right = true },
                { "P99.9", .right = true }, { "END P50", .right = true }, { "P99", .right = true },
                { "P99.9", .right = true },
        };
        _cleanup_(table_freep) Table *table = NULL;
        bool any = false;

        for (size_t i = 0; i < runs->n; i++)
                any |= runs->items[i].burst.known || runs->items[i].steady.known;
        if (!any)
                return 0;
        putchar('\n');
        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0; r >= 0 && i < runs->n; i++)
                r = add_latencies(table, &runs->items[i]);
        return r < 0 ? r : output_table(table);
}

/* "12.1k IOPS", "45 %", "3.2 ms" */
static const char *format_trait(Trait trait, double value, char buf[static TEXT_SIZE_MAX]) {
        char text[TEXT_SIZE_MAX];

        switch (trait) {
        case TRAIT_RATIO:
                snprintf(buf, TEXT_SIZE_MAX, "%.3g %%", 100 * value);
                break;
        case TRAIT_STEADY_P99:
                output_format_latency((uint64_t) value, buf);
                break;
        default:
                snprintf(buf, TEXT_SIZE_MAX, "%.10s IOPS", text_format_count(value, text));
                break;
        }
        return buf;
}

static void print_outlier(const Compared *c, Trait trait) {
        static const char *const names[N_TRAITS] = {
                [TRAIT_BURST_IOPS] = "its burst",
                [TRAIT_STEADY_IOPS] = "its end level",
                [TRAIT_RATIO] = "what it kept",
                [TRAIT_STEADY_P99] = "its 99th percentile of latency at the end",
        };
        double value = trait_of(c, trait);
        char is[TEXT_SIZE_MAX], usual[TEXT_SIZE_MAX];

        printf("run %" PRIu32 " is not like the others of %s: %s is %s, %s than the usual %s\n", c->judgement.run.id,
               c->judgement.run.model ? "its model" : "these runs", names[trait], format_trait(trait, value, is),
               value < c->usual[trait] ? "lower" : "higher", format_trait(trait, c->usual[trait], usual));
}

static void print_outliers(const ComparedRuns *runs) {
        bool any = false;

        for (size_t i = 0; i < runs->n; i++)
                for (Trait trait = 0; trait < N_TRAITS; trait++)
                        if (runs->items[i].is_outlier[trait]) {
                                if (!any)
                                        putchar('\n');
                                any = true;
                                print_outlier(&runs->items[i], trait);
                        }
}

static int compare_text(const ComparedRuns *runs) {
        int r = print_titles(runs);
        if (r < 0)
                return r;
        putchar('\n');
        r = print_levels(runs);
        if (r < 0)
                return r;
        r = print_latencies(runs);
        if (r < 0)
                return r;
        print_outliers(runs);
        return 0;
}

static int compare_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(compared_runs_clear) ComparedRuns runs = {};
        void *items = NULL;

        int r = judge_runs(cli, arguments, sizeof(*runs.items), look, &items, &runs.n, error);
        runs.items = items;
        if (r < 0)
                return r;

        r = mark_outliers(&runs);
        if (r >= 0)
                r = cli->json ? compare_json(cli, &runs) : compare_text(&runs);
        return r < 0 ? r : 0;
}

const Verb verb_compare = {
        .name = "compare",
        .summary = "runs side by side: levels, time to the cliff, latencies",
        .words = "RUN RUN... [--phase P]",
        .description = "Shows the judged phase of each run: burst and end level, what was kept, when it fell and how "
                       "much was moved by then, latencies in the burst and at the end, and ratios to the first run "
                       "named. Among four or more drives of one model (or without one) it names those that are unlike "
                       "the others: off the median by more than 3 robust standard deviations and by more than 5 %.",
        .n_words_min = 2,
        .n_words_max = SIZE_MAX,
        .uses_database = true,
        .options = (const Option[]) {
                { .name = "phase", .argument = "P", .help = "this phase: its name, or its number from 0" },
                {},
        },
        .run = compare_run,
};

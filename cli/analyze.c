/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>

#include "analysis/criteria.h"
#include "judge.h"
#include "output.h"
#include "own-steady.h"
#include "phrase.h"
#include "render/table.h"
#include "snia.h"
#include "story.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

typedef struct Analyzed {
        Judgement judgement;
        Snia snia;
        OwnSteady own; /* in place of fio, where the job has it */
        FioResult fio;
} Analyzed;

static void analyzed_clear(Analyzed *analyzed) {
        judgement_clear(&analyzed->judgement);
        snia_clear(&analyzed->snia);
}

/* --- JSON --- */

static int add_regimes_json(json_object *document, const Analysis *a) {
        json_object *regimes = json_object_new_array();

        if (!regimes)
                return -ENOMEM;
        json_add(document, "regimes", regimes);
        for (size_t i = 0; i < a->n_regimes; i++) {
                const Regime *regime = &a->regimes[i];
                json_object *o = json_object_new_object();

                if (!o)
                        return -ENOMEM;
                json_add_double(o, "from_s", regime->from_s);
                json_add_double(o, "to_s", regime->to_s);
                json_add_double(o, "iops_mean", regime->iops_mean);
                json_add_double(o, "iops_p05", regime->iops_p05);
                json_add_double(o, "iops_p95", regime->iops_p95);
                json_add_double(o, "slope_percent_per_hour", regime->slope_percent_per_hour);
                json_add_bool(o, "transient", regime->transient);
                json_add_bool(o, "cycles", regime->cycles);
                json_object_array_add(regimes, o);
        }
        return 0;
}

static int add_states_json(json_object *document, const Analysis *a) {
        json_object *burst = json_object_new_object(), *steady = json_object_new_object();
        json_object *collapse = json_object_new_object(), *stalls = json_object_new_object();
        json_object *end = json_object_new_object(), *floor = json_object_new_object();

        json_add(document, "burst", burst);
        json_add(document, "steady", steady);
        json_add(document, "collapse", collapse);
        json_add(document, "stalls", stalls);
        json_add(document, "end", end);
        json_add(document, "floor", floor);
        if (!burst || !steady || !collapse || !stalls || !end || !floor)
                return -ENOMEM;

        json_add_double(burst, "iops", a->burst_iops);
        json_add_double(burst, "from_s", a->burst_from_s);
        json_add_double(burst, "to_s", a->burst_to_s);
        json_add_string(steady, "state", steady_state_name(a->steady));
        json_add_double(steady, "since_s", a->steady_since_s);
        json_add_double(steady, "iops", a->steady_iops);
        json_add_double(end, "from_s", a->end_from_s);
        json_add_double(end, "to_s", a->end_to_s);
        json_add_double(end, "iops", a->end_iops);
        json_add_double(end, "ratio", a->end_ratio);
        json_add_double(end, "silent_s", a->end_silent_s);
        json_add_double(floor, "iops", a->floor_iops);
        json_add_double(floor, "ratio", a->floor_ratio);
        json_add_string(collapse, "verdict", collapse_verdict_name(a->collapse));
        json_add_double(collapse, "ratio", a->collapse_ratio);
        json_add_double(collapse, "at_s", a->collapse_at_s);
        json_add_bool(collapse, "across_cut", a->collapse_across_cut);
        json_add_double(collapse, "from_s", a->collapse_from_s);
        json_add_double(collapse, "from_iops", a->collapse_from_iops);
        json_add_double(collapse, "fall_s", a->collapse_fall_s);
        json_add_double(collapse, "trough_iops", a->collapse_trough_iops);
        json_add_double(collapse, "recovered_ratio", a->collapse_recovered_ratio);
        json_add_u64(stalls, "count", a->n_stalls);
        json_add_double(stalls, "longest_s", a->longest_stall_s);
        json_add_double(stalls, "share", a->stalled_share);
        return 0;
}

static int add_cycle_json(json_object *document, const Analysis *a) {
        if (!a->has_cycle) {
                json_add_null(document, "cycle");
                return 0;
        }

        json_object *cycle = json_object_new_object();
        if (!cycle)
                return -ENOMEM;
        json_add_double(cycle, "period_s", a->cycle_period_s);
        json_add_double(cycle, "depth", a->cycle_depth);
        json_add_double(cycle, "low_iops", a->cycle_low_iops);
        json_add_double(cycle, "high_iops", a->cycle_high_iops);
        json_add_double(cycle, "until_s", a->cycle_until_s);
        json_add(document, "cycle", cycle);
        return 0;
}

static int add_fio_json(json_object *document, const FioResult *result) {
        json_object *fio = json_object_new_object();

        if (!fio)
                return -ENOMEM;
        json_add(document, "fio", fio);
        json_add_string(fio, "criterion", result->criterion.slope ? "iops_slope" : "iops");
        json_add_bool(fio, "of_job", false);
        json_add_null(fio, "limit");
        json_add_double(fio, "limit_percent", result->criterion.limit_percent);
        json_add_double(fio, "ss_dur_s", result->criterion.duration_s);
        json_add_bool(fio, "attained", result->attained);
        json_add_double(fio, "attained_at_s", result->attained_at_s);
        json_add_null(fio, "value");
        json_add_double(fio, "value_percent", result->value_percent);
        json_add_double(fio, "mean_iops", result->mean_iops);
        json_add_null(fio, "mean_bytes_per_s");
        return 0;
}

static int analyze_json(Cli *cli, const Analyzed *analyzed) {
        _cleanup_json_ json_object *document = json_object_new_object();
        const Analysis *a = analyzed->judgement.analysis;

        if (!document)
                return -ENOMEM;
        judgement_add_json(document, &analyzed->judgement);
        json_add_double(document, "judged_s", analyzed->judgement.series.total_s);
        json_add_double(document, "bytes_per_io", judgement_bytes_per_io(&analyzed->judgement));
        int r = add_states_json(document, a);
        if (r >= 0)
                r = add_regimes_json(document, a);
        if (r >= 0)
                r = add_cycle_json(document, a);
        if (r >= 0)
                r = snia_add_json(document, &analyzed->snia);
        if (r >= 0)
                r = analyzed->own.criterion.is_set ? own_steady_add_json(document, &analyzed->own)
                                                   : add_fio_json(document, &analyzed->fio);
        return r < 0 ? r : output_json(cli, document, false);
}

/* --- text --- */

/* A row of the table. */
static int add_regime(Table *table, const Regime *regime, double bytes_per_io) {
        Span from = span(regime->from_s), to = span(regime->to_s);
        Count mean = count(regime->iops_mean), p05 = count(regime->iops_p05), p95 = count(regime->iops_p95);
        char slope[32], bandwidth[32];
        bool has_slope = !isnan(regime->slope_percent_per_hour), has_size = !isnan(bytes_per_io);
        const char *cells[] = { from.text, to.text, mean.text, has_size ? bandwidth : NULL, p05.text, p95.text,
                                has_slope ? slope : NULL,
                                regime->cycles ? "cycles" : regime->transient ? "transient" : "" };

        snprintf(slope, sizeof(slope), "%+.1f", regime->slope_percent_per_hour);
        double mb_per_s = regime->iops_mean * bytes_per_io / 1e6;
        snprintf(bandwidth, sizeof(bandwidth), mb_per_s < 1000 ? "%.3g" : "%.0f", mb_per_s);
        return table_add_row(table, cells);
}

/* The ups and downs of a cycle are hundreds of passages that one sentence tells better. */
static int print_regimes(const Judgement *j) {
        static const TableColumn columns[] = {
                { "FROM", .right = true }, { "TO", .right = true }, { "IOPS", .right = true },
                { "MB/S", .right = true }, { "P5", .right = true }, { "P95", .right = true },
                { "%/HOUR", .right = true, .may_be_empty = true }, { "", .may_be_empty = true },
        };
        _cleanup_(table_freep) Table *table = NULL;
        const Analysis *a = j->analysis;
        size_t n_left_out = 0;

        if (a->n_regimes == 0)
                return 0;
        putchar('\n');
        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0; r >= 0 && i < a->n_regimes; i++) {
                if (a->steady == STEADY_CYCLING && a->regimes[i].transient)
                        n_left_out++;
                else
                        r = add_regime(table, &a->regimes[i], judgement_bytes_per_io(j));
        }
        if (r >= 0)
                r = output_table(table);
        if (n_left_out > 0)
                printf("%zu passages up and down are left out (--json has them)\n", n_left_out);
        return r;
}

static void print_fio(const FioResult *fio) {
        printf("fio steadystate=%s:%g%%, ss_dur=%.0f: ", fio->criterion.slope ? "iops_slope" : "iops",
               fio->criterion.limit_percent, fio->criterion.duration_s);
        if (isnan(fio->value_percent))
                puts("the phase is shorter than its window");
        else if (fio->attained)
                printf("attained after %s, at %s IOPS and %.3g %%\n", span(fio->attained_at_s).text,
                       count(fio->mean_iops).text, fio->value_percent);
        else
                printf("not attained: %.3g %% at the end\n", fio->value_percent);
}

static int analyze_text(const Analyzed *analyzed) {
        _cleanup_free_ char *title = judgement_title(&analyzed->judgement);

        if (!title)
                return -ENOMEM;
        printf("%s\n\n", title);
        story_print(&analyzed->judgement);
        int r = print_regimes(&analyzed->judgement);
        if (r < 0)
                return r;
        puts("\nWhat other tools call steady, which looks neither at the volume written nor at what comes later:");
        r = snia_print(&analyzed->snia);
        if (analyzed->own.criterion.is_set)
                own_steady_print(&analyzed->own);
        else
                print_fio(&analyzed->fio);
        return r;
}

static int analyze_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(analyzed_clear) Analyzed analyzed = {};
        _cleanup_store_ Store *store = NULL;

        int r = store_open_reader(&store, cli->database, error);
        if (r >= 0)
                r = judge_run(&analyzed.judgement, store, arguments, arguments->words[0], error);
        if (r >= 0)
                r = snia_look(&analyzed.snia, &analyzed.judgement, store, error);
        if (r >= 0)
                r = own_steady_look(&analyzed.own, store, &analyzed.judgement, error);
        if (r >= 0)
                r = fio_judge(&analyzed.judgement.series, &FIO_CRITERION_DEFAULT, &analyzed.fio);
        if (r >= 0)
                r = cli->json ? analyze_json(cli, &analyzed) : analyze_text(&analyzed);
        return r < 0 ? r : 0;
}

const Verb verb_analyze = {
        .name = "analyze",
        .summary = "what the drive did: burst, regimes, steady state, collapse",
        .words = "RUN [--phase P]",
        .description = "Judges the curve of one phase: the longest that wrote (or read, if nothing was written), or "
                       "the one named. Tells the burst, the regimes, the steady state and since when, collapse, cycle "
                       "and stalls, and what SNIA's and fio's criteria say. Times are those of the phase's running "
                       "time; pauses and outages, and the 30 s after them, are left out.",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_database = true,
        .options = (const Option[]) {
                { .name = "phase", .argument = "P", .help = "this phase: its name, or its number from 0" },
                {},
        },
        .run = analyze_run,
};

/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>

#include "output.h"
#include "query.h"
#include "render/table.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

#define LABEL_COLUMNS_MAX 40

typedef struct Runs {
        StoreRun *items;
        size_t n;
} Runs;

static void runs_clear(Runs *runs) {
        store_runs_free(runs->items, runs->n);
}

static int list_json(Cli *cli, const Runs *runs) {
        _cleanup_json_ json_object *document = json_object_new_object();
        json_object *array = json_object_new_array();

        if (!document || !array)
                return -ENOMEM;
        json_add(document, "runs", array);
        for (size_t i = 0; i < runs->n; i++) {
                json_object *row = query_run_json(&runs->items[i]);

                if (!row)
                        return -ENOMEM;
                json_object_array_add(array, row);
        }
        return output_json(cli, document, false);
}

/* Columns of which nothing is to be told take no room. */
typedef struct Bad {
        bool any_errors, any_wrong;
} Bad;

static Bad find_bad(const Runs *runs) {
        Bad bad = {};

        for (size_t i = 0; i < runs->n; i++) {
                bad.any_errors |= runs->items[i].io_errors > 0;
                bad.any_wrong |= runs->items[i].verify_errors > 0;
        }
        return bad;
}

static int add_row(Table *table, const StoreRun *run, Bad bad) {
        char id[16], started[OUTPUT_TIME_MAX], elapsed[TIME_SPAN_MAX], planned[TIME_SPAN_MAX], iops[TEXT_SIZE_MAX];
        char errors[24], wrong[24];
        const char *cells[] = {
                id, run->name, run->label, run_state_name(run->state), run->device_path, run->model, run->serial,
                output_format_time(run->started_at_ns, started), time_format_span(run->elapsed_ns, elapsed),
                run->has_planned_time ? time_format_span(run->planned_ns, planned) : NULL,
                isnan(query_iops(run)) ? NULL : text_format_count(query_iops(run), iops),
                bad.any_errors && run->errors_known ? errors : NULL, bad.any_wrong && run->is_verified ? wrong : NULL,
        };

        snprintf(errors, sizeof(errors), "%" PRIu64, run->io_errors);
        snprintf(wrong, sizeof(wrong), "%" PRIu64, run->verify_errors);
        snprintf(id, sizeof(id), "%" PRIu32, run->id);
        return table_add_row(table, cells);
}

static int list_text(const Runs *runs) {
        static const TableColumn columns[] = {
                { "RUN", .right = true }, { "NAME", .truncate = true },
                { "LABEL", .truncate = true, .may_be_empty = true, .columns_max = LABEL_COLUMNS_MAX, .rank = 1 },
                { "STATE" }, { "DEVICE", .rank = 2 }, { "MODEL", .truncate = true, .may_be_empty = true, .rank = 6 },
                { "SERIAL", .truncate = true, .may_be_empty = true, .rank = 4 }, { "STARTED", .rank = 5 },
                { "ELAPSED", .right = true }, { "PLANNED", .right = true, .rank = 3 }, { "IOPS", .right = true },
                { "ERRORS", .right = true, .may_be_empty = true }, { "WRONG", .right = true, .may_be_empty = true },
        };
        _cleanup_(table_freep) Table *table = NULL;

        if (runs->n == 0)
                return puts("no runs yet") < 0 ? -EIO : 0;

        Bad bad = find_bad(runs);
        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0; r >= 0 && i < runs->n; i++)
                r = add_row(table, &runs->items[i], bad);
        return r < 0 ? r : output_table(table);
}

static int list_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_store_ Store *store = NULL;
        _cleanup_(runs_clear) Runs runs = {};

        int r = store_open_reader(&store, cli->database, error);
        if (r < 0)
                return r;
        r = store_list_runs(store, &runs.items, &runs.n, error);
        if (r < 0)
                return r;
        r = cli->json ? list_json(cli, &runs) : list_text(&runs);
        return r < 0 ? r : 0;
}

const Verb verb_list = {
        .name = "list",
        .summary = "the runs, newest first",
        .words = "",
        .description = "Lists the runs in the database, newest first. IOPS is that of the newest sample while a run "
                       "goes on, and its mean over all of its running time once it has ended. If I/O of any of them "
                       "failed, ERRORS counts it; if blocks were read back that are not what was written, WRONG "
                       "counts these. Where there is no room, columns are left out; --json has them all.",
        .uses_database = true,
        .options = (const Option[]) { {} },
        .run = list_run,
};

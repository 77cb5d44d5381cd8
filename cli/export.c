/* SPDX-License-Identifier: MIT */

/* The formats themselves are in export-csv.c, export-fio.c and samples.c. */

#include <inttypes.h>
#include <string.h>

#include "export.h"
#include "output.h"
#include "output-file.h"
#include "samples.h"
#include "util/macro.h"

static int export_json(Cli *cli, const Export *export, FILE *f, Error *error) {
        return samples_print_document(cli, f, export->store, &export->run, &export->phases, &export->query, error);
}

static int export_csv(Cli *cli, const Export *export, FILE *f, Error *error) {
        return export_csv_write(export, f, error);
}

/* One document, to stdout or a file. */
static int write_one(Cli *cli, const Export *export, const char *output,
                     int (*write)(Cli *cli, const Export *export, FILE *f, Error *error), Error *error) {
        _cleanup_(output_file_done) OutputFile file = {};

        if (!output) {
                cli->output_begun = true;
                return write(cli, export, stdout, error);
        }
        int r = output_file_open(&file, output, error);
        if (r < 0)
                return r;
        return output_file_keep(&file, write(cli, export, file.f, error), error);
}

typedef struct LogFiles {
        OutputFile items[N_FIO_LOGS];
        bool kept;
} LogFiles;

static void log_files_done(LogFiles *files) {
        for (FioLog i = 0; i < N_FIO_LOGS; i++)
                if (files->kept)
                        output_file_done(&files->items[i]);
                else
                        output_file_remove(&files->items[i]);
}

/* A log of latencies without a row would be no log. */
static bool has_latency(const Export *export) {
        for (size_t i = 0; i < export->phases.n; i++)
                if (export->phases.items[i].latency_mean_ns > 0 &&
                    (export->query.phase < 0 || export->phases.items[i].index == export->query.phase))
                        return true;
        return false;
}

static int log_files_open(LogFiles *files, const Export *export, const char *prefix, int only, FILE **ret,
                          Error *error) {
        bool latency = has_latency(export);
        int r = 0;

        for (FioLog i = 0; r >= 0 && i < N_FIO_LOGS; i++) {
                _cleanup_free_ char *path = NULL;

                if (only >= 0 ? i != (FioLog) only : i == FIO_LOG_CLAT && !latency)
                        continue;
                if (asprintf(&path, "%s_%s.1.log", prefix, fio_log_names[i]) < 0) {
                        path = NULL;
                        return -ENOMEM;
                }
                r = output_file_open(&files->items[i], path, error);
                ret[i] = files->items[i].f;
        }
        return r;
}

/* The first that could not be written is told. */
static int log_files_keep(LogFiles *files, int r, Error *error) {
        int written = r;

        for (FioLog i = 0; i < N_FIO_LOGS && (r >= 0 || r == written); i++)
                if (files->items[i].f)
                        r = output_file_keep(&files->items[i], written, error);
        files->kept = r >= 0;
        return r;
}

static int export_fio(Cli *cli, const Export *export, const char *prefix, int only, Error *error) {
        _cleanup_(log_files_done) LogFiles files = {};
        FILE *logs[N_FIO_LOGS] = {};

        if (export->query.phase < 0 && export->phases.n > 1)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "fio's logs know of no phases, and run %" PRIu32 " has %zu: choose one with --phase",
                                 export->run.id, export->phases.n);
        if (!prefix && only < 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "fio's logs are a file for each kind: name them with -o PREFIX, or choose one with "
                                 "--kind");
        if (!prefix) {
                cli->output_begun = true;
                logs[only] = stdout;
                return export_fio_write(export, logs, error);
        }
        int r = log_files_open(&files, export, prefix, only, logs, error);
        if (r < 0)
                return r;
        return log_files_keep(&files, export_fio_write(export, logs, error), error);
}

/* --- options --- */

static int read_kind(const Arguments *arguments, int *ret, Error *error) {
        const char *value = arguments_value(arguments, "kind");

        *ret = -1;
        if (!value)
                return 0;
        for (FioLog i = 0; i < N_FIO_LOGS; i++)
                if (strcmp(value, fio_log_names[i]) == 0 || (i == FIO_LOG_CLAT && strcmp(value, "lat") == 0)) {
                        *ret = (int) i;
                        return 0;
                }
        return error_set(error, ERROR_USAGE, EINVAL, "--kind %s: expected iops, bw or lat", value);
}

static int open_export(const Cli *cli, const Arguments *arguments, Export *export, Error *error) {
        int r = query_open_run(cli, arguments->words[0], &export->store, &export->query.run, error);
        if (r >= 0)
                r = store_get_run(export->store, export->query.run, &export->run, error);
        if (r >= 0)
                r = store_get_phases(export->store, export->query.run, &export->phases.items, &export->phases.n, error);
        if (r >= 0)
                r = query_phase(arguments, export->run.id, export->phases.items, export->phases.n,
                                &export->query.phase, error);
        export->query.to_ns = UINT64_MAX;
        return r;
}

static void export_done(Export *export) {
        query_phases_clear(&export->phases);
        store_run_clear(&export->run);
        store_close(export->store);
}

static int export_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(export_done) Export export = {};
        const char *format = arguments_value(arguments, "format") ?: cli->json ? "json" : "csv";
        const char *output = arguments_value(arguments, "output");
        int kind;

        if (output && strcmp(output, "-") == 0)
                output = NULL;
        int r = read_kind(arguments, &kind, error);
        if (r >= 0)
                r = open_export(cli, arguments, &export, error);
        if (r < 0)
                return r;

        if (strcmp(format, "csv") == 0)
                r = write_one(cli, &export, output, export_csv, error);
        else if (strcmp(format, "json") == 0)
                r = write_one(cli, &export, output, export_json, error);
        else if (strcmp(format, "fio") == 0)
                r = export_fio(cli, &export, output, kind, error);
        else
                r = error_set(error, ERROR_USAGE, EINVAL, "--format %s: expected csv, json or fio", format);
        return r < 0 ? r : 0;
}

const Verb verb_export = {
        .name = "export",
        .summary = "the samples of a run for other programs",
        .words = "RUN [--format csv|json|fio] [-o FILE|PREFIX] [--phase P] [--kind iops|bw|lat]",
        .description = "Writes all samples of a run, as CSV (the default), as the JSON of 'samples' (also with "
                       "--json), or as fio's interval logs PREFIX_iops.1.log, PREFIX_bw.1.log and PREFIX_clat.1.log, "
                       "of one phase. 'import' reads all of them back to the same numbers. Goes to "
                       "standard output unless -o names a file, which must not exist yet.",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_database = true,
        .options = (const Option[]) {
                { .name = "format", .argument = "csv|json|fio", .help = "what to write" },
                { .name = "output", .letter = 'o', .argument = "FILE|PREFIX",
                  .help = "where to; for fio the beginning of the names" },
                { .name = "phase", .argument = "P", .help = "this phase only: its name, or its number from 0" },
                { .name = "kind", .argument = "iops|bw|lat", .help = "only this log of fio's" },
                {},
        },
        .run = export_run,
};

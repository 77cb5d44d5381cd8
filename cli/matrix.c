/* SPDX-License-Identifier: MIT */

/* Nothing of a matrix is stored but its cells, which are phases: it is put together again from those. */

#include <inttypes.h>

#include "matrix-cells.h"
#include "matrix-picture.h"
#include "output.h"
#include "util/macro.h"
#include "util/text.h"

typedef struct Matrices {
        StoreRun run;
        QueryPhases phases;
        StorePhaseCpu *cpu; /* of each phase */
        Matrix *items;       /* those that are asked for */
        size_t n;
} Matrices;

static void matrices_clear(Matrices *matrices) {
        store_run_clear(&matrices->run);
        query_phases_clear(&matrices->phases);
        free(matrices->cpu);
        free(matrices->items);
}

/* All of the run, or with a phase only the one that this is a cell of. */
static int find_matrices(Matrices *matrices, int64_t phase) {
        const QueryPhases *phases = &matrices->phases;

        matrices->items = calloc(MAX(phases->n, (size_t) 1), sizeof(*matrices->items));
        if (!matrices->items)
                return -ENOMEM;
        for (size_t i = 0, n; i < phases->n; i += MAX(n, (size_t) 1)) {
                n = matrix_cells(phases->items + i, phases->n - i);
                if (n > 0 && (phase < 0 || (phase >= (int64_t) i && phase < (int64_t) (i + n))))
                        matrices->items[matrices->n++] = matrix_make(phases->items + i, n);
        }
        return 0;
}

static int check_any(const Matrices *matrices, int64_t phase, Error *error) {
        if (matrices->n > 0)
                return 0;
        if (phase >= 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "phase %" PRIi64 " of run %" PRIu32 " is no cell of a matrix; "
                                 "'plateau show' tells which are",
                                 phase, matrices->run.id);
        return error_set(error, ERROR_USAGE, EINVAL, "run %" PRIu32 " has no matrix: that takes a section with "
                         "action=matrix in its job", matrices->run.id);
}

static int load(Matrices *matrices, const Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_store_ Store *store = NULL;
        QueryPhases *phases = &matrices->phases;
        int64_t phase;
        uint32_t id;

        int r = query_open_run(cli, arguments->words[0], &store, &id, error);
        if (r >= 0)
                r = store_get_run(store, id, &matrices->run, error);
        if (r >= 0)
                r = store_get_phases(store, id, &phases->items, &phases->n, error);
        if (r >= 0)
                r = query_phase(arguments, id, phases->items, phases->n, &phase, error);
        if (r >= 0)
                r = find_matrices(matrices, phase);
        if (r >= 0)
                r = check_any(matrices, phase, error);
        if (r < 0)
                return r;

        matrices->cpu = calloc(phases->n, sizeof(*matrices->cpu));
        return matrices->cpu ? store_get_phase_cpu(store, id, matrices->cpu, phases->n, error) : -ENOMEM;
}

static json_object *cell_json(const StoreRun *run, const StorePhase *cell, double cpu_percent) {
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        json_add_u64(o, "phase", cell->index);
        json_add_string(o, "name", cell->name);
        json_add_string(o, "rw", rw_mode_name(cell->rw));
        json_add_u64(o, "bs", matrix_cell_block_bytes(cell));
        json_add_u64(o, "iodepth", cell->iodepth);
        json_add_u64(o, "numjobs", cell->numjobs);
        json_add_string(o, "state", query_phase_state_name(run, cell));
        json_add_bool(o, "incomplete", matrix_cell_is_incomplete(cell));
        json_add_seconds(o, "elapsed_s", cell->elapsed_ns);
        json_add_double(o, "iops", matrix_cell_iops(cell));
        json_add_double(o, "bytes_per_s", query_rate(query_sum(cell->counted_bytes), store_phase_counted_ns(cell)));
        query_add_percentile(o, "latency_p50_ns", cell->latency, 0.5);
        query_add_percentile(o, "latency_p99_ns", cell->latency, 0.99);
        json_add_double(o, "cpu_percent", cpu_percent);
        json_add_u64(o, "errors", cell->errors);
        return o;
}

/* What all cells have in common, or NULL. */
static const char *common_rw(const Matrices *matrices) {
        for (size_t i = 1; i < matrices->n; i++)
                if (matrices->items[i].cells->rw != matrices->items[0].cells->rw)
                        return NULL;
        return rw_mode_name(matrices->items[0].cells->rw);
}

static json_object *drive_json(const StoreRun *run) {
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        json_add_string(o, "model", run->model);
        json_add_string(o, "firmware", run->firmware);
        json_add_u64(o, "size_bytes", run->size_bytes);
        json_add_u64(o, "read_ahead_kib", run->read_ahead_kib);
        json_add_string(o, "host_driver", run->host_driver);
        return o;
}

static int add_cells_json(json_object *array, const Matrices *matrices, const Matrix *matrix) {
        for (size_t i = 0; i < matrix->n; i++) {
                const StorePhase *cell = &matrix->cells[i];
                const StorePhaseCpu *cpu = &matrices->cpu[cell - matrices->phases.items];
                json_object *o = cell_json(&matrices->run, cell, cpu->host_percent);

                if (!o)
                        return -ENOMEM;
                json_object_array_add(array, o);
        }
        return 0;
}

static int matrices_json(Cli *cli, const Matrices *matrices) {
        _cleanup_json_ json_object *document = json_object_new_object();
        json_object *array = json_object_new_array(), *drive = drive_json(&matrices->run);
        int r = 0;

        if (!document || !array || !drive)
                return -ENOMEM;
        json_add_u64(document, "run", matrices->run.id);
        json_add(document, "device", drive);
        json_add_string(document, "rw", common_rw(matrices));
        json_add(document, "cells", array);
        for (size_t i = 0; r >= 0 && i < matrices->n; i++)
                r = add_cells_json(array, matrices, &matrices->items[i]);
        return r < 0 ? r : output_json(cli, document, false);
}

/* -- as published: rows by the number outstanding, columns by block size -- */

static int add_row(Table *table, const Matrix *matrix, uint64_t outstanding) {
        char texts[JOB_N_VALUES_MAX][MATRIX_CELL_MAX], head[MATRIX_CELL_MAX];
        const char *row[JOB_N_VALUES_MAX + 1] = { head };

        snprintf(head, sizeof(head), "%" PRIu64, outstanding);
        for (size_t i = 0; i < matrix->blocks.n; i++) {
                const StorePhase *cell = matrix_find(matrix, matrix->blocks.values[i], outstanding);

                row[i + 1] = cell ? matrix_cell_format(cell, texts[i]) : NULL;
        }
        return table_add_row(table, row);
}

static int print_table(const Matrix *matrix) {
        char headings[JOB_N_VALUES_MAX][TEXT_SIZE_MAX];
        TableColumn columns[JOB_N_VALUES_MAX + 1] = { { "OUTSTANDING", .right = true } };
        _cleanup_(table_freep) Table *table = NULL;

        for (size_t i = 0; i < matrix->blocks.n; i++)
                columns[i + 1] = (TableColumn) { text_format_size(matrix->blocks.values[i], headings[i]),
                                                 .right = true };

        int r = table_new(&table, columns, matrix->blocks.n + 1);
        for (size_t i = 0; r >= 0 && i < matrix->depths.n; i++)
                r = add_row(table, matrix, matrix->depths.values[i]);
        return r < 0 ? r : output_table(table);
}

static int print_matrix(const Matrix *matrix) {
        _cleanup_free_ char *title = matrix_title(matrix);

        if (!title)
                return -ENOMEM;
        printf("\n%s\n", title);
        return print_table(matrix);
}

static int print_notes(const Matrices *matrices) {
        char *notes[MATRIX_N_NOTES_MAX];
        int n = matrix_notes(&matrices->run, matrices->items, matrices->n, notes);

        for (int i = 0; i < n; i++) {
                printf("%s%s\n", i == 0 ? "\n" : "", notes[i]);
                free(notes[i]);
        }
        return n;
}

static void print_field(const char *name, const char *value) {
        _cleanup_free_ char *text = output_text(value);

        printf("%-12s %s\n", name, text ?: "");
}

static void print_drive(const StoreRun *run) {
        char size[TEXT_SIZE_MAX];

        print_field("model", run->model);
        print_field("firmware", run->firmware);
        printf("%-12s %s (%" PRIu64 " bytes)\n", "size", text_format_size(run->size_bytes, size), run->size_bytes);
        printf("%-12s %" PRIu32 " KiB\n", "read-ahead", run->read_ahead_kib);
        print_field("driver", run->host_driver);
}

static int matrices_text(const Matrices *matrices) {
        int r = 0;

        print_drive(&matrices->run);
        for (size_t i = 0; r >= 0 && i < matrices->n; i++)
                r = print_matrix(&matrices->items[i]);
        return r < 0 ? r : print_notes(matrices);
}

static int matrix_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(matrices_clear) Matrices matrices = {};
        const char *output = arguments_value(arguments, "output");

        int r = load(&matrices, cli, arguments, error);
        if (r >= 0 && output)
                r = matrix_picture_write(output, &matrices.run, matrices.items, matrices.n, error);
        if (r >= 0 && cli->json)
                r = matrices_json(cli, &matrices);
        else if (r >= 0 && !output)
                r = matrices_text(&matrices);
        return r < 0 ? r : 0;
}

const Verb verb_matrix = {
        .name = "matrix",
        .summary = "IOPS by block size and number outstanding",
        .words = "RUN [--phase P] [-o FILE.svg|FILE.png]",
        .description =
                "Shows the IOPS of each matrix of a run (a section with action=matrix in its job): a row for each "
                "number of I/Os outstanding, a column for each block size. Cells that have not run are '-', those that "
                "were not measured to their end are marked '*', those with errors '!'. With --output they become "
                "heat maps in a picture instead, in a file that must not exist yet.",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_database = true,
        .options =
                (const Option[]){
                        { .name = "phase", .argument = "P", .help = "the matrix of this name, or that phase P is of" },
                        { .name = "output", .letter = 'o', .argument = "FILE", .help = "a picture: .svg or .png" },
                        {},
                },
        .run = matrix_run,
};

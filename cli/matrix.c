/* SPDX-License-Identifier: MIT */

/* Nothing of a matrix is stored but its cells, which are phases: it is put together again from those. */

#include "matrix.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "output.h"
#include "query.h"
#include "util/macro.h"
#include "util/text.h"

static uint64_t cell_block_bytes(const StorePhase *cell) {
        return cell->block_bytes[rw_mode_writes(cell->rw) ? DIRECTION_WRITE : DIRECTION_READ];
}

static uint64_t cell_outstanding(const StorePhase *cell) {
        return (uint64_t) cell->iodepth * cell->numjobs;
}

static uint64_t cell_ios(const StorePhase *cell) {
        return cell->ios[DIRECTION_READ] + cell->ios[DIRECTION_WRITE] + cell->ios[DIRECTION_TRIM];
}

static uint64_t cell_bytes(const StorePhase *cell) {
        return cell->bytes[DIRECTION_READ] + cell->bytes[DIRECTION_WRITE] + cell->bytes[DIRECTION_TRIM];
}

static bool is_same_cell(const StorePhase *a, const StorePhase *b) {
        return cell_block_bytes(a) == cell_block_bytes(b) && cell_outstanding(a) == cell_outstanding(b);
}

size_t matrix_cells(const StorePhase *phases, size_t n) {
        size_t k = 0;

        while (k < n && phases[k].action == PHASE_ACTION_MATRIX && phases[k].rw == phases[0].rw &&
               strcmp(phases[k].name, phases[0].name) == 0 && (k == 0 || !is_same_cell(&phases[k], &phases[0])))
                k++;
        return k;
}

bool matrix_is_table(const StorePhase *cells, size_t n) {
        bool blocks = false, depths = false;

        for (size_t i = 1; i < n; i++) {
                blocks |= cell_block_bytes(&cells[i]) != cell_block_bytes(&cells[0]);
                depths |= cell_outstanding(&cells[i]) != cell_outstanding(&cells[0]);
        }
        return blocks && depths;
}

typedef struct Matrices {
        StoreRun run;
        QueryPhases phases;
        double *cpu_percent; /* of each phase */
        int64_t phase;       /* only the matrix that this phase is of; -1: all */
} Matrices;

static void matrices_clear(Matrices *matrices) {
        store_run_clear(&matrices->run);
        query_phases_clear(&matrices->phases);
        free(matrices->cpu_percent);
}

/* From *i on the next matrix that is asked for: its cells, and *i behind them. 0: there is none. */
static size_t next_matrix(const Matrices *matrices, size_t *i, const StorePhase **ret_cells) {
        while (*i < matrices->phases.n) {
                size_t first = *i, n = matrix_cells(matrices->phases.items + first, matrices->phases.n - first);

                *i += MAX(n, (size_t) 1);
                if (n == 0 || (matrices->phase >= 0 && (matrices->phase < (int64_t) first ||
                                                        matrices->phase >= (int64_t) (first + n))))
                        continue;
                *ret_cells = matrices->phases.items + first;
                return n;
        }
        return 0;
}

static int check_any(const Matrices *matrices, Error *error) {
        const StorePhase *cells;
        size_t i = 0;

        if (next_matrix(matrices, &i, &cells) > 0)
                return 0;
        if (matrices->phase >= 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "phase %" PRIi64 " of run %" PRIu32 " is no cell of a matrix; "
                                 "'plateau show' tells which are",
                                 matrices->phase, matrices->run.id);
        return error_set(error, ERROR_USAGE, EINVAL, "run %" PRIu32 " has no matrix: that takes a section with "
                         "action=matrix in its job", matrices->run.id);
}

static int load(Matrices *matrices, const Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_store_ Store *store = NULL;
        QueryPhases *phases = &matrices->phases;
        uint32_t id;

        int r = query_open_run(cli, arguments->words[0], &store, &id, error);
        if (r >= 0)
                r = store_get_run(store, id, &matrices->run, error);
        if (r >= 0)
                r = store_get_phases(store, id, &phases->items, &phases->n, error);
        if (r >= 0)
                r = query_phase(arguments, id, phases->items, phases->n, &matrices->phase, error);
        if (r >= 0)
                r = check_any(matrices, error);
        if (r < 0)
                return r;

        matrices->cpu_percent = calloc(phases->n, sizeof(double));
        return matrices->cpu_percent ? store_get_phase_cpu(store, id, matrices->cpu_percent, phases->n, error)
                                     : -ENOMEM;
}

static json_object *cell_json(const StorePhase *cell, double cpu_percent) {
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        json_add_u64(o, "phase", cell->index);
        json_add_string(o, "name", cell->name);
        json_add_string(o, "rw", rw_mode_name(cell->rw));
        json_add_u64(o, "bs", cell_block_bytes(cell));
        json_add_u64(o, "iodepth", cell->iodepth);
        json_add_u64(o, "numjobs", cell->numjobs);
        json_add_string(o, "state", phase_state_name(cell->state));
        json_add_double(o, "iops", query_rate(cell_ios(cell), cell->elapsed_ns));
        json_add_double(o, "bytes_per_s", query_rate(cell_bytes(cell), cell->elapsed_ns));
        query_add_percentile(o, "latency_p50_ns", cell->latency, 0.5);
        query_add_percentile(o, "latency_p99_ns", cell->latency, 0.99);
        json_add_double(o, "cpu_percent", cpu_percent);
        return o;
}

/* What all cells have in common, or NULL. */
static const char *common_rw(const Matrices *matrices) {
        const StorePhase *cells;
        RwMode rw = N_RW_MODES;

        for (size_t i = 0; next_matrix(matrices, &i, &cells) > 0; rw = cells->rw)
                if (rw != N_RW_MODES && rw != cells->rw)
                        return NULL;
        return rw_mode_name(rw);
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

static int matrices_json(Cli *cli, const Matrices *matrices) {
        _cleanup_json_ json_object *document = json_object_new_object();
        json_object *array = json_object_new_array(), *drive = drive_json(&matrices->run);
        const StorePhase *cells;
        size_t n;

        if (!document || !array || !drive)
                return -ENOMEM;
        json_add_u64(document, "run", matrices->run.id);
        json_add(document, "device", drive);
        json_add_string(document, "rw", common_rw(matrices));
        json_add(document, "cells", array);
        for (size_t i = 0; (n = next_matrix(matrices, &i, &cells)) > 0;)
                for (size_t k = 0; k < n; k++) {
                        json_object *o =
                                cell_json(&cells[k], matrices->cpu_percent[&cells[k] - matrices->phases.items]);

                        if (!o)
                                return -ENOMEM;
                        json_object_array_add(array, o);
                }
        return output_json(cli, document, false);
}

/* -- as published: rows by the number outstanding, columns by block size -- */

static void list_add(ValueList *list, uint64_t value) {
        for (size_t i = 0; i < list->n; i++)
                if (list->values[i] == value)
                        return;
        if (list->n < ELEMENTSOF(list->values))
                list->values[list->n++] = value;
}

static const StorePhase *find_cell(const StorePhase *cells, size_t n, uint64_t block_bytes, uint64_t outstanding) {
        for (size_t i = 0; i < n; i++)
                if (cell_block_bytes(&cells[i]) == block_bytes && cell_outstanding(&cells[i]) == outstanding)
                        return &cells[i];
        return NULL;
}

#define IOPS_MAX 24

static int add_row(Table *table, const StorePhase *cells, size_t n, const ValueList *blocks, uint64_t outstanding) {
        char texts[JOB_N_VALUES_MAX][IOPS_MAX], head[IOPS_MAX];
        const char *row[JOB_N_VALUES_MAX + 1] = { head };

        snprintf(head, sizeof(head), "%" PRIu64, outstanding);
        for (size_t i = 0; i < blocks->n; i++) {
                const StorePhase *cell = find_cell(cells, n, blocks->values[i], outstanding);

                if (!cell || cell->elapsed_ns == 0)
                        continue;
                snprintf(texts[i], sizeof(texts[i]), "%.0f", query_rate(cell_ios(cell), cell->elapsed_ns));
                row[i + 1] = texts[i];
        }
        return table_add_row(table, row);
}

static int print_table(const StorePhase *cells, size_t n) {
        char headings[JOB_N_VALUES_MAX][TEXT_SIZE_MAX];
        TableColumn columns[JOB_N_VALUES_MAX + 1] = { { "OUTSTANDING", .right = true } };
        _cleanup_(table_freep) Table *table = NULL;
        ValueList blocks = {}, depths = {};

        for (size_t i = 0; i < n; i++) {
                list_add(&blocks, cell_block_bytes(&cells[i]));
                list_add(&depths, cell_outstanding(&cells[i]));
        }
        for (size_t i = 0; i < blocks.n; i++)
                columns[i + 1] = (TableColumn) { text_format_size(blocks.values[i], headings[i]), .right = true };

        int r = table_new(&table, columns, blocks.n + 1);
        for (size_t i = 0; r >= 0 && i < depths.n; i++)
                r = add_row(table, cells, n, &blocks, depths.values[i]);
        return r < 0 ? r : output_table(table);
}

static void print_heading(const StorePhase *cells, size_t n) {
        _cleanup_free_ char *name = text_escape(cells->name);
        size_t n_done = 0;

        for (size_t i = 0; i < n; i++)
                n_done += cells[i].state == PHASE_DONE;
        printf("\n%s: IOPS of %s", name ?: "", rw_mode_name(cells->rw));
        if (n_done < n)
                printf(" (%zu of %zu cells are done)", n_done, n);
        putchar('\n');
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
        const StorePhase *cells;
        size_t n;
        int r = 0;

        print_drive(&matrices->run);
        for (size_t i = 0; r >= 0 && (n = next_matrix(matrices, &i, &cells)) > 0;) {
                print_heading(cells, n);
                r = print_table(cells, n);
        }
        return r;
}

static int matrix_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(matrices_clear) Matrices matrices = {};

        int r = load(&matrices, cli, arguments, error);
        if (r < 0)
                return r;
        r = cli->json ? matrices_json(cli, &matrices) : matrices_text(&matrices);
        return r < 0 ? r : 0;
}

const Verb verb_matrix = {
        .name = "matrix",
        .summary = "IOPS by block size and number outstanding",
        .words = "RUN [--phase P]",
        .description =
                "Shows the IOPS of each matrix of a run (a section with action=matrix in its job): a row for each "
                "number of I/Os outstanding, a column for each block size. Cells that have not run are '-'.",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_database = true,
        .options =
                (const Option[]){
                        { .name = "phase", .argument = "P", .help = "the matrix of this name, or that phase P is of" },
                        {},
                },
        .run = matrix_run,
};

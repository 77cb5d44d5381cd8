/* SPDX-License-Identifier: MIT */

#include "matrix-cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

#define WHOLE_NUMBER_MIN 10.0 /* below, a slow drive's IOPS need a decimal */

uint64_t matrix_cell_block_bytes(const StorePhase *cell) {
        return cell->block_bytes[rw_mode_direction(cell->rw)];
}

static uint64_t matrix_cell_outstanding(const StorePhase *cell) {
        return (uint64_t) cell->iodepth * cell->numjobs;
}

double matrix_cell_iops(const StorePhase *cell) {
        const uint64_t *ios = cell->counted_ios;

        return query_rate(ios[DIRECTION_READ] + ios[DIRECTION_WRITE] + ios[DIRECTION_TRIM],
                          store_phase_counted_ns(cell));
}

bool matrix_cell_is_incomplete(const StorePhase *cell) {
        return cell->elapsed_ns > 0 && cell->state != PHASE_DONE;
}

const char *matrix_cell_format(const StorePhase *cell, char buf[static MATRIX_CELL_MAX]) {
        double iops = matrix_cell_iops(cell);

        if (isnan(iops))
                return NULL;
        snprintf(buf, MATRIX_CELL_MAX, "%s%s%.*f", matrix_cell_is_incomplete(cell) ? "*" : "",
                 cell->errors > 0 ? "!" : "", iops > 0 && iops < WHOLE_NUMBER_MIN, iops);
        return buf;
}

static bool is_same_cell(const StorePhase *a, const StorePhase *b) {
        return matrix_cell_block_bytes(a) == matrix_cell_block_bytes(b) &&
               matrix_cell_outstanding(a) == matrix_cell_outstanding(b);
}

size_t matrix_cells(const StorePhase *phases, size_t n) {
        size_t k = 0;

        while (k < n && phases[k].action == PHASE_ACTION_MATRIX && phases[k].rw == phases[0].rw &&
               strcmp(phases[k].name, phases[0].name) == 0 && (k == 0 || !is_same_cell(&phases[k], &phases[0])))
                k++;
        return k;
}

bool matrix_is_table(const StorePhase *cells, size_t n) {
        Matrix matrix = matrix_make(cells, n);

        return matrix.blocks.n > 1 && matrix.depths.n > 1;
}

static void list_add(ValueList *list, uint64_t value) {
        for (size_t i = 0; i < list->n; i++)
                if (list->values[i] == value)
                        return;
        if (list->n < ELEMENTSOF(list->values))
                list->values[list->n++] = value;
}

Matrix matrix_make(const StorePhase *cells, size_t n) {
        Matrix matrix = { .cells = cells, .n = n };

        for (size_t i = 0; i < n; i++) {
                list_add(&matrix.blocks, matrix_cell_block_bytes(&cells[i]));
                list_add(&matrix.depths, matrix_cell_outstanding(&cells[i]));
        }
        return matrix;
}

const StorePhase *matrix_find(const Matrix *matrix, uint64_t block_bytes, uint64_t outstanding) {
        for (size_t i = 0; i < matrix->n; i++)
                if (matrix_cell_block_bytes(&matrix->cells[i]) == block_bytes &&
                    matrix_cell_outstanding(&matrix->cells[i]) == outstanding)
                        return &matrix->cells[i];
        return NULL;
}

char *matrix_title(const Matrix *matrix) {
        _cleanup_free_ char *name = text_escape(matrix->cells->name);
        char *title = NULL;
        size_t n_done = 0;
        int r;

        for (size_t i = 0; i < matrix->n; i++)
                n_done += matrix->cells[i].state == PHASE_DONE;
        if (!name)
                return NULL;
        if (n_done < matrix->n)
                r = asprintf(&title, "%s: IOPS of %s (%zu of %zu cells are done)", name,
                             rw_mode_name(matrix->cells->rw), n_done, matrix->n);
        else
                r = asprintf(&title, "%s: IOPS of %s", name, rw_mode_name(matrix->cells->rw));
        return r < 0 ? NULL : title;
}

static char *incomplete_note(const StoreRun *run, const StorePhase *cell) {
        char span[TIME_SPAN_MAX], *note;
        bool goes_on = cell->state == PHASE_RUNNING;

        time_format_span(cell->elapsed_ns, span);
        return asprintf(&note, goes_on ? "* not finished: measured for %s so far (%s)"
                                       : "* not finished: measured for %s only (%s)",
                        span, run_state_name(run->state)) < 0 ? NULL : note;
}

static char *errors_note(const StoreRun *run) {
        char *note;

        return asprintf(&note, "! some I/O failed: 'plateau show %" PRIu32 "' tells with which errors", run->id) < 0
                       ? NULL : note;
}

int matrix_notes(const StoreRun *run, const Matrix *matrices, size_t n, char *ret[static MATRIX_N_NOTES_MAX]) {
        const StorePhase *incomplete = NULL;
        bool errors = false;
        int n_notes = 0;

        /* Cells run one after the other, so that no more than one has been broken off. */
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < matrices[i].n; k++) {
                        if (matrix_cell_is_incomplete(&matrices[i].cells[k]))
                                incomplete = &matrices[i].cells[k];
                        errors |= matrices[i].cells[k].errors > 0;
                }
        if (incomplete)
                ret[n_notes++] = incomplete_note(run, incomplete);
        if (errors)
                ret[n_notes++] = errors_note(run);
        for (int i = 0; i < n_notes; i++)
                if (!ret[i]) {
                        while (n_notes > 0)
                                free(ret[--n_notes]);
                        return -ENOMEM;
                }
        return n_notes;
}

/* SPDX-License-Identifier: MIT */
#pragma once

/* A matrix as its cells, which are phases, and the table that they make. */

#include "query.h"

uint64_t matrix_cell_block_bytes(const StorePhase *cell);
double matrix_cell_iops(const StorePhase *cell); /* NaN: it has not run */

/* Something was measured, but not for as long as it should be. */
bool matrix_cell_is_incomplete(const StorePhase *cell);

#define MATRIX_CELL_MAX 32
/* "35012", "*35012" if it is incomplete, "!35012" with errors; NULL if it has not run. Returns buf. */
const char *matrix_cell_format(const StorePhase *cell, char buf[static MATRIX_CELL_MAX]);

/*
 * How many of the n phases from *phases on are the cells of one matrix: those of one section, until a cell of the same
 * block size and depth comes again. 0: the first is no cell.
 */
size_t matrix_cells(const StorePhase *phases, size_t n);

/* Whether both block size and depth vary in these cells: then they are better seen as a table of their own. */
bool matrix_is_table(const StorePhase *cells, size_t n);

typedef struct Matrix {
        const StorePhase *cells;
        size_t n;
        ValueList blocks, depths; /* the columns and rows, in the order of the job */
} Matrix;

Matrix matrix_make(const StorePhase *cells, size_t n);

/* NULL: the job has none there. */
const StorePhase *matrix_find(const Matrix *matrix, uint64_t block_bytes, uint64_t outstanding);

/* "overnight: IOPS of randwrite (3 of 60 cells are done)". Escaped, newly allocated; NULL: no memory. */
char *matrix_title(const Matrix *matrix);

/*
 * What the marks of matrix_cell_format() mean in these n matrices: up to MATRIX_N_NOTES_MAX lines, each newly
 * allocated, in the order of the table. Returns how many, or -ENOMEM.
 */
#define MATRIX_N_NOTES_MAX 2
int matrix_notes(const StoreRun *run, const Matrix *matrices, size_t n, char *ret[static MATRIX_N_NOTES_MAX]);

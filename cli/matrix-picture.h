/* SPDX-License-Identifier: MIT */
#pragma once

/* Matrices of a run as heat maps, one below the other. */

#include "matrix-cells.h"

#define MATRIX_N_PICTURE_MAX 16

/*
 * Writes them to a file that must not exist yet, and whose name says which kind of picture it becomes. At most
 * MATRIX_N_PICTURE_MAX of them: -E2BIG.
 */
int matrix_picture_write(const char *path, const StoreRun *run, const Matrix *matrices, size_t n, Error *error);

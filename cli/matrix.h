/* SPDX-License-Identifier: MIT */
#pragma once

#include "store/store.h"

/*
 * How many of the n phases from *phases on are the cells of one matrix: those of one section, until a cell of the same
 * block size and depth comes again. 0: the first is no cell.
 */
size_t matrix_cells(const StorePhase *phases, size_t n);

/* Whether both block size and depth vary in these cells: then they are better seen as a table of their own. */
bool matrix_is_table(const StorePhase *cells, size_t n);

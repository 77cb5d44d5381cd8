/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tables for people, through libsmartcols: one list of columns drives heading, width and alignment. Cells are
 * escaped (text_escape), so hostile strings stay on their line.
 */

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

typedef struct Table Table;

typedef struct TableColumn {
        const char *heading;
        bool right;    /* aligned */
        bool truncate; /* may be cut when the terminal is too narrow */
} TableColumn;

/* The columns are copied. -ENOMEM. */
int table_new(Table **ret, const TableColumn *columns, size_t n_columns);
Table *table_free(Table *table);
DEFINE_CLEANUP(Table *, table_free)

/* cells: one for each column; NULL prints as "-". Copied. -ENOMEM. */
int table_add_row(Table *table, const char *const *cells);

/*
 * Not wider than the terminal, if f is one; a table without rows prints nothing. -ENOMEM; -EIO (or -EPIPE, -ENOSPC)
 * if it could not be written.
 */
int table_print(Table *table, FILE *f);

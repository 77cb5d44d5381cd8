/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tables for people, through libsmartcols: one list of columns drives heading, width and alignment, and what is left
 * out first where there is no room. Cells are
 * escaped (text_escape), so hostile strings stay on their line.
 */

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

typedef struct Table Table;

typedef struct TableColumn {
        const char *heading;
        bool right;    /* aligned */
        bool truncate; /* may be cut where there is no room */
        bool may_be_empty; /* left out if no row has anything in it */
        unsigned rank;     /* where there is no room, the highest goes first; 0: stays */
        unsigned columns_max; /* longer cells are cut anywhere; 0: never */
} TableColumn;

/* The columns are copied. -ENOMEM. */
int table_new(Table **ret, const TableColumn *columns, size_t n_columns);
Table *table_free(Table *table);
DEFINE_CLEANUP(Table *, table_free)

/* cells: one for each column; NULL prints as "-". Copied. -ENOMEM. */
int table_add_row(Table *table, const char *const *cells);

/*
 * Not wider than width columns, as far as ranks and cutting make it so (0: as wide as it likes); a table without rows
 * prints nothing. ascii: what is cut ends with "..." rather than "…". -ENOMEM; -EIO (or -EPIPE, -ENOSPC) if it could
 * not be written.
 */
int table_print(const Table *table, FILE *f, unsigned width, bool ascii);

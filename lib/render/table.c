/* SPDX-License-Identifier: MIT */

/*
 * libsmartcols draws. What goes where there is no room is decided here, for it would squeeze the columns that may be
 * cut to a few letters before it left one out. Its own encoding of unprintable bytes is turned off: it would encode the
 * backslashes of text_escape() once more. Without it, it must never meet what is not valid in its locale: it would
 * measure that for ever. So it works in a UTF-8 locale, or encodes after all.
 */

#include "render/table.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "render/columns.h"
#include "util/macro.h"
#include "util/text.h"

#define NOTHING "-"

/* A column that may be cut keeps so many before others are left out for it, and so many in any case. */
#define CUT_COLUMNS_WISHED 12U
#define CUT_COLUMNS_MIN 4U

struct Table {
        TableColumn *columns;
        size_t n_columns;
        char **cells; /* escaped; rows one after another */
        size_t n_rows;
};

Table *table_free(Table *table) {
        if (!table)
                return NULL;

        for (size_t i = 0; i < table->n_rows * table->n_columns; i++)
                free(table->cells[i]);
        free(table->cells);
        free(table->columns);
        free(table);
        return NULL;
}

int table_new(Table **ret, const TableColumn *columns, size_t n_columns) {
        _cleanup_(table_freep) Table *table = calloc(1, sizeof *table);

        if (!table || !(table->columns = calloc(n_columns, sizeof *columns)))
                return -ENOMEM;

        memcpy(table->columns, columns, n_columns * sizeof *columns);
        table->n_columns = n_columns;
        *ret = TAKE_PTR(table);
        return 0;
}

int table_add_row(Table *table, const char *const *cells) {
        char **grown = reallocarray(table->cells, (table->n_rows + 1) * table->n_columns, sizeof *grown);
        if (!grown)
                return -ENOMEM;

        table->cells = grown;
        char **row = grown + table->n_rows * table->n_columns;
        bool failed = false;
        for (size_t i = 0; i < table->n_columns; i++) {
                row[i] = text_escape(cells[i] ?: NOTHING);
                failed |= !row[i];
        }
        table->n_rows++;
        return failed ? -ENOMEM : 0;
}

/* -- what there is room for -- */

typedef struct Layout {
        size_t *columns; /* of each column of the table; 0: left out */
} Layout;

static void layout_clear(Layout *layout) {
        free(layout->columns);
}

static size_t layout_total(const Table *table, const Layout *layout) {
        size_t total = 0;

        for (size_t i = 0; i < table->n_columns; i++)
                total += layout->columns[i] > 0 ? layout->columns[i] + 1 : 0;
        return total > 0 ? total - 1 : 0;
}

/* The same, once what may be cut is cut as far as is wished. */
static size_t layout_wished(const Table *table, const Layout *layout) {
        size_t total = layout_total(table, layout);

        for (size_t i = 0; i < table->n_columns; i++)
                if (table->columns[i].truncate && layout->columns[i] > CUT_COLUMNS_WISHED)
                        total -= layout->columns[i] - CUT_COLUMNS_WISHED;
        return total;
}

static size_t natural_columns(const Table *table, size_t column, bool *ret_any) {
        size_t widest = text_columns(table->columns[column].heading);

        *ret_any = false;
        for (size_t row = 0; row < table->n_rows; row++) {
                const char *cell = table->cells[row * table->n_columns + column];

                widest = MAX(widest, text_columns(cell));
                *ret_any |= strcmp(cell, NOTHING) != 0;
        }
        if (table->columns[column].columns_max > 0)
                widest = MIN(widest, (size_t) table->columns[column].columns_max);
        return widest;
}

static void leave_out(const Table *table, Layout *layout, size_t width) {
        while (layout_wished(table, layout) > width) {
                size_t worst = table->n_columns;

                for (size_t i = 0; i < table->n_columns; i++)
                        if (layout->columns[i] > 0 && table->columns[i].rank > 0 &&
                            (worst == table->n_columns || table->columns[i].rank > table->columns[worst].rank))
                                worst = i;
                if (worst == table->n_columns)
                        return;
                layout->columns[worst] = 0;
        }
}

/* A column off the widest of those that may be cut, again and again. */
static void cut(const Table *table, Layout *layout, size_t width) {
        for (size_t excess = layout_total(table, layout); excess > width; excess--) {
                size_t widest = table->n_columns;

                for (size_t i = 0; i < table->n_columns; i++)
                        if (table->columns[i].truncate && layout->columns[i] > CUT_COLUMNS_MIN &&
                            (widest == table->n_columns || layout->columns[i] > layout->columns[widest]))
                                widest = i;
                if (widest == table->n_columns)
                        return;
                layout->columns[widest]--;
        }
}

static int lay_out(const Table *table, size_t width, Layout *ret) {
        Layout layout = { .columns = calloc(table->n_columns, sizeof(size_t)) };

        if (!layout.columns)
                return -ENOMEM;
        for (size_t i = 0; i < table->n_columns; i++) {
                bool any;

                layout.columns[i] = natural_columns(table, i, &any);
                if (table->columns[i].may_be_empty && !any)
                        layout.columns[i] = 0;
        }
        if (width > 0) {
                leave_out(table, &layout, width);
                cut(table, &layout, width);
        }
        *ret = layout;
        return 0;
}

/* -- drawing -- */

static void unref_table(struct libscols_table **table) {
        scols_unref_table(*table);
}

static int add_columns(struct libscols_table *drawn, const Table *table, const Layout *layout) {
        for (size_t i = 0; i < table->n_columns; i++) {
                const TableColumn *column = &table->columns[i];

                if (layout->columns[i] > 0 &&
                    !scols_table_new_column(drawn, column->heading, 0, column->right ? SCOLS_FL_RIGHT : 0))
                        return -ENOMEM;
        }
        return 0;
}

static int add_line(struct libscols_table *drawn, const Table *table, const Layout *layout, char *const *cells,
                    bool ascii) {
        struct libscols_line *line = scols_table_new_line(drawn, NULL);
        size_t at = 0;

        if (!line)
                return -ENOMEM;
        for (size_t i = 0; i < table->n_columns; i++) {
                if (layout->columns[i] == 0)
                        continue;

                bool whole = text_columns(cells[i]) <= layout->columns[i] ||
                             !(table->columns[i].truncate || table->columns[i].columns_max > 0);
                _cleanup_free_ char *text = whole ? strdup(cells[i]) : text_fit(cells[i], layout->columns[i], ascii);
                if (!text || scols_line_refer_data(line, at++, text) < 0)
                        return -ENOMEM;
                (void) TAKE_PTR(text); /* the line's now */
        }
        return 0;
}

static int draw(const Table *table, const Layout *layout, bool ascii, char **ret) {
        _cleanup_(unref_table) struct libscols_table *drawn = NULL;

        scols_init_debug(0);
        drawn = scols_new_table();
        if (!drawn || add_columns(drawn, table, layout) < 0)
                return -ENOMEM;
        for (size_t row = 0; row < table->n_rows; row++)
                if (add_line(drawn, table, layout, table->cells + row * table->n_columns, ascii) < 0)
                        return -ENOMEM;

        _cleanup_(utf8_scope_leave) Utf8Scope scope = utf8_scope_enter();
        scols_table_enable_noencoding(drawn, scope.ok);
        scols_table_set_termforce(drawn, SCOLS_TERMFORCE_NEVER);

        /* Printed by libsmartcols itself, it would not tell whether that worked. */
        return scols_print_table_to_string(drawn, ret);
}

int table_print(const Table *table, FILE *f, unsigned width, bool ascii) {
        _cleanup_(layout_clear) Layout layout = {};
        _cleanup_free_ char *text = NULL;

        int r = lay_out(table, width, &layout);
        if (r >= 0)
                r = draw(table, &layout, ascii, &text);
        if (r < 0)
                return r;

        errno = 0;
        if (fputs(text, f) < 0 || (*text && fputc('\n', f) < 0) || fflush(f) < 0)
                return errno > 0 ? -errno : -EIO;
        return 0;
}

/* SPDX-License-Identifier: MIT */

/*
 * libsmartcols lays out; its own encoding of unprintable bytes is turned off, for it would
 * encode the backslashes of text_escape() once more. Without it, it must never meet what is not valid in
 * its locale: it would measure that for ever. So it works in a UTF-8 locale, or encodes after all.
 */

#include "render/table.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdlib.h>

#include "render/columns.h"
#include "util/text.h"

struct Table {
        struct libscols_table *table;
        size_t n_columns;
};

Table *table_free(Table *table) {
        if (!table)
                return NULL;

        scols_unref_table(table->table);
        free(table);
        return NULL;
}

static int add_columns(Table *table, const TableColumn *columns) {
        for (size_t i = 0; i < table->n_columns; i++) {
                int flags = (columns[i].right ? SCOLS_FL_RIGHT : 0) | (columns[i].truncate ? SCOLS_FL_TRUNC : 0);

                if (!scols_table_new_column(table->table, columns[i].heading, 0, flags))
                        return -ENOMEM;
        }
        return 0;
}

int table_new(Table **ret, const TableColumn *columns, size_t n_columns) {
        _cleanup_(table_freep) Table *table = calloc(1, sizeof *table);

        scols_init_debug(0);
        if (!table || !(table->table = scols_new_table()))
                return -ENOMEM;

        table->n_columns = n_columns;
        if (add_columns(table, columns) < 0)
                return -ENOMEM;

        *ret = TAKE_PTR(table);
        return 0;
}

int table_add_row(Table *table, const char *const *cells) {
        struct libscols_line *line = scols_table_new_line(table->table, NULL);
        if (!line)
                return -ENOMEM;

        for (size_t i = 0; i < table->n_columns; i++) {
                _cleanup_free_ char *text = text_escape(cells[i] ?: "-");

                if (!text || scols_line_refer_data(line, i, text) < 0)
                        return -ENOMEM;
                (void) TAKE_PTR(text); /* the line's now */
        }
        return 0;
}

int table_print(Table *table, FILE *f) {
        _cleanup_(utf8_scope_leave) Utf8Scope scope = utf8_scope_enter();
        char *text;

        scols_table_enable_noencoding(table->table, scope.ok);

        /* Printed by libsmartcols itself, it would not tell whether that worked. */
        scols_table_set_stream(table->table, f);
        int r = scols_print_table_to_string(table->table, &text);
        if (r < 0)
                return r;

        _cleanup_free_ char *owned = text;
        errno = 0;
        if (fputs(owned, f) < 0 || (*owned && fputc('\n', f) < 0) || fflush(f) < 0)
                return errno > 0 ? -errno : -EIO;

        return 0;
}

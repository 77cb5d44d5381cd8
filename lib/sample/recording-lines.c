/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "sample/recording-lines.h"
#include "util/cleanup.h"
#include "util/macro.h"
#include "util/parse.h"

int lines_wrong(const Lines *l, Error *error, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;

        va_start(ap, format);
        int r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r < 0)
                text = NULL;
        return error_set(error, ERROR_USAGE, EINVAL, "%s:%" PRIu64 ": %s", l->name, l->number, text ?: "wrong");
}

static bool is_control(int c) {
        return (c >= 0 && c < ' ' && c != '\t' && c != '\r') || c == 0x7f;
}

#define FORM_BYTES 16

/* What people have at hand beside a recording, by its first bytes. */
static const struct {
        const char *begin;
        const char *says;
} other_forms[] = {
        { "\x1f\x8b", "is compressed: unpack it first, as in 'zcat FILE | plateau import -'" },
        { "\x28\xb5\x2f\xfd", "is compressed: unpack it first, as in 'zstdcat FILE | plateau import -'" },
        { "\xfd" "7zXZ", "is compressed: unpack it first, as in 'xzcat FILE | plateau import -'" },
        { "BZh", "is compressed: unpack it first, as in 'bzcat FILE | plateau import -'" },
        { "PK\x03\x04", "is an archive, as spreadsheets are: save the table as CSV" },
        { "\xff\xfe", "is UTF-16: save it as UTF-8" },
        { "SQLite format 3", "is a database: name it with --db" },
        { "{", "is JSON: CSV is read ('plateau export --format csv'), and fio's interval logs (write_iops_log with "
               "log_avg_msec)" },
};

/* Once, for the first line that is not blank; length bytes of it have been read. */
static int check_form(Lines *l, size_t length, Error *error) {
        if (l->begun)
                return 0;
        l->begun = true;
        size_t blanks = strspn(l->line, " ");
        for (size_t i = 0; i < ELEMENTSOF(other_forms); i++) {
                size_t n = strlen(other_forms[i].begin);
                if (length >= blanks + n && memcmp(l->line + blanks, other_forms[i].begin, n) == 0)
                        return error_set(error, ERROR_USAGE, EINVAL, "%s %s", l->name, other_forms[i].says);
        }
        return 0;
}

/* length bytes have been read, and then c, which does not belong there unless the line is too long. */
static int no_text(Lines *l, size_t length, int c, Error *error) {
        /* Enough to know other forms by. */
        for (int more = c; length < FORM_BYTES && more != EOF; more = getc_unlocked(l->f))
                l->line[length++] = (char) more;
        l->line[length] = '\0';
        int r = check_form(l, length, error);
        if (r < 0)
                return r;
        if (is_control(c))
                return lines_wrong(l, error, "not a line of text: there is a byte %d in it", c);
        return lines_wrong(l, error, "not a line of text: it is longer than %d bytes", LINE_BYTES_MAX - 1);
}

/* 1; 0 at the end. */
static int read_line(Lines *l, Error *error) {
        static const char mark[] = "\xef\xbb\xbf"; /* that spreadsheets begin UTF-8 with */
        size_t n = 0;
        int c;

        l->number++;
        errno = 0;
        while ((c = getc_unlocked(l->f)) != EOF && c != '\n') {
                if (is_control(c) || n == LINE_BYTES_MAX - 1)
                        return no_text(l, n, c, error);
                l->line[n++] = (char) c;
        }
        if (ferror(l->f))
                return error_set(error, ERROR_USAGE, errno ?: EIO, "cannot read %s: %s", l->name,
                                 strerrordesc_np(errno ?: EIO));
        l->cut_off = c == EOF;
        if (l->cut_off && n == 0)
                return 0;
        if (n > 0 && l->line[n - 1] == '\r')
                n--;
        l->line[n] = '\0';
        if (l->number == 1 && n >= strlen(mark) && memcmp(l->line, mark, strlen(mark)) == 0)
                memmove(l->line, l->line + strlen(mark), n - strlen(mark) + 1);
        return 1;
}

/* One field from *p on; moves *p to what comes next. Returns whether a separator says that there is another field. */
static bool field_cut(char **p, char **ret) {
        bool quoted = **p == '"';
        char *start = *p + quoted, *stop = start + strcspn(start, quoted ? "\"" : ",;\t ");

        *p = stop + (quoted && *stop == '"');
        *p += strspn(*p, " ");
        bool more = **p != '\0' && strchr(",;\t", **p);
        if (more)
                (*p)++;
        *p += strspn(*p, " ");
        *stop = '\0';
        *ret = start;
        return more;
}

static int cut_fields(Lines *l, Error *error) {
        char *p = l->line + strspn(l->line, " ");
        bool more = *p != '\0';

        l->decimal_commas = strpbrk(p, ";\t") && strchr(p, ',');
        for (l->n_fields = 0; more; l->n_fields++) {
                if (l->n_fields == LINE_FIELDS_MAX)
                        return lines_wrong(l, error, "more than %d columns", LINE_FIELDS_MAX);
                more = field_cut(&p, &l->fields[l->n_fields]) || *p != '\0';
        }
        return 0;
}

int lines_next(Lines *l, Error *error) {
        int r;

        while ((r = read_line(l, error)) > 0) {
                if (l->line[0] == '#' || l->line[strspn(l->line, " ")] == '\0')
                        continue;
                r = check_form(l, strlen(l->line), error);
                if (r >= 0)
                        r = cut_fields(l, error);
                return r < 0 ? r : 1;
        }
        return r;
}

int lines_number(const Lines *l, size_t i, double min, double max, const char *what, double *ret, Error *error) {
        double value;
        int r = parse_double(l->fields[i], &value);

        if (r == -ENOMEM)
                return r;
        if (r < 0 || value < min || value > max)
                return lines_wrong(l, error, "%s is '%s', expected a number from %g to %g%s", what, l->fields[i], min,
                                   max, strchr(l->fields[i], ',') ? ", written as 1234.5" : "");
        *ret = value;
        return 0;
}

int lines_integer(const Lines *l, size_t i, uint64_t max, const char *what, uint64_t *ret, Error *error) {
        if (parse_u64_range(l->fields[i], 0, max, ret) < 0)
                return lines_wrong(l, error, "%s is '%s', expected a whole number from 0 to %" PRIu64, what,
                                   l->fields[i], max);
        return 0;
}

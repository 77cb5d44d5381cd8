/* SPDX-License-Identifier: MIT */

#include <langinfo.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "output.h"
#include "run/status.h"
#include "util/macro.h"
#include "util/parse.h"
#include "util/text.h"

#define WIDTH_DEFAULT 80U
#define WIDTH_MIN 40U
#define WIDTH_MAX 1000U

int output_json(Cli *cli, json_object *document, bool one_line) {
        cli->output_begun = true;
        return json_print(document, one_line, stdout);
}

static int write_json(FILE *f, json_object *value, const char *before, size_t cut) {
        _cleanup_free_ char *text = json_to_text(value, true);

        if (!text)
                return -ENOMEM;
        size_t length = strlen(text);
        fputs(before, f);
        errno = 0;
        if (fwrite(text, 1, length - cut, f) != length - cut)
                return errno > 0 ? -errno : -EIO;
        return 0;
}

/* The head without its closing brace, and the array's name. */
static int write_head(FILE *f, json_object *head, const char *before, const char *name) {
        _cleanup_json_ json_object *object = head;

        if (!object)
                return -ENOMEM;
        int r = write_json(f, object, before, 1);
        if (r < 0)
                return r;
        return fprintf(f, "%s\"%s\":[", json_object_object_length(object) > 0 ? "," : "", name) < 0 ? -EIO : 0;
}

int output_array_begin(OutputArray *ret, Cli *cli, FILE *f, json_object *head, const char *name) {
        if (f == stdout)
                cli->output_begun = true;
        *ret = (OutputArray) { .f = f };
        return write_head(f, head, "", name);
}

int output_array_add(OutputArray *array, json_object *element) {
        _cleanup_json_ json_object *object = element;

        if (!object)
                return -ENOMEM;
        int r = write_json(array->f, object, array->any ? ",\n" : "\n", 0);
        array->any = true;
        return r;
}

int output_array_end(OutputArray *array) {
        return fputs("]}\n", array->f) < 0 ? -EIO : 0;
}

int output_array_next(OutputArray *array, const char *name) {
        array->any = false;
        return fprintf(array->f, "],\"%s\":[", name) < 0 ? -EIO : 0;
}

int output_array_enter(OutputArray *ret, OutputArray *outer, json_object *head, const char *name) {
        const char *before = outer->any ? ",\n" : "\n";

        outer->any = true;
        *ret = (OutputArray) { .f = outer->f };
        return write_head(outer->f, head, before, name);
}

int output_array_leave(OutputArray *array) {
        return fputs("]}", array->f) < 0 ? -EIO : 0;
}

static int error_json(Cli *cli, const Error *error) {
        _cleanup_json_ json_object *document = json_object_new_object();
        json_object *inner = json_object_new_object();

        if (!document || !inner)
                return -ENOMEM;
        json_add_string(inner, "code", status_code(error->kind));
        json_add_string(inner, "message", error_message(error));
        json_add(document, "error", inner);
        return output_json(cli, document, true);
}

int output_error(Cli *cli, const Error *error) {
        if (!cli->json || cli->output_begun || error_json(cli, error) < 0)
                output_notice("%s", error_message(error));
        return status_exit(error->kind);
}

void output_notice(const char *format, ...) {
        _cleanup_free_ char *text = NULL, *escaped = NULL;
        va_list ap;

        va_start(ap, format);
        int r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r < 0) {
                text = NULL;
                return;
        }

        escaped = text_escape(text);
        fprintf(stderr, "plateau: %s\n", escaped ?: "out of memory");
}

static bool nobody_reads(int fd) {
        struct pollfd p = { .fd = fd, .events = POLLOUT };
        return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

int output_finish(int status) {
        bool failed = ferror(stdout);

        errno = 0;
        if (fflush(stdout) != 0)
                failed = true;
        int saved = errno;
        if (!failed)
                return status;
        if (saved != EPIPE && !nobody_reads(STDOUT_FILENO))
                output_notice("cannot write the output%s%s", saved ? ": " : "", saved ? strerror(saved) : "");
        return status_exit(ERROR_FAILED);
}

static uint64_t columns_known(void) {
        struct winsize size = {};
        uint64_t columns;

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
                return size.ws_col;
        const char *s = getenv("COLUMNS");
        return s && parse_u64(s, &columns) == 0 ? columns : 0;
}

static unsigned bounded_columns(uint64_t columns) {
        return columns < WIDTH_MIN ? WIDTH_MIN : columns > WIDTH_MAX ? WIDTH_MAX : (unsigned) columns;
}

unsigned output_width(void) {
        return bounded_columns(columns_known() ?: WIDTH_DEFAULT);
}

int output_table(const Table *table) {
        uint64_t columns = columns_known();

        if (columns == 0 && isatty(STDOUT_FILENO))
                columns = WIDTH_DEFAULT;
        return table_print(table, stdout, columns > 0 ? bounded_columns(columns) : 0, !output_is_utf8());
}

unsigned output_rows(void) {
        struct winsize size = {};

        return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool output_is_utf8(void) {
        return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

const char *output_format_time(int64_t realtime_ns, char *buf) {
        time_t t = (time_t) (realtime_ns / (int64_t) NSEC_PER_SEC);
        struct tm tm;

        if (realtime_ns == 0 || !localtime_r(&t, &tm) || strftime(buf, OUTPUT_TIME_MAX, "%Y-%m-%d %H:%M:%S", &tm) == 0)
                memcpy(buf, "-", sizeof("-"));
        return buf;
}

const char *output_format_latency(uint64_t ns, char *buf) {
        static const struct {
                const char *unit;
                double ns;
        } units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
        size_t i = 0;

        /* Half a digit below the unit, since 999.7 us would be written as 1e+03. */
        while (i + 1 < ELEMENTSOF(units) && (double) ns < units[i].ns * 0.9995)
                i++;

        double value = (double) ns / units[i].ns;
        int decimals = i + 1 == ELEMENTSOF(units) || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
        snprintf(buf, OUTPUT_LATENCY_MAX, "%.*f %s", decimals, value, units[i].unit);
        return buf;
}

char *output_text(const char *s) {
        return s ? text_escape(s) : strdup("-");
}

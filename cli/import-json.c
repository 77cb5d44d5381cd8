/* SPDX-License-Identifier: MIT */

/*
 * The document is not read as a whole: of weeks it has millions of samples. Each is an object in a list in the
 * document, whatever the blanks between; so brackets are counted until one begins at that depth, and only it is parsed.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "import-json.h"
#include "render/json.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define SAMPLE_BYTES_MAX 16384 /* some thirty numbers */
#define SAMPLE_DEPTH 2         /* in the document and in a list of it */

/* Of the same name as in CSV, but for the duration. */
static const struct {
        const char *name;
        const char *otherwise; /* where there is none */
        bool is_flag;          /* true or false; elsewhere neither is a number */
} columns[] = {
        { "elapsed_s", "" },        { "read_ios", "0" },      { "write_ios", "0" },
        { "trim_ios", "0" },        { "read_bytes", "0" },    { "write_bytes", "0" },
        { "trim_bytes", "0" },      { "phase", "" },          { "at", "" },
        { "read_latency_ns", "" },  { "write_latency_ns", "" }, { "trim_latency_ns", "" },
        { "latency_mean_ns", "" },  { "latency_p50_ns", "" }, { "latency_p99_ns", "" },
        { "latency_max_ns", "" },   { "errors", "" },         { "in_flight", "" },
        { "oldest_io_ns", "" },     { "cpu_percent", "" },    { "worker_cpu_percent", "" },
        { "ring_cpu_percent", "" }, { "held_percent", "" },   { "temperature_c", "" },
        { "ramp", "0", true },
};

typedef struct Scanner {
        FILE *from, *to;
        const char *name;
        size_t depth;
        bool in_string, escaped;
        char object[SAMPLE_BYTES_MAX];
        size_t length; /* of the object that is being read; 0: none is */
        uint64_t n_samples;
} Scanner;

static int no_samples(const Scanner *scanner, Error *error) {
        return error_set(error, ERROR_USAGE, EINVAL,
                         "%s is JSON, but not of samples: what 'plateau export --format json' writes is read, CSV, and "
                         "fio's interval logs (write_iops_log with log_avg_msec)", scanner->name);
}

static int wrong_sample(const Scanner *scanner, const char *says, Error *error) {
        return error_set(error, ERROR_USAGE, EINVAL, "%s: sample %" PRIu64 " %s", scanner->name, scanner->n_samples,
                         says);
}

/* As it stands in the document, so that no digit is lost. What is no plain value would be cut into columns. */
static int put_value(const Scanner *scanner, json_object *sample, size_t column, Error *error) {
        json_object *value = json_object_object_get(sample, columns[column].name);
        const char *text = value ? json_object_get_string(value) : columns[column].otherwise;

        if (!text)
                return -ENOMEM;
        if (json_object_is_type(value, json_type_boolean) && columns[column].is_flag)
                text = json_object_get_boolean(value) ? "1" : "0";
        else if (json_object_is_type(value, json_type_boolean) || text[strcspn(text, ",;\"# \t\r\n")] != '\0')
                return wrong_sample(scanner, "has a value that is no number and no time", error);
        fprintf(scanner->to, ",%s", text);
        return 0;
}

static int put_sample(const Scanner *scanner, json_object *sample, Error *error) {
        json_object *duration = json_object_object_get(sample, "duration_ns");
        int r = 0;

        if (!json_object_object_get(sample, "elapsed_s") || !duration)
                return no_samples(scanner, error);
        uint64_t ns = json_object_get_uint64(duration);
        fprintf(scanner->to, "%" PRIu64 ".%09" PRIu64, ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(columns); i++)
                r = put_value(scanner, sample, i, error);
        putc('\n', scanner->to);
        return r;
}

static int end_object(Scanner *scanner, Error *error) {
        _cleanup_json_ json_object *sample = NULL;

        scanner->object[scanner->length] = '\0';
        scanner->length = 0;
        scanner->n_samples++;
        sample = json_tokener_parse(scanner->object);
        if (!sample || !json_object_is_type(sample, json_type_object))
                return wrong_sample(scanner, "is no JSON", error);
        return put_sample(scanner, sample, error);
}

static int scan(Scanner *scanner, char c, Error *error) {
        bool string = scanner->in_string;

        if (string) {
                scanner->in_string = scanner->escaped || c != '"';
                scanner->escaped = c == '\\' && !scanner->escaped;
        } else if (c == '"')
                scanner->in_string = true;
        bool opens = !string && (c == '{' || c == '['), closes = !string && (c == '}' || c == ']');
        bool begins = opens && c == '{' && scanner->depth == SAMPLE_DEPTH && scanner->length == 0;

        if (begins || scanner->length > 0) {
                if (scanner->length == SAMPLE_BYTES_MAX - 1)
                        return no_samples(scanner, error);
                scanner->object[scanner->length++] = c;
        }
        if (opens)
                scanner->depth++;
        else if (closes && scanner->depth > 0 && --scanner->depth == SAMPLE_DEPTH && scanner->length > 0)
                return end_object(scanner, error);
        return 0;
}

static int scan_all(Scanner *scanner, Error *error) {
        int c, r = 0;

        fputs("duration_s", scanner->to);
        for (size_t i = 0; i < ELEMENTSOF(columns); i++)
                fprintf(scanner->to, ",%s", columns[i].name);
        putc('\n', scanner->to);
        errno = 0;
        while (r >= 0 && (c = getc_unlocked(scanner->from)) != EOF)
                r = scan(scanner, (char) c, error);
        if (r >= 0 && ferror(scanner->from))
                return error_set(error, ERROR_USAGE, errno ?: EIO, "cannot read %s: %s", scanner->name,
                                 strerrordesc_np(errno ?: EIO));
        if (r >= 0 && scanner->n_samples == 0)
                return no_samples(scanner, error);
        if (r >= 0 && scanner->depth > 0)
                return error_set(error, ERROR_USAGE, EINVAL, "%s is cut off after sample %" PRIu64, scanner->name,
                                 scanner->n_samples);
        return r;
}

int import_json_to_csv(FILE *f, const char *name, FILE **ret, Error *error) {
        _cleanup_free_ Scanner *scanner = calloc(1, sizeof(Scanner));
        _cleanup_close_ int fd = memfd_create("samples", MFD_CLOEXEC);
        _cleanup_fclose_ FILE *csv = fd >= 0 ? fdopen(fd, "w+") : NULL;

        if (!scanner || !csv)
                return error_set(error, ERROR_FAILED, ENOMEM, "%s: not enough memory", name);
        TAKE_FD(fd);
        scanner->from = f;
        scanner->to = csv;
        scanner->name = name;
        int r = scan_all(scanner, error);
        if (r < 0)
                return r;
        if (fflush(csv) != 0 || ferror(csv))
                return error_set(error, ERROR_FAILED, ENOMEM, "%s: not enough memory", name);
        rewind(csv);
        *ret = TAKE_PTR(csv);
        return 0;
}

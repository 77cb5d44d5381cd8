/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "import-json.h"
#include "live.h"
#include "output.h"
#include "phrase.h"
#include "recorded-run.h"
#include "util/macro.h"
#include "util/parse.h"
#include "util/text.h"
#include "util/time.h"

typedef struct Import {
        RecordingFormat format; /* RECORDING_CSV also of JSON, which is read as such */
        bool json;
        RecordingKind kind;
        uint64_t block_bytes, capacity_bytes; /* 0: not told */
        Recording *recording;
        RecordingSeries series;
        char *name;
        const char **used; /* names of the files of which the run is made */
        size_t n_used;
        char *source;
        struct {
                dev_t dev;
                ino_t ino;
        } *seen; /* the files so far */
        size_t n_seen;
        int interrupt_fd;
} Import;

static void import_done(Import *import) {
        recording_series_done(&import->series);
        recording_free(import->recording);
        free(import->name);
        free(import->source);
        free(import->used);
        free(import->seen);
        fd_close(import->interrupt_fd);
}

/* --- files --- */

static const char *shown_name(const char *path) {
        return strcmp(path, "-") == 0 ? "stdin" : path;
}

/* A file that is named twice would count twice. */
static int remember(Import *import, const char *path, const struct stat *st, Error *error) {
        for (size_t i = 0; i < import->n_seen; i++)
                if (import->seen[i].dev == st->st_dev && import->seen[i].ino == st->st_ino)
                        return error_set(error, ERROR_USAGE, EINVAL, "%s is named twice", shown_name(path));
        import->seen[import->n_seen].dev = st->st_dev;
        import->seen[import->n_seen++].ino = st->st_ino;
        return 0;
}

/* What is named by mistake for a recording; NULL: nothing of the kind. */
static const char *other_kind(const struct stat *st) {
        if (S_ISDIR(st->st_mode))
                return "a directory: name the files in it";
        if (S_ISBLK(st->st_mode))
                return "a block device, where a recording is expected";
        if (S_ISSOCK(st->st_mode))
                return "a socket, where a recording is expected";
        return NULL;
}

/* Does not wait for somebody to open the other end of a FIFO: one that nobody writes to is empty. */
static int open_file(const char *path) {
        int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                        : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0)
                return -errno;
        int flags = fcntl(fd, F_GETFL);
        if (strcmp(path, "-") != 0 && flags >= 0)
                fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
        return fd;
}

static int open_recording(Import *import, const char *path, FILE **ret, Error *error) {
        struct stat st;

        _cleanup_close_ int fd = open_file(path);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set(error, ERROR_USAGE, fd < 0 ? -fd : errno, "cannot read %s: %s", shown_name(path),
                                 strerrordesc_np(fd < 0 ? -fd : errno));
        const char *other = other_kind(&st);
        if (other)
                return error_set(error, ERROR_USAGE, EINVAL, "%s is %s", shown_name(path), other);
        int r = remember(import, path, &st, error);
        if (r < 0)
                return r;
        *ret = fdopen(fd, "r");
        if (!*ret)
                return -ENOMEM;
        TAKE_FD(fd);
        return 0;
}

/* Neither fio's logs nor CSV begin so. */
static bool is_json(FILE *f) {
        int c = getc(f);

        return c != EOF && ungetc(c, f) == '{';
}

static int add_file(Import *import, const char *path, Error *error) {
        _cleanup_fclose_ FILE *f = NULL, *csv = NULL;
        const char *name = shown_name(path);
        RecordingFormat format = import->format;
        RecordingNotes notes;

        int r = open_recording(import, path, &f, error);
        if (r >= 0 && (import->json || (format == RECORDING_GUESSED && is_json(f)))) {
                format = RECORDING_CSV;
                r = import_json_to_csv(f, name, &csv, error);
        }
        if (r >= 0)
                r = recording_add(import->recording, name, csv ?: f, format, import->kind, &notes, error);
        if (r < 0)
                return r;
        if (notes.left_out)
                output_notice("%s is left out: %s", name, notes.left_out);
        else
                import->used[import->n_used++] = name;
        if (notes.open_line > 0)
                output_notice("%s:%" PRIu64 ": the last line has no end; if the file was cut off there, its last value "
                              "is wrong", name, notes.open_line);
        if (notes.line_at_zero > 0)
                output_notice("%s:%" PRIu64 ": an interval that ends at 0 has no length and is left out; the time is "
                              "expected to be that of an interval's end", name, notes.line_at_zero);
        if (notes.unknown_columns[0] != '\0')
                output_notice("%s: columns that are not read: %s", name, notes.unknown_columns);
        return 0;
}

/* "a_iops.1.log, a_clat.1.log" */
static int name_source(Import *import) {
        size_t length;

        FILE *f = open_memstream(&import->source, &length);
        if (!f)
                return -ENOMEM;
        for (size_t i = 0; i < import->n_used; i++)
                fprintf(f, "%s%s", i > 0 ? ", " : "", basename(import->used[i]));
        return fclose(f) == 0 ? 0 : -ENOMEM;
}

/* What the names of a run's logs have in common: "night_iops.1.log" is of "night", "night.csv" too. */
static char *default_name(const char *path) {
        static const char *const ends[] = { "_iops.", "_bw.", "_lat.", "_clat.", ".iops.", ".bw.", ".lat.", ".clat.",
                                            ".log", ".csv", ".tsv", ".txt", ".json" };
        const char *name = basename(shown_name(path));
        size_t length = strlen(name);

        for (size_t i = 0; i < ELEMENTSOF(ends); i++) {
                const char *end = strstr(name, ends[i]);
                if (end && end > name)
                        length = MIN(length, (size_t) (end - name));
        }
        return strndup(name, length);
}

static int read_files(Import *import, const Arguments *arguments, Error *error) {
        const char *name = arguments_value(arguments, "name");

        if (name && strlen(name) > JOB_NAME_MAX)
                return error_set(error, ERROR_USAGE, ENAMETOOLONG,
                                 "--name: %zu bytes are too many; the name of a run has %d at most", strlen(name),
                                 JOB_NAME_MAX);
        import->seen = calloc(arguments->n_words, sizeof(*import->seen));
        import->used = calloc(arguments->n_words, sizeof(*import->used));
        if (!import->seen || !import->used)
                return -ENOMEM;
        import->name = name ? strdup(name) : default_name(arguments->words[0]);
        int r = import->name ? recording_new(&import->recording, import->block_bytes) : -ENOMEM;
        for (size_t i = 0; r >= 0 && i < arguments->n_words; i++)
                r = add_file(import, arguments->words[i], error);
        if (r >= 0)
                r = recording_get_series(import->recording, &import->series, error);
        return r < 0 ? r : name_source(import);
}

/* --- options --- */

static int read_size(const Arguments *arguments, const char *name, uint64_t max, uint64_t *ret, Error *error) {
        const char *value = arguments_value(arguments, name);

        *ret = 0;
        if (!value)
                return 0;
        if (parse_size(value, ret) < 0 || *ret == 0 || *ret > max)
                return error_set(error, ERROR_USAGE, EINVAL, "--%s %s: expected bytes, as in 4096, 4k, 745g", name,
                                 value);
        return 0;
}

static int read_format(const Arguments *arguments, Import *import, Error *error) {
        const char *value = arguments_value(arguments, "format");

        import->json = value && strcmp(value, "json") == 0;
        if (!value)
                import->format = RECORDING_GUESSED;
        else if (strcmp(value, "fio") == 0)
                import->format = RECORDING_FIO;
        else if (strcmp(value, "csv") == 0 || import->json)
                import->format = RECORDING_CSV;
        else
                return error_set(error, ERROR_USAGE, EINVAL, "--format %s: expected fio, csv or json", value);
        return 0;
}

static int read_options(Import *import, const Arguments *arguments, Error *error) {
        const char *kind = arguments_value(arguments, "kind");

        if (kind && recording_kind_from_name(kind, &import->kind) < 0)
                return error_set(error, ERROR_USAGE, EINVAL, "--kind %s: expected iops, bw or lat", kind);
        int r = read_format(arguments, import, error);
        if (r >= 0)
                r = read_size(arguments, "bs", JOB_BLOCK_BYTES_MAX, &import->block_bytes, error);
        if (r >= 0)
                r = read_size(arguments, "capacity", INT64_MAX, &import->capacity_bytes, error);
        return r;
}

/* --- the run --- */

static int insert(const Cli *cli, const Import *import, const Arguments *arguments, uint32_t *ret_run, Error *error) {
        _cleanup_store_ Store *store = NULL;
        const RecordedRun recorded = {
                .name = import->name,
                .source = import->source,
                .device_path = basename(import->used[0]),
                .serial = arguments_value(arguments, "serial"),
                .capacity_bytes = import->capacity_bytes,
                .block_bytes = import->block_bytes,
                .series = &import->series,
        };

        int r = store_open_writer(&store, cli->database, error);
        if (r < 0) {
                if (r == -EACCES || r == -ENOENT || r == -EROFS)
                        error_prefix(error, "name a file that may be written with --db");
                return r;
        }
        return recorded_run_insert(store, &recorded, import->interrupt_fd, ret_run, error);
}

/* A load that changes is no change of the drive, and must not be taken for one by whoever looks at the curve either. */
static void tell_changes(const RecordingSeries *series) {
        char span[TIME_SPAN_MAX];

        for (size_t i = 0; i < series->n_changes; i++)
                output_notice("%s after %s, while others went on: phase %" PRIu32 " begins, which is judged by itself",
                              series->changes[i].text, time_format_span(series->changes[i].at_ns, span),
                              series->changes[i].phase);
}

#define MISSING_TEXT_MAX 160

/* A row that is missing says that the drive did nothing, or that somebody lost it. */
static const char *missing_text(const RecordingSeries *series, char buf[static MISSING_TEXT_MAX]) {
        bool one = series->n_missing == 1;
        char span[TIME_SPAN_MAX];

        snprintf(buf, MISSING_TEXT_MAX, "%" PRIu64 " interval%s of %zu %s no row, %s after %s: %s recorded as no I/O",
                 series->n_missing, one ? "" : "s", series->n, one ? "has" : "have", one ? "that" : "the first",
                 time_format_span(series->missing_from_ns, span), one ? "it is" : "they are");
        return buf;
}

static int add_notices_json(json_object *document, const RecordingSeries *series) {
        json_object *notices = json_object_new_array();
        char text[MISSING_TEXT_MAX];

        if (!notices)
                return -ENOMEM;
        json_add(document, "notices", notices);
        json_add_u64(document, "n_missing", series->n_missing);
        if (series->n_missing > 0)
                json_append_string(notices, missing_text(series, text));
        return 0;
}

static int add_changes_json(json_object *document, const RecordingSeries *series) {
        json_object *changes = json_object_new_array();

        if (!changes)
                return -ENOMEM;
        json_add(document, "changes", changes);
        for (size_t i = 0; i < series->n_changes; i++) {
                json_object *change = json_object_new_object();
                if (!change)
                        return -ENOMEM;
                json_add_u64(change, "phase", series->changes[i].phase);
                json_add_seconds(change, "at_s", series->changes[i].at_ns);
                json_add_string(change, "text", series->changes[i].text);
                json_object_array_add(changes, change);
        }
        return 0;
}

static int print_json(Cli *cli, const Import *import, uint32_t run) {
        const RecordingSeries *series = &import->series;
        _cleanup_json_ json_object *document = json_object_new_object();

        if (!document)
                return -ENOMEM;
        json_add_u64(document, "run", run);
        json_add_u64(document, "n_samples", series->n);
        json_add_seconds(document, "elapsed_s", series->rows[series->n - 1].to_ns);
        if (series->assumed_block_bytes > 0)
                json_add_u64(document, "assumed_bs", series->assumed_block_bytes);
        else
                json_add_null(document, "assumed_bs");
        if (add_changes_json(document, series) < 0 || add_notices_json(document, series) < 0)
                return -ENOMEM;
        return output_json(cli, document, false);
}

static int print_run(Cli *cli, const Import *import, uint32_t run) {
        const RecordingSeries *series = &import->series;
        char span[TIME_SPAN_MAX], size[TEXT_SIZE_MAX];
        _cleanup_free_ char *source = NULL;

        if (cli->json)
                return print_json(cli, import, run);
        source = text_escape(import->source);
        if (!source)
                return -ENOMEM;
        int r = printf("run %" PRIu32 ": %zu interval%s, %s, from %s\n", run, series->n, plural(series->n),
                       time_format_span(series->rows[series->n - 1].to_ns, span), source);
        if (r >= 0 && series->assumed_block_bytes > 0)
                r = printf("The size of an I/O is not told: %s is assumed, --bs says otherwise.\n",
                           text_format_size(series->assumed_block_bytes, size));
        return r < 0 ? -EIO : 0;
}

static int import_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(import_done) Import import = { .interrupt_fd = -EBADF };
        char missing[MISSING_TEXT_MAX];
        uint32_t run = 0;

        int r = read_options(&import, arguments, error);
        if (r >= 0)
                r = read_files(&import, arguments, error);
        if (r < 0)
                return r;

        tell_changes(&import.series);
        if (import.series.n_missing > 0)
                output_notice("%s", missing_text(&import.series, missing));
        /* From here on Ctrl-C must not leave half a run behind. */
        import.interrupt_fd = live_interrupt_fd();
        if (import.interrupt_fd < 0)
                return import.interrupt_fd;
        r = insert(cli, &import, arguments, &run, error);
        if (r == -EINTR)
                return EXIT_STATUS_INTERRUPTED;
        return r < 0 ? r : print_run(cli, &import, run);
}

const Verb verb_import = {
        .name = "import",
        .summary = "make a run of what another tool recorded",
        .words = "FILE... [--format fio|csv|json] [--name N] [--serial S] [--capacity BYTES] [--bs BYTES] "
                 "[--kind iops|bw|lat]",
        .description = "Reads fio's interval logs (write_iops_log and its like, with log_avg_msec), CSV, or the JSON "
                       "of 'export', all files of one run together, and adds a run that every other verb can work "
                       "with. '-' is standard input. Needs no service, and creates the database if there is none.",
        .n_words_min = 1,
        .n_words_max = SIZE_MAX,
        .uses_database = true,
        .options = (const Option[]) {
                { .name = "format", .argument = "fio|csv|json",
                  .help = "of the files; otherwise their first line tells" },
                { .name = "name", .argument = "N", .help = "of the run; otherwise the first file's" },
                { .name = "serial", .argument = "S", .help = "of the drive" },
                { .name = "capacity", .argument = "BYTES", .help = "of the drive: steady states are judged by volume" },
                { .name = "bs", .argument = "BYTES", .help = "size of an I/O where the log does not tell; else 4k" },
                { .name = "kind", .argument = "iops|bw|lat",
                  .help = "what fio's logs hold, where their names do not tell" },
                {},
        },
        .run = import_run,
};

/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "live.h"
#include "output.h"
#include "recorded-run.h"
#include "util/macro.h"
#include "util/parse.h"
#include "util/text.h"
#include "util/time.h"

#define FILE_BYTES_MAX (UINT64_C(2) << 30)
#define READ_BYTES_MIN (64 * KIB)

typedef enum Format {
        FORMAT_GUESSED, /* from each file's first line */
        FORMAT_FIO,
        FORMAT_CSV,
} Format;

typedef struct Import {
        Format format;
        RecordingKind kind;
        uint64_t block_bytes, capacity_bytes; /* 0: not told */
        Recording *recording;
        RecordingRow *rows;
        size_t n_rows;
        char *name;
        char *source;
        struct {
                dev_t dev;
                ino_t ino;
        } *seen; /* the files so far */
        size_t n_seen;
        int interrupt_fd;
} Import;

static void import_done(Import *import) {
        recording_free(import->recording);
        free(import->rows);
        free(import->name);
        free(import->source);
        free(import->seen);
        fd_close(import->interrupt_fd);
}

typedef struct Text {
        char *data;
        size_t length;
} Text;

static void text_done(Text *text) {
        free(text->data);
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

static int open_recording(Import *import, const char *path, Error *error) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        if (strcmp(path, "-") == 0)
                fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        else
                fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set(error, ERROR_USAGE, errno, "cannot read %s: %s", shown_name(path), strerror(errno));
        if (S_ISBLK(st.st_mode))
                return error_set(error, ERROR_USAGE, EINVAL, "%s is a block device, where a recording is expected",
                                 path);
        int r = remember(import, path, &st, error);
        return r < 0 ? r : TAKE_FD(fd);
}

static int read_recording(Import *import, const char *path, Text *ret, Error *error) {
        _cleanup_(text_done) Text text = {};
        size_t size = 0;

        _cleanup_close_ int fd = open_recording(import, path, error);
        if (fd < 0)
                return fd;
        for (;;) {
                if (text.length == size) {
                        size = MAX(size * 2, (size_t) READ_BYTES_MIN);
                        char *grown = size <= FILE_BYTES_MAX ? realloc(text.data, size) : NULL;
                        if (!grown)
                                return error_set(error, ERROR_FAILED, ENOMEM, "%s is too large", shown_name(path));
                        text.data = grown;
                }
                ssize_t n = read(fd, text.data + text.length, size - text.length);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return error_set(error, ERROR_USAGE, errno, "cannot read %s: %s", shown_name(path),
                                         strerror(errno));
                if (n == 0)
                        break;
                text.length += (size_t) n;
        }
        *ret = text;
        text = (Text){};
        return 0;
}

/* What people have at hand beside a log, and why it is none. */
static int check_form(const char *name, const Text *text, Error *error) {
        static const char gzip[] = "\x1f\x8b", zstd[] = "\x28\xb5\x2f\xfd";
        size_t blanks = 0;

        if ((text->length >= strlen(gzip) && memcmp(text->data, gzip, strlen(gzip)) == 0) ||
            (text->length >= strlen(zstd) && memcmp(text->data, zstd, strlen(zstd)) == 0))
                return error_set(error, ERROR_USAGE, EINVAL, "%s is compressed: unpack it first", name);
        while (blanks < text->length && strchr(" \t\r\n", text->data[blanks]))
                blanks++;
        if (blanks < text->length && text->data[blanks] == '{')
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s is JSON: of fio, its interval logs are needed (write_iops_log, log_avg_msec)",
                                 name);
        return 0;
}

static int add_file(Import *import, const char *path, Error *error) {
        _cleanup_(text_done) Text text = {};
        const char *name = shown_name(path), *unneeded;

        int r = read_recording(import, path, &text, error);
        if (r >= 0)
                r = check_form(name, &text, error);
        if (r < 0)
                return r;

        unneeded = import->format == FORMAT_CSV
                           ? NULL
                           : recording_unneeded(basename(name), text.data, text.length, import->kind);
        if (unneeded) {
                output_notice("%s is left out: %s", name, unneeded);
                return 0;
        }
        if (import->format == FORMAT_FIO ||
            (import->format == FORMAT_GUESSED && recording_is_fio(text.data, text.length)))
                return recording_add_fio(import->recording, name, text.data, text.length, import->kind, error);
        return recording_add_csv(import->recording, name, text.data, text.length, error);
}

/* "a_iops.1.log, a_clat.1.log" */
static int name_source(Import *import, const Arguments *arguments) {
        size_t length;

        FILE *f = open_memstream(&import->source, &length);
        if (!f)
                return -ENOMEM;
        for (size_t i = 0; i < arguments->n_words; i++)
                fprintf(f, "%s%s", i > 0 ? ", " : "", basename(shown_name(arguments->words[i])));
        return fclose(f) == 0 ? 0 : -ENOMEM;
}

/* What the names of a run's logs have in common: "night_iops.1.log" is of "night", "night.csv" too. */
static char *default_name(const char *path) {
        static const char *const ends[] = { "_iops.", "_bw.", "_lat.", "_clat.", ".iops.", ".bw.", ".lat.", ".clat.",
                                            ".log", ".csv", ".tsv", ".txt" };
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

        import->seen = calloc(arguments->n_words, sizeof(*import->seen));
        if (!import->seen)
                return -ENOMEM;
        import->name = name ? strdup(name) : default_name(arguments->words[0]);
        int r = import->name ? recording_new(&import->recording, import->block_bytes) : -ENOMEM;
        if (r >= 0)
                r = name_source(import, arguments);
        for (size_t i = 0; r >= 0 && i < arguments->n_words; i++)
                r = add_file(import, arguments->words[i], error);
        if (r >= 0)
                r = recording_get_rows(import->recording, &import->rows, &import->n_rows, error);
        return r;
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

static int read_format(const Arguments *arguments, Format *ret, Error *error) {
        const char *value = arguments_value(arguments, "format");

        if (!value)
                *ret = FORMAT_GUESSED;
        else if (strcmp(value, "fio") == 0)
                *ret = FORMAT_FIO;
        else if (strcmp(value, "csv") == 0)
                *ret = FORMAT_CSV;
        else
                return error_set(error, ERROR_USAGE, EINVAL, "--format %s: expected fio or csv", value);
        return 0;
}

static int read_options(Import *import, const Arguments *arguments, Error *error) {
        const char *kind = arguments_value(arguments, "kind");

        if (kind && recording_kind_from_name(kind, &import->kind) < 0)
                return error_set(error, ERROR_USAGE, EINVAL, "--kind %s: expected iops, bw or lat", kind);
        int r = read_format(arguments, &import->format, error);
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
                .database = cli->database,
                .name = import->name,
                .source = import->source,
                .device_path = basename(shown_name(arguments->words[0])),
                .serial = arguments_value(arguments, "serial"),
                .capacity_bytes = import->capacity_bytes,
                .block_bytes = import->block_bytes,
                .interval_ns = recording_interval_ns(import->recording),
                .rows = import->rows,
                .n_rows = import->n_rows,
        };

        int r = store_open_writer(&store, cli->database, error);
        if (r < 0) {
                if (r == -EACCES || r == -ENOENT || r == -EROFS)
                        error_prefix(error, "name a file that may be written with --db");
                return r;
        }
        return recorded_run_insert(store, &recorded, import->interrupt_fd, ret_run, error);
}

static int print_run(Cli *cli, const Import *import, uint32_t run) {
        char span[TIME_SPAN_MAX];
        _cleanup_free_ char *source = NULL;

        if (cli->json) {
                _cleanup_json_ json_object *document = json_object_new_object();
                if (!document)
                        return -ENOMEM;
                json_add_u64(document, "run", run);
                return output_json(cli, document, false);
        }
        source = text_escape(import->source);
        if (!source)
                return -ENOMEM;
        return printf("run %" PRIu32 ": %zu intervals, %s, from %s\n", run, import->n_rows,
                      time_format_span(import->rows[import->n_rows - 1].to_ns, span), source) < 0 ? -EIO : 0;
}

static int import_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(import_done) Import import = { .interrupt_fd = -EBADF };
        uint32_t run = 0;

        int r = read_options(&import, arguments, error);
        if (r >= 0)
                r = read_files(&import, arguments, error);
        if (r < 0)
                return r;

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
        .words = "FILE... [--format fio|csv] [--name N] [--serial S] [--capacity BYTES] [--bs BYTES] "
                 "[--kind iops|bw|lat]",
        .description = "Reads fio's interval logs (write_iops_log and its like, with log_avg_msec) or CSV, all files "
                       "of one run together, and adds a run that every other verb can work with. '-' is standard "
                       "input. "
                       "Needs no service, and creates the database if there is none.",
        .n_words_min = 1,
        .n_words_max = SIZE_MAX,
        .uses_database = true,
        .options = (const Option[]) {
                { .name = "format", .argument = "fio|csv", .help = "of the files; otherwise their first line tells" },
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

/* SPDX-License-Identifier: MIT */

/* The text of recordings: lines cut into fields, and what the fields of fio's logs and of CSV mean. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sample/recording-internal.h"
#include "util/macro.h"
#include "util/parse.h"

#define N_COLUMNS_MAX 64
#define LINE_MAX_BYTES 4096
#define TIME_MAX_S 1e10 /* also of clocks that began in 1970 */
#define VALUE_MAX 1e15
#define N_ROWS_MAX (UINT64_C(1) << 24)
#define N_JOBS_MAX 4096 /* in one file */

#define FIO_COLUMNS_MIN 3
#define FIO_COLUMNS_MAX 7

typedef struct Lines {
        const char *name;
        const char *text, *end;
        unsigned number;
        char line[LINE_MAX_BYTES];
        char *fields[N_COLUMNS_MAX];
        size_t n_fields;
        bool decimal_commas; /* there seem to be some: commas within columns that something else separates */
} Lines;

static Lines lines_of(const char *name, const char *text, size_t length) {
        static const char mark[] = "\xef\xbb\xbf"; /* that spreadsheets begin UTF-8 with */
        size_t skip = length >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0 ? strlen(mark) : 0;

        return (Lines){ .name = name, .text = text + skip, .end = text + length };
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

/* Cuts at commas, semicolons, tabs and blanks; blanks beside another separator do not count. -E2BIG. */
static int lines_cut(Lines *l) {
        char *p = l->line + strspn(l->line, " ");
        bool more = *p != '\0';

        for (l->n_fields = 0; more; l->n_fields++) {
                if (l->n_fields == N_COLUMNS_MAX)
                        return -E2BIG;
                more = field_cut(&p, &l->fields[l->n_fields]) || *p != '\0';
        }
        return 0;
}

/* The next line that is neither blank nor a comment, cut into fields: 1, 0 at the end, negative errno. */
static int lines_next(Lines *l, Error *error) {
        while (l->text < l->end) {
                const char *start = l->text, *newline = memchr(start, '\n', (size_t) (l->end - start));
                size_t length = (size_t) ((newline ?: l->end) - start);

                l->text = newline ? newline + 1 : l->end;
                l->number++;
                if (length >= LINE_MAX_BYTES || memchr(start, 0, length))
                        return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: not a line of text", l->name, l->number);
                if (length > 0 && start[length - 1] == '\r')
                        length--;
                memcpy(l->line, start, length);
                l->line[length] = 0;
                if (l->line[0] == '#')
                        continue;
                l->decimal_commas = strpbrk(l->line, ";\t") && strchr(l->line, ',');
                if (lines_cut(l) < 0)
                        return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: more than %d columns", l->name, l->number,
                                         N_COLUMNS_MAX);
                if (l->n_fields > 0)
                        return 1;
        }
        return 0;
}

static int field_number(const Lines *l, size_t i, double max, const char *what, double *ret, Error *error) {
        double value;
        int r = parse_double(l->fields[i], &value);

        if (r == -ENOMEM)
                return r;
        if (r < 0 || value < 0 || value > max)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %s is '%s', expected a number from 0 to %g",
                                 l->name, l->number, what, l->fields[i], max);
        *ret = value;
        return 0;
}

static int field_integer(const Lines *l, size_t i, uint64_t max, const char *what, uint64_t *ret, Error *error) {
        if (parse_u64_range(l->fields[i], 0, max, ret) < 0)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %s is '%s', expected a whole number from 0 to %g",
                                 l->name, l->number, what, l->fields[i], (double) max);
        return 0;
}

static uint64_t to_ns(double value, double unit_ns) {
        return (uint64_t) round(value * unit_ns);
}

/* says: what is wrong if the time does not go on. */
static int add_in_order(Track *track, const Lines *l, TrackRow row, const char *says, Error *error) {
        /* At the very beginning no interval can have ended. */
        if (row.to_ns == 0)
                return 0;
        if (track->ended || (track->n > 0 && row.to_ns <= track->rows[track->n - 1].to_ns))
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %s", l->name, l->number, says);
        if (track->n >= N_ROWS_MAX || track_add(track, row) < 0)
                return error_set(error, ERROR_FAILED, ENOMEM, "%s:%u: not enough memory", l->name, l->number);
        return 0;
}

bool recording_is_fio(const char *text, size_t length) {
        Lines lines = lines_of("", text, length);
        double number;

        return lines_next(&lines, NULL) > 0 && parse_double(lines.fields[0], &number) >= 0;
}

/* --- fio --- */

/* One word of a name: what stands between its marks. The submission's latency is the host's, and not the drive's. */
static const struct {
        const char *word;
        RecordingKind kind;
        TrackKind track;
        double scale;
} kind_words[] = {
        { "iops", RECORDING_IOPS, TRACK_IOPS, 1 },
        { "bw", RECORDING_BANDWIDTH, TRACK_BYTES_PER_S, 1024 },
        { "lat", RECORDING_LATENCY, TRACK_LATENCY, 1 },
        { "clat", RECORDING_LATENCY, TRACK_COMPLETION_LATENCY, 1 },
        { "slat", RECORDING_UNKNOWN, TRACK_LATENCY, 1 },
};

int recording_kind_from_name(const char *name, RecordingKind *ret) {
        for (size_t i = 0; i < ELEMENTSOF(kind_words); i++)
                if (kind_words[i].kind != RECORDING_UNKNOWN && strcmp(name, kind_words[i].word) == 0) {
                        *ret = kind_words[i].kind;
                        return 0;
                }
        return -EINVAL;
}

/* The last of the words between marks in the file's name: "x_iops.1.log", "a.bw.log". Its index, or -ENOENT. */
static int kind_word_in(const char *path) {
        const char *name = strrchr(path, '/');
        int found = -ENOENT;

        for (name = name ? name + 1 : path; *name; name += strspn(name, "_.-")) {
                size_t length = strcspn(name, "_.-");
                for (size_t i = 0; i < ELEMENTSOF(kind_words); i++)
                        if (strlen(kind_words[i].word) == length && strncmp(name, kind_words[i].word, length) == 0)
                                found = (int) i;
                name += length;
        }
        return found;
}

const char *recording_unneeded(const char *name, const char *text, size_t length, RecordingKind kind) {
        const char *base = strrchr(name, '/') ?: name;
        Lines lines = lines_of(name, text, length);
        int word = kind_word_in(name);

        if (strstr(base, "lat_hist"))
                return "a log of histograms; means are read from the other logs";
        if (kind == RECORDING_UNKNOWN && word >= 0 && kind_words[word].kind == RECORDING_UNKNOWN)
                return "latencies of submission tell nothing of a drive";
        return lines_next(&lines, NULL) == 0 ? "there is not one row in it" : NULL;
}

static int kind_word_of(const char *name, RecordingKind kind, Error *error) {
        int word = kind_word_in(name);

        if (kind != RECORDING_UNKNOWN && (word < 0 || kind_words[word].kind != kind))
                for (word = 0; kind_words[word].kind != kind; word++)
                        ;
        if (word < 0 || kind_words[word].kind == RECORDING_UNKNOWN)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s: the name does not tell what the log holds; say --kind iops, bw or lat", name);
        return word;
}

typedef struct FioReader {
        TrackKind kind;
        double scale;
        size_t n_columns;
        Track *tracks;
        size_t n_tracks;
        size_t current[N_DIRECTIONS]; /* index of the track + 1; 0: none yet */
} FioReader;

static void fio_reader_done(FioReader *reader) {
        for (size_t i = 0; i < reader->n_tracks; i++)
                track_done(&reader->tracks[i]);
        free(reader->tracks);
}

/* Jobs that share a file are in it one after the other, each with all of its time. */
static bool is_next_job(const Track *track, uint64_t ns) {
        return track->n >= 2 && ns < track->rows[0].to_ns + (track->rows[1].to_ns - track->rows[0].to_ns) / 2;
}

/* The track that a row of this direction and time belongs to; NULL if memory ran out. */
static Track *fio_track(FioReader *reader, Direction direction, uint64_t ns) {
        size_t current = reader->current[direction];
        bool full = reader->n_tracks >= N_JOBS_MAX * N_DIRECTIONS;
        if (current > 0 && (full || !is_next_job(&reader->tracks[current - 1], ns)))
                return &reader->tracks[current - 1];

        Track *tracks = reallocarray(reader->tracks, reader->n_tracks + 1, sizeof(Track));
        if (!tracks)
                return NULL;
        reader->tracks = tracks;
        tracks[reader->n_tracks++] = (Track){ .kind = reader->kind, .direction = direction };
        reader->current[direction] = reader->n_tracks;
        return &tracks[reader->n_tracks - 1];
}

/*
 * When fio ends it writes out the last window of a log of latencies, though it may have done so just before: then two
 * rows have the same time, each a mean over an unknown number of I/Os. They become one, the mean of both.
 */
static bool fio_flushed(Track *track, const TrackRow *row) {
        bool latency = track->kind == TRACK_LATENCY || track->kind == TRACK_COMPLETION_LATENCY;

        if (!latency || track->ended || track->n == 0 || track->rows[track->n - 1].to_ns != row->to_ns)
                return false;
        track->rows[track->n - 1].value = (track->rows[track->n - 1].value + row->value) / 2;
        track->ended = true;
        return true;
}

static int fio_columns(FioReader *reader, const Lines *l, Error *error) {
        if (l->n_fields < FIO_COLUMNS_MIN || l->n_fields > FIO_COLUMNS_MAX)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: %zu columns, expected time in ms, value, direction, and maybe block size and "
                                 "offset", l->name, l->number, l->n_fields);
        if (reader->n_columns != 0 && l->n_fields != reader->n_columns)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %zu columns, but the lines before have %zu",
                                 l->name, l->number, l->n_fields, reader->n_columns);
        reader->n_columns = l->n_fields;
        return 0;
}

static int fio_line(FioReader *reader, const Lines *l, Error *error) {
        uint64_t direction = 0, block_bytes = 0;
        double time_ms = 0, value = 0;

        int r = fio_columns(reader, l, error);
        if (r >= 0)
                r = field_number(l, 0, TIME_MAX_S * 1000, "the time in ms", &time_ms, error);
        if (r >= 0)
                r = field_number(l, 1, VALUE_MAX, "the value", &value, error);
        if (r >= 0)
                r = field_integer(l, 2, N_DIRECTIONS - 1, "the direction (0 read, 1 write, 2 trim)", &direction, error);
        if (r >= 0 && l->n_fields > 3)
                r = field_integer(l, 3, (uint64_t) VALUE_MAX, "the block size", &block_bytes, error);
        if (r < 0)
                return r;

        TrackRow row = {
                .from_ns = FROM_UNKNOWN,
                .to_ns = to_ns(time_ms, (double) NSEC_PER_MSEC),
                .value = value * reader->scale,
                .block_bytes = block_bytes,
        };
        Track *track = fio_track(reader, (Direction) direction, row.to_ns);
        if (!track)
                return -ENOMEM;
        if (fio_flushed(track, &row))
                return 0;
        return add_in_order(track, l, row, "the time does not go on from the line before of the same direction; an "
                                           "interval log is expected (fio: log_avg_msec)", error);
}

int recording_add_fio(Recording *recording, const char *name, const char *text, size_t length, RecordingKind kind,
                      Error *error) {
        Lines lines = lines_of(name, text, length);

        int r = kind_word_of(name, kind, error);
        if (r < 0)
                return r;

        _cleanup_(fio_reader_done) FioReader reader = { .kind = kind_words[r].track, .scale = kind_words[r].scale };
        while ((r = lines_next(&lines, error)) > 0) {
                r = fio_line(&reader, &lines, error);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : recording_take(recording, name, reader.tracks, reader.n_tracks, error);
}

/* --- CSV --- */

static const struct {
        const char *suffix;
        TrackKind kind;
        unsigned quantity; /* columns of one quantity and direction say the same */
        bool rate;
} csv_suffixes[] = {
        { "_iops", TRACK_IOPS, 0, true },
        { "_ios", TRACK_IOS, 0, false },
        { "_bytes_per_s", TRACK_BYTES_PER_S, 1, true },
        { "_bytes", TRACK_BYTES, 1, false },
        { "_latency_ns", TRACK_COMPLETION_LATENCY, 2, false },
};
#define N_QUANTITIES 3

static const char *const csv_directions[N_DIRECTIONS] = { "read", "write", "trim" };

typedef struct CsvReader {
        size_t time, duration, phase; /* columns; SIZE_MAX: none */
        bool has_phase;
        uint64_t first_phase; /* if has_phase: of the first row */
        size_t n_columns;
        bool any;
        size_t columns[N_DIRECTIONS * N_QUANTITIES]; /* of the tracks; SIZE_MAX: none */
        Track tracks[N_DIRECTIONS * N_QUANTITIES];
} CsvReader;

static void csv_reader_done(CsvReader *reader) {
        for (size_t i = 0; i < ELEMENTSOF(reader->tracks); i++)
                track_done(&reader->tracks[i]);
}

/* A count goes before a rate, and else the first column before the next one. */
static void csv_value_column(CsvReader *reader, size_t column, Direction direction, size_t suffix) {
        size_t i = (size_t) direction * N_QUANTITIES + csv_suffixes[suffix].quantity;
        bool is_rate = reader->tracks[i].kind == TRACK_IOPS || reader->tracks[i].kind == TRACK_BYTES_PER_S;

        if (reader->columns[i] != SIZE_MAX && (csv_suffixes[suffix].rate || !is_rate))
                return;
        reader->columns[i] = column;
        reader->tracks[i] = (Track){ .kind = csv_suffixes[suffix].kind, .direction = direction };
        reader->any = true;
}

static void csv_column(CsvReader *reader, size_t column, const char *field) {
        if (strcasecmp(field, "time_s") == 0 || (strcasecmp(field, "elapsed_s") == 0 && reader->time == SIZE_MAX))
                reader->time = column;
        else if (strcasecmp(field, "duration_s") == 0)
                reader->duration = column;
        else if (strcasecmp(field, "phase") == 0)
                reader->phase = column;
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                size_t length = strlen(csv_directions[d]);
                if (strncasecmp(field, csv_directions[d], length) != 0)
                        continue;
                for (size_t i = 0; i < ELEMENTSOF(csv_suffixes); i++)
                        if (strcasecmp(field + length, csv_suffixes[i].suffix) == 0)
                                csv_value_column(reader, column, d, i);
        }
}

static int csv_header(CsvReader *reader, const Lines *l, Error *error) {
        reader->time = reader->duration = reader->phase = SIZE_MAX;
        for (size_t i = 0; i < ELEMENTSOF(reader->columns); i++)
                reader->columns[i] = SIZE_MAX;
        reader->n_columns = l->n_fields;
        for (size_t i = 0; i < l->n_fields; i++)
                csv_column(reader, i, l->fields[i]);

        if (reader->time == SIZE_MAX || !reader->any)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: the header names no %s; expected time_s and write_iops, read_iops, write_ios, "
                                 "write_bytes, ...", l->name, l->number,
                                 reader->time == SIZE_MAX ? "time_s" : "values");
        return 0;
}

static int csv_value(CsvReader *reader, const Lines *l, size_t i, TrackRow row, Error *error) {
        size_t column = reader->columns[i];

        if (column == SIZE_MAX)
                return 0;
        if (reader->tracks[i].kind == TRACK_COMPLETION_LATENCY && l->fields[column][0] == '\0')
                return 0;
        int r = field_number(l, column, VALUE_MAX, "the value", &row.value, error);
        if (r < 0)
                return r;
        return add_in_order(&reader->tracks[i], l, row, "the time does not go on from the row before", error);
}

/* A recording is of one phase: of several no one could say what was judged. */
static int csv_phase(CsvReader *reader, const Lines *l, Error *error) {
        uint64_t phase;

        if (reader->phase == SIZE_MAX)
                return 0;
        int r = field_integer(l, reader->phase, UINT32_MAX, "the phase", &phase, error);
        if (r < 0)
                return r;
        if (reader->has_phase && phase != reader->first_phase)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: phase %" PRIu64 " begins after phase %" PRIu64 ": import one phase at a time "
                                 "(plateau export --phase)", l->name, l->number, phase, reader->first_phase);
        reader->has_phase = true;
        reader->first_phase = phase;
        return 0;
}

static int csv_line(CsvReader *reader, const Lines *l, Error *error) {
        TrackRow row = { .from_ns = FROM_UNKNOWN };
        double end_s = 0, length_s = 0;

        if (l->n_fields != reader->n_columns)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %zu columns, but the header has %zu%s", l->name,
                                 l->number, l->n_fields, reader->n_columns,
                                 l->decimal_commas ? "; decimal commas are not read, write 1.5 for 1,5" : "");
        int r = csv_phase(reader, l, error);
        if (r >= 0)
                r = field_number(l, reader->time, TIME_MAX_S, "the time", &end_s, error);
        if (r >= 0 && reader->duration != SIZE_MAX)
                r = field_number(l, reader->duration, TIME_MAX_S, "the duration", &length_s, error);
        if (r < 0)
                return r;

        row.to_ns = to_ns(end_s, (double) NSEC_PER_SEC);
        if (reader->duration != SIZE_MAX)
                row.from_ns = row.to_ns - MIN(row.to_ns, to_ns(length_s, (double) NSEC_PER_SEC));
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(reader->tracks); i++)
                r = csv_value(reader, l, i, row, error);
        return r;
}

int recording_add_csv(Recording *recording, const char *name, const char *text, size_t length, Error *error) {
        _cleanup_(csv_reader_done) CsvReader reader = {};
        Lines lines = lines_of(name, text, length);

        int r = lines_next(&lines, error);
        if (r == 0)
                return error_set(error, ERROR_USAGE, ENODATA, "%s: there is not one row in it", name);
        if (r > 0)
                r = csv_header(&reader, &lines, error);
        while (r >= 0 && (r = lines_next(&lines, error)) > 0)
                r = csv_line(&reader, &lines, error);
        return r < 0 ? r : recording_take(recording, name, reader.tracks, ELEMENTSOF(reader.tracks), error);
}

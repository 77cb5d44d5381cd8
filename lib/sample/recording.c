/* SPDX-License-Identifier: MIT */

/*
 * Each file and direction is a track: rows of (end, length, value) with the silent intervals filled in. The time line is made
 * of all ends: those of different tracks that lie within half a step of each other are the same interval, and
 * the first added file tells its exact end. Rates become counts by carrying the fraction on, so that the sum over any stretch is
 * right to one I/O even at a few IOPS.
 */

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sample/recording.h"
#include "util/macro.h"
#include "util/parse.h"

#define BLOCK_BYTES_DEFAULT 4096
#define SILENT_STEP 1.5  /* of the usual step: something is missing */
#define SAME_SHARE 0.5   /* of a step: ends that near are the same interval */
#define N_COLUMNS_MAX 64
#define LINE_MAX_BYTES 4096
#define TIME_MAX_S 1e9   /* thirty years: beyond it a time is a mistake */
#define VALUE_MAX 1e15
#define N_ROWS_MAX (UINT64_C(1) << 26)

typedef enum TrackKind {
        TRACK_IOPS,
        TRACK_IOS,
        TRACK_BYTES_PER_S,
        TRACK_BYTES,
        TRACK_LATENCY_NS,
} TrackKind;

typedef struct TrackRow {
        double end_s;
        double length_s; /* NaN until it is known */
        double value;
        uint64_t block_bytes; /* 0: not told */
} TrackRow;

typedef struct Track {
        TrackKind kind;
        Direction direction;
        TrackRow *rows;
        size_t n, allocated;
        double step_s; /* median */
} Track;

struct Recording {
        uint64_t block_bytes;
        Track *tracks;
        size_t n_tracks;
};

static void track_done(Track *t) {
        free(t->rows);
        *t = (Track){};
}

static int track_add(Track *t, TrackRow row) {
        if (t->n == t->allocated) {
                size_t allocated = MAX(t->allocated * 2, (size_t) 1024);
                TrackRow *rows = reallocarray(t->rows, allocated, sizeof(TrackRow));
                if (!rows)
                        return -ENOMEM;
                t->rows = rows;
                t->allocated = allocated;
        }
        t->rows[t->n++] = row;
        return 0;
}

static int compare_doubles(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;
        return (x > y) - (x < y);
}

static int track_set_step(Track *t) {
        _cleanup_free_ double *steps = calloc(MAX(t->n, (size_t) 1), sizeof(double));
        if (!steps)
                return -ENOMEM;

        for (size_t i = 1; i < t->n; i++)
                steps[i - 1] = t->rows[i].end_s - t->rows[i - 1].end_s;
        if (t->n < 2)
                t->step_s = t->rows[0].end_s;
        else {
                qsort(steps, t->n - 1, sizeof(double), compare_doubles);
                t->step_s = steps[(t->n - 2) / 2]; /* the lower of two: a gap is no step */
        }
        return 0;
}

/* Gives each row its length, and fills in the intervals in which nothing happened. */
static int track_fill(Track *t) {
        _cleanup_(track_done) Track filled = { .kind = t->kind, .direction = t->direction, .step_s = t->step_s };
        double previous_s = fmax(0, t->rows[0].end_s - t->step_s);

        for (size_t i = 0; i < t->n; i++) {
                TrackRow row = t->rows[i];
                double step_s = row.end_s - previous_s;
                if (!isnan(row.length_s)) {
                        /* The row tells where it began. */
                } else if (i > 0 && step_s >= SILENT_STEP * t->step_s) {
                        double n_silent = round(step_s / t->step_s) - 1;
                        if ((double) filled.n + n_silent > (double) N_ROWS_MAX)
                                return -E2BIG;
                        for (double k = 1; k <= n_silent; k++) {
                                TrackRow silent = { .end_s = previous_s + k * t->step_s, .length_s = t->step_s };
                                if (track_add(&filled, silent) < 0)
                                        return -ENOMEM;
                        }
                        row.length_s = step_s - n_silent * t->step_s;
                } else
                        row.length_s = step_s;

                if (track_add(&filled, row) < 0)
                        return -ENOMEM;
                previous_s = row.end_s;
        }

        track_done(t);
        *t = filled;
        filled = (Track){};
        return 0;
}

/* --- lines --- */

typedef struct Lines {
        const char *name;
        const char *text, *end;
        unsigned number;
        char line[LINE_MAX_BYTES];
        char *fields[N_COLUMNS_MAX];
        size_t n_fields;
} Lines;

/* Cuts at commas, semicolons, tabs and blanks; blanks beside another separator do not count. */
static void lines_cut(Lines *l) {
        char *p = l->line;
        l->n_fields = 0;

        while (*p && l->n_fields < N_COLUMNS_MAX) {
                p += strspn(p, " ");
                if (!*p)
                        break;
                l->fields[l->n_fields++] = p;
                p += strcspn(p, ",;\t ");
                char *stop = p;
                p += strspn(p, " ");
                if (*p == ',' || *p == ';' || *p == '\t')
                        p++;
                *stop = 0;
        }
}

/* The next line that is neither blank nor a comment, cut into fields: 1, 0 at the end, negative errno. */
static int lines_next(Lines *l, Error *error) {
        while (l->text < l->end) {
                const char *newline = memchr(l->text, '\n', (size_t) (l->end - l->text));
                size_t length = (size_t) ((newline ? newline : l->end) - l->text);
                const char *start = l->text;

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
                lines_cut(l);
                if (l->n_fields > 0)
                        return 1;
        }
        return 0;
}

static int field_number(const Lines *l, size_t i, double max, const char *what, double *ret, Error *error) {
        double value;
        if (parse_double(l->fields[i], &value) < 0 || value < 0 || value > max)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %s is '%s', expected a number from 0 to %g", l->name,
                                 l->number, what, l->fields[i], max);
        *ret = value;
        return 0;
}

static int track_add_in_order(Track *t, const Lines *l, TrackRow row, Error *error) {
        if (t->n > 0 && row.end_s <= t->rows[t->n - 1].end_s)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: the time does not go on from the line before of the same direction; an interval log is "
                                 "expected (fio: log_avg_msec)", l->name, l->number);
        if (t->n >= N_ROWS_MAX || track_add(t, row) < 0)
                return error_set(error, ERROR_FAILED, ENOMEM, "%s:%u: not enough memory", l->name, l->number);
        return 0;
}

/* Takes over the tracks that have rows; all or none. */
static int recording_take(Recording *recording, const char *name, Track *tracks, size_t n, Error *error) {
        size_t n_rows = 0;
        for (size_t i = 0; i < n; i++) {
                if (tracks[i].n == 0)
                        continue;
                n_rows += tracks[i].n;
                int r = track_set_step(&tracks[i]);
                if (r >= 0)
                        r = track_fill(&tracks[i]);
                if (r < 0)
                        return error_set(error, r == -E2BIG ? ERROR_USAGE : ERROR_FAILED, -r,
                                         r == -E2BIG ? "%s: the times are too far apart for their usual step" : "%s: not enough memory", name);
        }
        if (n_rows == 0)
                return error_set(error, ERROR_USAGE, ENODATA, "%s: there is not one row in it", name);

        Track *all = reallocarray(recording->tracks, recording->n_tracks + n, sizeof(Track));
        if (!all)
                return error_set(error, ERROR_FAILED, ENOMEM, "%s: not enough memory", name);
        recording->tracks = all;
        for (size_t i = 0; i < n; i++)
                if (tracks[i].n > 0) {
                        all[recording->n_tracks++] = tracks[i];
                        tracks[i] = (Track){};
                }
        return 0;
}

/* --- fio --- */

static const struct {
        const char *word;
        RecordingKind kind;
} kind_words[] = {
        { "iops", RECORDING_IOPS },   { "bw", RECORDING_BANDWIDTH }, { "lat", RECORDING_LATENCY },
        { "clat", RECORDING_LATENCY }, { "slat", RECORDING_LATENCY },
};

int recording_kind_from_name(const char *name, RecordingKind *ret) {
        for (size_t i = 0; i < ELEMENTSOF(kind_words); i++)
                if (strcmp(name, kind_words[i].word) == 0) {
                        *ret = kind_words[i].kind;
                        return 0;
                }
        return -EINVAL;
}

/* The last of the kinds' words that stands between marks in the file's name: "x_iops.1.log", "a.bw.log". */
static RecordingKind kind_from_file(const char *path) {
        const char *name = strrchr(path, '/');
        RecordingKind kind = RECORDING_UNKNOWN;

        for (name = name ? name + 1 : path; *name; name += strspn(name, "_.-")) {
                size_t length = strcspn(name, "_.-");
                for (size_t i = 0; i < ELEMENTSOF(kind_words); i++)
                        if (strlen(kind_words[i].word) == length && strncmp(name, kind_words[i].word, length) == 0)
                                kind = kind_words[i].kind;
                name += length;
        }
        return kind;
}

static int fio_line(Lines *l, Track tracks[static N_DIRECTIONS], double scale, Error *error) {
        double time_ms, value, direction, block_bytes = 0;

        if (l->n_fields < 3 || l->n_fields > 5)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %zu columns, expected 3 to 5 (time in ms, value, direction, block size, offset)",
                                 l->name, l->number, l->n_fields);
        int r = field_number(l, 0, TIME_MAX_S * 1000, "the time in ms", &time_ms, error);
        if (r >= 0)
                r = field_number(l, 1, VALUE_MAX, "the value", &value, error);
        if (r >= 0)
                r = field_number(l, 2, N_DIRECTIONS - 1, "the direction (0 read, 1 write, 2 trim)", &direction, error);
        if (r >= 0 && l->n_fields > 3)
                r = field_number(l, 3, VALUE_MAX, "the block size", &block_bytes, error);
        if (r < 0)
                return r;

        TrackRow row = { .end_s = time_ms / 1000, .length_s = NAN, .value = value * scale, .block_bytes = (uint64_t) block_bytes };
        return track_add_in_order(&tracks[(unsigned) direction], l, row, error);
}

int recording_add_fio(Recording *recording, const char *name, const char *text, size_t length, RecordingKind kind, Error *error) {
        static const struct {
                TrackKind kind;
                double scale;
        } units[] = {
                [RECORDING_IOPS] = { TRACK_IOPS, 1 },
                [RECORDING_BANDWIDTH] = { TRACK_BYTES_PER_S, 1024 },
                [RECORDING_LATENCY] = { TRACK_LATENCY_NS, 1 },
        };
        if (kind == RECORDING_UNKNOWN)
                kind = kind_from_file(name);
        if (kind == RECORDING_UNKNOWN)
                return error_set(error, ERROR_USAGE, EINVAL, "%s: the name does not tell what the log holds; say --kind iops, bw or lat", name);

        Track tracks[N_DIRECTIONS] = {};
        Lines lines = { .name = name, .text = text, .end = text + length };
        for (size_t i = 0; i < N_DIRECTIONS; i++)
                tracks[i] = (Track){ .kind = units[kind].kind, .direction = (Direction) i };

        int r;
        while ((r = lines_next(&lines, error)) > 0 && (r = fio_line(&lines, tracks, units[kind].scale, error)) >= 0)
                ;
        if (r >= 0)
                r = recording_take(recording, name, tracks, N_DIRECTIONS, error);
        for (size_t i = 0; i < N_DIRECTIONS; i++)
                track_done(&tracks[i]);
        return r;
}

/* --- CSV --- */

static const struct {
        const char *suffix;
        TrackKind kind;
} csv_suffixes[] = {
        { "_iops", TRACK_IOPS },   { "_ios", TRACK_IOS },  { "_bytes_per_s", TRACK_BYTES_PER_S },
        { "_bytes", TRACK_BYTES }, { "_latency_ns", TRACK_LATENCY_NS },
};
static const char *const csv_directions[N_DIRECTIONS] = { "read", "write", "trim" };

typedef struct CsvHeader {
        size_t time, duration; /* columns; SIZE_MAX: none */
        size_t n_columns;
        size_t n_tracks;
        size_t columns[N_COLUMNS_MAX]; /* of the tracks */
        Track tracks[N_COLUMNS_MAX];
} CsvHeader;

static bool csv_column_is_track(const char *field, Track *ret) {
        for (size_t d = 0; d < N_DIRECTIONS; d++) {
                size_t length = strlen(csv_directions[d]);
                if (strncmp(field, csv_directions[d], length) != 0)
                        continue;
                for (size_t i = 0; i < ELEMENTSOF(csv_suffixes); i++)
                        if (strcmp(field + length, csv_suffixes[i].suffix) == 0) {
                                *ret = (Track){ .kind = csv_suffixes[i].kind, .direction = (Direction) d };
                                return true;
                        }
        }
        return false;
}

static int csv_header(Lines *l, CsvHeader *h, Error *error) {
        h->time = h->duration = SIZE_MAX;
        h->n_columns = l->n_fields;
        for (size_t i = 0; i < l->n_fields; i++) {
                if (strcmp(l->fields[i], "time_s") == 0 || (strcmp(l->fields[i], "elapsed_s") == 0 && h->time == SIZE_MAX))
                        h->time = i;
                else if (strcmp(l->fields[i], "duration_s") == 0)
                        h->duration = i;
                else if (csv_column_is_track(l->fields[i], &h->tracks[h->n_tracks]))
                        h->columns[h->n_tracks++] = i;
        }
        if (h->time == SIZE_MAX || h->n_tracks == 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: the header names no %s; expected time_s and write_iops, read_iops, write_ios, write_bytes, ...",
                                 l->name, l->number, h->time == SIZE_MAX ? "time_s" : "values");
        return 0;
}

static int csv_line(Lines *l, CsvHeader *h, Error *error) {
        double end_s, length_s = NAN, value;
        if (l->n_fields != h->n_columns)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %zu columns, but the header has %zu", l->name, l->number,
                                 l->n_fields, h->n_columns);

        int r = field_number(l, h->time, TIME_MAX_S, "the time", &end_s, error);
        if (r >= 0 && h->duration != SIZE_MAX)
                r = field_number(l, h->duration, TIME_MAX_S, "the duration", &length_s, error);
        for (size_t i = 0; r >= 0 && i < h->n_tracks; i++) {
                r = field_number(l, h->columns[i], VALUE_MAX, "the value", &value, error);
                if (r >= 0)
                        r = track_add_in_order(&h->tracks[i], l, (TrackRow){ .end_s = end_s, .length_s = length_s, .value = value }, error);
        }
        return r;
}

int recording_add_csv(Recording *recording, const char *name, const char *text, size_t length, Error *error) {
        Lines lines = { .name = name, .text = text, .end = text + length };
        CsvHeader header = {};

        int r = lines_next(&lines, error);
        if (r == 0)
                return error_set(error, ERROR_USAGE, ENODATA, "%s: there is not one row in it", name);
        if (r > 0)
                r = csv_header(&lines, &header, error);
        while (r >= 0 && (r = lines_next(&lines, error)) > 0)
                r = csv_line(&lines, &header, error);
        if (r >= 0)
                r = recording_take(recording, name, header.tracks, header.n_tracks, error);
        for (size_t i = 0; i < header.n_tracks; i++)
                track_done(&header.tracks[i]);
        return r;
}

/* --- the common time line --- */

typedef struct Slot {
        double end_s, length_s;
        double ios[N_DIRECTIONS], bytes[N_DIRECTIONS], latency_ns[N_DIRECTIONS];
        unsigned n_latencies[N_DIRECTIONS];
        bool has_ios[N_DIRECTIONS], has_bytes[N_DIRECTIONS];
} Slot;

static void slot_add(const Recording *recording, Slot *slot, const Track *t, const TrackRow *row) {
        Direction d = t->direction;
        double block_bytes = (double) (row->block_bytes > 0 ? row->block_bytes : recording->block_bytes), amount = row->value;

        if (t->kind == TRACK_IOPS || t->kind == TRACK_BYTES_PER_S)
                amount *= row->length_s;
        switch (t->kind) {
        case TRACK_IOPS:
        case TRACK_IOS:
                if (!slot->has_ios[d])
                        slot->ios[d] = 0;
                slot->has_ios[d] = true;
                slot->ios[d] += amount;
                if (!slot->has_bytes[d])
                        slot->bytes[d] += amount * block_bytes;
                break;
        case TRACK_BYTES_PER_S:
        case TRACK_BYTES:
                /* What is told goes before what was reckoned from the other. */
                if (!slot->has_bytes[d])
                        slot->bytes[d] = 0;
                slot->has_bytes[d] = true;
                slot->bytes[d] += amount;
                if (!slot->has_ios[d])
                        slot->ios[d] = slot->bytes[d] / block_bytes;
                break;
        case TRACK_LATENCY_NS:
                slot->latency_ns[d] += amount;
                slot->n_latencies[d] += amount > 0;
                break;
        }
}

/* Merges a track into the time line, which is in order of time. -ENOMEM. */
static int timeline_merge(const Recording *recording, const Track *t, Slot **slots, size_t *n_slots) {
        _cleanup_free_ Slot *merged = calloc(*n_slots + t->n, sizeof(Slot));
        double same_s = SAME_SHARE * t->step_s;
        size_t n = 0, i = 0;
        if (!merged)
                return -ENOMEM;

        for (size_t k = 0; k < t->n; k++) {
                const TrackRow *row = &t->rows[k];
                while (i < *n_slots && (*slots)[i].end_s < row->end_s - same_s)
                        merged[n++] = (*slots)[i++];
                if (i < *n_slots && (*slots)[i].end_s <= row->end_s + same_s)
                        merged[n] = (*slots)[i++];
                else
                        merged[n] = (Slot){ .end_s = row->end_s, .length_s = row->length_s };
                slot_add(recording, &merged[n++], t, row);
        }
        while (i < *n_slots)
                merged[n++] = (*slots)[i++];

        free(*slots);
        *slots = TAKE_PTR(merged);
        *n_slots = n;
        return 0;
}

/* The next whole number of a running sum, so that what rounding takes from one interval the next one gets. */
static uint64_t carry(double *sum, uint64_t *told, double amount) {
        *sum += amount;
        uint64_t now = (uint64_t) fmax(0, round(*sum)), part = now - *told;
        *told = now;
        return part;
}

int recording_get_rows(const Recording *recording, RecordingRow **ret_rows, size_t *ret_n, Error *error) {
        _cleanup_free_ Slot *slots = NULL;
        size_t n = 0;
        int r = recording->n_tracks > 0 ? 0 : -ENODATA;

        for (size_t i = 0; r >= 0 && i < recording->n_tracks; i++)
                r = timeline_merge(recording, &recording->tracks[i], &slots, &n);
        if (r == -ENODATA)
                return error_set(error, ERROR_USAGE, ENODATA, "there is nothing to import");

        _cleanup_free_ RecordingRow *rows = r >= 0 ? calloc(n, sizeof(RecordingRow)) : NULL;
        if (!rows)
                return error_set(error, ERROR_FAILED, ENOMEM, "not enough memory for the recording");

        double ios[N_DIRECTIONS] = {}, bytes[N_DIRECTIONS] = {};
        uint64_t ios_told[N_DIRECTIONS] = {}, bytes_told[N_DIRECTIONS] = {}, previous_ns = 0;
        for (size_t i = 0; i < n; i++) {
                rows[i].to_ns = (uint64_t) llround(slots[i].end_s * 1e9);
                rows[i].from_ns = (uint64_t) llround(fmax(0, slots[i].end_s - slots[i].length_s) * 1e9);
                rows[i].from_ns = MAX(rows[i].from_ns, previous_ns);
                rows[i].from_ns = MIN(rows[i].from_ns, rows[i].to_ns);
                previous_ns = rows[i].to_ns;
                for (size_t d = 0; d < N_DIRECTIONS; d++) {
                        rows[i].ios[d] = carry(&ios[d], &ios_told[d], slots[i].ios[d]);
                        rows[i].bytes[d] = carry(&bytes[d], &bytes_told[d], slots[i].bytes[d]);
                        if (slots[i].n_latencies[d] > 0)
                                rows[i].latency_ns[d] = (uint64_t) (slots[i].latency_ns[d] / slots[i].n_latencies[d]);
                }
        }

        *ret_rows = TAKE_PTR(rows);
        *ret_n = n;
        return 0;
}

int recording_new(Recording **ret, uint64_t block_bytes) {
        Recording *recording = calloc(1, sizeof(Recording));
        if (!recording)
                return -ENOMEM;
        recording->block_bytes = block_bytes > 0 ? block_bytes : BLOCK_BYTES_DEFAULT;
        *ret = recording;
        return 0;
}

Recording *recording_free(Recording *recording) {
        if (!recording)
                return NULL;
        for (size_t i = 0; i < recording->n_tracks; i++)
                track_done(&recording->tracks[i]);
        free(recording->tracks);
        free(recording);
        return NULL;
}

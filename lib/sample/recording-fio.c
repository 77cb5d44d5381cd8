/* SPDX-License-Identifier: MIT */

/* What fio's interval logs mean. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sample/recording-internal.h"
#include "util/macro.h"
#include "util/parse.h"

#define N_JOBS_MAX 4096 /* in one file */
#define FIO_COLUMNS_MIN 3
#define FIO_COLUMNS_MAX 7

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

const char *recording_unneeded(const char *name, RecordingKind kind) {
        const char *base = strrchr(name, '/') ?: name;
        int word = kind_word_in(name);

        if (strstr(base, "lat_hist"))
                return "a log of histograms; means are read from the other logs";
        if (kind == RECORDING_UNKNOWN && word >= 0 && kind_words[word].kind == RECORDING_UNKNOWN)
                return "latencies of submission tell nothing of a drive";
        return NULL;
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

bool recording_is_fio(const Lines *l, RecordingKind kind) {
        uint64_t direction, block_bytes;
        const char *end = strrchr(l->name, '.');
        bool is_csv = end && (strcasecmp(end, ".csv") == 0 || strcasecmp(end, ".tsv") == 0);

        if (is_csv && kind == RECORDING_UNKNOWN && kind_word_in(l->name) < 0)
                return false;
        if (l->n_fields < FIO_COLUMNS_MIN || l->n_fields > FIO_COLUMNS_MAX)
                return false;
        return parse_u64_range(l->fields[2], 0, N_DIRECTIONS - 1, &direction) >= 0 &&
               (l->n_fields == FIO_COLUMNS_MIN || parse_u64(l->fields[3], &block_bytes) >= 0);
}

typedef struct FioReader {
        TrackKind kind;
        double scale;
        size_t n_columns;
        Track *tracks;
        size_t n_tracks;
        size_t current[N_DIRECTIONS]; /* index of the track + 1; 0: none yet */
        uint32_t n_jobs[N_DIRECTIONS];
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
        tracks[reader->n_tracks++] = (Track){
                .kind = reader->kind,
                .direction = direction,
                .job = reader->n_jobs[direction]++,
        };
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
                return lines_wrong(
                        l, error, "%zu columns, expected time in ms, value, direction, and maybe block size and offset",
                        l->n_fields);
        if (reader->n_columns != 0 && l->n_fields != reader->n_columns)
                return lines_wrong(l, error, "%zu columns, but the lines before have %zu", l->n_fields,
                                   reader->n_columns);
        reader->n_columns = l->n_fields;
        return 0;
}

static int fio_line(FioReader *reader, const Lines *l, Error *error) {
        uint64_t direction = 0, block_bytes = 0;
        double time_ms = 0, value = 0;

        if (l->cut_off)
                return lines_wrong(l, error,
                                   "the line is cut off: it has no end, which fio gives to all; remove it to import "
                                   "what is before it");
        int r = fio_columns(reader, l, error);
        if (r >= 0)
                r = lines_number(l, 0, 0, TIME_MAX_S * 1000, "the time in ms", &time_ms, error);
        if (r >= 0)
                r = lines_number(l, 1, 0, VALUE_MAX, "the value", &value, error);
        if (r >= 0)
                r = lines_integer(l, 2, N_DIRECTIONS - 1, "the direction (0 read, 1 write, 2 trim)", &direction, error);
        if (r >= 0 && l->n_fields > 3)
                r = lines_integer(l, 3, (uint64_t) VALUE_MAX, "the block size", &block_bytes, error);
        if (r < 0)
                return r;

        TrackRow row = {
                .from_ns = FROM_UNKNOWN,
                .to_ns = recording_ns(time_ms, (double) NSEC_PER_MSEC),
                .value = value * reader->scale,
                .block_bytes = block_bytes,
        };
        Track *track = fio_track(reader, (Direction) direction, row.to_ns);
        if (!track)
                return -ENOMEM;
        if (fio_flushed(track, &row))
                return 0;
        return track_add(track, l, row, "the time does not go on from the line before of the same direction; an "
                                           "interval log is expected (fio: log_avg_msec)", error);
}

int recording_read_fio(Recording *recording, Lines *lines, RecordingKind kind, Error *error) {
        int r = kind_word_of(lines->name, kind, error);
        if (r < 0)
                return r;

        _cleanup_(fio_reader_done) FioReader reader = { .kind = kind_words[r].track, .scale = kind_words[r].scale };
        do
                r = fio_line(&reader, lines, error);
        while (r >= 0 && (r = lines_next(lines, error)) > 0);
        return r < 0 ? r : recording_take(recording, lines->name, reader.tracks, reader.n_tracks, NULL, error);
}

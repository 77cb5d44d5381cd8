/* SPDX-License-Identifier: MIT */

/* What the columns of CSV mean, first of all of what `plateau export` writes. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sample/recording-internal.h"
#include "util/macro.h"
#include "util/time.h"

#define NO_COLUMN SIZE_MAX
#define TEMPERATURE_MIN_C (-274)
#define TEMPERATURE_MAX_C 1000

/* Columns that stand for themselves. */
typedef enum Single {
        SINGLE_TIME,
        SINGLE_ELAPSED, /* in place of the former */
        SINGLE_DURATION,
        SINGLE_PHASE, /* from here on all make the detail of a row */
        SINGLE_AT,
        SINGLE_ERRORS,
        SINGLE_IN_FLIGHT,
        SINGLE_OLDEST,
        SINGLE_CPU,
        SINGLE_TEMPERATURE,
        SINGLE_LATENCY_MEAN,
        SINGLE_LATENCY_P50,
        SINGLE_LATENCY_P99,
        SINGLE_LATENCY_MAX,
        N_SINGLES,
} Single;

static const char *const single_names[N_SINGLES] = {
        [SINGLE_TIME] = "time_s",
        [SINGLE_ELAPSED] = "elapsed_s",
        [SINGLE_DURATION] = "duration_s",
        [SINGLE_PHASE] = "phase",
        [SINGLE_AT] = "at",
        [SINGLE_ERRORS] = "errors",
        [SINGLE_IN_FLIGHT] = "in_flight",
        [SINGLE_OLDEST] = "oldest_io_ns",
        [SINGLE_CPU] = "cpu_percent",
        [SINGLE_TEMPERATURE] = "temperature_c",
        [SINGLE_LATENCY_MEAN] = "latency_mean_ns",
        [SINGLE_LATENCY_P50] = "latency_p50_ns",
        [SINGLE_LATENCY_P99] = "latency_p99_ns",
        [SINGLE_LATENCY_MAX] = "latency_max_ns",
};

/* Columns of one direction: "write" and one of these. */
static const struct {
        const char *suffix;
        TrackKind kind;
        unsigned quantity; /* columns of one quantity and direction say the same */
        bool rate;
} suffixes[] = {
        { "_iops", TRACK_IOPS, 0, true },
        { "_ios", TRACK_IOS, 0, false },
        { "_bytes_per_s", TRACK_BYTES_PER_S, 1, true },
        { "_bytes", TRACK_BYTES, 1, false },
        { "_latency_ns", TRACK_COMPLETION_LATENCY, 2, false },
};
#define N_QUANTITIES 3

static const char *const direction_names[N_DIRECTIONS] = { "read", "write", "trim" };

typedef struct CsvReader {
        size_t singles[N_SINGLES]; /* columns, NO_COLUMN where there is none */
        size_t n_columns;
        bool any; /* quantity */
        size_t columns[N_DIRECTIONS * N_QUANTITIES]; /* of the tracks */
        Track tracks[N_DIRECTIONS * N_QUANTITIES];
        bool detailed;
        Details details;
} CsvReader;

static void csv_reader_done(CsvReader *reader) {
        for (size_t i = 0; i < ELEMENTSOF(reader->tracks); i++)
                track_done(&reader->tracks[i]);
        details_done(&reader->details);
}

/* --- the header --- */

/* A count goes before a rate. */
static void use_quantity(CsvReader *reader, size_t column, Direction direction, size_t suffix) {
        size_t i = (size_t) direction * N_QUANTITIES + suffixes[suffix].quantity;

        if (reader->columns[i] != NO_COLUMN && suffixes[suffix].rate)
                return;
        reader->columns[i] = column;
        reader->tracks[i] = (Track){ .kind = suffixes[suffix].kind, .direction = direction };
        reader->any = true;
}

static void use_column(CsvReader *reader, size_t column, const char *field) {
        for (Single i = 0; i < N_SINGLES; i++)
                if (strcasecmp(field, single_names[i]) == 0)
                        reader->singles[i] = column;
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                size_t length = strlen(direction_names[d]);
                if (strncasecmp(field, direction_names[d], length) != 0)
                        continue;
                for (size_t i = 0; i < ELEMENTSOF(suffixes); i++)
                        if (strcasecmp(field + length, suffixes[i].suffix) == 0)
                                use_quantity(reader, column, d, i);
        }
}

static int check_names(const Lines *l, Error *error) {
        for (size_t i = 0; i < l->n_fields; i++)
                for (size_t k = 0; k < i; k++)
                        if (l->fields[i][0] != '\0' && strcasecmp(l->fields[i], l->fields[k]) == 0)
                                return lines_wrong(l, error, "the header names %s twice", l->fields[i]);
        return 0;
}

static int read_header(CsvReader *reader, const Lines *l, Error *error) {
        int r = check_names(l, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(reader->singles); i++)
                reader->singles[i] = NO_COLUMN;
        for (size_t i = 0; i < ELEMENTSOF(reader->columns); i++)
                reader->columns[i] = NO_COLUMN;
        reader->n_columns = l->n_fields;
        for (size_t i = 0; i < l->n_fields; i++)
                use_column(reader, i, l->fields[i]);

        if (reader->singles[SINGLE_TIME] == NO_COLUMN)
                reader->singles[SINGLE_TIME] = reader->singles[SINGLE_ELAPSED];
        for (Single i = SINGLE_PHASE; i < N_SINGLES; i++)
                reader->detailed |= reader->singles[i] != NO_COLUMN;
        if (reader->singles[SINGLE_TIME] == NO_COLUMN || !reader->any)
                return lines_wrong(l, error,
                                   "the header names no %s; expected time_s and write_iops, read_iops, write_ios, "
                                   "write_bytes, ...",
                                   reader->singles[SINGLE_TIME] == NO_COLUMN ? "time_s" : "values");
        return 0;
}

/* --- a row --- */

/* The column's field; NULL if there is no such column, or nothing in it. */
static const char *field_of(const CsvReader *reader, const Lines *l, Single single) {
        size_t column = reader->singles[single];
        return column != NO_COLUMN && l->fields[column][0] != '\0' ? l->fields[column] : NULL;
}

/* *ret stays as it is where nothing is told. Returns whether something is, or negative errno. */
static int get_integer(const CsvReader *reader, const Lines *l, Single single, uint64_t max, uint64_t *ret,
                       Error *error) {
        if (!field_of(reader, l, single))
                return 0;
        int r = lines_integer(l, reader->singles[single], max, single_names[single], ret, error);
        return r < 0 ? r : 1;
}

static int get_number(const CsvReader *reader, const Lines *l, Single single, double min, double max, double *ret,
                      Error *error) {
        if (!field_of(reader, l, single))
                return 0;
        return lines_number(l, reader->singles[single], min, max, single_names[single], ret, error);
}

/* Phases run one after another; which is the first does not matter. */
static int get_phase(const CsvReader *reader, const Lines *l, RecordingDetail *detail, Error *error) {
        const Details *details = &reader->details;
        uint64_t phase = 0;

        int r = get_integer(reader, l, SINGLE_PHASE, UINT32_MAX, &phase, error);
        if (r <= 0)
                return r;
        if (details->n > 0 && phase < details->items[details->n - 1].phase)
                return lines_wrong(l, error,
                                   "phase %" PRIu64 " comes after phase %" PRIu32 ", expected phases one after another",
                                   phase, details->items[details->n - 1].phase);
        if (details->n > 0 && phase - details->items[0].phase >= RECORDING_N_PHASES_MAX)
                return lines_wrong(l, error, "phase %" PRIu64 " is too far from the first, %" PRIu32, phase,
                                   details->items[0].phase);
        detail->phase = (uint32_t) phase;
        return 0;
}

static int get_at(const CsvReader *reader, const Lines *l, RecordingDetail *detail, Error *error) {
        const char *field = field_of(reader, l, SINGLE_AT);

        if (!field)
                return 0;
        if (time_parse_rfc3339(field, &detail->at_ns) < 0)
                return lines_wrong(l, error, "at is '%s', expected a time of day as in 2026-03-01T22:14:05+01:00",
                                   field);
        detail->has_at = true;
        return 0;
}

static int get_latency(const CsvReader *reader, const Lines *l, RecordingDetail *detail, Error *error) {
        uint64_t max = (uint64_t) VALUE_MAX;
        static const Single which[] = { SINGLE_LATENCY_P50, SINGLE_LATENCY_P99, SINGLE_LATENCY_MAX };
        uint64_t *values[] = { &detail->latency_p50_ns, &detail->latency_p99_ns, &detail->latency_max_ns };

        detail->has_percentiles = true;
        int r = get_integer(reader, l, SINGLE_LATENCY_MEAN, max, &detail->latency_mean_ns, error);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(which); i++) {
                r = get_integer(reader, l, which[i], max, values[i], error);
                detail->has_percentiles &= r > 0;
        }
        return r;
}

static int get_rest(const CsvReader *reader, const Lines *l, RecordingDetail *detail, Error *error) {
        uint64_t in_flight = 0;

        int r = get_integer(reader, l, SINGLE_ERRORS, INT64_MAX, &detail->errors, error);
        if (r < 0)
                return r;
        detail->has_errors = r > 0;
        r = get_integer(reader, l, SINGLE_IN_FLIGHT, UINT32_MAX, &in_flight, error);
        detail->in_flight = (uint32_t) in_flight;
        if (r >= 0)
                r = get_integer(reader, l, SINGLE_OLDEST, INT64_MAX, &detail->oldest_ns, error);
        if (r >= 0)
                r = get_number(reader, l, SINGLE_CPU, 0, 100, &detail->cpu_percent, error);
        if (r >= 0)
                r = get_number(reader, l, SINGLE_TEMPERATURE, TEMPERATURE_MIN_C, TEMPERATURE_MAX_C,
                               &detail->temperature_c, error);
        return r;
}

static int read_detail(CsvReader *reader, const Lines *l, uint64_t to_ns, Error *error) {
        RecordingDetail detail = { .to_ns = to_ns, .cpu_percent = NAN, .temperature_c = NAN };

        int r = get_phase(reader, l, &detail, error);
        if (r >= 0)
                r = get_at(reader, l, &detail, error);
        if (r >= 0)
                r = get_rest(reader, l, &detail, error);
        if (r >= 0)
                r = get_latency(reader, l, &detail, error);
        return r < 0 ? r : details_add(&reader->details, &detail);
}

static int read_quantity(CsvReader *reader, const Lines *l, size_t i, TrackRow row, Error *error) {
        size_t column = reader->columns[i];

        if (column == NO_COLUMN || (reader->tracks[i].kind == TRACK_COMPLETION_LATENCY && !l->fields[column][0]))
                return 0;
        int r = lines_number(l, column, 0, VALUE_MAX, "the value", &row.value, error);
        if (r < 0)
                return r;
        return track_add(&reader->tracks[i], l, row, "the time does not go on from the row before", error);
}

static int read_row(CsvReader *reader, const Lines *l, Error *error) {
        TrackRow row = { .from_ns = FROM_UNKNOWN };
        size_t duration = reader->singles[SINGLE_DURATION];
        double end_s = 0, length_s = 0;

        if (l->n_fields != reader->n_columns)
                return lines_wrong(l, error, "%zu columns, but the header has %zu%s%s", l->n_fields, reader->n_columns,
                                   l->decimal_commas ? "; decimal commas are not read, write 1.5 for 1,5" : "",
                                   l->cut_off ? "; it seems to be cut off, for it has no end" : "");
        int r = lines_number(l, reader->singles[SINGLE_TIME], 0, TIME_MAX_S, "the time", &end_s, error);
        if (r >= 0 && duration != NO_COLUMN)
                r = lines_number(l, duration, 0, TIME_MAX_S, "the duration", &length_s, error);
        if (r < 0)
                return r;

        row.to_ns = recording_ns(end_s, (double) NSEC_PER_SEC);
        if (duration != NO_COLUMN)
                row.from_ns = row.to_ns - MIN(row.to_ns, recording_ns(length_s, (double) NSEC_PER_SEC));
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(reader->tracks); i++)
                r = read_quantity(reader, l, i, row, error);
        if (r >= 0 && reader->detailed && row.to_ns > 0)
                r = read_detail(reader, l, row.to_ns, error);
        return r;
}

int recording_read_csv(Recording *recording, Lines *lines, uint64_t *ret_open_line, Error *error) {
        _cleanup_(csv_reader_done) CsvReader reader = {};
        uint64_t open_line = 0;

        int r = read_header(&reader, lines, error);
        while (r >= 0 && (r = lines_next(lines, error)) > 0) {
                r = read_row(&reader, lines, error);
                if (lines->cut_off)
                        open_line = lines->number;
        }
        if (r >= 0)
                r = recording_take(recording, lines->name, reader.tracks, ELEMENTSOF(reader.tracks), &reader.details,
                                   error);
        if (r >= 0)
                *ret_open_line = open_line;
        return r;
}

/* SPDX-License-Identifier: MIT */

/* What the columns of CSV mean, first of all of what `plateau export` writes. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sample/recording-internal.h"
#include "spec/job.h"
#include "util/macro.h"
#include "util/time.h"

#define NO_COLUMN SIZE_MAX
#define TEMPERATURE_MIN_C (-274)
#define TEMPERATURE_MAX_C 1000
#define CORES_MAX 65536.0 /* that a process may use at once */
#define COLUMN_NAME_MAX 32
#define TIME_STANDS "the time does not go on from the row before"
#define AGREE_SHARE 0.1 /* beyond this, values do not say the same with other digits, but contradict each other */
#define IO_BYTES_MAX 4294967296.0 /* no block layer takes more at once, of trims neither */

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
        SINGLE_WORKER_CPU,
        SINGLE_RING_CPU,
        SINGLE_HELD,
        SINGLE_TEMPERATURE,
        SINGLE_RAMP,
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
        [SINGLE_WORKER_CPU] = "worker_cpu_percent",
        [SINGLE_RING_CPU] = "ring_cpu_percent",
        [SINGLE_HELD] = "held_percent",
        [SINGLE_TEMPERATURE] = "temperature_c",
        [SINGLE_RAMP] = "ramp",
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

#define N_TRACKS (N_DIRECTIONS * N_QUANTITIES)

typedef struct Column {
        size_t index; /* NO_COLUMN: there is none */
        size_t suffix;
} Column;

typedef struct CsvReader {
        size_t singles[N_SINGLES]; /* columns, NO_COLUMN where there is none */
        size_t n_columns;
        bool any; /* quantity */
        Column columns[N_TRACKS]; /* of the tracks */
        Column twins[N_TRACKS];   /* the rate beside a count, with which it must agree */
        Track tracks[N_TRACKS];
        uint64_t end_ns, shortest_ns; /* of the rows before: the end of the last, the least distance; 0: none */
        bool detailed;
        Details details;
} CsvReader;

static void csv_reader_done(CsvReader *reader) {
        for (size_t i = 0; i < N_TRACKS; i++)
                track_done(&reader->tracks[i]);
        details_done(&reader->details);
}

/* --- the header --- */

/* "write_iops" */
static const char *column_name(size_t track, const Column *column, char buf[static COLUMN_NAME_MAX]) {
        snprintf(buf, COLUMN_NAME_MAX, "%s%s", direction_name((Direction) (track / N_QUANTITIES)),
                 suffixes[column->suffix].suffix);
        return buf;
}

/* A count goes before a rate. */
static void use_quantity(CsvReader *reader, Column column, Direction direction) {
        size_t i = (size_t) direction * N_QUANTITIES + suffixes[column.suffix].quantity;

        if (reader->columns[i].index != NO_COLUMN && suffixes[column.suffix].rate) {
                reader->twins[i] = column;
                return;
        }
        reader->twins[i] = reader->columns[i];
        reader->columns[i] = column;
        reader->tracks[i] = (Track){ .kind = suffixes[column.suffix].kind, .direction = direction };
        reader->any = true;
}

/* Returns whether the name means something. */
static bool use_column(CsvReader *reader, size_t column, const char *field) {
        for (Single i = 0; i < N_SINGLES; i++)
                if (strcasecmp(field, single_names[i]) == 0) {
                        reader->singles[i] = column;
                        return true;
                }
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                size_t length = strlen(direction_name(d));
                if (strncasecmp(field, direction_name(d), length) != 0)
                        continue;
                for (size_t i = 0; i < ELEMENTSOF(suffixes); i++)
                        if (strcasecmp(field + length, suffixes[i].suffix) == 0) {
                                use_quantity(reader, (Column){ .index = column, .suffix = i }, d);
                                return true;
                        }
        }
        return strcasecmp(field, "seq") == 0; /* that of the export, which the rows tell anyway */
}

/* "iops" could be of reads, of writes or of both; whichever is meant, leaving it out would be a guess too. */
static int check_direction(const Lines *l, size_t column, Error *error) {
        const char *field = l->fields[column];

        for (size_t i = 0; i < ELEMENTSOF(suffixes); i++)
                if (strcasecmp(field, suffixes[i].suffix + 1) == 0)
                        return lines_wrong(l, error,
                                           "column %zu, %s, does not tell whether of reads or writes: name it read_%s "
                                           "or write_%s, or leave it out", column + 1, field, field, field);
        return 0;
}

static void add_unknown(RecordingNotes *notes, const char *field) {
        size_t length = strlen(notes->unknown_columns), left = sizeof(notes->unknown_columns) - length;

        if (field[0] == '\0' || (length > 0 && notes->unknown_columns[length - 1] == '.'))
                return;
        int n = snprintf(notes->unknown_columns + length, left, "%s%s", length > 0 ? ", " : "", field);
        if (n < 0 || (size_t) n + strlen(", ...") >= left)
                snprintf(notes->unknown_columns + length, left, length > 0 ? ", ..." : "...");
}

static int check_names(const Lines *l, Error *error) {
        for (size_t i = 0; i < l->n_fields; i++)
                for (size_t k = 0; k < i; k++)
                        if (l->fields[i][0] != '\0' && strcasecmp(l->fields[i], l->fields[k]) == 0)
                                return lines_wrong(l, error, "the header names %s twice", l->fields[i]);
        return 0;
}

static int read_header(CsvReader *reader, const Lines *l, RecordingNotes *notes, Error *error) {
        int r = check_names(l, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(reader->singles); i++)
                reader->singles[i] = NO_COLUMN;
        for (size_t i = 0; i < N_TRACKS; i++)
                reader->columns[i].index = reader->twins[i].index = NO_COLUMN;
        reader->n_columns = l->n_fields;
        for (size_t i = 0; i < l->n_fields; i++) {
                if (use_column(reader, i, l->fields[i]))
                        continue;
                r = check_direction(l, i, error);
                if (r < 0)
                        return r;
                add_unknown(notes, l->fields[i]);
        }

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

/* --- the details of a row --- */

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
        uint64_t in_flight = 0, is_in_ramp = 0;

        int r = get_integer(reader, l, SINGLE_ERRORS, INT64_MAX, &detail->errors, error);
        if (r < 0)
                return r;
        detail->has_errors = r > 0;
        r = get_integer(reader, l, SINGLE_IN_FLIGHT, UINT32_MAX, &in_flight, error);
        detail->in_flight = (uint32_t) in_flight;
        if (r >= 0)
                r = get_integer(reader, l, SINGLE_RAMP, 1, &is_in_ramp, error);
        detail->is_in_ramp = is_in_ramp != 0;
        if (r >= 0)
                r = get_integer(reader, l, SINGLE_OLDEST, INT64_MAX, &detail->oldest_ns, error);
        if (r >= 0)
                r = get_number(reader, l, SINGLE_CPU, 0, 100, &detail->cpu_percent, error);
        if (r >= 0)
                r = get_number(reader, l, SINGLE_WORKER_CPU, 0, CORES_MAX * 100, &detail->worker_cpu_percent, error);
        if (r >= 0)
                r = get_number(reader, l, SINGLE_RING_CPU, 0, 100, &detail->ring_cpu_percent, error);
        if (r >= 0)
                r = get_number(reader, l, SINGLE_HELD, 0, 100, &detail->held_percent, error);
        if (r >= 0)
                r = get_number(reader, l, SINGLE_TEMPERATURE, TEMPERATURE_MIN_C, TEMPERATURE_MAX_C,
                               &detail->temperature_c, error);
        return r;
}

static int read_detail(CsvReader *reader, const Lines *l, uint64_t to_ns, Error *error) {
        RecordingDetail detail = {
                .to_ns = to_ns,
                .cpu_percent = NAN,
                .worker_cpu_percent = NAN,
                .ring_cpu_percent = NAN,
                .held_percent = NAN,
                .temperature_c = NAN,
        };

        int r = get_phase(reader, l, &detail, error);
        if (r >= 0)
                r = get_at(reader, l, &detail, error);
        if (r >= 0)
                r = get_rest(reader, l, &detail, error);
        if (r >= 0)
                r = get_latency(reader, l, &detail, error);
        return r < 0 ? r : details_add(&reader->details, &detail);
}

/* --- values that contradict each other --- */

/* Rounding of a rate is one I/O or byte a second; time may be told in coarse steps. */
static bool agrees(double count, double rate, uint64_t length_ns) {
        double length_s = (double) length_ns / (double) NSEC_PER_SEC;
        return fabs(count - rate * length_s) <= AGREE_SHARE * fmax(count, rate * length_s) + length_s + 1;
}

/*
 * Where lengths are not told, that is how far the row is from the one before, or in a gap a usual step; of the first
 * row nobody knows.
 */
static int check_twin(const CsvReader *reader, const Lines *l, size_t i, const TrackRow *row, Error *error) {
        char count[COLUMN_NAME_MAX], rate[COLUMN_NAME_MAX];
        double value;

        if (reader->twins[i].index == NO_COLUMN)
                return 0;
        column_name(i, &reader->twins[i], rate);
        int r = lines_number(l, reader->twins[i].index, 0, VALUE_MAX, rate, &value, error);
        if (r < 0)
                return r;
        bool told = row->from_ns != FROM_UNKNOWN;
        if (told ? agrees(row->value, value, row->to_ns - row->from_ns)
                 : reader->end_ns == 0 || agrees(row->value, value, row->to_ns - reader->end_ns) ||
                           agrees(row->value, value, reader->shortest_ns))
                return 0;
        return lines_wrong(l, error,
                           "%s is %s and %s is %s, which contradict each other over %g s: leave out the one that is "
                           "wrong", column_name(i, &reader->columns[i], count), l->fields[reader->columns[i].index],
                           rate, l->fields[reader->twins[i].index],
                           (double) (row->to_ns - (told ? row->from_ns : reader->end_ns)) / (double) NSEC_PER_SEC);
}

/* I/Os have at least a byte each, and what moved bytes was an I/O; a rate may have been rounded to nothing. */
static int check_sizes(const CsvReader *reader, const Lines *l, const double values[static N_TRACKS], Error *error) {
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                size_t i = (size_t) d * N_QUANTITIES, k = i + 1;
                const Column *ios = &reader->columns[i], *bytes = &reader->columns[k];
                char name[COLUMN_NAME_MAX], other[COLUMN_NAME_MAX];

                if (ios->index == NO_COLUMN || bytes->index == NO_COLUMN ||
                    suffixes[ios->suffix].rate != suffixes[bytes->suffix].rate)
                        continue;
                double slack = suffixes[ios->suffix].rate ? 1 : 0;
                if (values[k] + slack >= values[i] - slack && values[k] <= (values[i] + slack) * IO_BYTES_MAX)
                        continue;
                return lines_wrong(l, error,
                                   "%s is %s and %s is %s, which contradict each other: no I/O has such a size",
                                   column_name(i, ios, name), l->fields[ios->index], column_name(k, bytes, other),
                                   l->fields[bytes->index]);
        }
        return 0;
}

/* A little is the wobble of clocks, and is cut off later. */
static int check_length(const CsvReader *reader, const Lines *l, uint64_t to_ns, uint64_t length_ns, Error *error) {
        double before_s = (double) reader->end_ns / (double) NSEC_PER_SEC;
        uint64_t left_ns = to_ns - reader->end_ns;

        if (length_ns <= left_ns || (double) (length_ns - left_ns) <= AGREE_SHARE * (double) length_ns)
                return 0;
        return lines_wrong(
                l, error,
                "the interval of %s s that ends at %s s would begin before %g s, %s; the time is expected to "
                "be that of an interval's end",
                l->fields[reader->singles[SINGLE_DURATION]], l->fields[reader->singles[SINGLE_TIME]], before_s,
                reader->end_ns > 0 ? "where the row before ended" : "where time begins");
}

/* --- a row --- */

static int read_quantity(CsvReader *reader, const Lines *l, size_t i, TrackRow row, double *ret, Error *error) {
        size_t column = reader->columns[i].index;
        char name[COLUMN_NAME_MAX];

        if (column == NO_COLUMN || (reader->tracks[i].kind == TRACK_COMPLETION_LATENCY && !l->fields[column][0]))
                return 0;
        int r = lines_number(l, column, 0, VALUE_MAX, column_name(i, &reader->columns[i], name), &row.value, error);
        if (r >= 0)
                r = check_twin(reader, l, i, &row, error);
        if (r < 0)
                return r;
        *ret = row.value;
        return track_add(&reader->tracks[i], l, row, TIME_STANDS, error);
}

static int read_quantities(CsvReader *reader, const Lines *l, TrackRow row, RecordingNotes *notes, Error *error) {
        double values[N_TRACKS] = {};
        int r = 0;

        for (size_t i = 0; r >= 0 && i < N_TRACKS; i++) {
                r = read_quantity(reader, l, i, row, &values[i], error);
                if (row.to_ns == 0 && values[i] > 0 && notes->line_at_zero == 0)
                        notes->line_at_zero = l->number;
        }
        if (r >= 0)
                r = check_sizes(reader, l, values, error);
        if (reader->end_ns > 0 && row.to_ns > reader->end_ns)
                reader->shortest_ns = MIN(reader->shortest_ns, row.to_ns - reader->end_ns);
        reader->end_ns = row.to_ns;
        return r;
}

static int read_times(const CsvReader *reader, const Lines *l, TrackRow *row, Error *error) {
        size_t time = reader->singles[SINGLE_TIME], duration = reader->singles[SINGLE_DURATION];
        const char *name = single_names[time == reader->singles[SINGLE_ELAPSED] ? SINGLE_ELAPSED : SINGLE_TIME];
        double end_s = 0, length_s = 0;

        int r = lines_number(l, time, 0, TIME_MAX_S, name, &end_s, error);
        if (r < 0)
                return r;
        row->to_ns = recording_ns(end_s, (double) NSEC_PER_SEC);
        if (reader->end_ns > 0 && row->to_ns <= reader->end_ns)
                return lines_wrong(l, error, "%s", TIME_STANDS);
        if (duration == NO_COLUMN)
                return 0;
        r = lines_number(l, duration, 0, TIME_MAX_S, single_names[SINGLE_DURATION], &length_s, error);
        if (r < 0)
                return r;
        uint64_t length_ns = recording_ns(length_s, (double) NSEC_PER_SEC);
        row->from_ns = row->to_ns - MIN(row->to_ns, length_ns);
        return check_length(reader, l, row->to_ns, length_ns, error);
}

static int read_row(CsvReader *reader, const Lines *l, RecordingNotes *notes, Error *error) {
        TrackRow row = { .from_ns = FROM_UNKNOWN };

        if (l->n_fields != reader->n_columns)
                return lines_wrong(l, error, "%zu columns, but the header has %zu%s%s", l->n_fields, reader->n_columns,
                                   l->decimal_commas ? "; decimal commas are not read, write 1.5 for 1,5" : "",
                                   l->cut_off ? "; it seems to be cut off, for it has no end" : "");
        int r = read_times(reader, l, &row, error);
        if (r >= 0)
                r = read_quantities(reader, l, row, notes, error);
        if (r >= 0 && reader->detailed && row.to_ns > 0)
                r = read_detail(reader, l, row.to_ns, error);
        return r;
}

int recording_read_csv(Recording *recording, Lines *lines, RecordingNotes *notes, Error *error) {
        _cleanup_(csv_reader_done) CsvReader reader = { .shortest_ns = UINT64_MAX };

        int r = read_header(&reader, lines, notes, error);
        while (r >= 0 && (r = lines_next(lines, error)) > 0) {
                r = read_row(&reader, lines, notes, error);
                if (lines->cut_off)
                        notes->open_line = lines->number;
        }
        return r < 0 ? r : recording_take(recording, lines->name, reader.tracks, N_TRACKS, &reader.details, error);
}

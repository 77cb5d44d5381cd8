/* SPDX-License-Identifier: MIT */

/*
 * Each file, direction and quantity is a track. The time line is made of the ends of all rows: those of different
 * tracks that lie within half a step of each other are the same interval, and the first added file tells its exact
 * end. Latencies come last, since they are told of some intervals only.
 *
 * Times are whole nanoseconds, so that what was exact stays exact. Rates become counts by carrying on what
 * rounding took, so that the sum over any stretch is right to one I/O even at a few IOPS.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/recording-internal.h"
#include "util/macro.h"
#include "util/parse.h"

#define BLOCK_BYTES_DEFAULT 4096
#define N_SILENT_MAX (UINT64_C(1) << 22) /* 48 days of seconds: more is no silence but a mistake in a time */
#define SPAN_NS_MAX (UINT64_C(1000000000) * NSEC_PER_SEC) /* thirty years, likewise */
#define EPOCH_MIN_NS (UINT64_C(946684800) * NSEC_PER_SEC)  /* 2000: such a time is a date */
#define EPOCH_MAX_NS (UINT64_C(4102444800) * NSEC_PER_SEC) /* 2100 */
#define ROUND_INTERVAL_NS (10 * NSEC_PER_MSEC)
#define ROUND_TOLERANCE 50 /* parts of an interval */

struct Recording {
        uint64_t block_bytes;
        uint64_t step_ns; /* of the first file; of the first with counts, once there is one */
        bool has_counts;
        Track *tracks;
        size_t n_tracks;
        Jobs jobs;
        bool block_told; /* by the user */
        Details details; /* of one of the files */
};

static uint64_t divide_rounded(uint64_t a, uint64_t b) {
        return a / b + (a % b >= b - b / 2);
}

static bool kind_is_latency(TrackKind kind) {
        return kind == TRACK_LATENCY || kind == TRACK_COMPLETION_LATENCY;
}

void track_done(Track *track) {
        free(track->rows);
        *track = (Track){};
}

uint64_t recording_ns(double value, double unit_ns) {
        return (uint64_t) round(value * unit_ns);
}

/* Room for one more of `size` bytes each; -ENOMEM. */
static int grow(void **items, size_t n, size_t *n_allocated, size_t size) {
        if (n < *n_allocated)
                return 0;
        size_t wanted = MAX(*n_allocated * 2, (size_t) 1024);
        void *grown = reallocarray(*items, wanted, size);
        if (!grown)
                return -ENOMEM;
        *items = grown;
        *n_allocated = wanted;
        return 0;
}

int track_add(Track *track, const Lines *l, TrackRow row, const char *says, Error *error) {
        if (row.to_ns == 0)
                return 0;
        if (track->ended || (track->n > 0 && row.to_ns <= track->rows[track->n - 1].to_ns))
                return lines_wrong(l, error, "%s", says);
        if (track->n >= N_ROWS_MAX)
                return lines_wrong(l, error, "there are more than %" PRIu64 " rows", N_ROWS_MAX);
        if (grow((void **) &track->rows, track->n, &track->n_allocated, sizeof(TrackRow)) < 0)
                return error_set(error, ERROR_FAILED, ENOMEM, "%s:%" PRIu64 ": not enough memory", l->name, l->number);
        track->rows[track->n++] = row;
        return 0;
}

int details_add(Details *details, const RecordingDetail *detail) {
        if (grow((void **) &details->items, details->n, &details->n_allocated, sizeof(RecordingDetail)) < 0)
                return -ENOMEM;
        details->items[details->n++] = *detail;
        return 0;
}

void details_done(Details *details) {
        free(details->items);
        *details = (Details){};
}

/* --- a file --- */

static int compare_u64(const void *a, const void *b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
        return (x > y) - (x < y);
}

/*
 * The median length, or where lengths are not told the median distance of the ends: the lower of two, since a gap is no
 * step. Of a single row all the time before it.
 */
static int track_step(const Track *track, uint64_t *ret_ns) {
        const TrackRow *rows = track->rows;
        bool told = rows[0].from_ns != FROM_UNKNOWN;
        size_t first = told || track->n == 1 ? 0 : 1, n = track->n - first;

        _cleanup_free_ uint64_t *steps = calloc(n, sizeof(uint64_t));
        if (!steps)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                const TrackRow *row = &rows[first + i];
                steps[i] = row->to_ns - (told ? row->from_ns : first > 0 ? row[-1].to_ns : 0);
        }
        qsort(steps, n, sizeof(uint64_t), compare_u64);
        *ret_ns = steps[(n - 1) / 2];
        return 0;
}

/*
 * Of the direction with the shortest steps: the rows of one that is hardly used are missing where nothing was done in
 * it. Latencies, missing likewise, tell the step only if there is nothing else.
 */
static int file_step(const Track *tracks, size_t n, uint64_t *ret_ns, bool *ret_counts) {
        bool counts = false;
        uint64_t step_ns = UINT64_MAX, ns;

        for (size_t i = 0; i < n; i++)
                counts |= tracks[i].n > 0 && !kind_is_latency(tracks[i].kind);
        for (size_t i = 0; i < n; i++) {
                if (tracks[i].n == 0 || (counts && kind_is_latency(tracks[i].kind)))
                        continue;
                if (track_step(&tracks[i], &ns) < 0)
                        return -ENOMEM;
                step_ns = MIN(step_ns, ns);
        }
        *ret_ns = MAX(step_ns, UINT64_C(1));
        *ret_counts = counts;
        return 0;
}

/* Tells of each row where its interval began. What lies before that and after the row before is silence. */
static void track_set_begins(Track *track, uint64_t step_ns) {
        uint64_t previous_ns = 0, long_ns = long_step_ns(step_ns);

        for (size_t i = 0; i < track->n; i++) {
                TrackRow *row = &track->rows[i];
                uint64_t distance_ns = row->to_ns - previous_ns;

                if (row->from_ns != FROM_UNKNOWN)
                        row->from_ns = MAX(row->from_ns, previous_ns);
                else if (distance_ns < long_ns)
                        row->from_ns = previous_ns;
                else if (i == 0)
                        row->from_ns = row->to_ns - step_ns;
                else
                        row->from_ns = previous_ns + (divide_rounded(distance_ns, step_ns) - 1) * step_ns;
                previous_ns = row->to_ns;
        }
}

static int no_memory(const char *name, Error *error) {
        return error_set(error, ERROR_FAILED, ENOMEM, "%s: not enough memory", name);
}

static int check_step(const Recording *recording, const char *name, uint64_t step_ns, Error *error) {
        uint64_t other_ns = recording->step_ns;

        if (!recording->has_counts || (step_ns < long_step_ns(other_ns) && other_ns < long_step_ns(step_ns)))
                return 0;
        return error_set(error, ERROR_USAGE, EINVAL,
                         "%s: its intervals are %g s and those of the files before %g s: not logs of one run", name,
                         (double) step_ns / (double) NSEC_PER_SEC, (double) other_ns / (double) NSEC_PER_SEC);
}

static int check_details(const Recording *recording, const char *name, const Details *details, Error *error) {
        if (!details || details->n == 0 || recording->details.n == 0)
                return 0;
        return error_set(error, ERROR_USAGE, EINVAL, "%s: another file tells of phases, errors or times of day "
                         "already: not recordings of one run", name);
}

static void take_rows(Recording *recording, Track *tracks, size_t n, Details *details) {
        for (size_t i = 0; i < n; i++)
                if (tracks[i].n > 0) {
                        recording->tracks[recording->n_tracks++] = tracks[i];
                        tracks[i] = (Track){};
                }
        if (details && details->n > 0) {
                recording->details = *details;
                *details = (Details){};
        }
}

int recording_take(Recording *recording, const char *name, Track *tracks, size_t n, Details *details, Error *error) {
        uint64_t step_ns;
        bool counts;
        size_t n_rows = 0;

        for (size_t i = 0; i < n; i++)
                n_rows += tracks[i].n;
        if (n_rows == 0)
                return error_set(error, ERROR_USAGE, ENODATA, "%s: there is not one row in it", name);
        if (file_step(tracks, n, &step_ns, &counts) < 0)
                return no_memory(name, error);
        int r = counts ? check_step(recording, name, step_ns, error) : 0;
        if (r >= 0)
                r = check_details(recording, name, details, error);
        if (r < 0)
                return r;

        Track *all = reallocarray(recording->tracks, recording->n_tracks + n, sizeof(Track));
        if (!all)
                return no_memory(name, error);
        recording->tracks = all;
        for (size_t i = 0; i < n; i++)
                track_set_begins(&tracks[i], step_ns);
        if (jobs_add(&recording->jobs, name, tracks, n) < 0)
                return no_memory(name, error);
        if (recording->step_ns == 0 || (counts && !recording->has_counts))
                recording->step_ns = step_ns;
        recording->has_counts |= counts;
        take_rows(recording, tracks, n, details);
        return 0;
}

int recording_add(Recording *recording, const char *name, FILE *f, RecordingFormat format, RecordingKind kind,
                  RecordingNotes *ret_notes, Error *error) {
        Lines lines = { .name = name, .f = f };
        RecordingNotes notes = {};
        double number;

        if (format != RECORDING_CSV)
                notes.left_out = recording_unneeded(name, kind);
        int r = notes.left_out ? 0 : lines_next(&lines, error);
        if (r < 0)
                return r;
        if (r == 0 && !notes.left_out)
                notes.left_out = "there is not one row in it";
        if (format == RECORDING_GUESSED && r > 0) {
                format = parse_double(lines.fields[0], &number) >= 0 ? RECORDING_FIO : RECORDING_CSV;
                if (format == RECORDING_FIO && !recording_is_fio(&lines, kind))
                        r = lines_wrong(&lines, error, "no line of a log of fio's (time in ms, value, direction 0 to "
                                        "2, maybe block size), and if this is CSV, it has no header: expected a line "
                                        "of names first, as in time_s,write_iops");
        }
        if (r > 0)
                r = format == RECORDING_FIO ? recording_read_fio(recording, &lines, kind, error)
                                            : recording_read_csv(recording, &lines, &notes, error);
        if (r >= 0)
                *ret_notes = notes;
        return MIN(r, 0);
}

/* --- the common time line --- */

typedef struct Slot {
        uint64_t from_ns, to_ns;
        double ios[N_DIRECTIONS], bytes[N_DIRECTIONS], latency_ns[N_DIRECTIONS];
        unsigned n_latencies[N_DIRECTIONS];
} Slot;

typedef struct Timeline {
        const Recording *recording;
        uint64_t step_ns;
        Slot *slots; /* in order of time */
        size_t n;

        /* What some file tells; the rest is reckoned from the other. */
        bool told_ios[N_DIRECTIONS], told_bytes[N_DIRECTIONS];
        bool assumed; /* by the size of an I/O that nobody told */
        TrackKind latency[N_DIRECTIONS];
} Timeline;

static void timeline_done(Timeline *timeline) {
        free(timeline->slots);
}

static void slot_add(Timeline *timeline, Slot *slot, const Track *track, const TrackRow *row) {
        Direction d = track->direction;
        double block_bytes = (double) (row->block_bytes > 0 ? row->block_bytes : timeline->recording->block_bytes);
        double length_s = (double) (row->to_ns - row->from_ns) / (double) NSEC_PER_SEC;
        bool rate = track->kind == TRACK_IOPS || track->kind == TRACK_BYTES_PER_S;
        bool assumes = row->block_bytes == 0 && !timeline->recording->block_told;
        double amount = rate ? row->value * length_s : row->value;

        switch (track->kind) {
        case TRACK_IOPS:
        case TRACK_IOS:
                slot->ios[d] += amount;
                if (!timeline->told_bytes[d]) {
                        slot->bytes[d] += amount * block_bytes;
                        timeline->assumed |= assumes && amount > 0;
                }
                break;
        case TRACK_BYTES_PER_S:
        case TRACK_BYTES:
                slot->bytes[d] += amount;
                if (!timeline->told_ios[d]) {
                        slot->ios[d] += amount / block_bytes;
                        timeline->assumed |= assumes && amount > 0;
                }
                break;
        case TRACK_LATENCY:
        case TRACK_COMPLETION_LATENCY:
                slot->latency_ns[d] += amount;
                slot->n_latencies[d] += amount > 0;
                break;
        }
}

static uint64_t distance_ns(uint64_t a, uint64_t b) {
        return a > b ? a - b : b - a;
}

/* -ENOMEM. */
static int timeline_merge(Timeline *timeline, const Track *track) {
        _cleanup_free_ Slot *merged = calloc(timeline->n + track->n, sizeof(Slot));
        const Slot *slots = timeline->slots;
        uint64_t same_ns = timeline->step_ns / 2;
        size_t n = 0, i = 0;
        if (!merged)
                return -ENOMEM;

        for (size_t k = 0; k < track->n; k++) {
                const TrackRow *row = &track->rows[k];
                while (i < timeline->n && slots[i].to_ns + same_ns < row->to_ns)
                        merged[n++] = slots[i++];
                /* Short intervals may lie close together: the nearest is meant. */
                while (i + 1 < timeline->n &&
                       distance_ns(slots[i + 1].to_ns, row->to_ns) < distance_ns(slots[i].to_ns, row->to_ns))
                        merged[n++] = slots[i++];
                if (i < timeline->n && slots[i].to_ns <= row->to_ns + same_ns)
                        merged[n++] = slots[i++];
                else if (kind_is_latency(track->kind) && timeline->recording->has_counts)
                        continue; /* fio tells one of the last interval, whose I/O it does not */
                else if (n == 0 || row->to_ns > merged[n - 1].to_ns)
                        merged[n++] = (Slot){ .from_ns = row->from_ns, .to_ns = row->to_ns };
                slot_add(timeline, &merged[n - 1], track, row);
        }
        while (i < timeline->n)
                merged[n++] = slots[i++];

        free(timeline->slots);
        timeline->slots = TAKE_PTR(merged);
        timeline->n = n;
        return 0;
}

static void timeline_look(Timeline *timeline) {
        const Recording *recording = timeline->recording;

        for (Direction d = 0; d < N_DIRECTIONS; d++)
                timeline->latency[d] = TRACK_LATENCY;
        for (size_t i = 0; i < recording->n_tracks; i++) {
                const Track *track = &recording->tracks[i];
                timeline->told_ios[track->direction] |= track->kind == TRACK_IOPS || track->kind == TRACK_IOS;
                timeline->told_bytes[track->direction] |= track->kind == TRACK_BYTES_PER_S ||
                                                          track->kind == TRACK_BYTES;
                if (track->kind == TRACK_COMPLETION_LATENCY)
                        timeline->latency[track->direction] = track->kind;
        }
}

static int timeline_make(Timeline *timeline) {
        const Recording *recording = timeline->recording;
        int r = 0;

        timeline_look(timeline);
        timeline->step_ns = recording->step_ns;
        for (size_t i = 0; r >= 0 && i < recording->n_tracks; i++)
                if (!kind_is_latency(recording->tracks[i].kind))
                        r = timeline_merge(timeline, &recording->tracks[i]);
        for (size_t i = 0; r >= 0 && i < recording->n_tracks; i++)
                if (recording->tracks[i].kind == timeline->latency[recording->tracks[i].direction])
                        r = timeline_merge(timeline, &recording->tracks[i]);
        return r;
}

/* How many silent intervals lie between the one before and a slot: none if that is but a wobble of clocks. */
static uint64_t n_silent(const Timeline *timeline, uint64_t previous_ns, const Slot *slot) {
        if (slot->from_ns <= previous_ns || slot->from_ns - previous_ns < (timeline->step_ns + 1) / 2)
                return 0;
        return divide_rounded(slot->from_ns - previous_ns, timeline->step_ns);
}

static int timeline_count(const Timeline *timeline, size_t *ret, Error *error) {
        const Slot *slots = timeline->slots;
        uint64_t silent = 0;

        for (size_t i = 1; i < timeline->n && silent <= N_SILENT_MAX; i++)
                silent += MIN(n_silent(timeline, slots[i - 1].to_ns, &slots[i]), N_SILENT_MAX + 1);
        if (silent > N_SILENT_MAX || slots[timeline->n - 1].to_ns - slots[0].from_ns > SPAN_NS_MAX)
                return error_set(error, ERROR_USAGE, E2BIG,
                                 "the times of the recording are too far apart for its intervals of %g s",
                                 (double) timeline->step_ns / (double) NSEC_PER_SEC);
        *ret = timeline->n + (size_t) silent;
        return 0;
}

/* The next whole number of a running sum: what rounding takes from one interval the next one gets. */
static uint64_t carry(double *rest, double amount) {
        double sum = *rest + amount, whole = fmax(0, floor(sum + 0.5));
        *rest = sum - whole;
        return (uint64_t) fmin(whole, (double) INT64_MAX);
}

typedef struct Rest {
        double ios[N_DIRECTIONS], bytes[N_DIRECTIONS];
} Rest;

static void row_set(const Timeline *timeline, RecordingRow *row, const Slot *slot, Rest *rest) {
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                row->ios[d] = carry(&rest->ios[d], slot->ios[d]);
                /* Where only I/O is told, bytes are those of whole ones. */
                double bytes = !timeline->told_bytes[d] && slot->ios[d] > 0 ?
                               slot->bytes[d] / slot->ios[d] * (double) row->ios[d] : slot->bytes[d];
                row->bytes[d] = carry(&rest->bytes[d], bytes);
                if (slot->n_latencies[d] > 0)
                        row->latency_ns[d] = (uint64_t) (slot->latency_ns[d] / slot->n_latencies[d]);
        }
}

static void rows_fill(const Timeline *timeline, RecordingSeries *series) {
        RecordingRow *rows = series->rows;
        uint64_t begin_ns = timeline->slots[0].from_ns, previous_ns = begin_ns;
        Rest rest = {};

        for (size_t i = 0; i < timeline->n; i++) {
                const Slot *slot = &timeline->slots[i];
                uint64_t silent = n_silent(timeline, previous_ns, slot), from_ns = previous_ns;
                uint64_t silent_ns = silent > 0 ? (slot->from_ns - from_ns) / silent : 0;

                if (silent > 0 && series->n_missing == 0)
                        series->missing_from_ns = from_ns - begin_ns;
                series->n_missing += silent;
                for (uint64_t k = 1; k <= silent; k++) {
                        uint64_t to_ns = k < silent ? from_ns + k * silent_ns : slot->from_ns;
                        *rows++ = (RecordingRow){ .from_ns = previous_ns - begin_ns, .to_ns = to_ns - begin_ns };
                        previous_ns = to_ns;
                }
                *rows = (RecordingRow){ .from_ns = previous_ns - begin_ns, .to_ns = slot->to_ns - begin_ns };
                row_set(timeline, rows++, slot, &rest);
                previous_ns = slot->to_ns;
        }
}

/* Rows that nobody told anything of are of the phase before them. Returns whether each detail tells of errors. */
static bool rows_detail(const Timeline *timeline, RecordingRow *rows, size_t n) {
        const Details *details = &timeline->recording->details;
        uint64_t begin_ns = timeline->slots[0].from_ns;
        uint32_t phase = 0;
        bool errors = details->n > 0;
        size_t k = 0;

        for (size_t i = 0; i < n; i++) {
                while (k < details->n && details->items[k].to_ns < rows[i].to_ns + begin_ns)
                        k++;
                if (k < details->n && details->items[k].to_ns == rows[i].to_ns + begin_ns) {
                        rows[i].detail = &details->items[k];
                        phase = details->items[k].phase - details->items[0].phase;
                        errors &= details->items[k].has_errors;
                }
                rows[i].phase = phase;
        }
        return errors;
}

/*
 * A load that changes is no change of the drive: judged as one phase, a job that ended early would be a fall. Phases
 * that a file tells go before.
 */
static int rows_split(const Timeline *timeline, RecordingSeries *series) {
        const Recording *recording = timeline->recording;
        const Details *details = &recording->details;
        uint64_t begin_ns = timeline->slots[0].from_ns, half_ns = timeline->step_ns / 2;

        if (details->n > 0 && details->items[details->n - 1].phase != details->items[0].phase)
                return 0;
        int r = jobs_find_changes(&recording->jobs, timeline->step_ns, &series->changes, &series->n_changes);
        if (r < 0)
                return r;
        uint32_t phase = 0;
        for (size_t i = 0; i < series->n; i++) {
                while (phase < series->n_changes &&
                       series->changes[phase].at_ns <= series->rows[i].from_ns + begin_ns + half_ns)
                        phase++;
                series->rows[i].phase = phase;
        }
        for (size_t i = 0; i < series->n_changes; i++)
                series->changes[i].at_ns -= MIN(series->changes[i].at_ns, begin_ns);
        return 0;
}

/* Clocks wobble, and people choose round intervals: 1.000012 s is meant to be one second. */
static uint64_t interval_rounded(uint64_t step_ns) {
        uint64_t round_ns = divide_rounded(step_ns, ROUND_INTERVAL_NS) * ROUND_INTERVAL_NS;
        return round_ns > 0 && distance_ns(round_ns, step_ns) <= step_ns / ROUND_TOLERANCE ? round_ns : step_ns;
}

void recording_series_done(RecordingSeries *series) {
        free(series->rows);
        recording_changes_free(series->changes, series->n_changes);
        *series = (RecordingSeries){};
}

int recording_get_series(const Recording *recording, RecordingSeries *ret, Error *error) {
        _cleanup_(timeline_done) Timeline timeline = { .recording = recording };
        _cleanup_(recording_series_done) RecordingSeries series = {};

        if (recording->n_tracks == 0)
                return error_set(error, ERROR_USAGE, ENODATA, "there is nothing to import: no file has a row in it");
        if (!recording->has_counts)
                return error_set(error, ERROR_USAGE, ENODATA,
                                 "there are only latencies: name the log of I/Os or of bandwidth of the same run too "
                                 "(fio: write_iops_log, write_bw_log)");
        int r = jobs_check(&recording->jobs, error);
        if (r < 0)
                return r;
        if (timeline_make(&timeline) < 0)
                return no_memory("the recording", error);
        r = timeline_count(&timeline, &series.n, error);
        if (r < 0)
                return r;
        series.rows = calloc(series.n, sizeof(RecordingRow));
        if (!series.rows)
                return no_memory("the recording", error);

        rows_fill(&timeline, &series);
        series.errors_known = rows_detail(&timeline, series.rows, series.n);
        if (rows_split(&timeline, &series) < 0)
                return no_memory("the recording", error);
        if (timeline.slots[0].from_ns >= EPOCH_MIN_NS && timeline.slots[0].from_ns < EPOCH_MAX_NS)
                series.begin_at_ns = (int64_t) timeline.slots[0].from_ns;
        series.interval_ns = interval_rounded(recording->step_ns);
        series.assumed_block_bytes = timeline.assumed ? recording->block_bytes : 0;
        *ret = series;
        series = (RecordingSeries){};
        return 0;
}

int recording_new(Recording **ret, uint64_t block_bytes) {
        Recording *recording = calloc(1, sizeof(Recording));
        if (!recording)
                return -ENOMEM;
        recording->block_told = block_bytes > 0;
        recording->block_bytes = block_bytes > 0 ? block_bytes : BLOCK_BYTES_DEFAULT;
        *ret = recording;
        return 0;
}

Recording *recording_free(Recording *recording) {
        if (!recording)
                return NULL;
        for (size_t i = 0; i < recording->n_tracks; i++)
                track_done(&recording->tracks[i]);
        details_done(&recording->details);
        jobs_done(&recording->jobs);
        free(recording->tracks);
        free(recording);
        return NULL;
}

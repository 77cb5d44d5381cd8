/* SPDX-License-Identifier: MIT */
#pragma once

/* What the readers of recordings hand to the time line. */

#include "sample/recording.h"
#include "sample/recording-lines.h"

#define TIME_MAX_S 1e10 /* also of clocks that began in 1970 */
#define VALUE_MAX 1e15
#define N_ROWS_MAX (UINT64_C(1) << 23) /* of one file and direction: three months of seconds */

typedef enum TrackKind {
        TRACK_IOPS,
        TRACK_IOS,
        TRACK_BYTES_PER_S,
        TRACK_BYTES,
        TRACK_LATENCY,            /* ns */
        TRACK_COMPLETION_LATENCY, /* ns; goes before the other */
} TrackKind;

#define FROM_UNKNOWN UINT64_MAX

typedef struct TrackRow {
        uint64_t from_ns; /* or FROM_UNKNOWN */
        uint64_t to_ns;
        double value;
        uint64_t block_bytes; /* 0: not told */
} TrackRow;

/* One direction of one quantity of one job, in order of time. */
typedef struct Track {
        TrackKind kind;
        Direction direction;
        uint32_t job; /* of those in one file, from 0 */
        TrackRow *rows;
        size_t n, n_allocated;
        bool ended; /* nothing may follow */
} Track;

/*
 * The row of the line that was read last. ERROR_USAGE with `says` if its time does not go on; one that ends at 0 is
 * left out, since at the very beginning no interval can have ended.
 */
int track_add(Track *track, const Lines *l, TrackRow row, const char *says, Error *error);
void track_done(Track *track);

/* What CSV tells beside tracks, a row each, in order of time. */
typedef struct Details {
        RecordingDetail *items;
        size_t n, n_allocated;
} Details;
int details_add(Details *details, const RecordingDetail *detail); /* -ENOMEM */
void details_done(Details *details);

/* From when to when the jobs of a run did something. */
typedef struct JobSpan {
        char *name;
        bool tells_ios, tells_bytes;
        uint64_t from_ns, to_ns;
} JobSpan;

typedef struct Jobs {
        JobSpan *items;
        size_t n;
} Jobs;

/* Those that a file tells of, by its tracks of which the begins of rows are known. -ENOMEM, and nothing is added. */
int jobs_add(Jobs *jobs, const char *name, const Track *tracks, size_t n);
void jobs_done(Jobs *jobs);

/* ERROR_USAGE if I/Os are told of more or fewer jobs than bytes. */
int jobs_check(const Jobs *jobs, Error *error);

/* At times of the tracks; *ret may be NULL. -ENOMEM. */
int jobs_find_changes(const Jobs *jobs, uint64_t step_ns, RecordingChange **ret, size_t *ret_n);
void recording_changes_free(RecordingChange *changes, size_t n);

/* From here on a step is longer than the usual one: something is missing, or it is of another file. */
static inline uint64_t long_step_ns(uint64_t step_ns) {
        return step_ns + (step_ns + 1) / 2;
}

/* Takes over those of a file's tracks that have rows, and its details; all or nothing. details: may be NULL. */
int recording_take(Recording *recording, const char *name, Track *tracks, size_t n, Details *details, Error *error);

/* Rounded to the nearest. */
uint64_t recording_ns(double value, double unit_ns);

/*
 * Of a file whose first line with something in it has been read. kind: what fio's log holds, or unknown: its name tells
 * it. A last line that has no end is cut off for fio, which ends each; of CSV it is taken, and told.
 */
int recording_read_fio(Recording *recording, Lines *lines, RecordingKind kind, Error *error);
int recording_read_csv(Recording *recording, Lines *lines, RecordingNotes *notes, Error *error);

/* Whether the line may be one of fio's log, in a file of that name; kind: what it is said to hold. */
bool recording_is_fio(const Lines *lines, RecordingKind kind);

/* Why a log of fio's is not needed, told by its name; NULL if it is. */
const char *recording_unneeded(const char *name, RecordingKind kind);

/* SPDX-License-Identifier: MIT */
#pragma once

/* What the readers of recordings hand to the time line. */

#include "sample/recording.h"

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
        TrackRow *rows;
        size_t n, n_allocated;
        bool ended; /* nothing may follow */
} Track;

/* -ENOMEM. */
int track_add(Track *track, TrackRow row);
void track_done(Track *track);

/* Takes over those of a file's tracks that have rows; all or none. */
int recording_take(Recording *recording, const char *name, Track *tracks, size_t n, Error *error);

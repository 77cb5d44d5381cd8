/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/job.h"

/*
 * Where the order of I/O of a ring thread's share of a phase stood at a moment (engine/pattern.h), so that it can be
 * taken up again there. Indices are those of the pattern; [first_index, low_index) has been submitted without a gap and
 * has completed.
 */
typedef struct Position {
        uint64_t first_index;  /* where it began, or went on after the last gap */
        uint64_t low_index;    /* the lowest one that had not completed */
        uint64_t next_index;   /* the next to be submitted */
        uint64_t next_write;   /* number of the ring thread's next write; no two of a run have the same */
        uint64_t done_bytes;   /* of the share, towards its limit: submitted, but for those that had not completed */

        /* Completed at least POSITION_SETTLED_NS before: no cache of a drive holds them back any more. */
        uint64_t settled_from, settled_to;
} Position;

/* Of each share of a phase (spec/share.h), in their order. */
typedef struct Positions {
        uint32_t n; /* 0: nothing is known */
        Position of[JOB_WORKERS_MAX];
} Positions;

#define POSITION_SETTLED_NS (UINT64_C(30) * 1000 * 1000 * 1000)

/* What had completed at a moment, until that is long enough ago. */
typedef struct PositionMark {
        uint64_t low_index;
        uint64_t at_ns; /* monotonic */
} PositionMark;

/*
 * To be called each second or so. What had completed at the mark has settled once the mark is old enough, and a new
 * one is made. Of two ranges with a gap between the longer one is kept: it is the better proof of what was written.
 */
void position_settle(Position *position, PositionMark *mark, uint64_t now_ns);

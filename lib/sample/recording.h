/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Runs that another tool recorded: fio's interval logs and CSV, as intervals on one common time line.
 *
 * Several files make one recording: logs of the same kind are the jobs of a run and are summed, logs of different kinds
 * describe the same run. A row tells when its interval ended; the usual step is the median one, and where a step is 1.5
 * times that or more, the drive did nothing in between: such intervals are zero.
 */

#include <stddef.h>
#include <stdint.h>

#include "spec/direction.h"
#include "util/error.h"

typedef enum RecordingKind {
        RECORDING_UNKNOWN,   /* by the name: NAME_iops.1.log, _bw, _lat, _clat, _slat */
        RECORDING_IOPS,
        RECORDING_BANDWIDTH, /* KiB/s */
        RECORDING_LATENCY,   /* ns, the mean of the interval */
} RecordingKind;

/* -EINVAL for a word that is none of iops, bw, lat. */
int recording_kind_from_name(const char *name, RecordingKind *ret);

typedef struct RecordingRow {
        uint64_t from_ns, to_ns; /* since the recording began */
        uint64_t ios[N_DIRECTIONS];
        uint64_t bytes[N_DIRECTIONS];
        uint64_t latency_ns[N_DIRECTIONS]; /* mean; 0: not told */
} RecordingRow;

typedef struct Recording Recording;

/* block_bytes: of an I/O where the log does not tell; 0: 4096. -ENOMEM. */
int recording_new(Recording **ret, uint64_t block_bytes);
Recording *recording_free(Recording *recording);
DEFINE_CLEANUP(Recording *, recording_free)

/*
 * Adds a file (length bytes, not NUL-terminated). name stands in messages and may tell the kind. ERROR_USAGE with "name:17: ..." for a
 * line that is wrong or cut off, and for a file without any row; nothing of the file is then kept.
 */
int recording_add_fio(Recording *recording, const char *name, const char *text, size_t length, RecordingKind kind, Error *error);

/*
 * CSV with a header line, separated by commas, semicolons, tabs or blanks; lines that start with # are comments. Columns: time_s (or
 * elapsed_s) is the end of an interval, and of read, write and trim each _iops, _ios, _bytes, _bytes_per_s, _latency_ns;
 * duration_s, if there, tells the interval's length. Others are left out.
 */
int recording_add_csv(Recording *recording, const char *name, const char *text, size_t length, Error *error);

/* Lays all files on one time line. *ret_rows is owned by the caller. -ENODATA if nothing was added. */
int recording_get_rows(const Recording *recording, RecordingRow **ret_rows, size_t *ret_n, Error *error);

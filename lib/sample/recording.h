/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Runs that another tool recorded: fio's interval logs and CSV, as intervals on one common time line.
 *
 * Several files make one recording: logs of the same kind are the jobs of a run and are summed, logs of different kinds
 * describe the same run. A row tells when its interval ended; the usual step is the median one of the file, and where a
 * step is 1.5 times that or more, the drive did nothing in between: such intervals are zero.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/direction.h"
#include "util/error.h"

typedef enum RecordingKind {
        RECORDING_UNKNOWN,   /* by the name: NAME_iops.1.log, _bw, _lat, _clat */
        RECORDING_IOPS,
        RECORDING_BANDWIDTH, /* KiB/s */
        RECORDING_LATENCY,   /* ns, the mean of the interval */
} RecordingKind;

/* -EINVAL for a word that is none of iops, bw, lat, clat. */
int recording_kind_from_name(const char *name, RecordingKind *ret);

/* Intervals in order, each beginning where the one before ended, the first at 0. One may have been told to be empty. */
typedef struct RecordingRow {
        uint64_t from_ns, to_ns;
        uint64_t ios[N_DIRECTIONS];
        uint64_t bytes[N_DIRECTIONS];
        uint64_t latency_ns[N_DIRECTIONS]; /* mean; 0: not told */
} RecordingRow;

typedef struct Recording Recording;

/* block_bytes: of an I/O where the log does not tell; 0: 4096. -ENOMEM. */
int recording_new(Recording **ret, uint64_t block_bytes);
Recording *recording_free(Recording *recording);
DEFINE_CLEANUP(Recording *, recording_free)
#define _cleanup_recording_ _cleanup_(recording_freep)

/*
 * Both add a file (length bytes, not NUL-terminated). name stands in messages. ERROR_USAGE with "name:17: ..." for a
 * line that is wrong or cut off, and for a file without any row, or with other intervals than the files before;
 * nothing of the file is then kept.
 *
 * fio: lines of 3 to 7 columns, of which time in ms, value, direction and block size are read; decimals are allowed.
 * Time that starts again, as with per_job_logs=0, is another job. With kind unknown the name tells it. Where both lat
 * and clat are there, clat counts. The last two rows of a log of latencies may have the same time and are then one, the
 * mean of both: so fio ends.
 *
 * CSV: a header line, then rows; separated by commas, semicolons, tabs or blanks; lines that start with # are comments.
 * Columns, in either case: time_s (or elapsed_s) is the end of an interval; of read, write and trim each _iops, _ios,
 * _bytes, _bytes_per_s, _latency_ns, of which counts go before rates, and a latency may be empty; duration_s, if there,
 * tells the interval's length; phase, if there, is the same in all rows. Others are left out.
 */
int recording_add_fio(Recording *recording, const char *name, const char *text, size_t length, RecordingKind kind,
                      Error *error);
int recording_add_csv(Recording *recording, const char *name, const char *text, size_t length, Error *error);

/*
 * Why a file of fio's that lies beside the others is not needed, a static text; NULL if it is. fio writes a log of
 * submission latencies, and maybe of histograms, together with those that are wanted, and leaves some empty.
 */
const char *recording_unneeded(const char *name, const char *text, size_t length, RecordingKind kind);

/* Whether the first line that is no comment is a line of numbers, as in fio's logs, and not a header. */
bool recording_is_fio(const char *text, size_t length);

/*
 * Lays all files on one time line, which begins with the first interval. What is told by counts comes out as it was;
 * rates become counts whose sum over any stretch is right to one I/O. *ret_rows is owned by the caller. ERROR_USAGE if
 * nothing was added, or latencies only (-ENODATA), or the times are too far apart (-E2BIG).
 */
int recording_get_rows(const Recording *recording, RecordingRow **ret_rows, size_t *ret_n, Error *error);

/* The usual length of an interval, of the first file; 0 before any is added. */
uint64_t recording_interval_ns(const Recording *recording);

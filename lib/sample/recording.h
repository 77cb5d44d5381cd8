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
#include <stdio.h>

#include "spec/job.h"
#include "util/error.h"

typedef enum RecordingKind {
        RECORDING_UNKNOWN,   /* by the name: NAME_iops.1.log, _bw, _lat, _clat */
        RECORDING_IOPS,
        RECORDING_BANDWIDTH, /* KiB/s */
        RECORDING_LATENCY,   /* ns, the mean of the interval */
} RecordingKind;

/* -EINVAL for a word that is none of iops, bw, lat, clat. */
int recording_kind_from_name(const char *name, RecordingKind *ret);

/* What CSV told of an interval beside its counts. */
typedef struct RecordingDetail {
        uint64_t to_ns; /* as in the file */
        uint32_t phase; /* as in the file, never less than in the row before */
        uint32_t in_flight;
        uint64_t oldest_ns;
        bool is_in_ramp; /* of its phase, in which all before it is, too */
        bool has_at, has_errors, has_percentiles;
        int64_t at_ns; /* CLOCK_REALTIME at its end */
        uint64_t errors;
        uint64_t latency_mean_ns; /* all directions together, as the next ones; 0: not told */
        uint64_t latency_p50_ns, latency_p99_ns, latency_max_ns;
        double cpu_percent, worker_cpu_percent, ring_cpu_percent, held_percent, temperature_c; /* NaN: not told */
} RecordingDetail;

/* Intervals in order, each beginning where the one before ended, the first at 0. One may have been told to be empty. */
typedef struct RecordingRow {
        uint64_t from_ns, to_ns;
        uint64_t ios[N_DIRECTIONS];
        uint64_t bytes[N_DIRECTIONS];
        uint64_t latency_ns[N_DIRECTIONS]; /* mean; 0: not told */
        uint32_t phase; /* from 0, never less than in the row before; numbers may be left out */
        const RecordingDetail *detail; /* the recording's; NULL: nothing was told */
} RecordingRow;

#define RECORDING_N_PHASES_MAX JOB_N_PHASES_MAX /* so that what was exported can be imported */

typedef struct Recording Recording;

/* block_bytes: of an I/O where the log does not tell; 0: 4096. -ENOMEM. */
int recording_new(Recording **ret, uint64_t block_bytes);
Recording *recording_free(Recording *recording);
DEFINE_CLEANUP(Recording *, recording_free)
#define _cleanup_recording_ _cleanup_(recording_freep)

typedef enum RecordingFormat {
        RECORDING_GUESSED, /* fio if the file begins with a line of numbers; one that no log of fio's has is an error */
        RECORDING_FIO,
        RECORDING_CSV,
} RecordingFormat;

typedef struct RecordingNotes {
        /*
         * Why a file is not needed, and was left out, a static text; NULL if it was added. fio writes a log of
         * submission latencies, and maybe of histograms, together with those that are wanted, and leaves some empty.
         */
        const char *left_out;
        uint64_t open_line; /* of CSV: the last line, taken though it has no end and may be cut off; 0: none */
        uint64_t line_at_zero; /* of CSV: the first row left out because its interval ended at 0; 0: none had values */
        char unknown_columns[128]; /* of CSV: "a, b, ..." that mean nothing, from outside; empty: none */
} RecordingNotes;

/*
 * Adds a file, read from f to its end. name stands in messages and tells what a log of fio holds, unless kind does.
 * ERROR_USAGE with "name:17: ..." for a line that is wrong or cut off, and for a file of another form, without any row,
 * or with other intervals than the files before; nothing of the file is then kept.
 *
 * fio: lines of 3 to 7 columns, of which time in ms, value, direction and block size are read; decimals are allowed.
 * Time that starts again, as with per_job_logs=0, is another job. Where both lat and clat are there, clat counts. The
 * last two rows of a log of latencies may have the same time and are then one, the mean of both: so fio ends.
 *
 * CSV: a header line, then rows; separated by commas, semicolons, tabs or blanks; lines that start with # are comments.
 * Columns, in either case: time_s (or elapsed_s) is the end of an interval; of read, write and trim each _iops, _ios,
 * _bytes, _bytes_per_s, _latency_ns, of which counts go before rates, and a latency may be empty; duration_s, if there,
 * tells the interval's length. A count and a rate of the same must agree to a tenth, and I/Os with bytes so far that
 * such I/Os can be. What `plateau export` writes besides is a RecordingDetail, and may be empty: phase, which never
 * goes back, ramp (1: in that of its phase), at, errors, in_flight, oldest_io_ns, cpu_percent, worker_cpu_percent,
 * ring_cpu_percent, held_percent, temperature_c,
 * latency_mean_ns, and latency_p50_ns, _p99_ns and _max_ns, of which all count or none. One file of a recording may
 * have these. Others are left out, and told; but a quantity without a direction ("iops") is an error, and so is a name
 * that is there twice.
 */
int recording_add(Recording *recording, const char *name, FILE *f, RecordingFormat format, RecordingKind kind,
                  RecordingNotes *ret_notes, Error *error);

/* Some jobs ended, or began, while others went on: what follows is another load, and so a phase of its own. */
typedef struct RecordingChange {
        uint32_t phase; /* from 1 */
        uint64_t at_ns;
        char *text; /* which: "x_iops.2.log ended", from outside */
} RecordingChange;

typedef struct RecordingSeries {
        RecordingRow *rows;
        size_t n; /* at least 1 */
        RecordingChange *changes; /* in order */
        size_t n_changes;
        int64_t begin_at_ns;  /* CLOCK_REALTIME, where times count from 1970 (fio: log_unix_epoch); 0: not told */
        uint64_t interval_ns; /* the usual length, rounded as intervals that people choose are */
        uint64_t n_missing; /* rows that nobody told anything of, between others: no I/O */
        uint64_t missing_from_ns; /* where the first of them begins */
        bool errors_known; /* each row with a detail tells them */
        uint64_t assumed_block_bytes; /* without which bytes, or I/Os, could not be reckoned; 0: nothing was assumed */
} RecordingSeries;
void recording_series_done(RecordingSeries *series);

/*
 * Lays all files on one time line, which begins with the first interval. What is told by counts comes out as it was;
 * rates become counts whose sum over any stretch is right to one I/O. *ret lives no longer than the recording.
 * Where a job (a file, or one of those in a file) ended 1.5 steps or more before another, or began so much later, a
 * phase ends, unless the files tell of phases themselves.
 * ERROR_USAGE if nothing was added, or latencies only (-ENODATA), or logs of I/Os and of bandwidth of unlike numbers of
 * jobs (-EINVAL), or the times are too far apart (-E2BIG).
 */
int recording_get_series(const Recording *recording, RecordingSeries *ret, Error *error);

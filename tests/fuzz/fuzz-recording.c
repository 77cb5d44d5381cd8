/* SPDX-License-Identifier: MIT */

/* Recordings: a bad one is refused with words and leaves nothing, a good one is a time line without holes. */

#include <errno.h>

#include "fuzz.h"
#include "sample/recording.h"
#include "util/cleanup.h"
#include "util/macro.h"

static void check_series(const Recording *recording) {
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_(recording_series_done) RecordingSeries series = {};

        if (recording_get_series(recording, &series, &error) < 0) {
                fuzz_require(error.kind == ERROR_USAGE && error.message && !series.rows);
                return;
        }
        fuzz_require(series.n > 0 && series.rows[0].from_ns == 0 && series.interval_ns > 0);
        for (size_t i = 0; i < series.n; i++) {
                const RecordingRow *row = &series.rows[i];

                fuzz_require(row->from_ns <= row->to_ns && row->phase < RECORDING_N_PHASES_MAX);
                fuzz_require(i == 0 || (row->from_ns == row[-1].to_ns && row->phase >= row[-1].phase));
        }
        fuzz_require(series.rows[series.n - 1].to_ns <= UINT64_C(1000000000) * NSEC_PER_SEC);
}

/* What the reader says of a file; whether it took it. */
static bool was_taken(int r, const Error *error) {
        fuzz_require(r == 0 ? error->kind == ERROR_NONE : error->kind == ERROR_USAGE && error->message);
        return r == 0;
}

static bool add(Recording *recording, const uint8_t *data, size_t size, RecordingFormat format, RecordingKind kind) {
        _cleanup_fclose_ FILE *f = size > 0 ? fmemopen((void *) data, size, "r") : NULL;
        _cleanup_error_ Error error = ERROR_INIT;
        RecordingNotes notes;

        return f && was_taken(recording_add(recording, "f", f, format, kind, &notes, &error), &error);
}

/* The same file twice is two jobs, unless it tells what only one can. */
static void check(const uint8_t *data, size_t size, RecordingFormat format, RecordingKind kind) {
        _cleanup_recording_ Recording *recording = NULL;

        if (recording_new(&recording, 0) < 0 || !add(recording, data, size, format, kind))
                return;
        check_series(recording);
        fuzz_require(add(recording, data, size, format, kind) || format != RECORDING_FIO);
        check_series(recording);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        check(data, size, RECORDING_FIO, RECORDING_IOPS);
        check(data, size, RECORDING_FIO, RECORDING_LATENCY);
        check(data, size, RECORDING_CSV, RECORDING_UNKNOWN);
        check(data, size, RECORDING_GUESSED, RECORDING_BANDWIDTH);
        return 0;
}

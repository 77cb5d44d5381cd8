/* SPDX-License-Identifier: MIT */

/* Recordings: a bad one is refused with words and leaves nothing, a good one is a time line without holes. */

#include <errno.h>

#include "fuzz.h"
#include "sample/recording.h"
#include "util/macro.h"

static void check_rows(const Recording *recording) {
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_free_ RecordingRow *rows = NULL;
        size_t n = 0;

        if (recording_get_rows(recording, &rows, &n, &error) < 0) {
                fuzz_require(error.kind == ERROR_USAGE && error.message && !rows);
                return;
        }
        fuzz_require(n > 0 && rows[0].from_ns == 0 && recording_interval_ns(recording) > 0);
        for (size_t i = 0; i < n; i++) {
                fuzz_require(rows[i].from_ns <= rows[i].to_ns);
                fuzz_require(i == 0 || rows[i].from_ns == rows[i - 1].to_ns);
        }
        fuzz_require(rows[n - 1].to_ns <= UINT64_C(1000000000) * NSEC_PER_SEC);
}

/* What a reader says of a file; whether it took it. */
static bool was_taken(int r, const Error *error) {
        fuzz_require(r == 0 ? error->kind == ERROR_NONE : error->kind == ERROR_USAGE && error->message);
        return r == 0;
}

/* The same file twice is two jobs. */
static void check_fio(const char *text, size_t size, RecordingKind kind) {
        _cleanup_recording_ Recording *recording = NULL;
        _cleanup_error_ Error first = ERROR_INIT, second = ERROR_INIT;

        if (recording_new(&recording, 0) < 0)
                return;
        if (!was_taken(recording_add_fio(recording, "f", text, size, kind, &first), &first))
                return;
        fuzz_require(was_taken(recording_add_fio(recording, "g", text, size, kind, &second), &second));
        check_rows(recording);
}

static void check_csv(const char *text, size_t size) {
        _cleanup_recording_ Recording *recording = NULL;
        _cleanup_error_ Error error = ERROR_INIT;

        if (recording_new(&recording, 512) >= 0 &&
            was_taken(recording_add_csv(recording, "f", text, size, &error), &error))
                check_rows(recording);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *text = (const char *) data;

        recording_is_fio(text, size);
        check_fio(text, size, RECORDING_IOPS);
        check_fio(text, size, RECORDING_LATENCY);
        check_csv(text, size);
        return 0;
}

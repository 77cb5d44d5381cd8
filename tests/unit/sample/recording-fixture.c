/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <string.h>

#include "recording-fixture.h"
#include "util/cleanup.h"

Recording *recording;
RecordingSeries series;
RecordingRow *rows; /* of the series */
size_t n_rows;
RecordingNotes notes;
Error said;

void set_up(void) {
        ck_assert_int_eq(recording_new(&recording, 0), 0);
        rows = NULL;
        n_rows = 0;
        notes = (RecordingNotes){};
        said = ERROR_INIT;
}

void tear_down(void) {
        recording = recording_free(recording);
        recording_series_done(&series);
        error_clear(&said);
}

int try_bytes(const char *name, const char *data, size_t length, RecordingFormat format, RecordingKind kind) {
        _cleanup_fclose_ FILE *f = length > 0 ? fmemopen((void *) data, length, "r") : fopen("/dev/null", "r");
        ck_assert_ptr_nonnull(f);
        return recording_add(recording, name, f, format, kind, &notes, &said);
}

int try_fio(const char *name, const char *text, RecordingKind kind) {
        return try_bytes(name, text, strlen(text), RECORDING_FIO, kind);
}

int try_csv(const char *text) {
        return try_bytes("a.csv", text, strlen(text), RECORDING_CSV, RECORDING_UNKNOWN);
}

void fio(const char *name, const char *text) {
        ck_assert_msg(try_fio(name, text, RECORDING_UNKNOWN) == 0, "%s", error_message(&said));
        ck_assert_msg(!notes.left_out, "%s", notes.left_out);
}

void csv(const char *text) {
        ck_assert_msg(try_csv(text) == 0, "%s", error_message(&said));
}

int get_series(void) {
        recording_series_done(&series);
        int r = recording_get_series(recording, &series, &said);
        rows = series.rows;
        n_rows = series.n;
        return r;
}

void get(size_t n) {
        ck_assert_msg(get_series() == 0, "%s", error_message(&said));
        ck_assert_uint_eq(n_rows, n);
        ck_assert_uint_eq(rows[0].from_ns, 0);
        for (size_t i = 1; i < n; i++)
                ck_assert_uint_eq(rows[i].from_ns, rows[i - 1].to_ns);
}

void expect_row(size_t i, uint64_t to_ms, Direction d, uint64_t ios, uint64_t bytes) {
        ck_assert_uint_eq(rows[i].to_ns, to_ms * NSEC_PER_MSEC);
        ck_assert_uint_eq(rows[i].ios[d], ios);
        ck_assert_uint_eq(rows[i].bytes[d], bytes);
}

void expect_error(int r, const char *says) {
        ck_assert_int_lt(r, 0);
        ck_assert_int_eq(said.kind, ERROR_USAGE);
        ck_assert_msg(strstr(error_message(&said), says), "'%s' not in '%s'", says, error_message(&said));
        error_clear(&said);
}

void expect_refused(int r, const char *says) {
        expect_error(r, says);
        ck_assert_int_eq(get_series(), -ENODATA);
        ck_assert_int_eq(said.kind, ERROR_USAGE);
        error_clear(&said);
}

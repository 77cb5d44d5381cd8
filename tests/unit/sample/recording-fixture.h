/* SPDX-License-Identifier: MIT */
#pragma once

/* A recording in the making, and what came of it. */

#include "sample/recording.h"
#include "unit.h"
#include "util/macro.h"

#define S NSEC_PER_SEC
#define R DIRECTION_READ
#define W DIRECTION_WRITE
#define T DIRECTION_TRIM

extern Recording *recording;
extern RecordingSeries series;
extern RecordingRow *rows; /* of the series */
extern size_t n_rows;
extern RecordingNotes notes;
extern Error said;

void set_up(void);
void tear_down(void);

/* What recording_add() says of it. */
int try_bytes(const char *name, const char *data, size_t length, RecordingFormat format, RecordingKind kind);
int try_fio(const char *name, const char *text, RecordingKind kind);
int try_csv(const char *text);

/* These must be taken. */
void fio(const char *name, const char *text);
void csv(const char *text);

/* What recording_get_series() says. */
int get_series(void);
/* It must say n rows without holes. */
void get(size_t n);
void expect_row(size_t i, uint64_t to_ms, Direction d, uint64_t ios, uint64_t bytes);

/* That was an error of usage with these words. */
void expect_error(int r, const char *says);
/* Likewise, and nothing is kept. */
void expect_refused(int r, const char *says);

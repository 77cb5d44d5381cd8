/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A file that is there when it is whole, and not at all before. It never takes the place of another one, so that no
 * slip of the hand costs a file or a disk.
 */

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

typedef struct OutputFile {
        char *path; /* NULL: not open */
        FILE *f;
        bool named; /* it has its name already, and loses it unless it is kept */
} OutputFile;

/* ERROR_USAGE (-EEXIST) if something has this name. */
int output_file_open(OutputFile *ret, const char *path, Error *error);

/*
 * Writes it out and gives it its name. r: what writing to it has returned; if that failed, this only puts it in words.
 * After an error, or without this, nothing of it remains.
 */
int output_file_keep(OutputFile *file, int r, Error *error);

/* Forgets a file that was kept: it loses its name again. */
void output_file_remove(OutputFile *file);

void output_file_done(OutputFile *file);

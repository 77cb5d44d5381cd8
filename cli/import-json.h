/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "util/error.h"

/*
 * The samples in what `export --format json` (and `samples --json`) writes, read from f to its end, as the CSV that
 * import reads: a new file in memory, open at its beginning, which the caller closes. ERROR_USAGE with the name where
 * the document is cut off, has no samples, or is no such document.
 */
int import_json_to_csv(FILE *f, const char *name, FILE **ret, Error *error);

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "cli.h"
#include "query.h"

/* The document of `samples --json` of a run, of all of whose phases these are, each sample a row, on f. */
int samples_print_document(Cli *cli, FILE *f, Store *store, const StoreRun *run, const QueryPhases *phases,
                           const StoreSampleQuery *query, Error *error);

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "cli.h"
#include "store/store.h"

/* The document of `samples --json` of a run, each sample a row, on f. */
int samples_print_document(Cli *cli, FILE *f, Store *store, const StoreRun *run, const StoreSampleQuery *query,
                           Error *error);

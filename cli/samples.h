/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "cli.h"
#include "store/store.h"

/* The document of `samples --json`, each sample a row, on f. interval_ns: the usual length of a sample. */
int samples_print_document(Cli *cli, FILE *f, Store *store, const StoreSampleQuery *query, uint64_t interval_ns,
                           Error *error);

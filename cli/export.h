/* SPDX-License-Identifier: MIT */
#pragma once

/* The formats in which samples leave, each on files that are open. */

#include <stdio.h>

#include "query.h"

typedef struct Export {
        Store *store;
        StoreRun run;
        QueryPhases phases;
        StoreSampleQuery query; /* of which phase; all samples of it */
} Export;

/*
 * One row a sample, with a header. Times and durations are exact to the nanosecond; what is not known is empty. Of
 * each direction's latency the mean is told. `import` makes the same run of it. -EIO if it could not be written.
 */
int export_csv_write(const Export *export, FILE *f, Error *error);

typedef enum FioLog {
        FIO_LOG_IOPS,
        FIO_LOG_BW,   /* KiB/s */
        FIO_LOG_CLAT, /* mean in ns, where something completed */
        N_FIO_LOGS,
} FioLog;

extern const char *const fio_log_names[N_FIO_LOGS]; /* "iops", "bw", "clat": in the files' names */

/*
 * fio's interval logs on those of the files that are not NULL: time in ms since the beginning of what is exported,
 * value, direction, block size. Time and value have decimals where whole numbers would not be exact. Such a log does
 * not tell how long an interval was: a sample that is much longer than the usual ones becomes several rows at its
 * rate.
 */
int export_fio_write(const Export *export, FILE *const files[static N_FIO_LOGS], Error *error);

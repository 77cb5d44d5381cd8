/* SPDX-License-Identifier: MIT */
#pragma once

/* A folder for each test, removed whatever happens to the test, and things to put into a database. */

#include "store/store-internal.h"
#include "unit.h"

/* Set by the fixture for each test. */
extern char *test_dir;
extern char *test_path; /* of a database that is not there yet */

#define TEST_GROUP 31415 /* of test_dir, which hands it on to its files */

/* A test case with the fixture. */
TCase *store_case(const char *name);

/* "test_dir/NAME", allocated. */
char *test_file(const char *name);

Store *open_writer(void); /* of test_path */
Store *open_reader(void);

/* One number from the database. */
int64_t sql_number(Store *store, const char *sql);
void sql_run(const char *path, const char *sql);

/* Calls to the store that must work, each in its own transaction. */
uint32_t add_run(Store *store);
void add_sample(Store *store, uint32_t run, const Sample *sample);

/* The run's parts, for tests that look at every field. */
StoreNewRun new_run(void);

/* A second of writes, seq seconds into the run; of phase 0. Owned by the caller. */
Sample *new_sample(uint64_t seq);

/* What is in the file; what is in the folder, names and contents: in one number. */
uint64_t file_fingerprint(const char *path);
uint64_t dir_fingerprint(const char *path);

/* Runs function in a child of another user that is only a member of TEST_GROUP; its result. */
int run_unprivileged(int (*function)(void));

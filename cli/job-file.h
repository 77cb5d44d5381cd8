/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/job.h"

/*
 * Reads and validates the preset of that name or else the job file at path; "-" is standard input, called "stdin".
 * A file that has the name of a preset is meant by ./NAME alone: what a name means must not depend on the directory.
 * ERROR_USAGE for a bad job, and for a path that leads to no readable file. *ret_file_name (may be NULL) is what the
 * service shall call it, borrowed from path.
 */
int job_file_read(Job **ret, const char *path, const char **ret_file_name, Error *error);

/* The [expect] section of a job file, or of a file that has nothing else. The rest of a job must be valid too. */
int job_file_read_expectations(Expectations *ret, const char *path, Error *error);

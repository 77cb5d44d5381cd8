/* SPDX-License-Identifier: MIT */
#pragma once

/* Jobs as tests read them. */

#include <string.h>

#include "spec/job.h"
#include "unit.h"

/* Parses a job that must be good. The caller frees it. */
static inline Job *parse_good(const char *text) {
        _cleanup_error_ Error error = ERROR_INIT;
        Job *job = NULL;

        ck_assert_msg(job_parse(&job, "t.fio", text, strlen(text), &error) == 0, "%s\n%s", text, error_message(&error));
        return job;
}

/* Parses a job that must be bad, and whose message must hold each of words (NULL-terminated). */
static inline void check_refused(const char *text, int result, const char *const *words) {
        _cleanup_error_ Error error = ERROR_INIT;
        Job *job = NULL;
        int r = job_parse(&job, "t.fio", text, strlen(text), &error);

        ck_assert_msg(r == result, "%d for\n%s", r, text);
        ck_assert_ptr_null(job);
        ck_assert_int_eq(error.kind, ERROR_USAGE);
        for (; *words; words++)
                ck_assert_msg(strstr(error_message(&error), *words),
                              "no \"%s\" in \"%s\"", *words, error_message(&error));
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

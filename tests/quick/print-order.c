/* SPDX-License-Identifier: MIT */

/*
 * print-order JOB SIZE N: the first N I/Os of the job's first phase on a target of SIZE bytes, one a line, as fio's
 * logs tell them: direction, bytes, offset.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/pattern.h"
#include "util/parse.h"

static int bind_job(Plan **ret, const char *path, uint64_t size_bytes, Error *error) {
        const PlanTarget target = { .size_bytes = size_bytes, .logical_block_bytes = 512, .can_discard = true };
        _cleanup_(fclosep) FILE *file = fopen(path, "re");
        _cleanup_job_ Job *job = NULL;
        char text[4096];

        if (!file)
                return error_set(error, ERROR_USAGE, errno, "%s: cannot be read", path);
        size_t n = fread(text, 1, sizeof(text), file);
        int r = job_parse(&job, path, text, n, error);
        return r < 0 ? r : plan_new(ret, job, &target, 0, error);
}

int main(int argc, char **argv) {
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_plan_ Plan *plan = NULL;
        uint64_t size_bytes, n;
        Pattern pattern;

        if (argc != 4 || parse_u64(argv[2], &size_bytes) < 0 || parse_u64(argv[3], &n) < 0) {
                fprintf(stderr, "usage: print-order JOB SIZE N\n");
                return EXIT_FAILURE;
        }
        if (bind_job(&plan, argv[1], size_bytes, &error) < 0) {
                fprintf(stderr, "%s\n", error_message(&error));
                return EXIT_FAILURE;
        }
        pattern_init(&pattern, &plan->phases[0], 0);
        for (uint64_t i = 0; i < n; i++) {
                PatternOp op = pattern_at(&pattern, i);

                printf("%d %" PRIu32 " %" PRIu64 "\n", (int) op.direction, op.length, op.offset);
        }
        return EXIT_SUCCESS;
}

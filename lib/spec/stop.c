/* SPDX-License-Identifier: MIT */

#include "spec/stop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/macro.h"
#include "util/parse.h"

static int set_errors_max(Job *job, const char *value) {
        return parse_u64_range(value, 0, INT64_MAX, &job->stop_errors_max);
}

static int set_written_max(Job *job, const char *value) {
        Extent extent = { .kind = EXTENT_BYTES };
        int r = parse_size(value, &extent.value);

        if (r == -EINVAL) {
                extent.kind = EXTENT_FILLS;
                r = parse_fills(value, &extent.value);
        }
        if (r < 0)
                return r;
        if (extent.value == 0)
                return -ERANGE;
        job->stop_written_max = extent;
        return 0;
}

static int set_snia_iops_steady(Job *job, const char *value) {
        uint64_t number;
        int r = parse_u64_range(value, 0, 1, &number);

        if (r < 0)
                return r;
        job->stop_snia_iops_steady = number == 1;
        return 0;
}

const StopOption stop_options[] = {
        { "errors_max", set_errors_max, "a number from 0" },
        { "written_max", set_written_max,
          "bytes, as in 10t, or how often the target is filled, as in '2.5 fills', above 0" },
        { "snia_iops_steady", set_snia_iops_steady, "1, or 0 for not" },
        { .name = "wear_max" },
        { .name = "spare_min" },
        { .name = "temperature_max" },
};

const size_t stop_options_n = ELEMENTSOF(stop_options);

const StopOption *stop_option_find(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(stop_options); i++)
                if (strcmp(stop_options[i].name, name) == 0)
                        return &stop_options[i];
        return NULL;
}

const char *stop_option_names(char buf[static STOP_NAMES_MAX]) {
        const char *names[ELEMENTSOF(stop_options)];
        char *end = buf;
        size_t n = 0;

        for (size_t i = 0; i < ELEMENTSOF(stop_options); i++)
                if (stop_options[i].set)
                        names[n++] = stop_options[i].name;
        buf[0] = '\0';
        for (size_t i = 0; i < n; i++)
                end += snprintf(end, (size_t) (buf + STOP_NAMES_MAX - end), "%s%s",
                                i == 0 ? "" : i + 1 == n ? " or " : ", ", names[i]);
        return buf;
}

/* --- whether it can come true --- */

/* A matrix over several depths is a test of its own. */
static bool has_tracked_cell(const JobPhase *phase) {
        if (phase->matrix_depths.n > 1)
                return false;
        for (size_t i = 0; i < phase->matrix_block_bytes.n; i++)
                if (phase->matrix_block_bytes.values[i] == STOP_SNIA_BLOCK_BYTES)
                        return true;
        return false;
}

static bool is_tracked(const JobPhase *phase) {
        bool writes = phase->rw == RW_RANDWRITE || (phase->rw == RW_RANDRW && phase->read_percent == 0);

        if (phase->action == PHASE_ACTION_MATRIX)
                return writes && has_tracked_cell(phase);
        return writes && phase->action == PHASE_ACTION_IO &&
               phase->block_bytes[DIRECTION_WRITE] == STOP_SNIA_BLOCK_BYTES;
}

int stop_check(const Job *job, Error *error) {
        size_t n = 0;

        for (size_t i = 0; i < job->n_phases; i++)
                n += is_tracked(&job->phases[i]);
        if (!job->stop_snia_iops_steady || n >= STOP_SNIA_N_ROUNDS)
                return 0;
        return error_set(error, ERROR_USAGE, EINVAL,
                         "%s: [stop] snia_iops_steady=1 can never come true: it needs random writes of %d bytes in %d "
                         "rounds, and the job has %zu: expected more rounds, or no snia_iops_steady",
                         job->file, STOP_SNIA_BLOCK_BYTES, STOP_SNIA_N_ROUNDS, n);
}

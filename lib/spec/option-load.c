/* SPDX-License-Identifier: MIT */

#include "spec/option-load.h"

#include <errno.h>
#include <string.h>

#include "spec/expression.h"
#include "util/cleanup.h"
#include "util/macro.h"
#include "util/parse.h"

#define ZIPF_THETA_DEFAULT 1.1 /* fio's */
#define ZIPF_THETA_MAX 10

int set_bssplit(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        BlockSplit splits[N_DIRECTIONS] = {};
        const char *parts[N_DIRECTIONS];
        _cleanup_free_ char *copy = NULL;
        int r = split_directions(value, &copy, parts);

        for (Direction d = 0; r >= 0 && d < N_DIRECTIONS; d++)
                if (parts[d])
                        r = block_split_parse(&splits[d], parts[d]);
        if (r < 0)
                return r;
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                if (parts[d])
                        draft->phase.split[d] = splits[d];
        return 0;
}

int set_rate(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        uint64_t *rates = (uint64_t *) ((char *) draft + option->field), parsed[N_DIRECTIONS];
        const char *parts[N_DIRECTIONS];
        _cleanup_free_ char *copy = NULL;
        int r = split_directions(value, &copy, parts);

        for (Direction d = 0; r >= 0 && d < N_DIRECTIONS; d++)
                if (parts[d])
                        r = expression_evaluate(parts[d], &parsed[d]);
        if (r < 0)
                return r;
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                if (parts[d])
                        rates[d] = parsed[d];
        return 0;
}

/* The formula (engine/distribution.c) has no value at 1. */
static int set_zipf(const char *theta, PhaseDraft *draft) {
        double value = ZIPF_THETA_DEFAULT;
        int r = theta ? parse_double(theta, &value) : 0;

        if (r < 0)
                return r;
        if (value <= 0 || value > ZIPF_THETA_MAX || !(value < 1 || value > 1))
                return -ERANGE;
        draft->phase.distribution = DISTRIBUTION_ZIPF;
        draft->phase.zipf_theta = value;
        return 0;
}

static int set_zoned(const char *value, PhaseDraft *draft) {
        ZoneSplit zones[N_DIRECTIONS] = {};
        const char *parts[N_DIRECTIONS];
        _cleanup_free_ char *copy = NULL;
        int r = split_directions(value, &copy, parts);

        for (Direction d = 0; r >= 0 && d < N_DIRECTIONS; d++)
                if (parts[d])
                        r = zone_split_parse(&zones[d], parts[d]);
        if (r < 0)
                return r;
        draft->phase.distribution = DISTRIBUTION_ZONED;
        memcpy(draft->phase.zones, zones, sizeof(zones));
        return 0;
}

/* A limit in percent is a number; any other is one too, or an amount as everywhere. */
static int parse_steady_limit(const char *text, FioSteady *ret) {
        size_t length = strlen(text);
        bool in_percent = length > 0 && text[length - 1] == '%';
        _cleanup_free_ char *number = strndup(text, length - in_percent);
        uint64_t amount;
        double limit;

        if (!number)
                return -ENOMEM;
        int r = parse_double(number, &limit);
        if (r < 0 && !in_percent) {
                r = expression_evaluate(number, &amount);
                limit = r >= 0 ? (double) amount : 0;
        }
        if (r < 0)
                return r;
        if (limit <= 0)
                return -ERANGE;
        ret->in_percent = in_percent;
        ret->limit = limit;
        return 0;
}

int set_steadystate(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        static const struct {
                const char *name;
                bool of_bandwidth, of_slope;
        } criteria[] = {
                { "iops:", false, false },
                { "iops_slope:", false, true },
                { "bw:", true, false },
                { "bw_slope:", true, true },
        };
        FioSteady *steady = &draft->phase.fio_steady;

        for (size_t i = 0; i < ELEMENTSOF(criteria); i++) {
                size_t length = strlen(criteria[i].name);

                if (strncmp(value, criteria[i].name, length) != 0)
                        continue;
                int r = parse_steady_limit(value + length, steady);
                if (r < 0)
                        return r;
                steady->is_set = true;
                steady->of_bandwidth = criteria[i].of_bandwidth;
                steady->of_slope = criteria[i].of_slope;
                return 0;
        }
        return -EINVAL;
}

int set_steady_time(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        uint64_t time_ns;
        int r = expression_evaluate_time(value, &time_ns);

        if (r < 0)
                return r;
        if (time_ns > option->max)
                return -ERANGE;
        *(uint64_t *) ((char *) draft + option->field) = time_ns;
        return 0;
}

int set_random_distribution(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        static const char zipf[] = "zipf:", zoned[] = "zoned:";

        if (strcmp(value, "zipf") == 0)
                return set_zipf(NULL, draft);
        if (strncmp(value, zipf, strlen(zipf)) == 0)
                return set_zipf(value + strlen(zipf), draft);
        if (strncmp(value, zoned, strlen(zoned)) == 0)
                return set_zoned(value + strlen(zoned), draft);
        if (strcmp(value, "random") != 0)
                return -EINVAL;
        draft->phase.distribution = DISTRIBUTION_RANDOM;
        return 0;
}

int set_compress_percent(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        uint64_t percent;
        int r = parse_u64_range(value, 0, 100, &percent);

        if (r < 0)
                return r;
        if (percent > JOB_COMPRESS_PERCENT_MAX && percent < 100)
                return -ERANGE;
        draft->phase.content.compress_percent = (uint8_t) percent;
        return 0;
}

int set_dedupe_percent(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        uint64_t percent;
        int r = parse_u64_range(value, 0, 100, &percent);

        if (r < 0)
                return r;
        draft->phase.content.dedupe_percent = (uint8_t) percent;
        return 0;
}

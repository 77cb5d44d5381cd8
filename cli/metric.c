/* SPDX-License-Identifier: MIT */

#include <math.h>
#include <string.h>

#include "metric.h"
#include "query.h"
#include "util/macro.h"
#include "util/parse.h"

static double iops(const Sample *s, const StoreLatency *l) {
        return query_rate(s->ios[DIRECTION_READ] + s->ios[DIRECTION_WRITE] + s->ios[DIRECTION_TRIM], s->duration_ns);
}

static double write_iops(const Sample *s, const StoreLatency *l) {
        return query_rate(s->ios[DIRECTION_WRITE], s->duration_ns);
}

static double read_iops(const Sample *s, const StoreLatency *l) {
        return query_rate(s->ios[DIRECTION_READ], s->duration_ns);
}

static double trim_iops(const Sample *s, const StoreLatency *l) {
        return query_rate(s->ios[DIRECTION_TRIM], s->duration_ns);
}

static double bandwidth(const Sample *s, const StoreLatency *l) {
        return query_rate(query_sum(s->bytes), s->duration_ns) / 1e6;
}

static double write_bandwidth(const Sample *s, const StoreLatency *l) {
        return query_rate(s->bytes[DIRECTION_WRITE], s->duration_ns) / 1e6;
}

static double read_bandwidth(const Sample *s, const StoreLatency *l) {
        return query_rate(s->bytes[DIRECTION_READ], s->duration_ns) / 1e6;
}

static double trim_bandwidth(const Sample *s, const StoreLatency *l) {
        return query_rate(s->bytes[DIRECTION_TRIM], s->duration_ns) / 1e6;
}

static double latency_mean(const Sample *s, const StoreLatency *l) {
        return l->mean_ns > 0 ? (double) l->mean_ns / 1e6 : NAN;
}

static double latency_p50(const Sample *s, const StoreLatency *l) {
        return l->known ? (double) l->p50_ns / 1e6 : NAN;
}

static double latency_p99(const Sample *s, const StoreLatency *l) {
        return l->known ? (double) l->p99_ns / 1e6 : NAN;
}

static double latency_max(const Sample *s, const StoreLatency *l) {
        return l->known ? (double) l->max_ns / 1e6 : NAN;
}

static double errors(const Sample *s, const StoreLatency *l) {
        return query_rate(s->errors, s->duration_ns);
}

static double in_flight(const Sample *s, const StoreLatency *l) {
        return (double) s->in_flight;
}

static double cpu(const Sample *s, const StoreLatency *l) {
        return s->cpu_percent;
}

static double temperature(const Sample *s, const StoreLatency *l) {
        return s->temperature_c;
}

static const Metric metrics[] = {
        { "iops", "IOPS", iops },
        { "write-iops", "IOPS", write_iops },
        { "read-iops", "IOPS", read_iops },
        { "trim-iops", "IOPS", trim_iops },
        { "bandwidth", "MB/s", bandwidth },
        { "write-bandwidth", "MB/s", write_bandwidth },
        { "read-bandwidth", "MB/s", read_bandwidth },
        { "trim-bandwidth", "MB/s", trim_bandwidth },
        { "latency-mean", "ms", latency_mean },
        { "latency-p50", "ms", latency_p50 },
        { "latency-p99", "ms", latency_p99 },
        { "latency-max", "ms", latency_max },
        { "errors", "errors/s", errors },
        { "in-flight", "I/Os", in_flight },
        { "cpu", "%", cpu },
        { "temperature", "C", temperature },
};

/* Newly allocated; NULL: no memory. */
static char *metric_names(void) {
        char *text = NULL;
        size_t length;

        FILE *f = open_memstream(&text, &length);
        if (!f)
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(metrics); i++)
                fprintf(f, "%s%s", i > 0 ? ", " : "", metrics[i].name);
        if (fclose(f) != 0) {
                free(text);
                return NULL;
        }
        return text;
}

int metric_find(const char *name, const Metric **ret, Error *error) {
        const char *names[ELEMENTSOF(metrics)];
        _cleanup_free_ char *all = NULL;

        for (size_t i = 0; i < ELEMENTSOF(metrics); i++) {
                names[i] = metrics[i].name;
                if (strcmp(names[i], name) == 0) {
                        *ret = &metrics[i];
                        return 0;
                }
        }

        const char *nearest = nearest_word(name, names, ELEMENTSOF(names));
        if (nearest)
                return error_set(error, ERROR_USAGE, EINVAL, "unknown metric '%s'; did you mean '%s'?", name, nearest);
        all = metric_names();
        return error_set(error, ERROR_USAGE, EINVAL, "unknown metric '%s'; there are %s", name, all ?: "others");
}

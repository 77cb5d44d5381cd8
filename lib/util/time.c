/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "util/macro.h"
#include "util/time.h"

uint64_t time_monotonic_ns(void) {
        struct timespec ts;

        clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * NSEC_PER_SEC + (uint64_t) ts.tv_nsec;
}

int64_t time_realtime_ns(void) {
        struct timespec ts;

        clock_gettime(CLOCK_REALTIME, &ts);
        return (int64_t) ts.tv_sec * (int64_t) NSEC_PER_SEC + ts.tv_nsec;
}

const char *time_format_rfc3339(int64_t realtime_ns, char *buf) {
        int64_t seconds = realtime_ns / (int64_t) NSEC_PER_SEC;
        int64_t rest_ns = realtime_ns % (int64_t) NSEC_PER_SEC;
        struct tm tm;

        if (rest_ns < 0) {
                seconds--;
                rest_ns += (int64_t) NSEC_PER_SEC;
        }

        /* 64 bits of nanoseconds reach from 1677 to 2262, where localtime_r() does not fail. */
        localtime_r(&(time_t) { seconds }, &tm);

        long offset_min = tm.tm_gmtoff / 60;
        size_t n = strftime(buf, TIME_RFC3339_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
        snprintf(buf + n, TIME_RFC3339_MAX - n, ".%03d%c%02ld:%02ld",
                 (int) (rest_ns / (int64_t) NSEC_PER_MSEC),
                 offset_min < 0 ? '-' : '+', labs(offset_min) / 60, labs(offset_min) % 60);
        return buf;
}

/* Cut off, not rounded, so that a span never reads longer than it is, and never "60.0 s". */
const char *time_format_span(uint64_t ns, char *buf) {
        uint64_t s = ns / NSEC_PER_SEC;
        uint64_t ms = ns / NSEC_PER_MSEC;

        if (s >= 86400)
                snprintf(buf, TIME_SPAN_MAX, "%" PRIu64 " d %" PRIu64 " h", s / 86400, s % 86400 / 3600);
        else if (s >= 3600)
                snprintf(buf, TIME_SPAN_MAX, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
        else if (s >= 60)
                snprintf(buf, TIME_SPAN_MAX, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
        else if (s >= 1)
                snprintf(buf, TIME_SPAN_MAX, "%" PRIu64 ".%" PRIu64 " s", s, ms % 1000 / 100);
        else
                snprintf(buf, TIME_SPAN_MAX, "%" PRIu64 " ms", ms);
        return buf;
}

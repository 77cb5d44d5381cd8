/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "util/macro.h"
#include "util/time.h"

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

/* Exactly n of them, and then what must follow. Moves *s. */
static bool take_digits(const char **s, unsigned n, char then, int *ret) {
        int value = 0;

        for (; n > 0; n--, (*s)++) {
                if (**s < '0' || **s > '9')
                        return false;
                value = 10 * value + (**s - '0');
        }
        *ret = value;
        if (then != '\0' && *(*s)++ != then)
                return false;
        return true;
}

/* ".123": nanoseconds; what is smaller is dropped. */
static bool take_fraction(const char **s, int64_t *ret_ns) {
        int64_t ns = 0, unit_ns = (int64_t) NSEC_PER_SEC / 10;

        if (**s == '.') {
                const char *first = ++*s;
                for (; **s >= '0' && **s <= '9'; (*s)++, unit_ns /= 10)
                        ns += (**s - '0') * unit_ns;
                if (*s == first)
                        return false;
        }
        *ret_ns = ns;
        return true;
}

/* "Z", "+01:00": seconds, and nothing behind it. */
static bool take_offset(const char *s, int *ret_s) {
        int sign = *s == '-' ? -1 : 1, hours, minutes;

        if (*s == 'Z') {
                *ret_s = 0;
                return s[1] == '\0';
        }
        if ((*s != '+' && *s != '-') || !(s++, take_digits(&s, 2, ':', &hours)) ||
            !take_digits(&s, 2, '\0', &minutes) || *s != '\0' || hours > 23 || minutes > 59)
                return false;
        *ret_s = sign * (hours * 3600 + minutes * 60);
        return true;
}

int time_parse_rfc3339(const char *s, int64_t *ret_realtime_ns) {
        struct tm tm = {};
        int64_t fraction_ns = 0, ns;
        int offset_s = 0, day;

        if (!take_digits(&s, 4, '-', &tm.tm_year) || !take_digits(&s, 2, '-', &tm.tm_mon) ||
            !take_digits(&s, 2, 'T', &tm.tm_mday) || !take_digits(&s, 2, ':', &tm.tm_hour) ||
            !take_digits(&s, 2, ':', &tm.tm_min) || !take_digits(&s, 2, '\0', &tm.tm_sec) ||
            !take_fraction(&s, &fraction_ns) || !take_offset(s, &offset_s))
                return -EINVAL;
        if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
                return -EINVAL;
        tm.tm_year -= 1900;
        tm.tm_mon -= 1;
        /* 60 is a leap second, of which the clock made the next minute: maybe the next day. */
        bool leap = tm.tm_sec == 60;
        day = tm.tm_mday;
        time_t seconds = timegm(&tm);
        if (day == 0 || (tm.tm_mday != day && !leap))
                return -EINVAL;

        if (__builtin_mul_overflow((int64_t) seconds - offset_s, (int64_t) NSEC_PER_SEC, &ns) ||
            __builtin_add_overflow(ns, fraction_ns, &ns))
                return -ERANGE;
        *ret_realtime_ns = ns;
        return 0;
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

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_REALTIME in nanoseconds; CPU time of all threads of the process. */
uint64_t time_monotonic_ns(void);
uint64_t time_process_cpu_ns(void);
uint64_t time_boottime_ns(void);
int64_t time_realtime_ns(void);

#define TIME_RFC3339_MAX 40

/*
 * RFC 3339 with milliseconds and the local zone's offset at that moment:
 * "2026-03-01T22:14:05.123+01:00". Returns buf, which holds at least TIME_RFC3339_MAX bytes.
 */
const char *time_format_rfc3339(int64_t realtime_ns, char *buf);

/*
 * The same back, with any number of decimals or none, and Z for +00:00. -EINVAL for what is no such time, -ERANGE for
 * one that nanoseconds do not reach.
 */
int time_parse_rfc3339(const char *s, int64_t *ret_realtime_ns);

#define TIME_SPAN_MAX 32

/* A span for people: "850 ms", "12.3 s", "2 min 5 s", "10 h 2 min", "3 d 4 h". Returns buf (TIME_SPAN_MAX bytes). */
const char *time_format_span(uint64_t ns, char *buf);

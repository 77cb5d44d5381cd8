/* SPDX-License-Identifier: MIT */
#pragma once

/* The line that tells how a run is going, and waiting that Ctrl-C ends. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct LiveStatus {
        uint32_t run;
        const char *state;
        const char *phase;      /* or NULL */
        uint64_t elapsed_ns;
        uint64_t planned_ns;    /* 0: not known */
        double iops;            /* NaN: not known, as all doubles here */
        double bytes_per_second;
        bool has_p99;
        uint64_t p99_ns;
        bool has_errors;
        uint64_t errors;        /* so far */
        uint32_t in_flight;
        uint64_t oldest_io_ns;  /* told from STALL_NS on */
} LiveStatus;

/* "run 7 running, write, 1 min 5 s of 10 h, 8.21k IOPS, 33.6 MB/s, ..." Newly allocated; NULL: no memory. */
char *live_format(const LiveStatus *status);

/* On a terminal the line replaces the one before, cut to its width; elsewhere it is a line of its own. 0 or -EIO. */
int live_print(FILE *f, const char *line);

/* Leaves the last line standing: before anything else is printed. */
void live_end(FILE *f);

/* Blocks SIGINT and SIGTERM; the fd is readable once one has come. */
int live_interrupt_fd(void);

/* 1 if the fd became readable, 0 after timeout_ms. */
int live_wait(int interrupt_fd, int timeout_ms);

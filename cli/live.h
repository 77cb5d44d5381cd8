/* SPDX-License-Identifier: MIT */
#pragma once

/* The lines that tell how runs are going, and waiting that Ctrl-C ends. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct LiveStatus {
        uint32_t run;
        const char *state;
        const char *device;     /* path, or NULL */
        const char *phase;      /* or NULL */
        uint32_t phase_index;   /* from 0 */
        uint32_t n_phases;
        uint64_t elapsed_ns;
        uint64_t planned_ns;    /* 0: not known */
        double iops;            /* NaN: not known, as all doubles here */
        double bytes_per_s;
        bool has_p99;
        uint64_t p99_ns;
        bool has_errors;
        uint64_t errors;        /* so far */
        uint64_t wrong_blocks;  /* so far; read back, and not what was written */
        uint32_t in_flight;
        uint64_t oldest_io_ns;  /* told from STALL_NS on */
} LiveStatus;

/*
 * "run 7 running on sdb, write (1 of 2), 1 min 5 s of 10 h, 8.21k IOPS, 33.6 MB/s, ..."; of what does not fit in
 * `columns` the least important is left out. Newly allocated; NULL: no memory.
 */
char *live_format(const LiveStatus *status, size_t columns);

/* Where lines are shown; begins with `f` alone. */
typedef struct Live {
        FILE *f;
        size_t n_lines; /* on the terminal, to be replaced */
} Live;

/* A line for each status. On a terminal they replace those before, as many as it has rows for. 0, -EIO, -ENOMEM. */
int live_show(Live *live, const LiveStatus *statuses, size_t n);

/* Takes the lines away, for something else to be printed in their place. */
void live_clear(Live *live);

/* Leaves them standing, and goes to the next line. */
void live_end(Live *live);

/* Blocks SIGINT and SIGTERM; the fd is readable once one has come. */
int live_interrupt_fd(void);

/* 1 if the fd became readable, 0 after timeout_ms. */
int live_wait(int interrupt_fd, int timeout_ms);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What happened in one interval. Counts and an exact duration, never a rate: sums of
 * samples equal the completions counted.
 */

#include <stdbool.h>

#include "sample/histogram.h"
#include "sample/position.h"
#include "spec/direction.h"

/* Running totals since the phase began, a consistent snapshot: each direction's ios are its histogram's count. */
typedef struct Counters {
        uint64_t ios[N_DIRECTIONS];   /* completed without error */
        uint64_t bytes[N_DIRECTIONS]; /* of those */
        uint64_t errors;              /* completed with an error */
        Histogram latency[N_DIRECTIONS]; /* of those without error */
} Counters;

typedef struct Sample {
        uint64_t seq;          /* from 0, without gaps over the whole run */
        uint32_t phase;        /* index */
        int64_t at_ns;         /* CLOCK_REALTIME at its end */
        uint64_t elapsed_ns;   /* running time of the run at its end: the sum of all durations so far */
        uint64_t duration_ns;  /* monotonic, exact */
        uint64_t ios[N_DIRECTIONS];
        uint64_t bytes[N_DIRECTIONS];
        uint64_t errors;
        uint32_t in_flight;    /* submitted and not completed, at its end */
        uint64_t oldest_ns;    /* age of the oldest of them; 0 if none */
        double cpu_percent;    /* of all the host's cores together, 0..100; NaN if unknown, as the next two */
        double worker_cpu_percent; /* the worker's own, of one core: several threads make more than 100 */
        double ring_cpu_percent;   /* of one core, 0..100: of the ring thread that was busiest */
        double held_percent;       /* of its duration, 0..100: the job itself held I/O back; NaN if unknown */
        double temperature_c;  /* NaN if unknown */
        uint64_t boot_ns;      /* CLOCK_BOOTTIME at its end */
        Positions positions;   /* at its end */
        Histogram latency[N_DIRECTIONS];
} Sample;

/* What set the pace, if it was not the drive. */
typedef enum HostLimit {
        HOST_LIMIT_NONE,
        HOST_LIMIT_CORES, /* no core had a moment to spare */
        HOST_LIMIT_RING,  /* a ring thread never waited: the drive had answered whenever it looked */
} HostLimit;

/* Of a hundred ticks a second on each core two are what accounting loses. */
#define HOST_LIMIT_CORES_PERCENT 98.0

/*
 * A thread that waits for its device is asleep meanwhile, if only for a moment; so one that is not has nothing to wait
 * for, and more of them (workers=) may get more out of the drive. The rest is what the kernel takes between its turns.
 */
#define HOST_LIMIT_RING_PERCENT 98.0

/* Nothing was asked of the device. */
bool sample_is_idle(const Sample *sample);

/*
 * A phase that has to keep a rate, or to compute what it is to find, holds I/O back while it is ahead of the one or
 * behind with the other; one that is idle does nothing else. It takes that much to tell: a rate that is missed is never
 * ahead, and one that is kept is so nearly always.
 */
#define HOST_LIMIT_HELD_PERCENT 10.0

/*
 * Unknown shares limit nothing, and hold nothing back. A sample in which nothing completed and whose oldest I/O was
 * there before it is a drive that hangs.
 */
HostLimit sample_host_limit(const Sample *sample);

/* Running time of the run at its beginning. */
uint64_t sample_began_ns(const Sample *sample);

/*
 * Whether a sample that began at began_ns of the run's running time is in the first ramp_ns of its phase, which began
 * at phase_began_ns: then it is recorded, and neither judged nor counted in means and latencies of the phase.
 */
bool sample_ramp_holds(uint64_t began_ns, uint64_t phase_began_ns, uint64_t ramp_ns);

/* sample's counts and histograms = now - before. */
void sample_set_difference(Sample *sample, const Counters *now, const Counters *before);

/*
 * One byte form for wire and memory queues, at most SAMPLE_ENCODED_MAX bytes.
 * Encoding gives the bytes used, 0 if they did not fit. Decoding takes hostile input: -EBADMSG for bytes
 * missing or left over, broken histograms, and floating-point values that cannot be.
 */
#define SAMPLE_ENCODED_MAX (256 + JOB_WORKERS_MAX * sizeof(Position) + N_DIRECTIONS * HISTOGRAM_ENCODED_MAX)
size_t sample_encode(const Sample *sample, uint8_t *buf, size_t size);
int sample_decode(Sample *ret, const void *data, size_t length);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Latency histogram: log-linear, like fio's and HdrHistogram's. Values in ns. Up to
 * HISTOGRAM_LINEAR each value has its own bucket; above, each octave is cut into
 * HISTOGRAM_LINEAR / 2 buckets, so a bucket is at most 1/64 of its value wide (an error of
 * 0.8 % when its middle is told). The last octave ends at 2^63 ns; anything larger counts in the last bucket.
 */

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_LINEAR_BITS 7
#define HISTOGRAM_LINEAR (1U << HISTOGRAM_LINEAR_BITS)
#define HISTOGRAM_N_BUCKETS (HISTOGRAM_LINEAR + (63 - HISTOGRAM_LINEAR_BITS) * (HISTOGRAM_LINEAR / 2))

typedef struct Histogram {
        uint64_t buckets[HISTOGRAM_N_BUCKETS];
} Histogram;

static inline unsigned histogram_bucket(uint64_t ns) {
        if (ns < HISTOGRAM_LINEAR)
                return (unsigned) ns;

        /* The top LINEAR_BITS bits of the value: the leading one, and the place within its octave. */
        unsigned shift = 64U - (unsigned) __builtin_clzll(ns) - HISTOGRAM_LINEAR_BITS;
        unsigned bucket = HISTOGRAM_LINEAR + (shift - 1) * (HISTOGRAM_LINEAR / 2) +
                          (unsigned) ((ns >> shift) - HISTOGRAM_LINEAR / 2);
        return bucket < HISTOGRAM_N_BUCKETS ? bucket : HISTOGRAM_N_BUCKETS - 1;
}

/* The smallest value that falls into the bucket, and its middle (what percentiles tell). */
uint64_t histogram_bucket_floor(unsigned bucket);
uint64_t histogram_bucket_middle(unsigned bucket);

uint64_t histogram_count(const Histogram *h);

/*
 * The value below or at which `fraction` (0..1) of the counted values lie, in ns, as the middle of
 * its bucket (at most the largest value's bucket). -ENODATA if nothing was counted.
 */
int histogram_percentile(const Histogram *h, double fraction, uint64_t *ret_ns);

/* The middle of the highest bucket that is not empty; -ENODATA if all are. */
int histogram_max(const Histogram *h, uint64_t *ret_ns);

/* The mean of what was counted, each value as the middle of its bucket; -ENODATA if nothing was. */
int histogram_mean(const Histogram *h, uint64_t *ret_ns);

void histogram_add(Histogram *to, const Histogram *from);

/* *ret = now - before, bucket by bucket; before's buckets are none larger than now's. */
void histogram_difference(Histogram *ret, const Histogram *now, const Histogram *before);

/*
 * Sparse form for the wire and the database: pairs of LEB128 numbers (distance from the bucket after the last
 * one, count) for the buckets that are not empty. Nothing counted: zero bytes. One histogram has one form.
 */
#define HISTOGRAM_ENCODED_MAX (HISTOGRAM_N_BUCKETS * 12)

/* Bytes used; 0 if they did not fit, which HISTOGRAM_ENCODED_MAX always does. */
size_t histogram_encode(const Histogram *h, uint8_t *buf, size_t size);

/* -EBADMSG for anything that histogram_encode() could not have made, and for counts whose sum exceeds 64 bits. */
int histogram_decode(Histogram *ret, const void *data, size_t length);

/* Adds what decodes to that, without looking at the empty buckets. After -EBADMSG part of it may have been added. */
int histogram_add_encoded(Histogram *to, const void *data, size_t length);

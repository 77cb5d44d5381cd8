/* SPDX-License-Identifier: MIT */

#include "sample/histogram.h"

#include <errno.h>
#include <string.h>

#include "util/macro.h"

/* Ten bytes hold any 64-bit number in LEB128, two any distance between buckets. */
#define VARINT_MAX 10

uint64_t histogram_bucket_floor(unsigned bucket) {
        if (bucket < HISTOGRAM_LINEAR)
                return bucket;

        unsigned above = bucket - HISTOGRAM_LINEAR;
        unsigned shift = above / (HISTOGRAM_LINEAR / 2) + 1;
        uint64_t place = above % (HISTOGRAM_LINEAR / 2);
        return (HISTOGRAM_LINEAR / 2 + place) << shift;
}

uint64_t histogram_bucket_middle(unsigned bucket) {
        if (bucket < HISTOGRAM_LINEAR)
                return bucket;

        unsigned shift = (bucket - HISTOGRAM_LINEAR) / (HISTOGRAM_LINEAR / 2) + 1;
        return histogram_bucket_floor(bucket) + (UINT64_C(1) << (shift - 1));
}

uint64_t histogram_count(const Histogram *h) {
        uint64_t n = 0;

        for (unsigned i = 0; i < HISTOGRAM_N_BUCKETS; i++)
                n += h->buckets[i];
        return n;
}

/* How many of n values lie at or below the percentile: at least one, so that 0 tells the smallest. */
static uint64_t rank_of(double fraction, uint64_t n) {
        double exact = fraction * (double) n;
        uint64_t rank = exact >= (double) n ? n : exact > 0 ? (uint64_t) exact : 0;

        if (rank < n && (double) rank < exact)
                rank++;
        return MAX(rank, UINT64_C(1));
}

int histogram_percentile(const Histogram *h, double fraction, uint64_t *ret_ns) {
        uint64_t n = histogram_count(h), seen = 0;

        if (n == 0)
                return -ENODATA;

        uint64_t rank = rank_of(fraction, n);
        for (unsigned i = 0; i < HISTOGRAM_N_BUCKETS; i++) {
                seen += h->buckets[i];
                if (seen >= rank) {
                        *ret_ns = histogram_bucket_middle(i);
                        return 0;
                }
        }
        return -ENODATA;
}

int histogram_max(const Histogram *h, uint64_t *ret_ns) {
        for (unsigned i = HISTOGRAM_N_BUCKETS; i > 0; i--)
                if (h->buckets[i - 1] > 0) {
                        *ret_ns = histogram_bucket_middle(i - 1);
                        return 0;
                }
        return -ENODATA;
}

int histogram_mean(const Histogram *h, uint64_t *ret_ns) {
        double sum = 0, count = 0;

        for (unsigned i = 0; i < HISTOGRAM_N_BUCKETS; i++) {
                sum += (double) h->buckets[i] * (double) histogram_bucket_middle(i);
                count += (double) h->buckets[i];
        }
        if (count <= 0)
                return -ENODATA;
        *ret_ns = (uint64_t) (sum / count);
        return 0;
}

void histogram_add(Histogram *to, const Histogram *from) {
        for (unsigned i = 0; i < HISTOGRAM_N_BUCKETS; i++)
                to->buckets[i] += from->buckets[i];
}

void histogram_difference(Histogram *ret, const Histogram *now, const Histogram *before) {
        for (unsigned i = 0; i < HISTOGRAM_N_BUCKETS; i++)
                ret->buckets[i] = now->buckets[i] - before->buckets[i];
}

static size_t varint_put(uint8_t buf[static VARINT_MAX], uint64_t value) {
        size_t n = 0;

        while (value >= 0x80) {
                buf[n++] = (uint8_t) (value | 0x80);
                value >>= 7;
        }
        buf[n++] = (uint8_t) value;
        return n;
}

/* Bytes used, or 0 if what is there is cut short, too large or longer than it need be. */
static size_t varint_get(const uint8_t *data, size_t length, uint64_t *ret) {
        uint64_t value = 0;

        for (size_t n = 0; n < length && n < VARINT_MAX; n++) {
                uint64_t bits = data[n] & 0x7f;

                if (n == VARINT_MAX - 1 && bits > 1)
                        return 0;
                value |= bits << (7 * n);
                if (!(data[n] & 0x80)) {
                        if (bits == 0 && n > 0)
                                return 0;
                        *ret = value;
                        return n + 1;
                }
        }
        return 0;
}

size_t histogram_encode(const Histogram *h, uint8_t *buf, size_t size) {
        size_t used = 0;
        unsigned next = 0; /* the bucket that a distance of 0 means */

        for (unsigned i = 0; i < HISTOGRAM_N_BUCKETS; i++) {
                uint8_t pair[2 * VARINT_MAX];
                size_t n;

                if (h->buckets[i] == 0)
                        continue;

                n = varint_put(pair, i - next);
                n += varint_put(pair + n, h->buckets[i]);
                if (n > size - used)
                        return 0;
                memcpy(buf + used, pair, n);
                used += n;
                next = i + 1;
        }
        return used;
}

int histogram_add_encoded(Histogram *to, const void *data, size_t length) {
        const uint8_t *p = data, *end = p + length;
        uint64_t bucket = 0, total = 0;

        while (p < end) {
                uint64_t distance, count;
                size_t n;

                n = varint_get(p, (size_t) (end - p), &distance);
                if (n == 0 || distance >= HISTOGRAM_N_BUCKETS - bucket)
                        return -EBADMSG;
                p += n;

                /* A sum beyond 64 bits would make every later question about the histogram wrong. */
                n = varint_get(p, (size_t) (end - p), &count);
                if (n == 0 || count == 0 || __builtin_add_overflow(total, count, &total))
                        return -EBADMSG;
                p += n;

                bucket += distance;
                to->buckets[bucket++] += count;
        }
        return 0;
}

int histogram_decode(Histogram *ret, const void *data, size_t length) {
        Histogram h = {};
        int r = histogram_add_encoded(&h, data, length);

        if (r >= 0)
                *ret = h;
        return r;
}

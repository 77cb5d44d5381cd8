/* SPDX-License-Identifier: MIT */

/*
 * The byte form: every field in the order of the struct, little endian at full width, floating point as its
 * IEEE bits, and each histogram as a 32-bit length and its sparse form. A sample of a drive with one
 * kind of load is a few hundred bytes.
 */

#include "sample/sample.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/macro.h"

void sample_set_difference(Sample *sample, const Counters *now, const Counters *before) {
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                sample->ios[d] = now->ios[d] - before->ios[d];
                sample->bytes[d] = now->bytes[d] - before->bytes[d];
                histogram_difference(&sample->latency[d], &now->latency[d], &before->latency[d]);
        }
        sample->errors = now->errors - before->errors;
}

uint64_t sample_began_ns(const Sample *sample) {
        return sample->elapsed_ns - MIN(sample->duration_ns, sample->elapsed_ns);
}

bool sample_ramp_holds(uint64_t began_ns, uint64_t phase_began_ns, uint64_t ramp_ns) {
        return began_ns - MIN(phase_began_ns, began_ns) < ramp_ns;
}

bool sample_is_idle(const Sample *sample) {
        uint64_t n = sample->errors | sample->in_flight;

        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                n |= sample->ios[d];
        return n == 0;
}

/* Nothing has come back for longer than the sample: that is the drive's doing, however busy the host is meanwhile. */
static bool sample_hangs(const Sample *sample) {
        uint64_t n = sample->errors;

        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                n |= sample->ios[d];
        return n == 0 && sample->in_flight > 0 && sample->oldest_ns >= sample->duration_ns;
}

HostLimit sample_host_limit(const Sample *sample) {
        if (sample->held_percent >= HOST_LIMIT_HELD_PERCENT || sample_hangs(sample))
                return HOST_LIMIT_NONE;
        if (sample->cpu_percent >= HOST_LIMIT_CORES_PERCENT)
                return HOST_LIMIT_CORES;
        return sample->ring_cpu_percent >= HOST_LIMIT_RING_PERCENT ? HOST_LIMIT_RING : HOST_LIMIT_NONE;
}

typedef struct Writer {
        uint8_t *p;
        size_t left;
        bool full;
} Writer;

static void put_bytes(Writer *w, const void *data, size_t n) {
        if (w->full || n > w->left) {
                w->full = true;
                return;
        }
        memcpy(w->p, data, n);
        w->p += n;
        w->left -= n;
}

static void put_u32(Writer *w, uint32_t value) {
        uint32_t le = htole32(value);
        put_bytes(w, &le, sizeof le);
}

static void put_u64(Writer *w, uint64_t value) {
        uint64_t le = htole64(value);
        put_bytes(w, &le, sizeof le);
}

static void put_double(Writer *w, double value) {
        uint64_t bits;

        memcpy(&bits, &value, sizeof bits);
        put_u64(w, bits);
}

static void put_position(Writer *w, const Position *position) {
        put_u64(w, position->first_index);
        put_u64(w, position->low_index);
        put_u64(w, position->next_index);
        put_u64(w, position->next_write);
        put_u64(w, position->done_bytes);
        put_u64(w, position->settled_from);
        put_u64(w, position->settled_to);
}

static void put_positions(Writer *w, const Positions *positions) {
        put_u32(w, positions->n);
        for (uint32_t i = 0; i < positions->n; i++)
                put_position(w, &positions->of[i]);
}

static void put_histogram(Writer *w, const Histogram *h) {
        uint8_t *length_at = w->p;

        put_u32(w, 0);
        if (w->full)
                return;

        size_t n = histogram_encode(h, w->p, w->left);
        if (n == 0 && histogram_count(h) > 0) {
                w->full = true;
                return;
        }
        w->p += n;
        w->left -= n;

        uint32_t le = htole32((uint32_t) n);
        memcpy(length_at, &le, sizeof le);
}

size_t sample_encode(const Sample *sample, uint8_t *buf, size_t size) {
        Writer w = { .p = buf, .left = size };

        put_u64(&w, sample->seq);
        put_u32(&w, sample->phase);
        put_u64(&w, (uint64_t) sample->at_ns);
        put_u64(&w, sample->elapsed_ns);
        put_u64(&w, sample->duration_ns);
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                put_u64(&w, sample->ios[d]);
                put_u64(&w, sample->bytes[d]);
        }
        put_u64(&w, sample->errors);
        put_u32(&w, sample->in_flight);
        put_u64(&w, sample->oldest_ns);
        put_double(&w, sample->cpu_percent);
        put_double(&w, sample->worker_cpu_percent);
        put_double(&w, sample->ring_cpu_percent);
        put_double(&w, sample->held_percent);
        put_double(&w, sample->temperature_c);
        put_u64(&w, sample->boot_ns);
        put_positions(&w, &sample->positions);
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                put_histogram(&w, &sample->latency[d]);

        return w.full ? 0 : size - w.left;
}

/* After the first read beyond the end all others give zeros, and the sample is refused. */
typedef struct Reader {
        const uint8_t *p;
        size_t left;
        bool bad;
} Reader;

static void get_bytes(Reader *r, void *data, size_t n) {
        if (r->bad || n > r->left) {
                r->bad = true;
                memset(data, 0, n);
                return;
        }
        memcpy(data, r->p, n);
        r->p += n;
        r->left -= n;
}

static uint32_t get_u32(Reader *r) {
        uint32_t le;
        get_bytes(r, &le, sizeof le);
        return le32toh(le);
}

static uint64_t get_u64(Reader *r) {
        uint64_t le;
        get_bytes(r, &le, sizeof le);
        return le64toh(le);
}

static double get_double(Reader *r) {
        uint64_t bits = get_u64(r);
        double value;

        memcpy(&value, &bits, sizeof value);
        return value;
}

static void get_position(Reader *r, Position *ret) {
        ret->first_index = get_u64(r);
        ret->low_index = get_u64(r);
        ret->next_index = get_u64(r);
        ret->next_write = get_u64(r);
        ret->done_bytes = get_u64(r);
        ret->settled_from = get_u64(r);
        ret->settled_to = get_u64(r);
}

static void get_positions(Reader *r, Positions *ret) {
        uint32_t n = get_u32(r);

        if (n > ELEMENTSOF(ret->of)) {
                r->bad = true;
                return;
        }
        ret->n = n;
        for (uint32_t i = 0; i < n; i++)
                get_position(r, &ret->of[i]);
}

static void get_histogram(Reader *r, Histogram *ret) {
        uint32_t n = get_u32(r);

        if (r->bad || n > r->left || histogram_decode(ret, r->p, n) < 0) {
                r->bad = true;
                return;
        }
        r->p += n;
        r->left -= n;
}

/* More than any kernel knows (NR_CPUS). */
#define CORES_MAX 65536

/* Unknown, or a number that can be one. */
static bool value_is_possible(double value, double min, double max) {
        return isnan(value) || (value >= min && value <= max);
}

int sample_decode(Sample *ret, const void *data, size_t length) {
        Reader r = { .p = data, .left = length };
        Sample s = {};

        s.seq = get_u64(&r);
        s.phase = get_u32(&r);
        s.at_ns = (int64_t) get_u64(&r);
        s.elapsed_ns = get_u64(&r);
        s.duration_ns = get_u64(&r);
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                s.ios[d] = get_u64(&r);
                s.bytes[d] = get_u64(&r);
        }
        s.errors = get_u64(&r);
        s.in_flight = get_u32(&r);
        s.oldest_ns = get_u64(&r);
        s.cpu_percent = get_double(&r);
        s.worker_cpu_percent = get_double(&r);
        s.ring_cpu_percent = get_double(&r);
        s.held_percent = get_double(&r);
        s.temperature_c = get_double(&r);
        s.boot_ns = get_u64(&r);
        get_positions(&r, &s.positions);
        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                get_histogram(&r, &s.latency[d]);

        /* -273.15 is where temperature ends; the other end is beyond what any sensor's 16 bits of kelvin hold. */
        if (r.bad || r.left > 0 || !value_is_possible(s.cpu_percent, 0, 100) ||
            !value_is_possible(s.worker_cpu_percent, 0, 100.0 * CORES_MAX) ||
            !value_is_possible(s.ring_cpu_percent, 0, 100) || !value_is_possible(s.held_percent, 0, 100) ||
            !value_is_possible(s.temperature_c, -274, 65536))
                return -EBADMSG;

        *ret = s;
        return 0;
}

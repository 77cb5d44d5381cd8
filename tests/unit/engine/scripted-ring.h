/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A ring and a clock that the test plays itself: they stand before the library's at link time. So
 * every answer that a kernel can give comes at a known time, and waiting is seen from the kernel's side.
 * For one test program: all of it is its own.
 */

#include <stdatomic.h>
#include <string.h>

#include "engine/ring.h"
#include "util/macro.h"
#include "util/time.h"

#define START_NS (1000 * NSEC_PER_SEC)

static _Atomic uint64_t now_ns = START_NS;
static uint64_t reading_ns; /* what a look at the clock takes */

uint64_t time_monotonic_ns(void) {
        return atomic_fetch_add(&now_ns, reading_ns);
}

int64_t time_realtime_ns(void) {
        return (int64_t) atomic_load(&now_ns) + 1;
}

typedef struct Request {
        uint8_t *buf;
        uint32_t length;
        uint64_t offset;
        uint32_t slot;
        bool is_flush;
} Request;

/* In the ring thread, for each submit: answers what it likes by answer(). What it returns the ring returns. */
typedef int (*Script)(unsigned wait_nr, uint64_t timeout_ns);

static Script script;
static Request requests[1024]; /* prepared and not yet answered, oldest first */
static unsigned n_requests;
static RingCompletion answers[1024];
static unsigned n_answers;

int ring_new(Ring **ret, RingKind kind, int fd, uint32_t depth, const struct iovec *buffers, unsigned n_buffers,
             Error *error) {
        *ret = NULL;
        return 0;
}

int ring_enable(Ring *ring, Error *error) {
        return 0;
}

void ring_prepare(Ring *ring, Direction direction, void *buf, unsigned buffer, uint32_t length, uint64_t offset,
                  uint32_t slot) {
        requests[n_requests++] = (Request){ .buf = buf, .length = length, .offset = offset, .slot = slot };
}

void ring_prepare_flush(Ring *ring, uint32_t slot) {
        requests[n_requests++] = (Request){ .slot = slot, .is_flush = true };
}

int ring_submit_and_wait(Ring *ring, unsigned wait_nr, uint64_t timeout_ns) {
        return script(wait_nr, timeout_ns);
}

unsigned ring_reap(Ring *ring, RingCompletion *ret, unsigned n) {
        n = MIN(n, n_answers);
        n_answers -= n;
        memcpy(ret, answers + n_answers, n * sizeof *ret);
        return n;
}

void ring_close(Ring *ring) {
}

Ring *ring_free(Ring *ring) {
        return NULL;
}

/* Answers the oldest request. */
static Request answer(int32_t result) {
        Request request = requests[0];

        n_requests--;
        memmove(requests, requests + 1, n_requests * sizeof *requests);
        answers[n_answers++] = (RingCompletion){ .slot = request.slot, .result = result };
        return request;
}

static void answer_all(void) {
        while (n_requests > 0)
                answer((int32_t) requests[0].length);
}

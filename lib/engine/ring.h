/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One io_uring on one device: the only file that knows liburing. Set up by a privileged
 * process with file and buffers registered, restricted to reads, writes and flushes of that file, then used by
 * one thread only. Trims go by BLKDISCARD, one at a time, in the call that submits, which waits for them. A ring
 * without a kernel behind it (RING_NOOP) completes everything at once, to measure the engine alone.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "spec/direction.h"
#include "util/error.h"

typedef struct Ring Ring;

typedef enum RingKind {
        RING_URING,
        RING_NOOP,
} RingKind;

typedef struct RingCompletion {
        uint32_t slot;
        int32_t result; /* bytes, or a negative errno */
} RingCompletion;

/*
 * depth: the most I/O outstanding, which the submission queue always has room for. buffers: registered as they
 * are; each I/O lies in one of them. The ring is disabled until ring_enable(). ERROR_FAILED with a clear message
 * where io_uring is missing (-ENOSYS), too old (-EINVAL) or forbidden (-EPERM: kernel.io_uring_disabled,
 * a system-call filter); -ENOMEM.
 */
int ring_new(Ring **ret, RingKind kind, int fd, uint32_t depth, const struct iovec *buffers, unsigned n_buffers,
             Error *error);

/* In the thread that will use it from now on: with SINGLE_ISSUER the ring belongs to it. */
int ring_enable(Ring *ring, Error *error);

/*
 * Queues one read, write or trim; buffer is the index of the registered one that buf lies in. slot comes back with its
 * completion. At most `depth` may be queued or outstanding, and of trims one; they need no buffer.
 */
void ring_prepare(Ring *ring, Direction direction, void *buf, unsigned buffer, uint32_t length, uint64_t offset,
                  uint32_t slot);

/* Queues a flush of the device's write cache; its completion has the result 0. Else as ring_prepare(). */
void ring_prepare_flush(Ring *ring, uint32_t slot);

/*
 * Submits what is queued and waits until wait_nr completions are there or timeout_ns has passed; with wait_nr 0
 * it does not wait. A trim that is queued is done instead of waiting, however long it takes. 0; -EAGAIN or -EBUSY if
 * the kernel lacks memory at the moment (what was not taken stays queued); any other negative errno says that the ring
 * is of no use any more.
 */
int ring_submit_and_wait(Ring *ring, unsigned wait_nr, uint64_t timeout_ns);

/* Takes up to n completions without waiting and without a system call; returns how many. */
unsigned ring_reap(Ring *ring, RingCompletion *ret, unsigned n);

/*
 * Unregisters file and buffers, then closes, so that the device's exclusive claim does not linger. In the thread
 * that enabled it (the kernel lets no other unregister), or before it was enabled. Nothing may be outstanding.
 * Touches no heap: in a thread that never allocated, even free() would map memory.
 */
void ring_close(Ring *ring);

/* Closes it, unless that was done, and frees its memory. */
Ring *ring_free(Ring *ring);
DEFINE_CLEANUP(Ring *, ring_free)

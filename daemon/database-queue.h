/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What waits for the database: changes in the order in which they came. No locking: the
 * owner holds its lock around every call but change_write().
 *
 * The writer pins a batch at the front, writes it without the lock, and then settles it (written, so
 * removed) or unpins it (not written, so it stays in place). Meanwhile others append, which writes to the last one's
 * link: so the writer counts, and follows no link but those between the pinned.
 *
 * However long the database hangs, a run takes a bounded place here: samples and events share a bound, an errno is one
 * change whose figures are overwritten, and states are as many as the run has phases and pauses.
 */

#include "store/store.h"

typedef struct Change Change;

/* What of one run waits and could grow without end: samples, events, errnos. Exists while there are any. */
typedef struct Quota Quota;

typedef struct Queue {
        Change *first, *last;
        Quota *quotas;
        uint64_t run_bytes_max; /* samples (encoded) and events of one run */
        size_t n_pinned;           /* the first so many */
        uint64_t n_changes;
        uint64_t bytes;
        uint64_t n_pushed;  /* ever: the position of the last one */
        uint64_t n_dropped; /* samples, ever: for want of room, or because they could never be written */
} Queue;

void queue_init(Queue *queue, uint64_t run_bytes_max);
void queue_clear(Queue *queue);

/* All of these copy; -ENOMEM. */
int queue_push_run_state(Queue *queue, uint32_t run, RunState state, int64_t at_ns);
int queue_push_stop_asked(Queue *queue, uint32_t run, int64_t at_ns);
int queue_push_drained(Queue *queue, uint32_t run);
int queue_push_waits_for(Queue *queue, uint32_t run, const char *waits_for);
int queue_push_place(Queue *queue, uint32_t run, const DeviceInfo *device, const char *boot_id);
int queue_push_phase_state(Queue *queue, uint32_t run, uint32_t phase, PhaseState state, int64_t at_ns);

/* The figures of an errno that still waits are overwritten. */
int queue_push_errno(Queue *queue, uint32_t run, const EngineErrno *errnum);

/* What still waits of the same share or phase is overwritten; findings are few. */
int queue_push_history(Queue *queue, uint32_t run, uint32_t phase, uint32_t share, const History *history);
int queue_push_verification(Queue *queue, uint32_t run, uint32_t phase, const Verification *verification);
int queue_push_finding(Queue *queue, uint32_t run, const StoreFinding *finding);

/*
 * Beyond run_bytes_max the oldest of the run's waiting samples and events go. In their place an event remains that
 * tells which seconds are missing.
 */
int queue_push_sample(Queue *queue, uint32_t run, const Sample *sample);
int queue_push_event(Queue *queue, uint32_t run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind,
                     const char *detail);

/* The position up to which nothing waits any more: written, dropped, or refused by the database. */
uint64_t queue_settled(const Queue *queue);

/* Pins changes at the front, one at least, about max_bytes at most. The first of *ret_n; NULL: the queue is empty. */
Change *queue_pin(Queue *queue, uint64_t max_bytes, size_t *ret_n);
Change *change_next(const Change *change); /* not of the last pinned one */
void queue_settle(Queue *queue);
void queue_unpin(Queue *queue);

/* Takes one pinned change out, unwritten: one that the database will never accept. The others are unpinned. */
void queue_reject(Queue *queue, Change *change);

/* Writes one change, in the store's open transaction. scratch: room for a decoded sample. */
int change_write(const Change *change, Store *store, Sample *scratch, Error *error);

/* The run that it belongs to; whether that comes to its end with it. */
uint32_t change_run(const Change *change);
bool change_ends_run(const Change *change);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Between slice.c (the ring thread) and slice-owner.c (whoever owns it) only. */

#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "engine/pace.h"
#include "engine/pattern.h"
#include "engine/slice.h"
#include "util/macro.h"

#define WAIT_WINDOW_NS (64 * NSEC_PER_USEC)

/*
 * From here on it waits for one at a time. A distance counts as at most twice this: on a busy host there are gaps of
 * milliseconds between bursts, and it is the bursts that tell whether waiting pays.
 */
#define SLOW_NS_PER_IO (WAIT_WINDOW_NS + 1)

typedef enum Command {
        COMMAND_NONE,
        COMMAND_RUN,
        COMMAND_PAUSE,
        COMMAND_STOP,
        COMMAND_EXIT,
} Command;

typedef struct Slot {
        _Atomic uint64_t submitted_at_ns; /* monotonic; 0: free */
        _Atomic uint64_t index;           /* of the pattern; of a flush UINT64_MAX */
        PatternOp op;
        uint32_t n_done; /* bytes transferred so far */
        bool is_flush;   /* of the device's cache: no I/O, and not counted */
        bool is_tracked_flush;
        unsigned region;
        uint8_t *buf;
} Slot;

/* How far the order has come, in one piece: the version is odd while it changes. */
typedef struct Progress {
        _Atomic unsigned version;
        _Atomic uint64_t next_index, next_write, issued_bytes;
} Progress;

struct Slice {
        SliceConfig config;
        Ring *ring;
        pthread_t thread;
        clockid_t cpu_clock; /* its own */
        sem_t ready; /* posted once, when the ring is enabled or setup_error says why not */
        int setup_error;
        Error setup_message;
        int wake_fd;

        /* Between owner and thread. */
        _Atomic int command;
        _Atomic unsigned n_started; /* phases */
        _Atomic int state;
        _Atomic int ring_error;
        _Atomic uint32_t n_in_flight;
        _Atomic uint64_t clock; /* see running_ns_at() */
        Progress progress;
        _Atomic uint64_t awake_ns, held_ns;
        _Atomic uint64_t owner_awake_ns;
        _Atomic bool is_over; /* the phase, before its time: set by whichever of the team finds that */
        Tally tally;

        /* The owner's own. */
        Position position; /* as last told */
        PositionMark mark;

        /* The thread's own while a phase runs; the owner sets it up while the thread is parked. */
        PhasePlan phase; /* its share of it */
        Pattern pattern;
        uint64_t next_index;
        uint64_t next_write;
        uint64_t issued_bytes;
        uint64_t n_issued; /* I/Os; as many as the bytes made, where the phase was taken up */
        uint64_t may_bytes, may_ios; /* issue; as far as is known yet, where the limits are pooled */
        uint64_t n_unflushed; /* writes since the last flush was queued */
        Tracking tracking;
        Check *check; /* NULL: no phase of the plan is checked */
        const Window *window; /* of a phase that is checked; NULL: none yet */
        uint64_t window_number;
        bool is_held; /* the next I/O, by what is outstanding or not known yet */
        Pace pace;
        uint64_t pace_wait_ns; /* until the next I/O is due; UINT64_MAX if that does not hold it up */
        uint64_t now_ns; /* the newest reading of the clock */
        uint64_t owner_awake_before_ns; /* then */
        uint64_t reaped_at_ns;
        uint64_t ns_per_io; /* recent mean distance of completions */
        unsigned n_failures; /* in a row */
        EngineFailure failure; /* the first that the phase does not continue on */
        uint32_t n_slots, n_free;
        uint32_t *free_slots; /* a stack: what was used last is in the cache */
        Slot *slots;
};

/*
 * The phase's running time in one word, so that it can be read whole: while it runs, the moment at which it
 * would have begun without pauses; while it stands, its length, with the highest bit. That moment lies before the
 * machine's start where a phase that was interrupted by its going down is taken up, so all moments are told later by
 * CLOCK_BIAS.
 */
#define CLOCK_STANDS (UINT64_C(1) << 63)
#define CLOCK_BIAS (UINT64_C(1) << 62) /* 146 years */

static inline uint64_t running_ns_at(uint64_t clock, uint64_t now) {
        if (clock & CLOCK_STANDS)
                return clock & ~CLOCK_STANDS;
        return now + CLOCK_BIAS > clock ? now + CLOCK_BIAS - clock : 0;
}

static inline void clock_go(Slice *s, uint64_t now) {
        uint64_t clock = atomic_load_explicit(&s->clock, memory_order_relaxed);

        if (clock & CLOCK_STANDS)
                atomic_store_explicit(&s->clock, now + CLOCK_BIAS - (clock & ~CLOCK_STANDS), memory_order_relaxed);
}

/* Counters of events: they neither block nor fail before 2^64 - 1 of them are unread. */
static inline void event_raise(int fd) {
        uint64_t one = 1;
        ssize_t n = write(fd, &one, sizeof one);
        (void) n;
}

static inline Command command_of(const Slice *s) {
        return (Command) atomic_load_explicit(&s->command, memory_order_acquire);
}

static inline void set_state(Slice *s, EngineState state) {
        if (atomic_load_explicit(&s->state, memory_order_relaxed) == (int) state)
                return;
        atomic_store_explicit(&s->state, state, memory_order_release);
        event_raise(s->config.event_fd);
}

/* After the slots' times: who sees this progress sees all that is outstanding below it. */
static inline void publish_progress(Slice *s) {
        unsigned version = atomic_load_explicit(&s->progress.version, memory_order_relaxed);

        atomic_store_explicit(&s->progress.version, version + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&s->progress.next_index, s->next_index, memory_order_relaxed);
        atomic_store_explicit(&s->progress.next_write, s->next_write, memory_order_relaxed);
        atomic_store_explicit(&s->progress.issued_bytes, s->issued_bytes, memory_order_relaxed);
        atomic_store_explicit(&s->progress.version, version + 2, memory_order_release);
}

/*
 * Whether a slot holds one of the I/Os below next_index, which was read before. A slot that is filled anew
 * meanwhile has completed what it held before.
 */
static inline bool is_outstanding(const Slot *slot, uint64_t next_index, uint64_t *ret_index) {
        if (atomic_load_explicit(&slot->submitted_at_ns, memory_order_acquire) == 0)
                return false;
        *ret_index = atomic_load_explicit(&slot->index, memory_order_relaxed);
        return *ret_index < next_index;
}

/* Below it everything has completed. */
static inline uint64_t lowest_outstanding(const Slice *s, uint64_t next_index) {
        uint64_t low = next_index, index;

        for (uint32_t i = 0; i < s->n_slots; i++)
                if (is_outstanding(&s->slots[i], next_index, &index))
                        low = MIN(low, index);
        return low;
}

/* The thread's main function; userdata: its Slice. */
void *slice_main(void *userdata);

/* SPDX-License-Identifier: MIT */

/*
 * The ring thread: submit, reap, count, and nothing else. It allocates nothing, logs nothing and takes no lock, so
 * only the device decides how fast it goes; and it shares only atomics with its owner, so it may hang in the
 * kernel without holding up anybody.
 *
 * A turn of the loop: take completions, count them in one burst under one reading of the clock, fill the free
 * slots, stamp them with one more reading, submit, wait. Filling comes before stamping, so that the time
 * it takes is not told as the device's latency.
 *
 * Waiting for one completion at a time costs a system call and a wake-up an I/O; waiting for several delays those that
 * came first. So it waits for others after the first only while the recent rate brings them within 64 us, and never
 * for more than a quarter of what is outstanding. 20 us would be too few: a device of 180,000 IOPS, slow enough for its
 * driver's own wake-ups to matter, would be waited for by three.
 */

#include "engine/slice.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "engine/pace.h"
#include "engine/pattern.h"
#include "util/macro.h"
#include "util/time.h"

#define REAP_MAX 128U /* completions a turn */
#define FILL_MAX 64U  /* I/Os filled and submitted a turn, */
#define FILL_BYTES_MAX MIB /* and bytes: the device must not idle while a deep queue is filled for the first time */

#define PREFETCH_LINES 8U
#define CACHE_LINE 64U

#define WAIT_MAX 8U
#define WAIT_WINDOW_NS (64 * NSEC_PER_USEC)

/*
 * From here on it waits for one at a time. A distance counts as at most twice this: on a busy host there are gaps of
 * milliseconds between bursts, and it is the bursts that tell whether waiting pays.
 */
#define SLOW_NS_PER_IO (WAIT_WINDOW_NS + 1)

/*
 * Bounds what a sudden fall of the rate costs. Not shorter than the scheduler's tick: a timer that expires next
 * has to be programmed, in a virtual machine by leaving it, at each wait (a fifth of the system time, measured).
 */
#define WAIT_SEVERAL_TIMEOUT_NS (5 * NSEC_PER_MSEC)
#define WAIT_TIMEOUT_NS (100 * NSEC_PER_MSEC) /* how soon a pause, stop or end is noticed while the device hangs */

/* A change takes some nanoseconds; a thread that lost its processor in the middle of one is not waited for. */
#define PLACE_TRIES 64U

/* A turn beyond this was no wait for the device. */
#define TURN_NS_MAX (WAIT_TIMEOUT_NS + ENGINE_ASLEEP_NS_MIN)

/* A device that fails everything at once would otherwise be asked a million times a second. */
#define FAILURE_STREAK_MAX 64U
#define FAILURE_PAUSE_NS (10 * NSEC_PER_MSEC)

typedef enum Command {
        COMMAND_NONE,
        COMMAND_RUN,
        COMMAND_PAUSE,
        COMMAND_STOP,
        COMMAND_EXIT,
} Command;

typedef struct Slot {
        _Atomic uint64_t submitted_at_ns; /* monotonic; 0: free */
        _Atomic uint64_t index;           /* of the pattern */
        PatternOp op;
        uint32_t n_done; /* bytes transferred so far */
        bool is_flush;   /* of the device's cache: no I/O, and not counted */
        unsigned region;
        uint8_t *buf;
} Slot;

/* How far the order has come, in one piece: the version is odd while it changes. */
typedef struct Place {
        _Atomic unsigned version;
        _Atomic uint64_t next_index, next_write, issued_bytes;
} Place;

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
        Place place;
        _Atomic uint64_t awake_ns;
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
        uint64_t n_unflushed; /* writes since the last flush was queued */
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

static uint64_t running_ns_at(uint64_t clock, uint64_t now) {
        if (clock & CLOCK_STANDS)
                return clock & ~CLOCK_STANDS;
        return now + CLOCK_BIAS > clock ? now + CLOCK_BIAS - clock : 0;
}

static void clock_go(Slice *s, uint64_t now) {
        uint64_t clock = atomic_load_explicit(&s->clock, memory_order_relaxed);

        if (clock & CLOCK_STANDS)
                atomic_store_explicit(&s->clock, now + CLOCK_BIAS - (clock & ~CLOCK_STANDS), memory_order_relaxed);
}

static void clock_stand(Slice *s, uint64_t now) {
        uint64_t clock = atomic_load_explicit(&s->clock, memory_order_relaxed);

        atomic_store_explicit(&s->clock, running_ns_at(clock, now) | CLOCK_STANDS, memory_order_relaxed);
}

/* Counters of events: they neither block nor fail before 2^64 - 1 of them are unread. */
static void event_raise(int fd) {
        uint64_t one = 1;
        ssize_t n = write(fd, &one, sizeof one);
        (void) n;
}

static void event_await(int fd) {
        uint64_t n_events;
        ssize_t n = read(fd, &n_events, sizeof n_events);
        (void) n;
}

static Command command_of(const Slice *s) {
        return (Command) atomic_load_explicit(&s->command, memory_order_acquire);
}

static void set_state(Slice *s, EngineState state) {
        if (atomic_load_explicit(&s->state, memory_order_relaxed) == (int) state)
                return;
        atomic_store_explicit(&s->state, state, memory_order_release);
        event_raise(s->config.event_fd);
}

static bool is_over(const Slice *s) {
        return atomic_load_explicit(&s->is_over, memory_order_acquire);
}

/* For all of the team. Those that are parked take no notice. */
static void end_phase(const Slice *s) {
        for (unsigned i = 0; i < s->config.n_team; i++) {
                Slice *other = s->config.team[i];

                atomic_store_explicit(&other->is_over, true, memory_order_release);
                event_raise(other->wake_fd);
        }
}

static void submit_slot(Slice *s, uint32_t number) {
        const Slot *slot = &s->slots[number];

        if (slot->is_flush) {
                ring_prepare_flush(s->ring, number);
                return;
        }
        ring_prepare(s->ring, slot->op.direction, slot->buf + slot->n_done, slot->region,
                     slot->op.length - slot->n_done, slot->op.offset + slot->n_done, number);
}

/* The device's side read these lines last: they come from another core, which the first ones of a buffer wait for. */
static void prefetch_next(const Slice *s) {
        if (s->n_free == 0)
                return;

        const uint8_t *buf = s->slots[s->free_slots[s->n_free - 1]].buf;
        for (unsigned i = 0; i < PREFETCH_LINES; i++)
                __builtin_prefetch(buf + (size_t) i * CACHE_LINE, 1);
}

static void fill_slot(Slice *s, uint32_t number, const PatternOp *op) {
        Slot *slot = &s->slots[number];

        prefetch_next(s);
        atomic_store_explicit(&slot->index, s->next_index, memory_order_relaxed);
        s->next_index++;
        slot->op = *op;
        slot->n_done = 0;
        slot->is_flush = false;
        if (slot->op.direction == DIRECTION_WRITE) {
                payload_fill_for(s->config.payload, &s->phase, slot->buf, slot->op.length, slot->op.offset,
                                 s->next_write);
                s->next_write += s->config.write_step;
        }
        s->issued_bytes += slot->op.length;
        s->n_issued++;
        s->n_unflushed += slot->op.direction == DIRECTION_WRITE;
        if (s->pace.is_limited)
                pace_count(&s->pace, slot->op.direction, slot->op.length);
        submit_slot(s, number);
}

/* After the slots' times: who sees this place sees all that is outstanding below it. */
static void publish_place(Slice *s) {
        unsigned version = atomic_load_explicit(&s->place.version, memory_order_relaxed);

        atomic_store_explicit(&s->place.version, version + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&s->place.next_index, s->next_index, memory_order_relaxed);
        atomic_store_explicit(&s->place.next_write, s->next_write, memory_order_relaxed);
        atomic_store_explicit(&s->place.issued_bytes, s->issued_bytes, memory_order_relaxed);
        atomic_store_explicit(&s->place.version, version + 2, memory_order_release);
}

static bool is_all_issued(const Slice *s) {
        return s->issued_bytes >= s->phase.limit_bytes ||
               (s->phase.limit_ios > 0 && s->n_issued >= s->phase.limit_ios);
}

static uint64_t running_now(const Slice *s) {
        return running_ns_at(atomic_load_explicit(&s->clock, memory_order_relaxed), s->now_ns);
}

/* Where a rate is limited; all of a phase waits for the next I/O in its order, whatever its direction. */
static bool is_due(Slice *s, const PatternOp *op) {
        uint64_t wait_ns = s->pace.is_limited ?
                pace_wait_ns(&s->pace, op->direction, op->length, s->n_free, running_now(s)) : 0;

        s->pace_wait_ns = wait_ns > 0 ? wait_ns : UINT64_MAX;
        return wait_ns == 0;
}

/* Takes a place among the I/Os outstanding, as fio's does, and waits for none of them. */
static void fill_flush(Slice *s, uint32_t number) {
        Slot *slot = &s->slots[number];

        atomic_store_explicit(&slot->index, s->next_index, memory_order_relaxed);
        slot->op = (PatternOp){ .direction = DIRECTION_WRITE };
        slot->n_done = 0;
        slot->is_flush = true;
        s->n_unflushed = 0;
        submit_slot(s, number);
}

static bool fill_next(Slice *s) {
        if (s->phase.fsync_writes > 0 && s->n_unflushed >= s->phase.fsync_writes) {
                fill_flush(s, s->free_slots[--s->n_free]);
                return true;
        }

        PatternOp op = pattern_at(&s->pattern, s->next_index);

        if (!is_due(s, &op))
                return false;
        fill_slot(s, s->free_slots[--s->n_free], &op);
        return true;
}

/* Queues new I/O in free slots; returns whether there is more to queue at once. */
static bool fill(Slice *s) {
        uint32_t before = s->n_free;
        uint64_t until = s->issued_bytes > UINT64_MAX - FILL_BYTES_MAX ? UINT64_MAX : s->issued_bytes + FILL_BYTES_MAX;

        s->pace_wait_ns = UINT64_MAX;
        while (s->n_free > 0 && before - s->n_free < FILL_MAX && s->issued_bytes < until && !is_all_issued(s))
                if (!fill_next(s))
                        break;
        if (s->n_free == before)
                return false;

        uint64_t now = time_monotonic_ns();
        for (uint32_t i = s->n_free; i < before; i++)
                atomic_store_explicit(&s->slots[s->free_slots[i]].submitted_at_ns, now, memory_order_relaxed);
        atomic_store_explicit(&s->n_in_flight, s->n_slots - s->n_free, memory_order_relaxed);
        publish_place(s);
        return s->n_free > 0 && !is_all_issued(s) && s->pace_wait_ns == UINT64_MAX;
}

/* What the device did not do for a reason that passes, or did in part, is asked again; not for ever when stopping. */
static bool retry(Slice *s, uint32_t number, int32_t result, bool stopping) {
        Slot *slot = &s->slots[number];

        if (result == -EAGAIN || result == -EINTR) {
                if (stopping)
                        return false;
                s->n_failures++;
        } else if (result > 0 && (uint32_t) result < slot->op.length - slot->n_done)
                slot->n_done += (uint32_t) result;
        else
                return false;

        submit_slot(s, number);
        return true;
}

/* No bytes and no error: the device ended before this offset. */
static void fail(Slice *s, TallyCounts *counts, const Slot *slot, int32_t result) {
        EngineFailure failure = {
                .errnum = result < 0 ? -result : EIO,
                .direction = slot->op.direction,
                .offset = slot->op.offset + slot->n_done,
        };

        tally_count_error(counts, failure.errnum, failure.offset);
        s->n_failures++;
        if (s->phase.ends_on_error[failure.direction] && !is_over(s)) {
                s->failure = failure;
                end_phase(s);
        }
}

static void complete(Slice *s, TallyCounts *counts, const RingCompletion *completion, bool stopping) {
        Slot *slot = &s->slots[completion->slot];

        if (retry(s, completion->slot, completion->result, stopping))
                return;

        if (slot->is_flush && completion->result >= 0)
                s->n_failures = 0;
        else if (completion->result > 0) {
                uint64_t submitted = atomic_load_explicit(&slot->submitted_at_ns, memory_order_relaxed);

                counts->bytes[slot->op.direction] += slot->op.length;
                counts->latency[slot->op.direction].buckets[histogram_bucket(s->now_ns - submitted)]++;
                s->n_failures = 0;
        } else
                fail(s, counts, slot, completion->result);

        atomic_store_explicit(&slot->submitted_at_ns, 0, memory_order_relaxed);
        s->free_slots[s->n_free++] = completion->slot;
}

static void read_clock(Slice *s) {
        s->now_ns = time_monotonic_ns();
        s->owner_awake_before_ns = atomic_load_explicit(&s->owner_awake_ns, memory_order_relaxed);
}

/* From the running time and from the age of what is outstanding, which may be younger: then it was all asleep. */
static void leave_out(Slice *s, uint64_t asleep_ns) {
        uint64_t clock = atomic_load_explicit(&s->clock, memory_order_relaxed);

        atomic_store_explicit(&s->clock, clock + asleep_ns, memory_order_relaxed);
        for (uint32_t i = 0; i < s->n_slots; i++) {
                uint64_t at = atomic_load_explicit(&s->slots[i].submitted_at_ns, memory_order_relaxed);

                if (at != 0)
                        atomic_store_explicit(&s->slots[i].submitted_at_ns, MIN(at + asleep_ns, s->now_ns),
                                              memory_order_relaxed);
        }
}

/* The kernel may hold this thread as long as it likes: it has slept only if the owner did so too. */
static void end_turn(Slice *s) {
        uint64_t began_ns = s->now_ns, owner_began_ns = s->owner_awake_before_ns;

        read_clock(s);
        uint64_t turn_ns = s->now_ns - began_ns, awake_ns = turn_ns;

        if (turn_ns > TURN_NS_MAX) {
                uint64_t asleep_ns = turn_ns - MIN(turn_ns, s->owner_awake_before_ns - owner_began_ns);

                if (asleep_ns >= ENGINE_ASLEEP_NS_MIN) {
                        leave_out(s, asleep_ns);
                        awake_ns -= asleep_ns;
                }
        }
        awake_ns += atomic_load_explicit(&s->awake_ns, memory_order_relaxed);
        atomic_store_explicit(&s->awake_ns, awake_ns, memory_order_relaxed);
}

static void reap(Slice *s, bool stopping) {
        RingCompletion completions[REAP_MAX];
        unsigned n = ring_reap(s->ring, completions, ELEMENTSOF(completions));

        end_turn(s);
        if (n == 0) {
                /* The rate was hoped for, and did not come: one at a time, until it shows. */
                s->ns_per_io = MAX(s->ns_per_io, SLOW_NS_PER_IO);
                return;
        }

        TallyCounts *counts = tally_begin(&s->tally);
        for (unsigned i = 0; i < n; i++)
                complete(s, counts, &completions[i], stopping);
        tally_end(&s->tally);
        atomic_store_explicit(&s->n_in_flight, s->n_slots - s->n_free, memory_order_relaxed);

        s->ns_per_io += MIN((s->now_ns - s->reaped_at_ns) / n, 2 * SLOW_NS_PER_IO) / 4 - s->ns_per_io / 4;
        s->reaped_at_ns = s->now_ns;
}

static unsigned wait_count(const Slice *s) {
        uint64_t soon = 1 + WAIT_WINDOW_NS / MAX(s->ns_per_io, UINT64_C(1));
        uint32_t n = MIN(WAIT_MAX, (s->n_slots - s->n_free) / 4);

        n = soon < n ? (uint32_t) soon : n;
        return MAX(n, 1U);
}

static uint64_t wait_timeout(uint64_t left_ns, unsigned n) {
        uint64_t timeout_ns = n > 1 ? WAIT_SEVERAL_TIMEOUT_NS : WAIT_TIMEOUT_NS;

        return MIN(timeout_ns, left_ns);
}

static void back_off(Slice *s) {
        if (s->n_failures < FAILURE_STREAK_MAX)
                return;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = FAILURE_PAUSE_NS }, NULL);
}

/* Submits, and waits unless there is more to submit. False if the ring is of no use any more. */
static bool exchange(Slice *s, bool more, uint64_t left_ns) {
        unsigned n = more ? 0 : wait_count(s);
        int r = ring_submit_and_wait(s->ring, n, wait_timeout(left_ns, n));

        if (r == -EAGAIN || r == -EBUSY)
                s->n_failures = FAILURE_STREAK_MAX;
        else if (r < 0) {
                atomic_store_explicit(&s->ring_error, r, memory_order_relaxed);
                end_phase(s);
                return false;
        }
        return true;
}

/* Running time left in the phase. */
static uint64_t time_left(const Slice *s) {
        if (s->phase.runtime_ns == 0)
                return UINT64_MAX;
        return s->phase.runtime_ns - MIN(s->phase.runtime_ns, running_now(s));
}

static void pause_until_told(Slice *s) {
        clock_stand(s, time_monotonic_ns());
        set_state(s, ENGINE_PAUSED);
        while (command_of(s) == COMMAND_PAUSE && !is_over(s))
                event_await(s->wake_fd);

        read_clock(s);
        s->reaped_at_ns = s->now_ns;
        if (command_of(s) == COMMAND_RUN) {
                clock_go(s, s->now_ns);
                set_state(s, ENGINE_RUNNING);
        }
}

static void run_phase(Slice *s) {
        for (;;) {
                Command command = command_of(s);
                uint64_t left_ns = time_left(s);
                bool ended = left_ns == 0 || is_all_issued(s) || is_over(s);
                bool draining = ended || command != COMMAND_RUN;
                bool more = false;

                if (draining && s->n_free == s->n_slots) {
                        if (ended || command != COMMAND_PAUSE)
                                break;
                        pause_until_told(s);
                        continue;
                }

                set_state(s, draining ? ENGINE_DRAINING : ENGINE_RUNNING);
                if (!draining)
                        more = fill(s);
                if (!exchange(s, more, draining ? UINT64_MAX : MIN(left_ns, s->pace_wait_ns)))
                        break;
                reap(s, command == COMMAND_STOP || command == COMMAND_EXIT);
                back_off(s);
        }

        clock_stand(s, time_monotonic_ns());
        set_state(s, ENGINE_IDLE);
}

/* Waits for a phase to run, or the end. */
static bool park(Slice *s, unsigned n_run) {
        while (command_of(s) != COMMAND_EXIT) {
                if (atomic_load_explicit(&s->n_started, memory_order_acquire) != n_run)
                        return true;
                event_await(s->wake_fd);
        }
        return false;
}

static void *slice_main(void *userdata) {
        Slice *s = userdata;
        unsigned n_run = 0;

        s->setup_error = ring_enable(s->ring, &s->setup_message);
        sem_post(&s->ready);

        while (park(s, n_run)) {
                n_run++;
                run_phase(s);
        }

        /* By the thread that the ring belongs to. */
        ring_close(s->ring);
        return NULL;
}

/* The signals of the process are for its main thread; a system call that one interrupts would look like the device. */
static int start_thread(Slice *s) {
        sigset_t all, before;
        int r;

        sigfillset(&all);
        r = pthread_sigmask(SIG_SETMASK, &all, &before);
        if (r != 0)
                return -r;
        r = pthread_create(&s->thread, NULL, slice_main, s);
        if (r == 0)
                r = pthread_getcpuclockid(s->thread, &s->cpu_clock);
        (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
        return -r;
}

Slice *slice_free(Slice *s) {
        if (!s)
                return NULL;

        ring_free(s->ring);
        error_clear(&s->setup_message);
        sem_destroy(&s->ready);
        fd_close(s->wake_fd);
        free(s->slots);
        free(s->free_slots);
        free(s);
        return NULL;
}

static int slice_allocate(Slice **ret, const SliceConfig *config) {
        Slice *s = calloc(1, sizeof *s);

        if (!s)
                return -ENOMEM;

        s->config = *config;
        s->next_write = config->first_write;
        s->clock = CLOCK_STANDS;
        sem_init(&s->ready, 0, 0);
        s->slots = calloc(config->depth, sizeof *s->slots);
        s->free_slots = calloc(config->depth, sizeof *s->free_slots);
        s->wake_fd = eventfd(0, EFD_CLOEXEC);
        *ret = s;
        return s->slots && s->free_slots && s->wake_fd >= 0 ? 0 : -ENOMEM;
}

int slice_new(Slice **ret, const SliceConfig *config, Error *error) {
        _cleanup_(slice_freep) Slice *s = NULL;
        int r;

        r = slice_allocate(&s, config);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "not enough memory or file descriptors for a ring thread");

        r = ring_new(&s->ring, config->ring_kind, config->fd, config->depth, config->buffers->regions,
                     config->buffers->n_regions, error);
        if (r < 0)
                return r;

        r = start_thread(s);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "cannot start the ring thread: %s", strerror(-r));

        while (sem_wait(&s->ready) < 0)
                ;
        if (s->setup_error < 0) {
                error_move(error, &s->setup_message);
                slice_end(s);
                return s->setup_error;
        }

        *ret = TAKE_PTR(s);
        return 0;
}

static void give_command(Slice *s, Command command) {
        atomic_store_explicit(&s->command, command, memory_order_release);
        event_raise(s->wake_fd);
}

void slice_end(Slice *s) {
        give_command(s, COMMAND_EXIT);
        pthread_join(s->thread, NULL);
}

static void lay_out_slots(Slice *s, uint32_t first_slot) {
        uint64_t stride = buffers_stride(&s->phase);

        s->n_slots = s->n_free = phase_plan_outstanding(&s->phase);
        for (uint32_t i = 0; i < s->n_slots; i++) {
                Slot *slot = &s->slots[i];

                slot->buf = buffers_slot(s->config.buffers, stride, first_slot + i, &slot->region);
                s->free_slots[i] = i;
        }
}

/* Before the thread runs the phase. */
static void begin_at(Slice *s, const Position *at) {
        s->next_index = at->next_index;
        s->issued_bytes = at->issued_bytes;
        s->n_unflushed = 0;
        s->n_issued = phase_plan_ios(&s->phase, at->issued_bytes);
        s->position = *at;
        s->mark = (PositionMark){ .low_index = at->low_index };
        publish_place(s);
}

int slice_check(const Slice *s) {
        int ring_error = slice_ring_error(s);

        if (ring_error < 0)
                return ring_error;
        return slice_state(s) == ENGINE_IDLE ? 0 : -EBUSY;
}

void slice_prepare(Slice *s, const PhasePlan *share, uint32_t first_slot, const Position *at, uint64_t running_ns) {
        s->phase = *share;
        pattern_init(&s->pattern, share, s->config.number);
        begin_at(s, at);
        pace_begin(&s->pace, &s->phase, running_ns);
        s->failure = (EngineFailure) {};
        s->ns_per_io = SLOW_NS_PER_IO;
        lay_out_slots(s, first_slot);
        tally_begin_phase(&s->tally);
        atomic_store_explicit(&s->is_over, false, memory_order_relaxed);
        atomic_store_explicit(&s->clock, running_ns | CLOCK_STANDS, memory_order_relaxed);
}

void slice_go(Slice *s) {
        uint64_t now = time_monotonic_ns();

        s->now_ns = s->reaped_at_ns = s->mark.at_ns = now;
        s->owner_awake_before_ns = atomic_load_explicit(&s->owner_awake_ns, memory_order_relaxed);
        clock_go(s, now);
        set_state(s, ENGINE_RUNNING);

        /* In this order: a thread that sees the new phase must not find the last one's stop. */
        atomic_store_explicit(&s->command, COMMAND_RUN, memory_order_release);
        atomic_fetch_add_explicit(&s->n_started, 1, memory_order_release);
        event_raise(s->wake_fd);
}

void slice_pause(Slice *s) {
        if (command_of(s) == COMMAND_RUN)
                give_command(s, COMMAND_PAUSE);
}

void slice_resume(Slice *s) {
        if (command_of(s) == COMMAND_PAUSE)
                give_command(s, COMMAND_RUN);
}

void slice_stop(Slice *s) {
        give_command(s, COMMAND_STOP);
}

EngineState slice_state(const Slice *s) {
        return (EngineState) atomic_load_explicit(&s->state, memory_order_acquire);
}

uint64_t slice_running_ns(const Slice *s) {
        return running_ns_at(atomic_load_explicit(&s->clock, memory_order_relaxed), time_monotonic_ns());
}

void slice_in_flight(const Slice *s, uint32_t *ret_n, uint64_t *ret_oldest_ns) {
        uint64_t oldest = UINT64_MAX;

        *ret_n = atomic_load_explicit(&s->n_in_flight, memory_order_relaxed);
        for (uint32_t i = 0; i < s->n_slots; i++) {
                uint64_t at = atomic_load_explicit(&s->slots[i].submitted_at_ns, memory_order_relaxed);

                if (at != 0)
                        oldest = MIN(oldest, at);
        }

        uint64_t now = time_monotonic_ns();
        *ret_oldest_ns = oldest < now ? now - oldest : 0;
}

/* False if the thread was held up in the middle of a change. */
static bool read_place(const Slice *s, Position *ret) {
        unsigned version = atomic_load_explicit(&s->place.version, memory_order_acquire);

        ret->next_index = atomic_load_explicit(&s->place.next_index, memory_order_relaxed);
        ret->next_write = atomic_load_explicit(&s->place.next_write, memory_order_relaxed);
        ret->issued_bytes = atomic_load_explicit(&s->place.issued_bytes, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        return version % 2 == 0 && atomic_load_explicit(&s->place.version, memory_order_relaxed) == version;
}

/* Below it everything has completed. A slot that is filled anew meanwhile has completed what it held before. */
static uint64_t lowest_outstanding(const Slice *s, uint64_t next_index) {
        uint64_t low = next_index;

        for (uint32_t i = 0; i < s->n_slots; i++)
                if (atomic_load_explicit(&s->slots[i].submitted_at_ns, memory_order_acquire) != 0)
                        low = MIN(low, atomic_load_explicit(&s->slots[i].index, memory_order_relaxed));
        return low;
}

void slice_position(Slice *s, Position *ret) {
        Position now = s->position;
        bool whole = false;

        for (unsigned i = 0; i < PLACE_TRIES && !whole; i++)
                whole = read_place(s, &now);
        if (whole) {
                now.low_index = MAX(now.low_index, lowest_outstanding(s, now.next_index));
                s->position = now;
                position_settle(&s->position, &s->mark, time_monotonic_ns());
        }
        *ret = s->position;
}

void slice_beat(Slice *s, uint64_t awake_ns) {
        atomic_store_explicit(&s->owner_awake_ns, awake_ns, memory_order_relaxed);
}

uint64_t slice_awake_ns(const Slice *s) {
        return atomic_load_explicit(&s->awake_ns, memory_order_relaxed);
}

uint64_t slice_cpu_ns(const Slice *s) {
        struct timespec t;

        if (clock_gettime(s->cpu_clock, &t) < 0)
                return 0;
        return (uint64_t) t.tv_sec * NSEC_PER_SEC + (uint64_t) t.tv_nsec;
}

Tally *slice_tally(Slice *s) {
        return &s->tally;
}

EngineFailure slice_failure(const Slice *s) {
        return s->failure;
}

int slice_ring_error(const Slice *s) {
        return atomic_load_explicit(&s->ring_error, memory_order_relaxed);
}

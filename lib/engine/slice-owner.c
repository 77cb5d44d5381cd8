/* SPDX-License-Identifier: MIT */

/* What the owner of a ring thread does: it makes it, tells it what to do, and reads what it publishes. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>

#include "engine/slice-internal.h"
#include "util/time.h"

/*
 * A change takes some nanoseconds, a burst of completions microseconds; a thread that lost its processor in the
 * middle of one is not waited for.
 */
#define READ_TRIES 64U

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
        overlap_free(s->tracking.overlap);
        check_free(s->check);
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
        if (config->tracks && overlap_new(&s->tracking.overlap, config->depth) < 0)
                return -ENOMEM;
        if (config->checks && check_new(&s->check, config->replay) < 0)
                return -ENOMEM;
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
                slice_exit(s);
                slice_join(s);
                return s->setup_error;
        }

        *ret = TAKE_PTR(s);
        return 0;
}

static void give_command(Slice *s, Command command) {
        atomic_store_explicit(&s->command, command, memory_order_release);
        event_raise(s->wake_fd);
}

void slice_exit(Slice *s) {
        give_command(s, COMMAND_EXIT);
}

void slice_join(Slice *s) {
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

/* Of a pool nothing has been taken yet. */
static void set_limits(Slice *s) {
        const PhasePlan *share = &s->phase;
        bool pools = s->config.pool->is_on;

        s->may_bytes = pools && share->limit_bytes != UINT64_MAX ? s->issued_bytes : share->limit_bytes;
        s->may_ios = share->limit_ios == 0 ? UINT64_MAX : pools ? s->n_issued : share->limit_ios;
}

/* Before the thread runs the phase. */
static void begin_at(Slice *s, const Position *at) {
        s->next_index = at->next_index;
        s->issued_bytes = at->done_bytes;
        s->n_unflushed = 0;
        s->n_issued = phase_plan_ios(&s->phase, at->done_bytes);
        set_limits(s);
        s->position = *at;
        s->mark = (PositionMark){ .low_index = at->low_index };
        publish_progress(s);
}

int slice_ready(const Slice *s) {
        int ring_error = slice_ring_error(s);

        if (ring_error < 0)
                return ring_error;
        return slice_state(s) == ENGINE_IDLE ? 0 : -EBUSY;
}

void slice_prepare(Slice *s, uint32_t phase, const PhasePlan *share, const History *history, uint32_t first_slot,
                   const Position *at, uint64_t running_ns) {
        s->phase = *share;
        pattern_init(&s->pattern, share, s->config.number);
        begin_at(s, at);
        s->window = NULL;
        tracking_begin(&s->tracking, share, write_number(phase, s->config.number, 0), history);
        if (s->check)
                check_begin(s->check, phase);
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
static bool read_progress(const Slice *s, Position *ret) {
        unsigned version = atomic_load_explicit(&s->progress.version, memory_order_acquire);

        ret->next_index = atomic_load_explicit(&s->progress.next_index, memory_order_relaxed);
        ret->next_write = atomic_load_explicit(&s->progress.next_write, memory_order_relaxed);
        ret->done_bytes = atomic_load_explicit(&s->progress.issued_bytes, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        return version % 2 == 0 && atomic_load_explicit(&s->progress.version, memory_order_relaxed) == version;
}

/* What has completed must be counted, too, or be so before the counters are read: else it would be missing there. */
static bool read_position(const Slice *s, Position *ret) {
        if (!read_progress(s, ret))
                return false;

        uint64_t low = ret->next_index;

        for (uint32_t i = 0; i < s->n_slots; i++) {
                uint64_t index;

                if (!is_outstanding(&s->slots[i], ret->next_index, &index))
                        continue;
                low = MIN(low, index);
                ret->done_bytes -= pattern_at(&s->pattern, index).length;
        }
        ret->low_index = MAX(s->position.low_index, low);
        return !tally_is_counting(&s->tally);
}

void slice_position(Slice *s, Position *ret) {
        Position now = s->position;
        bool whole = false;

        for (unsigned i = 0; i < READ_TRIES && !whole; i++)
                whole = read_position(s, &now);
        if (whole) {
                s->position = now;
                position_settle(&s->position, &s->mark, time_monotonic_ns());
        }
        *ret = s->position;
}

/* If the thread is held up in the middle of a change, both as they were last. */
void slice_history(Slice *s, Position *ret_at, History *ret) {
        Position before = s->position;

        slice_position(s, ret_at);
        if (!tracking_read(&s->tracking, ret))
                s->position = *ret_at = before;
}

void slice_allow(Slice *s, uint64_t ceiling) {
        atomic_store_explicit(&s->tracking.ceiling, ceiling, memory_order_release);
        event_raise(s->wake_fd);
}

const Check *slice_check(const Slice *s) {
        return s->check;
}

void slice_beat(Slice *s, uint64_t awake_ns) {
        atomic_store_explicit(&s->owner_awake_ns, awake_ns, memory_order_relaxed);
}

uint64_t slice_awake_ns(const Slice *s) {
        return atomic_load_explicit(&s->awake_ns, memory_order_relaxed);
}

uint64_t slice_held_ns(const Slice *s) {
        return atomic_load_explicit(&s->held_ns, memory_order_relaxed);
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

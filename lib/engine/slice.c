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

#include "engine/slice-internal.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "util/time.h"

#define REAP_MAX 128U /* completions a turn */
#define FILL_MAX 64U  /* I/Os filled and submitted a turn, */
#define FILL_BYTES_MAX MIB /* and bytes: the device must not idle while a deep queue is filled for the first time */

#define PREFETCH_LINES 8U
#define CACHE_LINE 64U

#define WAIT_MAX 8U

/*
 * Bounds what a sudden fall of the rate costs. Not shorter than the scheduler's tick: a timer that expires next
 * has to be programmed, in a virtual machine by leaving it, at each wait (a fifth of the system time, measured).
 */
#define WAIT_SEVERAL_TIMEOUT_NS (5 * NSEC_PER_MSEC)
#define WAIT_TIMEOUT_NS (100 * NSEC_PER_MSEC) /* how soon a pause, stop or end is noticed while the device hangs */

/* A turn beyond this was no wait for the device. */
#define TURN_NS_MAX (WAIT_TIMEOUT_NS + ENGINE_ASLEEP_NS_MIN)

/* How often it is asked whether a window has been computed. */
#define WINDOW_WAIT_NS NSEC_PER_MSEC

/* A device that fails everything at once would otherwise be asked a million times a second. */
#define FAILURE_STREAK_MAX 64U
#define FAILURE_PAUSE_NS (10 * NSEC_PER_MSEC)

static void clock_stand(Slice *s, uint64_t now) {
        uint64_t clock = atomic_load_explicit(&s->clock, memory_order_relaxed);

        atomic_store_explicit(&s->clock, running_ns_at(clock, now) | CLOCK_STANDS, memory_order_relaxed);
}

static void event_await(int fd) {
        uint64_t n_events;
        ssize_t n = read(fd, &n_events, sizeof n_events);
        (void) n;
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
                                 s->tracking.is_on ? s->tracking.number + s->next_index - 1 : s->next_write);
                s->next_write += s->config.write_step;
        }
        if (s->tracking.is_on && slot->op.direction != DIRECTION_READ) {
                overlap_add(s->tracking.overlap, number, slot->op.offset, slot->op.length);
                s->tracking.is_dirty = true;
        }
        s->issued_bytes += slot->op.length;
        s->n_issued++;
        s->n_unflushed += slot->op.direction == DIRECTION_WRITE;
        if (s->pace.is_limited)
                pace_count(&s->pace, slot->op.direction, slot->op.length);
        submit_slot(s, number);
}

static bool is_all_issued(Slice *s) {
        while (s->issued_bytes >= s->may_bytes || s->n_issued >= s->may_ios)
                if (!pool_take(s->config.pool, &s->may_bytes, &s->may_ios))
                        return true;
        return false;
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

        atomic_store_explicit(&slot->index, UINT64_MAX, memory_order_relaxed);
        slot->op = (PatternOp){ .direction = DIRECTION_WRITE };
        slot->n_done = 0;
        slot->is_flush = true;
        slot->is_tracked_flush = false;
        s->n_unflushed = 0;
        submit_slot(s, number);
}

/* The flush that makes what has completed so far safe from a power cut; all that is outstanding has its time by now. */
static void fill_tracked_flush(Slice *s, uint32_t number) {
        uint64_t n_unflushed = s->n_unflushed;

        tracking_flush_begins(&s->tracking, lowest_outstanding(s, s->next_index), s->now_ns);
        fill_flush(s, number);
        s->slots[number].is_tracked_flush = true;
        s->n_unflushed = n_unflushed;
}

/* What an I/O that is checked is held against; windows go when nothing is outstanding. */
static bool has_window(Slice *s, const PatternOp *op) {
        uint64_t number = verifier_window_number(s->config.verifier, op->offset);

        if (s->window && s->window_number == number)
                return true;
        if (s->window && s->n_free < s->n_slots)
                return false;
        s->window = verifier_window(s->config.verifier, number);
        s->window_number = number;
        if (!s->window)
                s->pace_wait_ns = WINDOW_WAIT_NS;
        return s->window != NULL;
}

/* Whether the next I/O has to wait for something that is not its time. */
static bool is_held(Slice *s, const PatternOp *op) {
        if (s->tracking.is_on)
                return tracking_holds(&s->tracking, s->next_index, op->direction != DIRECTION_READ, op->offset,
                                      op->length);
        return s->phase.is_checked && !has_window(s, op);
}

/* Where the run may only write so much. The last to be asked, for it takes. */
static bool is_allowed(Slice *s, const PatternOp *op) {
        if (!s->config.allowance || op->direction != DIRECTION_WRITE || allowance_take(s->config.allowance, op->length))
                return true;
        end_phase(s);
        return false;
}

static bool fill_next(Slice *s) {
        if (s->phase.fsync_writes > 0 && s->n_unflushed >= s->phase.fsync_writes) {
                fill_flush(s, s->free_slots[--s->n_free]);
                return true;
        }
        PatternOp op = pattern_at(&s->pattern, s->next_index);

        s->is_held = is_held(s, &op);
        if (s->is_held || !is_due(s, &op) || !is_allowed(s, &op))
                return false;
        fill_slot(s, s->free_slots[--s->n_free], &op);
        return true;
}

/* Those that were free before and are not any more have been submitted now. */
static void stamp_from(Slice *s, uint32_t n_free_before) {
        uint64_t now = time_monotonic_ns();

        for (uint32_t i = s->n_free; i < n_free_before; i++)
                atomic_store_explicit(&s->slots[s->free_slots[i]].submitted_at_ns, now, memory_order_release);
        atomic_store_explicit(&s->n_in_flight, s->n_slots - s->n_free, memory_order_relaxed);
        publish_progress(s);
}

/* Queues new I/O in free slots; returns whether there is more to queue at once. */
static bool fill(Slice *s) {
        uint32_t before = s->n_free;
        uint64_t until = s->issued_bytes > UINT64_MAX - FILL_BYTES_MAX ? UINT64_MAX : s->issued_bytes + FILL_BYTES_MAX;

        s->is_held = false;
        if (s->n_free > 0 && tracking_wants_flush(&s->tracking, s->now_ns))
                fill_tracked_flush(s, s->free_slots[--s->n_free]);
        while (s->n_free > 0 && before - s->n_free < FILL_MAX && s->issued_bytes < until && !is_all_issued(s))
                if (!fill_next(s))
                        break;
        if (s->n_free == before)
                return false;

        stamp_from(s, before);
        return s->n_free > 0 && !is_all_issued(s) && !s->is_held && s->pace_wait_ns == UINT64_MAX;
}

/* Once all has completed, where a phase that is tracked ends. */
static bool fill_last_flush(Slice *s) {
        if (!s->tracking.is_on || !s->tracking.is_dirty)
                return false;

        fill_tracked_flush(s, s->free_slots[--s->n_free]);
        stamp_from(s, s->n_free + 1);
        return true;
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

/* The first that ends the phase is told. */
static void end_with(Slice *s, const EngineFailure *failure) {
        if (is_over(s))
                return;
        s->failure = *failure;
        end_phase(s);
}

/*
 * No bytes and no error: the device ended before this offset. What was transferred before counts as bytes, and not as
 * an I/O: the device has it, and the kernel has counted it.
 */
static void fail(Slice *s, TallyCounts *counts, const Slot *slot, int32_t result) {
        EngineFailure failure = {
                .errnum = result < 0 ? -result : EIO,
                .direction = slot->op.direction,
                .offset = slot->op.offset + slot->n_done,
        };

        counts->bytes[slot->op.direction] += slot->n_done;
        tally_count_error(counts, failure.errnum, failure.offset);
        s->n_failures++;
        if (s->config.allowance && slot->op.direction == DIRECTION_WRITE)
                allowance_give_back(s->config.allowance, slot->op.length - slot->n_done);
        if (s->tracking.is_on && !slot->is_flush && slot->op.direction != DIRECTION_READ)
                tracking_fail(&s->tracking, atomic_load_explicit(&slot->index, memory_order_relaxed));
        if (s->phase.ends_on_error[failure.direction])
                end_with(s, &failure);
}

/* What was read, against what was to be there. */
static void check_slot(Slice *s, const Slot *slot) {
        if (check_data(s->check, s->window, slot->buf, slot->op.offset, slot->op.length) || !s->phase.ends_on_mismatch)
                return;
        end_with(s, &(EngineFailure){
                .errnum = EILSEQ, .direction = DIRECTION_READ, .offset = slot->op.offset,
        });
}

/* Before they are counted: it takes milliseconds, for which nobody is to wait to read the counts. */
static void check_completions(Slice *s, const RingCompletion *completions, unsigned n) {
        for (unsigned i = 0; i < n; i++) {
                const Slot *slot = &s->slots[completions[i].slot];

                if (!slot->is_flush && completions[i].result >= (int32_t) (slot->op.length - slot->n_done))
                        check_slot(s, slot);
        }
}

/* What only phases that are tracked have to mind. */
static void untrack(Slice *s, uint32_t number, const RingCompletion *completion) {
        const Slot *slot = &s->slots[number];

        if (!slot->is_flush)
                overlap_remove(s->tracking.overlap, number);
        else if (slot->is_tracked_flush)
                tracking_flush_ends(&s->tracking, completion->result >= 0);
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

        if (s->tracking.is_on)
                untrack(s, completion->slot, completion);
        atomic_store_explicit(&slot->submitted_at_ns, 0, memory_order_release);
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

static void add_ns(_Atomic uint64_t *sum_ns, uint64_t ns) {
        atomic_store_explicit(sum_ns, atomic_load_explicit(sum_ns, memory_order_relaxed) + ns, memory_order_relaxed);
}

/* Whether the job itself, and neither drive nor host, is why nothing more has been submitted. */
static bool is_held_back(const Slice *s) {
        return s->pace_wait_ns != UINT64_MAX || s->n_slots == 0;
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
        add_ns(&s->awake_ns, awake_ns);
        if (is_held_back(s))
                add_ns(&s->held_ns, awake_ns);
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

        if (s->phase.is_checked)
                check_completions(s, completions, n);

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

                if (draining && s->n_free == s->n_slots &&
                    ((command == COMMAND_PAUSE && !ended) || !fill_last_flush(s))) {
                        if (ended || command != COMMAND_PAUSE)
                                break;
                        pause_until_told(s);
                        continue;
                }

                set_state(s, draining ? ENGINE_DRAINING : ENGINE_RUNNING);
                s->pace_wait_ns = UINT64_MAX;
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

void *slice_main(void *userdata) {
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

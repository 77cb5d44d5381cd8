/* SPDX-License-Identifier: MIT */

#include "engine/verifier.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/macro.h"
#include "util/time.h"

#define N_TABLES 2U
#define STOP_WAIT_NS (100 * NSEC_PER_USEC)
#define NO_WINDOW UINT64_MAX

struct Verifier {
        Replay replay;
        pthread_t thread;
        bool has_thread;
        int wake_fd;
        uint64_t *memory;
        uint64_t n_memory; /* granules */

        /* Of the phase; changes only while the thread is not busy. */
        Windows windows;
        Window tables[N_TABLES];

        _Atomic bool is_ending, is_enabled, is_busy;
        _Atomic unsigned turn;         /* another one with each stop */
        _Atomic uint64_t wanted;       /* window; the next one is wanted after it */
        _Atomic uint64_t held[N_TABLES]; /* number of the window that is ready; NO_WINDOW */
};

static uint64_t n_windows(const Verifier *v) {
        return (v->windows.end - v->windows.first + v->windows.step - 1) / v->windows.step;
}

static bool is_held(const Verifier *v, uint64_t number) {
        return atomic_load_explicit(&v->held[number % N_TABLES], memory_order_acquire) == number;
}

static void compute(Verifier *v, uint64_t number) {
        Window *table = &v->tables[number % N_TABLES];
        unsigned turn = atomic_load_explicit(&v->turn, memory_order_relaxed);

        atomic_store_explicit(&v->held[number % N_TABLES], NO_WINDOW, memory_order_relaxed);
        table->first = v->windows.first + number * v->windows.step;
        table->n = MIN(v->windows.n_each, v->windows.end - table->first);
        if (replay_window(&v->replay, table, &v->turn, turn))
                atomic_store_explicit(&v->held[number % N_TABLES], number, memory_order_release);
}

/* Whether there was something to do. */
static bool compute_wanted(Verifier *v) {
        uint64_t wanted = atomic_load_explicit(&v->wanted, memory_order_acquire);

        if (wanted == NO_WINDOW || !atomic_load_explicit(&v->is_enabled, memory_order_seq_cst))
                return false;
        for (uint64_t i = wanted; i < n_windows(v) && i < wanted + N_TABLES; i++)
                if (!is_held(v, i)) {
                        compute(v, i);
                        return true;
                }
        return false;
}

static void *verifier_main(void *userdata) {
        Verifier *v = userdata;

        while (!atomic_load_explicit(&v->is_ending, memory_order_acquire)) {
                uint64_t n_events;

                if (read(v->wake_fd, &n_events, sizeof(n_events)) < 0 && errno != EINTR)
                        break;
                for (bool more = true; more;) {
                        atomic_store_explicit(&v->is_busy, true, memory_order_seq_cst);
                        more = compute_wanted(v);
                        atomic_store_explicit(&v->is_busy, false, memory_order_seq_cst);
                }
        }
        return NULL;
}

static void wake(const Verifier *v) {
        uint64_t one = 1;
        ssize_t n = write(v->wake_fd, &one, sizeof(one));
        (void) n;
}

/* What the phase that needs most takes. */
static uint64_t memory_needed(const Plan *plan) {
        uint64_t most = 0;

        for (size_t i = 0; i < plan->n_phases; i++) {
                Windows w;

                if (!plan->phases[i].is_checked)
                        continue;
                plan_windows(plan, &plan->phases[i], &w);
                most = MAX(most, w.n_each * (w.step < w.end - w.first ? N_TABLES : 1));
        }
        return most;
}

static int start_thread(Verifier *v) {
        sigset_t all, before;
        int r;

        sigfillset(&all);
        r = pthread_sigmask(SIG_SETMASK, &all, &before);
        if (r != 0)
                return -r;
        r = pthread_create(&v->thread, NULL, verifier_main, v);
        (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
        v->has_thread = r == 0;
        return -r;
}

int verifier_new(Verifier **ret, const Replay *replay, Error *error) {
        Verifier *v = calloc(1, sizeof(*v));
        int r = -ENOMEM;

        if (!v)
                return error_set(error, ERROR_FAILED, ENOMEM, "not enough memory for the verification");
        v->replay = *replay;
        v->n_memory = memory_needed(replay->plan);
        v->memory = mmap(NULL, v->n_memory * sizeof(*v->memory), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        v->wake_fd = eventfd(0, EFD_CLOEXEC);
        verifier_stop(v);
        if (v->memory != MAP_FAILED && v->wake_fd >= 0)
                r = start_thread(v);
        if (r < 0) {
                verifier_free(v);
                return error_set(error, ERROR_FAILED, -r, "cannot prepare the verification, which may take %" PRIu64
                                 " bytes of memory (verify_memory): %s",
                                 memory_needed(replay->plan) * sizeof(uint64_t), strerror(-r));
        }
        *ret = v;
        return 0;
}

Verifier *verifier_free(Verifier *v) {
        if (!v)
                return NULL;
        if (v->has_thread) {
                verifier_stop(v);
                atomic_store_explicit(&v->is_ending, true, memory_order_release);
                wake(v);
                pthread_join(v->thread, NULL);
        }
        if (v->memory != MAP_FAILED)
                munmap(v->memory, v->n_memory * sizeof(*v->memory));
        fd_close(v->wake_fd);
        free(v);
        return NULL;
}

void verifier_stop(Verifier *v) {
        atomic_store_explicit(&v->is_enabled, false, memory_order_seq_cst);
        atomic_fetch_add_explicit(&v->turn, 1, memory_order_relaxed);
        while (atomic_load_explicit(&v->is_busy, memory_order_seq_cst))
                clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = STOP_WAIT_NS }, NULL);
        atomic_store_explicit(&v->wanted, NO_WINDOW, memory_order_relaxed);
        for (unsigned i = 0; i < N_TABLES; i++)
                atomic_store_explicit(&v->held[i], NO_WINDOW, memory_order_relaxed);
}

void verifier_begin(Verifier *v, uint32_t phase) {
        v->replay.n_phases = phase;
        plan_windows(v->replay.plan, &v->replay.plan->phases[phase], &v->windows);
        for (unsigned i = 0; i < N_TABLES; i++)
                v->tables[i].granules = v->memory + (i * v->windows.n_each < v->n_memory ? i * v->windows.n_each : 0);
        atomic_store_explicit(&v->is_enabled, true, memory_order_seq_cst);
}

uint64_t verifier_window_number(const Verifier *v, uint64_t offset) {
        return (offset / v->replay.plan->granule_bytes - v->windows.first) / v->windows.step;
}

const Window *verifier_window(Verifier *v, uint64_t number) {
        if (atomic_load_explicit(&v->wanted, memory_order_relaxed) != number) {
                atomic_store_explicit(&v->wanted, number, memory_order_release);
                wake(v);
        }
        return is_held(v, number) ? &v->tables[number % N_TABLES] : NULL;
}

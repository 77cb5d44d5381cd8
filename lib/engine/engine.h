/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Runs the phases of a plan on an open device, one after another. Ring threads submit, reap
 * and count, each its share of the phase (spec/share.h); whoever owns the Engine (the worker's main thread) starts
 * phases and takes the counters each second. They share nothing but atomics, so a ring thread that blocks in the kernel
 * never costs a sample.
 *
 * After engine_new() nothing is allocated and no thread is made, so privileges can be dropped and a system-call
 * filter laid over all threads. From then on the engine calls, in the owner's thread: read, write, clock_gettime;
 * in a ring thread: io_uring_enter, read, write, clock_nanosleep, clock_gettime, of plans that trim
 * ioctl(fd, BLKDISCARD); and in engine_free() besides:
 * futex, io_uring_register (in the ring thread: to unregister), close, munmap, madvise, exit, rt_sigprocmask, rseq.
 * io-wq, the kernel's helper for devices that cannot do without, needs RLIMIT_NPROC above 0.
 *
 * All functions are for the thread that owns the engine.
 */

#include "engine/check.h"
#include "engine/ring.h"
#include "sample/sample.h"
#include "spec/plan.h"

typedef struct Engine Engine;

typedef struct EngineConfig {
        const Plan *plan;  /* borrowed until engine_free() */
        int fd;            /* borrowed; O_DIRECT, for what the plan does */
        RingKind ring_kind;
        uint64_t run_tag;
        uint64_t first_write; /* writes of phases that are not tracked are numbered from there, over all phases */
        uint64_t written_bytes; /* by the run before, towards the plan's stop_written_max */
        Histories *histories; /* borrowed, kept up by engine_history(); NULL if nothing is verified */
} EngineConfig;

/*
 * Allocates buffers for the deepest phase (aligned, pre-faulted), sets up rings and threads, parked.
 * ERROR_FAILED / -errno with what is missing.
 */
int engine_new(Engine **ret, const EngineConfig *config, Error *error);

/* Stops and joins the threads. Waits for the I/O outstanding: a device that hangs holds it up. */
Engine *engine_free(Engine *engine);
DEFINE_CLEANUP(Engine *, engine_free)
#define _cleanup_engine_ _cleanup_(engine_freep)

typedef enum EngineState {
        ENGINE_IDLE,    /* nothing outstanding: before a phase, and after one has ended or was stopped */
        ENGINE_RUNNING,
        ENGINE_DRAINING, /* told to pause or stop, or at the phase's end; I/O outstanding */
        ENGINE_PAUSED,  /* nothing outstanding; goes on with engine_resume() */
} EngineState;

/* Becomes readable (eventfd) when the state changes; read it, then ask engine_state(). */
int engine_event_fd(const Engine *engine);
EngineState engine_state(const Engine *engine);

/*
 * Starts phase `index` of the plan: only when idle, else -EBUSY; a negative errno if the ring has failed. Counters
 * begin at 0 (take a snapshot after this returns).
 */
int engine_start_phase(Engine *engine, unsigned index);

/*
 * The same of a phase that has been interrupted after running_ns of running time: it goes on at these positions, one of
 * each of its shares (pattern_take_up()). Writes are numbered on from EngineConfig.first_write.
 */
int engine_take_up_phase(Engine *engine, unsigned index, const Positions *at, uint64_t running_ns);

/* All of these return at once; the state tells when it has happened. */
void engine_pause(Engine *engine);
void engine_resume(Engine *engine);
void engine_stop_phase(Engine *engine); /* submits nothing more, drains, then idle */

/* Monotonic time of running so far in the phase, pauses left out: what its runtime is held against. */
uint64_t engine_phase_running_ns(const Engine *engine);

/*
 * Threads that watch each other tell a process that does not run (stopped by a signal, on a host that is too busy)
 * from a device that holds up one of them. Each adds up the time that it has been awake: turns of its loop that took
 * about as long as they may. Where none was awake for ENGINE_ASLEEP_NS_MIN or more, nobody measured: the engine
 * leaves that out of its running time and of the latencies.
 *
 * engine_beat(): the owner's, in every turn. engine_awake_ns(): of the ring threads, since the engine was made; between
 * two calls that of the one that was awake longest.
 */
#define ENGINE_ASLEEP_NS_MIN UINT64_C(1000000000)
void engine_beat(Engine *engine, uint64_t awake_ns);
uint64_t engine_awake_ns(Engine *engine);

/*
 * How long the ring threads have been held back since the engine was made: by a rate that they were ahead of, by what a
 * phase that is checked has yet to compute, or by having nothing to do. Between two calls that of the one that was held
 * back longest.
 */
uint64_t engine_held_ns(Engine *engine);

/* CPU time of the ring threads since the engine was made; between two calls that of the one that took most. */
uint64_t engine_cpu_ns(Engine *engine);

/*
 * Copies the counters of the phase (all slices together) into *ret: ios, bytes, errors and histograms belong together.
 * Never blocks. Exact once the phase is idle or paused; while it runs, what is just being counted comes next time.
 */
void engine_counters(Engine *engine, Counters *ret);

/* Submitted and not completed; age of the oldest in ns (0 if none). */
void engine_in_flight(const Engine *engine, uint32_t *ret_n, uint64_t *ret_oldest_ns);

/*
 * Where each share of the phase stands. Never blocks: while the order goes on, a moment's old position may be told.
 * To be asked every second or so, for what is settled by then is noted when it is asked.
 */
void engine_positions(Engine *engine, Positions *ret);

/*
 * Of a share of the phase, if that is tracked: how its history stands, of which the positions told before say no more.
 * Whether anything but `end` has changed since the last call, so that it has to be recorded; until engine_allow() tells
 * that its ceiling has been, nothing beyond the last one is submitted.
 */
bool engine_history(Engine *engine, uint32_t share, History *ret);
void engine_allow(Engine *engine, uint32_t phase, uint32_t share, uint64_t ceiling);

/* Of a phase that is checked: what came of it so far; the findings of a share, which only become more. */
void engine_verification(const Engine *engine, Verification *ret);
const CheckFinding *engine_findings(const Engine *engine, uint32_t share, unsigned *ret_n);

/* One errno of the device, over the whole run. */
typedef struct EngineErrno {
        int errnum; /* positive */
        uint64_t count;
        int64_t first_at_ns; /* realtime */
        int64_t last_at_ns;
        uint64_t first_offset;
        uint64_t last_offset;
} EngineErrno;

#define ENGINE_N_ERRNOS_MAX 32 /* kinds told apart; further ones count under the last entry, as EIO */

/* Copies what happened so far; returns how many entries. Never blocks; engine_counters() afterwards tells no less. */
unsigned engine_errnos(Engine *engine, EngineErrno ret[static ENGINE_N_ERRNOS_MAX]);

/* An I/O that failed in a direction in which its phase does not continue on errors. */
typedef struct EngineFailure {
        int errnum; /* positive; 0: there was none */
        Direction direction;
        uint64_t offset;
} EngineFailure;

/* The one that ended the phase before its time. Only once it is idle. */
EngineFailure engine_failure(const Engine *engine);

/*
 * Whether the run has written as much as it may (Plan.stop_written_max): all, or the next block would have been more.
 * A phase that wants to write more ends. Only once it is idle. *ret_bytes: what was written without failing.
 */
bool engine_has_written_all(const Engine *engine, uint64_t *ret_bytes);

/*
 * A ring thread cannot go on after an error of the ring itself; then the phase ends (state idle, although I/O may be
 * outstanding) and this tells -errno. 0: fine.
 */
int engine_ring_error(const Engine *engine);

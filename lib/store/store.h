/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The database: one SQLite file, described column by column in schema/. A Store is one
 * connection, used by one thread at a time. Writers keep the WAL file (SQLITE_FCNTL_PERSIST_WAL), so that
 * readers of the group can read with the service stopped; a reader opens immutable only when there is no WAL.
 *
 * While a process has a reader of a file open it must not open a writer of it: SQLite would give that
 * the reader's view of the WAL, and writes would fail with -EROFS.
 *
 * Errors of all functions: -ENOSPC (disk full), -EIO, -EBUSY (locked for 5 s), -EBADMSG (corrupt or no database
 * of plateau), -EPROTO (a schema of another version), -EACCES, -EROFS, -ENOENT; ERROR_UNREACHABLE with a message.
 * -EINVAL: what is to be written contradicts what is there (no such run or phase, a seq that is there already), or
 * is written outside of a transaction; nothing of it was written, the transaction may go on, and trying again is
 * of no use.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/info.h"
#include "engine/engine.h"
#include "run/state.h"
#include "sample/sample.h"
#include "spec/plan.h"
#include "wire/standing.h"

typedef struct Store Store;

#define STORE_PATH_DEFAULT "/var/lib/plateau/plateau.db"

/*
 * Creates (mode 0640) or opens, migrates to the newest schema, WAL and synchronous=FULL. ERROR_NOT_PERMITTED if the
 * file is there and may not be written.
 */
int store_open_writer(Store **ret, const char *path, Error *error);

/* Never writes anything of the database, never creates it. Works as any user who may read the file. */
int store_open_reader(Store **ret, const char *path, Error *error);

/* Whether it waits for a lock that another connection holds, just now. The one function for any thread. */
bool store_is_locked_out(const Store *store);

Store *store_close(Store *store);
DEFINE_CLEANUP(Store *, store_close)
#define _cleanup_store_ _cleanup_(store_closep)

/*
 * The writing service holds a lock beside the file (PATH-lock, OFD lock) while it lives, whatever way it ends. A run
 * that the file calls active while nobody holds the lock was interrupted. store_service_lock() is -EBUSY and
 * ERROR_FAILED if another holds it, and returns the fd to keep. store_service_is_alive() takes no lock and writes
 * nothing.
 */
int store_service_lock(const char *path, Error *error);
bool store_service_is_alive(const char *path);

/*
 * Transactions. Every write below must be inside one; after a failed write (but for -EINVAL and -ENOENT) only a
 * rollback helps.
 */
int store_begin(Store *store, Error *error);
int store_commit(Store *store, Error *error);
void store_rollback(Store *store);

/* A reader that does not end keeps what comes after it in the WAL: more than this is not written on top. */
#define STORE_WAL_BYTES_MAX (UINT64_C(256) * 1024 * 1024)

/*
 * Whether what is written now will be found. -ESTALE if the file or its WAL was removed or replaced since it was
 * opened. store_check_place(), outside of a transaction, besides: -EBUSY if the WAL is at its bound and cannot be
 * moved on.
 */
int store_check_files(Store *store, Error *error);
int store_check_place(Store *store, Error *error);

/*
 * Outside of a transaction: moves what is in the WAL into the file itself, as far as no reader needs it there. What
 * stays, or cannot be moved, is not lost. The WAL file is kept.
 */
void store_checkpoint(Store *store);

/* A new run, in state queued, with its phases (pending). */
typedef struct StoreNewRun {
        const char *label; /* or NULL */
        const Job *job;
        const Plan *plan;
        const DeviceInfo *device;
        uint64_t run_tag;
        uint64_t seed;
        int64_t created_at_ns;
        const char *boot_id;
        const char *host; /* host name and kernel release: "rack7 6.1.0-28-amd64" */
        bool imported; /* another tool recorded it */
        bool errors_unknown; /* nobody counted them */
} StoreNewRun;
int store_insert_run(Store *store, const StoreNewRun *run, uint32_t *ret_id, Error *error);

/*
 * finished_at is set when the state is final: to at_ns, but to its last sample's time if the run was interrupted, since
 * it has done nothing from then on. started_at is set when it becomes running for the first time.
 */
int store_set_run_state(Store *store, uint32_t run, RunState state, int64_t at_ns, Error *error);

/* A user has asked for the run's end: should it be interrupted before, it is stopped. */
int store_set_stop_asked(Store *store, uint32_t run, int64_t at_ns, Error *error);

/* The samples tell of all I/O that an interrupted run has submitted. True until its state changes. */
int store_set_drained(Store *store, uint32_t run, Error *error);

/*
 * What an interrupted run waits for that a user has to do, for people, or NULL: nothing. Until its state changes; in
 * any other state it waits for nothing.
 */
int store_set_waits_for(Store *store, uint32_t run, const char *waits_for, Error *error);

/* Under what name its device was found, and in which boot: path, name, disk_name and diskseq are taken. */
int store_set_place(Store *store, uint32_t run, const DeviceInfo *device, const char *boot_id, Error *error);

typedef enum PhaseState {
        PHASE_PENDING,
        PHASE_RUNNING,
        PHASE_DONE,
        PHASE_STOPPED,
        N_PHASE_STATES,
} PhaseState;
const char *phase_state_name(PhaseState state);

typedef struct StorePhase {
        uint32_t index;
        char *name;
        PhaseAction action;
        RwMode rw;
        uint32_t read_percent; /* of a mix of reads and writes */
        uint64_t block_bytes[N_DIRECTIONS];
        uint32_t iodepth, numjobs, workers;
        PhaseState state; /* as stored, but stopped for a running one whose service is gone */
        int64_t started_at_ns, finished_at_ns; /* 0: not yet */
        /* Summed over its samples, kept up with each of them: no matter how many there are. */
        uint64_t n_samples;
        uint64_t first_elapsed_ns; /* run's running time when it began */
        uint64_t elapsed_ns;
        uint64_t ramp_ns, ramp_elapsed_ns; /* as planned, and what of elapsed_ns it took */
        uint64_t ios[N_DIRECTIONS];
        uint64_t bytes[N_DIRECTIONS];
        uint64_t errors;
        /* Of that, what came after its ramp: what means and latencies are of. */
        uint64_t counted_ios[N_DIRECTIONS];
        uint64_t counted_bytes[N_DIRECTIONS];
        uint64_t latency_mean_ns; /* all directions together; 0 if nothing completed */
        Histogram *latency; /* likewise; NULL if nothing completed, or only means are known */
} StorePhase;

/* The time that belongs to counted_ios and counted_bytes. */
uint64_t store_phase_counted_ns(const StorePhase *phase);

/* Latency of one sample, all directions together, as it was when the sample was written: no decoding needed. */
typedef struct StoreLatency {
        uint64_t mean_ns; /* 0: nothing completed */
        bool known; /* false: nothing completed, or only means are known; the next ones are 0 */
        uint64_t p50_ns, p99_ns, max_ns;
        uint64_t direction_mean_ns[N_DIRECTIONS]; /* of each; 0: nothing completed, or asked for without latency */
} StoreLatency;

int store_set_phase_state(Store *store, uint32_t run, uint32_t phase, PhaseState state, int64_t at_ns, Error *error);
int store_insert_sample(Store *store, uint32_t run, const Sample *sample, Error *error);

/*
 * The same for a run that another tool recorded: what is told of its latencies takes the place of the sample's
 * histograms, which are not looked at. Afterwards the totals of each phase that has samples: of `totals` all that is
 * summed over samples, but for histograms. -ENOENT if there is no such phase.
 */
int store_insert_imported_sample(Store *store, uint32_t run, const Sample *sample, const StoreLatency *latency,
                                 Error *error);
int store_set_imported_totals(Store *store, uint32_t run, const StorePhase *totals, Error *error);

int store_insert_event(Store *store, uint32_t run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind,
                       const char *detail, Error *error);
int store_set_errno(Store *store, uint32_t run, const EngineErrno *errnum, Error *error);

/* Of one share of a phase; its end is told by samples. */
int store_set_history(Store *store, uint32_t run, uint32_t phase, uint32_t share, const History *history, Error *error);

/* What came of checking all of a phase so far. Of each that is to check store_insert_run() notes what was asked. */
int store_set_verification(Store *store, uint32_t run, uint32_t phase, const Verification *verification, Error *error);

typedef struct StoreFinding {
        uint32_t phase;
        Mismatch kind;
        uint64_t offset, bytes;
        char *detail;
} StoreFinding;

int store_insert_finding(Store *store, uint32_t run, const StoreFinding *finding, Error *error);

/*
 * At the service's start: every active run (running, paused, queued) becomes interrupted, with an outage event
 * that tells when its last sample was, or stopped, with a finished event, if a user had asked for that. A phase
 * that was running is stopped as of its last sample. Returns how many runs.
 */
int store_interrupt_active_runs(Store *store, int64_t now_ns, Error *error);

/* Queries. Each reads in one short transaction of its own. Results are owned by the caller. */

/* Strings are as the device or the user gave them; numbers beyond INT64_MAX were cut off when written. */
typedef struct StoreRun {
        uint32_t id;
        char *name;  /* of the job */
        char *label; /* or NULL */
        char *job_text; /* store_get_run() only, NULL in a list */
        RunState state; /* as stored; of an active run without a service: what the next service will make of it */
        char *device_path;
        char *model, *serial, *wwn, *firmware; /* these and the next: NULL where unknown */
        char *transport, *link, *host_driver, *scheduler, *write_cache;
        uint64_t size_bytes;
        uint32_t logical_block_bytes, physical_block_bytes, read_ahead_kib, nr_requests;
        char *host;
        uint64_t run_tag, seed;
        uint64_t sample_interval_ns;
        int64_t created_at_ns;
        int64_t started_at_ns, finished_at_ns; /* 0: not yet */
        bool imported; /* another tool recorded it: there are no histograms */
        bool errors_known;
        bool stop_asked; /* a user has asked for its end */
        char *waits_for; /* what a user has to do for it to go on; NULL: nothing */
        bool has_planned_time;
        uint64_t planned_ns;
        uint32_t n_phases;
        char *phase_name; /* of the current or last one; NULL before the first */
        uint64_t elapsed_ns; /* at its last sample */
        uint64_t n_samples;  /* of all phases, as the next one */
        uint64_t io_errors;  /* as far as errors_known */
        bool is_verified;    /* something was read back and checked, */
        uint64_t verify_errors; /* and so many blocks of it were not what was written */
        double last_iops;  /* all directions, of the newest sample of the run; NaN if there is none */
        double mean_iops;  /* over its running time so far */
        struct StoreResume *resume; /* store_read_resumes() only */
} StoreRun;

void store_run_clear(StoreRun *run);
#define _cleanup_store_run_ _cleanup_(store_run_clear)

/* Newest first. */
int store_list_runs(Store *store, StoreRun **ret, size_t *ret_n, Error *error);
void store_runs_free(StoreRun *runs, size_t n);

/* Of a phase that may have begun; times in running time of the run. */
typedef struct StoreResumePhase {
        uint64_t first_elapsed_ns, elapsed_ns;
        uint64_t counted_ns, counted_ios; /* after its ramp; reads and writes */
        bool is_done;
} StoreResumePhase;

/* What is needed to take an interrupted run up again. */
typedef struct StoreResume {
        char *job_text;
        Standing *standing;
        EngineErrno *errnos;
        size_t n_errnos;
        int64_t since_ns; /* realtime: the end of its last sample; when it was made, if it has none */
        StoreResumePhase *phases; /* as many as standing has */
        uint64_t *cuts_ns; /* running time at the events for which event_kind_cuts(), in order */
        size_t n_cuts;
} StoreResume;

StoreResume *store_resume_free(StoreResume *resume);
DEFINE_CLEANUP(StoreResume *, store_resume_free)

/* 1; 0, and *ret is left, if it cannot be taken up: a version that did not note where it stood has recorded it. */
int store_get_resume(Store *store, uint32_t run, StoreResume **ret, Error *error);

/* That of each interrupted run among these, where it can be had. */
int store_read_resumes(Store *store, StoreRun *runs, size_t n, Error *error);

/* "7" or "last" -> its number; ERROR_NOT_FOUND (-ENOENT) if there is none, ERROR_USAGE (-EINVAL) for neither. */
int store_find_run(Store *store, const char *which, uint32_t *ret_id, Error *error);
int store_get_run(Store *store, uint32_t run, StoreRun *ret, Error *error);

int store_get_phases(Store *store, uint32_t run, StorePhase **ret, size_t *ret_n, Error *error);
void store_phases_free(StorePhase *phases, size_t n);

typedef struct StoreVerification {
        bool is_asked; /* what the phase reads is checked; else the others are 0 */
        Verification so_far;
        VerifiedShare share;
} StoreVerification;

/* Of phases 0 to n - 1. */
int store_get_verifications(Store *store, uint32_t run, StoreVerification *ret, size_t n, Error *error);

/* In the order in which they were found. */
int store_get_findings(Store *store, uint32_t run, StoreFinding **ret, size_t *ret_n, Error *error);
void store_findings_free(StoreFinding *findings, size_t n);

/* What the samples of a phase say of the host. */
typedef struct StorePhaseCpu {
        double host_percent;       /* of all its cores; NaN: not recorded */
        double worker_percent;     /* the worker's own, of one core; NaN: not recorded */
        uint64_t cores_limited_ns; /* for so long sample_host_limit() was HOST_LIMIT_CORES, */
        uint64_t ring_limited_ns;  /* and HOST_LIMIT_RING */
} StorePhaseCpu;

/* Of each of phases 0 to n - 1. */
int store_get_phase_cpu(Store *store, uint32_t run, StorePhaseCpu *ret, size_t n, Error *error);

typedef struct StoreEvent {
        int64_t at_ns;
        uint64_t elapsed_ns;
        EventKind kind;
        char *detail;
} StoreEvent;
int store_get_events(Store *store, uint32_t run, StoreEvent **ret, size_t *ret_n, Error *error);
void store_events_free(StoreEvent *events, size_t n);

int store_get_errnos(Store *store, uint32_t run, EngineErrno **ret, size_t *ret_n, Error *error);

/*
 * Calls handler for each sample with from_ns <= elapsed at its end <= to_ns, of phase (or all: -1), in order of
 * seq, from first_seq on. Reads some thousand rows at a time, each time in a transaction that is over before the
 * handler is called, so a slow handler never pins the WAL. sample and latency live only during the call; the
 * sample's histograms are zero without with_latency. A negative return ends it and is returned.
 */
typedef struct StoreSampleQuery {
        uint32_t run;
        int64_t phase; /* -1: all */
        uint64_t first_seq;
        uint64_t from_ns, to_ns; /* to_ns = UINT64_MAX: to the end */
        bool with_latency;
} StoreSampleQuery;
typedef int (*StoreSampleHandler)(const Sample *sample, const StoreLatency *latency, void *userdata);
int store_each_sample(Store *store, const StoreSampleQuery *query, StoreSampleHandler handler, void *userdata,
                      Error *error);

/*
 * What these samples tell of the latencies of one direction, added up, where histograms are known; with_latency is
 * no matter. Reads in pages, too, and takes a tenth of the time. *ret stays untouched on failure.
 */
int store_sum_latency(Store *store, const StoreSampleQuery *query, Direction direction, Histogram *ret, Error *error);

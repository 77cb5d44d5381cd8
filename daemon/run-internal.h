/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Between run.c (the run itself), run-standing.c (where it stands), run-messages.c and run-verification.c (what its
 * worker says), and judgement.c (what that means) only.
 */

#include "analysis/fio-watch.h"
#include "analysis/from-sample.h"
#include "analysis/iops-watch.h"
#include "run.h"

typedef struct RunPhase {
        char *name;
        Direction direction;     /* by which it is judged */
        unsigned section;        /* equal for the cells of a matrix, and for no other phases */
        uint64_t ramp_ns;        /* at its start, of which nothing is judged */
        FioSteady fio_steady;    /* ends when that is attained */
        uint64_t steady_hold_ns; /* ends when a steady state has held that long; 0: does not matter */
        uint64_t asked_bytes;    /* of the device, to be read and checked; 0: it checks nothing */
        bool reads_in_order;
} RunPhase;

struct Run {
        Database *database;
        const RunObserver *observer;
        void *userdata;

        uint32_t id;
        RunState state;
        RunState announced;
        char *job_name, *label, *device_path, *model, *serial;
        DeviceNumbers numbers;
        uint64_t size_bytes;
        uint64_t planned_ns;
        size_t n_phases;
        RunPhase *phases; /* NULL for a run from the database that is over */
        uint64_t sample_interval_ns;
        bool is_verified; /* what it writes, or some of it */
        IopsWatch *iops_watch; /* NULL: it does not end by that */
        char *phase_name; /* of the current or last one, or NULL */
        uint32_t phase;
        char **notices;
        bool new; /* of this service's life time */
        RunProgress progress;
        uint64_t heard_at_ns;    /* monotonic: of what is outstanding */

        /* What it needs to be taken up; NULL for one that is over, or of which that is not known. */
        char *job_text;
        Standing *standing;
        char *waits_for;         /* NULL: for nothing that a user has to do */
        int64_t since_ns;        /* realtime: the end of its last sample */
        unsigned n_deaths;       /* of workers, see run_n_deaths() */
        unsigned n_errnos;
        struct {
                EngineErrno total;
                uint64_t before; /* of its count: what was counted before the worker that it has now */
        } errnos[ENGINE_N_ERRNOS_MAX];

        /* While there is a worker. */
        WorkerProcess *worker;
        bool started;
        bool has_begun;          /* one of its workers has started */
        uint64_t asked_at_ns;    /* monotonic: of what it has to answer at once, and has not; 0: nothing */
        bool in_phase;
        uint32_t next_phase;
        uint64_t next_seq;
        bool taken_up;            /* it was interrupted before */
        char *proof;              /* by what its drive was known again */
        uint64_t outage_boot_ns;  /* CLOCK_BOOTTIME at its beginning; 0: not known, or of another boot */
        uint64_t n_taken_up;      /* which of its workers that is */
        uint64_t first_seq;       /* of this worker */
        uint64_t first_elapsed_ns;
        uint64_t go_at_ns;        /* monotonic; nothing that it says can be older; 0: not told to go yet */
        uint64_t n_cuts;          /* phases and pauses: each may make a sample shorter than the interval */
        uint64_t events_until_ns; /* monotonic: when what was said so far is paid off, see run_may_say() */
        uint64_t errnos_until_ns;
        uint64_t verification_until_ns;
        unsigned n_findings; /* of this worker */
        bool told_of_computing; /* in this phase */
        SteadyWatch watch;
        uint32_t watched_phase; /* is what it watches, if it does */
        FioWatch *fio_watch; /* NULL: the phase has no steadystate */
        HostAlarm host;
        bool phase_is_over; /* the worker was told to end it */
        bool end_is_known; /* the worker was told with which phase the run is done */
        bool stop_asked;  /* by a user: then it is stopped, whatever else */
        bool interrupting;
        bool finished;
        Outcome outcome;
        char *outcome_detail;
};

/* The worker's handlers from run_go() on. */
extern const WorkerHandlers run_worker_handlers;

/*
 * To the database now, announced when written. False if the run may not go there. Last, after the event that tells of
 * it: a service that is killed in between must not leave a state that nothing explains.
 */
bool run_set_state(Run *run, RunState state);
bool run_set_state_at(Run *run, RunState state, int64_t at_ns);

/* An event as of then, elapsed_ns into the run, in the worker's words. */
void run_record_at(Run *run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind, const char *detail);

/* judgement.c: whether the phase that is going on has come to a steady state, said in events as it is decided. */
void run_judge_phase(Run *run);
void run_judge_recorded(Run *run, const StoreResume *resume); /* what an earlier service saw of it */
void run_judge_sample(Run *run, const Sample *sample);

/* Whether a test that the job ends when it is steady is that, from the phases that have ended: then its end is set. */
void run_judge_round(Run *run);

/* Where the run was held up: nothing is judged across that. */
void run_judge_cut(Run *run, uint64_t elapsed_ns);

/* What is said with the sample and has a beginning, has its end with the worker. */
void run_judge_end(Run *run);

/* run-verification.c: what is known of what it writes, and what came of reading it back. */
int run_on_history(Run *run, Message *message);
int run_on_verification(Run *run, Message *message);
int run_on_finding(Run *run, Message *message);

/* Says once in a phase that verifies why it reads nothing: what is to be there is worked out before. */
void run_verify_sample(Run *run, const Sample *sample);

/* Each word costs time; what it costs may run ahead of the clock by a burst, and no more. */
bool run_may_say(uint64_t *paid_until_ns, uint64_t cost_ns, uint64_t burst_ns);

/* run-standing.c: where it stands, from its beginning or from the database, kept up as it goes on. -ENOMEM. */
int run_stand_new(Run *run, const StoreNewRun *inserted);

/* Its job bound to its device, as at its start. -ENOMEM; other errors where this version reads the job otherwise. */
int run_plan_again(const Run *run, Job **ret_job, Plan **ret_plan);

void run_stand_stored(Run *run, StoreResume *resume);
int run_stand_rounds(Run *run, const StoreResume *resume); /* behind that, when its phases are known; -ENOMEM */
void run_stand_sample(Run *run, const Sample *sample);

/* After its state was set to that. drained: its worker has waited for all I/O and told all samples. */
void run_stand_interrupted(Run *run, RunState before, bool drained);

/* Of a worker that was not told to go yet: the run is interrupted, as by the death of it. */
void run_give_worker_up(Run *run, const char *reason);

/* That it goes on, and after how long. */
void run_record_outage(Run *run);

/* What the worker said last decides about the run's end. */
void run_end(Run *run, const WorkerEnd *end);

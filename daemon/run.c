/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "log.h"
#include "run-internal.h"
#include "util/macro.h"
#include "util/time.h"

/* --- beginning and end --- */

static char *strdup_or_empty(const char *s) {
        return strdup(s ? s : "");
}

static char *string_or_empty(char **s) {
        return *s ? TAKE_PTR(*s) : strdup("");
}

static bool run_has_strings(const Run *run) {
        return run->job_name && run->label && run->device_path && run->model && run->serial;
}

static int run_copy_phases(Run *run, const Job *job, const Plan *plan) {
        run->phases = calloc(plan->n_phases, sizeof(*run->phases));
        if (!run->phases)
                return -ENOMEM;

        for (; run->n_phases < plan->n_phases; run->n_phases++) {
                const PhasePlan *phase = &plan->phases[run->n_phases];

                RunPhase *own = &run->phases[run->n_phases];

                *own = (RunPhase){
                        .name = phase_plan_name(phase, job),
                        .direction = phase->read_percent < 100 ? rw_mode_direction(phase->rw) : DIRECTION_READ,
                        .section = 2 * phase->index + phase->is_read_back,
                        .ramp_ns = phase->ramp_ns,
                        .fio_steady = phase->fio_steady,
                        .steady_hold_ns = phase->steady_hold_ns,
                        .asked_bytes = phase->is_checked ? phase_plan_asked_bytes(phase) : 0,
                        .reads_in_order = phase_plan_reads_in_order(phase),
                };
                if (!own->name)
                        return -ENOMEM;
                run->is_verified = run->is_verified || phase->is_tracked;
        }
        return plan->stop_snia_iops_steady ? iops_watch_new(&run->iops_watch, job, plan) : 0;
}

/*
 * A job that this version of plateau does not read any more, or not as it was read then, is one for the worker to
 * refuse: of its phases none is known, so none can begin.
 */
static int run_stand_up(Run *run, StoreRun *stored) {
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = NULL;

        run_stand_stored(run, stored->resume);
        run->sample_interval_ns = stored->sample_interval_ns;
        int r = run_plan_again(run, &job, &plan);
        if (r == -ENOMEM)
                return r;
        if (r < 0 || plan->n_phases != run->standing->n_phases)
                return 0;
        r = run_copy_phases(run, job, plan);
        if (r >= 0)
                r = run_stand_rounds(run, stored->resume);
        if (r >= 0)
                run_judge_recorded(run, stored->resume);
        return r;
}

int run_new_stored(Run **ret, Database *database, const RunObserver *observer, void *userdata, StoreRun *stored) {
        _cleanup_run_ Run *run = calloc(1, sizeof(*run));
        if (!run)
                return -ENOMEM;

        *run = (Run){
                .database = database,
                .observer = observer,
                .userdata = userdata,
                .id = stored->id,
                .state = stored->state,
                .announced = stored->state,
                .job_name = string_or_empty(&stored->name),
                .label = string_or_empty(&stored->label),
                .device_path = string_or_empty(&stored->device_path),
                .model = string_or_empty(&stored->model),
                .serial = string_or_empty(&stored->serial),
                .size_bytes = stored->size_bytes,
                .planned_ns = stored->has_planned_time ? stored->planned_ns : 0,
                .phase_name = TAKE_PTR(stored->phase_name),
                .has_begun = stored->started_at_ns != 0,
                .waits_for = TAKE_PTR(stored->waits_for),
                .progress = { .elapsed_ns = stored->elapsed_ns },
        };
        if (!run_has_strings(run))
                return -ENOMEM;
        if (stored->resume) {
                int r = run_stand_up(run, stored);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(run);
        return 0;
}

int run_new(Run **ret, Database *database, const RunObserver *observer, void *userdata, uint32_t id,
            const StoreNewRun *inserted, char **notices) {
        _cleanup_run_ Run *run = calloc(1, sizeof(*run));
        if (!run)
                return -ENOMEM;

        *run = (Run){
                .database = database,
                .observer = observer,
                .userdata = userdata,
                .id = id,
                .state = RUN_QUEUED,
                .announced = RUN_QUEUED,
                .job_name = strdup_or_empty(inserted->job->name),
                .label = strdup_or_empty(inserted->label),
                .device_path = strdup_or_empty(inserted->device->path),
                .model = strdup_or_empty(inserted->device->model),
                .serial = strdup_or_empty(inserted->device->serial),
                .numbers = device_numbers_read(makedev(inserted->device->major, inserted->device->minor)),
                .size_bytes = inserted->device->size_bytes,
                .sample_interval_ns = inserted->job->sample_interval_ns,
                .new = true,
        };
        if (!plan_total_time(inserted->plan, &run->planned_ns))
                run->planned_ns = 0;
        if (!run_has_strings(run) || run_copy_phases(run, inserted->job, inserted->plan) < 0 ||
            run_stand_new(run, inserted) < 0)
                return -ENOMEM;

        run->notices = notices;
        *ret = TAKE_PTR(run);
        return 0;
}

Run *run_free(Run *run) {
        if (run->worker)
                worker_process_abandon(run->worker, false);
        free(run->job_name);
        free(run->label);
        free(run->device_path);
        free(run->model);
        free(run->serial);
        free(run->phase_name);
        for (size_t i = 0; i < run->n_phases; i++)
                free(run->phases[i].name);
        free(run->phases);
        steady_watch_end(&run->watch);
        run->fio_watch = fio_watch_free(run->fio_watch);
        iops_watch_free(run->iops_watch);
        strv_free(run->notices);
        free(run->outcome_detail);
        free(run->job_text);
        free(run->waits_for);
        standing_free(run->standing);
        free(run->proof);
        free(run);
        return NULL;
}

/* --- recording --- */

void run_record_at(Run *run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind, const char *detail) {
        int r = database_add_event(run->database, run->id, at_ns, elapsed_ns, kind, detail);
        if (r < 0)
                log_error("run %" PRIu32 ": event '%s' is lost: %s", run->id, event_kind_name(kind), strerror(-r));
        if (event_kind_cuts(kind))
                run_judge_cut(run, elapsed_ns);
        run->observer->event(run, kind, detail, run->userdata);
}

void run_record(Run *run, EventKind kind, const char *format, ...) {
        char *detail;
        va_list args;

        va_start(args, format);
        int r = vasprintf(&detail, format, args);
        va_end(args);
        if (r < 0)
                return;
        run_record_at(run, time_realtime_ns(), run->progress.elapsed_ns, kind, detail);
        free(detail);
}

typedef struct Announcement {
        Run *run;
        RunState state;
} Announcement;

static void run_announce(bool written, void *userdata) {
        _cleanup_free_ Announcement *announcement = userdata;
        Run *run = announcement->run;

        if (run->announced == announcement->state)
                return;
        run->announced = announcement->state;
        log_info("run %" PRIu32 " on %s is %s", run->id, run->device_path, run_state_name(run->announced));
        run->observer->changed(run, RUN_CHANGE_STATE, run->userdata);
}

static void run_announce_when_written(Run *run) {
        Announcement now = { run, run->state }, *announcement = malloc(sizeof(*announcement));

        if (announcement) {
                *announcement = now;
                if (database_when_written(run->database, DATABASE_TELL_NS, run_announce, announcement) >= 0)
                        return;
                free(announcement);
        }

        /* Without memory to wait: early, rather than never. */
        run->announced = run->state;
        run->observer->changed(run, RUN_CHANGE_STATE, run->userdata);
}

bool run_set_state_at(Run *run, RunState state, int64_t at_ns) {
        if (!run_state_may_become(run->state, state))
                return false;

        run->state = state;
        free(run->waits_for); /* in the database, too */
        run->waits_for = NULL;
        int r = database_set_run_state(run->database, run->id, state, at_ns);
        if (r < 0)
                log_error("run %" PRIu32 ": its state '%s' is lost: %s", run->id, run_state_name(state), strerror(-r));
        run_announce_when_written(run);
        return true;
}

bool run_set_state(Run *run, RunState state) {
        return run_set_state_at(run, state, time_realtime_ns());
}

/* --- the end --- */

typedef struct Ending {
        RunState state;
        EventKind kind;
} Ending;

static const Ending endings[N_OUTCOMES] = {
        [OUTCOME_DONE] = { RUN_DONE, EVENT_FINISHED },
        [OUTCOME_STOPPED] = { RUN_STOPPED, EVENT_FINISHED },
        [OUTCOME_FAILED] = { RUN_FAILED, EVENT_FINISHED },
        [OUTCOME_LOST] = { RUN_LOST, EVENT_LOST },
};

/* What a user asked for holds, however the worker came to its end, and is not forgotten by another service. */
static void run_end_stopped(Run *run, const char *how) {
        run_record(run, EVENT_FINISHED, "stopped: %s", how);
        run_set_state(run, RUN_STOPPED);
}

/* The worker said how it ended: believed, even if the process then stumbled. */
static void run_end_as_told(Run *run) {
        RunState before = run->state;
        const char *detail = run->outcome_detail ? run->outcome_detail : "";
        RunState state = endings[run->outcome].state;

        if (run->outcome == OUTCOME_STOPPED && run->interrupting && !run->stop_asked) {
                run_record(run, EVENT_OUTAGE, "the service was stopped");
                state = RUN_INTERRUPTED;
        } else
                run_record(run, endings[run->outcome].kind, "%s%s%s", run_state_name(state), *detail ? ": " : "",
                           detail);

        if (!run_set_state(run, state))
                run_set_state(run, RUN_FAILED);
        if (run->state == RUN_INTERRUPTED)
                run_stand_interrupted(run, before, true);
}

static void run_end_in_failure(Run *run, const char *reason) {
        run_record(run, EVENT_FINISHED, "failed: %s", reason);
        run_set_state(run, RUN_FAILED);
}

/* Without its worker's word on what was the last. */
static void run_set_interrupted(Run *run, const char *reason) {
        RunState before = run->state;

        run_record(run, EVENT_OUTAGE, "%s", reason);
        run_set_state(run, RUN_INTERRUPTED);
        run_stand_interrupted(run, before, false);
}

/* Its worker is gone before its time. */
static void run_lose_worker(Run *run, const char *reason) {
        run->n_deaths++;
        run_set_interrupted(run, reason);
}

void run_give_worker_up(Run *run, const char *reason) {
        worker_process_abandon(TAKE_PTR(run->worker), false);
        run_lose_worker(run, reason);
        run->observer->ended(run, run->userdata);
}

static void run_end_untold(Run *run, const WorkerEnd *end) {
        bool killed = (!end->fault && !end->exited) || run->go_at_ns == 0;
        char reason[128];

        if (end->fault)
                snprintf(reason, sizeof(reason), "the worker was killed: %s", end->fault);
        else if (end->exited)
                snprintf(reason, sizeof(reason), "the worker ended without a word, with exit status %d", end->status);
        else
                snprintf(reason, sizeof(reason), "the worker was killed by signal %d (SIG%s)", end->status,
                         sigabbrev_np(end->status) ?: "?");

        if (run->stop_asked)
                run_end_stopped(run, reason);
        else if (killed)
                run_lose_worker(run, reason);
        else
                run_end_in_failure(run, reason);
}

/* A worker that did not come to the end of its phase has left it open. */
static void run_close_phase(Run *run) {
        if (run->in_phase)
                (void) database_set_phase_state(run->database, run->id, run->phase, PHASE_STOPPED, time_realtime_ns());
        run->in_phase = false;
        run->fio_watch = fio_watch_free(run->fio_watch);
}

void run_end(Run *run, const WorkerEnd *end) {
        run->worker = NULL;
        run->progress.iops = 0;
        run->progress.in_flight = 0;
        run->progress.oldest_ns = 0;

        run_close_phase(run);
        run_judge_end(run);
        if (run->finished)
                run_end_as_told(run);
        else
                run_end_untold(run, end);
        if (run_state_is_final(run->state))
                steady_watch_end(&run->watch);
        run->observer->ended(run, run->userdata);
}

/* --- commands --- */

static int run_send(Run *run, MessageType type, Error *error) {
        int r = worker_process_send(run->worker, &(Message){ .type = type });
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "run %" PRIu32 ": its worker cannot be told: %s", run->id,
                                 strerror(-r));
        /* A pause waits for what is pending, and so does what takes a pause back. */
        if (run->asked_at_ns == 0 && (type == MESSAGE_STOP || run->progress.in_flight == 0))
                run->asked_at_ns = time_monotonic_ns();
        return 0;
}

void run_go(Run *run, WorkerProcess *worker, uint64_t run_tag, uint64_t seed) {
        Message go = { .type = MESSAGE_GO, .go = { .run_tag = run_tag, .seed = seed } };

        run->worker = worker;
        run->go_at_ns = time_monotonic_ns();
        worker_process_set_handlers(worker, &run_worker_handlers, run);

        int r = worker_process_send(worker, &go);
        if (r >= 0)
                return;

        /* It would wait for ever, holding the device. */
        char reason[128];
        snprintf(reason, sizeof(reason), "its worker cannot be told to go: %s", strerror(-r));
        worker_process_abandon(TAKE_PTR(run->worker), false);
        run_end_in_failure(run, reason);
        run->observer->ended(run, run->userdata);
}

static int run_check_not_stopping(const Run *run, Error *error) {
        if (!run->stop_asked || !run->worker)
                return 0;
        return error_set(error, ERROR_FAILED, EBUSY, "run %" PRIu32 " is stopping, which ends it: start it anew",
                         run->id);
}

int run_pause(Run *run, Error *error) {
        int r = run_check_not_stopping(run, error);
        if (r < 0 || run->state == RUN_PAUSED)
                return r;
        if (run->state != RUN_RUNNING || !run->worker || run->finished)
                return error_set(error, ERROR_FAILED, EBUSY, "run %" PRIu32 " is %s: only a running one can be paused",
                                 run->id, run_state_name(run->state));
        return run_send(run, MESSAGE_PAUSE, error);
}

int run_resume(Run *run, Error *error) {
        int r = run_check_not_stopping(run, error);
        if (r < 0)
                return r;
        if (run_can_be_taken_up(run)) {
                /* That is what it was paused, or given up, until. */
                run->standing->paused = false;
                run->n_deaths = 0;
                return run->observer->wanted(run, run->userdata, error);
        }
        if (run->state == RUN_INTERRUPTED)
                return error_set(error, ERROR_FAILED, EBUSY,
                                 "run %" PRIu32
                                 " was interrupted under a version of plateau that did not note where it "
                                 "stood: it cannot go on; start it anew",
                                 run->id);

        /* Also while it still drains towards its pause. */
        if ((run->state != RUN_PAUSED && run->state != RUN_RUNNING) || !run->worker || run->finished)
                return error_set(error, ERROR_FAILED, EBUSY, "run %" PRIu32 " is %s: only a paused one can be resumed",
                                 run->id, run_state_name(run->state));
        return run_send(run, MESSAGE_RESUME, error);
}

/* Written down at once: if the service dies before the worker has stopped, the next one must know. */
static void run_note_stop(Run *run) {
        if (run->stop_asked)
                return;
        run->stop_asked = true;

        int r = database_set_stop_asked(run->database, run->id, time_realtime_ns());
        if (r < 0)
                log_error("run %" PRIu32 ": that it is to stop is not written down: %s", run->id, strerror(-r));
}

int run_stop(Run *run, uint32_t *ret_n_pending, Error *error) {
        uint32_t n_pending = run->progress.in_flight;

        if (run->worker && !run->finished) {
                int r = run_send(run, MESSAGE_STOP, error);
                if (r < 0)
                        return r;
                run_note_stop(run);
        } else if (!run->worker && !run_state_is_final(run->state)) {
                run_record(run, EVENT_FINISHED, "stopped while it was %s", run_state_name(run->state));
                run_set_state(run, RUN_STOPPED);
                run->observer->ended(run, run->userdata);
        }

        *ret_n_pending = n_pending;
        return 0;
}

void run_interrupt(Run *run) {
        run->interrupting = true;
        if (run->worker && !run->finished)
                (void) run_send(run, MESSAGE_STOP, NULL); /* a worker that hears nothing is abandoned */
}

void run_abandon(Run *run) {
        char reason[128];

        worker_process_abandon(TAKE_PTR(run->worker), false);
        run_close_phase(run);
        snprintf(reason, sizeof(reason), "the service was stopped while %" PRIu32 " I/Os were pending",
                 run->progress.in_flight);

        if (run->finished)
                run_end_as_told(run);
        else if (run->stop_asked)
                run_end_stopped(run, reason);
        else
                run_set_interrupted(run, reason);
        run->observer->ended(run, run->userdata);
}

/* --- what it is --- */

uint32_t run_id(const Run *run) {
        return run->id;
}

RunState run_state(const Run *run) {
        return run->announced;
}

const char *run_job_name(const Run *run) {
        return run->job_name;
}

const char *run_label(const Run *run) {
        return run->label;
}

const char *run_device_path(const Run *run) {
        return run->device_path;
}

const char *run_model(const Run *run) {
        return run->model;
}

const char *run_serial(const Run *run) {
        return run->serial;
}

uint64_t run_size_bytes(const Run *run) {
        return run->size_bytes;
}

const char *run_phase_name(const Run *run) {
        return run->phase_name ? run->phase_name : "";
}

uint32_t run_phase_index(const Run *run) {
        return run->phase;
}

uint32_t run_n_phases(const Run *run) {
        return (uint32_t) run->n_phases;
}

uint64_t run_planned_ns(const Run *run) {
        return run->planned_ns;
}

/* A worker that was stopped does not tell how long its I/O is pending. */
RunProgress run_progress(const Run *run) {
        RunProgress progress = run->progress;

        if (run->worker && run->asked_at_ns > 0)
                progress.unanswered_ns = time_monotonic_ns() - run->asked_at_ns;
        if (progress.in_flight > 0) {
                uint64_t silent_ns = time_monotonic_ns() - run->heard_at_ns;

                if (silent_ns > 2 * PENDING_INTERVAL_NS)
                        progress.oldest_ns += silent_ns;
        }
        return progress;
}

const char *const *run_notices(const Run *run) {
        static const char *const none[] = { NULL };
        return run->notices ? (const char *const *) run->notices : none;
}

bool run_is_current(const Run *run) {
        return run->new || !run_state_is_final(run->state);
}

bool run_has_worker(const Run *run) {
        return run->worker;
}

bool run_holds_device(const Run *run, const DeviceNumbers *numbers) {
        return run->worker && device_numbers_overlap(&run->numbers, numbers);
}

/* SPDX-License-Identifier: MIT */

/*
 * Where a run stands, and how it is taken up from there. The worker's own words are all that is known of that; they
 * have been held against what can be before they come here.
 *
 * A run that is taken up is queued first, and told to go only when that is written: from then on its database does not
 * say any more that nothing was submitted beyond its samples. Else a power cut would make the next worker repeat what
 * this one wrote.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "log.h"
#include "run-internal.h"
#include "util/macro.h"
#include "util/time.h"

/* A worker that told so much was none that dies of what it finds. */
#define DEATHS_FORGOTTEN_NS (5 * 60 * NSEC_PER_SEC)

static char *strdup_or_null(const char *s, bool *failed) {
        char *copy = s ? strdup(s) : NULL;

        *failed = *failed || (s && !copy);
        return copy;
}

/* What tells one drive from another, and its place. */
static int identity_copy(DeviceInfo *to, const DeviceInfo *from) {
        bool failed = false;

        *to = (DeviceInfo){
                .path = strdup_or_null(from->path, &failed),
                .name = strdup_or_null(from->name, &failed),
                .disk_name = strdup_or_null(from->disk_name, &failed),
                .model = strdup_or_null(from->model, &failed),
                .serial = strdup_or_null(from->serial, &failed),
                .wwn = strdup_or_null(from->wwn, &failed),
                .partition = from->partition,
                .namespace_id = from->namespace_id,
                .n_namespaces = from->n_namespaces,
                .diskseq = from->diskseq,
                .size_bytes = from->size_bytes,
                .logical_block_bytes = from->logical_block_bytes,
                .physical_block_bytes = from->physical_block_bytes,
        };
        return failed ? -ENOMEM : 0;
}

int run_stand_new(Run *run, const StoreNewRun *inserted) {
        _cleanup_standing_ Standing *standing = standing_new((uint32_t) inserted->plan->n_phases);

        run->job_text = strdup(inserted->job->text);
        if (!standing || !run->job_text || identity_copy(standing->device, inserted->device) < 0)
                return -ENOMEM;
        standing->boot_id = strdup(inserted->boot_id);
        if (!standing->boot_id)
                return -ENOMEM;
        if (standing_note_plan(standing, inserted->plan) < 0)
                return -ENOMEM;
        standing->run_tag = inserted->run_tag;
        standing->seed = inserted->seed;
        run->since_ns = inserted->created_at_ns;
        run->standing = TAKE_PTR(standing);
        return 0;
}

int run_plan_again(const Run *run, Job **ret_job, Plan **ret_plan) {
        const PlanTarget target = {
                .size_bytes = run->size_bytes,
                .logical_block_bytes = MAX(run->standing->device->logical_block_bytes, 1U),
                .can_discard = true, /* it did when the run began; the worker looks again */
        };
        _cleanup_job_ Job *job = NULL;

        int r = job_parse(&job, run->job_name, run->job_text, strlen(run->job_text), NULL);
        if (r >= 0)
                r = plan_new(ret_plan, job, &target, run->standing->seed, NULL);
        if (r >= 0)
                *ret_job = TAKE_PTR(job);
        return r;
}

void run_stand_stored(Run *run, StoreResume *resume) {
        run->job_text = TAKE_PTR(resume->job_text);
        run->standing = TAKE_PTR(resume->standing);
        run->since_ns = resume->since_ns;
        run->phase = MIN(run->standing->phase, run->standing->n_phases - 1);
        run->n_errnos = (unsigned) MIN(resume->n_errnos, ELEMENTSOF(run->errnos));
        for (unsigned i = 0; i < run->n_errnos; i++)
                run->errnos[i].total = resume->errnos[i];
}

/* What of its rounds is recorded, and where they were held up. */
int run_stand_rounds(Run *run, const StoreResume *resume) {
        int r = 0;

        for (uint32_t i = 0; run->iops_watch && i < run->n_phases; i++) {
                const StoreResumePhase *phase = &resume->phases[i];

                iops_watch_recall(run->iops_watch, i, &(IopsRecord){
                        .began_ns = phase->first_elapsed_ns,
                        .elapsed_ns = phase->elapsed_ns,
                        .counted_ns = phase->counted_ns,
                        .counted_ios = phase->counted_ios,
                        .is_done = phase->is_done,
                });
        }
        for (size_t i = 0; run->iops_watch && i < resume->n_cuts && r >= 0; i++)
                r = iops_watch_cut(run->iops_watch, resume->cuts_ns[i]);
        return r;
}

void run_stand_sample(Run *run, const Sample *sample) {
        PhaseStanding *phase = &run->standing->phases[sample->phase];

        phase->elapsed_ns += sample->duration_ns;
        phase->boot_ns = sample->boot_ns;
        phase->positions = sample->positions;
        run->standing->next_seq = sample->seq + 1;
        run->standing->elapsed_ns = sample->elapsed_ns;
        run->standing->n_writes += sample->ios[DIRECTION_WRITE];
        run->standing->written_bytes += sample->bytes[DIRECTION_WRITE];
        run->standing->n_errors += sample->errors;
        run->since_ns = sample->at_ns;
        if (sample->elapsed_ns - run->first_elapsed_ns >= DEATHS_FORGOTTEN_NS)
                run->n_deaths = 0;
}

/* One that was paused before stays queued until its worker says that it is so again. */
void run_stand_interrupted(Run *run, RunState before, bool drained) {
        if (run->started) {
                run->standing->drained = drained;
                run->standing->paused = before == RUN_PAUSED || (before == RUN_QUEUED && run->standing->paused);
        }
        if (run->standing->drained && database_set_drained(run->database, run->id) < 0)
                log_error("run %" PRIu32 ": out of memory, where it stands is known less exactly", run->id);
}

/* --- taking it up --- */

bool run_can_be_taken_up(const Run *run) {
        return run->state == RUN_INTERRUPTED && run->standing && !run->worker;
}

Standing *run_standing(Run *run, const char *boot_id) {
        run->standing->same_boot = *boot_id && strcmp(run->standing->boot_id, boot_id) == 0;
        return run->standing;
}

const char *run_job_text(const Run *run) {
        return run->job_text;
}

unsigned run_n_deaths(const Run *run) {
        return run->n_deaths;
}

const char *run_waits_for(const Run *run) {
        return run->waits_for ? run->waits_for : "";
}

static void run_set_waits_for(Run *run, char *what) {
        free(run->waits_for);
        run->waits_for = what;
        if (database_set_waits_for(run->database, run->id, what) < 0)
                log_error("run %" PRIu32 ": out of memory, what it waits for is not written down", run->id);
        run->observer->changed(run, RUN_CHANGE_WAITS_FOR, run->userdata);
}

void run_wait_for(Run *run, const char *format, ...) {
        char *what;
        va_list args;

        va_start(args, format);
        int r = vasprintf(&what, format, args);
        va_end(args);
        if (r < 0)
                return;
        run_record(run, EVENT_OUTAGE, "it waits for %s", what);
        run_set_waits_for(run, what);
}

void run_wait_no_more(Run *run) {
        if (run->waits_for)
                run_set_waits_for(run, NULL);
}

void run_refuse(Run *run, const char *why) {
        run_record(run, EVENT_REFUSED, "%s", why);
        run_set_state(run, RUN_REFUSED);
        run->observer->ended(run, run->userdata);
}

/* When its last sample ended by the clock that no step moves; 0 where that is not known, or was another boot. */
static uint64_t standing_boot_ns(const Standing *standing) {
        for (uint32_t i = MIN(standing->phase + 1, standing->n_phases); standing->same_boot && i-- > 0;)
                if (standing->phases[i].boot_ns > 0)
                        return standing->phases[i].boot_ns;
        return 0;
}

/* The clock may have been set back meanwhile. */
static uint64_t since(int64_t then_ns) {
        int64_t now_ns = time_realtime_ns();

        return now_ns > then_ns ? (uint64_t) (now_ns - then_ns) : 0;
}

void run_record_outage(Run *run) {
        const char *from = run->standing->next_seq > 0 ? "the last sample" : "the start was asked for";
        char wall[TIME_SPAN_MAX], boot[TIME_SPAN_MAX];
        uint64_t now_ns = time_boottime_ns();

        time_format_span(since(run->since_ns), wall);
        if (run->outage_boot_ns > 0 && now_ns >= run->outage_boot_ns)
                run_record(run, EVENT_OUTAGE, "it is over: %s by the wall clock since %s, %s by the clock of this "
                           "boot", wall, from, time_format_span(now_ns - run->outage_boot_ns, boot));
        else
                run_record(run, EVENT_OUTAGE, "it is over: %s by the wall clock since %s", wall, from);
}

static void run_move(Run *run, DeviceInfo *found, const char *proof) {
        bool moved = strcmp(run->device_path, found->path) != 0;
        char *path = strdup(found->path), *text;

        if (asprintf(&text, "on %s%s%s: %s", found->path, moved ? ", which was " : "", moved ? run->device_path : "",
                     proof) < 0)
                text = NULL;
        free(run->proof);
        run->proof = text;
        if (path) {
                free(run->device_path);
                run->device_path = path;
        }
        run->numbers = device_numbers_read(makedev(found->major, found->minor));
        device_info_free(run->standing->device);
        run->standing->device = found;
        if (moved)
                run->observer->changed(run, RUN_CHANGE_DEVICE, run->userdata);
}

static void run_note_place(Run *run, const char *boot_id) {
        char *copy = strdup(boot_id);

        if (copy) {
                free(run->standing->boot_id);
                run->standing->boot_id = copy;
        }
        if (!copy || database_set_place(run->database, run->id, run->standing->device, boot_id) < 0)
                log_error("run %" PRIu32 ": out of memory, its place is not written down", run->id);
}

/* Before it is written down that the run is in another boot now, and goes on: who takes it up then would not know. */
static int run_look_back(Run *run, const DeviceInfo *found) {
        const Standing *standing = run->standing;
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = NULL;

        int r = run_plan_again(run, &job, &plan);
        if (r < 0)
                return run->is_verified ? r : 0;
        if (plan->n_phases != standing->n_phases || standing_check_plan(standing, plan, NULL) < 0)
                return 0; /* the worker says why it does not go on */
        if (!standing_look_back(run->standing, plan, found->write_cache))
                return 0;
        for (uint32_t p = 0; p < standing->n_phases; p++)
                for (uint32_t k = 0; k < standing->phases[p].shape.workers; k++) {
                        const History *history = histories_at(standing->histories, p, k);

                        if (history && (history->reach > 0 || history->n_maybes > 0) &&
                            database_set_history(run->database, run->id, p, k, history) < 0)
                                log_error("run %" PRIu32 ": out of memory, what it may have written is not recorded",
                                          run->id);
                }
        return 0;
}

typedef struct TakeUp {
        Run *run;
        uint64_t number;
} TakeUp;

/* Not if it never is: the database would go on to say that nothing was submitted beyond its samples. */
static void on_queued_written(bool written, void *userdata) {
        _cleanup_free_ TakeUp *take_up = userdata;
        Run *run = take_up->run;

        /* It may have been told to stop meanwhile, or its worker has died, and another one waits for its own turn. */
        if (!written || !run->worker || run->n_taken_up != take_up->number || run->interrupting || run->stop_asked)
                return;
        run_go(run, run->worker, run->standing->run_tag, run->standing->seed);
}

/* However long the database takes: the run is queued meanwhile, and holds its drive. */
static void run_go_when_written(Run *run) {
        TakeUp *take_up = malloc(sizeof(*take_up));

        if (take_up) {
                *take_up = (TakeUp){ run, run->n_taken_up };
                if (database_when_written(run->database, UINT64_MAX, on_queued_written, take_up) >= 0)
                        return;
                free(take_up);
        }
        run_give_worker_up(run, "out of memory");
}

void run_take_up(Run *run, WorkerProcess *worker, DeviceInfo *found, const char *boot_id, const char *proof) {
        run->outage_boot_ns = standing_boot_ns(run->standing);
        int r = run_look_back(run, found);
        run_move(run, found, proof);
        run_note_place(run, boot_id);

        run->worker = worker;
        run->taken_up = true;
        run->n_taken_up++;
        run->started = run->in_phase = run->finished = run->end_is_known = false;
        run->go_at_ns = run->asked_at_ns = 0;
        run->n_cuts = run->n_findings = 0;
        run->next_phase = run->standing->phase;
        run->next_seq = run->first_seq = run->standing->next_seq;
        run->first_elapsed_ns = run->progress.elapsed_ns = run->standing->elapsed_ns;
        for (unsigned i = 0; i < run->n_errnos; i++)
                run->errnos[i].before = run->errnos[i].total.count;
        worker_process_set_handlers(worker, &run_worker_handlers, run);

        run_set_state(run, RUN_QUEUED);
        if (r < 0)
                run_give_worker_up(run, "it cannot be told what it may have written");
        else
                run_go_when_written(run);
}

/* SPDX-License-Identifier: MIT */

/*
 * A worker does the looking, for a drive may hang whoever looks at it. What it answers decides:
 *
 *     REPORT           the run has its worker, and goes on
 *     REFUSED, final   the run is refused: nothing was written, and waiting would not help
 *     REFUSED, absent  again soon, for a minute: drives and their adapters may take that long to come up; then the run
 *                      is refused, but for one that a user has asked for: that one waits to be asked for again
 *     REFUSED, busy    again, ever more seldom; so it is for a worker that dies or a drive that does not answer
 *
 * A drive may be held by whoever mounted it for days; so this costs one process a minute, and one event.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "manager-internal.h"
#include "util/macro.h"
#include "util/time.h"

#define ANSWER_USEC (60 * USEC_PER_SEC) /* a claim has patience, and the proof reads */
#define ABSENT_NS (60 * NSEC_PER_SEC)
#define ABSENT_USEC (2 * USEC_PER_SEC)
#define BUSY_USEC_MIN USEC_PER_SEC
#define BUSY_USEC_MAX (60 * USEC_PER_SEC)

/* Deaths of workers, without minutes of samples between, after which only a user may have it tried again. */
#define N_DEATHS_MAX 3

struct Resume {
        Manager *manager;
        Resume *next;
        Run *run;
        WorkerProcess *worker;   /* of the try that is under way */
        sd_event_source *timer;  /* its deadline, or the next try */
        uint64_t busy_usec;      /* to the next try */
        uint64_t absent_since_ns; /* monotonic; 0: it was not found missing */
        bool told;               /* that it has to wait */
        bool asked;              /* by a user */
        bool paused;             /* as the worker of this try was told */
};

static void resume_try(Resume *resume);

static Resume *resume_find(Manager *manager, const Run *run) {
        for (Resume *resume = manager->resumes; resume; resume = resume->next)
                if (resume->run == run)
                        return resume;
        return NULL;
}

static void resume_forget(Resume *resume) {
        for (Resume **at = &resume->manager->resumes; *at; at = &(*at)->next)
                if (*at == resume) {
                        *at = resume->next;
                        break;
                }
        if (resume->worker)
                worker_process_abandon(resume->worker, false);
        sd_event_source_disable_unref(resume->timer);
        free(resume);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        resume_try(userdata);
        return 0;
}

/* Without memory for a timer it is left to a user to have it tried. */
static void resume_arm(Resume *resume, uint64_t usec, sd_event_time_handler_t handler) {
        resume->timer = sd_event_source_disable_unref(resume->timer);
        int r = sd_event_add_time_relative(resume->manager->event, &resume->timer, CLOCK_MONOTONIC, usec, 0, handler,
                                           resume);
        if (r < 0)
                log_error("run %" PRIu32 ": no timer for taking it up: %s", run_id(resume->run), strerror(-r));
}

static void resume_wait(Resume *resume, const char *why) {
        if (!resume->told)
                run_record(resume->run, EVENT_OUTAGE, "it cannot be taken up yet, and is tried again: %s", why);
        else
                log_info("run %" PRIu32 " cannot be taken up yet: %s", run_id(resume->run), why);
        resume->told = true;
        resume->absent_since_ns = 0;
        resume_arm(resume, resume->busy_usec, on_timer);
        resume->busy_usec = MIN(2 * resume->busy_usec, BUSY_USEC_MAX);
}

static void resume_refuse(Resume *resume, const char *why) {
        Run *run = resume->run;

        resume_forget(resume);
        run_refuse(run, why);
}

/* Whoever asked may have the drive elsewhere, or switched off: that must not be the end of the run. */
static void resume_give_up(Resume *resume, const char *why) {
        Run *run = resume->run;

        resume_forget(resume);
        run_wait_for(run, "its drive, and then for 'plateau resume %" PRIu32 "': %s", run_id(run), why);
}

static void resume_on_absent(Resume *resume, const char *why) {
        uint64_t now = time_monotonic_ns();

        if (resume->absent_since_ns == 0) {
                log_info("run %" PRIu32 ": %s", run_id(resume->run), why);
                resume->absent_since_ns = now;
        }
        if (now - resume->absent_since_ns < ABSENT_NS)
                resume_arm(resume, ABSENT_USEC, on_timer);
        else if (resume->asked)
                resume_give_up(resume, why);
        else
                resume_refuse(resume, why);
}

/* --- the worker's answer --- */

static void resume_on_refused(Resume *resume, const Message *message) {
        worker_process_abandon(TAKE_PTR(resume->worker), false);
        switch (message->refused.why) {
        case REFUSAL_FINAL:
                resume_refuse(resume, message->refused.text);
                break;
        case REFUSAL_ABSENT:
                resume_on_absent(resume, message->refused.text);
                break;
        default:
                resume_wait(resume, message->refused.text);
        }
}

static int resume_on_report(Resume *resume, Message *message) {
        const char *boot_id = resume->manager->boot_id;
        Run *run = resume->run;

        if (!message->report.info || !message->report.proof)
                return -EBADMSG;

        WorkerProcess *worker = TAKE_PTR(resume->worker);
        resume_forget(resume);
        run_take_up(run, worker, TAKE_PTR(message->report.info), boot_id, message->report.proof);
        return 0;
}

static int on_message(WorkerProcess *worker, Message *message, void *userdata) {
        switch (message->type) {
        case MESSAGE_REPORT:
                return resume_on_report(userdata, message);
        case MESSAGE_REFUSED:
                resume_on_refused(userdata, message);
                return 0;
        default:
                return -EBADMSG;
        }
}

static void on_ended(WorkerProcess *worker, const WorkerEnd *end, void *userdata) {
        Resume *resume = userdata;

        resume->worker = NULL;
        resume_wait(resume, end->fault ?: "the worker that looked for the drive died");
}

static const WorkerHandlers resume_handlers = {
        .message = on_message,
        .ended = on_ended,
};

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        Resume *resume = userdata;

        worker_process_abandon(TAKE_PTR(resume->worker), true);
        resume_wait(resume, "the drive does not answer");
        return 0;
}

/* --- a try --- */

static int resume_send_open(Resume *resume, Error *error) {
        const Message open = {
                .type = MESSAGE_OPEN,
                .open = {
                        .version = MESSAGE_VERSION,
                        .path = (char *) run_device_path(resume->run),
                        .deny = resume->manager->deny,
                        .job_name = (char *) run_job_name(resume->run),
                        .job_text = (char *) run_job_text(resume->run),
                        .standing = run_standing(resume->run, resume->manager->boot_id),
                },
        };

        resume->paused = open.open.standing->paused;
        int r = worker_process_send(resume->worker, &open);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "the worker cannot be told: %s", strerror(-r));
        return 0;
}

static void resume_try(Resume *resume) {
        _cleanup_error_ Error error = ERROR_INIT;

        int r = worker_process_new(&resume->worker, resume->manager->event, &resume_handlers, resume, &error);
        if (r >= 0)
                r = resume_send_open(resume, &error);
        if (r >= 0) {
                resume_arm(resume, ANSWER_USEC, on_deadline);
                return;
        }

        if (resume->worker)
                worker_process_abandon(TAKE_PTR(resume->worker), false);
        resume_wait(resume, error_message(&error));
}

static int resume_new(Resume **ret, Manager *manager, Run *run) {
        Resume *resume = calloc(1, sizeof(*resume));
        if (!resume)
                return -ENOMEM;

        *resume = (Resume){
                .manager = manager,
                .next = manager->resumes,
                .run = run,
                .busy_usec = BUSY_USEC_MIN,
        };
        manager->resumes = resume;
        run_wait_no_more(run);
        *ret = resume;
        return 0;
}

/* --- when --- */

void resume_consider(Manager *manager, Run *run) {
        Resume *resume = resume_find(manager, run);
        unsigned n_deaths = run_n_deaths(run);

        if (!run_can_be_taken_up(run)) {
                if (resume)
                        resume_forget(resume);
                return;
        }
        if (resume || manager->stopping)
                return;
        if (n_deaths >= N_DEATHS_MAX) {
                run_wait_for(run, "'plateau resume %" PRIu32 "': its worker has died %u times without minutes of "
                             "samples between", run_id(run), n_deaths);
                return;
        }

        if (resume_new(&resume, manager, run) < 0)
                log_error("run %" PRIu32 ": out of memory, it is not taken up", run_id(run));
        else
                resume_arm(resume, n_deaths > 0 ? USEC_PER_SEC << (n_deaths - 1) : 0, on_timer);
}

int resume_now(Manager *manager, Run *run, Error *error) {
        Resume *resume = resume_find(manager, run);

        if (manager->stopping)
                return error_set(error, ERROR_UNREACHABLE, ESHUTDOWN, "the service is stopping");
        if (!resume && resume_new(&resume, manager, run) < 0)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");

        resume->busy_usec = BUSY_USEC_MIN;
        resume->absent_since_ns = 0;
        resume->told = false;
        resume->asked = true;

        /* A worker that looks already goes on, unless it would pause the run at once. */
        if (resume->worker && resume->paused)
                worker_process_abandon(TAKE_PTR(resume->worker), false);
        if (!resume->worker)
                resume_arm(resume, 0, on_timer);
        return 0;
}

void resume_abort_all(Manager *manager) {
        while (manager->resumes)
                resume_forget(manager->resumes);
}

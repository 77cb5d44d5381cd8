/* SPDX-License-Identifier: MIT */

/*
 * What a worker says while its run goes on. The worker shares a process with whatever a hostile
 * device made of it, so everything is held against what can be: sequence numbers go on by one, running
 * time is the sum of the durations and does not outrun the clock, phases come in order, states follow the table,
 * and nothing comes faster than a worker has reason to speak: what it can fill the database with is bounded by
 * time. The first thing that does not fit ends the worker. Numbers stay within what the database can hold.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "run-internal.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

/* Of the worker's events: more than these a second, after so many at once, are no news any more. */
#define N_EVENTS_A_SECOND_MAX UINT64_C(64)
#define EVENTS_BURST_NS NSEC_PER_SEC

/* Counts of errors come with each sample, and all together if we were held up. */
#define N_ERRNOS_A_SAMPLE_MAX (UINT64_C(2) * ENGINE_N_ERRNOS_MAX)
#define ERRNOS_BURST_NS (60 * NSEC_PER_SEC)

/* The two clocks are one, but a timer may be early. */
#define ELAPSED_SLACK_NS NSEC_PER_SEC
#define N_SAMPLES_SLACK 8
#define DETAIL_BYTES_MAX 1024

static bool fits_database(uint64_t value) {
        return value <= INT64_MAX;
}

bool run_may_say(uint64_t *paid_until_ns, uint64_t cost_ns, uint64_t burst_ns) {
        uint64_t now = time_monotonic_ns(), until = MAX(*paid_until_ns, now);

        if (until - now > burst_ns)
                return false;
        *paid_until_ns = until + cost_ns;
        return true;
}

static bool run_may_have_run(const Run *run, uint64_t elapsed_ns) {
        return elapsed_ns - run->first_elapsed_ns <= time_monotonic_ns() - run->go_at_ns + ELAPSED_SLACK_NS;
}

/* Samples are an interval long, but for those that a phase or a pause has cut. */
static bool run_may_sample(const Run *run) {
        uint64_t n_whole = (time_monotonic_ns() - run->go_at_ns) / run->sample_interval_ns;

        return run->next_seq - run->first_seq < n_whole + run->n_cuts + N_SAMPLES_SLACK;
}

static void run_note_lost(Run *run, const char *what, int r) {
        if (r < 0)
                log_error("run %" PRIu32 ": a %s is lost: %s", run->id, what, strerror(-r));
}

static void run_record_started(Run *run, int64_t at_ns) {
        _cleanup_free_ char *detail = NULL;

        if (asprintf(&detail, "%s%s%s%s%s", run->device_path, *run->model ? ", " : "", run->model,
                     *run->serial ? ", serial " : "", run->serial) < 0) {
                detail = NULL;
                return;
        }
        run_record_at(run, at_ns, 0, EVENT_STARTED, detail);
}

static int run_on_started(Run *run, Message *message) {
        int64_t at_ns = message->started.at_ns;
        bool is_running = !run->standing->paused; /* one that was paused is so again at once, and says so */

        if (run->started || run->go_at_ns == 0 || (is_running && !run_state_may_become(run->state, RUN_RUNNING)))
                return -EBADMSG;

        run->started = true;
        if (run->taken_up)
                run_record_outage(run);
        if (!run->has_begun)
                run_record_started(run, at_ns);
        if (run->taken_up)
                run_record(run, EVENT_RESUMED, "%s", run->proof);
        run->has_begun = true;
        if (is_running)
                run_set_state_at(run, RUN_RUNNING, at_ns);
        return 0;
}

static void run_record_phase(Run *run, const Message *message, const char *what) {
        char *detail;

        if (asprintf(&detail, "%" PRIu32 " '%s' %s", run->phase, run->phases[run->phase].name, what) < 0)
                return;
        run_record_at(run, message->phase.at_ns, run->progress.elapsed_ns, EVENT_PHASE, detail);
        free(detail);
}

/* The cells of a matrix are many, and short: only where it begins and ends is worth an event. */
static bool run_phase_joins(const Run *run, uint32_t index, uint32_t other) {
        return other < run->n_phases && run->phases[index].section == run->phases[other].section;
}

static int run_on_phase_started(Run *run, const Message *message) {
        uint32_t index = message->phase.index;

        if (run->in_phase || index < run->next_phase || index >= run->n_phases)
                return -EBADMSG;

        char *name = strdup(run->phases[index].name);
        if (!name)
                return -ENOMEM;
        free(run->phase_name);
        run->phase_name = name;
        run->phase = index;
        run->next_phase = index + 1;
        run->in_phase = true;
        run->standing->phase = index;
        run->n_cuts++;
        run->told_of_computing = false;
        run_judge_phase(run);
        run_judge_round(run);

        run_note_lost(run, "phase's beginning",
                      database_set_phase_state(run->database, run->id, index, PHASE_RUNNING, message->phase.at_ns));
        if (run->standing->phases[index].elapsed_ns > 0)
                run_record_phase(run, message, "goes on");
        else if (index == 0 || !run_phase_joins(run, index, index - 1))
                run_record_phase(run, message, "begins");
        run->observer->changed(run, RUN_CHANGE_PHASE, run->userdata);
        return 0;
}

/* One that was to verify more than it has must not look as if it had found all to be right. */
static void run_record_phase_end(Run *run, const Message *message, const char *what) {
        const PhaseStanding *stands = &run->standing->phases[run->phase];
        const RunPhase *phase = &run->phases[run->phase];
        char checked[TEXT_SIZE_MAX], asked[TEXT_SIZE_MAX], text[2 * TEXT_SIZE_MAX + 128];
        uint64_t done_bytes = stands->positions.n > 0 ? stands->positions.of[0].done_bytes : 0;
        VerifiedShare share = verification_share(&stands->verified, phase->reads_in_order, done_bytes);

        if (phase->asked_bytes == 0 || share == VERIFIED_ALL) {
                run_record_phase(run, message, what);
                return;
        }
        text_format_size(stands->verified.checked_bytes, checked);
        text_format_size(phase->asked_bytes, asked);
        if (stands->verified.checked_bytes > phase->asked_bytes)
                snprintf(text, sizeof(text),
                         "%s: %s were verified, of the %s there some more than once, and others maybe not", what,
                         checked, asked);
        else
                snprintf(text, sizeof(text), "%s: %s of %s were verified%s", what, checked, asked,
                         share == VERIFIED_AMOUNT ? ", some of them more than once, and others maybe not" : "");
        run_record_phase(run, message, text);
}

static int run_on_phase_ended(Run *run, const Message *message) {
        bool done = message->phase.mark == PHASE_MARK_DONE;

        if (!run->in_phase || message->phase.index != run->phase)
                return -EBADMSG;

        run->in_phase = false;
        if (done)
                run->standing->phase = run->phase + 1;
        steady_watch_end(&run->watch);
        run->fio_watch = fio_watch_free(run->fio_watch);
        if (done && run->iops_watch)
                iops_watch_end_phase(run->iops_watch, run->phase);
        run_note_lost(run, "phase's end",
                      database_set_phase_state(run->database, run->id, run->phase, done ? PHASE_DONE : PHASE_STOPPED,
                                               message->phase.at_ns));
        if (!done)
                run_record_phase_end(run, message, "is stopped");
        else if (!run_phase_joins(run, run->phase, run->phase + 1))
                run_record_phase_end(run, message, "is done");
        run_judge_round(run);
        return 0;
}

static int run_on_phase(Run *run, Message *message) {
        if (!run->started)
                return -EBADMSG;
        return message->phase.mark == PHASE_MARK_STARTED ? run_on_phase_started(run, message)
                                                         : run_on_phase_ended(run, message);
}

static bool position_is_sound(const Position *position) {
        return position->first_index <= position->low_index && position->low_index <= position->next_index &&
               position->settled_from <= position->settled_to && position->settled_to <= position->low_index &&
               fits_database(position->next_index) && fits_database(position->next_write) &&
               fits_database(position->done_bytes);
}

/* One of each ring thread that the phase was planned with. */
static bool positions_are_sound(const Run *run, const Sample *sample) {
        if (sample->positions.n != run->standing->phases[sample->phase].shape.workers)
                return false;
        for (uint32_t i = 0; i < sample->positions.n; i++)
                if (!position_is_sound(&sample->positions.of[i]))
                        return false;
        return true;
}

static bool sample_follows(const Run *run, const Sample *sample) {
        uint64_t elapsed_ns;

        if (!run->in_phase || sample->seq != run->next_seq || sample->phase != run->phase)
                return false;
        if (__builtin_add_overflow(run->progress.elapsed_ns, sample->duration_ns, &elapsed_ns) ||
            sample->elapsed_ns != elapsed_ns)
                return false;
        if (!run_may_have_run(run, elapsed_ns) || !run_may_sample(run))
                return false;

        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                if (!fits_database(sample->ios[d]) || !fits_database(sample->bytes[d]))
                        return false;
        return positions_are_sound(run, sample) && fits_database(sample->boot_ns) && fits_database(sample->errors) &&
               fits_database(elapsed_ns) && fits_database(sample->oldest_ns);
}

static double sample_iops(const Sample *sample) {
        double ios = 0;

        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                ios += (double) sample->ios[d];
        return sample->duration_ns > 0 ? ios * (double) NSEC_PER_SEC / (double) sample->duration_ns : 0;
}

static int run_on_sample(Run *run, Message *message) {
        const Sample *sample = message->sample;

        if (!sample_follows(run, sample))
                return -EBADMSG;

        run_note_lost(run, "sample", database_add_sample(run->database, run->id, sample));
        run->next_seq++;
        run_stand_sample(run, sample);
        run->progress = (RunProgress){
                .elapsed_ns = sample->elapsed_ns,
                .iops = sample_iops(sample),
                .in_flight = sample->in_flight,
                .oldest_ns = sample->oldest_ns,
        };
        run->heard_at_ns = time_monotonic_ns();
        if (run->iops_watch)
                iops_watch_add(run->iops_watch, sample);
        run_judge_sample(run, sample);
        run_verify_sample(run, sample);
        return 0;
}

static int run_on_pending(Run *run, Message *message) {
        run->progress.in_flight = message->pending.n;
        run->progress.oldest_ns = message->pending.oldest_ns;
        run->heard_at_ns = time_monotonic_ns();
        return 0;
}

/* Adds what this worker has counted to what others had; NULL if there are too many kinds. */
static const EngineErrno *run_add_errno(Run *run, const EngineErrno *errnum, bool *ret_is_new) {
        unsigned i = 0;

        while (i < run->n_errnos && run->errnos[i].total.errnum != errnum->errnum)
                i++;
        *ret_is_new = i == run->n_errnos;
        if (i == ELEMENTSOF(run->errnos))
                return NULL;

        EngineErrno *total = &run->errnos[i].total;
        if (*ret_is_new) {
                run->n_errnos++;
                run->errnos[i].before = 0;
                *total = *errnum;
        }
        total->count = MIN(errnum->count + run->errnos[i].before, (uint64_t) INT64_MAX);
        if (run->errnos[i].before == 0) {
                total->first_at_ns = errnum->first_at_ns;
                total->first_offset = errnum->first_offset;
        }
        total->last_at_ns = errnum->last_at_ns;
        total->last_offset = errnum->last_offset;
        return total;
}

static int run_on_errno(Run *run, Message *message) {
        const EngineErrno *errnum = &message->errnum;
        bool is_new;

        if (!run_may_say(&run->errnos_until_ns, run->sample_interval_ns / N_ERRNOS_A_SAMPLE_MAX, ERRNOS_BURST_NS))
                return -EBADMSG;
        if (!run->started || errnum->errnum <= 0 || errnum->errnum > 4095 || !fits_database(errnum->count) ||
            !fits_database(errnum->first_offset) || !fits_database(errnum->last_offset))
                return -EBADMSG;

        const EngineErrno *total = run_add_errno(run, errnum, &is_new);
        if (!total)
                return -EBADMSG;
        if (is_new)
                run_record(run, EVENT_ERROR, "%s (%s) first at offset %" PRIu64, errno_name(errnum->errnum),
                           strerror(errnum->errnum), errnum->first_offset);

        run_note_lost(run, "count of errors", database_set_errno(run->database, run->id, total));
        return 0;
}

static const EventKind occurrence_events[N_OCCURRENCES] = {
        [OCCURRENCE_PAUSED] = EVENT_PAUSED,
        [OCCURRENCE_RESUMED] = EVENT_RESUMED,
        [OCCURRENCE_STALLED] = EVENT_STALLED,
        [OCCURRENCE_RECOVERED] = EVENT_RECOVERED,
        [OCCURRENCE_READ_ONLY] = EVENT_READ_ONLY,
        [OCCURRENCE_STOPPING] = EVENT_STOPPING,
        [OCCURRENCE_OUTAGE] = EVENT_OUTAGE,
        [OCCURRENCE_CLOCK] = EVENT_CLOCK,
};

static int run_on_event(Run *run, Message *message) {
        Occurrence kind = message->event.kind;

        uint64_t elapsed_ns = message->event.elapsed_ns;

        if (!run->started && kind != OCCURRENCE_STOPPING)
                return -EBADMSG;
        if (elapsed_ns < run->progress.elapsed_ns || !run_may_have_run(run, elapsed_ns) ||
            !run_may_say(&run->events_until_ns, NSEC_PER_SEC / N_EVENTS_A_SECOND_MAX, EVENTS_BURST_NS))
                return -EBADMSG;
        if (kind == OCCURRENCE_PAUSED && !run_state_may_become(run->state, RUN_PAUSED))
                return -EBADMSG;
        if (kind == OCCURRENCE_RESUMED && !run_state_may_become(run->state, RUN_RUNNING))
                return -EBADMSG;
        if (kind == OCCURRENCE_PAUSED) {
                run->progress.iops = 0;
                run->n_cuts++;
        }
        if (kind == OCCURRENCE_PAUSED || kind == OCCURRENCE_OUTAGE) {
                steady_watch_cut(&run->watch);
                fio_watch_cut(run->fio_watch);
        }

        char *detail = message->event.detail;
        if (detail && strlen(detail) > DETAIL_BYTES_MAX)
                detail[DETAIL_BYTES_MAX] = '\0';
        run_record_at(run, message->event.at_ns, elapsed_ns, occurrence_events[kind], detail ? detail : "");

        if (kind == OCCURRENCE_PAUSED)
                run_set_state(run, RUN_PAUSED);
        else if (kind == OCCURRENCE_RESUMED)
                run_set_state(run, RUN_RUNNING);
        return 0;
}

static int run_on_finished(Run *run, Message *message) {
        run->finished = true;
        run->outcome = message->finished.outcome;
        run->outcome_detail = TAKE_PTR(message->finished.detail);
        return 0;
}

static int (*const message_handlers[N_MESSAGE_TYPES])(Run *run, Message *message) = {
        [MESSAGE_STARTED] = run_on_started,
        [MESSAGE_PHASE] = run_on_phase,
        [MESSAGE_SAMPLE] = run_on_sample,
        [MESSAGE_ERRNO] = run_on_errno,
        [MESSAGE_EVENT] = run_on_event,
        [MESSAGE_FINISHED] = run_on_finished,
        [MESSAGE_HISTORY] = run_on_history,
        [MESSAGE_VERIFICATION] = run_on_verification,
        [MESSAGE_FINDING] = run_on_finding,
        [MESSAGE_PENDING] = run_on_pending,
};

static int on_message(WorkerProcess *worker, Message *message, void *userdata) {
        Run *run = userdata;

        run->asked_at_ns = 0;

        /* Nothing follows the end; and what only we say has no handler. */
        if (run->finished || !message_handlers[message->type])
                return -EBADMSG;
        return message_handlers[message->type](run, message);
}

static void on_ended(WorkerProcess *worker, const WorkerEnd *end, void *userdata) {
        run_end(userdata, end);
}

const WorkerHandlers run_worker_handlers = {
        .message = on_message,
        .ended = on_ended,
};

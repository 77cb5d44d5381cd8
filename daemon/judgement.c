/* SPDX-License-Identifier: MIT */

/*
 * Only what is decided online is decided here: constant time a sample, so that the loop never waits for it. Regimes,
 * cycle and collapse are judged over a whole phase, by whoever asks, from the database.
 */

#include <inttypes.h>
#include <string.h>

#include "log.h"
#include "run-internal.h"
#include "util/macro.h"
#include "util/time.h"

static void run_note_unjudged(const Run *run, int r) {
        log_error("run %" PRIu32 ": phase %" PRIu32 " is watched for no steady state: %s", run->id, run->phase,
                  strerror(-r));
}

static int run_watch_as_fio(Run *run, uint64_t begin_ns) {
        const RunPhase *phase = &run->phases[run->phase];
        const FioSteady *criterion = &phase->fio_steady;

        run->fio_watch = fio_watch_free(run->fio_watch);
        if (!criterion->is_set || criterion->duration_ns == 0)
                return 0;
        return fio_watch_new(&run->fio_watch, criterion, run->sample_interval_ns,
                             begin_ns + criterion->ramp_ns);
}

static int run_watch(Run *run, uint32_t phase, uint64_t begin_ns) {
        run->watched_phase = phase;
        return steady_watch_begin(&run->watch, run->phases[phase].direction, run->size_bytes, run->sample_interval_ns,
                                  begin_ns);
}

static bool run_ramp_holds(const Run *run, const Sample *sample) {
        return sample_ramp_holds(sample_began_ns(sample), run->watch.begin_ns, run->phases[run->watched_phase].ramp_ns);
}

/* One that goes on has been watched before, and the drive may have had its rest since; as to fio it begins anew. */
void run_judge_phase(Run *run) {
        uint64_t elapsed_ns = run->progress.elapsed_ns;
        uint64_t begin_ns = elapsed_ns - MIN(run->standing->phases[run->phase].elapsed_ns, elapsed_ns);
        int r = 0;

        run->phase_is_over = false;
        if (run->watch.detector && run->watched_phase == run->phase)
                steady_watch_cut(&run->watch);
        else
                r = run_watch(run, run->phase, begin_ns);
        if (r >= 0)
                r = run_watch_as_fio(run, begin_ns);
        if (r < 0)
                run_note_unjudged(run, r);
}

typedef struct Recorded {
        Run *run;
        const StoreResume *resume;
        size_t next_cut;
} Recorded;

/* What was decided then has its events. */
static int recorded_sample(const Sample *sample, const StoreLatency *latency, void *userdata) {
        Recorded *recorded = userdata;
        const StoreResume *resume = recorded->resume;
        SteadyDecision decision;

        for (; recorded->next_cut < resume->n_cuts &&
               resume->cuts_ns[recorded->next_cut] <= sample_began_ns(sample); recorded->next_cut++)
                if (resume->cuts_ns[recorded->next_cut] > recorded->run->watch.begin_ns)
                        steady_watch_cut(&recorded->run->watch);
        return run_ramp_holds(recorded->run, sample) ? 0 : steady_watch_add(&recorded->run->watch, sample, &decision);
}

/* Two weeks of seconds are read in a few of them; of a longer phase what was before is not needed to see what is. */
#define N_RECORDED_MAX (UINT64_C(14) * 24 * 3600)

void run_judge_recorded(Run *run, const StoreResume *resume) {
        Recorded recorded = { .run = run, .resume = resume };
        uint32_t phase = run->standing->phase;
        _cleanup_error_ Error error = ERROR_INIT;

        if (phase >= run->n_phases || resume->phases[phase].elapsed_ns == 0 ||
            resume->phases[phase].elapsed_ns / run->sample_interval_ns > N_RECORDED_MAX)
                return;
        int r = run_watch(run, phase, resume->phases[phase].first_elapsed_ns);
        if (r >= 0)
                r = database_each_sample(run->database, run->id, phase, recorded_sample, &recorded, &error);
        if (r < 0) {
                log_error("run %" PRIu32 ": its steady state is judged from here on only: %s", run->id,
                          error_message(&error));
                steady_watch_end(&run->watch);
        }
}

static bool run_end_phase(Run *run) {
        int r = worker_process_send(run->worker, &(Message){ .type = MESSAGE_END_PHASE,
                                                             .end_phase = { .index = run->phase } });
        if (r < 0) {
                log_error("run %" PRIu32 ": its worker cannot be told that phase %" PRIu32 " is over: %s", run->id,
                          run->phase, strerror(-r));
                return false; /* it is tried again with the next sample */
        }
        run->phase_is_over = true;
        return true;
}

/* Where the job says until=steady. */
static void run_look_steady(Run *run, const Sample *sample) {
        const RunPhase *phase = &run->phases[run->phase];
        char span[TIME_SPAN_MAX];

        if (phase->steady_hold_ns == 0 || run->phase_is_over ||
            steady_watch_held_ns(&run->watch, sample->elapsed_ns) < phase->steady_hold_ns || !run_end_phase(run))
                return;
        run_record(run, EVENT_PHASE, "%" PRIu32 " '%s' ends: its steady state has held for %s", run->phase, phase->name,
                   time_format_span(phase->steady_hold_ns, span));
}

/* Where the job says steadystate. */
static void run_look_as_fio(Run *run, const Sample *sample) {
        const RunPhase *phase = &run->phases[run->phase];
        double value;

        if (!run->fio_watch || run->phase_is_over || !fio_watch_add(run->fio_watch, sample, &value) ||
            !run_end_phase(run))
                return;
        run_record(run, EVENT_PHASE, "%" PRIu32 " '%s' ends: its steadystate is attained, %s of %s %g%s, below %g%s",
                   run->phase, phase->name, phase->fio_steady.of_slope ? "a slope" : "a deviation",
                   phase->fio_steady.of_bandwidth ? "bandwidth" : "IOPS", value,
                   phase->fio_steady.in_percent ? " %" : "", phase->fio_steady.limit,
                   phase->fio_steady.in_percent ? " %" : "");
}

static void run_note_decision(Run *run, const Sample *sample, int change, const SteadyDecision *decision) {
        char text[STEADY_DECISION_MAX];

        run_record_at(run, sample->at_ns, sample->elapsed_ns,
                      change == STEADY_DECLARED ? EVENT_STEADY : EVENT_STEADY_REVOKED,
                      steady_decision_text(&run->watch, change, decision, text));
}

static void run_judge_steady(Run *run, const Sample *sample) {
        SteadyDecision decision;

        int r = steady_watch_add(&run->watch, sample, &decision);
        if (r < 0)
                run_note_unjudged(run, r);
        if (r > STEADY_UNCHANGED)
                run_note_decision(run, sample, r, &decision);
        run_look_steady(run, sample);
        run_look_as_fio(run, sample);
}

void run_judge_sample(Run *run, const Sample *sample) {
        char text[HOST_ALARM_TEXT_MAX];

        if (!run_ramp_holds(run, sample))
                run_judge_steady(run, sample);
        if (host_alarm_add(&run->host, sample, text))
                run_record_at(run, sample->at_ns, sample->elapsed_ns, EVENT_HOST, text);
}

/* --- SNIA's IOPS test --- */

static void run_note_no_end(Run *run, int r) {
        log_error("run %" PRIu32 ": it is not ended when SNIA's IOPS test is steady: %s", run->id, strerror(-r));
        run->iops_watch = iops_watch_free(run->iops_watch);
}

/* In a run that goes on after an interruption its new worker is told again, and so is who reads the events. */
static void run_end_with(Run *run, uint32_t last, const SniaWindow *w) {
        _cleanup_free_ char *reason = NULL;

        if (asprintf(&reason, "[stop] snia_iops_steady=1: rounds %u to %u are steady, with %.0f IOPS of 4 KiB random "
                     "writes", w->first_round, w->last_round, w->average) < 0) {
                reason = NULL;
                return; /* it is tried again with the next phase, as below */
        }

        int r = worker_process_send(run->worker, &(Message){ .type = MESSAGE_END_RUN,
                                                             .end_run = { .index = last, .detail = reason } });
        if (r < 0) {
                log_error("run %" PRIu32 ": its worker cannot be told that it ends with phase %" PRIu32 ": %s", run->id,
                          last, strerror(-r));
                return;
        }
        run->end_is_known = true;
        run_record(run, EVENT_STOPPING, "%s; the run ends with this round, after phase %" PRIu32 " '%s'", reason, last,
                   run->phases[last].name);
}

void run_judge_round(Run *run) {
        SniaWindow window;
        uint32_t last;

        if (!run->iops_watch || run->end_is_known)
                return;
        int r = iops_watch_look(run->iops_watch, &last, &window);
        if (r < 0)
                run_note_no_end(run, r);
        else if (r > 0)
                run_end_with(run, last, &window);
}

void run_judge_cut(Run *run, uint64_t elapsed_ns) {
        int r = run->iops_watch ? iops_watch_cut(run->iops_watch, elapsed_ns) : 0;

        if (r < 0)
                run_note_no_end(run, r);
}

void run_judge_end(Run *run) {
        char text[HOST_ALARM_TEXT_MAX];

        if (host_alarm_end(&run->host, run->progress.elapsed_ns, text))
                run_record(run, EVENT_HOST, "%s", text);
}

/* SPDX-License-Identifier: MIT */

/*
 * Only the online decision is made here: constant time a sample, so that the loop never waits for it. Regimes, cycle
 * and collapse are judged over a whole phase, by whoever asks, from the database.
 */

#include <inttypes.h>
#include <string.h>

#include "log.h"
#include "run-internal.h"

static void run_note_unjudged(const Run *run, int r) {
        log_error("run %" PRIu32 ": phase %" PRIu32 " is watched for no steady state: %s", run->id, run->phase,
                  strerror(-r));
}

void run_judge_phase(Run *run) {
        int r = steady_watch_begin(&run->watch, run->directions[run->phase], run->size_bytes, run->sample_interval_ns,
                                   run->progress.elapsed_ns);
        if (r < 0)
                run_note_unjudged(run, r);
}

void run_judge_sample(Run *run, const Sample *sample) {
        char text[STEADY_DECISION_MAX];
        SteadyDecision decision;

        int r = steady_watch_add(&run->watch, sample, &decision);
        if (r < 0)
                run_note_unjudged(run, r);
        if (r <= STEADY_UNCHANGED)
                return;
        run_record_at(run, sample->at_ns, sample->elapsed_ns,
                      r == STEADY_DECLARED ? EVENT_STEADY : EVENT_STEADY_REVOKED,
                      steady_decision_text(&run->watch, r, &decision, text));
}

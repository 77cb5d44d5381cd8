/* SPDX-License-Identifier: MIT */

/*
 * A worker that verifies tells what it may have written before it tells how far it has come, and goes beyond what was
 * reserved only when that is written down: however it or the service ends, the database knows all that can be there.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "run-internal.h"
#include "util/macro.h"
#include "util/time.h"

/* Each share once, and the phase, with each sample; all together if we were held up. */
#define N_WORDS_A_SAMPLE_MAX (UINT64_C(4) * JOB_WORKERS_MAX)
#define WORDS_BURST_NS (60 * NSEC_PER_SEC)

/* Those of all phases that one worker may check. */
#define N_FINDINGS_MAX (16U * JOB_N_PHASES_MAX)
#define DETAIL_BYTES_MAX 1024U

/* A worker that reads nothing for half an interval, and takes so much of a core, is computing. */
#define COMPUTING_CPU_PERCENT 20.0

typedef struct Recording {
        Run *run;
        uint64_t n_taken_up; /* which of its workers has asked */
        uint32_t phase, share;
        uint64_t ceiling;
} Recording;

static void on_recorded(bool written, void *userdata) {
        _cleanup_free_ Recording *recording = userdata;
        Run *run = recording->run;

        if (!written || !run->worker || run->n_taken_up != recording->n_taken_up)
                return;
        worker_process_send(run->worker, &(Message){
                .type = MESSAGE_RECORDED,
                .recorded = {
                        .phase = recording->phase, .share = recording->share, .ceiling = recording->ceiling,
                },
        });
}

/* Without memory for it the worker waits at its ceiling, and asks again with what comes next. */
static void answer_when_written(Run *run, uint32_t phase, uint32_t share, uint64_t ceiling) {
        Recording *recording = malloc(sizeof(*recording));

        if (!recording)
                return;
        *recording = (Recording){ run, run->n_taken_up, phase, share, ceiling };
        if (database_when_written(run->database, UINT64_MAX, on_recorded, recording) < 0)
                free(recording);
}

static bool may_tell(Run *run, uint32_t phase) {
        return run_may_say(&run->verification_until_ns, run->sample_interval_ns / N_WORDS_A_SAMPLE_MAX,
                           WORDS_BURST_NS) &&
               run->in_phase && phase == run->phase;
}

int run_on_history(Run *run, Message *message) {
        uint32_t phase = message->history.phase, share = message->history.share;
        const History *history = &message->history.history;
        History *own = histories_at(run->standing->histories, phase, share);

        if (!may_tell(run, phase) || !own || history->ceiling < own->ceiling || history->flushed < own->flushed)
                return -EBADMSG;

        bool is_higher = history->ceiling > own->ceiling;
        *own = *history;
        int r = database_set_history(run->database, run->id, phase, share, history);
        if (r < 0)
                log_error("run %" PRIu32 ": out of memory, what it has written is not recorded", run->id);
        else if (is_higher)
                answer_when_written(run, phase, share, history->ceiling);
        return 0;
}

static bool goes_on_from(const Verification *now, const Verification *before) {
        bool fits = now->checked_bytes >= before->checked_bytes && now->checked_bytes <= INT64_MAX;

        for (unsigned i = 0; i < N_MISMATCHES; i++)
                fits = fits && now->n_blocks[i] >= before->n_blocks[i] && now->n_blocks[i] <= INT64_MAX / N_MISMATCHES;
        return fits;
}

int run_on_verification(Run *run, Message *message) {
        Verification *so_far = &message->verification.so_far;
        uint32_t phase = message->verification.phase;

        if (!may_tell(run, phase) || !goes_on_from(so_far, &run->standing->phases[phase].verified))
                return -EBADMSG;

        so_far->asked_bytes = run->phases[phase].asked_bytes; /* which is not for the worker to say */
        run->standing->phases[phase].verified = *so_far;
        if (database_set_verification(run->database, run->id, phase, so_far) < 0)
                log_error("run %" PRIu32 ": out of memory, what it has verified is not recorded", run->id);
        return 0;
}

void run_verify_sample(Run *run, const Sample *sample) {
        bool is_computing = run->phases[run->phase].asked_bytes > 0 &&
                            sample->duration_ns >= run->sample_interval_ns / 2 && sample_is_idle(sample) &&
                            sample->worker_cpu_percent >= COMPUTING_CPU_PERCENT;

        if (!is_computing || run->told_of_computing)
                return;
        run->told_of_computing = true;
        run_record(run, EVENT_PHASE, "%" PRIu32 " '%s' works out what should lie on the drive before it reads on",
                   run->phase, run->phases[run->phase].name);
}

int run_on_finding(Run *run, Message *message) {
        StoreFinding finding = {
                .phase = message->finding.phase, .kind = message->finding.kind, .offset = message->finding.offset,
                .bytes = message->finding.bytes, .detail = message->finding.detail,
        };

        if (!may_tell(run, finding.phase) || run->n_findings++ >= N_FINDINGS_MAX || finding.offset > INT64_MAX ||
            finding.bytes == 0 || finding.bytes > INT64_MAX || strlen(finding.detail) > DETAIL_BYTES_MAX)
                return -EBADMSG;

        if (database_add_finding(run->database, run->id, &finding) < 0)
                log_error("run %" PRIu32 ": out of memory, a finding is not recorded", run->id);
        run_record(run, EVENT_ERROR, "phase %" PRIu32 " '%s': %s", run->phase, run->phases[run->phase].name,
                   finding.detail);
        return 0;
}

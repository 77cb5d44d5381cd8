/* SPDX-License-Identifier: MIT */

#include "worker/faults.h"

#include <errno.h>

#include "run/state.h"
#include "util/macro.h"
#include "util/time.h"

static void errnos_tell(Faults *faults, Reporter *reporter, Engine *engine) {
        EngineErrno now[ENGINE_N_ERRNOS_MAX];
        unsigned n = engine_errnos(engine, now);

        faults->n_errors = 0;
        for (unsigned i = 0; i < n; i++) {
                faults->n_errors += now[i].count;
                if (now[i].count == faults->told_counts[i])
                        continue;
                reporter_send(reporter, &(Message) { .type = MESSAGE_ERRNO, .errnum = now[i] });
                faults->told_counts[i] = now[i].count;
        }
}

static void stall_tell(Faults *faults, Reporter *reporter, uint64_t oldest_ns, uint64_t elapsed_ns) {
        char span[TIME_SPAN_MAX];

        if (oldest_ns > STALL_NS) {
                faults->stalled_oldest_ns = MAX(faults->stalled_oldest_ns, oldest_ns);
                if (!faults->stalled)
                        reporter_event(reporter, OCCURRENCE_STALLED, elapsed_ns,
                                       "the oldest I/O has been pending for %s", time_format_span(oldest_ns, span));
                faults->stalled = true;
        } else if (faults->stalled) {
                reporter_event(reporter, OCCURRENCE_RECOVERED, elapsed_ns, "an I/O took more than %s",
                               time_format_span(faults->stalled_oldest_ns, span));
                faults->stalled = false;
                faults->stalled_oldest_ns = 0;
        }
}

int faults_verify(Faults *faults, Reporter *reporter, const Claim *claim, uint64_t elapsed_ns, Error *error) {
        _cleanup_error_ Error e = ERROR_INIT;

        int r = claim_verify(claim, &e);
        if (r >= 0)
                return 0;
        if (r != -EROFS) {
                error_move(error, &e);
                return r;
        }

        if (!faults->read_only)
                reporter_event(reporter, OCCURRENCE_READ_ONLY, elapsed_ns, "%s", error_message(&e));
        faults->read_only = true;
        return 0;
}

int faults_look(Faults *faults, Reporter *reporter, Engine *engine, const Claim *claim, const Sample *sample,
                Error *error) {
        stall_tell(faults, reporter, sample->oldest_ns, sample->elapsed_ns);
        if (sample->errors > 0)
                errnos_tell(faults, reporter, engine);
        return faults_verify(faults, reporter, claim, sample->elapsed_ns, error);
}

/* SPDX-License-Identifier: MIT */

#include "worker/faults.h"

#include <errno.h>
#include <inttypes.h>

#include "run/state.h"
#include "util/macro.h"
#include "util/time.h"

static void errnos_tell(Faults *faults, Reporter *reporter, const EngineErrno *now, unsigned n) {
        for (unsigned i = 0; i < n; i++) {
                if (now[i].count == faults->told_counts[i])
                        continue;
                reporter_send(reporter, &(Message) { .type = MESSAGE_ERRNO, .errnum = now[i] });
                faults->told_counts[i] = now[i].count;
        }
}

void faults_look_stalled(Faults *faults, Reporter *reporter, uint64_t oldest_ns, uint64_t elapsed_ns) {
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
        _cleanup_error_ Error why = ERROR_INIT;
        EngineErrno now[ENGINE_N_ERRNOS_MAX];
        uint64_t n_before = faults->n_errors;
        unsigned n = 0;

        faults_look_stalled(faults, reporter, sample->oldest_ns, sample->elapsed_ns);
        if (sample->errors > 0) {
                n = engine_errnos(engine, now);
                faults->n_errors = 0;
                for (unsigned i = 0; i < n; i++)
                        faults->n_errors += now[i].count;
        }

        int r = faults_verify(faults, reporter, claim, sample->elapsed_ns, &why);
        if (r >= 0) {
                errnos_tell(faults, reporter, now, n);
                return r;
        }

        /* What was written to a drive while it was pulled out has failed as on a full one: no fault of its own. */
        uint64_t n_untold = faults->n_errors - n_before;
        if (n_untold > 0)
                return error_set(error, why.kind, -r, "%s; %" PRIu64 " %s failed as it went", error_message(&why),
                                 n_untold, n_untold == 1 ? "I/O" : "I/Os");
        error_move(error, &why);
        return r;
}

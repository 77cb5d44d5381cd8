/* SPDX-License-Identifier: MIT */

#include "worker/verifying.h"

#include <string.h>

#include "util/macro.h"

/* The first of a phase, in detail; the others only count. */
#define N_FINDINGS_TOLD_MAX 16U

static uint64_t errors_of(const Verifying *v, uint32_t phase, const Verification *verification) {
        return v->plan->phases[phase].fails_on_mismatch ? verification_errors(verification) : 0;
}

void verifying_init(Verifying *ret, Reporter *reporter, Engine *engine, const Plan *plan, Standing *standing) {
        *ret = (Verifying){ .reporter = reporter, .engine = engine, .plan = plan, .standing = standing };
        for (uint32_t i = 0; standing && i < standing->n_phases && i < standing->phase; i++)
                ret->n_errors += errors_of(ret, i, &standing->phases[i].verified);
}

static const PhasePlan *current(const Verifying *v) {
        return &v->plan->phases[v->phase];
}

static void tell_history(Verifying *v, uint32_t share) {
        Message message = { .type = MESSAGE_HISTORY, .history = { .phase = v->phase, .share = share } };

        if (engine_history(v->engine, share, &message.history.history))
                reporter_send(v->reporter, &message);
}

static void tell_findings(Verifying *v, uint32_t share) {
        unsigned n;
        const CheckFinding *findings = engine_findings(v->engine, share, &n);

        for (; v->n_told_of[share] < n && v->n_told < N_FINDINGS_TOLD_MAX; v->n_told_of[share]++, v->n_told++) {
                const CheckFinding *finding = &findings[v->n_told_of[share]];
                char *text = finding_text(finding);

                if (text)
                        reporter_send(v->reporter, &(Message){
                                .type = MESSAGE_FINDING,
                                .finding = {
                                        .phase = v->phase, .kind = finding->kind, .offset = finding->offset,
                                        .bytes = finding->bytes, .detail = text,
                                },
                        });
                free(text);
        }
}

/* What this worker has counted, and what others had in this phase. */
static void tell_verification(Verifying *v) {
        Message message = { .type = MESSAGE_VERIFICATION, .verification = { .phase = v->phase } };
        Verification *so_far = &message.verification.so_far;

        engine_verification(v->engine, so_far);
        if (v->standing && v->phase == v->standing->phase) {
                const Verification *before = &v->standing->phases[v->phase].verified;

                so_far->checked_bytes += before->checked_bytes;
                for (unsigned i = 0; i < N_MISMATCHES; i++)
                        so_far->n_blocks[i] += before->n_blocks[i];
        }
        if (memcmp(so_far, &v->told, sizeof(*so_far)) == 0)
                return;
        v->told = *so_far;
        reporter_send(v->reporter, &message);
}

void verifying_begin_phase(Verifying *v, uint32_t phase) {
        v->phase = phase;
        v->n_told = 0;
        memset(v->n_told_of, 0, sizeof(v->n_told_of));
        v->told = (Verification){};
        verifying_look(v);
}

void verifying_look(Verifying *v) {
        const PhasePlan *phase = current(v);

        for (uint32_t k = 0; k < phase->workers; k++) {
                if (phase->is_tracked)
                        tell_history(v, k);
                if (phase->is_checked)
                        tell_findings(v, k);
        }
        if (phase->is_checked)
                tell_verification(v);
}

void verifying_end_phase(Verifying *v) {
        verifying_look(v);
        v->n_errors += errors_of(v, v->phase, &v->told);
}

uint64_t verifying_n_errors(const Verifying *v) {
        return v->n_errors;
}

void verifying_recorded(Verifying *v, const Message *message) {
        engine_allow(v->engine, message->recorded.phase, message->recorded.share, message->recorded.ceiling);
}

/* SPDX-License-Identifier: MIT */

/* It is judged when a phase ends, and from all of the run: that costs little, and nothing judged gets stale. */

#include "analysis/iops-watch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/macro.h"
#include "util/time.h"

_Static_assert(STOP_SNIA_N_ROUNDS == SNIA_N_WINDOW, "[stop] promises what cannot come true");

typedef struct WatchedPhase {
        bool is_pass;
        IopsPass point; /* of that */
        uint64_t ramp_ns;
        IopsRecord record;
} WatchedPhase;

struct IopsWatch {
        size_t n_phases;
        WatchedPhase *phases;
        double *cuts_s;
        size_t n_cuts, n_cuts_allocated;
};

static double seconds(uint64_t ns) {
        return (double) ns / (double) NSEC_PER_SEC;
}

int iops_watch_new(IopsWatch **ret, const Job *job, const Plan *plan) {
        _cleanup_(iops_watch_freep) IopsWatch *watch = calloc(1, sizeof(*watch));

        if (!watch)
                return -ENOMEM;
        watch->phases = calloc(plan->n_phases, sizeof(*watch->phases));
        if (!watch->phases)
                return -ENOMEM;
        watch->n_phases = plan->n_phases;
        for (size_t i = 0; i < plan->n_phases; i++) {
                const PhasePlan *phase = &plan->phases[i];
                WatchedPhase *own = &watch->phases[i];

                own->ramp_ns = phase->ramp_ns;
                own->is_pass = job->phases[phase->index].matrix_depths.n <= 1 &&
                               iops_test_point(phase->action, phase->rw, phase->read_percent, phase->block_bytes,
                                               &own->point);
        }
        *ret = TAKE_PTR(watch);
        return 0;
}

IopsWatch *iops_watch_free(IopsWatch *watch) {
        if (!watch)
                return NULL;
        free(watch->phases);
        free(watch->cuts_s);
        free(watch);
        return NULL;
}

void iops_watch_recall(IopsWatch *watch, uint32_t phase, const IopsRecord *record) {
        watch->phases[phase].record = *record;
}

void iops_watch_add(IopsWatch *watch, const Sample *sample) {
        WatchedPhase *phase = &watch->phases[sample->phase];
        IopsRecord *record = &phase->record;
        uint64_t began_ns = sample_began_ns(sample);

        if (record->elapsed_ns == 0)
                record->began_ns = began_ns;
        record->elapsed_ns += sample->duration_ns;
        if (sample_ramp_holds(began_ns, record->began_ns, phase->ramp_ns))
                return;
        record->counted_ns += sample->duration_ns;
        record->counted_ios += sample->ios[DIRECTION_READ] + sample->ios[DIRECTION_WRITE];
}

void iops_watch_end_phase(IopsWatch *watch, uint32_t phase) {
        watch->phases[phase].record.is_done = true;
}

int iops_watch_cut(IopsWatch *watch, uint64_t elapsed_ns) {
        double at_s = seconds(elapsed_ns);

        /* A pause and its end are at one moment of running time. */
        if (watch->n_cuts > 0 && !islessgreater(watch->cuts_s[watch->n_cuts - 1], at_s))
                return 0;
        if (watch->n_cuts == watch->n_cuts_allocated) {
                size_t n = MAX(2 * watch->n_cuts_allocated, (size_t) 16);
                double *grown = reallocarray(watch->cuts_s, n, sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                watch->cuts_s = grown;
                watch->n_cuts_allocated = n;
        }
        watch->cuts_s[watch->n_cuts++] = at_s;
        return 0;
}

static IopsPass make_pass(const WatchedPhase *phase) {
        const IopsRecord *record = &phase->record;
        IopsPass pass = phase->point;

        pass.from_s = seconds(record->began_ns);
        pass.to_s = seconds(record->began_ns + record->elapsed_ns);
        pass.iops = record->counted_ns > 0 ? (double) record->counted_ios / seconds(record->counted_ns) : NAN;
        pass.complete = record->is_done;
        return pass;
}

int iops_watch_look(const IopsWatch *watch, uint32_t *ret_last_phase, SniaWindow *ret_window) {
        _cleanup_free_ IopsPass *passes = calloc(watch->n_phases, sizeof(*passes));
        _cleanup_free_ uint32_t *phases = calloc(watch->n_phases, sizeof(*phases));
        size_t n = 0, n_ended = 0, last;

        if (!passes || !phases)
                return -ENOMEM;
        for (uint32_t i = 0; i < watch->n_phases; i++) {
                if (!watch->phases[i].is_pass)
                        continue;
                phases[n] = i;
                passes[n++] = make_pass(&watch->phases[i]);
                if (watch->phases[i].record.is_done)
                        n_ended = n;
        }
        int r = iops_test_end(passes, n_ended, n, watch->cuts_s, watch->n_cuts, &last, ret_window);
        if (r > 0)
                *ret_last_phase = phases[last];
        return r;
}

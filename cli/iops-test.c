/* SPDX-License-Identifier: MIT */

#include <stdlib.h>

#include "iops-test.h"
#include "util/macro.h"
#include "util/time.h"

#define TRACKED_BLOCK_BYTES 4096

typedef struct Pauses {
        StoreEvent *events;
        size_t n;
} Pauses;

static void pauses_done(Pauses *pauses) {
        store_events_free(pauses->events, pauses->n);
}

/* Ends included: the end of a phase and the beginning of the next can be the same time. */
static bool pauses_within(const Pauses *pauses, uint64_t from_ns, uint64_t to_ns) {
        for (size_t i = 0; i < pauses->n; i++) {
                const StoreEvent *event = &pauses->events[i];
                if (judge_event_cuts(event->kind) && event->elapsed_ns >= from_ns && event->elapsed_ns <= to_ns)
                        return true;
        }
        return false;
}

/* Whether it is the point that the test tracks. */
static bool phase_is_tracked(const StorePhase *phase) {
        bool writes = phase->rw == RW_RANDWRITE || (phase->rw == RW_RANDRW && phase->ios[DIRECTION_READ] == 0);

        return phase->action == PHASE_ACTION_IO && phase->state == PHASE_DONE && phase->elapsed_ns > 0 && writes &&
               phase->block_bytes[DIRECTION_WRITE] == TRACKED_BLOCK_BYTES;
}

/* Returns how many phases are rounds, complete ones or not. rounds: room for all phases. */
static size_t collect_rounds(const QueryPhases *phases, const Pauses *pauses, SniaRound *rounds, size_t *ret_n) {
        uint64_t before_ns = 0; /* end of the round before */
        size_t n_tracked = 0, n = 0;
        bool after_pause = false;

        for (size_t i = 0; i < phases->n; i++) {
                const StorePhase *phase = &phases->items[i];
                if (!phase_is_tracked(phase))
                        continue;

                uint64_t from_ns = phase->first_elapsed_ns, to_ns = from_ns + phase->elapsed_ns;
                bool interrupted = pauses_within(pauses, from_ns + 1, to_ns - 1);
                if (n_tracked++ > 0 && pauses_within(pauses, before_ns, from_ns))
                        after_pause = true;
                before_ns = to_ns;
                if (!interrupted)
                        rounds[n++] = (SniaRound){
                                .from_s = (double) from_ns / (double) NSEC_PER_SEC,
                                .to_s = (double) to_ns / (double) NSEC_PER_SEC,
                                .iops = query_rate(phase->ios[DIRECTION_WRITE], phase->elapsed_ns),
                                .after_pause = after_pause,
                        };
                after_pause = interrupted;
        }
        *ret_n = n;
        return n_tracked;
}

int iops_test_judge(const Judgement *judgement, Store *store, SniaResult *ret, Error *error) {
        _cleanup_(pauses_done) Pauses pauses = {};
        _cleanup_free_ SniaRound *rounds = calloc(MAX(judgement->phases.n, (size_t) 1), sizeof(SniaRound));
        size_t n;

        if (!rounds)
                return -ENOMEM;
        int r = store_get_events(store, judgement->run.id, &pauses.events, &pauses.n, error);
        if (r < 0)
                return r;

        if (collect_rounds(&judgement->phases, &pauses, rounds, &n) < 2)
                return 0;
        snia_judge_rounds(rounds, n, ret);
        return 1;
}

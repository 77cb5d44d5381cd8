/* SPDX-License-Identifier: MIT */

/*
 * All indices are gone through in their order, phase by phase; a later write overwrites an earlier one in the window as
 * it did on the device. Shares of a phase have no place in common, so their order among each other does not matter.
 *
 * Maybes are not entered: a sector tells by its own stamp which write it is of, so whoever finds one asks the history.
 * Only those that leave no stamp have to be known here. What processes that died may have done beyond what they told,
 * in later phases, too, they had done before this one went on: so all that this one has written since is certain.
 */

#include "engine/replay.h"

#include "engine/pattern.h"
#include "spec/share.h"
#include "util/macro.h"

#define CANCEL_EVERY 4096U /* indices */

/* So often through its region, and whatever the order, maybes are nearly everywhere: then they are taken to be. */
#define N_PASSES_MAYBE 4U

typedef struct Walk {
        const Replay *replay;
        const Window *window;
        const _Atomic unsigned *turn;
        unsigned mine;
        PhasePlan share;
        Pattern pattern;
        uint64_t number; /* of index 0 */
        uint64_t granule_bytes;
} Walk;

/* The granules of an I/O within the window; of a discard, which is no multiple of them, those that it touches. */
static bool clip(const Walk *walk, const PatternOp *op, uint64_t *ret_from, uint64_t *ret_to) {
        uint64_t first = op->offset / walk->granule_bytes;
        uint64_t end = (op->offset + op->length - 1) / walk->granule_bytes + 1;

        *ret_from = MAX(first, walk->window->first);
        *ret_to = MIN(end, walk->window->first + walk->window->n);
        return *ret_from < *ret_to;
}

static void enter_certain(const Walk *walk, const PatternOp *op, uint64_t index) {
        uint64_t value = op->direction == DIRECTION_TRIM ? GRANULE_UNKNOWN : walk->number + index, from, to;

        if (op->direction == DIRECTION_READ || !clip(walk, op, &from, &to))
                return;
        for (uint64_t i = from; i < to; i++)
                walk->window->granules[i - walk->window->first] = value;
}

static void enter_maybe(const Walk *walk, const PatternOp *op, uint64_t index) {
        uint64_t from, to;

        if (op->direction == DIRECTION_READ || !clip(walk, op, &from, &to))
                return;
        for (uint64_t i = from; i < to; i++) {
                uint64_t *granule = &walk->window->granules[i - walk->window->first];

                if (op->direction == DIRECTION_TRIM)
                        *granule = GRANULE_UNKNOWN;
                else if (payload_is_unstamped(walk->replay->payload, &walk->share,
                                              i * walk->granule_bytes - op->offset, op->length, op->offset,
                                              walk->number + index))
                        *granule |= GRANULE_MAYBE_UNSTAMPED;
        }
}

static bool is_cancelled(const Walk *walk) {
        return atomic_load_explicit(walk->turn, memory_order_relaxed) != walk->mine;
}

static bool walk_range(const Walk *walk, uint64_t from, uint64_t to,
                       void (*enter)(const Walk *walk, const PatternOp *op, uint64_t index)) {
        for (uint64_t index = from; index < to; index++) {
                PatternOp op = pattern_at(&walk->pattern, index);

                enter(walk, &op, index);
                if (index % CANCEL_EVERY == 0 && is_cancelled(walk))
                        return false;
        }
        return true;
}

static bool leaves_no_stamp(const PhasePlan *phase) {
        return phase->content.is_zero || phase->content.dedupe_percent > 0 || rw_mode_uses(phase->rw, DIRECTION_TRIM);
}

/* Indices that bring all streams through their regions once, each block for itself. */
static uint64_t pass_of(const Walk *walk) {
        uint64_t n_tiles = 1;

        for (Direction d = DIRECTION_WRITE; d < N_DIRECTIONS; d++)
                if (rw_mode_uses(walk->share.rw, d))
                        n_tiles = MAX(n_tiles, walk->pattern.tiling[d].n_tiles);
        return n_tiles * walk->pattern.n_streams;
}

static void enter_everywhere(const Walk *walk, bool is_unknown) {
        const PhasePlan *share = &walk->share;
        uint64_t first = share->region_offset / walk->granule_bytes;
        uint64_t end = (share->region_offset + phase_plan_span_bytes(share) - 1) / walk->granule_bytes + 1;
        uint64_t to = MIN(end, walk->window->first + walk->window->n);

        for (uint64_t i = MAX(first, walk->window->first); i < to; i++) {
                uint64_t *granule = &walk->window->granules[i - walk->window->first];

                if (is_unknown)
                        *granule = GRANULE_UNKNOWN;
                else
                        *granule |= GRANULE_MAYBE_UNSTAMPED;
        }
}

/* A process that died leaves minutes of the fastest drive as maybes, whatever it really did: often many passes. */
static bool walk_maybes(const Walk *walk, uint64_t from, uint64_t to) {
        if (from >= to || !leaves_no_stamp(&walk->share))
                return true;
        if ((to - from) / N_PASSES_MAYBE < pass_of(walk))
                return walk_range(walk, from, to, enter_maybe);
        enter_everywhere(walk, rw_mode_uses(walk->share.rw, DIRECTION_TRIM));
        return true;
}

/* Certain ones, and maybes among them; all at the end and beyond is maybe. */
static bool walk_known(const Walk *walk, const History *history, const IndexRange *range) {
        uint64_t at = range->from, end = MIN(history->end, range->to);

        end = MAX(end, at);
        for (uint32_t i = 0; i < history->n_maybes && history->maybes[i].from < end; i++) {
                uint64_t from = MAX(history->maybes[i].from, at), to = MIN(history->maybes[i].to, end);

                if (to <= at)
                        continue;
                if (!walk_range(walk, at, from, enter_certain) || !walk_maybes(walk, from, to))
                        return false;
                at = to;
        }
        return walk_range(walk, at, end, enter_certain) && walk_maybes(walk, end, range->to);
}

/* Writes that are not tracked tell nobody whose they are. */
static bool walk_unheard(const Walk *walk, const IndexRange *range) {
        if (walk->share.is_tracked)
                return walk_maybes(walk, range->from, range->to);
        if (rw_mode_direction(walk->share.rw) != DIRECTION_READ)
                enter_everywhere(walk, true);
        return true;
}

typedef enum Period {
        PERIOD_TOLD,    /* by processes that were here before */
        PERIOD_UNHEARD, /* they may have done, and told nobody */
        PERIOD_SINCE,   /* done by this one */
        N_PERIODS,
} Period;

/* Which of its indices are of that period; is_later: the phase has not begun, for all that is told. */
static IndexRange range_of(const History *history, Period period, bool is_later) {
        bool is_over = history->resumed == UINT64_MAX;
        uint64_t resumed = is_later ? 0 : history->resumed, known = MAX(history->end, history->reach);

        switch (period) {
        case PERIOD_TOLD:
                return (IndexRange){ 0, is_over ? known : resumed };
        case PERIOD_UNHEARD:
                return (IndexRange){ resumed, history->reach };
        default:
                return (IndexRange){ resumed, is_later ? 0 : history->end };
        }
}

/* Of a share that has no place in the window. */
static bool is_beside(const Walk *walk) {
        const PhasePlan *share = &walk->share;
        uint64_t from = walk->window->first * walk->granule_bytes, to = from + walk->window->n * walk->granule_bytes;
        uint64_t end = share->region_offset + share->region_bytes +
                       (uint64_t) (MAX(share->numjobs, 1U) - 1) * share->stream_step_bytes;

        return share->region_offset >= to || end <= from;
}

static bool walk_phase(Walk *walk, uint32_t p, Period period) {
        const PhasePlan *phase = &walk->replay->plan->phases[p];
        bool is_later = p >= walk->replay->n_phases;

        for (uint32_t k = 0; (phase->is_tracked || is_later) && k < phase->workers; k++) {
                const History *history = histories_at(walk->replay->histories, p, k);
                IndexRange range = range_of(history, period, is_later);

                if (range.from >= range.to)
                        continue;
                phase_plan_share(&walk->share, phase, k);
                if (is_beside(walk))
                        continue;
                pattern_init(&walk->pattern, &walk->share, k);
                walk->number = write_number(p, k, 0);
                if (!(period == PERIOD_UNHEARD ? walk_unheard(walk, &range) : walk_known(walk, history, &range)))
                        return false;
        }
        return true;
}

bool replay_window(const Replay *replay, const Window *window, const _Atomic unsigned *turn, unsigned mine) {
        Walk walk = {
                .replay = replay, .window = window, .turn = turn, .mine = mine,
                .granule_bytes = replay->plan->granule_bytes,
        };

        for (uint64_t i = 0; i < window->n; i++)
                window->granules[i] = GRANULE_UNWRITTEN;
        for (Period period = 0; period < N_PERIODS; period++)
                for (uint32_t p = 0; p < replay->plan->n_phases; p++)
                        if (!walk_phase(&walk, p, period))
                                return false;
        return true;
}

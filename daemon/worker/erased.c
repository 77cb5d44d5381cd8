/* SPDX-License-Identifier: MIT */

/*
 * A bit for each cell of the device, filled in from the order of I/O. A sequential order has reached the start of its
 * region, up to where it can have come. Of any other each I/O is gone through as long as that is a matter of a few
 * seconds; beyond that, and where it is not known how many there were, all of its region counts as reached.
 *
 * Of a random order that was killed, what came after the last sample is estimated from its speed, and generously: to go
 * on where somebody has erased the drive would be worse than to refuse the run's own.
 */

#include "worker/erased.h"

#include <stdlib.h>
#include <string.h>

#include "engine/pattern.h"
#include "spec/share.h"
#include "util/macro.h"
#include "util/time.h"

#define CELL_BYTES_MIN (4U * KIB)
#define N_CELLS_MAX (UINT64_C(1) << 26) /* 8 MiB of memory */
#define N_WALKED_MAX (UINT64_C(1) << 26) /* I/Os, of all phases */
#define CELLS_A_WORD 64U

/* So long may a worker have gone on after the last sample that was kept. */
#define UNKNOWN_NS (60 * NSEC_PER_SEC)

struct Erased {
        const Plan *plan;
        const Standing *standing;
        uint32_t end_phase;   /* none from here on has begun */
        uint32_t first_phase; /* it and all later ones are filled in */
        uint64_t cell_bytes, n_cells;
        uint64_t n_walkable;
        uint64_t *cells;
};

Erased *erased_free(Erased *erased) {
        if (erased)
                free(erased->cells);
        free(erased);
        return NULL;
}

static uint64_t n_words(const Erased *erased) {
        return erased->n_cells / CELLS_A_WORD + 1;
}

static void forget_cells(Erased *erased) {
        erased->first_phase = erased->end_phase;
        erased->n_walkable = N_WALKED_MAX;
        memset(erased->cells, 0, n_words(erased) * sizeof(*erased->cells));
}

/* What a worker that died before the last one may have done, which went on from what was known of it. */
static uint64_t reach_before(const Standing *standing, uint32_t phase, uint32_t k) {
        const History *history = standing->histories ? histories_at(standing->histories, phase, k) : NULL;

        return history ? history->reach : 0;
}

Erased *erased_new(const Plan *plan, const Standing *standing, uint32_t last, uint64_t size_bytes) {
        _cleanup_(erased_freep) Erased *erased = calloc(1, sizeof(*erased));

        if (!erased)
                return NULL;
        *erased = (Erased){
                .plan = plan,
                .standing = standing,
                .end_phase = MIN(last + 1, standing->n_phases),
                .cell_bytes = MAX(size_bytes / N_CELLS_MAX + 1, UINT64_C(1) * CELL_BYTES_MIN),
        };
        for (uint32_t p = erased->end_phase; p < standing->n_phases; p++)
                for (uint32_t k = 0; k < plan->phases[p].workers; k++)
                        if (reach_before(standing, p, k) > 0)
                                erased->end_phase = p + 1;
        erased->n_cells = size_bytes / erased->cell_bytes + 1;
        erased->cells = calloc(n_words(erased), sizeof(*erased->cells));
        if (!erased->cells)
                return NULL;
        forget_cells(erased);
        return TAKE_PTR(erased);
}

static bool is_filled(const Erased *erased, uint64_t cell) {
        return erased->cells[cell / CELLS_A_WORD] >> cell % CELLS_A_WORD & 1;
}

static void fill_cells(Erased *erased, uint64_t offset, uint64_t n_bytes) {
        uint64_t cell = offset / erased->cell_bytes;
        uint64_t end = n_bytes > 0 ? MIN((offset + n_bytes - 1) / erased->cell_bytes + 1, erased->n_cells) : 0;

        while (cell < end)
                if (cell % CELLS_A_WORD == 0 && end - cell >= CELLS_A_WORD) {
                        erased->cells[cell / CELLS_A_WORD] = UINT64_MAX;
                        cell += CELLS_A_WORD;
                } else {
                        erased->cells[cell / CELLS_A_WORD] |= UINT64_C(1) << cell % CELLS_A_WORD;
                        cell++;
                }
}

static bool order_jumps(const PhasePlan *share) {
        return rw_mode_is_random(share->rw) && !share->random_map;
}

/* The index below which all lie that can have been submitted, in an order that does not jump. */
static uint64_t reach_of(const Erased *erased, uint32_t phase, uint32_t k, const PhasePlan *share) {
        const Standing *standing = erased->standing;
        const Positions *positions = &standing->phases[phase].positions;
        uint64_t next = k < positions->n ? positions->of[k].next_index : 0, limit;

        if (standing->drained || (phase < standing->phase && positions->n > 0))
                return MAX(next, reach_before(standing, phase, k));
        limit = phase_plan_ios_max(share);
        return next < UINT64_MAX - limit ? next + limit : UINT64_MAX;
}

/* Of an order that goes through one region from its start. */
static uint64_t sequential_bytes(const Pattern *pattern, uint64_t reach) {
        const Tiling *tiling = &pattern->tiling[pattern->changes];
        uint64_t n = reach / pattern->n_streams + 1;

        return n < tiling->n_tiles ? MIN(tiling_bytes_before(tiling, n), tiling->region_bytes) : tiling->region_bytes;
}

static void fill_indices(Erased *erased, const Pattern *pattern, const IndexRange *range) {
        for (uint64_t i = range->from; i < range->to; i++) {
                PatternOp op = pattern_at(pattern, i);

                if (op.direction != DIRECTION_READ)
                        fill_cells(erased, op.offset, op.length);
        }
        erased->n_walkable -= range->to - range->from;
}

/* I/Os that a worker which died can have submitted beyond what is known; UINT64_MAX: any number. */
static uint64_t n_unheard(const PhaseStanding *phase, uint64_t n_known, const PhasePlan *share) {
        if (phase->elapsed_ns == 0)
                return phase_plan_ios_max(share);

        unsigned __int128 n = (unsigned __int128) n_known * UNKNOWN_NS / phase->elapsed_ns + 1;
        uint64_t n_max = MIN(phase_plan_ios_max(share), PATTERN_JUMP);

        return n < n_max ? (uint64_t) n : n_max;
}

/*
 * Where the indices lie that a random order without a map can have submitted: before the last jump, since then, and if
 * its worker died, after that and after the next jump, which another one can have made that told nothing. 0: anywhere.
 */
static unsigned jumping_ranges(const Erased *erased, uint32_t phase, uint32_t k, const PhasePlan *share,
                               IndexRange ret[static 4]) {
        const PhaseStanding *standing = &erased->standing->phases[phase];
        const Position none = {}, *p = k < standing->positions.n ? &standing->positions.of[k] : &none;
        bool is_over = erased->standing->drained || phase < erased->standing->phase;

        uint64_t before = p->first_index < PATTERN_JUMP ? p->first_index : p->first_index - PATTERN_JUMP;
        uint64_t jump_to = share->is_tracked ?
                standing_jump_to(histories_at(erased->standing->histories, phase, k), p->first_index,
                                 phase_plan_ios_max(share)) : p->next_index + PATTERN_JUMP;
        bool is_known = is_over && p->first_index == 0 && reach_before(erased->standing, phase, k) == 0;
        uint64_t n_beyond = is_known ? 0 :
                n_unheard(standing, before + p->next_index - p->first_index, share);
        if (n_beyond > PATTERN_JUMP || p->next_index > UINT64_MAX - 2 * PATTERN_JUMP)
                return 0;

        ret[0] = (IndexRange){ 0, p->first_index > 0 ? before + n_beyond : 0 };
        ret[1] = (IndexRange){ p->first_index, p->next_index + (is_over ? n_beyond : 0) };
        ret[2] = (IndexRange){ p->next_index, p->next_index + n_beyond };
        ret[3] = (IndexRange){ jump_to, jump_to + n_beyond };
        return is_over ? 2 : 4;
}

static bool fill_jumping(Erased *erased, uint32_t phase, uint32_t k, const PhasePlan *share, const Pattern *pattern) {
        IndexRange ranges[4];
        unsigned n = jumping_ranges(erased, phase, k, share, ranges);
        uint64_t n_indices = 0;

        for (unsigned i = 0; i < n; i++)
                n_indices += ranges[i].to - ranges[i].from;
        if (n == 0 || n_indices > erased->n_walkable)
                return false;
        for (unsigned i = 0; i < n; i++)
                fill_indices(erased, pattern, &ranges[i]);
        return true;
}

static void fill_share(Erased *erased, uint32_t phase, uint32_t k) {
        PhasePlan share;
        Pattern pattern;

        phase_plan_share(&share, &erased->plan->phases[phase], k);
        uint64_t reach = reach_of(erased, phase, k, &share);

        if (reach == 0)
                return;
        pattern_init(&pattern, &share, k);
        if (order_jumps(&share) && fill_jumping(erased, phase, k, &share, &pattern))
                return;
        if (!rw_mode_is_random(share.rw) && share.stream_step_bytes == 0 && reach >= pattern.n_streams)
                fill_cells(erased, share.region_offset, sequential_bytes(&pattern, reach - 1));
        else if (!order_jumps(&share) && reach <= erased->n_walkable)
                fill_indices(erased, &pattern, &(IndexRange){ 0, reach });
        else
                fill_cells(erased, share.region_offset, phase_plan_span_bytes(&share));
}

static bool phase_erases(const PhasePlan *phase) {
        return rw_mode_trims(phase->rw) || (phase->content.is_zero && rw_mode_writes(phase->rw));
}

void erased_look_from(Erased *erased, uint32_t phase) {
        if (erased->first_phase < phase)
                forget_cells(erased);
        while (erased->first_phase > phase) {
                const PhasePlan *plan = &erased->plan->phases[--erased->first_phase];

                for (uint32_t k = 0; phase_erases(plan) && k < plan->workers; k++)
                        fill_share(erased, erased->first_phase, k);
        }
}

bool erased_may_be(const Erased *erased, uint64_t offset, size_t n_bytes) {
        uint64_t end = MIN((offset + n_bytes - 1) / erased->cell_bytes + 1, erased->n_cells);

        for (uint64_t cell = offset / erased->cell_bytes; cell < end; cell++)
                if (is_filled(erased, cell))
                        return true;
        return false;
}

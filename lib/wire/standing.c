/* SPDX-License-Identifier: MIT */

#include "wire/standing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "spec/share.h"
#include "util/macro.h"
#include "util/time.h"

Standing *standing_new(uint32_t n_phases) {
        _cleanup_standing_ Standing *standing = calloc(1, sizeof(*standing));

        if (!standing)
                return NULL;
        standing->device = calloc(1, sizeof(*standing->device));
        standing->phases = calloc(MAX(n_phases, 1U), sizeof(*standing->phases));
        standing->n_phases = n_phases;
        return standing->device && standing->phases ? TAKE_PTR(standing) : NULL;
}

Standing *standing_free(Standing *standing) {
        if (!standing)
                return NULL;
        device_info_free(standing->device);
        free(standing->boot_id);
        free(standing->phases);
        histories_free(standing->histories);
        free(standing);
        return NULL;
}

static PhaseShape shape_of(const PhasePlan *plan) {
        PhaseShape shape = {
                .region_offset = plan->region_offset,
                .region_bytes = plan->region_bytes,
                .iodepth = plan->iodepth,
                .numjobs = plan->numjobs,
                .workers = plan->workers,
                .order_hash = phase_plan_order_hash(plan),
        };

        memcpy(shape.block_bytes, plan->block_bytes, sizeof(shape.block_bytes));
        return shape;
}

int standing_note_plan(Standing *standing, const Plan *plan) {
        for (uint32_t i = 0; i < standing->n_phases; i++)
                standing->phases[i].shape = shape_of(&plan->phases[i]);
        return standing_make_histories(standing);
}

int standing_make_histories(Standing *standing) {
        _cleanup_free_ uint32_t *n_shares = calloc(standing->n_phases, sizeof(*n_shares));

        if (!n_shares)
                return -ENOMEM;
        for (uint32_t i = 0; i < standing->n_phases; i++)
                n_shares[i] = MIN(standing->phases[i].shape.workers, (uint32_t) JOB_WORKERS_MAX);
        histories_free(standing->histories);
        standing->histories = histories_new(n_shares, standing->n_phases);
        return standing->histories ? 0 : -ENOMEM;
}

/* Below it all had completed, as far as the samples tell. */
static uint64_t known_end(const Standing *standing, uint32_t phase, uint32_t share) {
        const Positions *positions = &standing->phases[phase].positions;
        bool is_whole = phase < standing->phase || standing->drained;

        if (share >= positions->n)
                return 0;
        return is_whole ? positions->of[share].next_index : positions->of[share].low_index;
}

/* Of phases that nobody reads back it is no matter, and what they did has no ceiling. */
static void lose_cache(const Standing *standing, const Plan *plan) {
        for (uint32_t p = 0; p < standing->n_phases; p++)
                for (uint32_t k = 0; plan->phases[p].is_tracked && k < standing->phases[p].positions.n; k++) {
                        History *history = histories_at(standing->histories, p, k);

                        if (history)
                                history_lose_cache(history, known_end(standing, p, k));
                }
}

/* What the dead worker had read beyond, the next one reads again: it must not count twice. */
static void count_in_order(PhaseStanding *phase) {
        uint64_t bytes = 0;

        for (uint32_t k = 0; k < phase->positions.n; k++) {
                uint64_t share;

                if (__builtin_mul_overflow(phase->positions.of[k].low_index, phase->shape.block_bytes[DIRECTION_READ],
                                           &share) ||
                    __builtin_add_overflow(bytes, share, &bytes))
                        return;
        }
        phase->verified.checked_bytes = MIN(phase->verified.checked_bytes, bytes);
}

/* After the last sample that is known a run may have gone on for so long. */
#define UNKNOWN_NS (10 * NSEC_PER_SEC)

/* At the speed that it had, if it is known. */
static bool may_reach(uint64_t done, uint64_t limit, uint64_t elapsed_ns) {
        if (done == 0 || elapsed_ns == 0)
                return true;
        return (unsigned __int128) done * (elapsed_ns + UNKNOWN_NS) / elapsed_ns >= limit;
}

/* Whether a phase that went on when the last sample was told may have come to its end since. */
static bool may_have_ended(const PhasePlan *phase, const PhaseStanding *standing) {
        uint64_t done_bytes = 0;

        for (uint32_t i = 0; i < standing->positions.n; i++)
                done_bytes += standing->positions.of[i].done_bytes;
        if (phase->runtime_ns > 0 && standing->elapsed_ns + UNKNOWN_NS >= phase->runtime_ns)
                return true;
        if (phase->limit_bytes < UINT64_MAX && may_reach(done_bytes, phase->limit_bytes, standing->elapsed_ns))
                return true;
        if (phase->limit_ios > 0 &&
            may_reach(phase_plan_ios(phase, done_bytes), phase->limit_ios, standing->elapsed_ns))
                return true;
        return phase->steady_hold_ns > 0 || (phase->fio_steady.is_set && phase->fio_steady.duration_ns > 0);
}

uint32_t standing_last_begun(const Standing *standing, const Plan *plan) {
        uint32_t i = standing->phase;

        while (i + 1 < standing->n_phases && may_have_ended(&plan->phases[i], &standing->phases[i]))
                i++;
        return i;
}

static bool order_jumps(const PhasePlan *phase) {
        return rw_mode_is_random(phase->rw) && !phase->random_map;
}

uint64_t standing_jump_to(const History *history, uint64_t first_index, uint64_t ios_max) {
        return first_index < history->ceiling && ios_max < history->ceiling - first_index ? first_index + ios_max :
                                                                                           history->ceiling;
}

static bool has_one_size(const PhasePlan *share) {
        uint64_t smallest = UINT64_MAX, largest = 0;

        for (Direction d = 0; d < N_DIRECTIONS; d++)
                if (rw_mode_uses(share->rw, d)) {
                        smallest = MIN(smallest, share->block_bytes[d]);
                        largest = MAX(largest, block_largest(&share->split[d], share->block_bytes[d]));
                }
        return smallest >= largest;
}

/*
 * An order that does not jump is gone through from its start, by whatever number of processes, as far as limits let;
 * but where it has several sizes, who takes it up knows only about how many I/Os were done, and may do more of them.
 * One that jumps goes on at the same place as long as nobody hears of it, and from there the limits count anew.
 */
static void note_death_in(const Standing *standing, const PhasePlan *phase, uint32_t p, uint32_t k) {
        const Positions *known = &standing->phases[p].positions;
        History *history = histories_at(standing->histories, p, k);
        PhasePlan share;

        phase_plan_share(&share, phase, k);
        uint64_t ios_max = phase_plan_ios_max(&share), reach = MIN(history->ceiling, ios_max);

        if (p == standing->phase && order_jumps(phase)) {
                uint64_t to = standing_jump_to(history, k < known->n ? known->of[k].first_index : 0, ios_max);

                reach = standing_jump_to(history, to, ios_max);
        } else if (p == standing->phase && share.limit_ios > 0 && !has_one_size(&share))
                reach = standing_jump_to(history, k < known->n ? known->of[k].next_index : 0, ios_max);
        history->reach = MAX(history->reach, reach);
}

/* Of phases that cannot have begun nobody needs to be in doubt, but for an earlier death. */
static void note_death(const Standing *standing, const Plan *plan) {
        uint32_t last = standing_last_begun(standing, plan);

        for (uint32_t p = standing->phase; p <= last && p < standing->n_phases; p++)
                for (uint32_t k = 0; k < plan->phases[p].workers; k++)
                        note_death_in(standing, &plan->phases[p], p, k);
}

bool standing_look_back(Standing *standing, const Plan *plan, const char *write_cache) {
        bool has_lost = !standing->same_boot && !(write_cache && strcmp(write_cache, "write through") == 0);

        if (has_lost)
                lose_cache(standing, plan);
        if (!standing->drained)
                note_death(standing, plan);
        if (!standing->drained && standing->phase < standing->n_phases)
                count_in_order(&standing->phases[standing->phase]);
        return has_lost || !standing->drained;
}

void standing_end_histories(Standing *standing, const Plan *plan) {
        for (uint32_t p = 0; p < standing->n_phases && p <= standing->phase; p++)
                for (uint32_t k = 0; plan->phases[p].is_tracked && k < plan->phases[p].workers; k++) {
                        History *history = histories_at(standing->histories, p, k);

                        history->end = known_end(standing, p, k);
                        history->resumed = p < standing->phase ? UINT64_MAX : history->end;
                }
}

/* One that died unheard went on at the same place: it may have come further than the next one will. */
void standing_take_up(Standing *standing, const PhasePlan *phase, Positions *at) {
        const Positions *known = &standing->phases[standing->phase].positions;

        if (!phase->is_tracked || standing->drained || !order_jumps(phase))
                return;

        for (uint32_t k = 0; k < at->n; k++) {
                History *history = histories_at(standing->histories, standing->phase, k);
                Position *position = &at->of[k];
                PhasePlan share;

                phase_plan_share(&share, phase, k);
                uint64_t ios_max = phase_plan_ios_max(&share);
                uint64_t to = standing_jump_to(history, k < known->n ? known->of[k].first_index : 0, ios_max);

                history_add_maybe(history, history->end, to);
                history->resumed = to;
                position->first_index = position->low_index = position->next_index = to;
        }
}

static int check_shape(const PhaseShape *was, const PhaseShape *is, uint32_t index, Error *error) {
        const struct {
                const char *option;
                uint64_t was, is;
        } parts[] = {
                { "numjobs", was->numjobs, is->numjobs },
                { "iodepth", was->iodepth, is->iodepth },
                { "workers", was->workers, is->workers },
                { "bs of reads", was->block_bytes[DIRECTION_READ], is->block_bytes[DIRECTION_READ] },
                { "bs of writes", was->block_bytes[DIRECTION_WRITE], is->block_bytes[DIRECTION_WRITE] },
                { "bs of trims", was->block_bytes[DIRECTION_TRIM], is->block_bytes[DIRECTION_TRIM] },
                { "offset", was->region_offset, is->region_offset },
                { "size", was->region_bytes, is->region_bytes },
        };

        for (size_t i = 0; i < ELEMENTSOF(parts); i++)
                if (parts[i].was != parts[i].is)
                        return error_set(error, ERROR_REFUSED, EPROTO,
                                         "phase %" PRIu32 " of the run has %s=%" PRIu64 ", but its job comes to %"
                                         PRIu64 " now: it counts the machine's CPUs or memory ($ncpus, $mb_memory), or "
                                         "this version of plateau reads it in another way; start it anew",
                                         index, parts[i].option, parts[i].was, parts[i].is);
        if (was->order_hash != 0 && was->order_hash != is->order_hash)
                return error_set(error, ERROR_REFUSED, EPROTO,
                                 "phase %" PRIu32 " of the run does its I/O in another order than its job comes to "
                                 "now: it counts the machine's CPUs or memory ($ncpus, $mb_memory), or this version of "
                                 "plateau reads it in another way; start it anew", index);
        return 0;
}

int standing_check_plan(const Standing *standing, const Plan *plan, Error *error) {
        int r = 0;

        for (uint32_t i = 0; r >= 0 && i < standing->n_phases; i++) {
                PhaseShape is = shape_of(&plan->phases[i]);
                uint32_t n = standing->phases[i].positions.n;

                r = check_shape(&standing->phases[i].shape, &is, i, error);
                if (r >= 0 && n > 0 && n != is.workers)
                        r = error_set(error, ERROR_REFUSED, EPROTO,
                                      "phase %" PRIu32 " of the run has workers=%" PRIu32 ", and where it stood is "
                                      "known of %" PRIu32 ": the database is not as plateau left it; start it anew",
                                      i, is.workers, n);
        }
        return r;
}

uint64_t standing_next_write(const Standing *standing) {
        uint64_t next = 0;

        for (uint32_t i = 0; i < standing->n_phases; i++) {
                const Positions *positions = &standing->phases[i].positions;

                for (uint32_t k = 0; k < positions->n; k++)
                        next = MAX(next, positions->of[k].next_write);
        }
        return next;
}

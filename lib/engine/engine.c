/* SPDX-License-Identifier: MIT */

/*
 * The engine owns what all slices share (buffers, payload) and speaks for them: what it tells is the sum or the extreme
 * of what they tell. The rest of the house only knows the engine, so how many there are concerns nobody.
 *
 * A plan's phases may differ in how many ring threads they have. There are as many as the phase with the most of them
 * needs; the others are parked meanwhile.
 */

#include "engine/engine.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "engine/slice.h"
#include "spec/share.h"
#include "util/macro.h"

/* A time that each slice adds up, as that of the engine: between two looks, of the slice in which it grew most. */
typedef struct Longest {
        uint64_t ns;
        uint64_t seen_ns[JOB_WORKERS_MAX]; /* of each slice, at the last look */
} Longest;

struct Engine {
        const Plan *plan;
        Buffers buffers;
        Payload *payload;
        Allowance allowance; /* if the plan has a limit */
        Pool pool;
        unsigned n_slices;
        Slice **slices;
        Replay replay;
        Verifier *verifier; /* NULL: no phase is checked */
        uint32_t n_checking; /* slices that check, in some phase */
        unsigned phase;
        History told[JOB_WORKERS_MAX]; /* of each share of the phase, at the last look */
        unsigned n_active; /* those that the phase is for, or the last one was */
        Longest awake, held, cpu;
        int event_fd;
};

static uint32_t deepest_share(const Plan *plan, unsigned number) {
        uint32_t depth = 1;

        for (size_t i = 0; i < plan->n_phases; i++) {
                const PhasePlan *phase = &plan->phases[i];

                if (number < phase->workers)
                        depth = MAX(depth, phase_plan_slots_before(phase, number + 1) -
                                           phase_plan_slots_before(phase, number));
        }
        return depth;
}

static int new_slice(Engine *engine, const EngineConfig *config, unsigned number, Error *error) {
        uint64_t n = engine->n_slices;

        /* A write's number tells its slice: the remainder. */
        return slice_new(&engine->slices[number], &(SliceConfig){
                .ring_kind = config->ring_kind,
                .fd = config->fd,
                .depth = deepest_share(config->plan, number),
                .buffers = &engine->buffers,
                .payload = engine->payload,
                .allowance = engine->plan->stop_written_max > 0 ? &engine->allowance : NULL,
                .pool = &engine->pool,
                .first_write = (config->first_write + n - 1) / n * n + number,
                .write_step = n,
                .event_fd = engine->event_fd,
                .number = number,
                .tracks = config->plan->granule_bytes > 0,
                .checks = number < engine->n_checking,
                .verifier = engine->verifier,
                .replay = &engine->replay,
                .team = engine->slices,
                .n_team = engine->n_slices,
        }, error);
}

/* What verifies, if the plan does. */
static int new_verifier(Engine *engine, const EngineConfig *config, Error *error) {
        engine->replay = (Replay){
                .plan = config->plan, .histories = config->histories, .payload = engine->payload,
        };
        if (config->plan->granule_bytes > 0 && !config->histories)
                return error_set(error, ERROR_FAILED, EINVAL, "what was written before is not known");
        for (size_t i = 0; i < config->plan->n_phases; i++)
                if (config->plan->phases[i].is_checked)
                        engine->n_checking = MAX(engine->n_checking, config->plan->phases[i].workers);
        return engine->n_checking > 0 ? verifier_new(&engine->verifier, &engine->replay, error) : 0;
}

int engine_new(Engine **ret, const EngineConfig *config, Error *error) {
        _cleanup_engine_ Engine *engine = calloc(1, sizeof *engine);
        int r;

        if (!engine)
                return error_set(error, ERROR_FAILED, ENOMEM, "not enough memory for the engine");

        engine->plan = config->plan;
        engine->allowance.left_bytes =
                config->plan->stop_written_max - MIN(config->plan->stop_written_max, config->written_bytes);
        engine->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (engine->event_fd < 0)
                return error_set(error, ERROR_FAILED, errno, "cannot make an event descriptor: %s", strerror(errno));

        engine->n_slices = plan_workers_max(config->plan);
        engine->slices = calloc(engine->n_slices, sizeof *engine->slices);
        r = payload_new(&engine->payload, config->run_tag);
        if (r < 0 || !engine->slices)
                return error_set(error, ERROR_FAILED, ENOMEM, "not enough memory for the engine");

        r = buffers_map(&engine->buffers, config->plan, error);
        if (r >= 0)
                r = new_verifier(engine, config, error);
        for (unsigned i = 0; r >= 0 && i < engine->n_slices; i++)
                r = new_slice(engine, config, i, error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(engine);
        return 0;
}

Engine *engine_free(Engine *engine) {
        unsigned n = engine && engine->slices ? engine->n_slices : 0;

        if (!engine)
                return NULL;

        /* Together: each waits for what its drive has not answered yet. */
        for (unsigned i = 0; i < n; i++)
                if (engine->slices[i])
                        slice_exit(engine->slices[i]);
        for (unsigned i = 0; i < n; i++)
                if (engine->slices[i])
                        slice_join(engine->slices[i]);
        for (unsigned i = 0; i < n; i++)
                slice_free(engine->slices[i]);
        free(engine->slices);
        verifier_free(engine->verifier);
        payload_free(engine->payload);
        buffers_unmap(&engine->buffers);
        fd_close(engine->event_fd);
        free(engine);
        return NULL;
}

int engine_event_fd(const Engine *engine) {
        return engine->event_fd;
}

/* That of the one that does most: one that runs, else one that drains, else one that is paused. */
EngineState engine_state(const Engine *engine) {
        static const unsigned ranks[] = {
                [ENGINE_IDLE] = 0,
                [ENGINE_PAUSED] = 1,
                [ENGINE_DRAINING] = 2,
                [ENGINE_RUNNING] = 3,
        };
        EngineState most = ENGINE_IDLE;

        for (unsigned i = 0; i < engine->n_slices; i++) {
                EngineState state = slice_state(engine->slices[i]);

                if (ranks[state] > ranks[most])
                        most = state;
        }
        return most;
}

int engine_take_up_phase(Engine *engine, unsigned index, const Positions *at, uint64_t running_ns) {
        if (index >= engine->plan->n_phases)
                return -EINVAL;

        const PhasePlan *phase = &engine->plan->phases[index];

        for (unsigned i = 0; i < engine->n_slices; i++) {
                int r = slice_ready(engine->slices[i]);
                if (r < 0)
                        return r;
        }
        if (engine->verifier)
                verifier_stop(engine->verifier);
        engine->phase = index;
        engine->n_active = phase->workers;
        pool_begin(&engine->pool, phase, at);
        for (unsigned i = 0; i < engine->n_active; i++) {
                const History *history = phase->is_tracked ? histories_at(engine->replay.histories, index, i) : NULL;
                PhasePlan share;

                engine->told[i] = (History){}; /* where it goes on, maybes have come that nobody else knows yet */
                phase_plan_share(&share, phase, i);
                slice_prepare(engine->slices[i], index, &share, history, phase_plan_slots_before(phase, i), &at->of[i],
                              running_ns);
        }
        if (phase->is_checked)
                verifier_begin(engine->verifier, index);
        for (unsigned i = 0; i < engine->n_active; i++)
                slice_go(engine->slices[i]);
        return 0;
}

int engine_start_phase(Engine *engine, unsigned index) {
        return engine_take_up_phase(engine, index, &(Positions){}, 0);
}

void engine_pause(Engine *engine) {
        for (unsigned i = 0; i < engine->n_slices; i++)
                slice_pause(engine->slices[i]);
}

void engine_resume(Engine *engine) {
        for (unsigned i = 0; i < engine->n_slices; i++)
                slice_resume(engine->slices[i]);
}

void engine_stop_phase(Engine *engine) {
        for (unsigned i = 0; i < engine->n_slices; i++)
                slice_stop(engine->slices[i]);
}

uint64_t engine_phase_running_ns(const Engine *engine) {
        uint64_t longest_ns = 0;

        for (unsigned i = 0; i < engine->n_active; i++)
                longest_ns = MAX(longest_ns, slice_running_ns(engine->slices[i]));
        return longest_ns;
}

void engine_beat(Engine *engine, uint64_t awake_ns) {
        for (unsigned i = 0; i < engine->n_slices; i++)
                slice_beat(engine->slices[i], awake_ns);
}

static uint64_t longest_look(Longest *longest, const Engine *engine, uint64_t (*get)(const Slice *slice)) {
        uint64_t most_ns = 0;

        for (unsigned i = 0; i < engine->n_slices; i++) {
                uint64_t ns = get(engine->slices[i]);

                most_ns = MAX(most_ns, ns - longest->seen_ns[i]);
                longest->seen_ns[i] = ns;
        }
        longest->ns += most_ns;
        return longest->ns;
}

uint64_t engine_awake_ns(Engine *engine) {
        return longest_look(&engine->awake, engine, slice_awake_ns);
}

uint64_t engine_held_ns(Engine *engine) {
        return longest_look(&engine->held, engine, slice_held_ns);
}

uint64_t engine_cpu_ns(Engine *engine) {
        return longest_look(&engine->cpu, engine, slice_cpu_ns);
}

void engine_counters(Engine *engine, Counters *ret) {
        memset(ret, 0, sizeof *ret);
        for (unsigned i = 0; i < engine->n_active; i++) {
                Tally *tally = slice_tally(engine->slices[i]);

                tally_collect(tally);
                tally_add_totals(tally, ret);
        }
}

void engine_in_flight(const Engine *engine, uint32_t *ret_n, uint64_t *ret_oldest_ns) {
        uint32_t n = 0;
        uint64_t oldest_ns = 0;

        for (unsigned i = 0; i < engine->n_active; i++) {
                uint32_t n_of_slice;
                uint64_t oldest_of_slice_ns;

                slice_in_flight(engine->slices[i], &n_of_slice, &oldest_of_slice_ns);
                n += n_of_slice;
                oldest_ns = MAX(oldest_ns, oldest_of_slice_ns);
        }
        *ret_n = n;
        *ret_oldest_ns = oldest_ns;
}

void engine_positions(Engine *engine, Positions *ret) {
        ret->n = engine->n_active;
        for (unsigned i = 0; i < engine->n_active; i++)
                slice_position(engine->slices[i], &ret->of[i]);
}

static bool is_same(const History *a, const History *b) {
        return a->ceiling == b->ceiling && a->reach == b->reach && a->flushed == b->flushed &&
               a->n_maybes == b->n_maybes && memcmp(a->maybes, b->maybes, a->n_maybes * sizeof(a->maybes[0])) == 0;
}

bool engine_history(Engine *engine, uint32_t share, History *ret) {
        History *told = &engine->told[share], *own = histories_at(engine->replay.histories, engine->phase, share);
        Position at;

        slice_history(engine->slices[share], &at, own);
        own->end = at.low_index;
        if (at.next_index + HISTORY_RESERVE / 2 > own->ceiling)
                own->ceiling = at.next_index + HISTORY_RESERVE;
        *ret = *own;
        bool changed = !is_same(own, told);
        *told = *own;
        return changed;
}

void engine_allow(Engine *engine, uint32_t phase, uint32_t share, uint64_t ceiling) {
        if (phase == engine->phase && share < engine->n_active)
                slice_allow(engine->slices[share], ceiling);
}

void engine_verification(const Engine *engine, Verification *ret) {
        *ret = (Verification){};
        for (unsigned i = 0; i < engine->n_active; i++) {
                Verification of_slice;

                check_result(slice_check(engine->slices[i]), &of_slice);
                ret->checked_bytes += of_slice.checked_bytes;
                for (unsigned k = 0; k < N_MISMATCHES; k++)
                        ret->n_blocks[k] += of_slice.n_blocks[k];
        }
}

const CheckFinding *engine_findings(const Engine *engine, uint32_t share, unsigned *ret_n) {
        return check_findings(slice_check(engine->slices[share]), ret_n);
}

unsigned engine_errnos(Engine *engine, EngineErrno ret[static ENGINE_N_ERRNOS_MAX]) {
        unsigned n = 0;

        for (unsigned i = 0; i < engine->n_slices; i++) {
                Tally *tally = slice_tally(engine->slices[i]);

                tally_collect(tally);
                tally_add_errnos(tally, ret, &n);
        }
        return n;
}

EngineFailure engine_failure(const Engine *engine) {
        EngineFailure failure = {};

        for (unsigned i = 0; failure.errnum == 0 && i < engine->n_active; i++)
                failure = slice_failure(engine->slices[i]);
        return failure;
}

bool engine_has_written_all(const Engine *engine, uint64_t *ret_bytes) {
        uint64_t most = engine->plan->stop_written_max;

        if (most == 0 || !allowance_is_spent(&engine->allowance))
                return false;
        *ret_bytes = most - atomic_load_explicit(&engine->allowance.left_bytes, memory_order_relaxed);
        return true;
}

int engine_ring_error(const Engine *engine) {
        int r = 0;

        for (unsigned i = 0; r >= 0 && i < engine->n_slices; i++)
                r = slice_ring_error(engine->slices[i]);
        return r;
}

/* SPDX-License-Identifier: MIT */

/*
 * The engine owns what all slices share (buffers, payload) and speaks for them. There is one slice now; the rest of
 * the house only knows the engine, so that more of them concern nobody.
 */

#include "engine/engine.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "engine/slice.h"
#include "util/macro.h"

struct Engine {
        const Plan *plan;
        Buffers buffers;
        Payload *payload;
        Slice *slice;
        int event_fd;
};

static uint32_t deepest(const Plan *plan) {
        uint32_t depth = 1;

        for (size_t i = 0; i < plan->n_phases; i++)
                depth = MAX(depth, plan->phases[i].iodepth * plan->phases[i].numjobs);
        return depth;
}

int engine_new(Engine **ret, const EngineConfig *config, Error *error) {
        _cleanup_engine_ Engine *engine = calloc(1, sizeof *engine);
        int r;

        if (!engine)
                return error_set(error, ERROR_FAILED, ENOMEM, "not enough memory for the engine");

        engine->plan = config->plan;
        engine->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (engine->event_fd < 0)
                return error_set(error, ERROR_FAILED, errno, "cannot make an event descriptor: %s", strerror(errno));

        r = payload_new(&engine->payload, config->run_tag);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "not enough memory for the payload");

        r = buffers_map(&engine->buffers, config->plan, error);
        if (r < 0)
                return r;

        r = slice_new(&engine->slice, &(SliceConfig){
                .ring_kind = config->ring_kind,
                .fd = config->fd,
                .depth = deepest(config->plan),
                .buffers = &engine->buffers,
                .payload = engine->payload,
                .first_write = config->first_index,
                .event_fd = engine->event_fd,
        }, error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(engine);
        return 0;
}

Engine *engine_free(Engine *engine) {
        if (!engine)
                return NULL;

        slice_free(engine->slice);
        payload_free(engine->payload);
        buffers_unmap(&engine->buffers);
        fd_close(engine->event_fd);
        free(engine);
        return NULL;
}

int engine_event_fd(const Engine *engine) {
        return engine->event_fd;
}

EngineState engine_state(const Engine *engine) {
        return slice_state(engine->slice);
}

int engine_take_up_phase(Engine *engine, unsigned index, const Position *at, uint64_t running_ns) {
        if (index >= engine->plan->n_phases)
                return -EINVAL;
        return slice_start(engine->slice, &engine->plan->phases[index], at, running_ns);
}

int engine_start_phase(Engine *engine, unsigned index) {
        return engine_take_up_phase(engine, index, &(Position){}, 0);
}

void engine_pause(Engine *engine) {
        slice_pause(engine->slice);
}

void engine_resume(Engine *engine) {
        slice_resume(engine->slice);
}

void engine_stop_phase(Engine *engine) {
        slice_stop(engine->slice);
}

uint64_t engine_phase_running_ns(const Engine *engine) {
        return slice_running_ns(engine->slice);
}

void engine_beat(Engine *engine, uint64_t awake_ns) {
        slice_beat(engine->slice, awake_ns);
}

uint64_t engine_awake_ns(const Engine *engine) {
        return slice_awake_ns(engine->slice);
}

void engine_counters(Engine *engine, Counters *ret) {
        Tally *tally = slice_tally(engine->slice);

        tally_collect(tally);
        *ret = tally->totals;
}

void engine_in_flight(const Engine *engine, uint32_t *ret_n, uint64_t *ret_oldest_ns) {
        slice_in_flight(engine->slice, ret_n, ret_oldest_ns);
}

void engine_position(Engine *engine, Position *ret) {
        slice_position(engine->slice, ret);
}

unsigned engine_errnos(Engine *engine, EngineErrno ret[static ENGINE_N_ERRNOS_MAX]) {
        Tally *tally = slice_tally(engine->slice);

        tally_collect(tally);
        memcpy(ret, tally->errnos, tally->n_errnos * sizeof *ret);
        return tally->n_errnos;
}

EngineFailure engine_failure(const Engine *engine) {
        return slice_failure(engine->slice);
}

uint64_t engine_buffer_bytes(const Engine *engine) {
        return engine->buffers.n_bytes;
}

int engine_ring_error(const Engine *engine) {
        return slice_ring_error(engine->slice);
}

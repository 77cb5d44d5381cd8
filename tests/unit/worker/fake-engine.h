/* SPDX-License-Identifier: MIT */
#pragma once

/* The engine as the driver's tests play it. */

#include <string.h>
#include <sys/eventfd.h>

#include "engine/engine.h"
#include "unit.h"

struct Engine {
        int event_fd;
        EngineState state;
        int ring_error;
        uint64_t n_writes, n_errors;
        uint32_t in_flight;
        uint64_t oldest_ns;
        EngineFailure failure;
        bool has_written_all;
        uint64_t written_bytes; /* by the run, if it has */
        Positions positions;
        uint64_t taken_up_ns; /* running time that the phase had when it was taken up */
        History history;         /* of each share; told when has_history */
        bool has_history;
        uint64_t allowed;        /* the ceiling that was */
        Verification verification;
        CheckFinding findings[2];
        unsigned n_findings;
        EngineErrno errnos[2];
        unsigned n_errnos;

        /* What happens when it is told something; by default it does it at once. */
        void (*on_start)(unsigned index);
        void (*on_pause)(void);
        void (*on_resume)(void);
        void (*on_stop)(void);
        void (*on_counters)(void);
        void (*on_look)(void); /* for what is in flight */
};

static struct Engine engine;

static void engine_becomes(EngineState state) {
        engine.state = state;
        ck_assert_int_eq(eventfd_write(engine.event_fd, 1), 0);
}

int engine_event_fd(const Engine *e) {
        return e->event_fd;
}

EngineState engine_state(const Engine *e) {
        return e->state;
}

int engine_start_phase(Engine *e, unsigned index) {
        e->n_writes = 0;
        engine_becomes(ENGINE_RUNNING);
        e->on_start(index);
        return 0;
}

int engine_take_up_phase(Engine *e, unsigned index, const Positions *at, uint64_t running_ns) {
        e->positions = *at;
        e->taken_up_ns = running_ns;
        return engine_start_phase(e, index);
}

void engine_positions(Engine *e, Positions *ret) {
        *ret = e->positions;
}

void engine_pause(Engine *e) {
        if (e->on_pause)
                e->on_pause();
        else
                engine_becomes(ENGINE_PAUSED);
}

void engine_resume(Engine *e) {
        if (e->on_resume)
                e->on_resume();
        else
                engine_becomes(ENGINE_RUNNING);
}

void engine_stop_phase(Engine *e) {
        if (e->on_stop)
                e->on_stop();
        else
                engine_becomes(ENGINE_IDLE);
}

void engine_counters(Engine *e, Counters *ret) {
        if (e->on_counters)
                e->on_counters();
        memset(ret, 0, sizeof(*ret));
        ret->ios[DIRECTION_WRITE] = ret->latency[DIRECTION_WRITE].buckets[1] = e->n_writes;
        ret->errors = e->n_errors;
}

void engine_in_flight(const Engine *e, uint32_t *ret_n, uint64_t *ret_oldest_ns) {
        *ret_n = e->in_flight;
        *ret_oldest_ns = e->oldest_ns;
        if (e->on_look)
                e->on_look();
}

unsigned engine_errnos(Engine *e, EngineErrno ret[static ENGINE_N_ERRNOS_MAX]) {
        memcpy(ret, e->errnos, sizeof(e->errnos));
        return e->n_errnos;
}

int engine_ring_error(const Engine *e) {
        return e->ring_error;
}

static uint64_t beaten_ns;

void engine_beat(Engine *e, uint64_t awake_ns) {
        beaten_ns = awake_ns;
}

uint64_t engine_cpu_ns(Engine *e) {
        return 0;
}

uint64_t engine_held_ns(Engine *e) {
        return 0;
}

uint64_t engine_awake_ns(Engine *e) {
        return 0; /* the worst: so only its own thread tells the driver that it ran */
}

bool engine_history(Engine *e, uint32_t share, History *ret) {
        bool has_history = e->has_history;

        *ret = e->history;
        e->has_history = false;
        return has_history;
}

void engine_allow(Engine *e, uint32_t phase, uint32_t share, uint64_t ceiling) {
        e->allowed = ceiling;
}

void engine_verification(const Engine *e, Verification *ret) {
        *ret = e->verification;
}

const CheckFinding *engine_findings(const Engine *e, uint32_t share, unsigned *ret_n) {
        *ret_n = e->n_findings;
        return e->findings;
}

bool engine_has_written_all(const Engine *e, uint64_t *ret_bytes) {
        if (e->has_written_all)
                *ret_bytes = e->written_bytes;
        return e->has_written_all;
}

EngineFailure engine_failure(const Engine *e) {
        return e->failure;
}

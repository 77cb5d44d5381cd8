/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Cuts the running time of a run into samples. Running time is the sum of the samples' durations:
 * it stands still between phases and in pauses, and no sample spans either. The grid of a phase is its start
 * plus whole intervals of running time; what ends off the grid (a phase, a pause, a late tick) makes a shorter or
 * a longer sample, and the next one ends on the grid again. A while in which the process did not run at all is no
 * running time, and ends the sample in which it began. A phase of fixed runtime drains just after a tick: its last
 * sample waits for that, so that no crumb of a millisecond follows it.
 */

#include "engine/engine.h"
#include "sample/sample.h"
#include "worker/host-cpu.h"

typedef struct Sampler {
        Engine *engine; /* borrowed */
        uint64_t interval_ns;
        HostCpu cpu;
        uint64_t worker_cpu_ns, ring_cpu_ns, held_ns; /* taken up to since_ns */

        uint64_t seq;           /* of the next sample */
        uint32_t phase;
        uint64_t elapsed_ns;    /* running time of the run up to since_ns */
        uint64_t in_phase_ns;   /* of the phase */
        uint64_t taken_up_ns;   /* of the phase that begins next, before it was interrupted */
        uint64_t runtime_ns;    /* of the phase, as planned; 0: none */
        bool running;
        uint64_t since_ns;      /* monotonic: where the sample under way began, while running */

        uint64_t overslept_ns;    /* since then the owner was not awake for so long, */
        uint64_t awake_before_ns; /* and the engine had been awake for so long */
        uint64_t asleep_ns;       /* left out of the newest sample, since nobody was awake */

        Counters counters[2];   /* as of since_ns, and the ones being taken */
        unsigned before;        /* index of the former */
        Sample sample;
} Sampler;

/* Opens what it needs for the whole run. The struct is large: it lives on the heap. */
void sampler_init(Sampler *ret, Engine *engine, uint64_t interval_ns);
void sampler_done(Sampler *sampler);

/* Before the first phase of a run that is taken up: numbers and times go on from here. */
void sampler_take_up(Sampler *sampler, uint64_t seq, uint64_t elapsed_ns, uint64_t in_phase_ns);

/*
 * now_ns: monotonic, from before the engine starts or resumes, so that no completion precedes its sample.
 * runtime_ns: after which the phase will drain; 0 if it ends otherwise.
 */
void sampler_begin_phase(Sampler *sampler, uint32_t phase, uint64_t runtime_ns, uint64_t now_ns);
void sampler_resume(Sampler *sampler, uint64_t now_ns);
void sampler_suspend(Sampler *sampler);

/* The owner's thread was not awake for so long (engine/engine.h). */
void sampler_overslept(Sampler *sampler, uint64_t ns);

/*
 * Ends the sample under way. NULL if none is, or if it is nothing at all: no time and no counts. Valid until the
 * next call.
 */
const Sample *sampler_take(Sampler *sampler, uint64_t now_ns);

/* Running time of the run at that moment, the sample under way included. */
uint64_t sampler_elapsed_ns(const Sampler *sampler, uint64_t now_ns);

/* Monotonic: when the sample under way is to end, unless the phase or a pause ends it before. Only while running. */
uint64_t sampler_deadline_ns(const Sampler *sampler);

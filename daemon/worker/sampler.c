/* SPDX-License-Identifier: MIT */

#include "worker/sampler.h"

#include <math.h>
#include <string.h>

#include "util/macro.h"
#include "util/time.h"

/*
 * The threads know to within a turn when they fell asleep. What completed just before did so in some time: with none at
 * all the row would tell of any speed.
 */
#define AWAKE_NS_MIN (100 * NSEC_PER_MSEC)

void sampler_init(Sampler *ret, Engine *engine, uint64_t interval_ns) {
        memset(ret, 0, sizeof(*ret));
        ret->engine = engine;
        ret->interval_ns = interval_ns;
        host_cpu_init(&ret->cpu);
}

void sampler_done(Sampler *sampler) {
        host_cpu_done(&sampler->cpu);
}

void sampler_take_up(Sampler *sampler, uint64_t seq, uint64_t elapsed_ns, uint64_t in_phase_ns) {
        sampler->seq = seq;
        sampler->elapsed_ns = elapsed_ns;
        sampler->taken_up_ns = in_phase_ns;
}

void sampler_begin_phase(Sampler *sampler, uint32_t phase, uint64_t runtime_ns, uint64_t now_ns) {
        sampler->phase = phase;
        sampler->runtime_ns = runtime_ns;
        sampler->in_phase_ns = sampler->taken_up_ns;
        sampler->taken_up_ns = 0;
        memset(&sampler->counters[sampler->before], 0, sizeof(sampler->counters[0]));
        sampler_resume(sampler, now_ns);
}

/* Of one thread over a span; several make more than 100. */
static double own_percent(uint64_t ns, uint64_t span_ns) {
        return span_ns > 0 ? 100.0 * (double) ns / (double) span_ns : NAN;
}

/* What the worker took of the host since the last look, and for how long it had no use for the drive. */
static void sampler_take_own(Sampler *sampler, uint64_t span_ns, Sample *sample) {
        uint64_t worker_ns = time_process_cpu_ns(), ring_ns = engine_cpu_ns(sampler->engine);
        uint64_t held_ns = engine_held_ns(sampler->engine);

        sample->worker_cpu_percent = own_percent(worker_ns - sampler->worker_cpu_ns, span_ns);
        sample->ring_cpu_percent = fmin(own_percent(ring_ns - sampler->ring_cpu_ns, span_ns), 100);
        sample->held_percent = fmin(own_percent(held_ns - sampler->held_ns, span_ns), 100);
        sampler->worker_cpu_ns = worker_ns;
        sampler->ring_cpu_ns = ring_ns;
        sampler->held_ns = held_ns;
}

void sampler_resume(Sampler *sampler, uint64_t now_ns) {
        sampler->since_ns = now_ns;
        sampler->running = true;
        sampler->overslept_ns = 0;
        sampler->awake_before_ns = engine_awake_ns(sampler->engine);
        host_cpu_take_percent(&sampler->cpu);
        sampler_take_own(sampler, 0, &sampler->sample);
}

void sampler_suspend(Sampler *sampler) {
        sampler->running = false;
}

void sampler_overslept(Sampler *sampler, uint64_t ns) {
        sampler->overslept_ns += ns;
}

/* Of the sample under way. Only what both threads slept through: each alone may have been held up by the device. */
static uint64_t sampler_take_asleep(Sampler *sampler, uint64_t span_ns) {
        uint64_t awake_ns = engine_awake_ns(sampler->engine);
        uint64_t engine_was_awake_ns = MAX(awake_ns - sampler->awake_before_ns, AWAKE_NS_MIN);
        uint64_t engine_overslept_ns = span_ns - MIN(span_ns, engine_was_awake_ns);
        uint64_t asleep_ns = MIN(sampler->overslept_ns, engine_overslept_ns);

        sampler->awake_before_ns = awake_ns;
        sampler->overslept_ns = 0;
        return asleep_ns >= ENGINE_ASLEEP_NS_MIN ? asleep_ns : 0;
}

static bool sample_is_nothing(const Sample *sample) {
        uint64_t n = sample->errors;

        for (unsigned d = 0; d < N_DIRECTIONS; d++)
                n |= sample->ios[d];
        return n == 0 && sample->duration_ns == 0;
}

const Sample *sampler_take(Sampler *sampler, uint64_t now_ns) {
        if (!sampler->running)
                return NULL;

        unsigned now = 1 - sampler->before;
        uint64_t span_ns = now_ns - sampler->since_ns;
        sampler->asleep_ns = sampler_take_asleep(sampler, span_ns);
        uint64_t duration_ns = span_ns - sampler->asleep_ns;

        /* In this order: what completes in between is counted, and at worst repeated after a crash, but never lost. */
        Positions positions;
        engine_positions(sampler->engine, &positions);
        engine_counters(sampler->engine, &sampler->counters[now]);

        Sample *sample = &sampler->sample;
        *sample = (Sample) {
                .seq = sampler->seq,
                .phase = sampler->phase,
                .at_ns = time_realtime_ns(),
                .elapsed_ns = sampler->elapsed_ns + duration_ns,
                .duration_ns = duration_ns,
                .cpu_percent = host_cpu_take_percent(&sampler->cpu),
                .temperature_c = NAN,
        };
        sampler_take_own(sampler, span_ns, sample);
        sample_set_difference(sample, &sampler->counters[now], &sampler->counters[sampler->before]);
        engine_in_flight(sampler->engine, &sample->in_flight, &sample->oldest_ns);
        sample->boot_ns = time_boottime_ns();
        sample->positions = positions;
        if (sample_is_nothing(sample))
                return NULL;

        sampler->seq++;
        sampler->elapsed_ns = sample->elapsed_ns;
        sampler->in_phase_ns += sample->duration_ns;
        sampler->since_ns = now_ns;
        sampler->before = now;
        return sample;
}

uint64_t sampler_elapsed_ns(const Sampler *sampler, uint64_t now_ns) {
        return sampler->elapsed_ns + (sampler->running ? now_ns - sampler->since_ns : 0);
}

uint64_t sampler_deadline_ns(const Sampler *sampler) {
        uint64_t left_ns = sampler->interval_ns - sampler->in_phase_ns % sampler->interval_ns;
        uint64_t grid_ns = sampler->in_phase_ns + left_ns;

        /* A device that does not drain in time is sampled all the same. */
        if (sampler->in_phase_ns < sampler->runtime_ns && grid_ns + sampler->interval_ns / 10 >= sampler->runtime_ns)
                left_ns += sampler->interval_ns / 4;
        return sampler->since_ns + left_ns;
}

/* SPDX-License-Identifier: MIT */

#include "spec/phase-notice.h"

#include "spec/notice.h"
#include "util/time.h"

#define add_notice(job, ...) notices_add(&(job)->notices, &(job)->n_notices, __VA_ARGS__)

static int note_steadystate(Job *job, const JobPhase *phase, unsigned line) {
        const FioSteady *steady = &phase->fio_steady;
        char runtime[TIME_SPAN_MAX], window[TIME_SPAN_MAX];
        uint64_t needed_ns;

        if (!steady->is_set)
                return 0;
        if (steady->duration_ns == 0)
                return add_notice(job, "%s:%u: phase '%s': steadystate has no effect without steadystate_duration",
                                  job->file, line, phase->name);
        if (__builtin_add_overflow(steady->duration_ns, steady->ramp_ns, &needed_ns))
                needed_ns = UINT64_MAX;
        if (phase->runtime_ns == 0 || needed_ns <= phase->runtime_ns)
                return 0;
        return add_notice(job, "%s:%u: phase '%s': steadystate never ends it: its window is full after %s at the "
                          "earliest (steadystate_duration, steadystate_ramp_time), and runtime is %s",
                          job->file, line, phase->name, time_format_span(needed_ns, window),
                          time_format_span(phase->runtime_ns, runtime));
}

/* Whether reads and writes come to their limits at the same time, as they are mixed. */
static bool rates_fit_mix(const JobPhase *phase) {
        const uint64_t *iops = phase->rate_iops, *bytes = phase->rate_bytes;
        bool of_bytes = bytes[DIRECTION_READ] > 0 || bytes[DIRECTION_WRITE] > 0;
        const uint64_t *rates = of_bytes ? bytes : iops;
        uint64_t each[] = { SPLIT_WHOLE, SPLIT_WHOLE };

        for (Direction d = DIRECTION_READ; of_bytes && d <= DIRECTION_WRITE; d++)
                each[d] = block_hundred(&phase->split[d], phase->block_bytes[d]);
        return (unsigned __int128) rates[DIRECTION_READ] * ((100 - phase->read_percent) * each[DIRECTION_WRITE]) ==
               (unsigned __int128) rates[DIRECTION_WRITE] * (phase->read_percent * each[DIRECTION_READ]);
}

static int note_rates(Job *job, const JobPhase *phase, unsigned line) {
        if (!rw_mode_writes(phase->rw) || phase->read_percent == 0 || phase->read_percent == 100 ||
            rates_fit_mix(phase))
                return 0;
        return add_notice(job,
                          "%s:%u: phase '%s': reads and writes stay mixed as rwmixread says whatever their rates, "
                          "unlike in fio: the direction that comes to its limit holds up the other",
                          job->file, line, phase->name);
}

int phase_note(Job *job, const JobPhase *phase, unsigned line) {
        bool writes = rw_mode_writes(phase->rw) && phase->read_percent < 100;

        int r = note_steadystate(job, phase, line);
        if (r >= 0)
                r = note_rates(job, phase, line);
        if (r >= 0 && rw_mode_trims(phase->rw) && (uint64_t) phase->iodepth * phase->numjobs > 1)
                r = add_notice(job,
                               "%s:%u: phase '%s': each of workers trims one block at a time, whatever iodepth and "
                               "numjobs say: the kernel is asked for each by a call that waits for it",
                               job->file, line, phase->name);
        if (r >= 0 && phase->content.is_zero && writes)
                r = add_notice(job,
                               "%s:%u: phase '%s': zeros are written, without a stamp: a drive may not store them at "
                               "all, and after an interruption they cannot prove that the drive is still the run's",
                               job->file, line, phase->name);
        if (r >= 0 && phase->action == PHASE_ACTION_IO && phase->time_based && phase->runtime_ns == 0)
                r = add_notice(job, "%s:%u: phase '%s': time_based has no effect without runtime", job->file, line,
                               phase->name);
        return r;
}

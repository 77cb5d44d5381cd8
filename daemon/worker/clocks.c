/* SPDX-License-Identifier: MIT */

#include "worker/clocks.h"

#include "util/macro.h"
#include "util/time.h"

/* The clocks are read one after another, and this thread may lose the CPU in between. */
#define SUSPENDED_NS_MIN (500 * NSEC_PER_MSEC)

/* Less is what a time service corrects in passing. */
#define STEP_NS_MIN ((int64_t) NSEC_PER_SEC)

void clocks_init(Clocks *ret) {
        *ret = (Clocks) {
                .monotonic_ns = time_monotonic_ns(),
                .boottime_ns = time_boottime_ns(),
                .realtime_ns = time_realtime_ns(),
        };
}

static void tell_suspension(const Clocks *before, const Clocks *now, Reporter *reporter, uint64_t elapsed_ns) {
        uint64_t since_boot = now->boottime_ns - before->boottime_ns, awake = now->monotonic_ns - before->monotonic_ns;
        char span[TIME_SPAN_MAX];

        if (since_boot >= awake + SUSPENDED_NS_MIN)
                reporter_event(reporter, OCCURRENCE_OUTAGE, elapsed_ns, "the machine was suspended for %s",
                               time_format_span(since_boot - awake, span));
}

static void tell_step(const Clocks *before, const Clocks *now, Reporter *reporter, uint64_t elapsed_ns) {
        int64_t step_ns = now->realtime_ns - before->realtime_ns - (int64_t) (now->boottime_ns - before->boottime_ns);
        char span[TIME_SPAN_MAX];

        if (step_ns >= STEP_NS_MIN || step_ns <= -STEP_NS_MIN)
                reporter_event(reporter, OCCURRENCE_CLOCK, elapsed_ns, "the wall clock was set %s by %s",
                               step_ns > 0 ? "forward" : "back",
                               time_format_span(step_ns > 0 ? (uint64_t) step_ns : -(uint64_t) step_ns, span));
}

void clocks_look(Clocks *clocks, Reporter *reporter, uint64_t elapsed_ns) {
        Clocks before = *clocks;

        clocks_init(clocks);
        tell_suspension(&before, clocks, reporter, elapsed_ns);
        tell_step(&before, clocks, reporter, elapsed_ns);
}

/* SPDX-License-Identifier: MIT */

#include "worker/reporter.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/time.h"

void reporter_send(Reporter *reporter, const Message *message) {
        if (reporter->error < 0)
                return;

        int r = link_send(reporter->link, message);
        if (r < 0)
                reporter->error = r;
}

void reporter_started(Reporter *reporter) {
        reporter_send(reporter, &(Message) { .type = MESSAGE_STARTED, .started = { .at_ns = time_realtime_ns() } });
}

void reporter_event(Reporter *reporter, Occurrence kind, uint64_t elapsed_ns, const char *format, ...) {
        char detail[512];
        va_list args;

        va_start(args, format);
        vsnprintf(detail, sizeof(detail), format, args);
        va_end(args);
        reporter_send(reporter, &(Message) {
                .type = MESSAGE_EVENT,
                .event = { .kind = kind, .at_ns = time_realtime_ns(), .elapsed_ns = elapsed_ns, .detail = detail },
        });
}

void reporter_phase(Reporter *reporter, uint32_t index, PhaseMark mark) {
        reporter_send(reporter, &(Message) {
                .type = MESSAGE_PHASE,
                .phase = { .index = index, .mark = mark, .at_ns = time_realtime_ns() },
        });
}

void reporter_refused(Reporter *reporter, Refusal why, const Error *error) {
        reporter_send(reporter, &(Message) {
                .type = MESSAGE_REFUSED,
                .refused = {
                        .why = why,
                        .kind = error->kind == ERROR_NONE ? ERROR_FAILED : error->kind, /* memory ran out */
                        .text = (char *) error_message(error),
                },
        });
}

void reporter_finished(Reporter *reporter, Outcome outcome, const char *detail) {
        reporter_send(reporter, &(Message) {
                .type = MESSAGE_FINISHED,
                .finished = { .outcome = outcome, .detail = (char *) detail },
        });
}

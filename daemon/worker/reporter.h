/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The worker's voice. Once a message could not be delivered nobody listens any more (the service is gone, or has
 * not read for hours): the first failure sticks, and the rest is silence.
 */

#include "wire/link.h"

typedef struct Reporter {
        Link *link; /* borrowed */
        int error;  /* 0, or why nobody listens */
} Reporter;

void reporter_send(Reporter *reporter, const Message *message);
void reporter_started(Reporter *reporter);
void reporter_event(Reporter *reporter, Occurrence kind, uint64_t elapsed_ns, const char *format, ...) _printf_(4, 5);
void reporter_phase(Reporter *reporter, uint32_t index, PhaseMark mark);
void reporter_refused(Reporter *reporter, Refusal why, const Error *error);
void reporter_finished(Reporter *reporter, Outcome outcome, const char *detail);

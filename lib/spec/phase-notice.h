/* SPDX-License-Identifier: MIT */
#pragma once

/* What is to be remarked of a phase that is as its writer said, and may not do what its writer thinks. */

#include "spec/job.h"

/* Adds to the job's notices. line: of the phase's header. -ENOMEM. */
int phase_note(Job *job, const JobPhase *phase, unsigned line);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Setters of the option table (spec/option.h): what the I/O of a phase looks like, beyond direction and one size. */

#include "spec/option.h"

int set_bssplit(const JobOption *option, const char *value, PhaseDraft *draft, Job *job);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Setters of the option table (spec/option.h): what the I/O of a phase looks like, beyond direction and one size. */

#include "spec/option.h"

/* Rates of reads, writes and trims; field: of an array of uint64_t. */
int set_rate(const JobOption *option, const char *value, PhaseDraft *draft, Job *job);

int set_steadystate(const JobOption *option, const char *value, PhaseDraft *draft, Job *job);
int set_steady_time(const JobOption *option, const char *value, PhaseDraft *draft, Job *job);
int set_random_distribution(const JobOption *option, const char *value, PhaseDraft *draft, Job *job);
int set_compress_percent(const JobOption *option, const char *value, PhaseDraft *draft, Job *job);
int set_dedupe_percent(const JobOption *option, const char *value, PhaseDraft *draft, Job *job);
int set_bssplit(const JobOption *option, const char *value, PhaseDraft *draft, Job *job);

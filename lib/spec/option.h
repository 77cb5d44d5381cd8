/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The one table of what a job file's sections may hold. The reader, its messages and the
 * notices come from it, and a test holds the manual page against it.
 */

#include "spec/job.h"

typedef enum OptionKind {
        OPTION_SETS,      /* changes the phase or the job */
        OPTION_NO_EFFECT, /* accepted for fio's sake, with a notice */
        OPTION_REFUSED,   /* has no place in a job, for a reason that is told */
} OptionKind;

/* What options are set on: a phase, and what has no place in one yet. */
typedef struct PhaseDraft {
        JobPhase phase;
        ValueList block_bytes, depths; /* bs and iodepth as lists; of bs none, if a place in it is empty */
        uint32_t read_percent_mix; /* rwmixread, for when reads and writes mix */
        bool has_norandommap;      /* it was said, so nobody relies on the default */
} PhaseDraft;

typedef struct JobOption JobOption;

/* Sets value (NULL for a bare option) on draft or job. 0, -EINVAL, -ERANGE or -ENOMEM. */
typedef int (*OptionSetter)(const JobOption *option, const char *value, PhaseDraft *draft, Job *job);

struct JobOption {
        const char *name;
        const char *alias; /* fio's other name, or NULL */
        OptionKind kind;
        bool may_be_bare;  /* without "=value" it means 1 */
        bool is_bytes;     /* an amount of bytes */
        bool only_global;  /* concerns the whole job: in [global] */
        bool in_discard, in_idle; /* it means something with these actions, too */
        OptionSetter set;  /* of OPTION_SETS */
        size_t field;      /* offset in PhaseDraft, for the setters that serve several options */
        size_t place;      /* offset in PhaseDraft of the OptionPlace, 0 for none */
        uint64_t min, max; /* bounds, for numbers */
        const char *text;  /* what is expected, or why it has no effect or is refused: "expected %s", "...: %s" */
};

extern const JobOption job_options[];
extern const size_t job_options_n;

/* By name or alias; a name that ends in * in the table stands for all that begin so. NULL if there is none. */
const JobOption *job_option_find(const char *name);

/* The known name or alias nearest to name, or NULL. */
const char *job_option_nearest(const char *name);

/* Is it an option of fio (3.33) that plateau does not have? */
bool job_option_is_fio_only(const char *name);

/* The draft of a phase of which nothing has been said. */
extern const PhaseDraft phase_draft_default;

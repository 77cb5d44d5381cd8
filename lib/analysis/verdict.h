/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What was expected of a drive against what its run showed. Pure. A claim is held against the level that lasts, never
 * the burst; where that is not known yet the answer is inconclusive, unless it can no longer become a pass.
 */

#include "analysis/analysis.h"
#include "run/state.h"
#include "sample/verification.h"
#include "spec/expect.h"

/* In the order from good to bad: the worst criterion decides. */
typedef enum VerdictResult {
        VERDICT_PASS,
        VERDICT_INCONCLUSIVE,
        VERDICT_FAIL,
        N_VERDICT_RESULTS,
} VerdictResult;

const char *verdict_result_name(VerdictResult result); /* "inconclusive" */

/* What a drive is held against whose job expects nothing: garbage collection explains a fall to a fifth, not below. */
#define VERDICT_DEFAULT_FLOOR_RATIO_MIN 0.2
#define VERDICT_DEFAULT_ERRORS_MAX 0

/* After a cliff a drive can be down to half the level that it comes back to, hence twice the level is still open. */
#define VERDICT_TROUGH_RECOVERY 2.0

/* For this long without one I/O at the end a drive is called dead, whatever it did before. */
#define VERDICT_SILENT_S 60.0

typedef struct VerdictInput {
        const Expectations *expectations; /* none set: the default above; errors_max is 0 unless set */
        bool expectations_unknown; /* the job that tells them cannot be read: nothing can be a pass */
        const Analysis *analysis;         /* of the judged phase */
        RunState state;
        const char *end_detail;    /* how the run ended, as its event tells; NULL: nothing is told */
        bool asked_for_none;       /* the phase asked for no I/O in this direction, so that none tells nothing */
        bool read_only;            /* the device became so */
        double bytes_per_io;       /* mean of the judged direction; NaN: nothing completed */
        double limit_iops;         /* what the job allowed itself of it; 0: no limit */
        double host_share;         /* series_host_share() of the phase, */
        double host_share_at_end;  /* and since steady_since_s */
        double iops_with_room;     /* series_level_with_room() since then */
        double fills;              /* what the phase moved in this direction, in capacities; NaN: capacity unknown */
        double latency_p999_ns;    /* of all I/O of the phase; NaN: nothing completed, or only means are known */
        bool latency_is_mean;      /* no percentile is known */
        double temperature_max_c;  /* of the phase; NaN: not recorded */
        bool errors_unknown;       /* nobody recorded them */
        uint64_t errors;           /* of the whole run */
        bool is_verified;          /* something was to be read back and checked, */
        VerifiedShare verified_least; /* and of all phases that were to, this is the least that one of them has */
        uint64_t verify_errors;    /* blocks of the whole run that were not what was written */
} VerdictInput;

typedef struct VerdictReason {
        int which;          /* Expectation, or -1: how the run went, with expected and measured NaN */
        double expected;    /* in its option's unit */
        double measured;    /* NaN: unknown */
        VerdictResult result;
        const char *text;   /* why; static, but for end_detail of the input */
} VerdictReason;

typedef struct Verdict {
        VerdictResult result;
        bool is_default; /* the job expects nothing */
        size_t n_reasons;
        VerdictReason reasons[N_EXPECTATIONS + 2]; /* and how the run went, and its job */
} Verdict;

void verdict_make(Verdict *ret, const VerdictInput *input);

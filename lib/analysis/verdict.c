/* SPDX-License-Identifier: MIT */

/*
 * Two mistakes are to be avoided: to pass a drive on its burst, and to fail it in the trough after its cliff. So a
 * level is only believed in a steady (or cycling) state. Before that a drive fails only for what it cannot make good
 * any more: it never reached what was claimed, not even fresh; or it is further down than troughs go; or it is below
 * and still falls in a run that was long enough to see one.
 */

#include <math.h>

#include "analysis/verdict.h"

#define FILLS_KNOWN 2.0 /* as for a steady state: a cycle seen before may be that of a cache */

const char *verdict_result_name(VerdictResult result) {
        static const char *const names[N_VERDICT_RESULTS] = {
                [VERDICT_PASS] = "pass",
                [VERDICT_INCONCLUSIVE] = "inconclusive",
                [VERDICT_FAIL] = "fail",
        };
        return (unsigned) result < N_VERDICT_RESULTS ? names[result] : NULL;
}

static void verdict_add(Verdict *v, VerdictReason reason) {
        v->reasons[v->n_reasons++] = reason;
        if (reason.result > v->result)
                v->result = reason.result;
}

static bool level_is_known(const VerdictInput *in) {
        if (in->analysis->steady == STEADY_CYCLING)
                return !(in->fills < FILLS_KNOWN);
        return in->analysis->steady == STEADY_STEADY;
}

static const char *unknown_level_text(const VerdictInput *in) {
        const Analysis *a = in->analysis;

        switch (a->steady) {
        case STEADY_TOO_SHORT:
                return "the run is too short to know: a steady state takes ten minutes and two fills of the device";
        case STEADY_CYCLING:
        case STEADY_NOT_ENOUGH_VOLUME:
                return "too little was moved to know: a steady state takes two fills of the device";
        default:
                break;
        }
        if (a->trend == 0)
                return "no state lasted to the end";
        return a->trend < 0 ? "still falling at the end" : "still rising at the end";
}

/*
 * measured: the level at the end; best: the highest there was; both in the unit of expected. What is not known to last
 * can be told to be missed, never to be kept.
 */
static VerdictReason judge_level(const VerdictInput *in, Expectation which, double expected, double measured,
                                 double best) {
        const Analysis *a = in->analysis;
        VerdictReason reason = { .which = which, .expected = expected, .measured = measured };

        if (isnan(measured)) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = "too little was measured to tell a level";
        } else if (level_is_known(in)) {
                reason.result = measured >= expected ? VERDICT_PASS : VERDICT_FAIL;
                reason.text = a->steady == STEADY_CYCLING ? "the mean over its cycles" : "the level that lasts";
        } else if (a->trend <= 0 && best < expected) {
                reason.result = VERDICT_FAIL;
                reason.text = "never reached, not even in the burst";
        } else if (a->trend <= 0 && measured * VERDICT_TROUGH_RECOVERY < expected) {
                reason.result = VERDICT_FAIL;
                reason.text = "missed already: less than half, which no drive makes good after its cliff";
        } else if (a->trend < 0 && a->steady == STEADY_DRIFTING && measured < expected) {
                reason.result = VERDICT_FAIL;
                reason.text = "missed already, and still falling";
        } else {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = unknown_level_text(in);
        }
        return reason;
}

static VerdictReason judge_errors(const VerdictInput *in, double expected) {
        VerdictReason reason = { .which = EXPECT_ERRORS_MAX, .expected = expected, .measured = (double) in->errors };

        if (reason.measured > expected) {
                reason.result = VERDICT_FAIL;
                reason.text = "of the whole run";
        } else if (run_state_is_final(in->state)) {
                reason.result = VERDICT_PASS;
                reason.text = "of the whole run";
        } else {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = "so far: the run has not ended";
        }
        return reason;
}

/* What gets worse as the drive is worn in: too much is too much, but little in a burst says nothing. */
static VerdictReason judge_worst(const VerdictInput *in, Expectation which, double expected, double measured) {
        VerdictReason reason = { .which = which, .expected = expected, .measured = measured };

        if (isnan(measured)) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = which == EXPECT_TEMPERATURE_MAX ? "no temperature was recorded" : "nothing completed";
        } else if (measured > expected) {
                reason.result = VERDICT_FAIL;
                reason.text = "of the whole phase";
        } else if (level_is_known(in)) {
                reason.result = VERDICT_PASS;
                reason.text = "of the whole phase";
        } else {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = unknown_level_text(in);
        }
        return reason;
}

static VerdictReason judge(const VerdictInput *in, Expectation which, double expected) {
        const Analysis *a = in->analysis;

        switch (which) {
        case EXPECT_CLAIMED_IOPS:
        case EXPECT_STEADY_IOPS_MIN:
                return judge_level(in, which, expected, a->steady_iops, a->burst_iops);
        case EXPECT_CLAIMED_BANDWIDTH:
                return judge_level(in, which, expected, a->steady_iops * in->bytes_per_io,
                                   a->burst_iops * in->bytes_per_io);
        case EXPECT_FLOOR_RATIO_MIN:
                return judge_level(in, which, expected, a->collapse_ratio, 1);
        case EXPECT_ERRORS_MAX:
                return judge_errors(in, expected);
        case EXPECT_LATENCY_P999_MAX:
                return judge_worst(in, which, expected, in->latency_p999_ns);
        case EXPECT_TEMPERATURE_MAX:
        default:
                return judge_worst(in, which, expected, in->temperature_max_c);
        }
}

/* A drive that is gone has failed, whatever was expected; a run that failed for another reason tells nothing good. */
static void judge_run(Verdict *v, const VerdictInput *in) {
        VerdictReason reason = { .which = -1, .expected = NAN, .measured = NAN };

        if (in->state == RUN_LOST) {
                reason.result = VERDICT_FAIL;
                reason.text = "the device went away";
        } else if (in->read_only) {
                reason.result = VERDICT_FAIL;
                reason.text = "the device became read-only";
        } else if (in->state == RUN_FAILED || in->state == RUN_REFUSED) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = "the run did not come to its end";
        } else
                return;
        verdict_add(v, reason);
}

void verdict_make(Verdict *ret, const VerdictInput *in) {
        static const Expectations standard = {
                .is_set = { [EXPECT_FLOOR_RATIO_MIN] = true, [EXPECT_ERRORS_MAX] = true },
                .value = { [EXPECT_FLOOR_RATIO_MIN] = VERDICT_DEFAULT_FLOOR_RATIO_MIN,
                           [EXPECT_ERRORS_MAX] = VERDICT_DEFAULT_ERRORS_MAX },
        };
        bool is_default = !expectations_any(in->expectations);
        const Expectations *expectations = is_default ? &standard : in->expectations;

        *ret = (Verdict){ .result = VERDICT_PASS, .is_default = is_default };
        judge_run(ret, in);
        for (Expectation which = 0; which < N_EXPECTATIONS; which++)
                if (expectations->is_set[which])
                        verdict_add(ret, judge(in, which, expectations->value[which]));
}

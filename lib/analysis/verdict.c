/* SPDX-License-Identifier: MIT */

/*
 * Two mistakes are to be avoided: to pass a drive on its burst, and to fail it in the trough after its cliff. So a
 * level is only believed in a steady (or cycling) state. Before that a drive fails only for what it cannot make good
 * any more: it never reached what was claimed, not even fresh; or it is further down than troughs go; or it is below
 * and still falls in a run that was long enough to see one.
 */

#include <math.h>

#include "analysis/analysis-internal.h"
#include "analysis/from-sample.h"
#include "analysis/verdict.h"

#define SO_FAR_TEXT "so far: the run has not ended"
#define HOST_TEXT "the host, not the drive, set the pace"

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

/* Whether the drive did nothing for so long at the end that it is taken for dead. */
static bool is_dead(const VerdictInput *in) {
        return !in->asked_for_none && in->analysis->end_silent_s >= VERDICT_SILENT_S;
}

static const char *drifting_text(const Analysis *a) {
        if (a->end_from_s > a->steady_since_s && a->end_iops < a->steady_iops)
                return "it fell in its last minutes: too short to call that its state";
        if (!isnan(a->wave_low_iops))
                return "its level comes and goes slowly: no mean of it lasts";
        if (a->trend == 0)
                return "no state lasted to the end";
        return a->trend < 0 ? "still falling at the end" : "still rising at the end";
}

static const char *unknown_level_text(const VerdictInput *in) {
        bool by_time = isnan(in->fills);

        switch (in->analysis->steady) {
        case STEADY_TOO_SHORT:
                return by_time ? "the run is too short to know: a steady state takes ten minutes at least (capacity "
                                 "unknown: judged by time)"
                               : "the run is too short to know: a steady state takes ten minutes and two fills of the "
                                 "device";
        case STEADY_CYCLING:
        case STEADY_NOT_ENOUGH_VOLUME:
                return by_time ? "it has not lasted long enough to know: half of the run and 30 minutes (capacity "
                                 "unknown: judged by time)"
                               : "too little was moved at this level to know: a steady state takes two fills of the "
                                 "device";
        default:
                return drifting_text(in->analysis);
        }
}

static const char *known_level_text(const VerdictInput *in, Expectation which) {
        const Analysis *a = in->analysis;

        if (which == EXPECT_FLOOR_RATIO_MIN && a->stalled_share > STALLED_SHARE_MAX)
                return "its stalls, which take more than 5 % of the time";
        if (which == EXPECT_FLOOR_RATIO_MIN && a->steady == STEADY_CYCLING)
                return "the troughs of its cycles";
        if (a->steady == STEADY_CYCLING)
                return "the mean over its cycles";
        return isnan(in->fills) ? "the level that lasts (capacity unknown: judged by time)" : "the level that lasts";
}

/* A drive is not judged by what it was not asked for. The rest is pauses of the drive that were not made good. */
#define LIMIT_SHARE 0.95

static bool is_held_back(const VerdictInput *in) {
        return in->limit_iops > 0 && in->analysis->steady_iops >= in->limit_iops * LIMIT_SHARE;
}

/* What is not known to last can be told to be missed, but not to be kept: why it is missed already, else NULL. */
static const char *missed_text(const VerdictInput *in, double expected, double measured, double best) {
        const Analysis *a = in->analysis;

        if (a->trend > 0)
                return NULL;
        if (best < expected && in->host_share <= HOST_STARVED_SHARE_MAX)
                return "never reached, not even in the burst";
        if (measured * VERDICT_TROUGH_RECOVERY < expected)
                return "missed already: less than half, which no drive makes good after its cliff";
        if (a->trend < 0 && a->steady == STEADY_DRIFTING && measured < expected)
                return "missed already, and still falling";
        return NULL;
}

/*
 * Nor by a host that held it up so often that nothing could be cut out. What is missed is missed in its own time: a
 * burst that used up the host excuses no trough. And where the level was the same while the host had room, it is the
 * drive's own. While nothing is missed, and nothing known, the host may be why.
 */
static bool is_held_up_by_host(const VerdictInput *in, double expected, double measured, bool is_missed) {
        double ratio = in->iops_with_room / in->analysis->steady_iops;
        bool is_drives_own = fabs(log(ratio)) < REGIME_MIN_STEP && measured * ratio < expected;

        if (!level_is_known(in) && !is_missed)
                return in->host_share > HOST_STARVED_SHARE_MAX;
        return in->host_share_at_end > HOST_STARVED_SHARE_MAX && !is_drives_own;
}

/* measured: the level at the end; best: the highest there was; both in the unit of expected. */
static VerdictReason judge_level(const VerdictInput *in, Expectation which, double expected, double measured,
                                 double best) {
        VerdictReason reason = { .which = which, .expected = expected, .measured = measured };
        const char *missed = missed_text(in, expected, measured, best);

        if (is_dead(in)) {
                reason.result = VERDICT_FAIL;
                reason.measured = 0;
                reason.text = in->analysis->burst_iops > 0
                                      ? "missed already: nothing completed any more at the end, for a minute or longer"
                                      : "nothing completed at all, for a minute or longer";
        } else if (isnan(measured)) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = in->analysis->n_regimes > 0 ? "nothing completed"
                                                          : "too little was measured to tell a level";
        } else if (measured < expected && which != EXPECT_FLOOR_RATIO_MIN && is_held_back(in)) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = "the job's own rate limit allows no more";
        } else if (measured < expected && is_held_up_by_host(in, expected, measured, missed)) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = HOST_TEXT;
        } else if (level_is_known(in)) {
                reason.result = measured >= expected ? VERDICT_PASS : VERDICT_FAIL;
                reason.text = known_level_text(in, which);
        } else if (missed) {
                reason.result = VERDICT_FAIL;
                reason.text = missed;
        } else {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = measured < expected && in->analysis->steady != STEADY_DRIFTING
                                      ? "below so far, but a drive can come back to twice the level of its trough"
                                      : unknown_level_text(in);
        }
        return reason;
}

static VerdictReason judge_errors(const VerdictInput *in, double expected) {
        VerdictReason reason = { .which = EXPECT_ERRORS_MAX, .expected = expected, .measured = (double) in->errors };

        if (in->errors_unknown) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.measured = NAN;
                reason.text = "errors are not recorded in an import";
        } else if (reason.measured > expected) {
                reason.result = VERDICT_FAIL;
                reason.text = "of the whole run";
        } else if (run_state_is_final(in->state)) {
                reason.result = VERDICT_PASS;
                reason.text = "of the whole run";
        } else {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = SO_FAR_TEXT;
        }
        return reason;
}

static VerdictReason judge_verified(const VerdictInput *in, double expected) {
        VerdictReason reason = {
                .which = EXPECT_VERIFY_ERRORS_MAX, .expected = expected, .measured = (double) in->verify_errors,
        };

        if (!in->is_verified) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.measured = NAN;
                reason.text = "nothing was verified";
        } else if (reason.measured > expected) {
                reason.result = VERDICT_FAIL;
                reason.text = "blocks of the whole run";
        } else if (run_state_is_final(in->state) && in->verified_least == VERIFIED_NOTHING) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = "a phase that was to verify has checked nothing: show tells which";
        } else if (run_state_is_final(in->state)) {
                reason.result = VERDICT_PASS;
                reason.text = in->verified_least == VERIFIED_ALL    ? "blocks of the whole run"
                              : in->verified_least == VERIFIED_PART ? "blocks of the part that was verified: show "
                                                                      "tells how much"
                                                                    : "blocks of what was read at random or by "
                                                                      "several streams, which need not be all";
        } else {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = SO_FAR_TEXT;
        }
        return reason;
}

/*
 * What gets worse as the drive is worn in: too much is too much, but little in a burst, or so far, says nothing. Nor
 * does a percentile so far, which becomes less when many more I/Os are quick.
 */
static VerdictReason judge_worst(const VerdictInput *in, Expectation which, double expected, double measured) {
        VerdictReason reason = { .which = which, .expected = expected, .measured = measured };
        bool final = run_state_is_final(in->state);

        if (isnan(measured)) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = which == EXPECT_TEMPERATURE_MAX ? "no temperature was recorded"
                              : in->latency_is_mean           ? "an import records no more than means of the latency"
                                                              : "nothing completed";
        } else if (measured > expected && which == EXPECT_LATENCY_P999_MAX && in->host_share > HOST_STARVED_SHARE_MAX) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = HOST_TEXT;
        } else if (measured > expected && (final || which == EXPECT_TEMPERATURE_MAX)) {
                reason.result = VERDICT_FAIL;
                reason.text = "of the whole phase";
        } else if (!final) {
                reason.result = VERDICT_INCONCLUSIVE;
                reason.text = SO_FAR_TEXT;
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
                return judge_level(in, which, expected, a->steady_iops, a->peak_iops);
        case EXPECT_CLAIMED_BANDWIDTH:
                return judge_level(in, which, expected, a->steady_iops * in->bytes_per_io,
                                   a->peak_iops * in->bytes_per_io);
        case EXPECT_FLOOR_RATIO_MIN:
                return judge_level(in, which, expected, a->floor_ratio, 1);
        case EXPECT_ERRORS_MAX:
                return judge_errors(in, expected);
        case EXPECT_VERIFY_ERRORS_MAX:
                return judge_verified(in, expected);
        case EXPECT_LATENCY_P999_MAX:
                return judge_worst(in, which, expected, in->latency_p999_ns);
        case EXPECT_TEMPERATURE_MAX:
        default:
                return judge_worst(in, which, expected, in->temperature_max_c);
        }
}

/*
 * A drive that is gone has failed, whatever was expected, and so has one that lost more than it may; a run that failed
 * for another reason tells nothing good.
 */
static void judge_run(Verdict *v, const VerdictInput *in, double verify_errors_max) {
        VerdictReason reason = { .which = -1, .expected = NAN, .measured = NAN };

        if (in->state == RUN_LOST) {
                reason.result = VERDICT_FAIL;
                reason.text = "the device went away";
        } else if (in->read_only) {
                reason.result = VERDICT_FAIL;
                reason.text = "the device became read-only";
        } else if (in->state == RUN_FAILED || in->state == RUN_REFUSED) {
                bool is_lossy = (double) in->verify_errors > verify_errors_max;
                reason.result = is_lossy ? VERDICT_FAIL : VERDICT_INCONCLUSIVE;
                reason.text = in->end_detail ?: "the run did not come to its end";
        } else
                return;
        verdict_add(v, reason);
}

void verdict_make(Verdict *ret, const VerdictInput *in) {
        static const Expectations standard = {
                .is_set = { [EXPECT_FLOOR_RATIO_MIN] = true },
                .value = { [EXPECT_FLOOR_RATIO_MIN] = VERDICT_DEFAULT_FLOOR_RATIO_MIN },
        };
        bool is_default = !expectations_any(in->expectations);
        Expectations expectations = is_default ? standard : *in->expectations;

        /* Whatever else is expected: unless the job says how many, no I/O may fail and no block read back otherwise. */
        if (!in->expectations->is_set[EXPECT_ERRORS_MAX]) {
                expectations.is_set[EXPECT_ERRORS_MAX] = !in->errors_unknown;
                expectations.value[EXPECT_ERRORS_MAX] = VERDICT_DEFAULT_ERRORS_MAX;
        }

        if (!in->expectations->is_set[EXPECT_VERIFY_ERRORS_MAX])
                expectations.is_set[EXPECT_VERIFY_ERRORS_MAX] = in->is_verified;

        *ret = (Verdict){ .result = VERDICT_PASS, .is_default = is_default };
        judge_run(ret, in, expectations.value[EXPECT_VERIFY_ERRORS_MAX]);
        if (in->expectations_unknown)
                verdict_add(ret, (VerdictReason){
                        .which = -1, .expected = NAN, .measured = NAN, .result = VERDICT_INCONCLUSIVE,
                        .text = "this version cannot read the run's job, nor what it expects: --expect may tell it",
                });
        for (Expectation which = 0; which < N_EXPECTATIONS; which++)
                if (expectations.is_set[which])
                        verdict_add(ret, judge(in, which, expectations.value[which]));
}

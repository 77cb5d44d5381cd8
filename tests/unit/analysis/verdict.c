/* SPDX-License-Identifier: MIT */

#include <math.h>
#include <string.h>

#include "analysis/verdict.h"
#include "unit.h"
#include "util/macro.h"

/* A drive at `level` now, `burst` at its best, in a run that is done. */
static Analysis state(SteadyState steady, double burst, double level, int trend) {
        return (Analysis){
                .steady = steady, .burst_iops = burst, .peak_iops = burst, .steady_iops = level, .trend = trend,
                .collapse_ratio = level / burst, .floor_iops = level, .floor_ratio = level / burst,
                .end_iops = level, .end_ratio = level / burst,
        };
}

static VerdictInput input(const Analysis *analysis, const Expectations *expectations) {
        return (VerdictInput){
                .expectations = expectations, .analysis = analysis, .state = RUN_DONE, .bytes_per_io = 4096,
                .fills = 10, .latency_p999_ns = 5e6, .temperature_max_c = NAN, .iops_with_room = NAN,
        };
}

static Expectations expect(Expectation which, double value) {
        Expectations e = {};

        e.is_set[which] = true;
        e.value[which] = value;
        return e;
}

/* The one reason there is, besides that there were no errors. */
static VerdictReason only(const VerdictInput *in) {
        bool asked = in->expectations->is_set[EXPECT_ERRORS_MAX];
        size_t n_found = 0, found = 0;
        Verdict v;

        verdict_make(&v, in);
        for (size_t i = 0; i < v.n_reasons; i++)
                if (asked || v.reasons[i].which != EXPECT_ERRORS_MAX) {
                        found = i;
                        n_found++;
                }
        ck_assert_uint_eq(n_found, 1);
        ck_assert(asked || in->errors_unknown || v.n_reasons == 2);
        ck_assert_int_eq(v.result, v.reasons[found].result);
        ck_assert(!v.is_default);
        return v.reasons[found];
}

static VerdictResult judge(Analysis a, Expectation which, double value) {
        Expectations e = expect(which, value);
        VerdictInput in = input(&a, &e);

        return only(&in).result;
}

static VerdictResult claim(SteadyState steady, double level, int trend) {
        return judge(state(steady, 10000, level, trend), EXPECT_CLAIMED_IOPS, 8000);
}

START_TEST(claims_are_held_against_the_level_that_lasts) {
        Analysis a = state(STEADY_STEADY, 60000, 640, 0);
        Expectations e = expect(EXPECT_CLAIMED_IOPS, 60000);
        VerdictInput in = input(&a, &e);
        VerdictReason r = only(&in);

        ck_assert_int_eq(r.result, VERDICT_FAIL);
        ck_assert_int_eq(r.which, EXPECT_CLAIMED_IOPS);
        ck_assert_double_eq(r.expected, 60000);
        ck_assert_double_eq(r.measured, 640);

        ck_assert_int_eq(judge(a, EXPECT_STEADY_IOPS_MIN, 640), VERDICT_PASS);
        ck_assert_int_eq(judge(a, EXPECT_STEADY_IOPS_MIN, 641), VERDICT_FAIL);
        ck_assert_int_eq(judge(a, EXPECT_CLAIMED_BANDWIDTH, 640 * 4096), VERDICT_PASS);
        ck_assert_int_eq(judge(a, EXPECT_CLAIMED_BANDWIDTH, 640 * 4096 + 1), VERDICT_FAIL);
        ck_assert_int_eq(judge(a, EXPECT_FLOOR_RATIO_MIN, 0.01), VERDICT_PASS);
        ck_assert_int_eq(judge(a, EXPECT_FLOOR_RATIO_MIN, 0.02), VERDICT_FAIL);
}
END_TEST

START_TEST(what_the_job_did_not_ask_for_is_not_missed) {
        Analysis a = state(STEADY_STEADY, 4000, 3900, 0);
        Expectations e = expect(EXPECT_CLAIMED_IOPS, 5000);
        VerdictInput in = input(&a, &e);

        in.limit_iops = 4000;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        a.steady_iops = 3801;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        a.steady_iops = 3799; /* the drive's own */
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
        a.steady_iops = 3900;
        a.end_silent_s = 60;
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);

        a.end_silent_s = 0;
        e.value[EXPECT_CLAIMED_IOPS] = 3900;
        ck_assert_int_eq(only(&in).result, VERDICT_PASS);
        e.value[EXPECT_CLAIMED_IOPS] = 5000;
        in.limit_iops = 0;
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
}
END_TEST

START_TEST(what_the_host_held_up_is_not_missed) {
        static const Expectation held_up[] = { EXPECT_CLAIMED_IOPS, EXPECT_STEADY_IOPS_MIN, EXPECT_CLAIMED_BANDWIDTH };
        Analysis a = state(STEADY_STEADY, 6000, 4000, 0);

        for (size_t i = 0; i < ELEMENTSOF(held_up); i++) {
                Expectations e = expect(held_up[i], held_up[i] == EXPECT_CLAIMED_BANDWIDTH ? 5000 * 4096 : 5000);
                VerdictInput in = input(&a, &e);

                in.host_share = in.host_share_at_end = 0.26;
                ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
                ck_assert_str_eq(only(&in).text, "the host, not the drive, set the pace");
                in.host_share = in.host_share_at_end = 0.25;
                ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
                in.host_share = 0.9; /* in the burst */
                ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
                e.value[held_up[i]] /= 2;
                in.host_share_at_end = 1;
                ck_assert_int_eq(only(&in).result, VERDICT_PASS);
        }

        Expectations floor = expect(EXPECT_FLOOR_RATIO_MIN, 0.9), latency = expect(EXPECT_LATENCY_P999_MAX, 1e6);
        VerdictInput in = input(&a, &floor);
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
        in.host_share_at_end = 1;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        a.end_silent_s = 60; /* a host that is busy is no reason for nothing at all */
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);

        in = input(&a, &latency);
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
        in.host_share = 1;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
}
END_TEST

START_TEST(what_the_host_held_up_before_a_level_is_known_is_not_missed) {
        Analysis a = state(STEADY_TOO_SHORT, 10000, 8000, 0);
        Expectations e = expect(EXPECT_CLAIMED_IOPS, 12000);
        VerdictInput in = input(&a, &e);

        ck_assert_int_eq(only(&in).result, VERDICT_FAIL); /* not reached in the burst; */
        in.host_share = 0.26;                             /* but that had no room */
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        ck_assert_ptr_nonnull(strstr(only(&in).text, "the host"));

        e.value[EXPECT_CLAIMED_IOPS] = 60000; /* down to less than half of it, in a time of its own */
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
        in.host_share_at_end = 0.26;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
}
END_TEST

START_TEST(what_is_the_same_while_the_host_has_room_is_the_drives_own) {
        static const SteadyState judged[] = { STEADY_STEADY, STEADY_TOO_SHORT };

        for (size_t i = 0; i < ELEMENTSOF(judged); i++) {
                Analysis a = state(judged[i], 10000, 1000, 0);
                Expectations e = expect(EXPECT_CLAIMED_IOPS, 60000);
                VerdictInput in = input(&a, &e);

                in.host_share = in.host_share_at_end = 0.9;
                in.iops_with_room = 950;
                ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
                in.iops_with_room = 1050;
                ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
                in.iops_with_room = 880; /* it was faster in the time that it was not given all of */
                ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
                in.iops_with_room = 1120;
                ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
                in.iops_with_room = NAN; /* the host never had */
                ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        }

        Analysis a = state(STEADY_STEADY, 1000, 990, 0);
        Expectations e = expect(EXPECT_CLAIMED_IOPS, 1000);
        VerdictInput in = input(&a, &e);
        in.host_share_at_end = 0.9;
        in.iops_with_room = 995;
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
        in.iops_with_room = 1001; /* kept where the host let it */
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
}
END_TEST

static const SteadyState unknown[] = { STEADY_TOO_SHORT, STEADY_DRIFTING, STEADY_NOT_ENOUGH_VOLUME };

START_TEST(what_does_not_last_yet_is_no_pass) {
        for (int trend = -1; trend <= 1; trend++)
                ck_assert_int_eq(claim(unknown[_i], 9000, trend), VERDICT_INCONCLUSIVE);
}
END_TEST

START_TEST(what_was_never_reached_is_missed_on_a_short_run) {
        ck_assert_int_eq(judge(state(unknown[_i], 10000, 9000, 0), EXPECT_CLAIMED_IOPS, 10001), VERDICT_FAIL);
        ck_assert_int_eq(judge(state(unknown[_i], 10000, 9000, -1), EXPECT_CLAIMED_IOPS, 10001), VERDICT_FAIL);
        ck_assert_int_eq(judge(state(unknown[_i], 10000, 9000, 1), EXPECT_CLAIMED_IOPS, 10001), VERDICT_INCONCLUSIVE);
}
END_TEST

START_TEST(a_trough_may_come_back_to_twice_its_level) {
        ck_assert_int_eq(claim(unknown[_i], 4000, 0), VERDICT_INCONCLUSIVE);
        ck_assert_int_eq(claim(unknown[_i], 3999, 0), VERDICT_FAIL);
        ck_assert_int_eq(claim(unknown[_i], 3999, 1), VERDICT_INCONCLUSIVE);
        ck_assert_int_eq(judge(state(unknown[_i], 10000, 1999, 0), EXPECT_FLOOR_RATIO_MIN, 0.4), VERDICT_FAIL);
        ck_assert_int_eq(judge(state(unknown[_i], 10000, 2001, 0), EXPECT_FLOOR_RATIO_MIN, 0.4), VERDICT_INCONCLUSIVE);
}
END_TEST

START_TEST(below_and_still_falling_is_missed_once_the_run_is_long_enough) {
        ck_assert_int_eq(claim(STEADY_DRIFTING, 7999, -1), VERDICT_FAIL);
        ck_assert_int_eq(claim(STEADY_TOO_SHORT, 7999, -1), VERDICT_INCONCLUSIVE);
        ck_assert_int_eq(claim(STEADY_DRIFTING, 7999, 1), VERDICT_INCONCLUSIVE);
        ck_assert_int_eq(claim(STEADY_DRIFTING, 7999, 0), VERDICT_INCONCLUSIVE);
}
END_TEST

START_TEST(a_cycle_has_a_level_after_two_fills) {
        Analysis a = state(STEADY_CYCLING, 10000, 9000, 0);
        Expectations e = expect(EXPECT_CLAIMED_IOPS, 8000);
        VerdictInput in = input(&a, &e);

        ck_assert_int_eq(only(&in).result, VERDICT_PASS);
        in.fills = 1.9;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        in.fills = NAN;
        ck_assert_int_eq(only(&in).result, VERDICT_PASS);
        e = expect(EXPECT_CLAIMED_IOPS, 9500);
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
}
END_TEST

START_TEST(nothing_measured_is_inconclusive) {
        ck_assert_int_eq(judge(state(STEADY_TOO_SHORT, NAN, NAN, 0), EXPECT_CLAIMED_IOPS, 8000), VERDICT_INCONCLUSIVE);
        ck_assert_int_eq(judge(state(STEADY_TOO_SHORT, 0, 0, 0), EXPECT_FLOOR_RATIO_MIN, 0.5), VERDICT_INCONCLUSIVE);
        ck_assert_int_eq(judge(state(STEADY_TOO_SHORT, 0, 0, 0), EXPECT_STEADY_IOPS_MIN, 1), VERDICT_FAIL);
}
END_TEST

START_TEST(errors_count_at_any_time_but_none_count_at_the_end) {
        Analysis a = state(STEADY_TOO_SHORT, 10000, 9000, 0);
        Expectations e = expect(EXPECT_ERRORS_MAX, 5);
        VerdictInput in = input(&a, &e);

        in.errors = 5;
        ck_assert_int_eq(only(&in).result, VERDICT_PASS);
        in.state = RUN_RUNNING;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        in.state = RUN_INTERRUPTED;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        in.errors = 6;
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
}
END_TEST

START_TEST(latency_and_temperature_pass_in_a_steady_state_only) {
        Analysis known = state(STEADY_STEADY, 10000, 9000, 0), shorter = state(STEADY_TOO_SHORT, 10000, 9000, 0);
        Expectations e = expect(EXPECT_LATENCY_P999_MAX, 5e6);
        VerdictInput in = input(&known, &e);

        ck_assert_int_eq(only(&in).result, VERDICT_PASS);
        in.latency_p999_ns = 5e6 + 1;
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
        in.analysis = &shorter;
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
        in.latency_p999_ns = 5e6;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);

        e = expect(EXPECT_TEMPERATURE_MAX, 70);
        in = input(&known, &e);
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        ck_assert_ptr_nonnull(strstr(only(&in).text, "no temperature"));
        in.temperature_max_c = 70;
        ck_assert_int_eq(only(&in).result, VERDICT_PASS);
        in.temperature_max_c = 71;
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
}
END_TEST

START_TEST(latency_and_temperature_wait_for_the_end) {
        Analysis known = state(STEADY_STEADY, 10000, 9000, 0);
        Expectations e = expect(EXPECT_LATENCY_P999_MAX, 5e6);
        VerdictInput in = input(&known, &e);

        in.state = RUN_RUNNING;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        ck_assert_ptr_nonnull(strstr(only(&in).text, "has not ended"));
        in.latency_p999_ns = 6e6; /* more and quicker I/Os can still bring it down */
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        in.state = RUN_STOPPED;
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);

        e = expect(EXPECT_TEMPERATURE_MAX, 70);
        in.state = RUN_PAUSED;
        in.temperature_max_c = 70;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        in.temperature_max_c = 71; /* nothing takes that back */
        ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
}
END_TEST

/* Each criterion, missed by far, in a run that was over before a state could be known. */
START_TEST(what_is_missed_already_fails_a_short_run) {
        static const struct { Expectation which; double value; } missed[] = {
                { EXPECT_CLAIMED_IOPS, 60000 }, { EXPECT_CLAIMED_BANDWIDTH, 60000 * 4096.0 },
                { EXPECT_STEADY_IOPS_MIN, 60000 }, { EXPECT_FLOOR_RATIO_MIN, 0.5 }, { EXPECT_ERRORS_MAX, 0 },
                { EXPECT_LATENCY_P999_MAX, 1e6 }, { EXPECT_TEMPERATURE_MAX, 70 },
        };
        Analysis a = state(STEADY_TOO_SHORT, 10000, 2000, 0);
        for (size_t i = 0; i < ELEMENTSOF(missed); i++) {
                Expectations e = expect(missed[i].which, missed[i].value);
                VerdictInput in = input(&a, &e);
                in.errors = missed[i].which == EXPECT_ERRORS_MAX;
                in.temperature_max_c = 80;
                ck_assert_int_eq(only(&in).result, VERDICT_FAIL);
        }
}
END_TEST

START_TEST(the_worst_criterion_decides) {
        Analysis a = state(STEADY_STEADY, 10000, 9000, 0);
        Expectations e = expect(EXPECT_CLAIMED_IOPS, 8000);
        VerdictInput in = input(&a, &e);
        Verdict v;

        e.is_set[EXPECT_TEMPERATURE_MAX] = true;
        e.value[EXPECT_TEMPERATURE_MAX] = 70;
        verdict_make(&v, &in);
        ck_assert_uint_eq(v.n_reasons, 3);
        ck_assert_int_eq(v.result, VERDICT_INCONCLUSIVE);

        in.errors = 1;
        verdict_make(&v, &in);
        ck_assert_uint_eq(v.n_reasons, 3);
        ck_assert_int_eq(v.result, VERDICT_FAIL);
}
END_TEST

START_TEST(without_expectations_a_fifth_must_be_kept_without_errors) {
        Analysis kept = state(STEADY_STEADY, 10000, 2000, 0), lost = state(STEADY_STEADY, 10000, 1990, 0);
        Expectations e = {};
        VerdictInput in = input(&kept, &e);
        Verdict v;

        verdict_make(&v, &in);
        ck_assert(v.is_default);
        ck_assert_uint_eq(v.n_reasons, 2);
        ck_assert_int_eq(v.result, VERDICT_PASS);
        in.errors = 1;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_FAIL);
        in.errors = 0;
        in.analysis = &lost;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_FAIL);
}
END_TEST

START_TEST(a_drive_that_is_gone_fails_whatever_was_expected) {
        Analysis a = state(STEADY_STEADY, 10000, 9000, 0);
        Expectations e = expect(EXPECT_CLAIMED_IOPS, 8000);
        VerdictInput in = input(&a, &e);
        Verdict v;

        in.state = RUN_LOST;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_FAIL);
        ck_assert_int_eq(v.reasons[0].which, -1);
        ck_assert_int_eq(v.reasons[1].result, VERDICT_PASS);

        in.state = RUN_FAILED;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_INCONCLUSIVE);
        in.read_only = true;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_FAIL);
        in.state = RUN_STOPPED;
        in.read_only = false;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_PASS);
}
END_TEST

START_TEST(a_failed_run_says_what_it_failed_of) {
        static const char *const detail = "failed: 5 blocks were read back not as written";
        Analysis a = state(STEADY_STEADY, 10000, 9000, 0);
        Expectations e = expect(EXPECT_VERIFY_ERRORS_MAX, 5);
        VerdictInput in = input(&a, &e);
        Verdict v;

        in.state = RUN_FAILED;
        in.is_verified = true;
        in.verified_least = VERIFIED_ALL;
        in.verify_errors = 6;
        in.end_detail = detail;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.reasons[0].which, -1);
        ck_assert_str_eq(v.reasons[0].text, detail);
        ck_assert_int_eq(v.reasons[0].result, VERDICT_FAIL);

        in.verify_errors = 5; /* as many as are allowed: then something else may be wrong */
        in.end_detail = NULL;
        verdict_make(&v, &in);
        ck_assert_str_eq(v.reasons[0].text, "the run did not come to its end");
        ck_assert_int_eq(v.reasons[0].result, VERDICT_INCONCLUSIVE);
}
END_TEST

START_TEST(errors_are_told_whatever_else_is_expected) {
        Analysis a = state(STEADY_STEADY, 10000, 9000, 0);
        Expectations e = expect(EXPECT_CLAIMED_IOPS, 8000), none = expect(EXPECT_ERRORS_MAX, 0);
        VerdictInput in = input(&a, &e);
        Verdict v;

        in.errors = 1;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_FAIL);
        ck_assert_int_eq(v.reasons[1].which, EXPECT_ERRORS_MAX);
        e.is_set[EXPECT_ERRORS_MAX] = true;
        e.value[EXPECT_ERRORS_MAX] = 1;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_PASS);

        /* Where nobody recorded them, only a question for them has an answer. */
        in.errors_unknown = true;
        in.errors = 0;
        e.is_set[EXPECT_ERRORS_MAX] = false;
        verdict_make(&v, &in);
        ck_assert_uint_eq(v.n_reasons, 1);
        in.expectations = &none;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        ck_assert(isnan(only(&in).measured));
        ck_assert_ptr_nonnull(strstr(only(&in).text, "not recorded in an import"));
}
END_TEST

START_TEST(means_are_no_percentiles) {
        Analysis a = state(STEADY_STEADY, 10000, 9000, 0);
        Expectations e = expect(EXPECT_LATENCY_P999_MAX, 5e6);
        VerdictInput in = input(&a, &e);

        in.latency_p999_ns = NAN;
        ck_assert_str_eq(only(&in).text, "nothing completed");
        in.latency_is_mean = true;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        ck_assert_ptr_nonnull(strstr(only(&in).text, "means"));
}
END_TEST

START_TEST(a_drive_that_does_nothing_any_more_fails) {
        for (SteadyState steady = 0; steady < N_STEADY_STATES; steady++) {
                Analysis a = state(steady, 10000, 9000, -1);
                a.end_silent_s = 59;
                ck_assert_int_ne(judge(a, EXPECT_CLAIMED_IOPS, 8000), VERDICT_FAIL);
                a.end_silent_s = 60;
                ck_assert_int_eq(judge(a, EXPECT_CLAIMED_IOPS, 8000), VERDICT_FAIL);
                ck_assert_int_eq(judge(a, EXPECT_FLOOR_RATIO_MIN, 0.2), VERDICT_FAIL);
        }
}
END_TEST

START_TEST(a_drive_that_never_did_anything_fails) {
        Analysis a = state(STEADY_NOT_ENOUGH_VOLUME, 0, 0, 0);
        Expectations e = {};
        VerdictInput in = input(&a, &e);
        Verdict v;

        a.floor_ratio = NAN;
        a.end_silent_s = 59;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_INCONCLUSIVE);
        a.end_silent_s = 60;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_FAIL);
        ck_assert_ptr_nonnull(strstr(v.reasons[0].text, "nothing completed at all"));

        /* Unless nobody asked it to. */
        in.asked_for_none = true;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_INCONCLUSIVE);
}
END_TEST

START_TEST(a_fall_in_the_last_minutes_is_no_state_but_is_told) {
        Analysis a = state(STEADY_DRIFTING, 10000, 9000, -1);
        Expectations e = expect(EXPECT_FLOOR_RATIO_MIN, 0.2);
        VerdictInput in = input(&a, &e);

        a.steady_since_s = 60;
        a.end_from_s = 3400;
        a.end_iops = 100;
        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        ck_assert_ptr_nonnull(strstr(only(&in).text, "fell in its last minutes"));
}
END_TEST

START_TEST(a_floor_is_that_of_cycles_and_stalls) {
        Analysis a = state(STEADY_CYCLING, 10000, 6000, 0);

        a.floor_ratio = 0.1;
        ck_assert_int_eq(judge(a, EXPECT_FLOOR_RATIO_MIN, 0.2), VERDICT_FAIL);
        ck_assert_int_eq(judge(a, EXPECT_FLOOR_RATIO_MIN, 0.1), VERDICT_PASS);
        ck_assert_int_eq(judge(a, EXPECT_CLAIMED_IOPS, 6000), VERDICT_PASS);
        a.steady = STEADY_STEADY;
        a.stalled_share = 0.3;
        ck_assert_int_eq(judge(a, EXPECT_FLOOR_RATIO_MIN, 0.2), VERDICT_FAIL);
}
END_TEST

START_TEST(two_fills_are_not_asked_for_where_nobody_knows_the_capacity) {
        static const SteadyState states[] = { STEADY_TOO_SHORT, STEADY_NOT_ENOUGH_VOLUME };

        for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
                Analysis a = state(states[i], 10000, 9000, 0);
                Expectations e = expect(EXPECT_CLAIMED_IOPS, 8000);
                VerdictInput in = input(&a, &e);

                ck_assert_ptr_nonnull(strstr(only(&in).text, "two fills"));
                in.fills = NAN;
                ck_assert_ptr_null(strstr(only(&in).text, "fills"));
                ck_assert_ptr_nonnull(strstr(only(&in).text, "capacity unknown"));
        }
}
END_TEST

START_TEST(what_can_still_come_back_is_called_so) {
        Analysis a = state(STEADY_TOO_SHORT, 10000, 5000, 0);
        Expectations e = expect(EXPECT_CLAIMED_IOPS, 8000);
        VerdictInput in = input(&a, &e);

        ck_assert_int_eq(only(&in).result, VERDICT_INCONCLUSIVE);
        ck_assert_ptr_nonnull(strstr(only(&in).text, "below so far"));
}
END_TEST

START_TEST(never_reached_holds_for_every_ten_seconds) {
        Analysis a = state(STEADY_TOO_SHORT, 10000, 9000, 0);

        a.peak_iops = 10500;
        ck_assert_int_eq(judge(a, EXPECT_CLAIMED_IOPS, 10400), VERDICT_INCONCLUSIVE);
        ck_assert_int_eq(judge(a, EXPECT_CLAIMED_IOPS, 10501), VERDICT_FAIL);
}
END_TEST

/* What was not looked at is not right for that. Expected or not: it was to be verified. */
START_TEST(a_phase_that_checked_nothing_passes_for_nothing) {
        static const struct {
                VerifiedShare least;
                uint64_t errors;
                RunState state;
                VerdictResult result;
        } cases[] = {
                { VERIFIED_ALL, 0, RUN_DONE, VERDICT_PASS },
                { VERIFIED_PART, 0, RUN_DONE, VERDICT_PASS },
                { VERIFIED_AMOUNT, 0, RUN_DONE, VERDICT_PASS },
                { VERIFIED_NOTHING, 0, RUN_DONE, VERDICT_INCONCLUSIVE },
                { VERIFIED_NOTHING, 0, RUN_RUNNING, VERDICT_INCONCLUSIVE },
                { VERIFIED_NOTHING, 1, RUN_DONE, VERDICT_FAIL }, /* another phase has */
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Analysis a = {};
                Expectations e = expect(EXPECT_ERRORS_MAX, 0);
                VerdictInput in = input(&a, &e);
                Verdict v;

                in.state = cases[i].state;
                in.is_verified = true;
                in.verified_least = cases[i].least;
                in.verify_errors = cases[i].errors;
                verdict_make(&v, &in);
                ck_assert_uint_eq(v.n_reasons, 2);
                ck_assert_int_eq(v.reasons[1].which, EXPECT_VERIFY_ERRORS_MAX);
                ck_assert_int_eq(v.reasons[1].result, cases[i].result);
                ck_assert((strstr(v.reasons[1].text, "part that was verified") != NULL) ==
                          (cases[i].least == VERIFIED_PART));
                ck_assert((strstr(v.reasons[1].text, "need not be all") != NULL) ==
                          (cases[i].least == VERIFIED_AMOUNT));
        }
}
END_TEST

/* All that may be expected, too, leaves room for it. */
START_TEST(what_a_job_expects_that_cannot_be_read_is_not_met) {
        Analysis a = {};
        Expectations e = expect(EXPECT_ERRORS_MAX, 0);
        VerdictInput in = input(&a, &e);
        Verdict v;

        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_PASS);
        in.expectations_unknown = true;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_INCONCLUSIVE);
        ck_assert_int_eq(v.reasons[0].which, -1);
        ck_assert_ptr_nonnull(strstr(v.reasons[0].text, "cannot read the run's job"));
        in.read_only = true;
        for (Expectation which = 0; which < N_EXPECTATIONS; which++)
                e.is_set[which] = true;
        verdict_make(&v, &in);
        ck_assert_int_eq(v.result, VERDICT_FAIL);
        ck_assert_uint_eq(v.n_reasons, N_EXPECTATIONS + 2);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("verdict");
        TCase *tc = tcase_create("verdict");
        const int n_unknown = sizeof(unknown) / sizeof(unknown[0]);

        tcase_add_test(tc, what_a_job_expects_that_cannot_be_read_is_not_met);
        tcase_add_test(tc, claims_are_held_against_the_level_that_lasts);
        tcase_add_test(tc, what_the_job_did_not_ask_for_is_not_missed);
        tcase_add_test(tc, what_the_host_held_up_is_not_missed);
        tcase_add_test(tc, what_the_host_held_up_before_a_level_is_known_is_not_missed);
        tcase_add_test(tc, what_is_the_same_while_the_host_has_room_is_the_drives_own);
        tcase_add_loop_test(tc, what_does_not_last_yet_is_no_pass, 0, n_unknown);
        tcase_add_loop_test(tc, what_was_never_reached_is_missed_on_a_short_run, 0, n_unknown);
        tcase_add_loop_test(tc, a_trough_may_come_back_to_twice_its_level, 0, n_unknown);
        tcase_add_test(tc, below_and_still_falling_is_missed_once_the_run_is_long_enough);
        tcase_add_test(tc, a_cycle_has_a_level_after_two_fills);
        tcase_add_test(tc, nothing_measured_is_inconclusive);
        tcase_add_test(tc, errors_count_at_any_time_but_none_count_at_the_end);
        tcase_add_test(tc, latency_and_temperature_pass_in_a_steady_state_only);
        tcase_add_test(tc, latency_and_temperature_wait_for_the_end);
        tcase_add_test(tc, what_is_missed_already_fails_a_short_run);
        tcase_add_test(tc, the_worst_criterion_decides);
        tcase_add_test(tc, without_expectations_a_fifth_must_be_kept_without_errors);
        tcase_add_test(tc, a_drive_that_is_gone_fails_whatever_was_expected);
        tcase_add_test(tc, a_failed_run_says_what_it_failed_of);
        tcase_add_test(tc, errors_are_told_whatever_else_is_expected);
        tcase_add_test(tc, means_are_no_percentiles);
        tcase_add_test(tc, a_drive_that_does_nothing_any_more_fails);
        tcase_add_test(tc, a_drive_that_never_did_anything_fails);
        tcase_add_test(tc, a_fall_in_the_last_minutes_is_no_state_but_is_told);
        tcase_add_test(tc, a_floor_is_that_of_cycles_and_stalls);
        tcase_add_test(tc, two_fills_are_not_asked_for_where_nobody_knows_the_capacity);
        tcase_add_test(tc, what_can_still_come_back_is_called_so);
        tcase_add_test(tc, never_reached_holds_for_every_ten_seconds);
        tcase_add_test(tc, a_phase_that_checked_nothing_passes_for_nothing);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

#include <math.h>
#include <string.h>

#include "analysis/from-sample.h"
#include "unit.h"
#include "util/macro.h"

#define BEGIN_NS (100 * NSEC_PER_SEC)

/* The phase's second number n (from 0): writes and half as many reads of 4 KiB. */
static void set_sample(Sample *sample, unsigned n, uint64_t writes) {
        memset(sample, 0, sizeof(*sample));
        sample->seq = n;
        sample->duration_ns = NSEC_PER_SEC;
        sample->elapsed_ns = BEGIN_NS + (n + 1) * NSEC_PER_SEC;
        sample->ios[DIRECTION_WRITE] = writes;
        sample->bytes[DIRECTION_WRITE] = writes * 4096;
        sample->ios[DIRECTION_READ] = writes / 2;
        sample->bytes[DIRECTION_READ] = writes / 2 * 4096;
}

START_TEST(times_are_those_of_the_phase) {
        static Sample sample;

        set_sample(&sample, 4, 1000);
        sample.duration_ns = NSEC_PER_SEC / 2;
        SeriesPoint p = series_point_from_sample(&sample, DIRECTION_WRITE, BEGIN_NS, true);
        ck_assert_double_eq(p.from_s, 4.5);
        ck_assert_double_eq(p.to_s, 5);
        ck_assert_double_eq(p.ios, 1000);
        ck_assert_double_eq(p.bytes, 4096000);
        ck_assert(p.cut);

        p = series_point_from_sample(&sample, DIRECTION_READ, BEGIN_NS, false);
        ck_assert_double_eq(p.ios, 500);
        ck_assert(!p.cut);
}
END_TEST

START_TEST(impossible_times_do_not_wrap) {
        static Sample sample;

        set_sample(&sample, 0, 1000);
        sample.duration_ns = UINT64_MAX;
        SeriesPoint p = series_point_from_sample(&sample, DIRECTION_WRITE, BEGIN_NS, false);
        ck_assert_double_eq(p.from_s, 0);
        p = series_point_from_sample(&sample, DIRECTION_WRITE, UINT64_MAX, false);
        ck_assert_double_eq(p.to_s, 0);
}
END_TEST

typedef struct Seen {
        unsigned n[3]; /* by SteadyChange */
        char text[3][STEADY_DECISION_MAX];
} Seen;

/* Seconds [from, to) at this level. */
static void watch_level(SteadyWatch *watch, Seen *seen, unsigned from, unsigned to, uint64_t writes) {
        static Sample sample;
        SteadyDecision decision;

        for (unsigned i = from; i < to; i++) {
                set_sample(&sample, i, writes);
                int r = steady_watch_add(watch, &sample, &decision);
                ck_assert_int_ge(r, 0);
                seen->n[r]++;
                if (r != STEADY_UNCHANGED)
                        steady_decision_text(watch, (SteadyChange) r, &decision, seen->text[r]);
        }
}

START_TEST(a_level_is_declared_and_revoked_in_words) {
        SteadyWatch watch = {};
        Seen seen = {};

        ck_assert_int_eq(steady_watch_begin(&watch, DIRECTION_WRITE, 100 * MIB, NSEC_PER_SEC, BEGIN_NS), 0);
        watch_level(&watch, &seen, 0, 1500, 10000);
        ck_assert_uint_eq(seen.n[STEADY_DECLARED], 1);
        ck_assert_uint_eq(seen.n[STEADY_REVOKED], 0);
        ck_assert_str_eq(seen.text[STEADY_DECLARED], "while it ran: 10.0k write IOPS since 19 min 0 s of the phase");
        watch_level(&watch, &seen, 1500, 1600, 2000);
        ck_assert_uint_eq(seen.n[STEADY_REVOKED], 1);
        ck_assert_str_eq(seen.text[STEADY_REVOKED],
                         "while it ran: write IOPS have left 10.0k, where they were since 19 min 0 s of the phase");
        steady_watch_end(&watch);
}
END_TEST

START_TEST(a_decision_tells_its_direction) {
        const SteadyDecision decision = { .iops = 1000 };
        char text[STEADY_DECISION_MAX];

        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                const SteadyWatch watch = { .direction = d };

                for (SteadyChange change = STEADY_DECLARED; change <= STEADY_REVOKED; change++) {
                        steady_decision_text(&watch, change, &decision, text);
                        ck_assert_ptr_nonnull(strstr(text, direction_name(d)));
                }
        }
}
END_TEST

START_TEST(a_steady_state_holds_from_its_declaration_to_its_revocation) {
        static Sample sample;
        SteadyWatch watch = {};
        SteadyDecision decision;
        uint64_t declared_ns = 0;

        ck_assert_int_eq(steady_watch_begin(&watch, DIRECTION_WRITE, 100 * MIB, NSEC_PER_SEC, BEGIN_NS), 0);
        for (unsigned i = 0; i < 1700; i++) {
                set_sample(&sample, i, i < 1600 ? 10000 : 2000);
                int r = steady_watch_add(&watch, &sample, &decision);
                ck_assert_int_ge(r, 0);
                if (r == STEADY_DECLARED)
                        declared_ns = sample.elapsed_ns;
                if (r == STEADY_REVOKED)
                        declared_ns = 0;
                ck_assert_uint_eq(steady_watch_held_ns(&watch, sample.elapsed_ns + 5),
                                  declared_ns > 0 ? sample.elapsed_ns + 5 - declared_ns : 0);
        }
        ck_assert_uint_eq(declared_ns, 0); /* it was revoked */

        ck_assert_int_eq(steady_watch_begin(&watch, DIRECTION_WRITE, 100 * MIB, NSEC_PER_SEC, BEGIN_NS), 0);
        Seen seen = {};
        watch_level(&watch, &seen, 0, 1500, 10000);
        ck_assert_uint_gt(steady_watch_held_ns(&watch, UINT64_MAX), 0);
        steady_watch_end(&watch);
        ck_assert_uint_eq(steady_watch_held_ns(&watch, UINT64_MAX), 0);
}
END_TEST

START_TEST(only_one_direction_counts) {
        SteadyWatch watch = {};
        Seen seen = {};

        ck_assert_int_eq(steady_watch_begin(&watch, DIRECTION_READ, 100 * MIB, NSEC_PER_SEC, BEGIN_NS), 0);
        watch_level(&watch, &seen, 0, 1500, 10000);
        ck_assert_str_eq(seen.text[STEADY_DECLARED], "while it ran: 5.00k read IOPS since 19 min 0 s of the phase");
        steady_watch_end(&watch);
}
END_TEST

/* A drive that rested is fast for a while: that is not its level, and no reason to revoke. */
START_TEST(what_follows_a_cut_is_left_out) {
        for (int cut = 0; cut <= 1; cut++) {
                SteadyWatch watch = {};
                Seen seen = {};

                ck_assert_int_eq(steady_watch_begin(&watch, DIRECTION_WRITE, 100 * MIB, NSEC_PER_SEC, BEGIN_NS), 0);
                watch_level(&watch, &seen, 0, 1505, 10000);
                if (cut)
                        steady_watch_cut(&watch);
                watch_level(&watch, &seen, 1505, 1535, 200000);
                watch_level(&watch, &seen, 1535, 1800, 10000);
                ck_assert_uint_eq(seen.n[STEADY_DECLARED], 1);
                ck_assert_uint_eq(seen.n[STEADY_REVOKED], cut ? 0 : 1);
                watch_level(&watch, &seen, 1800, 1900, 1000);
                ck_assert_uint_eq(seen.n[STEADY_REVOKED], 1);
                steady_watch_end(&watch);
        }
}
END_TEST

/* A pause drains what is outstanding: its last second is slow, and it completes a block. */
START_TEST(what_ends_with_a_cut_is_left_out) {
        SteadyWatch watch = {};
        Seen seen = {};

        ck_assert_int_eq(steady_watch_begin(&watch, DIRECTION_WRITE, 100 * MIB, NSEC_PER_SEC, BEGIN_NS), 0);
        watch_level(&watch, &seen, 0, 1369, 10000);
        watch_level(&watch, &seen, 1369, 1370, 0);
        steady_watch_cut(&watch);
        watch_level(&watch, &seen, 1370, 1600, 10000);
        ck_assert_uint_eq(seen.n[STEADY_DECLARED], 1);
        ck_assert_str_eq(seen.text[STEADY_DECLARED], "while it ran: 10.0k write IOPS since 19 min 0 s of the phase");
        steady_watch_end(&watch);
}
END_TEST

START_TEST(a_new_phase_starts_afresh) {
        SteadyWatch watch = {};
        Seen seen = {};

        ck_assert_int_eq(steady_watch_begin(&watch, DIRECTION_WRITE, 100 * MIB, NSEC_PER_SEC, BEGIN_NS), 0);
        watch_level(&watch, &seen, 0, 1500, 10000);
        ck_assert_int_eq(steady_watch_begin(&watch, DIRECTION_WRITE, 100 * MIB, NSEC_PER_SEC, BEGIN_NS), 0);
        watch_level(&watch, &seen, 0, 500, 2000);
        ck_assert_uint_eq(seen.n[STEADY_DECLARED], 1);
        ck_assert_uint_eq(seen.n[STEADY_REVOKED], 0);
        watch_level(&watch, &seen, 500, 1500, 2000);
        ck_assert_uint_eq(seen.n[STEADY_DECLARED], 2);

        steady_watch_end(&watch);
        watch_level(&watch, &seen, 1500, 2600, 100);
        ck_assert_uint_eq(seen.n[STEADY_DECLARED] + seen.n[STEADY_REVOKED], 2);
}
END_TEST

/* The phase's second number n, in which the host was so busy. */
static bool second_starves(Cuts *cuts, unsigned n, double cpu_percent) {
        static Sample sample;

        set_sample(&sample, n, 1000);
        sample.cpu_percent = cpu_percent;
        return cuts_hold(cuts, &sample);
}

/* How many of the seconds [from, to) count as starved. */
static unsigned seconds_starve(Cuts *cuts, unsigned from, unsigned to, double cpu_percent) {
        unsigned n = 0;

        for (unsigned i = from; i < to; i++)
                n += second_starves(cuts, i, cpu_percent);
        return n;
}

START_TEST(host_without_a_moment_to_spare_is_starved) {
        static const struct { double cpu_percent; bool starved; } cases[] = {
                { 0, false }, { 97.9, false }, { 98, true }, { 100, true }, { NAN, false },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Cuts cuts = {};
                ck_assert_uint_eq(seconds_starve(&cuts, 0, 1000, 50), 0);
                ck_assert_int_eq(second_starves(&cuts, 1000, cases[i].cpu_percent), cases[i].starved);
        }
}
END_TEST

START_TEST(host_has_room_far_from_its_limits) {
        static const struct { double cores, ring; bool had_room; } cases[] = {
                { 0, 0, true }, { 89.9, 89.9, true }, { 90, 0, false }, { 0, 90, false }, { NAN, NAN, true },
        };
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Sample sample = { .cpu_percent = cases[i].cores, .ring_cpu_percent = cases[i].ring };
                ck_assert_int_eq(series_point_from_sample(&sample, DIRECTION_WRITE, 0, false).host_had_room,
                                 cases[i].had_room);
        }
}
END_TEST

/* A second and the 30 s after it are a quarter of 124 s. Neighbours share what comes after them. */
START_TEST(host_that_is_always_busy_is_no_exception) {
        Cuts cuts = {};
        seconds_starve(&cuts, 0, 122, 50);
        ck_assert(!second_starves(&cuts, 122, 100));
        cuts = (Cuts) {};
        seconds_starve(&cuts, 0, 123, 50);
        ck_assert(second_starves(&cuts, 123, 100));

        cuts = (Cuts) {};
        seconds_starve(&cuts, 0, 270, 50);
        ck_assert_uint_eq(seconds_starve(&cuts, 270, 300, 100), 30); /* 60 s of 300 */
        ck_assert_uint_eq(seconds_starve(&cuts, 300, 400, 100), 20); /* till 80 s of 320 */

        cuts = (Cuts) {};
        ck_assert_uint_eq(seconds_starve(&cuts, 0, 10000, 100), 0);
        ck_assert_uint_eq(seconds_starve(&cuts, 10000, 39000, 50), 0);
        ck_assert(!second_starves(&cuts, 39000, 100)); /* too much even now */
        ck_assert_uint_eq(seconds_starve(&cuts, 39001, 41000, 50), 0);
        ck_assert(second_starves(&cuts, 41000, 100));
}
END_TEST

START_TEST(cuts_are_held_by_samples_at_either_side) {
        static const uint64_t at_ns[] = { BEGIN_NS + 3 * NSEC_PER_SEC, BEGIN_NS + 6 * NSEC_PER_SEC + 1 };
        static const bool wanted[] = { false, false, true, true, false, false, true, false };
        Cuts cuts = { .at_ns = at_ns, .n = ELEMENTSOF(at_ns) };
        static Sample sample;

        for (unsigned i = 0; i < ELEMENTSOF(wanted); i++) {
                set_sample(&sample, i, 1000);
                ck_assert_msg(cuts_hold(&cuts, &sample) == wanted[i], "second %u", i);
        }
}
END_TEST

START_TEST(starved_seconds_are_cut_offline_and_online) {
        for (int starved = 0; starved <= 1; starved++) {
                static Sample sample;
                SteadyWatch watch = {};
                SteadyDecision decision;
                Cuts cuts = {};
                unsigned n_revoked = 0, n_cut = 0;

                ck_assert_int_eq(steady_watch_begin(&watch, DIRECTION_WRITE, 100 * MIB, NSEC_PER_SEC, BEGIN_NS), 0);
                for (unsigned i = 0; i < 5000; i++) {
                        bool slow = i >= 4000 && i < 4100;
                        set_sample(&sample, i, slow ? 1000 : 10000);
                        sample.cpu_percent = slow && starved ? 100 : 50;
                        n_revoked += steady_watch_add(&watch, &sample, &decision) == STEADY_REVOKED;
                        n_cut += cuts_hold(&cuts, &sample);
                }
                ck_assert_uint_eq(n_revoked, starved ? 0 : 1);
                ck_assert_uint_eq(n_cut, starved ? 100 : 0);
                steady_watch_end(&watch);
        }
}
END_TEST

START_TEST(a_ring_thread_that_never_waits_is_starved_too) {
        static Sample sample;
        Cuts cuts = {};

        seconds_starve(&cuts, 0, 1000, 50);
        set_sample(&sample, 1000, 1000);
        sample.cpu_percent = 50;
        sample.ring_cpu_percent = 97.9;
        ck_assert(!cuts_hold(&cuts, &sample));
        sample.ring_cpu_percent = 98;
        ck_assert(cuts_hold(&cuts, &sample));
        sample.held_percent = 50;
        ck_assert(!cuts_hold(&cuts, &sample));
}
END_TEST

/* The details of all events over seconds [0, n), of which those in [from, to) are limited in that way. */
typedef struct Told {
        HostAlarm alarm;
        unsigned n;
        char text[4][HOST_ALARM_TEXT_MAX];
        unsigned second[4];
} Told;

static void tell_seconds_of(Told *told, unsigned from, unsigned to, double cpu_percent, double ring_cpu_percent,
                            double held_percent) {
        static Sample sample;

        for (unsigned i = from; i < to; i++) {
                char text[HOST_ALARM_TEXT_MAX];

                set_sample(&sample, i, 1000);
                sample.elapsed_ns -= BEGIN_NS; /* of the run, from its beginning */
                sample.cpu_percent = cpu_percent;
                sample.ring_cpu_percent = ring_cpu_percent;
                sample.held_percent = held_percent;
                if (!host_alarm_add(&told->alarm, &sample, text))
                        continue;
                if (told->n < ELEMENTSOF(told->text)) {
                        told->second[told->n] = i;
                        strcpy(told->text[told->n], text);
                }
                told->n++;
        }
}

static void tell_seconds(Told *told, unsigned from, unsigned to, double cpu_percent, double ring_cpu_percent) {
        tell_seconds_of(told, from, to, cpu_percent, ring_cpu_percent, 0);
}

START_TEST(who_holds_back_is_not_held_up) {
        Told told = {};

        tell_seconds_of(&told, 0, 100, 100, 100, 50);
        ck_assert_uint_eq(told.n, 0);
}
END_TEST

START_TEST(a_limit_is_told_with_its_beginning_and_its_end) {
        Told told = {};

        tell_seconds(&told, 0, 70, 50, 20);
        tell_seconds(&told, 70, 100, 100, 20);
        tell_seconds(&told, 100, 200, 50, 20);
        tell_seconds(&told, 200, 300, 50, 100);
        ck_assert_uint_eq(told.n, 3);
        ck_assert_uint_eq(told.second[0], 79);
        ck_assert_str_eq(told.text[0],
                         "the host, not the drive, has set the pace since 1 min 10 s: all of its cores are busy");
        ck_assert_uint_eq(told.second[1], 109);
        ck_assert_str_eq(told.text[1], "the host had set the pace for 30.0 s");
        ck_assert_ptr_nonnull(strstr(told.text[2], "since 3 min 20 s: a ring thread never waits for the drive"));

        /* The run ends meanwhile; and once only. */
        char text[HOST_ALARM_TEXT_MAX];
        ck_assert(host_alarm_end(&told.alarm, 300 * NSEC_PER_SEC, text));
        ck_assert_str_eq(text, "the host had set the pace for 1 min 40 s");
        ck_assert(!host_alarm_end(&told.alarm, 300 * NSEC_PER_SEC, text));
}
END_TEST

START_TEST(a_limit_from_the_beginning_is_told_as_that) {
        Told told = {};

        tell_seconds(&told, 0, 20, 100, 20);
        ck_assert_str_eq(told.text[0], "the host, not the drive, has set the pace since the run's beginning: all of "
                         "its cores are busy");
}
END_TEST

START_TEST(moments_are_not_told) {
        Told told = {};

        for (unsigned i = 0; i < 1000; i += 10) {
                tell_seconds(&told, i, i + 9, 100, 20);
                tell_seconds(&told, i + 9, i + 10, 50, 20);
        }
        ck_assert_uint_eq(told.n, 0);

        tell_seconds(&told, 1000, 1010, 100, 20);
        ck_assert_uint_eq(told.n, 1);
        for (unsigned i = 1010; i < 2000; i += 10) {
                tell_seconds(&told, i, i + 9, 50, 20);
                tell_seconds(&told, i + 9, i + 10, 100, 20);
        }
        ck_assert_uint_eq(told.n, 1); /* nor is it over */
}
END_TEST

START_TEST(limits_without_end_are_told_so_often) {
        Told told = {};

        for (unsigned i = 0; i < 100000; i += 40) {
                tell_seconds(&told, i, i + 20, 100, 20);
                tell_seconds(&told, i + 20, i + 40, 50, 20);
        }
        ck_assert_uint_eq(told.n, 2 * HOST_ALARM_N_MAX);

        told.n = 0;
        told.alarm = (HostAlarm){ .n_begun = HOST_ALARM_N_MAX - 1 };
        tell_seconds(&told, 0, 20, 100, 20);
        ck_assert_uint_eq(told.n, 1);
        ck_assert_ptr_nonnull(strstr(told.text[0], "it is not told again, unless the service is restarted"));
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("from-sample");
        TCase *tc = tcase_create("from-sample");

        tcase_add_test(tc, times_are_those_of_the_phase);
        tcase_add_test(tc, impossible_times_do_not_wrap);
        tcase_add_test(tc, a_level_is_declared_and_revoked_in_words);
        tcase_add_test(tc, a_decision_tells_its_direction);
        tcase_add_test(tc, a_steady_state_holds_from_its_declaration_to_its_revocation);
        tcase_add_test(tc, only_one_direction_counts);
        tcase_add_test(tc, what_follows_a_cut_is_left_out);
        tcase_add_test(tc, what_ends_with_a_cut_is_left_out);
        tcase_add_test(tc, a_new_phase_starts_afresh);
        tcase_add_test(tc, host_without_a_moment_to_spare_is_starved);
        tcase_add_test(tc, host_that_is_always_busy_is_no_exception);
        tcase_add_test(tc, host_has_room_far_from_its_limits);
        tcase_add_test(tc, a_ring_thread_that_never_waits_is_starved_too);
        tcase_add_test(tc, who_holds_back_is_not_held_up);
        tcase_add_test(tc, a_limit_is_told_with_its_beginning_and_its_end);
        tcase_add_test(tc, a_limit_from_the_beginning_is_told_as_that);
        tcase_add_test(tc, moments_are_not_told);
        tcase_add_test(tc, limits_without_end_are_told_so_often);
        tcase_add_test(tc, cuts_are_held_by_samples_at_either_side);
        tcase_add_test(tc, starved_seconds_are_cut_offline_and_online);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

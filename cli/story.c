/* SPDX-License-Identifier: MIT */

/*
 * Every sentence is true of the curve at the time it names: "in the end" is said of a level only where that is what
 * the drive did last, and a fall is told by its beginning and its end, so that a reader can reckon with them.
 */

#include "phrase.h"
#include "story.h"

#include <math.h>
#include <stdio.h>

#include "analysis/from-sample.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

#define N_STEPS_MAX 6 /* regimes that are told one by one; the table has them all */
#define DIP_SHARE 0.8 /* of both neighbours */
#define STEADY_FILLS 2.0

typedef struct Volume {
        char text[TEXT_SIZE_MAX];
} Volume;

static Volume volume(double bytes) {
        Volume v;

        text_format_size((uint64_t) fmax(bytes, 0), v.text);
        return v;
}

/* " (20.3 MB/s)", where the size of an I/O is known. */
static void print_bandwidth(const Judgement *j, double iops) {
        double mb_per_s = iops * judgement_bytes_per_io(j) / 1e6;

        if (isfinite(mb_per_s))
                printf(mb_per_s < 1000 ? " (%.3g MB/s)" : " (%.0f MB/s)", mb_per_s);
}

/* Its cycle goes on, whether that is a state or moves as a whole. */
static bool cycles_still(const Analysis *a) {
        return a->has_cycle && isnan(a->cycle_until_s);
}

static bool waves(const Analysis *a) {
        return !isnan(a->wave_low_iops);
}

/* Something followed the state that is judged, and was too short to be one. */
static bool has_tail(const Analysis *a) {
        if (cycles_still(a))
                return false;
        return a->end_from_s > a->steady_since_s;
}

/* --- levels --- */

static void print_flat(const Judgement *j) {
        const Analysis *a = j->analysis;
        double mean = a->regimes[0].iops_mean;
        bool moves = a->steady_iops < mean || a->steady_iops > mean;

        printf("It did %s IOPS", count(a->steady_iops).text);
        print_bandwidth(j, a->steady_iops);
        puts(moves         ? " in the last quarter of that time."
             : has_tail(a) ? " up to its last moments."
             : waves(a)    ? " on average."
                           : " throughout.");
}

static void print_burst(const Judgement *j) {
        const Analysis *a = j->analysis;

        printf("It did %s IOPS", count(a->burst_iops).text);
        print_bandwidth(j, a->burst_iops);
        printf(" in its burst (from %s to %s), and %s %s: %.3g %% of that (%s).\n", span(a->burst_from_s).text,
               span(a->burst_to_s).text, count(a->steady_iops).text,
               cycles_still(a)             ? "as the mean over its cycles"
               : has_tail(a)               ? "in the last state that held"
                                           : "at the end",
               100 * a->collapse_ratio, collapse_verdict_name(a->collapse));
}

/* "35.0k until 2 min 0 s, 9.0k until 30 min 0 s, then 500." */
static void print_steps(const Analysis *a) {
        printf("It went");
        for (size_t i = 0; i + 1 < a->n_regimes; i++)
                printf(" %s until %s,", count(a->regimes[i].iops_mean).text, span(a->regimes[i].to_s).text);
        printf(" then %s to the end.\n", count(a->regimes[a->n_regimes - 1].iops_mean).text);
}

static void print_fall(const Analysis *a) {
        if (a->collapse_across_cut)
                puts("Most of that was lost across a pause, an outage or a time when the host had no time for it: "
                     "when, and why, is not known.");
        if (isnan(a->collapse_from_s))
                return;
        printf("It fell from %s IOPS at %s towards %s at %s", count(a->collapse_from_iops).text,
               span(a->collapse_from_s).text, count(a->steady_iops).text,
               span(a->collapse_from_s + a->collapse_fall_s).text);
        printf(". Its lowest half minute since then did %s", count(a->collapse_trough_iops).text);
        if (a->collapse_recovered_ratio >= 0.01)
                printf(", from where %.0f %% of the fall has been made good", 100 * a->collapse_recovered_ratio);
        puts(".");
}

/* Of long dips, which a drive came back from; short ones are in the table. */
static void print_dips(const Analysis *a) {
        for (size_t i = 1; i + 1 < a->n_regimes; i++) {
                const Regime *r = &a->regimes[i];
                double beside = fmin(r[-1].iops_mean, r[1].iops_mean);

                if (r->iops_mean < DIP_SHARE * beside)
                        printf("It dipped to %s IOPS from %s to %s (%.0f %% of the lower level beside).\n",
                               count(r->iops_mean).text, span(r->from_s).text, span(r->to_s).text,
                               100 * r->iops_mean / beside);
        }
}

static void print_levels(const Judgement *j) {
        const Analysis *a = j->analysis;

        if (a->n_regimes == 1 && !cycles_still(a)) {
                print_flat(j);
                return;
        }
        print_burst(j);
        if (cycles_still(a))
                return;
        if (a->n_regimes > 2 && a->n_regimes <= N_STEPS_MAX)
                print_steps(a);
        print_fall(a);
        print_dips(a);
}

/* --- does it last --- */

static void print_too_short(const Judgement *j) {
        printf("No steady state can be told: %s is too short, it takes ten minutes", span(j->series.total_s).text);
        puts(j->run.size_bytes > 0 ? " and two fills of the device." : " at least.");
}

static void print_held(const Judgement *j) {
        const Analysis *a = j->analysis;

        if (a->steady_iops <= 0) {
                printf("It has done nothing since %s: the drive looks dead.\n", span(a->steady_since_s).text);
                return;
        }
        printf("It has held %s IOPS since %s, ", count(a->steady_iops).text, span(a->steady_since_s).text);
        if (j->run.size_bytes > 0)
                printf("and moved %s at this level: %s more are missing to call that steady, which takes two fills of "
                       "the device.\n", volume(a->steady_bytes).text,
                       volume(STEADY_FILLS * (double) j->run.size_bytes - a->steady_bytes).text);
        else
                puts("not long enough to call that steady: as the capacity is unknown, it takes half of the run and 30 "
                     "minutes (--capacity at the import would tell).");
}

static void print_wave(const Analysis *a) {
        printf("It is not steady: since %s it has slowly come and gone between %s and %s IOPS.\n",
               span(a->steady_since_s).text, count(a->wave_low_iops).text, count(a->wave_high_iops).text);
}

static void print_past_cycle(const Analysis *a) {
        if (a->has_cycle && !cycles_still(a))
                printf("Until %s it went up and down between %s and %s IOPS every %s.\n", span(a->cycle_until_s).text,
                       count(a->cycle_low_iops).text, count(a->cycle_high_iops).text, span(a->cycle_period_s).text);
}

static void print_cycle(const Analysis *a) {
        printf("It goes up and down between %s and %s IOPS every %s, with a mean of %s.\n",
               count(a->cycle_low_iops).text, count(a->cycle_high_iops).text, span(a->cycle_period_s).text,
               count(a->steady_iops).text);
}

static void print_steady(const Judgement *j) {
        const Analysis *a = j->analysis;

        switch (a->steady) {
        case STEADY_TOO_SHORT:
                print_too_short(j);
                break;
        case STEADY_NOT_ENOUGH_VOLUME:
                print_held(j);
                break;
        case STEADY_CYCLING:
                print_cycle(a);
                break;
        case STEADY_DRIFTING:
                if (cycles_still(a))
                        print_cycle(a);
                if (waves(a))
                        print_wave(a);
                else if (!has_tail(a))
                        printf("It is not steady: %s.\n", a->trend < 0 ? "it still falls at the end" :
                               a->trend > 0 ? "it still rises at the end" : "no state lasted to the end");
                break;
        default:
                printf("It has been steady at %s IOPS since %s%s.\n", count(a->steady_iops).text,
                       span(a->steady_since_s).text,
                       j->run.size_bytes > 0 ? "" : " (capacity unknown: judged by time)");
                break;
        }
}

/* --- the end --- */

static void print_tail(const Analysis *a) {
        if (has_tail(a))
                printf("In its last %s it did %s IOPS (%.2g %% of the burst): too short to call that its state.\n",
                       span(a->end_to_s - a->end_from_s).text, count(a->end_iops).text, 100 * a->end_ratio);
        if (a->end_silent_s > 0)
                printf("It did nothing at all in its last %s.\n", span(a->end_silent_s).text);
}

static void print_stalls(const Analysis *a) {
        if (a->n_stalls == 0)
                return;
        printf("It stalled %u %s, for %s%s", a->n_stalls, a->n_stalls == 1 ? "time" : "times",
               span(a->longest_stall_s).text, a->n_stalls == 1 ? "" : " at the longest");
        if (a->stalled_share > STALLED_SHARE_MAX)
                printf("; stalls took %.0f %% of the time since %s", 100 * a->stalled_share,
                       span(a->steady_since_s).text);
        puts(".");
}

static void print_host_limit(const Judgement *j) {
        if (j->host_limited_ns >= HOST_ALARM_NS)
                printf("For %s of it the host, not the drive, set the pace.\n",
                       span((double) j->host_limited_ns / (double) NSEC_PER_SEC).text);
}

void story_print(const Judgement *j) {
        const Analysis *a = j->analysis;

        if (a->n_regimes == 0) {
                printf("Too little was measured to tell anything: %s.\n", span(j->series.total_s).text);
                return;
        }
        if (a->burst_iops <= 0) {
                puts("Nothing completed.");
                return;
        }
        print_levels(j);
        print_past_cycle(a);
        print_steady(j);
        print_tail(a);
        print_stalls(a);
        print_host_limit(j);
}

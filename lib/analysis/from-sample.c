/* SPDX-License-Identifier: MIT */

#include <math.h>
#include <stdio.h>

#include "analysis/from-sample.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

static double seconds_since(uint64_t ns, uint64_t begin_ns) {
        return ns > begin_ns ? (double) (ns - begin_ns) / (double) NSEC_PER_SEC : 0;
}

SeriesPoint series_point_from_sample(const Sample *sample, Direction direction, uint64_t begin_ns, bool cut) {
        uint64_t from_ns = sample->elapsed_ns - MIN(sample->elapsed_ns, sample->duration_ns);

        return (SeriesPoint){
                .from_s = seconds_since(from_ns, begin_ns),
                .to_s = seconds_since(sample->elapsed_ns, begin_ns),
                .ios = (double) sample->ios[direction],
                .bytes = (double) sample->bytes[direction],
                .cut = cut,
                .host_limited = sample_host_limit(sample) != HOST_LIMIT_NONE,
                .host_had_room = !(sample->cpu_percent >= HOST_ROOM_PERCENT) &&
                                 !(sample->ring_cpu_percent >= HOST_ROOM_PERCENT),
        };
}

/* The next sample of the phase, in order: sample_host_limit() and what series.h adds. Constant time. */
static bool host_watch_starved(HostWatch *watch, const Sample *sample) {
        double duration_s = seconds_since(sample->duration_ns, 0), to_s = seconds_since(sample->elapsed_ns, 0);

        watch->seen_s += duration_s;
        if (sample_host_limit(sample) == HOST_LIMIT_NONE)
                return false;

        double until_s = to_s + SERIES_CUT_AFTER_S;
        watch->starved_s += until_s - fmax(to_s - duration_s, fmin(watch->until_s, until_s));
        watch->until_s = until_s;
        return watch->starved_s <= HOST_STARVED_SHARE_MAX * watch->seen_s;
}

static void tell_begin(const HostAlarm *alarm, char buf[static HOST_ALARM_TEXT_MAX]) {
        char since[TIME_SPAN_MAX];

        snprintf(buf, HOST_ALARM_TEXT_MAX, "the host, not the drive, has set the pace since %s: %s%s",
                 alarm->since_ns > 0 ? time_format_span(alarm->since_ns, since) : "the run's beginning",
                 alarm->limit == HOST_LIMIT_CORES ? "all of its cores are busy" :
                         "a ring thread never waits for the drive, and more of them may get more out of it (workers=)",
                 alarm->n_begun == HOST_ALARM_N_MAX ? "; it is not told again, unless the service is restarted" : "");
}

static void tell_end(const HostAlarm *alarm, uint64_t until_ns, char buf[static HOST_ALARM_TEXT_MAX]) {
        char span[TIME_SPAN_MAX];

        snprintf(buf, HOST_ALARM_TEXT_MAX, "the host had set the pace for %s",
                 time_format_span(until_ns - MIN(alarm->since_ns, until_ns), span));
}

/* It has been otherwise than was told for long enough. */
static bool turn(HostAlarm *alarm, HostLimit limit, char buf[static HOST_ALARM_TEXT_MAX]) {
        alarm->has_turned = false;
        if (alarm->limit != HOST_LIMIT_NONE) {
                tell_end(alarm, alarm->turned_ns, buf);
                alarm->limit = HOST_LIMIT_NONE;
                return true;
        }
        if (alarm->n_begun == HOST_ALARM_N_MAX)
                return false;

        alarm->n_begun++;
        alarm->limit = limit;
        alarm->since_ns = alarm->turned_ns;
        tell_begin(alarm, buf);
        return true;
}

bool host_alarm_add(HostAlarm *alarm, const Sample *sample, char buf[static HOST_ALARM_TEXT_MAX]) {
        HostLimit limit = sample_host_limit(sample);

        if ((limit == HOST_LIMIT_NONE) == (alarm->limit == HOST_LIMIT_NONE)) {
                alarm->has_turned = false;
                return false;
        }
        if (!alarm->has_turned) {
                alarm->has_turned = true;
                alarm->turned_ns = sample->elapsed_ns - MIN(sample->elapsed_ns, sample->duration_ns);
        }
        return sample->elapsed_ns - alarm->turned_ns >= HOST_ALARM_NS && turn(alarm, limit, buf);
}

bool host_alarm_end(HostAlarm *alarm, uint64_t elapsed_ns, char buf[static HOST_ALARM_TEXT_MAX]) {
        if (alarm->limit == HOST_LIMIT_NONE)
                return false;
        tell_end(alarm, elapsed_ns, buf);
        alarm->limit = HOST_LIMIT_NONE;
        return true;
}

/* Both ends belong to a sample: the one before a pause ends with it, and the one after begins with it. */
bool cuts_hold(Cuts *cuts, const Sample *sample) {
        uint64_t from_ns = sample->elapsed_ns - MIN(sample->elapsed_ns, sample->duration_ns);
        bool starved = host_watch_starved(&cuts->host, sample);

        while (cuts->next < cuts->n && cuts->at_ns[cuts->next] < from_ns)
                cuts->next++;
        return starved || (cuts->next < cuts->n && cuts->at_ns[cuts->next] <= sample->elapsed_ns);
}

int steady_watch_begin(SteadyWatch *watch, Direction direction, uint64_t capacity_bytes, uint64_t interval_ns,
                       uint64_t begin_ns) {
        steady_watch_end(watch);
        watch->direction = direction;
        watch->begin_ns = begin_ns;
        return steady_detector_new(&watch->detector, capacity_bytes, (double) interval_ns / (double) NSEC_PER_SEC);
}

void steady_watch_cut(SteadyWatch *watch) {
        watch->last.cut = true;
        watch->cut = true;
}

int steady_watch_add(SteadyWatch *watch, const Sample *sample, SteadyDecision *ret) {
        if (!watch->detector)
                return STEADY_UNCHANGED;

        bool cut = host_watch_starved(&watch->host, sample) || watch->cut;
        SeriesPoint point = series_point_from_sample(sample, watch->direction, watch->begin_ns, cut);
        watch->cut = false;

        int r = watch->has_last ? steady_detector_add(watch->detector, &watch->last, ret) : STEADY_UNCHANGED;
        watch->last = point;
        watch->has_last = true;
        if (r < 0)
                steady_watch_end(watch);
        else if (r != STEADY_UNCHANGED) {
                watch->steady = r == STEADY_DECLARED;
                watch->declared_ns = sample->elapsed_ns;
        }
        return r;
}

uint64_t steady_watch_held_ns(const SteadyWatch *watch, uint64_t elapsed_ns) {
        return watch->steady && elapsed_ns > watch->declared_ns ? elapsed_ns - watch->declared_ns : 0;
}

void steady_watch_end(SteadyWatch *watch) {
        watch->detector = steady_detector_free(watch->detector);
        watch->host = (HostWatch) {};
        watch->has_last = false;
        watch->cut = watch->steady = false;
}

const char *steady_decision_text(const SteadyWatch *watch, SteadyChange change, const SteadyDecision *decision,
                                 char buf[static STEADY_DECISION_MAX]) {
        const char *what = direction_name(watch->direction);
        char iops[TEXT_SIZE_MAX], since[TIME_SPAN_MAX];

        text_format_count(decision->iops, iops);
        time_format_span((uint64_t) (decision->since_s * (double) NSEC_PER_SEC), since);
        if (change == STEADY_DECLARED)
                snprintf(buf, STEADY_DECISION_MAX, "while it ran: %s %s IOPS since %s of the phase", iops, what, since);
        else
                snprintf(buf, STEADY_DECISION_MAX,
                         "while it ran: %s IOPS have left %s, where they were since %s of the phase", what, iops,
                         since);
        return buf;
}

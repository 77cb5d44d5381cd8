/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Samples of one phase, in order -> what the analysis works on, and the online decision over them: the same for a run
 * that is going on, one in the database and one that is imported. A phase is judged by one direction, never by the sum.
 */

#include "analysis/online.h"
#include "analysis/series.h"
#include "sample/sample.h"

/*
 * Times of the point are seconds of the phase, which began when the run's running time was begin_ns. cut: a pause or an
 * outage lies in the sample or at one of its ends.
 */
SeriesPoint series_point_from_sample(const Sample *sample, Direction direction, uint64_t begin_ns, bool cut);

/*
 * Whether the host, and not the drive, set the pace. Both the offline judgement and the online decision cut out such
 * samples, and what series.h cuts out after them. All zeros before the first sample of a phase.
 */
typedef struct HostWatch {
        double seen_s;    /* so far */
        double starved_s; /* of that, with what follows a starved sample */
        double until_s;   /* of the run's running time: up to there it follows one */
} HostWatch;

/*
 * More than a quarter of the time so far is no exception: that is how this host is, and what is measured is the drive
 * in it. So nothing is cut out of the first minutes, of which every second tells: a burst can use up a small host.
 */
#define HOST_STARVED_SHARE_MAX 0.25

/* A host that is less busy than that, and whose ring threads are, has room. Unknown shares are none that are full. */
#define HOST_ROOM_PERCENT 90.0

/*
 * The same while a run goes on, for its user. It is told when it has been so for a while, and when it has not been so
 * for a while; so what comes and goes with each second is told once.
 */
typedef struct HostAlarm {
        HostLimit limit;      /* that was told last; HOST_LIMIT_NONE: none, or that it is over */
        uint64_t since_ns;    /* when it began; running time of the run, as the next */
        uint64_t turned_ns;   /* since then it has been otherwise than was told, */
        bool has_turned;      /* if so */
        unsigned n_begun;
} HostAlarm;

#define HOST_ALARM_NS (UINT64_C(10) * 1000 * 1000 * 1000)

/* A host that is too busy every other minute for weeks is told of for long enough. */
#define HOST_ALARM_N_MAX 32

#define HOST_ALARM_TEXT_MAX 256
/* The next sample of the run, in order. True: buf is the detail of an event `host`. */
bool host_alarm_add(HostAlarm *alarm, const Sample *sample, char buf[static HOST_ALARM_TEXT_MAX]);

/* The run ends: the same for what still goes on. */
bool host_alarm_end(HostAlarm *alarm, uint64_t elapsed_ns, char buf[static HOST_ALARM_TEXT_MAX]);

/* Where a recorded phase is cut. */
typedef struct Cuts {
        const uint64_t *at_ns; /* running time at which the run was paused or interrupted, ascending; borrowed */
        size_t n;
        size_t next;           /* 0 at first */
        HostWatch host;
} Cuts;

/* Whether the next sample of the phase, in order, is cut out: it holds one of those times, or ends or begins there. */
bool cuts_hold(Cuts *cuts, const Sample *sample);

typedef struct SteadyWatch {
        SteadyDetector *detector; /* NULL: watches nothing */
        Direction direction;
        uint64_t begin_ns;
        HostWatch host;
        SeriesPoint last; /* not yet judged: what follows may show that it ended with a pause */
        bool has_last;
        bool cut; /* the next sample */
        bool steady; /* declared, and not revoked */
        uint64_t declared_ns; /* then; running time of the run */
} SteadyWatch;

/*
 * Forgets the phase before, and watches the one that begins at begin_ns of the run's running time. capacity_bytes: of
 * the target, 0 if unknown; interval_ns: usual length of a sample, not 0. -ENOMEM: it then watches nothing.
 */
int steady_watch_begin(SteadyWatch *watch, Direction direction, uint64_t capacity_bytes, uint64_t interval_ns,
                       uint64_t begin_ns);

/*
 * The run was paused, or something other than the drive held it up: as in cuts_hold() the sample that ended with that
 * and the next one are cut.
 */
void steady_watch_cut(SteadyWatch *watch);

/*
 * The next sample; what is decided is over those before it. A SteadyChange (*ret is filled unless STEADY_UNCHANGED); or
 * -ENOMEM, and it watches nothing more.
 */
int steady_watch_add(SteadyWatch *watch, const Sample *sample, SteadyDecision *ret);

/* For how long a steady state has held since it was declared, as of elapsed_ns (of the run); 0: for none. */
uint64_t steady_watch_held_ns(const SteadyWatch *watch, uint64_t elapsed_ns);

void steady_watch_end(SteadyWatch *watch);

#define STEADY_DECISION_MAX 160
/* The detail of an event steady or steady-revoked. Returns buf. */
const char *steady_decision_text(const SteadyWatch *watch, SteadyChange change, const SteadyDecision *decision,
                                 char buf[static STEADY_DECISION_MAX]);

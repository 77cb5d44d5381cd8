/* SPDX-License-Identifier: MIT */

/*
 * Jobs of one run need not begin and end together: one had less to do, failed, or was stopped. The sum of all falls
 * when one of them ends, though the drive does what it did. So it is told which and when, and what is before and after
 * are different phases. A job that a drive hardly serves has no rows for some intervals and seems to end a little
 * early; of many such jobs, one end soon after the other, a single short phase is made.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sample/recording-internal.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define TOGETHER_STEPS 10 /* ends that are no further apart are one change of the load */
#define NAMES_MAX 3       /* more are counted */

static bool tells_ios(const Track *track) {
        return track->kind == TRACK_IOPS || track->kind == TRACK_IOS;
}

static bool tells_bytes(const Track *track) {
        return track->kind == TRACK_BYTES_PER_S || track->kind == TRACK_BYTES;
}

static void spans_free(JobSpan *spans, size_t n) {
        for (size_t i = 0; i < n; i++)
                free(spans[i].name);
}

static int spans_name(JobSpan *spans, size_t n, const char *name) {
        const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;

        for (size_t i = 0; i < n; i++) {
                int r = n == 1 ? asprintf(&spans[i].name, "%s", base)
                               : asprintf(&spans[i].name, "job %zu in %s", i + 1, base);
                if (r < 0) {
                        spans[i].name = NULL;
                        spans_free(spans, i);
                        return -ENOMEM;
                }
        }
        return 0;
}

/* Those of latencies have no span: where nothing was done, none is told. */
static void span_extend(JobSpan *span, const Track *track) {
        if (track->n == 0 || (!tells_ios(track) && !tells_bytes(track)))
                return;
        span->from_ns = MIN(span->from_ns, track->rows[0].from_ns);
        span->to_ns = MAX(span->to_ns, track->rows[track->n - 1].to_ns);
        span->tells_ios |= tells_ios(track);
        span->tells_bytes |= tells_bytes(track);
}

int jobs_add(Jobs *jobs, const char *name, const Track *tracks, size_t n) {
        size_t n_jobs = 0;

        for (size_t i = 0; i < n; i++)
                n_jobs = MAX(n_jobs, (size_t) tracks[i].job + 1);
        JobSpan *items = reallocarray(jobs->items, jobs->n + n_jobs, sizeof(JobSpan));
        if (!items)
                return -ENOMEM;
        jobs->items = items;
        JobSpan *spans = items + jobs->n;
        for (size_t i = 0; i < n_jobs; i++)
                spans[i] = (JobSpan){ .from_ns = UINT64_MAX };
        if (spans_name(spans, n_jobs, name) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                span_extend(&spans[tracks[i].job], &tracks[i]);
        jobs->n += n_jobs;
        return 0;
}

void jobs_done(Jobs *jobs) {
        spans_free(jobs->items, jobs->n);
        free(jobs->items);
        *jobs = (Jobs){};
}

int jobs_check(const Jobs *jobs, Error *error) {
        size_t n_ios = 0, n_bytes = 0;

        for (size_t i = 0; i < jobs->n; i++) {
                n_ios += jobs->items[i].tells_ios;
                n_bytes += jobs->items[i].tells_bytes;
        }
        if (n_ios == n_bytes || n_ios == 0 || n_bytes == 0)
                return 0;
        return error_set(error, ERROR_USAGE, EINVAL,
                         "I/Os are told of %zu job%s, bandwidth of %zu: name the logs of all jobs of the run, or only "
                         "those of one kind", n_ios, n_ios == 1 ? "" : "s", n_bytes);
}

/* --- where they begin and end --- */

typedef struct Point {
        uint64_t at_ns;
        const char *name;
        bool begins;
} Point;

static int compare_points(const void *a, const void *b) {
        const Point *x = a, *y = b;
        return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/*
 * Begins and ends that others do not share, of those that tell I/Os, or bandwidth if there is nothing else: logs of
 * both kinds are of the same jobs. points has room for two a job.
 */
static size_t find_points(const Jobs *jobs, uint64_t step_ns, Point *points) {
        uint64_t first_ns = UINT64_MAX, last_ns = 0, long_ns = long_step_ns(step_ns);
        bool any_ios = false;
        size_t n = 0;

        for (size_t i = 0; i < jobs->n; i++) {
                first_ns = MIN(first_ns, jobs->items[i].from_ns);
                last_ns = MAX(last_ns, jobs->items[i].to_ns);
                any_ios |= jobs->items[i].tells_ios;
        }
        for (size_t i = 0; i < jobs->n; i++) {
                const JobSpan *span = &jobs->items[i];
                if (any_ios ? !span->tells_ios : !span->tells_bytes)
                        continue;
                if (span->from_ns - first_ns >= long_ns)
                        points[n++] = (Point){ .at_ns = span->from_ns, .name = span->name, .begins = true };
                if (last_ns - span->to_ns >= long_ns)
                        points[n++] = (Point){ .at_ns = span->to_ns, .name = span->name };
        }
        qsort(points, n, sizeof(Point), compare_points);
        return n;
}

/* "a, b, c and 5 more ended", "a began, b ended". */
static char *tell_points(const Point *points, size_t n) {
        char *text;
        size_t length;

        FILE *f = open_memstream(&text, &length);
        if (!f)
                return NULL;
        for (size_t i = 0; i < MIN(n, (size_t) NAMES_MAX); i++)
                fprintf(f, "%s%s %s", i > 0 ? ", " : "", points[i].name, points[i].begins ? "began" : "ended");
        if (n > NAMES_MAX)
                fprintf(f, " and %zu more began or ended", n - NAMES_MAX);
        if (fclose(f) == 0)
                return text;
        free(text);
        return NULL;
}

void recording_changes_free(RecordingChange *changes, size_t n) {
        for (size_t i = 0; i < n; i++)
                free(changes[i].text);
        free(changes);
}

typedef struct Changes {
        RecordingChange *items;
        size_t n;
} Changes;

static void changes_done(Changes *changes) {
        recording_changes_free(changes->items, changes->n);
}

/* At the first of some points, which are told. */
static int add_change(Changes *changes, const Point *points, size_t n) {
        if (changes->n + 1 >= RECORDING_N_PHASES_MAX)
                return 0;
        char *text = tell_points(points, n);
        if (!text)
                return -ENOMEM;
        changes->n++;
        changes->items[changes->n - 1] = (RecordingChange){
                .phase = (uint32_t) changes->n,
                .at_ns = points[0].at_ns,
                .text = text,
        };
        return 0;
}

/* Of points close together the first and the last make a change each, if an interval lies between them. */
static int add_changes(Changes *changes, const Point *points, size_t n, uint64_t step_ns) {
        int r = 0;

        for (size_t i = 0, end; r >= 0 && i < n; i = end) {
                for (end = i + 1; end < n && points[end].at_ns - points[end - 1].at_ns <= TOGETHER_STEPS * step_ns;
                     end++)
                        ;
                bool apart = points[end - 1].at_ns - points[i].at_ns >= step_ns;
                r = add_change(changes, &points[i], end - i - apart);
                if (r >= 0 && apart)
                        r = add_change(changes, &points[end - 1], 1);
        }
        return r;
}

int jobs_find_changes(const Jobs *jobs, uint64_t step_ns, RecordingChange **ret, size_t *ret_n) {
        _cleanup_free_ Point *points = calloc(jobs->n * 2, sizeof(Point));
        _cleanup_(changes_done) Changes changes = {};
        if (!points)
                return -ENOMEM;

        size_t n = find_points(jobs, step_ns, points);
        changes.items = calloc(n + 1, sizeof(RecordingChange));
        if (!changes.items)
                return -ENOMEM;
        int r = add_changes(&changes, points, n, step_ns);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(changes.items);
        *ret_n = changes.n;
        changes.n = 0;
        return 0;
}

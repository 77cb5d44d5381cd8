/* SPDX-License-Identifier: MIT */

/*
 * Nothing says where a round begins: it may end in the middle of the list of points, and the passes before and after
 * the tracked one belong to it. So the rounds of a point are its passes, counted.
 */

#include "analysis/iops-test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/macro.h"

static bool is_cut_within(const double *cuts_s, size_t n_cuts, double from_s, double to_s) {
        for (size_t i = 0; i < n_cuts; i++)
                if (cuts_s[i] >= from_s && cuts_s[i] <= to_s)
                        return true;
        return false;
}

bool iops_test_point(PhaseAction action, RwMode rw, uint32_t read_percent, const uint64_t block_bytes[N_DIRECTIONS],
                     IopsPass *ret) {
        bool is_io = action == PHASE_ACTION_IO || action == PHASE_ACTION_MATRIX;
        unsigned percent = rw == RW_RANDREAD ? 100 : rw == RW_RANDWRITE ? 0 : read_percent;

        if (!is_io || (rw != RW_RANDREAD && rw != RW_RANDWRITE && rw != RW_RANDRW))
                return false;
        ret->block_bytes = block_bytes[percent < 100 ? DIRECTION_WRITE : DIRECTION_READ];
        ret->read_percent = percent;
        return true;
}

static bool is_tracked(const IopsPass *pass) {
        return pass->read_percent == 0 && pass->block_bytes == IOPS_TEST_TRACKED_BLOCK_BYTES;
}

/* Which passes of the tracked point the rounds are. */
typedef struct Tracked {
        SniaRound *rounds;
        size_t *pass; /* of each round, from 1 */
        size_t n_rounds, n_passes;
} Tracked;

static void add_round(Tracked *tracked, const IopsPass *pass, bool after_pause) {
        tracked->pass[tracked->n_rounds] = tracked->n_passes;
        tracked->rounds[tracked->n_rounds++] = (SniaRound){
                .from_s = pass->from_s,
                .to_s = pass->to_s,
                .iops = pass->iops,
                .after_pause = after_pause,
        };
}

/* A pause that lies at an end of a pass has not disturbed it, but what comes next. */
static void collect_rounds(Tracked *tracked, const IopsPass *passes, size_t n, const double *cuts_s, size_t n_cuts) {
        bool after_pause = false;
        double before_s = 0; /* end of the round before */

        for (size_t i = 0; i < n; i++) {
                const IopsPass *pass = &passes[i];
                if (!is_tracked(pass))
                        continue;

                if (tracked->n_passes++ > 0 && is_cut_within(cuts_s, n_cuts, before_s, pass->from_s))
                        after_pause = true;
                before_s = pass->to_s;
                bool whole = pass->complete && isfinite(pass->iops) &&
                             !is_cut_within(cuts_s, n_cuts, nextafter(pass->from_s, INFINITY),
                                            nextafter(pass->to_s, -INFINITY));
                if (whole)
                        add_round(tracked, pass, after_pause);
                after_pause = !whole;
        }
}

/* --- the table --- */

static IopsPoint *find_point(IopsTest *test, const IopsPass *pass) {
        for (size_t i = 0; i < test->n_points; i++)
                if (test->points[i].block_bytes == pass->block_bytes &&
                    test->points[i].read_percent == pass->read_percent)
                        return &test->points[i];

        IopsPoint *point = &test->points[test->n_points++];
        *point = (IopsPoint){ .block_bytes = pass->block_bytes, .read_percent = pass->read_percent };
        return point;
}

static int compare_points(const void *a, const void *b) {
        const IopsPoint *x = a, *y = b;

        if (x->block_bytes != y->block_bytes)
                return x->block_bytes < y->block_bytes ? -1 : 1;
        return (x->read_percent < y->read_percent) - (x->read_percent > y->read_percent);
}

/* Over the passes of the window, if there is one. */
static void fill_points(IopsTest *test, const IopsPass *passes, size_t n) {
        size_t first = test->first_pass, last = test->last_pass;

        for (size_t i = 0; i < n; i++) {
                IopsPoint *point = find_point(test, &passes[i]);

                point->n_passes++;
                if (first > 0 && point->n_passes >= first && point->n_passes <= last)
                        point->iops += passes[i].complete ? passes[i].iops : NAN;
        }
        for (size_t i = 0; i < test->n_points; i++) {
                IopsPoint *point = &test->points[i];

                if (first == 0 || point->n_passes < last)
                        point->iops = NAN;
                else
                        point->iops /= (double) (last - first + 1);
        }
        if (test->n_points > 0)
                qsort(test->points, test->n_points, sizeof(*test->points), compare_points);
}

/* Two phases alike with something between them are no test yet. */
static bool is_test(const IopsTest *test, const Tracked *tracked) {
        if (tracked->n_passes < 2)
                return false;
        for (size_t i = 0; i < test->n_points; i++) {
                const IopsPoint *point = &test->points[i];
                bool other = point->block_bytes != IOPS_TEST_TRACKED_BLOCK_BYTES || point->read_percent != 0;

                if (other && point->n_passes >= 2)
                        return true;
        }
        return test->n_points == 1;
}

int iops_test_judge(const IopsPass *passes, size_t n, const double *cuts_s, size_t n_cuts, IopsTest *ret) {
        size_t room = MAX(n, (size_t) 1);
        _cleanup_free_ size_t *pass = calloc(room, sizeof(*pass));
        _cleanup_iops_test_ IopsTest test = {
                .rounds = calloc(room, sizeof(SniaRound)),
                .points = calloc(room, sizeof(IopsPoint)),
        };
        Tracked tracked = { .rounds = test.rounds, .pass = pass };

        if (!pass || !test.rounds || !test.points)
                return -ENOMEM;
        collect_rounds(&tracked, passes, n, cuts_s, n_cuts);
        snia_judge_rounds(test.rounds, tracked.n_rounds, &test.snia);

        const SniaWindow *window = test.snia.first.first_round > 0 ? &test.snia.first : &test.snia.last;
        if (window->first_round > 0) {
                test.first_pass = pass[window->first_round - 1];
                test.last_pass = pass[window->last_round - 1];
        }
        fill_points(&test, passes, n);
        if (!is_test(&test, &tracked))
                return 0;
        *ret = test;
        test = (IopsTest){};
        return 1;
}

/* --- its end --- */

/* Of the passes that are no point's later one than `round`, the last. */
static int find_last(const IopsPass *passes, size_t n, size_t round, size_t *ret) {
        _cleanup_iops_test_ IopsTest counts = { .points = calloc(n, sizeof(IopsPoint)) };

        if (!counts.points)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                if (++find_point(&counts, &passes[i])->n_passes <= round)
                        *ret = i;
        return 0;
}

int iops_test_end(const IopsPass *passes, size_t n_ended, size_t n, const double *cuts_s, size_t n_cuts,
                  size_t *ret_last, SniaWindow *ret_window) {
        _cleanup_iops_test_ IopsTest test = {};
        int r = iops_test_judge(passes, n_ended, cuts_s, n_cuts, &test);

        if (r <= 0 || test.snia.first.first_round == 0)
                return MIN(r, 0);
        r = find_last(passes, n, test.last_pass, ret_last);
        if (r < 0)
                return r;
        *ret_window = test.snia.first;
        return 1;
}

void iops_test_done(IopsTest *test) {
        free(test->rounds);
        free(test->points);
        *test = (IopsTest){};
}

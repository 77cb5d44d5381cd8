/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/criteria.h"
#include "analysis/noise.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define FIO_STEP_S 1.0 /* fio looks once a second */

/* The series in intervals of about step_s: whole samples, the incomplete last one dropped. */
typedef struct Rounds {
        double *iops;
        double *from_s, *to_s;
        size_t n;
} Rounds;

static void rounds_done(Rounds *r) {
        free(r->iops);
        free(r->from_s);
        free(r->to_s);
}

static int rounds_init(Rounds *r, const Series *series, double step_s) {
        size_t per_round = series->step_s > 0 ? (size_t) fmax(1, round(step_s / series->step_s)) : 1;
        size_t n = series->n_points / per_round;

        r->iops = calloc(MAX(n, (size_t) 1), sizeof(double));
        r->from_s = calloc(MAX(n, (size_t) 1), sizeof(double));
        r->to_s = calloc(MAX(n, (size_t) 1), sizeof(double));
        if (!r->iops || !r->from_s || !r->to_s)
                return -ENOMEM;

        for (r->n = 0; r->n < n; r->n++) {
                const SeriesPoint *p = &series->points[r->n * per_round];
                double ios = 0, duration_s = 0;
                for (size_t i = 0; i < per_round; i++) {
                        ios += p[i].ios;
                        duration_s += p[i].to_s - p[i].from_s;
                }
                r->iops[r->n] = duration_s > 0 ? ios / duration_s : 0;
                r->from_s[r->n] = p[0].from_s;
                r->to_s[r->n] = p[per_round - 1].to_s;
        }
        return 0;
}

void snia_window_set(SniaWindow *w, const double values[static SNIA_N_WINDOW]) {
        double lowest = INFINITY, highest = -INFINITY, sum = 0;
        for (size_t i = 0; i < SNIA_N_WINDOW; i++) {
                lowest = fmin(lowest, values[i]);
                highest = fmax(highest, values[i]);
                sum += values[i];
        }

        Line line = line_fit(values, SNIA_N_WINDOW);
        w->average = sum / SNIA_N_WINDOW;
        w->data_excursion_allowed = SNIA_DATA_EXCURSION * w->average;
        w->data_excursion = highest - lowest;
        w->slope_excursion_allowed = SNIA_SLOPE_EXCURSION * w->average;
        w->slope_excursion = fabs(line.slope) * (SNIA_N_WINDOW - 1);
        w->fit_slope = line.slope;
        w->fit_intercept = line.intercept - line.slope * w->first_round;

        /* A bound that is met exactly must not fail by the last binary digit of a product. */
        double slack = 1e-12 * w->average;
        w->steady = w->average > 0 && w->data_excursion <= w->data_excursion_allowed + slack &&
                    w->slope_excursion <= w->slope_excursion_allowed + slack;
}

static SniaWindow snia_window_at(const Rounds *r, size_t first) {
        SniaWindow w = {
                .first_round = (unsigned) first + 1,
                .last_round = (unsigned) first + SNIA_N_WINDOW,
                .from_s = r->from_s[first],
                .to_s = r->to_s[first + SNIA_N_WINDOW - 1],
        };
        snia_window_set(&w, r->iops + first);
        return w;
}

int snia_judge(const Series *series, SniaResult *ret) {
        _cleanup_(rounds_done) Rounds rounds = {};
        int r = rounds_init(&rounds, series, SNIA_ROUND_S);
        if (r < 0)
                return r;

        *ret = (SniaResult){ .n_rounds = (unsigned) rounds.n };
        for (size_t i = 0; i + SNIA_N_WINDOW <= rounds.n; i++) {
                ret->last = snia_window_at(&rounds, i);
                if (ret->last.steady && ret->first.first_round == 0)
                        ret->first = ret->last;
        }
        return 0;
}

/* The extreme of a moving window: indices of values that can still become it, best first. */
typedef struct Extreme {
        size_t *indices;
        size_t head, tail;
        double sign; /* 1: maximum, -1: minimum */
} Extreme;

static void extreme_add(Extreme *e, const double *values, size_t i, size_t window) {
        while (e->tail > e->head && e->sign * values[e->indices[e->tail - 1]] <= e->sign * values[i])
                e->tail--;
        e->indices[e->tail++] = i;
        if (e->indices[e->head] + window <= i)
                e->head++;
}

static double extreme_get(const Extreme *e, const double *values) {
        return values[e->indices[e->head]];
}

/* Everything fio needs to know of a window, kept up to date in constant time as it moves. */
typedef struct Moving {
        const double *values;
        size_t window;
        double sum_y, sum_xy; /* x counts from 0 at the window's start */
        Extreme highest, lowest;
} Moving;

static void moving_done(Moving *m) {
        free(m->highest.indices);
        free(m->lowest.indices);
}

static int moving_init(Moving *m, const double *values, size_t n, size_t window) {
        *m = (Moving){
                .values = values,
                .window = window,
                .highest = { .indices = calloc(n, sizeof(size_t)), .sign = 1 },
                .lowest = { .indices = calloc(n, sizeof(size_t)), .sign = -1 },
        };
        return m->highest.indices && m->lowest.indices ? 0 : -ENOMEM;
}

/* The window ends with value i from now on. */
static void moving_add(Moving *m, size_t i) {
        if (i >= m->window) {
                m->sum_y -= m->values[i - m->window];
                m->sum_xy -= m->sum_y;
                m->sum_xy += (double) (m->window - 1) * m->values[i];
        } else
                m->sum_xy += (double) i * m->values[i];
        m->sum_y += m->values[i];

        extreme_add(&m->highest, m->values, i, m->window);
        extreme_add(&m->lowest, m->values, i, m->window);
}

/* Change of the fit line from one value to the next. */
static double moving_slope(const Moving *m) {
        double n = (double) m->window, sum_x = n * (n - 1) / 2, sum_xx = (n - 1) * n * (2 * n - 1) / 6;
        return (m->sum_xy - sum_x * m->sum_y / n) / (sum_xx - sum_x * sum_x / n);
}

static double moving_deviation(const Moving *m) {
        double mean = m->sum_y / (double) m->window;
        return fmax(extreme_get(&m->highest, m->values) - mean, mean - extreme_get(&m->lowest, m->values));
}

int fio_judge(const Series *series, const FioCriterion *criterion, FioResult *ret) {
        _cleanup_(rounds_done) Rounds rounds = {};
        _cleanup_(moving_done) Moving moving = {};
        /* Rounds hold whole samples, so where those do not divide a second a round is not quite one. */
        double step_s = series->step_s > 0 ? fmax(1, round(FIO_STEP_S / series->step_s)) * series->step_s : FIO_STEP_S;
        size_t window = (size_t) fmax(2, round(criterion->duration_s / step_s));

        int r = rounds_init(&rounds, series, FIO_STEP_S);
        if (r >= 0)
                r = moving_init(&moving, rounds.iops, MAX(rounds.n, (size_t) 1), window);
        if (r < 0)
                return r;

        *ret = (FioResult){ .criterion = *criterion, .attained_at_s = NAN, .value_percent = NAN, .mean_iops = NAN };
        for (size_t i = 0; i < rounds.n && !ret->attained; i++) {
                moving_add(&moving, i);
                if (i + 1 < window)
                        continue;

                double value = criterion->slope ? fabs(moving_slope(&moving)) / step_s : moving_deviation(&moving);
                ret->mean_iops = moving.sum_y / (double) window;
                ret->value_percent = ret->mean_iops > 0 ? 100 * value / ret->mean_iops : NAN;
                if (ret->value_percent < criterion->limit_percent) {
                        ret->attained = true;
                        ret->attained_at_s = rounds.to_s[i];
                }
        }
        return 0;
}

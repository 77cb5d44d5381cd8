/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/criteria.h"
#include "analysis/noise.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define FIO_STEP_S 1.0 /* fio looks once a second */

/* What a second's IOPS may lack of a whole number because times are binary fractions. */
#define WHOLE_SLACK 1e-6

/* The series in intervals of about step_s: whole samples, incomplete ones dropped, also where a pause interrupts. */
typedef struct Rounds {
        SniaRound *items;
        size_t n;
} Rounds;

static void rounds_done(Rounds *r) {
        free(r->items);
}

/* What was cut out between two samples left its time. */
static bool series_has_gap(const Series *series, size_t i) {
        return i > 0 && series->points[i].from_s - series->points[i - 1].to_s > series->step_s / 2;
}

static int rounds_init(Rounds *r, const Series *series, double step_s) {
        size_t per_round = series->step_s > 0 ? (size_t) fmax(1, round(step_s / series->step_s)) : 1, n_in_round = 0;
        double ios = 0, duration_s = 0;
        bool after_pause = false;

        r->items = calloc(MAX(series->n_points / per_round, (size_t) 1), sizeof(SniaRound));
        if (!r->items)
                return -ENOMEM;

        for (size_t i = 0; i < series->n_points; i++) {
                const SeriesPoint *p = &series->points[i];
                if (series_has_gap(series, i)) {
                        after_pause = true;
                        n_in_round = 0;
                }
                if (n_in_round == 0)
                        ios = duration_s = 0;
                ios += p->ios;
                duration_s += p->to_s - p->from_s;
                if (++n_in_round < per_round)
                        continue;

                r->items[r->n++] = (SniaRound){
                        .from_s = series->points[i + 1 - per_round].from_s,
                        .to_s = p->to_s,
                        .iops = duration_s > 0 ? ios / duration_s : 0,
                        .after_pause = after_pause,
                };
                n_in_round = 0;
                after_pause = false;
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

static SniaWindow snia_window_at(const SniaRound *rounds, size_t first) {
        SniaWindow w = {
                .first_round = (unsigned) first + 1,
                .last_round = (unsigned) first + SNIA_N_WINDOW,
                .from_s = rounds[first].from_s,
                .to_s = rounds[first + SNIA_N_WINDOW - 1].to_s,
        };
        double values[SNIA_N_WINDOW];
        for (size_t i = 0; i < SNIA_N_WINDOW; i++)
                values[i] = rounds[first + i].iops;
        snia_window_set(&w, values);
        return w;
}

void snia_judge_rounds(const SniaRound *rounds, size_t n, SniaResult *ret) {
        size_t n_in_a_row = 0;

        *ret = (SniaResult){ .n_rounds = (unsigned) n };
        for (size_t i = 0; i < n; i++) {
                n_in_a_row = rounds[i].after_pause ? 1 : n_in_a_row + 1;
                if (n_in_a_row < SNIA_N_WINDOW)
                        continue;
                ret->last = snia_window_at(rounds, i + 1 - SNIA_N_WINDOW);
                if (ret->last.steady && ret->first.first_round == 0)
                        ret->first = ret->last;
        }
}

int snia_judge(const Series *series, SniaResult *ret) {
        _cleanup_(rounds_done) Rounds rounds = {};
        int r = rounds_init(&rounds, series, SNIA_ROUND_S);
        if (r >= 0)
                snia_judge_rounds(rounds.items, rounds.n, ret);
        return r;
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
        double *values;
        size_t window;
        size_t n; /* values since it began */
        double sum_y, sum_xy; /* x counts from 0 at the window's start */
        Extreme highest, lowest;
} Moving;

static void moving_done(Moving *m) {
        free(m->values);
        free(m->highest.indices);
        free(m->lowest.indices);
}

static int moving_init(Moving *m, size_t n, size_t window) {
        *m = (Moving){
                .values = calloc(n, sizeof(double)),
                .window = window,
                .highest = { .indices = calloc(n, sizeof(size_t)), .sign = 1 },
                .lowest = { .indices = calloc(n, sizeof(size_t)), .sign = -1 },
        };
        return m->values && m->highest.indices && m->lowest.indices ? 0 : -ENOMEM;
}

static void moving_restart(Moving *m) {
        m->n = 0;
        m->sum_y = m->sum_xy = 0;
        m->highest.head = m->highest.tail = m->lowest.head = m->lowest.tail = 0;
}

static void moving_add(Moving *m, double value) {
        size_t i = m->n++;

        m->values[i] = value;
        if (i >= m->window) {
                m->sum_y -= m->values[i - m->window];
                m->sum_xy -= m->sum_y;
                m->sum_xy += (double) (m->window - 1) * value;
        } else
                m->sum_xy += (double) i * value;
        m->sum_y += value;

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

/* In percent; NaN where fio would divide by 0. */
static double moving_criterion(const Moving *m, bool slope) {
        double mean = m->sum_y / (double) m->window, base = slope ? floor(mean) : mean;
        return base > 0 ? 100 * (slope ? fabs(moving_slope(m)) : moving_deviation(m)) / base : NAN;
}

int fio_judge(const Series *series, const FioCriterion *criterion, FioResult *ret) {
        _cleanup_(rounds_done) Rounds rounds = {};
        _cleanup_(moving_done) Moving moving = {};
        /* Rounds hold whole samples, so where those do not divide a second a round is not quite one. */
        double step_s = series->step_s > 0 ? fmax(1, round(FIO_STEP_S / series->step_s)) * series->step_s : FIO_STEP_S;
        size_t window = (size_t) fmax(2, round(criterion->duration_s / step_s));

        int r = rounds_init(&rounds, series, FIO_STEP_S);
        if (r >= 0)
                r = moving_init(&moving, MAX(rounds.n, (size_t) 1), window);
        if (r < 0)
                return r;

        *ret = (FioResult){ .criterion = *criterion, .attained_at_s = NAN, .value_percent = NAN, .mean_iops = NAN };
        for (size_t i = 0; i < rounds.n && !ret->attained; i++) {
                if (rounds.items[i].after_pause)
                        moving_restart(&moving);
                moving_add(&moving, floor(rounds.items[i].iops + WHOLE_SLACK));
                if (moving.n < window)
                        continue;

                double value = moving_criterion(&moving, criterion->slope);
                ret->mean_iops = floor(moving.sum_y / (double) window);
                ret->value_percent = criterion->slope ? value / step_s : value;
                if (ret->value_percent < criterion->limit_percent) {
                        ret->attained = true;
                        ret->attained_at_s = rounds.items[i].to_s;
                }
        }
        return 0;
}

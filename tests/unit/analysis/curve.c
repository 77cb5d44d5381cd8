/* SPDX-License-Identifier: MIT */

#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "util/hash.h"
#include "util/macro.h"

typedef struct Random {
        uint64_t seed, n;
} Random;

static double uniform(Random *r) {
        return ((double) (hash_mix64_2(r->seed, r->n++) >> 11) + 0.5) * 0x1p-53;
}

static double normal(Random *r) {
        double u = uniform(r), v = uniform(r);
        return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Unit variance either way. */
static double shock(Random *r, bool heavy_tails) {
        double z = normal(r);
        if (!heavy_tails)
                return z;
        double a = normal(r), b = normal(r), c = normal(r);
        return z / sqrt((a * a + b * b + c * c) / 3) / sqrt(3);
}

static double level_at(double iops, const CurveStep *steps, size_t n_steps, double t) {
        for (size_t i = 0; i < n_steps && steps[i].at_s <= t; i++) {
                double way = steps[i].ramp_s > 0 ? fmin(1, (t - steps[i].at_s) / steps[i].ramp_s) : 1;
                iops = exp((1 - way) * log(fmax(iops, 1e-9)) + way * log(fmax(steps[i].iops, 1e-9)));
        }
        return iops;
}

Curve curve_make(double iops, const CurveStep *steps, size_t n_steps, const CurveNoise *noise,
                 double length_s, double step_s, uint64_t seed) {
        static const CurveNoise none = {};
        Random random = { .seed = seed };
        Curve curve = { .n = (size_t) round(length_s / step_s) };
        double x = 0;

        if (!noise)
                noise = &none;
        curve.points = calloc(MAX(curve.n, (size_t) 1), sizeof(SeriesPoint));
        if (!curve.points)
                abort();

        for (size_t i = 0; i < curve.n; i++) {
                double from_s = (double) i * step_s;
                double e = shock(&random, noise->heavy_tails);
                x = i == 0 ? e : noise->phi * x + sqrt(1 - noise->phi * noise->phi) * e;

                double factor = 1 + noise->sigma * x + (i % 2 ? noise->alternating : -noise->alternating);
                if (noise->period_s > 0)
                        factor += noise->amplitude * sin(2 * M_PI * from_s / noise->period_s);
                double ios = round(level_at(iops, steps, n_steps, from_s) * fmax(0, factor) * step_s);
                curve.points[i] = (SeriesPoint){
                        .from_s = from_s, .to_s = from_s + step_s, .ios = ios, .bytes = ios * 4096,
                };
        }
        return curve;
}

/* How many come in a sample where `iops` come on average, one after the other at random. */
static double poisson(Random *random, double iops) {
        double n = 0;

        for (double at = -log(uniform(random)); at < iops; at -= log(uniform(random)))
                n++;
        return n;
}

void curve_set_rare(Curve *curve, double iops, double fall_s, double iops_after, uint64_t seed) {
        Random random = { .seed = seed };
        double due = 0;

        for (size_t i = 0; i < curve->n; i++) {
                SeriesPoint *p = &curve->points[i];
                double level = p->from_s < fall_s ? iops : iops_after;
                due += level;
                p->ios = seed > 0 ? poisson(&random, level) : floor(due + 1e-9);
                due -= p->ios;
                p->bytes = p->ios * 4096;
        }
}

void curve_set_low(Curve *curve, double share, double factor, uint64_t seed) {
        Random random = { .seed = seed };

        for (size_t i = 0; i < curve->n; i++)
                if (uniform(&random) < share) {
                        curve->points[i].ios = round(curve->points[i].ios * factor);
                        curve->points[i].bytes = curve->points[i].ios * 4096;
                }
}

void curve_done(Curve *curve) {
        free(curve->points);
        *curve = (Curve){};
}

Analysis *curve_judge(const Curve *curve, uint64_t capacity_bytes) {
        Series series;
        Analysis *analysis;

        if (series_init(&series, curve->points, curve->n) < 0 || analysis_new(&analysis, &series, capacity_bytes) < 0)
                abort();
        series_done(&series);
        return analysis;
}

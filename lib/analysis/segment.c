/* SPDX-License-Identifier: MIT */

/*
 * The cost of the best partition of y[0..t], as a function of the last piece's mean mu, is the lower envelope of
 * quadratics, one for each start of the last piece that can still win. It is kept as intervals of
 * mu in order, each with its quadratic a·mu² + b·mu + c and the start it stands for. At each t the new
 * point's loss is added to all, and a new start, at the constant cost of the best so far plus the penalty,
 * takes over wherever it is lower.
 */

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/segment.h"
#include "util/cleanup.h"
#include "util/macro.h"

typedef struct Piece {
        double lo, hi;
        double a, b, c;
        size_t start;
} Piece;

typedef struct Envelope {
        Piece *pieces;
        size_t n, allocated;
} Envelope;

static void envelope_done(Envelope *e) {
        free(e->pieces);
}

static int envelope_push(Envelope *e, Piece piece) {
        if (piece.lo >= piece.hi)
                return 0;

        if (e->n > 0) {
                Piece *last = &e->pieces[e->n - 1];
                if (last->start == piece.start && last->hi >= piece.lo) {
                        last->hi = piece.hi;
                        return 0;
                }
        }
        if (e->n == e->allocated) {
                size_t allocated = MAX(e->allocated * 2, (size_t) 64);
                Piece *p = reallocarray(e->pieces, allocated, sizeof(Piece));
                if (!p)
                        return -ENOMEM;
                e->pieces = p;
                e->allocated = allocated;
        }
        e->pieces[e->n++] = piece;
        return 0;
}

static double piece_minimum(const Piece *p) {
        double mu = p->a > 0 ? -p->b / (2 * p->a) : p->lo;
        mu = fmin(fmax(mu, p->lo), p->hi);
        return (p->a * mu + p->b) * mu + p->c;
}

/* Appends the lower of piece and the constant `cost` (which stands for `start`) over the piece's interval. */
static int envelope_push_lower(Envelope *e, const Piece *p, double cost, size_t start) {
        Piece fresh = { .lo = p->lo, .hi = p->hi, .c = cost, .start = start };
        double discriminant = p->b * p->b - 4 * p->a * (p->c - cost);
        if (discriminant <= 0 || p->a <= 0)
                return envelope_push(e, p->a <= 0 && p->c <= cost ? *p : fresh);

        double root = sqrt(discriminant);
        double left = fmin(fmax((-p->b - root) / (2 * p->a), p->lo), p->hi);
        double right = fmin(fmax((-p->b + root) / (2 * p->a), p->lo), p->hi);

        Piece before = fresh, old = *p, after = fresh;
        before.hi = old.lo = left;
        old.hi = after.lo = right;

        int r = envelope_push(e, before);
        if (r >= 0)
                r = envelope_push(e, old);
        if (r >= 0)
                r = envelope_push(e, after);
        return r;
}

/* Adds one point's loss everywhere; returns the least cost and the start it belongs to. */
static double envelope_add_point(Envelope *e, double y, size_t *ret_start) {
        double best = INFINITY;

        for (size_t i = 0; i < e->n; i++) {
                Piece *p = &e->pieces[i];
                p->a += 1;
                p->b -= 2 * y;
                p->c += y * y;

                double cost = piece_minimum(p);
                if (cost < best) {
                        best = cost;
                        *ret_start = p->start;
                }
        }
        return best;
}

int segment_fpop(const double *y, size_t n, double penalty, size_t **ret_starts, size_t *ret_n) {
        _cleanup_(envelope_done) Envelope now = {}, next = {};
        _cleanup_free_ size_t *last_start = calloc(MAX(n, (size_t) 1), sizeof(size_t));
        if (!last_start)
                return -ENOMEM;

        /* Costs are relative to y[0], so that large levels do not eat the digits. */
        double base = n > 0 ? y[0] : 0, lo = 0, hi = 0;
        for (size_t i = 0; i < n; i++) {
                lo = fmin(lo, y[i] - base);
                hi = fmax(hi, y[i] - base);
        }

        int r = envelope_push(&now, (Piece){ .lo = lo - 1, .hi = hi + 1, .start = 0 });
        for (size_t t = 0; r >= 0 && t < n; t++) {
                double best = envelope_add_point(&now, y[t] - base, &last_start[t]);

                next.n = 0;
                for (size_t i = 0; r >= 0 && i < now.n; i++)
                        r = envelope_push_lower(&next, &now.pieces[i], best + penalty, t + 1);

                Envelope other = now;
                now = next;
                next = other;
        }
        if (r < 0)
                return r;

        size_t n_starts = 0;
        for (size_t end = n; end > 0; end = last_start[end - 1])
                n_starts++;

        size_t *starts = calloc(MAX(n_starts, (size_t) 1), sizeof(size_t));
        if (!starts)
                return -ENOMEM;

        size_t k = n_starts;
        for (size_t end = n; end > 0; end = last_start[end - 1])
                starts[--k] = last_start[end - 1];

        *ret_starts = starts;
        *ret_n = n_starts;
        return 0;
}

/* SPDX-License-Identifier: MIT */

#include "sample/history.h"

#include <stdlib.h>
#include <string.h>

#include "util/macro.h"

static void remove_range(History *h, uint32_t at) {
        memmove(h->maybes + at, h->maybes + at + 1, (h->n_maybes - at - 1) * sizeof(h->maybes[0]));
        h->n_maybes--;
}

static void join_with_next(History *h, uint32_t at) {
        h->maybes[at].to = MAX(h->maybes[at].to, h->maybes[at + 1].to);
        remove_range(h, at + 1);
}

static void join_nearest(History *h) {
        uint32_t nearest = 0;

        for (uint32_t i = 1; i + 1 < h->n_maybes; i++)
                if (h->maybes[i + 1].from - h->maybes[i].to <
                    h->maybes[nearest + 1].from - h->maybes[nearest].to)
                        nearest = i;
        join_with_next(h, nearest);
}

/* A range that overlaps or touches none. */
static void insert_range(History *h, uint64_t from, uint64_t to) {
        uint32_t at = 0;

        while (at < h->n_maybes && h->maybes[at].from < from)
                at++;
        memmove(h->maybes + at + 1, h->maybes + at, (h->n_maybes - at) * sizeof(h->maybes[0]));
        h->maybes[at] = (IndexRange){ from, to };
        h->n_maybes++;
        if (h->n_maybes > HISTORY_N_MAYBES_MAX)
                join_nearest(h);
}

bool history_add_maybe(History *h, uint64_t from, uint64_t to) {
        if (from >= to)
                return false;

        for (uint32_t i = 0; i < h->n_maybes; i++) {
                IndexRange *range = &h->maybes[i];

                if (from > range->to || to < range->from)
                        continue;
                if (from >= range->from && to <= range->to)
                        return false;
                range->from = MIN(range->from, from);
                range->to = MAX(range->to, to);
                while (i + 1 < h->n_maybes && h->maybes[i + 1].from <= h->maybes[i].to)
                        join_with_next(h, i);
                return true;
        }
        insert_range(h, from, to);
        return true;
}

bool history_is_maybe(const History *h, uint64_t index) {
        if (index >= h->end)
                return index < h->reach;
        for (uint32_t i = 0; i < h->n_maybes && h->maybes[i].from <= index; i++)
                if (index < h->maybes[i].to)
                        return true;
        return false;
}

void history_lose_cache(History *h, uint64_t end) {
        history_add_maybe(h, h->flushed, end);
}

bool history_is_valid(const History *h) {
        uint64_t above = 0;

        if (h->ceiling > HISTORY_INDEX_MAX || h->flushed > h->ceiling || h->reach > h->ceiling ||
            h->n_maybes > HISTORY_N_MAYBES_MAX)
                return false;
        for (uint32_t i = 0; i < h->n_maybes; i++) {
                const IndexRange *range = &h->maybes[i];

                if (range->from >= range->to || (i > 0 && range->from <= above) || range->to > h->ceiling)
                        return false;
                above = range->to;
        }
        return true;
}

Histories *histories_new(const uint32_t *n_shares, uint32_t n_phases) {
        Histories *h = calloc(1, sizeof(*h));
        uint32_t n = 0;

        if (!h)
                return NULL;
        h->n_phases = n_phases;
        h->first = calloc((size_t) n_phases + 1, sizeof(*h->first));
        for (uint32_t i = 0; h->first && i < n_phases; i++) {
                n += n_shares[i];
                h->first[i + 1] = n;
        }
        h->of = calloc(MAX(n, 1U), sizeof(*h->of));
        if (!h->first || !h->of)
                return histories_free(h);
        for (uint32_t i = 0; i < n; i++)
                h->of[i] = history_new();
        return h;
}

Histories *histories_free(Histories *h) {
        if (!h)
                return NULL;
        free(h->first);
        free(h->of);
        free(h);
        return NULL;
}

History *histories_at(const Histories *h, uint32_t phase, uint32_t share) {
        if (phase >= h->n_phases || share >= h->first[phase + 1] - h->first[phase])
                return NULL;
        return &h->of[h->first[phase] + share];
}

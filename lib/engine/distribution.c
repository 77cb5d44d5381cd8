/* SPDX-License-Identifier: MIT */

/*
 * zipf: block of rank k with a probability in proportion to k^-theta, drawn by the approximation of Gray et al.
 * ("Quickly generating billion-record synthetic databases", 1994), the one that fio uses. The ranks are laid over the
 * region by a permutation; fio's multiplication by a constant lets some of them share a block.
 *
 * It is the only place where the order of I/O depends on floating-point numbers: it is the same again on the same
 * machine, which is all that taking up a run asks for.
 */

#include "engine/distribution.h"

#include <math.h>

#include "util/macro.h"

#define ZETA_TERMS 4096U /* added one by one; the rest by Euler-Maclaurin, to better than 1e-10 */

/* The sum of k^-theta for k from 1 to n. */
static double zeta(uint64_t n, double theta) {
        uint64_t n_terms = MIN(n, (uint64_t) ZETA_TERMS);
        double sum = 0, a = (double) n_terms, b = (double) n;

        for (uint64_t k = n_terms; k > 0; k--)
                sum += pow((double) k, -theta);
        if (n == n_terms)
                return sum;
        return sum + (pow(b, 1 - theta) - pow(a, 1 - theta)) / (1 - theta) + (pow(b, -theta) - pow(a, -theta)) / 2 +
               theta * (pow(a, -theta - 1) - pow(b, -theta - 1)) / 12;
}

static void init_zipf(Distribution *d, double theta) {
        double n = (double) d->blocks.n;

        d->zeta = zeta(d->blocks.n, theta);
        d->second = 1 + pow(0.5, theta);
        d->exponent = 1 / (1 - theta);
        d->eta = (1 - pow(2 / n, 1 - theta)) / (1 - d->second / d->zeta);
}

/* As to fio, percentages of the blocks are rounded down. */
static void init_zones(Distribution *d, const ZoneSplit *split) {
        uint64_t n = d->blocks.n, first_percent = 0;
        unsigned k = 0;

        for (uint32_t i = 0; i < split->n; i++) {
                uint64_t first = MIN((uint64_t) ((unsigned __int128) n * first_percent / SPLIT_WHOLE), n - 1);
                uint64_t n_zone = (uint64_t) ((unsigned __int128) n * split->size[i] / SPLIT_WHOLE);

                for (unsigned percent = 0; percent < split->access[i] && k < SPLIT_WHOLE; percent++)
                        d->zones[k++] = (Zone){ .first = first, .n = MAX(n_zone, UINT64_C(1)) };
                first_percent += split->size[i];
        }
}

void distribution_init(Distribution *ret, const PhasePlan *plan, Direction direction, uint64_t n_blocks) {
        *ret = (Distribution){
                .kind = plan->distribution,
                .blocks = permutation_of(n_blocks),
                .key = hash_mix64_2(plan->seed, direction),
        };
        if (n_blocks == 0) /* a direction that is not used */
                ret->kind = DISTRIBUTION_RANDOM;
        else if (ret->kind == DISTRIBUTION_ZIPF)
                init_zipf(ret, plan->zipf_theta);
        else if (ret->kind == DISTRIBUTION_ZONED && plan->zones[direction].n > 0)
                init_zones(ret, &plan->zones[direction]);
        else
                ret->kind = DISTRIBUTION_RANDOM;
}

static uint64_t draw_rank(const Distribution *d, uint64_t random) {
        double u = (double) (random >> 11) * 0x1p-53, z = u * d->zeta, rank;

        if (z < 1)
                return 0;
        if (z < d->second)
                return MIN(UINT64_C(1), d->blocks.n - 1);
        rank = (double) d->blocks.n * pow(d->eta * u - d->eta + 1, d->exponent);
        return rank < (double) d->blocks.n ? (uint64_t) rank : d->blocks.n - 1;
}

uint64_t distribution_draw_uneven(const Distribution *d, uint64_t random) {
        if (d->kind == DISTRIBUTION_ZIPF)
                return permutation_at(&d->blocks, d->key, draw_rank(d, random));

        const Zone *zone = &d->zones[hash_below(random, SPLIT_WHOLE)];
        return zone->first + hash_below(hash_mix64(random), zone->n);
}

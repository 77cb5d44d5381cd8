/* SPDX-License-Identifier: MIT */

/*
 * fio drops what does not fit in these lists and rounds sizes down to multiples of the smallest one. Here that is
 * refused; what remains means what it means to fio: a share that is left out, or is 0, gets an equal part of what the
 * others leave, in whole percents, and what is still missing to 100 goes to the largest share, the last one of equals.
 */

#include "spec/split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spec/expression.h"
#include "spec/job.h"
#include "util/cleanup.h"
#include "util/macro.h"
#include "util/parse.h"

typedef struct Shares {
        uint32_t n;
        uint64_t value[SPLIT_N_MAX];
        uint64_t percent[SPLIT_N_MAX]; /* 0: left out */
} Shares;

static int parse_share(Shares *shares, char *entry) {
        char *percent = strchr(entry, '/');
        int r;

        if (shares->n == SPLIT_N_MAX)
                return -ERANGE;
        if (percent)
                *percent++ = '\0';

        shares->percent[shares->n] = 0;
        if (percent && *percent != '\0') {
                r = parse_u64_range(percent, 0, SPLIT_WHOLE, &shares->percent[shares->n]);
                if (r < 0)
                        return r;
        }
        r = expression_evaluate(entry, &shares->value[shares->n]);
        if (r < 0)
                return r;
        shares->n++;
        return 0;
}

static int parse_shares(Shares *ret, const char *text) {
        _cleanup_free_ char *copy = strdup(text);
        char *rest = copy, *entry;

        if (!copy)
                return -ENOMEM;

        ret->n = 0;
        while ((entry = strsep(&rest, ":"))) {
                int r = parse_share(ret, entry);
                if (r < 0)
                        return r;
        }
        return 0;
}

static uint64_t sum_of(const uint64_t *values, uint32_t n) {
        uint64_t sum = 0;

        for (uint32_t i = 0; i < n; i++)
                sum += values[i];
        return sum;
}

/* -ERANGE if there is more than a whole. */
static int give_out_rest(uint64_t *percent, uint32_t n) {
        uint64_t sum = sum_of(percent, n), n_missing = 0;

        if (sum > SPLIT_WHOLE)
                return -ERANGE;
        for (uint32_t i = 0; i < n; i++)
                n_missing += percent[i] == 0;
        for (uint32_t i = 0; i < n; i++)
                if (percent[i] == 0)
                        percent[i] = (SPLIT_WHOLE - sum) / n_missing;
        return 0;
}

static void give_remainder_to_largest(uint64_t *percent, uint32_t n) {
        uint32_t largest = 0;

        for (uint32_t i = 0; i < n; i++)
                if (percent[i] >= percent[largest])
                        largest = i;
        percent[largest] += SPLIT_WHOLE - sum_of(percent, n);
}

static int check_sizes(const Shares *shares) {
        uint64_t min = UINT64_MAX;

        for (uint32_t i = 0; i < shares->n; i++) {
                if (shares->value[i] < 1 || shares->value[i] > JOB_BLOCK_BYTES_MAX)
                        return -ERANGE;
                min = MIN(min, shares->value[i]);
        }
        for (uint32_t i = 0; i < shares->n; i++)
                if (shares->value[i] % min != 0)
                        return -EINVAL;
        return 0;
}

int block_split_parse(BlockSplit *ret, const char *text) {
        Shares shares;
        int r = parse_shares(&shares, text);

        if (r >= 0)
                r = check_sizes(&shares);
        if (r >= 0)
                r = give_out_rest(shares.percent, shares.n);
        if (r < 0)
                return r;
        give_remainder_to_largest(shares.percent, shares.n);

        *ret = (BlockSplit) { .n = shares.n }; /* also the places not used: splits are compared as a whole */
        for (uint32_t i = 0; i < shares.n; i++) {
                ret->bytes[i] = (uint32_t) shares.value[i];
                ret->percent[i] = (uint8_t) shares.percent[i];
        }
        return 0;
}

/* Accesses must be whole already, as to fio; sizes need not cover the region. */
int zone_split_parse(ZoneSplit *ret, const char *text) {
        Shares shares;
        int r = parse_shares(&shares, text);

        if (r < 0)
                return r;
        for (uint32_t i = 0; i < shares.n; i++)
                if (shares.value[i] > SPLIT_WHOLE)
                        return -ERANGE;
        if (sum_of(shares.value, shares.n) != SPLIT_WHOLE)
                return -EINVAL;
        r = give_out_rest(shares.percent, shares.n);
        if (r < 0)
                return r;

        *ret = (ZoneSplit) { .n = shares.n };
        for (uint32_t i = 0; i < shares.n; i++) {
                ret->access[i] = (uint8_t) shares.value[i];
                ret->size[i] = (uint8_t) shares.percent[i];
        }
        return 0;
}

uint64_t block_smallest(const BlockSplit *split, uint64_t bs) {
        uint64_t min = UINT64_MAX;

        for (uint32_t i = 0; i < split->n; i++)
                min = MIN(min, (uint64_t) split->bytes[i]);
        return split->n > 0 ? min : bs;
}

uint64_t block_largest(const BlockSplit *split, uint64_t bs) {
        uint64_t max = 0;

        for (uint32_t i = 0; i < split->n; i++)
                max = MAX(max, (uint64_t) split->bytes[i]);
        return split->n > 0 ? max : bs;
}

uint64_t block_hundred(const BlockSplit *split, uint64_t bs) {
        uint64_t sum = 0;

        for (uint32_t i = 0; i < split->n; i++)
                sum += (uint64_t) split->bytes[i] * split->percent[i];
        return split->n > 0 ? sum : SPLIT_WHOLE * bs;
}

int split_directions(const char *text, char **copy, const char *ret[static N_DIRECTIONS]) {
        char *rest = strdup(text);
        unsigned n = 0;

        if (!rest)
                return -ENOMEM;
        *copy = rest;
        if (*text == '\0')
                return -EINVAL;

        for (const char *part; n < N_DIRECTIONS && (part = strsep(&rest, ","));)
                ret[n++] = *part != '\0' ? part : NULL;
        if (rest)
                return -EINVAL;
        while (n < N_DIRECTIONS) {
                ret[n] = ret[n - 1];
                n++;
        }
        return 0;
}

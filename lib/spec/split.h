/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio's lists of shares, "4k/60:64k/40": pairs of a value and a percentage, for bssplit= and for
 * random_distribution=zoned:. Lists for reads, writes and trims are divided by commas.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/direction.h"

#define SPLIT_N_MAX 100 /* more shares than percents make no sense */
#define SPLIT_WHOLE 100 /* percent */

/* bssplit= of one direction: of 100 I/Os, percent[i] have bytes[i]. Their order is that of the list. */
typedef struct BlockSplit {
        uint32_t n; /* 0: one size, bs= */
        uint32_t bytes[SPLIT_N_MAX];
        uint8_t percent[SPLIT_N_MAX]; /* may be 0; all together 100 */
} BlockSplit;

/* zoned: of one direction: access[i] percent of the I/Os go to the next size[i] percent of the region. */
typedef struct ZoneSplit {
        uint32_t n; /* 0: none, all go everywhere */
        uint8_t access[SPLIT_N_MAX]; /* all together 100 */
        uint8_t size[SPLIT_N_MAX];   /* all together at most 100 */
} ZoneSplit;

/* Shares that are left out get equal parts of what the others leave. 0; -EINVAL, -ERANGE, -ENOMEM. */
int block_split_parse(BlockSplit *ret, const char *text);
int zone_split_parse(ZoneSplit *ret, const char *text);

/* Of a direction whose size is bs, if it has no split: its smallest and largest, and bytes of 100 I/Os together. */
uint64_t block_smallest(const BlockSplit *split, uint64_t bs);
uint64_t block_largest(const BlockSplit *split, uint64_t bs);
uint64_t block_hundred(const BlockSplit *split, uint64_t bs);

/*
 * Parts of "read,write,trim": a list that is left out behind the first is that of writes (with one list alone: of all);
 * an empty one says nothing (ret[d] is NULL). *copy, to be freed by the caller, holds the parts. 0, -EINVAL, -ENOMEM.
 */
int split_directions(const char *text, char **copy, const char *ret[static N_DIRECTIONS]);

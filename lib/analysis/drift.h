/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Whether a level is known to stay. Not to have seen it move proves nothing: within its first hour a curve that falls
 * by half overnight is as flat as any other. So it must be seen that it does not move, which noise allows the later the
 * louder it is.
 */

#include <stddef.h>

/*
 * In a night of ten hours a level may fall by a tenth, or rise by a quarter: who believes too early in a level that
 * rises has promised too little.
 */
#define DRIFT_HORIZON_S (10 * 3600.0)
#define DRIFT_MAX_FALL 0.1
#define DRIFT_MAX_RISE 0.25

/*
 * y: ln IOPS of n blocks of block_s seconds each. 1 if over a stretch that reaches to the end and holds n_min blocks or
 * more a line fits whose slope, and whatever the noise could hide of it, moves the level by less than that in ten
 * hours, or in n blocks if these are longer; *ret_n: of how many blocks. Else 0; or
 * -ENOMEM. Takes time in proportion to n · log n.
 */
int drift_is_bounded(const double *y, size_t n, size_t n_min, double block_s, size_t *ret_n);

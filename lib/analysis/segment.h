/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Exact optimal partitioning of a sequence into pieces of constant mean under squared
 * loss, with functional pruning: FPOP (Maidstone, Hocking, Rigaill, Fearnhead 2017). Near-linear in n.
 */

#include <stddef.h>

/*
 * Minimises Σ (y − mean of its piece)² + penalty · pieces. ret_starts (allocated; ret_n of them, at least 1 for
 * n >= 1) are the indices at which pieces begin, from 0 upwards. -ENOMEM.
 */
int segment_fpop(const double *y, size_t n, double penalty, size_t **ret_starts, size_t *ret_n);

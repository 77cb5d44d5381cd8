/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Which writes are outstanding where, so that one that overlaps another waits for it: of two that are outstanding at
 * once, nobody knows which the device does last. Looking takes constant expected time, and allocates nothing.
 */

#include <stdbool.h>
#include <stdint.h>

typedef struct Overlap Overlap;

/* For I/Os in slots 0 to depth - 1. -ENOMEM. */
int overlap_new(Overlap **ret, uint32_t depth);
Overlap *overlap_free(Overlap *overlap);

/* Forgets all; block_bytes: the largest I/O to come. */
void overlap_begin(Overlap *overlap, uint64_t block_bytes);

/* Whether [offset, offset + length), at most a largest I/O, has a byte in common with one that is outstanding. */
bool overlap_hits(const Overlap *overlap, uint64_t offset, uint32_t length);

void overlap_add(Overlap *overlap, uint32_t slot, uint64_t offset, uint32_t length);
void overlap_remove(Overlap *overlap, uint32_t slot); /* if it was added */

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The memory that I/O goes to and from: one mapping for the whole run, cut into the regions that are
 * registered with the ring (the kernel takes at most 1 GiB in one). Each phase lays its slots out anew.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "spec/plan.h"

typedef struct Buffers {
        uint8_t *base; /* page-aligned */
        uint64_t n_bytes;
        struct iovec *regions;
        unsigned n_regions;
} Buffers;

/*
 * Maps and touches what the phase with the largest need takes. ERROR_FAILED, -ENOMEM: memory ran out, or more than
 * half of the machine's would be pinned.
 */
int buffers_map(Buffers *ret, const Plan *plan, Error *error);
void buffers_unmap(Buffers *buffers);

/* Bytes from one slot's buffer to the next in this phase; 0 if it needs none. */
uint64_t buffers_stride(const PhasePlan *phase);

/* The buffer of a slot, and the region that it lies in. */
void *buffers_slot(const Buffers *buffers, uint64_t stride, uint32_t slot, unsigned *ret_region);

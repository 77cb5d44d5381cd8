/* SPDX-License-Identifier: MIT */
#pragma once

/* The phase of tests that need one and do not care which: a block after the other, at random, without an end. */

#include "spec/plan.h"

static inline PhasePlan random_phase(RwMode rw, uint32_t read_percent, uint64_t size_bytes, uint64_t block_bytes) {
        uint64_t n = size_bytes / block_bytes;

        return (PhasePlan){
                .rw = rw,
                .read_percent = read_percent,
                .block_bytes = { block_bytes, block_bytes, block_bytes },
                .iodepth = 1,
                .numjobs = 1,
                .workers = 1,
                .region_bytes = size_bytes,
                .limit_bytes = UINT64_MAX,
                .n_blocks = { n, n, n },
                .seed = 5,
        };
}

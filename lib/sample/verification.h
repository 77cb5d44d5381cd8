/* SPDX-License-Identifier: MIT */
#pragma once

/* What came of reading back what a run has written. */

#include <stdbool.h>
#include <stdint.h>

/* What is wrong with a block that was read. The values are stored and sent: append only. */
typedef enum Mismatch {
        MISMATCH_CORRUPT,   /* not what any write of the run put there */
        MISMATCH_MISPLACED, /* what the run wrote somewhere else */
        MISMATCH_TORN,      /* sectors of an older write among those of the newest one */
        MISMATCH_LOST,      /* an older write of the run, or what an earlier run had left: the newest one is missing */
        N_MISMATCHES,
} Mismatch;

/* "corrupt" and so on; NULL if there is none. */
const char *mismatch_name(Mismatch mismatch);

/* Of a phase. A block is of 4 KiB, or as small as the smallest that is written or read. */
typedef struct Verification {
        uint64_t asked_bytes;   /* of the device, that the phase was to read; what it had not written is among them */
        uint64_t checked_bytes; /* held against what was to be there; what is read again counts again */
        uint64_t n_blocks[N_MISMATCHES];
} Verification;

/* How much of what a phase was to read back and check it has. In the order from bad to good. */
typedef enum VerifiedShare {
        VERIFIED_NOTHING,
        VERIFIED_PART,   /* it ended before, or not all that lies there is known of the run */
        VERIFIED_AMOUNT, /* as much as all of it, but in an order that may leave some of it out, and read some again */
        VERIFIED_ALL,
} VerifiedShare;

/* in_order: phase_plan_reads_in_order(); done_bytes: how far such a phase has come, Position.done_bytes of it. */
VerifiedShare verification_share(const Verification *verification, bool in_order, uint64_t done_bytes);

static inline uint64_t verification_errors(const Verification *verification) {
        uint64_t n = 0;

        for (unsigned i = 0; i < N_MISMATCHES; i++)
                n += verification->n_blocks[i];
        return n;
}

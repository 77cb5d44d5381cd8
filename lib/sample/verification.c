/* SPDX-License-Identifier: MIT */

#include "sample/verification.h"

#include <stddef.h>

const char *mismatch_name(Mismatch mismatch) {
        static const char *const names[N_MISMATCHES] = {
                [MISMATCH_CORRUPT] = "corrupt",
                [MISMATCH_MISPLACED] = "misplaced",
                [MISMATCH_TORN] = "torn",
                [MISMATCH_LOST] = "lost",
        };

        return (unsigned) mismatch < N_MISMATCHES ? names[mismatch] : NULL;
}

VerifiedShare verification_share(const Verification *verification, bool in_order, uint64_t done_bytes) {
        if (verification->checked_bytes == 0)
                return VERIFIED_NOTHING;
        if (verification->checked_bytes < verification->asked_bytes)
                return VERIFIED_PART;
        if (!in_order)
                return VERIFIED_AMOUNT;
        return done_bytes < verification->asked_bytes ? VERIFIED_PART : VERIFIED_ALL;
}

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

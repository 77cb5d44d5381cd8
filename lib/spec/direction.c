/* SPDX-License-Identifier: MIT */

#include "spec/direction.h"

#include <stddef.h>

const char *direction_name(Direction direction) {
        static const char *const names[N_DIRECTIONS] = { "read", "write", "trim" };

        return (unsigned) direction < N_DIRECTIONS ? names[direction] : NULL;
}

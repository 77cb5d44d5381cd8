/* SPDX-License-Identifier: MIT */
#pragma once

/* What one I/O does to the device. The values are stored and sent: append only. */
typedef enum Direction {
        DIRECTION_READ,
        DIRECTION_WRITE,
        DIRECTION_TRIM,
        N_DIRECTIONS,
} Direction;

/* "read", "write", "trim". */
const char *direction_name(Direction direction);

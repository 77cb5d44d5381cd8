/* SPDX-License-Identifier: MIT */

#include "sample/position.h"

void position_settle(Position *position, PositionMark *mark, uint64_t now_ns) {
        if (now_ns - mark->at_ns < POSITION_SETTLED_NS)
                return;

        if (mark->low_index - position->first_index > position->settled_to - position->settled_from) {
                position->settled_from = position->first_index;
                position->settled_to = mark->low_index;
        }
        *mark = (PositionMark){ position->low_index, now_ns };
}

/* SPDX-License-Identifier: MIT */

#include "spec/option-load.h"

#include "util/cleanup.h"

int set_bssplit(const JobOption *option, const char *value, PhaseDraft *draft, Job *job) {
        BlockSplit splits[N_DIRECTIONS] = {};
        const char *parts[N_DIRECTIONS];
        _cleanup_free_ char *copy = NULL;
        int r = split_directions(value, &copy, parts);

        for (Direction d = 0; r >= 0 && d < N_DIRECTIONS; d++)
                if (parts[d])
                        r = block_split_parse(&splits[d], parts[d]);
        if (r < 0)
                return r;
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                if (parts[d])
                        draft->phase.split[d] = splits[d];
        return 0;
}

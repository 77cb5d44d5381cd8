/* SPDX-License-Identifier: MIT */

#include "wire/standing.h"

#include <stdlib.h>

#include "util/macro.h"

Standing *standing_new(uint32_t n_phases) {
        _cleanup_standing_ Standing *standing = calloc(1, sizeof(*standing));

        if (!standing)
                return NULL;
        standing->device = calloc(1, sizeof(*standing->device));
        standing->phases = calloc(MAX(n_phases, 1U), sizeof(*standing->phases));
        standing->n_phases = n_phases;
        return standing->device && standing->phases ? TAKE_PTR(standing) : NULL;
}

Standing *standing_free(Standing *standing) {
        if (!standing)
                return NULL;
        device_info_free(standing->device);
        free(standing->boot_id);
        free(standing->phases);
        free(standing);
        return NULL;
}

uint64_t standing_next_write(const Standing *standing) {
        uint64_t next = 0;

        for (uint32_t i = 0; i < standing->n_phases; i++)
                next = MAX(next, standing->phases[i].position.next_write);
        return next;
}

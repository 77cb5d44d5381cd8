/* SPDX-License-Identifier: MIT */

#include "engine/buffers.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "util/macro.h"
#include "util/text.h"

#define REGION_BYTES GIB
#define BYTES_MIN (4 * KIB) /* a ring wants a buffer, also for a plan without I/O */

uint64_t buffers_stride(const PhasePlan *phase) {
        uint64_t stride = 0;

        for (Direction d = 0; d < N_DIRECTIONS; d++)
                if (rw_mode_uses(phase->rw, d) && d != DIRECTION_TRIM)
                        stride = MAX(stride, block_largest(&phase->split[d], phase->block_bytes[d]));
        return stride;
}

/* No slot lies across the end of a region. */
static uint64_t bytes_needed(const PhasePlan *phase) {
        uint64_t stride = buffers_stride(phase), depth = (uint64_t) phase->iodepth * phase->numjobs;

        if (depth == 0 || stride == 0)
                return 0;

        uint64_t per_region = REGION_BYTES / stride;
        return (depth - 1) / per_region * REGION_BYTES + ((depth - 1) % per_region + 1) * stride;
}

static int check_memory(uint64_t n_bytes, Error *error) {
        uint64_t memory = (uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE);
        char need[TEXT_SIZE_MAX], have[TEXT_SIZE_MAX];

        if (n_bytes <= memory / 2)
                return 0;
        return error_set(
                error, ERROR_FAILED, ENOMEM,
                "the job needs %s of I/O buffers (bs x iodepth x numjobs), more than half of this machine's %s",
                text_format_size(n_bytes, need), text_format_size(memory, have));
}

int buffers_map(Buffers *ret, const Plan *plan, Error *error) {
        Buffers buffers = { .n_bytes = BYTES_MIN };
        int r;

        for (size_t i = 0; i < plan->n_phases; i++)
                buffers.n_bytes = MAX(buffers.n_bytes, bytes_needed(&plan->phases[i]));

        r = check_memory(buffers.n_bytes, error);
        if (r < 0)
                return r;

        buffers.n_regions = (unsigned) ((buffers.n_bytes + REGION_BYTES - 1) / REGION_BYTES);
        buffers.regions = calloc(buffers.n_regions, sizeof *buffers.regions);
        if (!buffers.regions)
                return error_set(error, ERROR_FAILED, ENOMEM, "not enough memory for the list of I/O buffers");

        buffers.base = mmap(NULL, buffers.n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (buffers.base == MAP_FAILED) {
                free(buffers.regions);
                return error_set(error, ERROR_FAILED, ENOMEM, "cannot map %" PRIu64 " bytes of I/O buffers",
                                 buffers.n_bytes);
        }

        /* Large pages are a help, not a need. The first touch is paid here, not in the first second of the run. */
        (void) madvise(buffers.base, buffers.n_bytes, MADV_HUGEPAGE);
        memset(buffers.base, 0, buffers.n_bytes);

        for (unsigned i = 0; i < buffers.n_regions; i++)
                buffers.regions[i] = (struct iovec){
                        .iov_base = buffers.base + i * REGION_BYTES,
                        .iov_len = MIN(REGION_BYTES, buffers.n_bytes - i * REGION_BYTES),
                };

        *ret = buffers;
        return 0;
}

void buffers_unmap(Buffers *buffers) {
        if (buffers->base)
                munmap(buffers->base, buffers->n_bytes);
        free(buffers->regions);
        *buffers = (Buffers){};
}

void *buffers_slot(const Buffers *buffers, uint64_t stride, uint32_t slot, unsigned *ret_region) {
        uint64_t per_region = REGION_BYTES / MAX(stride, UINT64_C(1));

        *ret_region = (unsigned) (slot / per_region);
        return buffers->base + *ret_region * REGION_BYTES + slot % per_region * stride;
}

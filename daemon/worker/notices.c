/* SPDX-License-Identifier: MIT */

#include "worker/notices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "util/macro.h"

static int notice_add(char **notices, size_t *n, const char *format, ...) _printf_(3, 4);
static int notice_add(char **notices, size_t *n, const char *format, ...) {
        va_list args;

        va_start(args, format);
        int r = vasprintf(&notices[*n], format, args);
        va_end(args);
        if (r < 0) {
                notices[*n] = NULL;
                return -ENOMEM;
        }

        (*n)++;
        return 0;
}

/*
 * An unaligned direct read never reaches the device, but the kernel looks at the flag first: EOPNOTSUPP tells that
 * a submission to this device may sleep, so io_uring hands each one to a kernel worker.
 */
static bool device_takes_nowait(int fd) {
        char byte;
        struct iovec vector = { .iov_base = &byte, .iov_len = 1 };

        return preadv2(fd, &vector, 1, 0, RWF_NOWAIT) >= 0 || errno != EOPNOTSUPP;
}

static uint64_t plan_deepest(const Plan *plan) {
        uint64_t deepest = 0;

        for (size_t i = 0; i < plan->n_phases; i++)
                deepest = MAX(deepest, (uint64_t) phase_plan_outstanding(&plan->phases[i]));
        return deepest;
}

static int queue_notice(char **notices, size_t *n, const Claim *claim, const Plan *plan) {
        uint64_t deepest = plan_deepest(plan);

        if (!device_takes_nowait(claim->fd))
                return notice_add(notices, n, "%s does not take I/O without waiting (NOWAIT): kernel workers submit "
                                  "it, which costs more CPU and some IOPS", claim->info->path);
        if (claim->info->nr_requests > 0 && deepest > claim->info->nr_requests)
                return notice_add(notices, n, "depth %" PRIu64 " is capped by nr_requests=%" PRIu32 " of %s: the rest "
                                  "waits in kernel workers, which cost more CPU", deepest, claim->info->nr_requests,
                                  claim->info->path);
        return 0;
}

/* Whether what it trims may begin or end within a piece. What a discard trims at a time joins what it trims next. */
static bool cuts_pieces(const PhasePlan *phase, uint64_t granularity) {
        bool discards = phase->action == PHASE_ACTION_DISCARD;

        return phase->region_offset % granularity != 0 || phase->stream_step_bytes % granularity != 0 ||
               (discards ? phase->region_bytes : phase->block_bytes[DIRECTION_TRIM]) % granularity != 0;
}

static int trim_notice(char **notices, size_t *n, const Claim *claim, const Plan *plan) {
        uint32_t granularity = claim->info->discard_granularity_bytes;

        for (size_t i = 0; i < plan->n_phases; i++) {
                const PhasePlan *phase = &plan->phases[i];

                if (!rw_mode_trims(phase->rw) || granularity == 0 || !cuts_pieces(phase, granularity))
                        continue;
                if (phase->action == PHASE_ACTION_DISCARD)
                        return notice_add(notices, n,
                                          "%s trims in pieces of %" PRIu32 " bytes (discard_granularity), and the job "
                                          "discards %" PRIu64 " bytes from byte %" PRIu64 " on: of a piece that it "
                                          "covers in part nothing may be discarded",
                                          claim->info->path, granularity, phase->region_bytes, phase->region_offset);
                return notice_add(notices, n,
                                  "%s trims in pieces of %" PRIu32 " bytes (discard_granularity), and the job in "
                                  "blocks of %" PRIu64 " from byte %" PRIu64 " on: what covers no whole piece may do "
                                  "nothing",
                                  claim->info->path, granularity, phase->block_bytes[DIRECTION_TRIM],
                                  phase->region_offset);
        }
        return 0;
}

char **notices_new(const Claim *claim, const Plan *plan) {
        size_t n = 0, n_max = claim->signatures.n + 3;
        int r = 0;

        char **notices = calloc(n_max, sizeof(*notices));
        if (!notices)
                return NULL;

        for (size_t i = 0; i < claim->signatures.n && r >= 0; i++)
                r = notice_add(notices, &n, "%s %s, which will be erased", claim->info->path,
                               claim->signatures.items[i].text);
        if (r >= 0)
                r = queue_notice(notices, &n, claim, plan);
        if (r >= 0)
                r = trim_notice(notices, &n, claim, plan);
        if (r < 0) {
                strv_free(notices);
                return NULL;
        }

        return notices;
}

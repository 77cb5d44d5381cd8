/* SPDX-License-Identifier: MIT */
#pragma once

/* How busy the host's cores were, all together, since the last look. */

#include <stdint.h>

typedef struct HostCpu {
        int fd; /* of /proc/stat, opened while files can still be opened; -EBADF where there is none */
        uint64_t busy_ticks;
        uint64_t total_ticks;
} HostCpu;

void host_cpu_init(HostCpu *ret);
void host_cpu_done(HostCpu *cpu);

/* 0..100; NaN if it cannot be told. */
double host_cpu_take_percent(HostCpu *cpu);

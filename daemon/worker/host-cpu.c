/* SPDX-License-Identifier: MIT */

#include "worker/host-cpu.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/macro.h"

/* The first line of /proc/stat: "cpu", then user nice system idle iowait irq softirq steal (guests count in user). */
enum {
        COLUMN_IDLE = 3,
        COLUMN_IOWAIT = 4,
        N_COLUMNS = 8,
};

static bool ticks_read(int fd, uint64_t *ret_busy, uint64_t *ret_total) {
        char line[512];

        ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
        if (n <= 0)
                return false;
        line[n] = '\0';
        if (strncmp(line, "cpu ", 4) != 0)
                return false;

        uint64_t total = 0, idle = 0;
        char *p = line + 4;
        for (unsigned i = 0; i < N_COLUMNS; i++) {
                uint64_t ticks = strtoull(p, &p, 10);
                total += ticks;
                if (i == COLUMN_IDLE || i == COLUMN_IOWAIT)
                        idle += ticks;
        }

        *ret_busy = total - idle;
        *ret_total = total;
        return true;
}

void host_cpu_init(HostCpu *ret) {
        *ret = (HostCpu) { .fd = open("/proc/stat", O_RDONLY | O_CLOEXEC) };
        if (ret->fd < 0)
                ret->fd = -EBADF;
        host_cpu_take_percent(ret);
}

void host_cpu_done(HostCpu *cpu) {
        cpu->fd = fd_close(cpu->fd);
}

double host_cpu_take_percent(HostCpu *cpu) {
        uint64_t busy, total;

        if (cpu->fd < 0 || !ticks_read(cpu->fd, &busy, &total))
                return NAN;

        /* The kernel's iowait may go backwards. */
        double d_busy = (double) busy - (double) cpu->busy_ticks;
        double d_total = (double) total - (double) cpu->total_ticks;
        cpu->busy_ticks = busy;
        cpu->total_ticks = total;
        if (d_total <= 0)
                return NAN;

        double percent = MAX(100.0 * d_busy / d_total, 0.0);
        return MIN(percent, 100.0);
}

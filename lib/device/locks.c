/* SPDX-License-Identifier: MIT */

/*
 * File locks belong to the inode of a node, not to the device behind it, so /proc/locks is
 * searched for the nodes in /dev that everybody locks.
 *
 * A lock outlives the process that took it: a child may have inherited the descriptor (then it is told as
 * an opener), or the kernel keeps the file for I/O that has not ended. To name the dead would help nobody, so
 * such a lock is left to the open and the lock of a claim, which wait for it.
 */

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "device/process.h"
#include "device/usage.h"

typedef struct Lock {
        char kind[16]; /* FLOCK, POSIX, OFDLCK, LEASE */
        pid_t pid;     /* who took it; 0 or -1 if not one of our processes */
        unsigned major, minor; /* of the file system that holds the node */
        uint64_t inode;
} Lock;

/* "1: FLOCK  ADVISORY  WRITE 1234 00:06:1078 0 EOF"; one that waits has "->" before its kind, and holds nothing. */
static bool parse_lock(const char *line, Lock *ret) {
        return sscanf(line, "%*u: %15s %*s %*s %d %x:%x:%" SCNu64, ret->kind, &ret->pid,
                      &ret->major, &ret->minor, &ret->inode) == 5;
}

static bool lock_is_on(const Lock *lock, const char *path) {
        struct stat st;

        return stat(path, &st) == 0 && st.st_ino == lock->inode && st.st_dev == makedev(lock->major, lock->minor);
}

/* The target's own node has whatever path it was resolved to. */
static int find_locked(const DeviceInfo *info, const Related *related, const Lock *lock, const RelatedDevice **ret) {
        *ret = NULL;
        for (size_t i = 0; i < related->n && !*ret; i++) {
                _cleanup_free_ char *path = i == 0 ? strdup(info->path) : device_node_path(related->items[i].name);
                if (!path)
                        return -ENOMEM;
                if (lock_is_on(lock, path))
                        *ret = related->items + i;
        }
        return 0;
}

static int report(const RelatedDevice *device, const Lock *lock, Reasons *reasons) {
        if (lock->pid <= 0)
                return reasons_add_process(reasons, REASON_LOCKED, 0,
                                           "%slocked (%s) by a process outside this pid namespace; end it first",
                                           device->subject, lock->kind);

        if (process_is_worker(lock->pid))
                return usage_add_worker(device, lock->pid, reasons);

        _cleanup_free_ char *name = process_name(lock->pid);
        if (!name)
                return -ENOMEM;
        return reasons_add_process(reasons, REASON_LOCKED, lock->pid, "%slocked (%s) by process %d (%s); end it first",
                                   device->subject, lock->kind, lock->pid, name);
}

int usage_scan_locks(const DeviceInfo *info, const Related *related, pid_t ignore_pid, Reasons *reasons) {
        _cleanup_fclose_ FILE *file = fopen("/proc/locks", "re");
        _cleanup_free_ char *line = NULL;
        size_t size = 0;

        if (!file)
                return -errno;
        while (getline(&line, &size, file) >= 0) {
                const RelatedDevice *device;
                Lock lock;
                if (!parse_lock(line, &lock) || (ignore_pid > 0 && lock.pid == ignore_pid))
                        continue;
                if (lock.pid > 0 && process_is_dead(lock.pid))
                        continue;
                int r = find_locked(info, related, &lock, &device);
                if (r == 0 && device)
                        r = report(device, &lock, reasons);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* SPDX-License-Identifier: MIT */

/*
 * Who has the device open: the descriptors of every process, asked for the device number of
 * what they lead to, for a node may have any name and lie in any namespace. statx() is told not to sync, so a
 * descriptor on a dead network file system does not hang the scan. Threads share their process's table but for
 * those that have unshared it; kcmp(2) tells, and only those are looked at one by one.
 *
 * A mapping outlives its descriptor, so mappings are looked at in the same way. A descriptor that travels in a
 * socket, or is registered in an io_uring and closed, is not seen: the kernel shows those to nobody.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device/process.h"
#include "device/sysfs.h"
#include "device/usage.h"
#include "util/parse.h"

typedef struct OpenerScan {
        const Related *related;
        Reasons *reasons;
        pid_t ignore_pid;
        pid_t pid; /* of the process being looked at */
        const RelatedDevice *found;
        bool denied; /* something of that process */
        unsigned n_denied;
} OpenerScan;

static int visit_descriptor(int dir_fd, const char *name, void *userdata) {
        OpenerScan *scan = userdata;
        struct statx st;

        if (statx(dir_fd, name, AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0) {
                scan->denied = scan->denied || errno == EACCES || errno == EPERM;
                return 0;
        }
        if (!S_ISBLK(st.stx_mode))
                return 0;
        scan->found = related_find(scan->related, makedev(st.stx_rdev_major, st.stx_rdev_minor));
        return scan->found ? 1 : 0;
}

static int visit_thread(int dir_fd, const char *name, void *userdata) {
        const OpenerScan *scan = userdata;
        _cleanup_close_ int thread_fd = -EBADF;
        uint64_t tid;

        if (parse_u64_range(name, 1, INT32_MAX, &tid) < 0 || (pid_t) tid == scan->pid)
                return 0;
        if (syscall(SYS_kcmp, scan->pid, (pid_t) tid, KCMP_FILES, 0, 0) == 0)
                return 0;
        thread_fd = sysfs_open(dir_fd, name);
        if (thread_fd < 0)
                return 0;
        return sysfs_foreach(thread_fd, "fd", visit_descriptor, userdata) > 0 ? 1 : 0;
}

static int visit_process(int proc_fd, pid_t pid, void *userdata) {
        OpenerScan *scan = userdata;

        if (pid == scan->ignore_pid)
                return 0;
        scan->pid = pid;
        scan->found = NULL;
        scan->denied = false;

        int r = sysfs_foreach(proc_fd, "fd", visit_descriptor, scan);
        if (r == 0)
                r = sysfs_foreach(proc_fd, "map_files", visit_descriptor, scan);
        if (r == 0)
                r = sysfs_foreach(proc_fd, "task", visit_thread, scan);
        if (scan->denied || r == -EACCES || r == -EPERM)
                scan->n_denied++;
        if (r <= 0)
                return 0; /* not there, or gone meanwhile */

        if (process_is_worker(pid))
                return usage_add_worker(scan->found, pid, scan->reasons);

        _cleanup_free_ char *name = process_name(pid);
        if (!name)
                return -ENOMEM;
        return reasons_add_process(scan->reasons, REASON_OPENED, pid, "%sheld open by process %d (%s); end it first",
                                   scan->found->subject, pid, name);
}

int usage_scan_openers(const Related *related, pid_t ignore_pid, Reasons *reasons) {
        OpenerScan scan = { .related = related, .reasons = reasons, .ignore_pid = ignore_pid };
        int r = process_foreach(visit_process, &scan);

        if (r < 0 || scan.n_denied == 0 || process_sees_all())
                return r;
        return reasons_add(reasons, REASON_UNREADABLE,
                           "the open files of %u processes could not be looked at; run as root", scan.n_denied);
}

/* SPDX-License-Identifier: MIT */

/*
 * Uses of a device by the kernel itself. Most of them open it exclusively, so these scans only give the
 * culprit a name; a loop device and an NVMe target do not, and here is all that stops them.
 */

#include <fcntl.h>
#include <glob.h>
#include <string.h>

#include "device/process.h"
#include "device/sysfs.h"
#include "device/usage.h"
#include "util/macro.h"

typedef struct KernelScan {
        const Related *related;
        const RelatedDevice *device; /* being looked at */
        Reasons *reasons;
} KernelScan;

/* An attribute of a device mapper's device; NULL where there is none. */
static int read_dm(int dir_fd, const char *holder, const char *attribute, char **ret) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/dm/%s", holder, attribute) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        int r = sysfs_read_text(dir_fd, path, ret);
        return r == -ENOMEM ? r : 0;
}

/* "dm-3", with what the device mapper calls it. */
static int visit_holder(int dir_fd, const char *name, void *userdata) {
        const KernelScan *scan = userdata;
        _cleanup_free_ char *dm_name = NULL, *dm_uuid = NULL;

        int r = read_dm(dir_fd, name, "name", &dm_name);
        if (r >= 0)
                r = read_dm(dir_fd, name, "uuid", &dm_uuid);
        if (r < 0)
                return r;
        if (dm_uuid && strncmp(dm_uuid, "mpath-", strlen("mpath-")) == 0)
                return reasons_add(scan->reasons, REASON_HOLDER,
                                   "%sa path of the multipath device %s (%s); take that apart first with "
                                   "multipath -f %s", scan->device->subject, name, dm_name ?: "?", dm_name ?: name);
        return reasons_add(scan->reasons, REASON_HOLDER, "%sheld by %s%s%s%s; take that apart first",
                           scan->device->subject, name, dm_name ? " (" : "", dm_name ?: "", dm_name ? ")" : "");
}

static int scan_holders(KernelScan *scan) {
        for (size_t i = 0; i < scan->related->n; i++) {
                scan->device = scan->related->items + i;
                _cleanup_close_ int fd = related_open(scan->device);
                int r = fd < 0 ? fd : sysfs_foreach(fd, "holders", visit_holder, scan);
                if (r < 0 && r != -ENOENT)
                        return r;
        }
        return 0;
}

static int scan_swap(const KernelScan *scan) {
        _cleanup_fclose_ FILE *file = fopen("/proc/swaps", "re");
        _cleanup_free_ char *line = NULL;
        size_t size = 0;

        if (!file)
                return errno == ENOENT ? 0 : -errno; /* a kernel without swap */
        while (getline(&line, &size, file) >= 0) {
                if (line[0] != '/')
                        continue; /* the heading */
                line[strcspn(line, " \t\n")] = '\0';
                const RelatedDevice *device = related_find_path(scan->related, line);
                int r = device ? reasons_add(scan->reasons, REASON_SWAP, "%sin use as swap; swapoff /dev/%s first",
                                             device->subject, device->name) : 0;
                if (r < 0)
                        return r;
        }
        return 0;
}

/*
 * Only a name below /dev is followed: other files that back loop devices may lie on a file system
 * that does not answer, and a look at them would hang.
 */
static int visit_loop(int dir_fd, const char *name, void *userdata) {
        const KernelScan *scan = userdata;
        _cleanup_free_ char *path = NULL, *backing = NULL;

        if (!sysfs_is_numbered(name, "loop"))
                return 0;
        if (asprintf(&path, "%s/loop/backing_file", name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        int r = sysfs_read_text(dir_fd, path, &backing);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (strncmp(backing, "/dev/", strlen("/dev/")) != 0)
                return 0;
        const RelatedDevice *device = related_find_path(scan->related, backing);
        if (!device)
                return 0;
        return reasons_add(scan->reasons, REASON_LOOP_BACKING, "%sthe backing of %s; losetup -d /dev/%s first",
                           device->subject, name, name);
}

/* /sys/fs/btrfs/UUID/devices/NAME, a link to the block device: also of members that no mount names. */
static int visit_btrfs(int dir_fd, const char *name, void *userdata) {
        const KernelScan *scan = userdata;

        for (size_t i = 0; i < scan->related->n; i++) {
                const RelatedDevice *device = scan->related->items + i;
                _cleanup_free_ char *path = NULL;
                if (asprintf(&path, "%s/devices/%s", name, device->name) < 0) {
                        path = NULL;
                        return -ENOMEM;
                }
                if (faccessat(dir_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                int r = reasons_add(scan->reasons, REASON_HOLDER,
                                    "%sa member of the mounted btrfs %s; unmount it first", device->subject, name);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Attributes that name the block device which a target exports. */
static const struct {
        const char *pattern;
        const char *by;
} exports[] = {
        { "/sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path", "the NVMe target (nvmetcli shows it)" },
        { "/sys/kernel/config/target/core/*/*/udev_path", "the SCSI target LIO (targetcli shows it)" },
};

static int scan_export(const KernelScan *scan, const char *attribute, const char *by) {
        _cleanup_free_ char *path = NULL;
        int r = sysfs_read_text(AT_FDCWD, attribute, &path);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        const RelatedDevice *device = related_find_path(scan->related, path);
        if (!device)
                return 0;
        return reasons_add(scan->reasons, REASON_HOLDER,
                           "%sexported to other machines by %s as %s; take that down first", device->subject, by,
                           attribute);
}

static int scan_exports(const KernelScan *scan) {
        for (size_t i = 0; i < ELEMENTSOF(exports); i++) {
                _cleanup_(globfree) glob_t found = {};
                int r = glob(exports[i].pattern, GLOB_NOSORT, NULL, &found);
                if (r == GLOB_NOSPACE)
                        return -ENOMEM;
                for (size_t j = 0; r == 0 && j < found.gl_pathc; j++) {
                        int q = scan_export(scan, found.gl_pathv[j], exports[i].by);
                        if (q < 0)
                                return q;
                }
        }
        return 0;
}

int usage_add_worker(const RelatedDevice *device, pid_t pid, Reasons *reasons) {
        for (size_t i = 0; i < reasons->n; i++)
                if (reasons->items[i].kind == REASON_OWN_RUN && reasons->items[i].pid == pid)
                        return 0;
        if (process_is_former_worker(pid))
                return reasons_add_process(reasons, REASON_OWN_RUN, pid,
                                           "%sstill held by a former worker of plateau (process %d), whose service is "
                                           "gone; it waits for its last I/O, and ends when the device has answered",
                                           device->subject, pid);
        return reasons_add_process(reasons, REASON_OWN_RUN, pid,
                                   "%sunder test by plateau itself; 'plateau list' tells which run it is, "
                                   "'plateau stop' ends it", device->subject);
}

int usage_scan_kernel(const Related *related, Reasons *reasons) {
        KernelScan scan = { .related = related, .reasons = reasons };
        int r = scan_swap(&scan);

        if (r < 0)
                return r;
        r = scan_holders(&scan);
        if (r < 0)
                return r;
        r = sysfs_foreach(AT_FDCWD, "/sys/block", visit_loop, &scan);
        if (r < 0)
                return r;
        r = sysfs_foreach(AT_FDCWD, "/sys/fs/btrfs", visit_btrfs, &scan);
        if (r < 0 && r != -ENOENT)
                return r;
        return scan_exports(&scan);
}

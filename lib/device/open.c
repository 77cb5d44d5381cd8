/* SPDX-License-Identifier: MIT */

/*
 * The exclusive open is the proof that nothing mounts, swaps on or stacks upon the device. EBUSY
 * may pass (a mkfs that is just ending, the last I/O of a killed process), so it is tried again for a while;
 * then the scans get a second chance to name the culprit.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "device/open.h"
#include "device/related.h"
#include "device/sysfs.h"
#include "util/macro.h"
#include "util/time.h"

/* Since Linux 5.15; older headers do not know it. */
#ifndef BLKGETDISKSEQ
#define BLKGETDISKSEQ _IOR(0x12, 128, __u64)
#endif

#define RETRY_INTERVAL_NS (50 * NSEC_PER_MSEC)

int device_state_read(int fd, DeviceState *ret) {
        DeviceState state = {};
        int read_only;

        if (ioctl(fd, BLKGETSIZE64, &state.size_bytes) < 0)
                return -errno;
        if (ioctl(fd, BLKROGET, &read_only) < 0)
                return -errno;
        if (ioctl(fd, BLKGETDISKSEQ, &state.diskseq) < 0 && errno != ENOTTY && errno != EINVAL)
                return -errno;
        state.read_only = read_only != 0;
        *ret = state;
        return 0;
}

/* The attribute: "reads writes". */
uint64_t device_count_inflight(const DeviceInfo *info) {
        RelatedDevice self = { .number = makedev(info->major, info->minor) };
        _cleanup_close_ int fd = related_open(&self);
        _cleanup_free_ char *text = NULL;
        uint64_t n_reads, n_writes;

        if (fd < 0 || sysfs_read_text(fd, "inflight", &text) < 0)
                return 0;
        if (sscanf(text, "%" SCNu64 " %" SCNu64, &n_reads, &n_writes) != 2)
                return 0;
        return n_reads + n_writes;
}

int device_add_unexplained(const DeviceInfo *info, ReasonKind kind, const char *text, Reasons *reasons) {
        uint64_t n = device_count_inflight(info);

        if (n == 0)
                return reasons_add(reasons, kind, "%s", text);
        return reasons_add(reasons, REASON_PENDING_IO,
                           "I/O of a dead process is still pending (%" PRIu64 " requests); "
                           "wait until the device has answered, or detach it", n);
}

static int add_busy(const DeviceInfo *info, Reasons *reasons, Error *error) {
        size_t n_before = reasons->n;
        int r = device_check_usage(info, getpid(), reasons, error);

        if (r < 0 || reasons->n > n_before)
                return r;
        return device_add_unexplained(info, REASON_BUSY,
                                      "in exclusive use by something that no scan finds "
                                      "(a file system unmounted lazily, a driver); find it and release the device",
                                      reasons);
}

static int add_open_failure(const DeviceInfo *info, int errnum, Reasons *reasons, Error *error) {
        switch (errnum) {
        case EBUSY:
                return add_busy(info, reasons, error);
        case ENOMEDIUM:
                return reasons_add(reasons, REASON_NO_MEDIUM, "no medium is in it; insert one");
        case EROFS:
                return reasons_add(reasons, REASON_READ_ONLY, "read-only; take its write protection off");
        case ENOENT:
        case ENODEV:
        case ENXIO:
                return reasons_add(reasons, REASON_CHANGED,
                                   "gone since it was looked at; look again which device is which");
        default:
                return reasons_add(reasons, REASON_UNREADABLE, "cannot be opened: %s (%s)",
                                   strerror(errnum), errno_name(errnum));
        }
}

static int open_patiently(const char *path, int flags, uint64_t patience_ns) {
        const uint64_t end_ns = time_monotonic_ns() + patience_ns;

        for (;;) {
                int fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
                if (fd >= 0)
                        return fd;
                if (errno == EINTR)
                        continue;
                if (errno != EBUSY || time_monotonic_ns() >= end_ns)
                        return -errno;
                nanosleep(&(struct timespec) { .tv_nsec = (long) RETRY_INTERVAL_NS }, NULL);
        }
}

/* 1 if it is, 0 if another device came under the name, -errno. */
static int is_same_device(const DeviceInfo *info, int fd) {
        struct stat st;
        DeviceState state;

        if (fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISBLK(st.st_mode) || st.st_rdev != makedev(info->major, info->minor))
                return 0;
        int r = device_state_read(fd, &state);
        if (r < 0)
                return r;
        return state.size_bytes == info->size_bytes && (info->diskseq == 0 || state.diskseq == info->diskseq);
}

int device_open(const DeviceInfo *info, int flags, uint64_t patience_ns, Reasons *reasons, Error *error) {
        _cleanup_close_ int fd = open_patiently(info->path, flags, patience_ns);
        int r;

        if (fd < 0)
                r = add_open_failure(info, -fd, reasons, error);
        else {
                r = is_same_device(info, fd);
                if (r > 0)
                        return TAKE_FD(fd);
                r = r < 0 ? add_open_failure(info, -r, reasons, error)
                          : reasons_add(reasons, REASON_CHANGED,
                                        "another device or medium came under this name while it was checked; "
                                        "look again which device is which");
        }
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "%s cannot be checked: %s", info->path, strerror(-r));
        return -EBADF;
}

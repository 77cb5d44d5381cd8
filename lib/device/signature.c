/* SPDX-License-Identifier: MIT */

/*
 * libblkid says what a device holds. Every prober is asked in turn, as wipefs does, so several
 * signatures are all found and an ambiguous device (which libblkid's "safe" probing calls ambivalent and leaves
 * unnamed) shows each of them. A checksum that does not fit, a backup GPT whose primary is gone,
 * and partition tables under a file system count too: it is somebody's data.
 *
 * libblkid reads as it likes, not in aligned blocks, so it cannot use an O_DIRECT descriptor. /proc/self/fd/N
 * opens the same node again, whatever has become of its name, and while we hold it exclusively a
 * plain second open is ours to make. The page cache is dropped before, to see the drive and
 * not a memory of it, and after, or each later direct write would have to invalidate it.
 */

#include <blkid/blkid.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device/check.h"
#include "device/related.h"
#include "device/sysfs.h"
#include "util/macro.h"
#include "util/parse.h"

/* Zeroed at both ends before the rest is searched one by one: holds nearly everything that libblkid knows. */
#define ENDS_BYTES MIB

/* Signatures beyond the ends; ZFS has 128 in each of its four labels. */
#define WIPES_MAX 4096

static void probe_freep(blkid_probe *probe) {
        if (*probe)
                blkid_free_probe(*probe);
}

static int reopen(int fd, int flags) {
        char path[sizeof("/proc/self/fd/") + 10];

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        int again = open(path, flags | O_CLOEXEC | O_NOCTTY);
        return again < 0 ? -errno : again;
}

static int probe_new(blkid_probe *ret, int fd) {
        __attribute__((cleanup(probe_freep))) blkid_probe probe = blkid_new_probe();

        if (!probe)
                return -ENOMEM;
        errno = 0;
        if (blkid_probe_set_device(probe, fd, 0, 0) != 0)
                return errno > 0 ? -errno : -EIO;
        blkid_probe_enable_superblocks(probe, 1);
        blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE |
                                                 BLKID_SUBLKS_LABEL | BLKID_SUBLKS_BADCSUM);
        blkid_probe_enable_partitions(probe, 1);
        blkid_probe_set_partitions_flags(probe, BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT);
        *ret = probe;
        probe = NULL;
        return 0;
}

/* 1 if another signature was found, 0 at the end, -errno if the device could not be read. */
static int probe_next(blkid_probe probe) {
        errno = 0;
        int r = blkid_do_probe(probe);

        if (r < 0)
                return errno > 0 ? -errno : -EIO;
        return r == 0;
}

static const char *probe_value(blkid_probe probe, const char *name) {
        const char *value;

        return blkid_probe_lookup_value(probe, name, &value, NULL) == 0 ? value : NULL;
}

/* With its article. */
static const char *usage_noun(const char *usage) {
        if (!usage)
                return "a partition table";
        if (strcmp(usage, "filesystem") == 0)
                return "a file system";
        if (strcmp(usage, "raid") == 0)
                return "a RAID or volume manager member";
        if (strcmp(usage, "crypto") == 0)
                return "an encrypted volume";
        return "a signature"; /* "other": swap and the like */
}

static int add_signature(blkid_probe probe, Reasons *reasons) {
        const char *table = probe_value(probe, "PTTYPE"), *type = probe_value(probe, "TYPE");
        const char *offset = probe_value(probe, type ? "SBMAGIC_OFFSET" : "PTMAGIC_OFFSET");
        const char *label = probe_value(probe, "LABEL") ?: "";

        int r = reasons_add(reasons, REASON_SIGNATURE, "holds %s (%s%s%s%s) at byte %s",
                           usage_noun(type ? probe_value(probe, "USAGE") : NULL), type ?: table ?: "unknown",
                           label[0] ? ", \"" : "", label, label[0] ? "\"" : "", offset ?: "0");
        if (r >= 0 && offset)
                (void) parse_u64(offset, &reasons->items[reasons->n - 1].offset);
        return r;
}

static int find_signatures(int fd, Reasons *reasons) {
        _cleanup_close_ int reader = reopen(fd, O_RDONLY);
        __attribute__((cleanup(probe_freep))) blkid_probe probe = NULL;

        if (reader < 0)
                return reader;
        (void) posix_fadvise(reader, 0, 0, POSIX_FADV_DONTNEED);
        int r = probe_new(&probe, reader);
        if (r < 0)
                return r;
        while ((r = probe_next(probe)) > 0) {
                r = add_signature(probe, reasons);
                if (r < 0)
                        return r;
        }
        (void) posix_fadvise(reader, 0, 0, POSIX_FADV_DONTNEED);
        return r;
}

int device_check_signatures(const DeviceInfo *info, int fd, Reasons *reasons, Error *error) {
        int r = find_signatures(fd, reasons);

        if (r == -ENOMEM)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        if (r < 0)
                r = reasons_add(reasons, REASON_UNREADABLE,
                                "could not be searched for file systems: %s (%s); a drive that cannot be read "
                                "at its ends cannot be proven empty", strerror(-r), errno_name(-r));
        return r < 0 ? error_set(error, ERROR_FAILED, -r, "out of memory") : 0;
}

static int write_zeros(int fd, uint64_t offset, size_t length) {
        static const uint8_t zeros[64 * KIB];

        while (length > 0) {
                ssize_t n = pwrite(fd, zeros, MIN(length, sizeof(zeros)), (off_t) offset);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : -ENOSPC;
                offset += (uint64_t) n;
                length -= (size_t) n;
        }
        return 0;
}

static int wipe_ends(int fd, uint64_t size_bytes) {
        size_t length = (size_t) MIN(size_bytes, ENDS_BYTES);
        int r = write_zeros(fd, 0, length);

        return r < 0 ? r : write_zeros(fd, size_bytes - length, length);
}

/* One at a time, with a new look after each: wiping one may uncover another under it. */
static int wipe_rest(int fd) {
        for (unsigned i = 0; i < WIPES_MAX; i++) {
                __attribute__((cleanup(probe_freep))) blkid_probe probe = NULL;
                int r = probe_new(&probe, fd);
                if (r < 0)
                        return r;
                r = probe_next(probe);
                if (r <= 0)
                        return r;
                errno = 0;
                if (blkid_do_wipe(probe, 0) != 0)
                        return errno > 0 ? -errno : -EIO;
        }
        return 0;
}

static int drop_partition(int dir_fd, const char *name, void *userdata) {
        const int *fd = userdata;
        _cleanup_close_ int partition_fd = sysfs_open(dir_fd, name);
        uint32_t number;

        if (partition_fd < 0 || sysfs_read_u32(partition_fd, "partition", &number) < 0)
                return 0;

        struct blkpg_partition partition = { .pno = (int) number };
        struct blkpg_ioctl_arg request = {
                .op = BLKPG_DEL_PARTITION,
                .datalen = sizeof(partition),
                .data = &partition,
        };
        return ioctl(*fd, BLKPG, &request) < 0 && errno != ENXIO ? -errno : 0;
}

static int drop_partitions(const DeviceInfo *info, int fd) {
        RelatedDevice self = { .number = makedev(info->major, info->minor) };

        if (info->partition > 0)
                return 0;
        _cleanup_close_ int dir_fd = related_open(&self);
        return dir_fd < 0 ? dir_fd : sysfs_foreach(dir_fd, ".", drop_partition, &fd);
}

static int wipe(const DeviceInfo *info, int fd) {
        _cleanup_close_ int writer = reopen(fd, O_RDWR);

        if (writer < 0)
                return writer;
        int r = wipe_ends(writer, info->size_bytes);
        if (r < 0)
                return r;
        r = wipe_rest(writer);
        if (r < 0)
                return r;
        if (fsync(writer) < 0)
                return -errno;
        return drop_partitions(info, fd);
}

int device_erase_signatures(const DeviceInfo *info, int fd, Error *error) {
        _cleanup_reasons_ Reasons left = {};
        int r = wipe(info, fd);

        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "%s: its signatures cannot be erased: %s (%s)",
                                 info->path, strerror(-r), errno_name(-r));
        r = device_check_signatures(info, fd, &left, error);
        if (r < 0)
                return r;
        if (left.n > 0)
                return error_set(error, ERROR_REFUSED, EEXIST, "%s was erased, but still %s",
                                 info->path, left.items[0].text);
        return 0;
}

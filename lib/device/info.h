/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a block device is: identity, size, limits, link. Read from sysfs and, with
 * the device open, by ioctl. Everything a string here holds comes from hardware
 * and is hostile: bytes are kept as they are (blanks around stripped), escaped when shown.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spec/plan.h"
#include "util/error.h"

typedef struct DeviceInfo {
        char *path;        /* /dev/NAME, canonical, symbolic links resolved */
        char *name;        /* the kernel's: "sda", "nvme0n1p2", "loop3" */
        char *disk_name;   /* the whole disk's; equal to name unless it is a partition */
        uint32_t major, minor;
        uint32_t partition; /* number, 0 for a whole disk */
        uint32_t namespace_id; /* NVMe; 0: none */
        uint32_t n_namespaces; /* of this controller; 0 or 1 where it does not matter */

        /* Identity; NULL where the drive tells none. */
        char *model;
        char *serial;
        char *wwn;
        char *firmware;
        uint64_t diskseq; /* BLKGETDISKSEQ of the whole disk; 0 on kernels without it */

        uint64_t size_bytes;
        uint32_t logical_block_bytes;
        uint32_t physical_block_bytes;
        bool rotational;
        bool read_only;
        bool zoned;

        /* How it is attached and set up; NULL where unknown. */
        char *transport;   /* "sata", "sas", "nvme", "usb", "virtio", "loop", "zram", ... */
        char *link;        /* as far as sysfs tells: "PCIe 8.0 GT/s x4", "6.0 Gbps" */
        char *host_driver; /* of the HBA or controller: "ahci", "mpt3sas", "nvme" */
        char *scheduler;   /* the active one: "none", "mq-deadline" */
        char *write_cache; /* "write back", "write through" */
        uint32_t read_ahead_kib;
        uint32_t nr_requests; /* depth beyond this goes to kernel workers */
        uint64_t discard_max_bytes;         /* of one command; 0: it takes no trims */
        uint32_t discard_granularity_bytes; /* it may do nothing with less; 0: unknown */
        uint32_t discard_alignment_bytes; /* where the first whole one of them begins; for its worker only: not sent */
} DeviceInfo;

DeviceInfo *device_info_free(DeviceInfo *info);
DEFINE_CLEANUP(DeviceInfo *, device_info_free)
#define _cleanup_device_info_ _cleanup_(device_info_freep)

/*
 * Reads what sysfs tells of the block device at path, without opening it, so it does
 * not hang on a dead drive. Errors, each with its own message:
 *   ERROR_NOT_FOUND  -ENOENT    nothing is there (nothing is ever created)
 *   ERROR_REFUSED    -ENOENT    a symbolic link that leads nowhere
 *   ERROR_REFUSED    -ENOTBLK   a regular file, directory, character device, ...
 *   ERROR_FAILED                sysfs unreadable
 */
int device_info_read(DeviceInfo **ret, const char *path, Error *error);

/*
 * The names of all whole block devices of this machine that could be meant, and with
 * partitions their partitions: from /sys/block, without those of size 0. Sorted in natural order (sda, sdb, sdaa).
 * A NULL-terminated array of allocated /dev paths.
 */
int device_list(char ***ret_paths, Error *error);
void strv_free(char **strings);

/* What a job is bound to (spec/plan.h). */
PlanTarget device_plan_target(const DeviceInfo *info);

/*
 * What --confirm must equal: SERIAL; SERIAL-partN for a partition; SERIAL-nN for one of several
 * namespaces; the kernel name where there is no serial. Newly allocated.
 */
char *device_confirmation(const DeviceInfo *info);

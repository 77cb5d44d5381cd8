/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The block devices whose use is a use of the target: itself, its partitions, and its disk if
 * it is a partition.
 */

#include "device/info.h"

typedef struct RelatedDevice {
        dev_t number;
        char *name;    /* the kernel's */
        char *subject; /* "" for the target; else a beginning for a sentence: "partition sda1 is " */
} RelatedDevice;

typedef struct Related {
        size_t n;
        RelatedDevice *items; /* the target first */
} Related;

/* What tells whether one device's use is another's, without names: it, and the disk that it is or is a part of. */
typedef struct DeviceNumbers {
        dev_t device; /* 0: unknown, overlaps with nothing */
        dev_t disk;
} DeviceNumbers;

/* From sysfs, without opening anything; where that tells nothing, the device is its own disk. */
DeviceNumbers device_numbers_read(dev_t device);

/* Whether they are one device, or one is the disk of the other. */
bool device_numbers_overlap(const DeviceNumbers *a, const DeviceNumbers *b);

/* From sysfs. -ENOMEM, or -errno of sysfs. */
int related_read(Related *ret, const DeviceInfo *info);
void related_clear(Related *related);
#define _cleanup_related_ _cleanup_(related_clear)

/* "/dev/sda"; in the kernel's names '!' stands for '/'. Newly allocated, NULL if memory ran out. */
char *device_node_path(const char *name);

/* The one with this number, or NULL. */
const RelatedDevice *related_find(const Related *related, dev_t number);

/* The one that the block device node at path is, or NULL; asks no remote file system. */
const RelatedDevice *related_find_path(const Related *related, const char *path);

/* The directory of a device in /sys; its fd, or -errno. */
int related_open(const RelatedDevice *device);

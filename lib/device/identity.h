/* SPDX-License-Identifier: MIT */
#pragma once

/* How DeviceInfo is filled from a sysfs tree; the parts of device_info_read(). */

#include "device/info.h"

/*
 * Fills *info, whose major and minor say which device, from the tree at sysfs_fd (an
 * open /sys). What the tree does not tell stays as it is. -ENODEV if there is no such device in it, -ENOMEM, or what
 * reading gave for an attribute that every block device has.
 */
int device_info_fill(DeviceInfo *info, int sysfs_fd);

/* Model, serial, wwn, firmware and namespaces, from the disk's directory. -ENOMEM. */
int identity_fill(DeviceInfo *info, int disk_fd);

/* Transport, link and host driver, from the disk's directory. -ENOMEM. */
int attachment_fill(DeviceInfo *info, int disk_fd);

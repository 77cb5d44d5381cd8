/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The single scans behind device_check_usage(). Each adds what it finds; -errno if it
 * could not look.
 */

#include "device/check.h"
#include "device/related.h"

/* Mounts in every mount namespace that a process lives in. */
int usage_scan_mounts(const Related *related, Reasons *reasons);

/* Swap, holders, loop devices backed by it, members of multi-device btrfs, exports over NVMe or SCSI. */
int usage_scan_kernel(const Related *related, Reasons *reasons);

/*
 * Adds REASON_OWN_RUN for a worker of plateau, told once however it holds the device; nobody is to kill it for the
 * advice given. -ENOMEM.
 */
int usage_add_worker(const RelatedDevice *device, pid_t pid, Reasons *reasons);

/*
 * Processes that have it open (threads with a descriptor table of their own included) or
 * hold a file lock on it, other than ignore_pid.
 */
int usage_scan_openers(const Related *related, pid_t ignore_pid, Reasons *reasons);
int usage_scan_locks(const DeviceInfo *info, const Related *related, pid_t ignore_pid, Reasons *reasons);

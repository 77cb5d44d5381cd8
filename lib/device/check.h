/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * May this device be overwritten? Every reason against it is found and named. The
 * scans name the culprit; the exclusive open of device/claim.h is the proof.
 */

#include "device/info.h"

typedef enum ReasonKind {
        REASON_ZONED,
        REASON_READ_ONLY,
        REASON_NO_MEDIUM,    /* size 0 */
        REASON_MOUNTED,      /* it or a partition of it, in any mount namespace; names the mount point */
        REASON_SWAP,
        REASON_HOLDER,       /* dm, md, bcache: names the holder */
        REASON_LOOP_BACKING, /* a loop device is backed by it */
        REASON_OWN_RUN,      /* a worker of plateau has it open or locked */
        REASON_OPENED,       /* names program and pid */
        REASON_LOCKED,       /* flock; names the pid where /proc/locks tells */
        REASON_BUSY,         /* exclusive open failed and no culprit was found */
        REASON_PENDING_IO,   /* no opener, but I/O of a dead process is in flight */
        REASON_SIGNATURE,    /* names type, label and where; overridable by erasing, the others are not */
        REASON_CHANGED,      /* another device came under the name between check and open */
        REASON_UNREADABLE,   /* could not be examined: names the errno */
        REASON_UNCONFIRMED,  /* names the confirmation that is expected */
        REASON_DENIED,       /* by the service's configuration; names the pattern */
        N_REASON_KINDS,
} ReasonKind;

typedef struct Reason {
        ReasonKind kind;
        pid_t pid;  /* of REASON_OPENED, REASON_LOCKED, REASON_OWN_RUN; 0 where it cannot be told, and for the others */
        uint64_t offset; /* of REASON_SIGNATURE: of its magic on the device, bytes; 0 for the others */
        char *text; /* for a person, without the device's path: "mounted at /mnt; unmount it first" */
} Reason;

typedef struct Reasons {
        size_t n;
        Reason *items;
} Reasons;

/* -ENOMEM. */
int reasons_add(Reasons *reasons, ReasonKind kind, const char *format, ...) _printf_(3, 4);
int reasons_add_process(Reasons *reasons, ReasonKind kind, pid_t pid, const char *format, ...) _printf_(4, 5);

/* Takes over the text. */
int reasons_move(Reasons *to, Reason *reason);
bool reasons_have(const Reasons *reasons, ReasonKind kind);
void reasons_clear(Reasons *reasons);
#define _cleanup_reasons_ _cleanup_(reasons_clear)

/*
 * Adds what can be told without opening the device: zoned, read-only, mounts (of it,
 * of its partitions, and of the disk if it is a partition), swap, holders, loop backing,
 * openers and lock holders (plateau's own workers told as such, each once) other than ignore_pid (0: none; threads of
 * one process count as that process). Openers and lock holders are told if they are seen twice a second apart, since
 * udev looks at devices in passing; so this takes a second if there are any.
 */
int device_check_usage(const DeviceInfo *info, pid_t ignore_pid, Reasons *reasons, Error *error);

/*
 * Adds a REASON_SIGNATURE for each partition table, file system, RAID, LVM, LUKS or ZFS
 * signature that libblkid finds on fd, at both ends of the device.
 */
int device_check_signatures(const DeviceInfo *info, int fd, Reasons *reasons, Error *error);

/*
 * The same of a device that is in use, so that all that stands against it is told at once: through an open of its own,
 * for reading. Adds nothing where it may not be looked at: plateau itself measures it, requests are
 * pending (a look would hang or disturb whoever waits), it is not what was checked, or it cannot be read.
 */
int device_check_used_signatures(const DeviceInfo *info, Reasons *reasons, Error *error);

/*
 * Wipes every signature at both ends, drops the kernel's partitions and looks again;
 * ERROR_REFUSED if one is still there. fd is open for writing and exclusive.
 */
int device_erase_signatures(const DeviceInfo *info, int fd, Error *error);

/*
 * For `devices`: everything that would refuse a run on it, found as a claim would find it but without standing in
 * anybody's way: an exclusive open is tried and closed at once. Opens the device for reading; may hang on a dead
 * drive, so it is called in a disposable process.
 */
int device_examine(const DeviceInfo *info, Reasons *reasons, Error *error);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Opening the very device that was checked: the common part of a claim and of an examination. */

#include "device/check.h"

/*
 * Opens it with flags | O_CLOEXEC (with O_EXCL among them: trying again for patience_ns while something has
 * it) and makes sure that it still is the device that *info describes. The fd; or -EBADF with the reason why not
 * added to *reasons; or another -errno with *error filled.
 */
int device_open(const DeviceInfo *info, int flags, uint64_t patience_ns, Reasons *reasons, Error *error);

/*
 * For what no scan explains: REASON_PENDING_IO if the device owes somebody an answer, else `kind` with
 * `text`. -ENOMEM.
 */
int device_add_unexplained(const DeviceInfo *info, ReasonKind kind, const char *text, Reasons *reasons);

/* Requests of any process that the disk has not answered; 0 where that cannot be told. */
uint64_t device_count_inflight(const DeviceInfo *info);

/* size, diskseq and read-only state of an open device; touches nothing but fd. 0 or -errno. */
typedef struct DeviceState {
        uint64_t size_bytes;
        uint64_t diskseq; /* 0 on kernels without it */
        bool read_only;
} DeviceState;

int device_state_read(int fd, DeviceState *ret);

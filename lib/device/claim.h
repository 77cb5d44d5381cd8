/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Taking a device for a run. A claim is the exclusive, direct, read-write open of the very
 * device that was checked, kept until the run ends.
 */

#include "device/check.h"

typedef struct ClaimRequest {
        const char *path;
        const char *const *confirmations; /* NULL-terminated; one of them must fit */
        bool erase_existing; /* a signature is no reason to refuse; nothing is erased yet */
} ClaimRequest;

typedef struct Claim {
        DeviceInfo *info;
        int fd;      /* O_RDWR | O_EXCL | O_DIRECT | O_CLOEXEC, flock'ed LOCK_EX if it is the whole disk */
        int disk_fd; /* a partition's whole disk, flock'ed; -EBADF otherwise, and after claim_settle() */
        Reasons signatures; /* found and to be erased; empty without erase_existing */
} Claim;

/*
 * Checks all of it and opens the device; writes nothing. Takes a second (two scans for
 * openers), up to 5 s while EBUSY is retried. May hang on a dead drive.
 * ERROR_REFUSED with all reasons in the message ("/dev/sda (MODEL, SERIAL): mounted at /; ..."), ERROR_NOT_FOUND,
 * ERROR_NOT_PERMITTED (not root). Needs CAP_SYS_ADMIN and CAP_SYS_PTRACE to see every process.
 */
int claim_new(Claim **ret, const ClaimRequest *request, Error *error);

/* Erases what claim_new() found, if anything, and releases the whole disk's lock if the target is a partition. */
int claim_settle(Claim *claim, Error *error);

/*
 * Between phases: still the same size, diskseq and writable? -ENODEV (gone), -EROFS, -ESTALE
 * (size or diskseq changed), with a message. Uses only fd and ioctls that an unprivileged process may make.
 */
int claim_verify(const Claim *claim, Error *error);

Claim *claim_free(Claim *claim);
DEFINE_CLEANUP(Claim *, claim_free)
#define _cleanup_claim_ _cleanup_(claim_freep)

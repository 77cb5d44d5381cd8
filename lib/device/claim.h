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
        const char *const *deny; /* patterns (device/configuration.h), NULL-terminated; NULL: none */
        bool for_reading; /* until claim_make_writable() */
} ClaimRequest;

typedef struct Claim {
        DeviceInfo *info;
        int fd; /* O_RDWR | O_EXCL | O_DIRECT | O_CLOEXEC, flock'ed LOCK_EX if it is the whole disk */
        int holder_fd; /* what is exclusive and locked instead, of a claim that was for reading; else -EBADF */
        Reasons signatures; /* found and to be erased; empty without erase_existing */
} Claim;

/*
 * Checks all of it and opens the device; writes nothing. Who uses it is looked for again once it is open and
 * locked, for not everybody who opened it meanwhile did so exclusively. Takes a second if there are openers (two
 * scans), up to 5 s more while EBUSY is retried and 3 s while the disk is locked. May hang on a dead drive.
 * ERROR_REFUSED with all reasons in the message, who uses it first
 * ("/dev/sda (MODEL, SERIAL): mounted at /; unmount it first | not confirmed; ..."), ERROR_NOT_FOUND,
 * ERROR_NOT_PERMITTED (not root). Needs CAP_SYS_ADMIN and CAP_SYS_PTRACE to see every process.
 *
 * Of a partition the whole disk is locked during the checks only, so that other partitions of it can be claimed.
 */
int claim_new(Claim **ret, const ClaimRequest *request, Error *error);

/*
 * Opens the device of a claim for reading for writing too, if it still is the one that was claimed. The claim does not
 * let go of it meanwhile. ERROR_REFUSED and others as claim_new(); the claim stays as it was then.
 */
int claim_make_writable(Claim *claim, Error *error);

/*
 * Erases what claim_new() found, if anything; of a partition the whole disk is locked meanwhile. The first
 * write to the device, and only if it is still the one that was claimed. Needs the same privileges.
 */
int claim_settle(Claim *claim, Error *error);

/*
 * Between phases: still the same size, diskseq and writable? -ENODEV (gone), -EROFS, -ESTALE
 * (size or diskseq changed), with a message. Uses only fd and ioctls that an unprivileged process may make.
 */
int claim_verify(const Claim *claim, Error *error);

Claim *claim_free(Claim *claim);
DEFINE_CLEANUP(Claim *, claim_free)
#define _cleanup_claim_ _cleanup_(claim_freep)

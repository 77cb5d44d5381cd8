/* SPDX-License-Identifier: MIT */

/*
 * The order: what it is, who uses it (from outside), the exclusive open, is that still the same
 * device, the lock that keeps udev and disk tools away, who came to use it meanwhile, what it holds, and whether the
 * caller meant this one. Nothing is written, so a claim that fails has left no trace; erasing waits for claim_settle().
 */

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "device/claim.h"
#include "device/configuration.h"
#include "device/confirmation.h"
#include "device/find.h"
#include "device/open.h"
#include "device/related.h"
#include "device/usage.h"
#include "util/macro.h"
#include "util/time.h"

#define OPEN_PATIENCE_NS (5 * NSEC_PER_SEC)

/* udev locks a disk while it probes it. */
#define LOCK_PATIENCE_NS (3 * NSEC_PER_SEC)
#define LOCK_INTERVAL_NS (50 * NSEC_PER_MSEC)

Claim *claim_free(Claim *claim) {
        if (!claim)
                return NULL;
        fd_close(claim->holder_fd);
        fd_close(claim->fd); /* last: udev looks at what was open for writing, and finds it free */
        device_info_free(claim->info);
        reasons_clear(&claim->signatures);
        free(claim);
        return NULL;
}

/* All reasons in one line: "/dev/sda (MODEL, SERIAL): mounted at /; unmount it first | not confirmed; ...". */
static int refuse(const DeviceInfo *info, const Reasons *reasons, Error *error) {
        const char *model = info->model ?: "", *serial = info->serial ?: "";
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);

        if (!file)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        fprintf(file, "%s", info->path);
        if (*model || *serial)
                fprintf(file, " (%s%s%s)", model, *model && *serial ? ", " : "", serial);
        for (size_t i = 0; i < reasons->n; i++)
                fprintf(file, "%s %s", i > 0 ? " |" : ":", reasons->items[i].text);
        if (fclose(file) != 0)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        return error_set(error, ERROR_REFUSED, EPERM, "%s", text);
}

static int lock_patiently(int fd) {
        const uint64_t end_ns = time_monotonic_ns() + LOCK_PATIENCE_NS;

        while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                if (errno == EINTR)
                        continue;
                if (errno != EWOULDBLOCK || time_monotonic_ns() >= end_ns)
                        return -errno;
                nanosleep(&(struct timespec) { .tv_nsec = (long) LOCK_INTERVAL_NS }, NULL);
        }
        return 0;
}

static int add_lock_holder(const DeviceInfo *info, Reasons *reasons) {
        _cleanup_related_ Related related = {};
        int r = related_read(&related, info);

        if (r < 0)
                return r;
        r = usage_scan_locks(info, &related, getpid(), reasons);
        if (r < 0 || reasons->n > 0)
                return r;
        return device_add_unexplained(info, REASON_LOCKED, "locked by a process that no scan finds; find and end it",
                                      reasons);
}

/*
 * Locks the whole disk: through the claim's exclusive fd, or for a partition through *ret_disk_fd, which
 * the caller closes after the checks. A reason is added if somebody keeps it locked.
 */
static int lock_disk(const Claim *claim, int *ret_disk_fd, Reasons *reasons, Error *error) {
        const DeviceInfo *info = claim->info;
        _cleanup_close_ int disk_fd = -EBADF;

        if (info->partition > 0) {
                _cleanup_free_ char *path = device_node_path(info->disk_name);
                if (!path)
                        return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
                disk_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
                if (disk_fd < 0)
                        return error_set(error, ERROR_FAILED, errno, "%s, the disk of %s, cannot be opened: %s",
                                         path, info->path, strerror(errno));
        }
        int own_fd = claim->holder_fd >= 0 ? claim->holder_fd : claim->fd;
        int r = lock_patiently(disk_fd >= 0 ? disk_fd : own_fd);
        if (r == -EWOULDBLOCK)
                r = add_lock_holder(info, reasons);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "%s cannot be locked: %s", info->path, strerror(-r));
        *ret_disk_fd = TAKE_FD(disk_fd);
        return 0;
}

/* What it holds, and whether it is meant: told together with all else, so that one more try is enough. */
static int check_contents(Claim *claim, const ClaimRequest *request, Reasons *reasons, Error *error) {
        _cleanup_free_ char *word = NULL, *twin = NULL;
        _cleanup_reasons_ Reasons kept = {};
        int r = device_confirmation_here(claim->info, &word, &twin, error);

        if (r < 0)
                return r;
        r = claim->fd >= 0 ? device_check_signatures(claim->info, claim->fd, reasons, error)
                           : device_check_used_signatures(claim->info, reasons, error);
        if (r < 0)
                return r;
        for (size_t i = 0; r == 0 && i < reasons->n; i++) {
                bool erasable = request->erase_existing && reasons->items[i].kind == REASON_SIGNATURE;
                r = reasons_move(erasable ? &claim->signatures : &kept, reasons->items + i);
        }
        reasons_clear(reasons);
        *reasons = kept;
        kept = (Reasons) {};
        if (r == 0 && reasons_have(reasons, REASON_SIGNATURE))
                r = reasons_add(reasons, REASON_SIGNATURE, "to wipe what it holds, start with --erase-existing");
        if (r == 0)
                r = confirmation_check(word, twin, request->confirmations, reasons);
        return r < 0 ? error_set(error, ERROR_FAILED, -r, "out of memory") : 0;
}

/*
 * Opens it, for writing only if nothing is found against that beforehand (else *ret_found): closing a device that was
 * open for writing makes udev look at it anew and take into use what it finds, such as the half of somebody's RAID.
 */
static int claim_open(Claim *claim, const ClaimRequest *request, Reasons *ret_found, Reasons *reasons, Error *error) {
        int r = check_contents(claim, request, ret_found, error);

        if (r < 0)
                return r;
        reasons_clear(&claim->signatures); /* to be found again by who holds the device */
        int mode = request->for_reading || ret_found->n > 0 ? O_RDONLY : O_RDWR;
        claim->fd = device_open(claim->info, mode | O_EXCL | O_DIRECT, OPEN_PATIENCE_NS, reasons, error);
        return claim->fd < 0 && claim->fd != -EBADF ? claim->fd : 0;
}

static int claim_take(Claim *claim, const ClaimRequest *request, Error *error) {
        _cleanup_reasons_ Reasons reasons = {}, found = {};
        _cleanup_close_ int disk_fd = -EBADF; /* closing it unlocks */
        int r = device_check_denied(claim->info, request->deny, &reasons);

        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "out of memory");
        r = device_check_usage(claim->info, getpid(), &reasons, error);
        if (r >= 0 && reasons.n == 0)
                r = claim_open(claim, request, &found, &reasons, error);
        if (r >= 0 && claim->fd >= 0)
                r = lock_disk(claim, &disk_fd, &reasons, error);
        if (r >= 0 && reasons.n == 0)
                r = device_check_usage(claim->info, getpid(), &reasons, error);
        if (r >= 0)
                r = check_contents(claim, request, &reasons, error);
        if (r < 0)
                return r;
        if (reasons.n > 0 || found.n > 0)
                return refuse(claim->info, reasons.n > 0 ? &reasons : &found, error);
        return 0;
}

int claim_new(Claim **ret, const ClaimRequest *request, Error *error) {
        _cleanup_claim_ Claim *claim = malloc(sizeof(*claim));

        if (!claim)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        *claim = (Claim) { .fd = -EBADF, .holder_fd = -EBADF };

        int r = device_info_read(&claim->info, request->path, error);
        if (r < 0)
                return r;
        if (geteuid() != 0)
                return error_set(error, ERROR_NOT_PERMITTED, EPERM,
                                 "%s: only root can open a device for a run and see who else uses it",
                                 claim->info->path);
        r = claim_take(claim, request, error);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(claim);
        return 0;
}

int claim_make_writable(Claim *claim, Error *error) {
        _cleanup_reasons_ Reasons reasons = {};
        int fd = device_open(claim->info, O_RDWR | O_DIRECT, 0, &reasons, error);

        if (fd == -EBADF)
                return refuse(claim->info, &reasons, error);
        if (fd < 0)
                return fd;
        claim->holder_fd = claim->fd;
        claim->fd = fd;
        return 0;
}

int claim_settle(Claim *claim, Error *error) {
        _cleanup_reasons_ Reasons reasons = {};
        _cleanup_close_ int disk_fd = -EBADF;

        if (claim->signatures.n == 0)
                return 0;
        int r = claim_verify(claim, error);
        if (r < 0)
                return r;
        r = lock_disk(claim, &disk_fd, &reasons, error);
        if (r < 0)
                return r;
        if (reasons.n > 0)
                return refuse(claim->info, &reasons, error);
        r = device_erase_signatures(claim->info, claim->fd, error);
        if (r < 0)
                return r;
        reasons_clear(&claim->signatures);
        return 0;
}

int claim_verify(const Claim *claim, Error *error) {
        const DeviceInfo *info = claim->info;
        DeviceState state;
        int r = device_state_read(claim->fd, &state);

        if (r < 0 || state.size_bytes == 0)
                return error_set(error, ERROR_FAILED, ENODEV, "%s is gone", info->path);
        if (state.read_only)
                return error_set(error, ERROR_FAILED, EROFS, "%s has become read-only", info->path);
        if (state.size_bytes != info->size_bytes)
                return error_set(error, ERROR_FAILED, ESTALE,
                                 "%s has changed its size from %" PRIu64 " to %" PRIu64 " bytes",
                                 info->path, info->size_bytes, state.size_bytes);
        if (info->diskseq != 0 && state.diskseq != info->diskseq)
                return error_set(error, ERROR_FAILED, ESTALE, "%s is another device or medium than before", info->path);
        return 0;
}

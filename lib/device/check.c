/* SPDX-License-Identifier: MIT */

/*
 * Use is told from outside. Only then is the device opened, never for writing, and not at all where that might
 * disturb a measurement of our own or hang with somebody else's I/O.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device/check.h"
#include "device/open.h"
#include "device/usage.h"
#include "util/macro.h"

/* Between the two scans for openers. */
#define SCAN_INTERVAL_S 1

/* How long an examination waits for a device that is exclusively open; a claim has more patience. */
#define EXAMINE_PATIENCE_NS NSEC_PER_SEC

static int reasons_add_va(Reasons *reasons, ReasonKind kind, pid_t pid, const char *format, va_list ap) {
        Reason *items = reallocarray(reasons->items, reasons->n + 1, sizeof(*items));
        char *text;

        if (!items)
                return -ENOMEM;
        reasons->items = items;
        if (vasprintf(&text, format, ap) < 0)
                return -ENOMEM;
        items[reasons->n++] = (Reason) { .kind = kind, .pid = pid, .text = text };
        return 0;
}

int reasons_add(Reasons *reasons, ReasonKind kind, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        int r = reasons_add_va(reasons, kind, 0, format, ap);
        va_end(ap);
        return r;
}

int reasons_add_process(Reasons *reasons, ReasonKind kind, pid_t pid, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        int r = reasons_add_va(reasons, kind, pid, format, ap);
        va_end(ap);
        return r;
}

void reasons_clear(Reasons *reasons) {
        for (size_t i = 0; i < reasons->n; i++)
                free(reasons->items[i].text);
        free(reasons->items);
        *reasons = (Reasons) {};
}

int reasons_move(Reasons *to, Reason *reason) {
        Reason *items = reallocarray(to->items, to->n + 1, sizeof(*items));

        if (!items)
                return -ENOMEM;
        to->items = items;
        items[to->n++] = *reason;
        reason->text = NULL;
        return 0;
}

bool reasons_have(const Reasons *reasons, ReasonKind kind) {
        for (size_t i = 0; i < reasons->n; i++)
                if (reasons->items[i].kind == kind)
                        return true;
        return false;
}

static int add_properties(const DeviceInfo *info, Reasons *reasons) {
        int r = 0;

        if (info->size_bytes == 0)
                r = reasons_add(reasons, REASON_NO_MEDIUM, "it has no size: nothing is attached or inserted");
        if (r == 0 && info->zoned)
                r = reasons_add(reasons, REASON_ZONED,
                                "zoned: random writes are impossible on it; choose a conventional drive");
        if (r == 0 && info->read_only)
                r = reasons_add(reasons, REASON_READ_ONLY, "read-only; take its write protection off");
        return r;
}

static int scan(const DeviceInfo *info, const Related *related, pid_t ignore_pid, Reasons *reasons) {
        int r = usage_scan_mounts(related, reasons);

        if (r < 0)
                return r;
        r = usage_scan_kernel(related, reasons);
        if (r < 0)
                return r;
        r = usage_scan_openers(related, ignore_pid, reasons);
        if (r < 0)
                return r;
        return usage_scan_locks(info, related, ignore_pid, reasons);
}

static bool reason_may_pass(const Reason *reason) {
        return reason->kind == REASON_OPENED || reason->kind == REASON_LOCKED || reason->kind == REASON_OWN_RUN;
}

static bool was_there(const Reasons *earlier, const Reason *reason) {
        for (size_t i = 0; i < earlier->n; i++)
                if (earlier->items[i].kind == reason->kind && earlier->items[i].pid == reason->pid)
                        return true;
        return false;
}

/* The second scan, without those who came only after the first. */
static int scan_again(const DeviceInfo *info, const Related *related, pid_t ignore_pid, const Reasons *earlier,
                      Reasons *reasons) {
        _cleanup_reasons_ Reasons found = {};
        struct timespec interval = { .tv_sec = SCAN_INTERVAL_S };

        while (nanosleep(&interval, &interval) < 0 && errno == EINTR)
                ;
        int r = scan(info, related, ignore_pid, &found);
        for (size_t i = 0; r == 0 && i < found.n; i++)
                if (!reason_may_pass(found.items + i) || was_there(earlier, found.items + i))
                        r = reasons_move(reasons, found.items + i);
        return r;
}

static int check_usage(const DeviceInfo *info, pid_t ignore_pid, Reasons *reasons) {
        _cleanup_related_ Related related = {};
        _cleanup_reasons_ Reasons found = {};
        int r = add_properties(info, reasons);

        if (r < 0)
                return r;
        r = related_read(&related, info);
        if (r < 0)
                return r;
        r = scan(info, &related, ignore_pid, &found);
        if (r < 0)
                return r;
        for (size_t i = 0; i < found.n; i++)
                if (reason_may_pass(found.items + i))
                        return scan_again(info, &related, ignore_pid, &found, reasons);
        for (size_t i = 0; r == 0 && i < found.n; i++)
                r = reasons_move(reasons, found.items + i);
        return r;
}

int device_check_usage(const DeviceInfo *info, pid_t ignore_pid, Reasons *reasons, Error *error) {
        int r = check_usage(info, ignore_pid, reasons);

        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "%s cannot be checked for use: %s", info->path, strerror(-r));
        return 0;
}

int device_check_used_signatures(const DeviceInfo *info, Reasons *reasons, Error *error) {
        static const ReasonKind forbidding[] = { REASON_OWN_RUN, REASON_PENDING_IO, REASON_NO_MEDIUM, REASON_CHANGED };
        _cleanup_reasons_ Reasons unopened = {};

        for (size_t i = 0; i < ELEMENTSOF(forbidding); i++)
                if (reasons_have(reasons, forbidding[i]))
                        return 0;
        if (device_count_inflight(info) > 0)
                return 0;

        _cleanup_close_ int fd = device_open(info, O_RDONLY | O_DIRECT, 0, &unopened, error);
        if (fd == -EBADF)
                return 0;
        return fd < 0 ? fd : device_check_signatures(info, fd, reasons, error);
}

/* Does somebody use it exclusively whom no scan finds? Closed at once: nobody's mount is to fail for a mere look. */
static int try_exclusively(const DeviceInfo *info, Reasons *reasons, Error *error) {
        _cleanup_close_ int fd = device_open(info, O_RDONLY | O_EXCL, EXAMINE_PATIENCE_NS, reasons, error);

        return fd == -EBADF || fd >= 0 ? 0 : fd;
}

int device_examine(const DeviceInfo *info, Reasons *reasons, Error *error) {
        size_t n_before = reasons->n;
        int r = device_check_usage(info, getpid(), reasons, error);

        if (r >= 0 && reasons->n == n_before)
                r = try_exclusively(info, reasons, error);
        if (r < 0 || reasons->n > n_before)
                return r < 0 ? r : device_check_used_signatures(info, reasons, error);

        _cleanup_close_ int fd = device_open(info, O_RDONLY | O_DIRECT, 0, reasons, error);
        if (fd == -EBADF)
                return 0;
        return fd < 0 ? fd : device_check_signatures(info, fd, reasons, error);
}

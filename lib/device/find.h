/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Finding a drive again, by what it is and not by its name. A device without model, serial number and WWN (loop, zram)
 * is known by its diskseq alone, so only within the boot in which it was seen. Serial numbers and WWNs that drives are
 * sold with by the thousand ("0123456789", all zeros) count for nothing by themselves.
 */

#include "device/info.h"

typedef enum Likeness {
        LIKENESS_NONE,
        LIKENESS_CHANGED, /* its own serial number or WWN, but another size or sector size */
        LIKENESS_WEAK,    /* equal in all that it tells, none of which is its own: another may tell the same */
        LIKENESS_STRONG,  /* its own serial number or WWN, and equal in all else */
        LIKENESS_SAME,    /* the very device that was seen in this boot */
} Likeness;

/* Whether a serial number or a WWN tells one drive from another: not empty, not all one digit, no vendor's default. */
bool identity_is_own(const char *id);

/* same_boot: the expected diskseq is of this boot. */
Likeness device_likeness(const DeviceInfo *expected, bool same_boot, const DeviceInfo *found);

/*
 * Which of the candidates is the expected drive. Errors, with what was expected and what was found:
 *   ERROR_NOT_FOUND  -ENODEV    none; it may come yet
 *   ERROR_REFUSED    -ENODEV    none, and it cannot come: a device that only its boot knew
 *   ERROR_REFUSED    -ESTALE    it is there, and has changed
 *   ERROR_REFUSED    -ENOTUNIQ  several
 */
int device_choose(const DeviceInfo *expected, bool same_boot, DeviceInfo *const *candidates, size_t n,
                  size_t *ret_index, Likeness *ret_likeness, Error *error);

/*
 * What --confirm must equal on this machine: device_confirmation(), or the kernel name if another device here has the
 * same, which *ret_twin then names (/dev/sdb; else NULL). Both newly allocated. -ENOMEM, ERROR_FAILED.
 */
int device_confirmation_here(const DeviceInfo *info, char **ret_word, char **ret_twin, Error *error);

/* device_choose() of all block devices of this machine; opens none of them. Besides: -ENOMEM, ERROR_FAILED. */
int device_find(const DeviceInfo *expected, bool same_boot, DeviceInfo **ret, Likeness *ret_likeness, Error *error);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/check.h"

/*
 * Adds REASON_UNCONFIRMED, which says what was expected, unless one of the confirmations (NULL-terminated, may
 * be NULL) is word: as bytes, or as a person got to see it, repaired or escaped. twin: the device that has the same
 * serial number, or NULL (device_confirmation_here() tells both). -ENOMEM.
 */
int confirmation_check(const char *word, const char *twin, const char *const *confirmations, Reasons *reasons);

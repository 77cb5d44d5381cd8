/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/check.h"

/*
 * Adds REASON_UNCONFIRMED, which says what was expected, unless one of the confirmations (NULL-terminated, may
 * be NULL) is device_confirmation(): as bytes, or as a person got to see it, repaired or escaped. -ENOMEM.
 */
int confirmation_check(const DeviceInfo *info, const char *const *confirmations, Reasons *reasons);

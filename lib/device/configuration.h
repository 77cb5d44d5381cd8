/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The service's configuration: which devices are never to be tortured. The service reads it when it starts, and
 * `plateau devices` when it looks, so that both give one answer.
 */

#include "device/check.h"

#define CONFIGURATION_PATH "/etc/plateau/plateaud.conf"
#define CONFIGURATION_BYTES_MAX (1024 * 1024)

typedef struct Configuration {
        char **deny; /* patterns, NULL-terminated, in file order; NULL: none */
} Configuration;

/*
 * A path of NULL stands for CONFIGURATION_PATH, which may be missing. ERROR_USAGE with file, line and what was
 * expected, or why the file cannot be read. What is not known is an error, too: a drive that somebody meant to deny
 * must not be free because of a slip of the pen.
 */
int configuration_read(Configuration *ret, const char *path, Error *error);
void configuration_clear(Configuration *configuration);
#define _cleanup_configuration_ _cleanup_(configuration_clear)

/*
 * Adds a REASON_DENIED for each pattern (as of fnmatch(3); deny may be NULL) that fits the model, the serial number,
 * the kernel's name or a name below /dev, also a symbolic link's, of the device or of the disk that it is on. -ENOMEM.
 */
int device_check_denied(const DeviceInfo *info, const char *const *deny, Reasons *reasons);

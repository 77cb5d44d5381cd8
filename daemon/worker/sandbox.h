/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How a worker gives up all it does not need before the first workload I/O: uid, groups, capabilities, new
 * privileges, core dumps, and every system call but those that the engine, the sampler and the link make.
 */

#include <sys/types.h>

#include "util/error.h"

typedef struct Sandbox {
        uid_t uid; /* to become, if root */
        gid_t gid;
} Sandbox;

/*
 * While files can still be opened and before there are threads, so that they inherit it: finds the user `plateau`, or
 * nobody (65534); lifts the limit of locked memory; no protection from the OOM killer, no core dumps, no new
 * privileges, no bounding, inheritable and ambient capabilities; if not root, no capabilities at all. ERROR_FAILED.
 * *ret_notice, if not NULL, is a line for the journal (static): something harmless could not be given up.
 */
int sandbox_prepare(Sandbox *ret, const char **ret_notice, Error *error);

/*
 * In all threads of the process. trim_fd: the one descriptor on which BLKDISCARD stays allowed, or -1. From here on a
 * call that is not on the list kills it (SIGSYS). ERROR_FAILED: nothing may be written then. What root cannot give up
 * (a container that denies setgroups or setuid) is such a failure.
 */
int sandbox_enter(const Sandbox *sandbox, int trim_fd, Error *error);

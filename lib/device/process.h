/* SPDX-License-Identifier: MIT */
#pragma once

/* The processes of this machine, as far as /proc shows them. */

#include <stdbool.h>
#include <sys/types.h>

/*
 * Called with each process and its directory in /proc. Processes come and go meanwhile: what has
 * gone gives ENOENT or ESRCH there. A return other than 0 ends the walk and is returned.
 */
typedef int (*ProcessHandler)(int proc_fd, pid_t pid, void *userdata);
int process_foreach(ProcessHandler handler, void *userdata);

/*
 * Whether this process may look into every other (CAP_SYS_PTRACE). What is denied all the same, a
 * security module hides from everybody.
 */
bool process_sees_all(void);

/*
 * Whether it has ended, or is ending and has no descriptors any more. The kernel may still keep its files
 * open, and the locks on them, until the last I/O on them is done.
 */
bool process_is_dead(pid_t pid);

/* Whether it is a worker of plateau: by its name, and by a user that a worker may be. Who lies gains nothing by it. */
bool process_is_worker(pid_t pid);

/* Whether the service of such a worker is gone: then it submits nothing more, and waits for what it has submitted. */
bool process_is_former_worker(pid_t pid);

/* The program's name; "?" if it cannot be told. NULL only if memory ran out. */
char *process_name(pid_t pid);

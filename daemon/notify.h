/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What the service manager is told, as sd_notify(3) tells it, but for one thing: a manager that does not read holds
 * nobody up. sd_notify() waits for it, and so would the loop that all runs and the bus depend on.
 */

/*
 * Assignments, one a line, to NOTIFY_SOCKET. 0, also if nobody wants to know; -EAGAIN if the manager has not read what
 * was told before: it has not heard this then; another negative errno if it cannot be told.
 */
int notify_manager(const char *assignments);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A worker's life, from the first message of the service to the last one to it: claim, report, wait for the
 * go, erase, set up the engine, give up all privileges, run, free the device, say how it ended.
 */

#include "util/error.h"

/*
 * fd: the connected socket; taken over. Blocks SIGTERM, SIGINT and SIGHUP for good and takes them as orders to stop.
 * 0 if it could say to the service how it ended, whichever way; else a negative errno with words for the journal.
 */
int session_run(int fd, Error *error);

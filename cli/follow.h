/* SPDX-License-Identifier: MIT */
#pragma once

#include "bus-client.h"
#include "cli.h"

/*
 * Waits until all these runs have ended (start --wait), with a line of progress on a terminal. The client has
 * subscribed before. Returns the exit status: 0 if all are done or were stopped, 1 if one ended otherwise, 130 after
 * Ctrl-C, which leaves the runs alone; ERROR_UNREACHABLE if the service goes away.
 */
int follow_runs(const Cli *cli, BusClient *client, const uint32_t *runs, size_t n, Error *error);

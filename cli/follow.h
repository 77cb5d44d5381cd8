/* SPDX-License-Identifier: MIT */
#pragma once

#include "bus-client.h"
#include "cli.h"
#include "run/state.h"

typedef struct FollowedRun {
        uint32_t id;
        RunState state;  /* at the end */
        bool needs_user; /* for it to go on */
} FollowedRun;

/*
 * Waits until all these runs have ended, or wait for a user (start --wait), with a line of progress for each on a
 * terminal. The client has subscribed before. Returns the exit status: that of the run that ended worst, as
 * status_exit_of_run() has it, where 1 is worse than that of a refusal; 130 after Ctrl-C, which leaves the runs alone;
 * ERROR_UNREACHABLE if the service goes away.
 */
int follow_runs(const Cli *cli, BusClient *client, FollowedRun *runs, size_t n, Error *error);

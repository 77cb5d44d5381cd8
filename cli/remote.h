/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli.h"

/*
 * Runs `plateau VERB ...` with these arguments on host ("[USER@]HOST", as ssh reads it) and waits. Files and devices
 * named are those of that machine. Returns plateau's exit status there; ERROR_UNREACHABLE if ssh could not.
 */
int remote_run(const Cli *cli, const char *host, const Verb *verb, const Arguments *arguments, Error *error);

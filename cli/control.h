/* SPDX-License-Identifier: MIT */
#pragma once

/* What pause, resume and stop have in common. */

#include "bus-client.h"
#include "cli.h"

typedef struct Control {
        int (*call)(BusClient *client, uint32_t run, Error *error);
        const char *reached; /* the state that ends the wait */
        const char *doing;   /* "stopping" */
        bool needs_begun;    /* a run that is only just being started has nothing yet that could be held */
} Control;

/*
 * Asks for it and waits some seconds for the run to get there; a run that does not, since its drive still
 * owes I/O, is told and no error. Returns the exit status.
 */
int control_run(Cli *cli, const char *which, const Control *control, Error *error);

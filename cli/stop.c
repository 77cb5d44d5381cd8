/* SPDX-License-Identifier: MIT */

#include "control.h"

static const Control control = {
        .call = bus_client_stop,
        .reached = "stopped",
        .doing = "stopping",
};

static int stop_run(Cli *cli, const Arguments *arguments, Error *error) {
        return control_run(cli, arguments->words[0], &control, error);
}

const Verb verb_stop = {
        .name = "stop",
        .summary = "end a run for good",
        .words = "RUN",
        .description = "Ends a run. Waits some seconds for its pending I/O, but not for a drive that has not answered "
                       "for a second: that is told at once and no error, and the run stays in its state until the "
                       "drive does.",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_bus = true,
        .options = (const Option[]) { {} },
        .run = stop_run,
};

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
        .description = "Ends a run. Waits some seconds for its pending I/O; a drive that does not answer makes the "
                       "run stay in its state until it does, which is told and no error.",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_bus = true,
        .options = (const Option[]) { {} },
        .run = stop_run,
};

/* SPDX-License-Identifier: MIT */

#include "control.h"

static const Control control = {
        .call = bus_client_pause,
        .reached = "paused",
        .doing = "pausing",
        .needs_begun = true,
};

static int pause_run(Cli *cli, const Arguments *arguments, Error *error) {
        return control_run(cli, arguments->words[0], &control, error);
}

const Verb verb_pause = {
        .name = "pause",
        .summary = "hold a run",
        .words = "RUN",
        .description = "Lets no more I/O go to the device and waits for what is pending. Paused time is no running "
                       "time.",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_bus = true,
        .options = (const Option[]) { {} },
        .run = pause_run,
};

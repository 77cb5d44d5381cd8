/* SPDX-License-Identifier: MIT */

#include "control.h"

static const Control control = {
        .call = bus_client_resume,
        .reached = "running",
        .doing = "resuming",
        .needs_begun = true,
};

static int resume_run(Cli *cli, const Arguments *arguments, Error *error) {
        return control_run(cli, arguments->words[0], &control, error);
}

const Verb verb_resume = {
        .name = "resume",
        .summary = "go on with a paused or interrupted run",
        .words = "RUN",
        .description = "Goes on with a paused run where it was. An interrupted one is taken up again by itself; "
                       "this tries it at once.",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_bus = true,
        .options = (const Option[]) { {} },
        .run = resume_run,
};

/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "preset.h"
#include "spec/job.h"
#include "util/cleanup.h"
#include "util/parse.h"

#define N_PRESETS_MAX 64

const Preset *preset_find(const char *name) {
        for (size_t i = 0; i < presets_n; i++)
                if (strcmp(presets[i].name, name) == 0)
                        return &presets[i];
        return NULL;
}

const char *preset_nearest(const char *name) {
        const char *names[N_PRESETS_MAX];
        size_t n = 0;

        for (; n < presets_n && n < N_PRESETS_MAX; n++)
                names[n] = presets[n].name;
        return nearest_word(name, names, n);
}

/* Its description is that of the job, or of its only phase. */
static int read_preset(const Preset *preset, Job **ret_job, const char **ret_description, Error *error) {
        int r = job_parse(ret_job, preset->name, preset->text, strlen(preset->text), error);

        if (r >= 0)
                *ret_description = (*ret_job)->description ?: (*ret_job)->phases[0].description;
        return r;
}

static int add_json(json_object *array, const Preset *preset, bool with_text, Error *error) {
        _cleanup_job_ Job *job = NULL;
        const char *description;

        int r = read_preset(preset, &job, &description, error);
        if (r < 0)
                return r;

        json_object *o = json_object_new_object();
        if (!o)
                return -ENOMEM;
        json_add_string(o, "name", preset->name);
        json_add_string(o, "description", description);
        if (with_text)
                json_add_string(o, "job", preset->text);
        json_object_array_add(array, o);
        return 0;
}

/* All of them, or only the one, then with its text. */
static int presets_json(Cli *cli, const Preset *only, Error *error) {
        _cleanup_json_ json_object *document = json_object_new_object();
        json_object *array = json_object_new_array();
        int r = 0;

        if (!document || !array)
                return -ENOMEM;
        json_add(document, "presets", array);
        for (size_t i = 0; r >= 0 && i < presets_n; i++)
                if (!only || only == &presets[i])
                        r = add_json(array, &presets[i], only, error);
        return r < 0 ? r : output_json(cli, document, false);
}

static int presets_list(Error *error) {
        static const TableColumn columns[] = { { "PRESET" }, { "WHAT IT DOES", .truncate = true } };
        _cleanup_(table_freep) Table *table = NULL;

        int r = table_new(&table, columns, sizeof(columns) / sizeof(columns[0]));
        for (size_t i = 0; r >= 0 && i < presets_n; i++) {
                _cleanup_job_ Job *job = NULL;
                const char *description;

                r = read_preset(&presets[i], &job, &description, error);
                if (r >= 0)
                        r = table_add_row(table, (const char *const[]) { presets[i].name, description });
        }
        return r < 0 ? r : output_table(table);
}

static int presets_run(Cli *cli, const Arguments *arguments, Error *error) {
        const char *name = arguments->n_words > 0 ? arguments->words[0] : NULL;
        const Preset *preset = name ? preset_find(name) : NULL;

        if (name && !preset) {
                const char *nearest = preset_nearest(name);

                return error_set(error, ERROR_USAGE, ENOENT, "there is no preset '%s'; %s%s%s", name,
                                 nearest ? "did you mean '" : "'plateau presets' lists them", nearest ?: "",
                                 nearest ? "'?" : "");
        }
        if (cli->json)
                return presets_json(cli, preset, error);
        if (!preset)
                return presets_list(error);
        return fputs(preset->text, stdout) < 0 ? -EIO : 0;
}

const Verb verb_presets = {
        .name = "presets",
        .summary = "jobs that come with plateau: list them, or print one",
        .words = "[NAME]",
        .description =
                "Lists the jobs that come with plateau, or prints one, which says what it imitates and from where "
                "it is. 'start' and 'check-job' take their names in place of a job file.",
        .n_words_max = 1,
        .options = (const Option[]){ {} },
        .run = presets_run,
};

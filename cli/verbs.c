/* SPDX-License-Identifier: MIT */

/* The one table of verbs: dispatch, help, "did you mean" and completion all come from it. */

#include <string.h>

#include "cli.h"
#include "util/macro.h"
#include "util/parse.h"

const Verb *const verbs[] = {
        &verb_devices, &verb_check_job, &verb_presets, &verb_start, &verb_list, &verb_show, &verb_watch,
        &verb_pause, &verb_resume, &verb_stop, &verb_samples, &verb_plot, &verb_analyze, &verb_matrix,
        &verb_compare, &verb_verdict, &verb_import, &verb_export, &verb_help, NULL,
};

const Option global_options[] = {
        { .name = "db", .argument = "FILE", .help = "the database (PLATEAU_DB)" },
        { .name = "bus", .argument = "system|session", .help = "where the service is (PLATEAU_BUS)" },
        { .name = "json", .help = "one JSON document instead of text" },
        { .name = "host", .letter = 'H', .argument = "[USER@]HOST", .help = "do it on another machine, over ssh" },
        { .name = "help", .letter = 'h', .help = "explain, and do nothing" },
        { .name = "version", .letter = 'V', .help = "print the version" },
        {},
};

bool verb_uses(const Verb *verb, const Option *option) {
        if (strcmp(option->name, "db") == 0)
                return verb->uses_database;
        if (strcmp(option->name, "bus") == 0)
                return verb->uses_bus;
        return strcmp(option->name, "version") != 0;
}

const Verb *verb_find(const char *name) {
        for (size_t i = 0; verbs[i]; i++)
                if (strcmp(verbs[i]->name, name) == 0)
                        return verbs[i];
        return NULL;
}

int verb_unknown(const char *name, Error *error) {
        const char *names[ELEMENTSOF(verbs)];
        size_t n = 0;

        for (; verbs[n]; n++)
                names[n] = verbs[n]->name;

        const char *nearest = nearest_word(name, names, n);
        if (nearest)
                return error_set(error, ERROR_USAGE, EINVAL, "unknown verb '%s'; did you mean '%s'?", name, nearest);
        return error_set(error, ERROR_USAGE, EINVAL, "unknown verb '%s'; 'plateau --help' lists them", name);
}

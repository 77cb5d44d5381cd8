/* SPDX-License-Identifier: MIT */
#pragma once

/* What every verb is given, and what a verb is. */

#include "arguments.h"

typedef struct Cli {
        const char *database; /* path */
        bool session_bus;
        bool json;
        bool output_begun; /* part of a document is written: a later error goes to stderr */
} Cli;

/* As a shell tells of a program that Ctrl-C ended. */
#define EXIT_STATUS_INTERRUPTED 130

/*
 * Everything the command line knows of a verb. run() returns the exit status, or a negative
 * errno with *error filled.
 */
typedef struct Verb {
        const char *name;
        const char *summary;     /* one line, for the list of verbs */
        const char *words;       /* usage after the name: "RUN [--every S]" */
        const char *description; /* for --help: a paragraph on one line */
        size_t n_words_min, n_words_max;
        bool uses_database, uses_bus; /* what of the common options concerns it */
        const Option *options;
        int (*run)(Cli *cli, const Arguments *arguments, Error *error);
} Verb;

extern const Verb verb_analyze, verb_check_job, verb_compare, verb_devices, verb_export,
        verb_help,
        verb_import, verb_list, verb_matrix, verb_pause, verb_plot, verb_presets,
        verb_resume, verb_samples, verb_show, verb_start, verb_stop, verb_verdict, verb_watch;

/* In the order of help; NULL-terminated. */
extern const Verb *const verbs[];
extern const Option global_options[];

/* Whether an option that all verbs take has a meaning for this one. */
bool verb_uses(const Verb *verb, const Option *global_option);

const Verb *verb_find(const char *name);

/* "did you mean" for a name that verb_find() does not know; always -EINVAL. */
int verb_unknown(const char *name, Error *error);

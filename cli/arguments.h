/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reads a command line by a table of options. Options may stand before, between and after the words;
 * "--" ends them. Written --name VALUE, --name=VALUE, or by letter -H VALUE, -HVALUE. Names are never
 * abbreviated, so that a script keeps its meaning when options are added.
 */

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

typedef struct Option {
        const char *name;     /* without dashes; NULL ends a table */
        char letter;          /* 0: none */
        const char *argument; /* what help calls the value; NULL: a flag */
        bool many;            /* the words after its value are values of it too */
        const char *help;     /* one line */
} Option;

typedef struct ArgumentValue {
        const Option *option;
        const char *value; /* NULL for a flag */
} ArgumentValue;

/* Strings are borrowed from argv. */
typedef struct Arguments {
        size_t n_values;
        ArgumentValue *values;
        size_t n_words;
        const char **words;
} Arguments;

typedef struct ArgumentRules {
        const Option *const *tables; /* NULL-terminated list of tables */
        bool stop_at_word;   /* leave the first word and all after it unread */
        size_t n_words_min;  /* an option with `many` takes words only beyond these */
} ArgumentRules;

/*
 * Reads argv (NULL-terminated, without the program's name), adding to what is in *arguments; returns how
 * many strings of argv were read. ERROR_USAGE (-EINVAL) with the nearest option for an unknown one.
 */
int arguments_read(Arguments *arguments, char *const *argv, const ArgumentRules *rules, Error *error);

void arguments_clear(Arguments *arguments);
#define _cleanup_arguments_ _cleanup_(arguments_clear)

bool arguments_has(const Arguments *arguments, const char *name);

/* The value given last, or NULL. */
const char *arguments_value(const Arguments *arguments, const char *name);

/* All values in order, as a newly allocated, NULL-terminated array of borrowed strings. NULL: no memory. */
const char **arguments_values(const Arguments *arguments, const char *name);

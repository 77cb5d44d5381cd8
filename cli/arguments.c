/* SPDX-License-Identifier: MIT */

/*
 * Not getopt_long: it abbreviates names, cannot name the nearest option, and knows no option with
 * several words ("--device DEV..."), and a table for it would have to be made from ours anyway.
 */

#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "util/macro.h"
#include "util/parse.h"

#define N_NAMES_MAX 64

static int values_add(Arguments *arguments, const Option *option, const char *value) {
        ArgumentValue *grown = reallocarray(arguments->values, arguments->n_values + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;

        arguments->values = grown;
        grown[arguments->n_values++] = (ArgumentValue) { .option = option, .value = value };
        return 0;
}

static int words_add(Arguments *arguments, const char *word) {
        const char **grown = reallocarray(arguments->words, arguments->n_words + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;

        arguments->words = grown;
        grown[arguments->n_words++] = word;
        return 0;
}

static const Option *option_by_name(const Option *const *tables, const char *name, size_t length) {
        for (; *tables; tables++)
                for (const Option *option = *tables; option->name; option++)
                        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
                                return option;
        return NULL;
}

static const Option *option_by_letter(const Option *const *tables, char letter) {
        for (; *tables; tables++)
                for (const Option *option = *tables; option->name; option++)
                        if (option->letter != 0 && option->letter == letter)
                                return option;
        return NULL;
}

/* The one name that begins with `wrong`, or NULL. */
static const char *only_continuation(const char *wrong, const char *const *names, size_t n) {
        const char *found = NULL;

        for (size_t i = 0; *wrong && i < n; i++)
                if (strncmp(names[i], wrong, strlen(wrong)) == 0) {
                        if (found)
                                return NULL;
                        found = names[i];
                }
        return found;
}

static int unknown_option(const Option *const *tables, const char *name, size_t length, Error *error) {
        const char *names[N_NAMES_MAX], *nearest;
        _cleanup_free_ char *wrong = NULL;
        size_t n = 0;

        wrong = strndup(name, length);
        if (!wrong)
                return -ENOMEM;

        for (; *tables; tables++)
                for (const Option *option = *tables; option->name && n < N_NAMES_MAX; option++)
                        names[n++] = option->name;

        nearest = only_continuation(wrong, names, n) ?: nearest_word(wrong, names, n);
        if (nearest)
                return error_set(error, ERROR_USAGE, EINVAL, "unknown option --%s; did you mean --%s?", wrong, nearest);
        return error_set(error, ERROR_USAGE, EINVAL, "unknown option --%s; --help lists the options", wrong);
}

/* Both return how many strings were used, and tell the option. */
static int read_long(Arguments *arguments, char *const *argv, const ArgumentRules *rules, const Option **ret,
                     Error *error) {
        const char *name = argv[0] + 2, *equals = strchrnul(name, '='), *value = NULL;
        size_t length = (size_t) (equals - name);
        int used = 1, r;

        const Option *option = option_by_name(rules->tables, name, length);
        if (!option)
                return unknown_option(rules->tables, name, length, error);

        if (!option->argument && *equals)
                return error_set(error, ERROR_USAGE, EINVAL, "option --%s takes no value", option->name);
        if (option->argument) {
                value = *equals ? equals + 1 : argv[used++];
                if (!value)
                        return error_set(error, ERROR_USAGE, EINVAL, "option --%s needs a value: %s", option->name,
                                         option->argument);
        }

        r = values_add(arguments, option, value);
        if (r < 0)
                return r;
        *ret = option;
        return used;
}

static int read_letter(Arguments *arguments, char *const *argv, const ArgumentRules *rules, const Option **ret,
                       Error *error) {
        const char *value = NULL;
        int used = 1, r;

        const Option *option = option_by_letter(rules->tables, argv[0][1]);
        if (!option)
                return error_set(error, ERROR_USAGE, EINVAL, "unknown option '%s'; --help lists the options", argv[0]);

        if (!option->argument && argv[0][2])
                return error_set(error, ERROR_USAGE, EINVAL, "option -%c takes no value", option->letter);
        if (option->argument) {
                value = argv[0][2] ? argv[0] + 2 : argv[used++];
                if (!value)
                        return error_set(error, ERROR_USAGE, EINVAL, "option -%c needs a value: %s", option->letter,
                                         option->argument);
        }

        r = values_add(arguments, option, value);
        if (r < 0)
                return r;
        *ret = option;
        return used;
}

int arguments_read(Arguments *arguments, char *const *argv, const ArgumentRules *rules, Error *error) {
        const Option *last = NULL; /* the option that words may belong to */
        bool only_words = false;
        int i = 0, r;

        while (argv[i]) {
                const char *s = argv[i];

                if (!only_words && strcmp(s, "--") == 0) {
                        only_words = true;
                        last = NULL;
                        r = 1;
                } else if (!only_words && s[0] == '-' && s[1] == '-')
                        r = read_long(arguments, argv + i, rules, &last, error);
                else if (!only_words && s[0] == '-' && s[1])
                        r = read_letter(arguments, argv + i, rules, &last, error);
                else if (rules->stop_at_word)
                        return i;
                else {
                        bool belongs = last && last->many && arguments->n_words >= rules->n_words_min;
                        r = belongs ? values_add(arguments, last, s) : words_add(arguments, s);
                        r = r < 0 ? r : 1;
                }
                if (r < 0)
                        return r;
                i += r;
        }
        return i;
}

void arguments_clear(Arguments *arguments) {
        free(arguments->values);
        free(arguments->words);
        *arguments = (Arguments) {};
}

bool arguments_has(const Arguments *arguments, const char *name) {
        for (size_t i = 0; i < arguments->n_values; i++)
                if (strcmp(arguments->values[i].option->name, name) == 0)
                        return true;
        return false;
}

const char *arguments_value(const Arguments *arguments, const char *name) {
        for (size_t i = arguments->n_values; i > 0; i--)
                if (strcmp(arguments->values[i - 1].option->name, name) == 0)
                        return arguments->values[i - 1].value;
        return NULL;
}

const char **arguments_values(const Arguments *arguments, const char *name) {
        const char **values = calloc(arguments->n_values + 1, sizeof(*values));
        size_t n = 0;

        if (!values)
                return NULL;
        for (size_t i = 0; i < arguments->n_values; i++)
                if (strcmp(arguments->values[i].option->name, name) == 0)
                        values[n++] = arguments->values[i].value;
        return values;
}

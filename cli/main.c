/* SPDX-License-Identifier: MIT */

#include <locale.h>
#include <signal.h>
#include <string.h>

#include "cli.h"
#include "config.h"
#include "help.h"
#include "output.h"
#include "remote.h"
#include "store/store.h"

static const Option no_options[] = { {} };

/* Offered to the shell's completion only; not listed in help. */
static const Option completion_options[] = {
        { .name = "complete", .help = "words for the shell's completion" },
        {},
};

static const char *from_environment(const char *name, const char *otherwise) {
        const char *value = getenv(name);
        return value && *value ? value : otherwise;
}

/* Looked for before anything else, so that an error in the rest is told as the caller wants to read it. */
static bool wants_json(char *const *argv) {
        for (; *argv && strcmp(*argv, "--") != 0; argv++)
                if (strcmp(*argv, "--json") == 0)
                        return true;
        return false;
}

static int read_globals(Cli *cli, const Arguments *arguments, Error *error) {
        const char *bus = arguments_value(arguments, "bus") ?: from_environment("PLATEAU_BUS", "system");

        cli->database = arguments_value(arguments, "db") ?: from_environment("PLATEAU_DB", STORE_PATH_DEFAULT);
        if (strcmp(bus, "session") == 0)
                cli->session_bus = true;
        else if (strcmp(bus, "system") != 0)
                return error_set(error, ERROR_USAGE, EINVAL, "the bus is 'system' or 'session', not '%s'", bus);
        return 0;
}

static int check_words(const Verb *verb, const Arguments *arguments, Error *error) {
        if (arguments->n_words < verb->n_words_min)
                return error_set(error, ERROR_USAGE, EINVAL, "too few arguments; usage: plateau %s %s", verb->name,
                                 verb->words);
        if (arguments->n_words > verb->n_words_max)
                return error_set(error, ERROR_USAGE, EINVAL, "unexpected argument '%s'; usage: plateau %s %s",
                                 arguments->words[verb->n_words_max], verb->name, verb->words);
        return 0;
}

static int run_verb(Cli *cli, const Verb *verb, Arguments *arguments, char *const *argv, Error *error) {
        const ArgumentRules rules = {
                .tables = (const Option *const[]) { verb->options ?: no_options, global_options, NULL },
                .n_words_min = verb->n_words_min,
        };

        int r = arguments_read(arguments, argv, &rules, error);
        if (r < 0)
                return r;
        r = read_globals(cli, arguments, error);
        if (r < 0)
                return r;

        if (arguments_has(arguments, "help")) {
                help_print_verb(stdout, verb);
                return 0;
        }
        r = check_words(verb, arguments, error);
        if (r < 0)
                return r;

        const char *host = arguments_value(arguments, "host");
        if (host && *host == '\0')
                return error_set(error, ERROR_USAGE, EINVAL, "--host needs the name of a machine");
        return host ? remote_run(cli, host, verb, arguments, error) : verb->run(cli, arguments, error);
}

static int run(Cli *cli, char *const *argv, Error *error) {
        _cleanup_arguments_ Arguments arguments = {};
        const ArgumentRules rules = {
                .tables = (const Option *const[]) { global_options, completion_options, NULL },
                .stop_at_word = true,
        };

        cli->json = wants_json(argv);
        int n = arguments_read(&arguments, argv, &rules, error);
        if (n < 0)
                return n;

        if (arguments_has(&arguments, "complete")) {
                help_print_completions(stdout, argv[n]);
                return 0;
        }
        if (arguments_has(&arguments, "version")) {
                printf("plateau %s\n", PLATEAU_VERSION);
                return 0;
        }
        if (!argv[n] && arguments_has(&arguments, "help")) {
                help_print(stdout);
                return 0;
        }
        if (!argv[n])
                return error_set(error, ERROR_USAGE, EINVAL, "no verb given; 'plateau --help' lists them");

        const Verb *verb = verb_find(argv[n]);
        return verb ? run_verb(cli, verb, &arguments, argv + n + 1, error) : verb_unknown(argv[n], error);
}

int main(int argc, char **argv) {
        _cleanup_error_ Error error = ERROR_INIT;
        Cli cli = {};

        /* Characters only: numbers and times are written the same everywhere. */
        setlocale(LC_CTYPE, "");
        signal(SIGPIPE, SIG_IGN);

        int r = run(&cli, argc > 0 ? argv + 1 : argv, &error);
        if (r < 0) {
                /* A failed write of the output is told by output_finish(). */
                if (error.kind == ERROR_NONE && ferror(stdout))
                        return output_finish(0);
                error_set(&error, ERROR_FAILED, -r, "%s", strerror(-r));
                r = output_error(&cli, &error);
        }
        return output_finish(r);
}

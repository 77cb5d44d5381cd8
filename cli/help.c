/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "help.h"

#define OPTION_COLUMN 28
#define TEXT_COLUMNS 80

static void print_option(FILE *f, const Option *option) {
        char left[80];

        int n = option->letter ? snprintf(left, sizeof(left), "-%c, --%s", option->letter, option->name)
                               : snprintf(left, sizeof(left), "--%s", option->name);
        if (option->argument && n > 0 && (size_t) n < sizeof(left))
                snprintf(left + n, sizeof(left) - (size_t) n, " %s%s", option->argument, option->many ? "..." : "");
        fprintf(f, "  %-*s  %s\n", OPTION_COLUMN, left, option->help);
}

/* Words up to the edge of a terminal of 80 columns. */
static void print_paragraph(FILE *f, const char *text) {
        size_t column = 0;

        while (*text) {
                size_t length = strcspn(text, " ");

                if (column > 0 && column + 1 + length >= TEXT_COLUMNS) {
                        putc('\n', f);
                        column = 0;
                }
                column += (size_t) fprintf(f, "%s%.*s", column > 0 ? " " : "", (int) length, text);
                text += length + strspn(text + length, " ");
        }
        putc('\n', f);
}

static void print_options(FILE *f, const Option *options) {
        for (; options->name; options++)
                print_option(f, options);
}

static void print_common_options(FILE *f, const Verb *verb) {
        for (const Option *option = global_options; option->name; option++)
                if (verb_uses(verb, option))
                        print_option(f, option);
}

void help_print(FILE *f) {
        fputs("usage: plateau [OPTION...] VERB [ARGUMENT...]\n\n"
              "Finds out how fast a drive really is after hours of writing.\n\n"
              "Verbs:\n", f);
        for (size_t i = 0; verbs[i]; i++)
                fprintf(f, "  %-10s  %s\n", verbs[i]->name, verbs[i]->summary);
        fputs("\nOptions, before or after the verb:\n", f);
        print_options(f, global_options);
        fputs("\nRUN is a number, or 'last'. 'plateau help VERB' explains a verb.\n"
              "Exit status: 0 good; 1 run failed or was stopped, or the verdict is fail; 2 usage or\n"
              "bad job file; 3 refused for safety; 4 not permitted; 5 service or database not\n"
              "reachable; 6 no such run or device; 7 verdict inconclusive; 8 other; 130 Ctrl-C.\n", f);
}

void help_print_verb(FILE *f, const Verb *verb) {
        fprintf(f, "usage: plateau %s%s%s\n\n", verb->name, *verb->words ? " " : "", verb->words);
        print_paragraph(f, verb->description);
        fputs("\nOptions:\n", f);
        print_options(f, verb->options);
        print_common_options(f, verb);
}

static int help_run(Cli *cli, const Arguments *arguments, Error *error) {
        const Verb *verb = arguments->n_words > 0 ? verb_find(arguments->words[0]) : NULL;

        if (verb)
                help_print_verb(stdout, verb);
        else if (arguments->n_words > 0)
                return verb_unknown(arguments->words[0], error);
        else
                help_print(stdout);
        return 0;
}

const Verb verb_help = {
        .name = "help",
        .summary = "explain a verb, or list them all",
        .words = "[VERB]",
        .description = "Explains a verb and its options, as VERB --help does.",
        .n_words_max = 1,
        .options = (const Option[]) { {} },
        .run = help_run,
};

static void print_words(FILE *f, const Option *options) {
        for (; options->name; options++)
                fprintf(f, "--%s\n", options->name);
}

void help_print_completions(FILE *f, const char *name) {
        if (!name) {
                for (size_t i = 0; verbs[i]; i++)
                        fprintf(f, "%s\n", verbs[i]->name);
                print_words(f, global_options);
                return;
        }

        const Verb *verb = verb_find(name);
        if (!verb)
                return;
        print_words(f, verb->options);
        for (const Option *option = global_options; option->name; option++)
                if (verb_uses(verb, option))
                        fprintf(f, "--%s\n", option->name);
}

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

void help_print(FILE *f) {
        fputs("usage: plateau [OPTION...] VERB [ARGUMENT...]\n\n"
              "Finds out how fast a drive really is after hours of writing.\n\n"
              "Verbs:\n", f);
        for (size_t i = 0; verbs[i]; i++)
                fprintf(f, "  %-10s  %s\n", verbs[i]->name, verbs[i]->summary);
        fputs("\nOptions, before or after the verb:\n", f);
        print_options(f, global_options);
        fputs("\nRUN is a number, or 'last'. 'plateau VERB --help' explains a verb.\n"
              "Exit status: 0 good; 1 run failed; 2 usage or bad job file; 3 refused for safety;\n"
              "4 not permitted; 5 service or database not reachable; 6 no such run or device; 8 other.\n", f);
}

void help_print_verb(FILE *f, const Verb *verb) {
        fprintf(f, "usage: plateau %s%s%s\n\n", verb->name, *verb->words ? " " : "", verb->words);
        print_paragraph(f, verb->description);
        fputs("\nOptions:\n", f);
        print_options(f, verb->options);
        print_options(f, global_options);
}

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
        if (verb) {
                print_words(f, verb->options);
                print_words(f, global_options);
        }
}

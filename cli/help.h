/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "cli.h"

void help_print(FILE *f);
void help_print_verb(FILE *f, const Verb *verb);

/*
 * Words for the shell's completion, one a line: the verbs and the options before them; or the options of
 * `verb`. Nothing for an unknown verb.
 */
void help_print_completions(FILE *f, const char *verb);

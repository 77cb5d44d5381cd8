/* SPDX-License-Identifier: MIT */
#pragma once

/* What SNIA's specification calls steady, and the numbers that its reports ask for. */

#include "analysis/iops-test.h"
#include "judge.h"

typedef struct Snia {
        SniaResult minutes; /* of the judged phase: each minute is a round */
        bool has_iops_test;
        IopsTest iops_test; /* of the run */
} Snia;

int snia_look(Snia *ret, const Judgement *judgement, Store *store, Error *error);

/* As "snia". */
int snia_add_json(json_object *document, const Snia *snia);

/* A line for each test, and below that of the IOPS test its rounds and its table. */
int snia_print(const Snia *snia);

void snia_clear(Snia *snia);

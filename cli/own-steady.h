/* SPDX-License-Identifier: MIT */
#pragma once

/* What the judged phase's own steadystate= makes of it, sample by sample as the service judged it while it ran. */

#include "judge.h"
#include "spec/job.h"

typedef struct OwnSteady {
        FioSteady criterion; /* is_set: the job has one for this phase; the rest says nothing otherwise */
        bool attained;
        double attained_at_s; /* of the phase; NaN if it was not */
        double value;         /* in the unit of the limit, when it was attained, else at the end; NaN: of no window */
        double mean;          /* of that window: IOPS, or bytes a second; NaN likewise */
} OwnSteady;

/* Of a job that this version does not read none is known. */
int own_steady_look(OwnSteady *ret, Store *store, const Judgement *judgement, Error *error);

/* As "fio" of the document. -ENOMEM. */
int own_steady_add_json(json_object *document, const OwnSteady *own);
void own_steady_print(const OwnSteady *own);

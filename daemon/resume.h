/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Taking interrupted runs up again: looking for the drive, again and again where that may help, until a worker has
 * claimed and proven it, or it is certain that this is not to be.
 */

#include "manager.h"

typedef struct Resume Resume;

/*
 * After the state of a run has come to rest: one that was interrupted is taken up by itself, unless its workers have
 * died several times, none of them after some minutes of samples; one that is over is forgotten here.
 */
void resume_consider(Manager *manager, Run *run);

/* A user wants it: now, whatever was tried before. It stays interrupted if its drive is not there then. */
int resume_now(Manager *manager, Run *run, Error *error);

/* Nothing is taken up any more. */
void resume_abort_all(Manager *manager);

/* SPDX-License-Identifier: MIT */
#pragma once

/* What a judged phase shows, in sentences for people. */

#include "judge.h"

/* Some lines on stdout: burst and fall, what followed, whether it lasts, what it did last, dips and stalls. */
void story_print(const Judgement *judgement);

/* SPDX-License-Identifier: MIT */
#pragma once

/* The steady state of SNIA's IOPS test, whose rounds are spread over the phases of a run. */

#include "analysis/criteria.h"
#include "judge.h"

/*
 * A round is each phase of 4 KiB random writes that came to its end and was not interrupted; whatever other points of
 * the test lie between two of them are phases too. Times are seconds of the run's running time. 1 and *ret if the run
 * has two such phases or more, 0 if not, a negative errno.
 */
int iops_test_judge(const Judgement *judgement, Store *store, SniaResult *ret, Error *error);

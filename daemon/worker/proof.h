/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Is what lies on a claimed device what an interrupted run has written? Reads it, and writes nothing.
 *
 * Blocks that have settled (position.h) must all carry the run's stamp, as must all that had completed if the device
 * has kept its power, for all that is known: the same device of the same boot. Of younger ones after a power cut one
 * is enough: a drive may have lost its cache. Blocks that cannot be read decide nothing, nor do zeros or ones in places
 * that the run may have trimmed or written zeros to since (erased.h), and only in those; and where I/Os have failed,
 * their share of the blocks may hold what was there before, a quarter at most. The places
 * that it trimmed must hold nothing or its own, in whole granules of a discard, unless what it wrote is there and the
 * drive clears no place by a trim. A signature counts as somebody
 * else's unless its magic lies in a sector that the run has stamped: random data holds such bytes now and then.
 */

#include "device/claim.h"
#include "device/find.h"
#include "spec/plan.h"
#include "wire/message.h"

/*
 * plan: bound with the standing's seed, of as many phases; one that is not the run's is refused. claim: made with
 * erase_existing, so that it tells signatures. On success *ret_detail says for a person what was found. Else *ret_why
 * and a message. -ENOMEM.
 */
int proof_try(const Claim *claim, const Plan *plan, const Standing *standing, Likeness likeness, char **ret_detail,
              Refusal *ret_why, Error *error);

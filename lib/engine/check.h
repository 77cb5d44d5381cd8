/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Holds what was read against what the run should have left there, byte for byte: the newest certain write of each
 * granule, or one that is newer and may have taken effect. Allocates nothing but by check_new().
 */

#include "engine/replay.h"
#include "sample/verification.h"

/* What lies where something else was to be. */
typedef enum FoundKind {
        FOUND_OTHER,   /* that nobody knows */
        FOUND_ZEROS,
        FOUND_WRITE,   /* a sector of this run, whole */
        FOUND_DAMAGED, /* a sector with the stamp of a write of this run, and other contents */
        FOUND_SHARED,  /* a piece of this run that is alike in many places */
        FOUND_OTHER_RUN,
} FoundKind;

/* Blocks side by side with the same fault. */
typedef struct CheckFinding {
        Mismatch kind;
        uint64_t offset, bytes; /* on the device, in whole sectors: from the first wrong one to the last */
        uint64_t expected;      /* number of the write; GRANULE_UNWRITTEN: none */
        FoundKind found;        /* at the offset */
        uint64_t found_write;   /* its number; */
        uint64_t found_sector;  /* and where it says that it belongs (WRITE, DAMAGED) */
} CheckFinding;

#define CHECK_N_FINDINGS_MAX 16U /* of a phase; the rest is only counted */

typedef struct Check Check;

/* payload, plan and histories of the replay are borrowed. -ENOMEM. */
int check_new(Check **ret, const Replay *replay);
Check *check_free(Check *check);

/* Forgets counts and findings; n_phases: those that came before the reading. */
void check_begin(Check *check, uint32_t n_phases);

/* data: aligned to 64; offset and length: whole sectors that lie in the window. Whether all was right. */
bool check_data(Check *check, const Window *window, const void *data, uint64_t offset, uint32_t length);

/* For another thread, too: these never go back, and the first *ret_n findings stay as they are. */
void check_result(const Check *check, Verification *ret);
const CheckFinding *check_findings(const Check *check, unsigned *ret_n);

/* For a person: "lost: expected write 12 of phase 0 ..., found ...". Newly allocated, or NULL. */
char *finding_text(const CheckFinding *finding);

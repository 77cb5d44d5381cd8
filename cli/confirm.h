/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/error.h"

/* Somebody is there to answer. */
bool confirm_is_possible(void);

/*
 * Shows each device (NULL-terminated paths) on the terminal, with all that would be lost, and has its confirmation
 * typed. *ret: what was typed, a NULL-terminated array of allocated strings. ERROR_REFUSED if it is another, or, before
 * anything is asked, if a device would be refused anyway (by what it holds: unless that is to be erased);
 * ERROR_NOT_FOUND and the like for a device that is none.
 */
int confirm_ask(const char *const *paths, bool erase_existing, char ***ret, Error *error);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/error.h"

/*
 * Makes the directory (mode 0750; its parent must exist) if there is none. ERROR_REFUSED if others could write into
 * it, since who can replace the database can make a resumed run write elsewhere.
 */
int state_directory_prepare(const char *path, Error *error);

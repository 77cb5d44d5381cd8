/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/*
 * Jobs that come with plateau, compiled in: so they are found wherever the command lies, and are never of another
 * version than what reads them. Their files are installed as well, for people.
 */
typedef struct Preset {
        const char *name; /* the file's, without .fio */
        const char *text;
} Preset;

extern const Preset presets[];
extern const size_t presets_n;

/* NULL if there is none. */
const Preset *preset_find(const char *name);

/* The name of the preset that may have been meant, or NULL. */
const char *preset_nearest(const char *name);

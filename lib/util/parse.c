/* SPDX-License-Identifier: MIT */

#include "util/parse.h"

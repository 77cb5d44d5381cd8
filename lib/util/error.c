/* SPDX-License-Identifier: MIT */

#include "util/error.h"

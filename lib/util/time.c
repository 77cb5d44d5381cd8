/* SPDX-License-Identifier: MIT */

#include "util/time.h"

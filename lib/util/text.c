/* SPDX-License-Identifier: MIT */

#include "util/text.h"

/* SPDX-License-Identifier: MIT */

#include "engine/pattern.h"

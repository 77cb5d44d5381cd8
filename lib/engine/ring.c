/* SPDX-License-Identifier: MIT */

#include "engine/ring.h"

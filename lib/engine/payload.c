/* SPDX-License-Identifier: MIT */

#include "engine/payload.h"

/* SPDX-License-Identifier: MIT */

#include "engine/engine.h"

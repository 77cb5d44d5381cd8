/* SPDX-License-Identifier: MIT */

#include "run/state.h"

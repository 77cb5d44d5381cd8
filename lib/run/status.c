/* SPDX-License-Identifier: MIT */

#include "run/status.h"

/* SPDX-License-Identifier: MIT */

#include "render/json.h"

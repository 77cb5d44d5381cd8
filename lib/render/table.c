/* SPDX-License-Identifier: MIT */

#include "render/table.h"

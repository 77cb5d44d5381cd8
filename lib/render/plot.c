/* SPDX-License-Identifier: MIT */

#include "render/plot.h"

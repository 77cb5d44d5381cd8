/* SPDX-License-Identifier: MIT */

#include "device/check.h"

/* SPDX-License-Identifier: MIT */

#include "device/info.h"

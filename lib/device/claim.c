/* SPDX-License-Identifier: MIT */

#include "device/claim.h"

/* SPDX-License-Identifier: MIT */

#include "util/ini.h"

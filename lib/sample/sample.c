/* SPDX-License-Identifier: MIT */

#include "sample/sample.h"

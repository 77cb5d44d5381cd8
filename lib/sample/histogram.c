/* SPDX-License-Identifier: MIT */

#include "sample/histogram.h"

/* SPDX-License-Identifier: MIT */

#include "spec/plan.h"

/* SPDX-License-Identifier: MIT */

#include "spec/job.h"

/* SPDX-License-Identifier: MIT */

#include "wire/link.h"

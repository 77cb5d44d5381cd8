/* SPDX-License-Identifier: MIT */

#include "wire/message.h"

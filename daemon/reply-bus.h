/* SPDX-License-Identifier: MIT */
#pragma once

/* What all methods on the bus need: errors by our names, and who may command. */

#include <systemd/sd-bus.h>

#include "util/error.h"

/* Answers a call with the error org.plateau.Plateau1.Error.KIND. The message is made valid UTF-8. */
int bus_reply_error(sd_bus_message *call, const Error *error);

/*
 * Only root and the user whom the service runs as may change anything: ERROR_NOT_PERMITTED. Reading
 * is open to all whom the bus lets in.
 */
int bus_check_permission(sd_bus_message *call, Error *error);

/* Appends a string from outside, made valid UTF-8. */
int bus_append_text(sd_bus_message *reply, const char *text);

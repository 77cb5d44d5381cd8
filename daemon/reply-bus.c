/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "reply-bus.h"
#include "run/status.h"
#include "util/text.h"

int bus_reply_error(sd_bus_message *call, const Error *error) {
        _cleanup_free_ char *text = text_to_utf8(error_message(error));
        ErrorKind kind = error->kind == ERROR_NONE ? ERROR_FAILED : error->kind;

        return sd_bus_reply_method_errorf(call, status_bus_error(kind), "%s", text ? text : "out of memory");
}

int bus_check_permission(sd_bus_message *call, Error *error) {
        sd_bus_creds *creds = NULL;
        uid_t uid;

        int r = sd_bus_query_sender_creds(call, SD_BUS_CREDS_EUID, &creds);
        if (r >= 0)
                r = sd_bus_creds_get_euid(creds, &uid);
        sd_bus_creds_unref(creds);
        if (r < 0)
                return error_set(error, ERROR_NOT_PERMITTED, EPERM, "the bus does not tell who asks: %s", strerror(-r));

        if (uid != 0 && uid != geteuid())
                return error_set(error, ERROR_NOT_PERMITTED, EPERM,
                                 "only root may start, pause, resume and stop runs (asked by user %u)", (unsigned) uid);
        return 0;
}

int bus_append_text(sd_bus_message *reply, const char *text) {
        _cleanup_free_ char *valid = text_to_utf8(text);

        return valid ? sd_bus_message_append(reply, "s", valid) : -ENOMEM;
}

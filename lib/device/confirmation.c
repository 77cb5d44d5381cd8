/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "device/confirmation.h"
#include "util/text.h"

/* Whether one of the confirmations names this device: its confirmation as it is, or as a person got to see it. */
static int confirmation_fits(const char *expected, const char *const *confirmations) {
        _cleanup_free_ char *utf8 = text_to_utf8(expected), *escaped = text_escape(expected);

        if (!utf8 || !escaped)
                return -ENOMEM;
        for (const char *const *c = confirmations; c && *c; c++)
                if (strcmp(*c, expected) == 0 || strcmp(*c, utf8) == 0 || strcmp(*c, escaped) == 0)
                        return 1;
        return 0;
}

int confirmation_check(const char *word, const char *twin, const char *const *confirmations, Reasons *reasons) {
        _cleanup_free_ char *quoted = NULL;

        int r = confirmation_fits(word, confirmations);
        if (r != 0)
                return r < 0 ? r : 0;
        quoted = text_shell_word(word);
        if (!quoted)
                return -ENOMEM;
        if (twin)
                return reasons_add(reasons, REASON_UNCONFIRMED,
                                   "not confirmed: %s has the same serial number, which so "
                                   "confirms neither; confirm with --confirm %s",
                                   twin, quoted);
        return reasons_add(reasons, REASON_UNCONFIRMED, "%s; confirm with --confirm %s",
                           confirmations && confirmations[0] ? "no confirmation given is this device's"
                                                             : "not confirmed", quoted);
}

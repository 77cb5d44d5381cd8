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

/* As one word of a shell command: quoted if it has to be. */
static char *shell_word(const char *text) {
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:+-/=@,";

        if (text[0] != '\0' && text[strspn(text, plain)] == '\0')
                return strdup(text);

        char *word = malloc(4 * strlen(text) + 3); /* ' becomes '\'' */
        if (!word)
                return NULL;
        char *to = word;
        *to++ = '\'';
        for (const char *from = text; *from; from++)
                to = *from == '\'' ? stpcpy(to, "'\\''") : (*to = *from, to + 1);
        *to++ = '\'';
        *to = '\0';
        return word;
}

int confirmation_check(const DeviceInfo *info, const char *const *confirmations, Reasons *reasons) {
        _cleanup_free_ char *expected = device_confirmation(info), *word = NULL;

        if (!expected)
                return -ENOMEM;
        int r = confirmation_fits(expected, confirmations);
        if (r != 0)
                return r < 0 ? r : 0;
        word = shell_word(expected);
        if (!word)
                return -ENOMEM;
        return reasons_add(reasons, REASON_UNCONFIRMED, "%s; confirm with --confirm %s",
                           confirmations && confirmations[0] ? "no confirmation given is this device's"
                                                             : "not confirmed", word);
}

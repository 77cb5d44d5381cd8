/* SPDX-License-Identifier: MIT */

/* Worker messages: what is decoded is what encoding would have made, byte by byte; the rest is refused whole. */

#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "wire/message.h"

static uint8_t encoded[MESSAGE_BYTES_MAX];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const Message empty;
        _cleanup_message_ Message message = {};

        int r = message_decode(&message, data, size);
        fuzz_require(r == 0 || r == -EBADMSG || r == -ENOMEM);
        if (r < 0) {
                fuzz_require(memcmp(&message, &empty, sizeof(message)) == 0);
                return 0;
        }

        /* Of another version nothing but the number is known. */
        if (message.type == MESSAGE_OPEN && message.open.version != MESSAGE_VERSION)
                return 0;

        ssize_t n = message_encode(&message, encoded, sizeof(encoded));
        fuzz_require(size > sizeof(encoded) ? n == -EMSGSIZE : n == (ssize_t) size && memcmp(encoded, data, size) == 0);
        return 0;
}

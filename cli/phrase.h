/* SPDX-License-Identifier: MIT */
#pragma once

/* Numbers as they stand in a sentence, each with its own buffer, so that one printf() can hold several. */

#include <inttypes.h>

#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

typedef struct Span {
        char text[TIME_SPAN_MAX];
} Span;

static inline Span span(double seconds) {
        Span s = { "0 s" };

        if (seconds > 0)
                time_format_span((uint64_t) (seconds * (double) NSEC_PER_SEC), s.text);
        return s;
}

/* Behind a noun. */
static inline const char *plural(uint64_t n) {
        return n == 1 ? "" : "s";
}

typedef struct Count {
        char text[TEXT_SIZE_MAX];
} Count;

static inline Count count(double value) {
        Count c;

        text_format_count(value, c.text);
        return c;
}

/* SPDX-License-Identifier: MIT */

/* The INI reader: what it hands out is in order and clean, and an error has words. */

#include <string.h>

#include "fuzz.h"
#include "util/ini.h"

typedef struct Seen {
        unsigned line;
        unsigned section_index;
} Seen;

static bool is_clean(const char *s) {
        size_t length = strlen(s);

        return !strpbrk(s, "\n;#") && (length == 0 || (!strchr(" \t\r", s[0]) && !strchr(" \t\r", s[length - 1])));
}

static int check_entry(const IniEntry *entry, void *userdata, Error *error) {
        Seen *seen = userdata;

        fuzz_require(entry->section);
        fuzz_require(entry->line > seen->line);
        fuzz_require(entry->section_index == seen->section_index + (entry->key ? 0U : 1U));
        fuzz_require((entry->section_index == 0) == (entry->section[0] == '\0'));
        fuzz_require(!entry->key || (entry->key[0] != '\0' && is_clean(entry->key) && !strchr(entry->key, '=')));
        fuzz_require(!entry->value || (entry->key && is_clean(entry->value)));

        *seen = (Seen) { .line = entry->line, .section_index = entry->section_index };
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_error_ Error error = ERROR_INIT;
        Seen seen = {};
        int r = ini_parse("f", (const char *) data, size, check_entry, &seen, &error);

        fuzz_require(r == 0 || (r == -EINVAL && error.kind == ERROR_USAGE && error.message));
        return 0;
}

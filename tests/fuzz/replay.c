/* SPDX-License-Identifier: MIT */

/*
 * usage: fuzz-TARGET FILE...
 *
 * Gives each file to the target, whole and cut off at every length, so that a small corpus also
 * covers every way in which it can end early.
 */

#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "util/cleanup.h"

#define FILE_MAX (64 * 1024)

static int replay(const char *path) {
        _cleanup_fclose_ FILE *f = fopen(path, "re");
        _cleanup_free_ uint8_t *data = malloc(FILE_MAX);

        if (!f || !data)
                return -errno;

        size_t size = fread(data, 1, FILE_MAX, f);
        if (ferror(f))
                return -EIO;

        for (size_t length = 0; length <= size; length++) {
                /* In a block of its own, so that a sanitizer sees every read beyond the end. */
                _cleanup_free_ uint8_t *exact = malloc(length > 0 ? length : 1);

                if (!exact)
                        return -ENOMEM;
                memcpy(exact, data, length);
                LLVMFuzzerTestOneInput(exact, length);
        }
        return 0;
}

int main(int argc, char **argv) {
        for (int i = 1; i < argc; i++) {
                int r = replay(argv[i]);

                if (r < 0) {
                        fprintf(stderr, "%s: %s\n", argv[i], strerror(-r));
                        return EXIT_FAILURE;
                }
        }
        return argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}

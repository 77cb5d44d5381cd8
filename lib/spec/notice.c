/* SPDX-License-Identifier: MIT */

#include <stdarg.h>
#include <string.h>

#include "spec/notice.h"

int notices_add(char ***notices, size_t *n, const char *format, ...) {
        char *line;
        va_list ap;

        va_start(ap, format);
        int r = vasprintf(&line, format, ap);
        va_end(ap);
        if (r < 0)
                return -ENOMEM;

        for (size_t i = 0; i < *n; i++)
                if (strcmp((*notices)[i], line) == 0) {
                        free(line);
                        return 0;
                }

        char **grown = reallocarray(*notices, *n + 1, sizeof(*grown));
        if (!grown) {
                free(line);
                return -ENOMEM;
        }
        grown[*n] = line;
        *notices = grown;
        (*n)++;
        return 0;
}

void notices_free(char **notices, size_t n) {
        for (size_t i = 0; i < n; i++)
                free(notices[i]);
        free(notices);
}

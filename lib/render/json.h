/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The one way to JSON: json-c objects, with what json-c does not do: non-finite numbers
 * become null, invalid UTF-8 becomes U+FFFD, a NULL string becomes null, and numbers are written with a point
 * whatever the locale. Adding never fails visibly: if memory runs out, the thread's next json_print() says so.
 */

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static inline void json_putp(json_object **o) {
        json_object_put(*o);
}
#define _cleanup_json_ __attribute__((cleanup(json_putp)))

void json_add_string(json_object *object, const char *key, const char *value);
void json_add_u64(json_object *object, const char *key, uint64_t value);
void json_add_u64_if(json_object *object, const char *key, bool known, uint64_t value); /* else null */
void json_add_bool(json_object *object, const char *key, bool value);
/* At most 15 significant digits: all that any decimal number keeps on its way through a double. */
void json_add_double(json_object *object, const char *key, double value);
void json_add_null(json_object *object, const char *key);
/* Seconds, with the nanoseconds kept. */
void json_add_seconds(json_object *object, const char *key, uint64_t ns);
/* RFC 3339 with offset; null for 0. */
void json_add_time(json_object *object, const char *key, int64_t realtime_ns);
/* Takes value over. */
void json_add(json_object *object, const char *key, json_object *value);
void json_append_string(json_object *array, const char *value);

/*
 * The document as text, pretty or on one line, without anything that acts on a terminal. The caller frees it;
 * NULL: no memory.
 */
char *json_to_text(json_object *object, bool one_line);

/*
 * One document, pretty (or on one line), and a newline; flushed. -ENOMEM; -EIO (or -EPIPE, -ENOSPC) if it could not
 * be written.
 */
int json_print(json_object *object, bool one_line, FILE *f);

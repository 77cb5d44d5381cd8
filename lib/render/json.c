/* SPDX-License-Identifier: MIT */

/*
 * json-c prints NaN as NaN, takes any bytes for a string and writes doubles with 17 digits; what is
 * added here never reaches it in such a form.
 */

#include "render/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

/* Memory ran out while something was added; told by the next json_print(). */
static _Thread_local bool out_of_memory;

void json_add(json_object *object, const char *key, json_object *value) {
        if (!object || json_object_object_add(object, key, value) < 0) {
                out_of_memory = true;
                json_object_put(value);
        }
}

/* As json_add(), of a value that cannot be NULL unless memory ran out. */
static void add_made(json_object *object, const char *key, json_object *value) {
        if (value)
                json_add(object, key, value);
        else
                out_of_memory = true;
}

void json_add_null(json_object *object, const char *key) {
        json_add(object, key, NULL);
}

static json_object *make_string(const char *value) {
        _cleanup_free_ char *text = text_to_utf8(value);

        return text ? json_object_new_string(text) : NULL;
}

void json_add_string(json_object *object, const char *key, const char *value) {
        if (value)
                add_made(object, key, make_string(value));
        else
                json_add_null(object, key);
}

void json_append_string(json_object *array, const char *value) {
        json_object *string = value ? make_string(value) : NULL;

        if ((value && !string) || !array || json_object_array_add(array, string) < 0) {
                out_of_memory = true;
                json_object_put(string);
        }
}

void json_add_u64(json_object *object, const char *key, uint64_t value) {
        add_made(object, key, json_object_new_uint64(value));
}

void json_add_u64_if(json_object *object, const char *key, bool known, uint64_t value) {
        if (known)
                json_add_u64(object, key, value);
        else
                json_add_null(object, key);
}

void json_add_bool(json_object *object, const char *key, bool value) {
        add_made(object, key, json_object_new_boolean(value));
}

/* printf() writes the locale's decimal point: the only thing in a number that is none of these characters. */
static void put_decimal_point(char *number) {
        char *separator = number + strspn(number, "+-0123456789e");

        if (*separator == '\0')
                return;
        char *rest = separator + strcspn(separator, "+-0123456789e");
        *separator = '.';
        memmove(separator + 1, rest, strlen(rest) + 1);
}

void json_add_double(json_object *object, const char *key, double value) {
        char text[64];

        if (!isfinite(value)) {
                json_add_null(object, key);
                return;
        }

        value += 0.0; /* no negative zero */
        snprintf(text, sizeof text, "%.15g", value);
        put_decimal_point(text);
        add_made(object, key, json_object_new_double_s(value, text));
}

void json_add_seconds(json_object *object, const char *key, uint64_t ns) {
        uint64_t fraction = ns % NSEC_PER_SEC;
        int digits = 9;
        char text[64];

        while (digits > 0 && fraction % 10 == 0) {
                fraction /= 10;
                digits--;
        }

        int n = snprintf(text, sizeof text, "%" PRIu64, ns / NSEC_PER_SEC);
        if (digits > 0)
                snprintf(text + n, sizeof text - (size_t) n, ".%0*" PRIu64, digits, fraction);
        add_made(object, key, json_object_new_double_s((double) ns / (double) NSEC_PER_SEC, text));
}

void json_add_time(json_object *object, const char *key, int64_t realtime_ns) {
        char text[TIME_RFC3339_MAX];

        json_add_string(object, key, realtime_ns != 0 ? time_format_rfc3339(realtime_ns, text) : NULL);
}

char *json_to_text(json_object *object, bool one_line) {
        int style = JSON_C_TO_STRING_NOSLASHESCAPE;
        style |= one_line ? JSON_C_TO_STRING_PLAIN : JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;

        const char *text = json_object_to_json_string_ext(object, style);
        if (out_of_memory || !text) {
                out_of_memory = false;
                return NULL;
        }
        return text_escape_json(text);
}

int json_print(json_object *object, bool one_line, FILE *f) {
        _cleanup_free_ char *text = json_to_text(object, one_line);
        if (!text)
                return -ENOMEM;

        errno = 0;
        if (fputs(text, f) < 0 || fputc('\n', f) < 0 || fflush(f) < 0)
                return errno > 0 ? -errno : -EIO;

        return 0;
}

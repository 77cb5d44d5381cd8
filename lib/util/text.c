/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/macro.h"
#include "util/text.h"

/*
 * Decodes the character at s into *ret and returns its length, or 0 if no valid one is
 * there: overlong forms, surrogates and what lies above U+10FFFF are invalid (RFC 3629).
 */
static size_t utf8_decode(const char *s, uint32_t *ret) {
        static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
        const uint8_t *p = (const uint8_t *) s;
        uint32_t c;
        size_t n;

        if (p[0] < 0x80) {
                *ret = p[0];
                return 1;
        }
        if ((p[0] & 0xe0) == 0xc0) {
                n = 2;
                c = p[0] & 0x1f;
        } else if ((p[0] & 0xf0) == 0xe0) {
                n = 3;
                c = p[0] & 0x0f;
        } else if ((p[0] & 0xf8) == 0xf0) {
                n = 4;
                c = p[0] & 0x07;
        } else
                return 0;

        for (size_t i = 1; i < n; i++) {
                if ((p[i] & 0xc0) != 0x80) /* the terminating NUL too */
                        return 0;
                c = c << 6 | (p[i] & 0x3f);
        }
        if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
                return 0;

        *ret = c;
        return n;
}

char *text_to_utf8(const char *s) {
        static const char replacement[] = "\xef\xbf\xbd";
        size_t length = strlen(s);
        char *text, *out;

        /* Each invalid byte becomes three. */
        if (length > (SIZE_MAX - 1) / 3 || !(text = malloc(3 * length + 1)))
                return NULL;

        for (out = text; *s;) {
                uint32_t c;
                size_t n = utf8_decode(s, &c);

                out = n > 0 ? mempcpy(out, s, n) : mempcpy(out, replacement, 3);
                s += MAX(n, (size_t) 1);
        }
        *out = '\0';
        return text;
}

/* Characters that cannot be seen or that turn the direction of what follows: general categories Cf, Zl, Zp. */
static bool is_invisible(uint32_t c) {
        static const struct {
                uint32_t first, last;
        } ranges[] = {
                { 0x00ad, 0x00ad },   { 0x0600, 0x0605 },   { 0x061c, 0x061c },   { 0x06dd, 0x06dd },
                { 0x070f, 0x070f },   { 0x0890, 0x0891 },   { 0x08e2, 0x08e2 },   { 0x180e, 0x180e },
                { 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0xfe00, 0xfe0f },
                { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },   { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd },
                { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
        };

        for (size_t i = 0; i < ELEMENTSOF(ranges); i++)
                if (c >= ranges[i].first && c <= ranges[i].last)
                        return true;
        return false;
}

/* Whether the character acts on a terminal, or on how what follows it is read. */
static bool is_unprintable(uint32_t c) {
        return c < 0x20 || (c >= 0x7f && c < 0xa0) || is_invisible(c);
}

#define ESCAPED_MAX 12 /* "\u{10FFFF}" and its NUL */
#define ESCAPED_JSON_MAX 13 /* two halves of a pair, and a NUL */

/* Writes what stands for the character (of n bytes at s; 0: an invalid byte) and returns the end of it. */
static char *escape_one(char *out, const char *s, size_t n, uint32_t c) {
        if (n == 0)
                return out + snprintf(out, ESCAPED_MAX, "\\x%02X", (unsigned) (uint8_t) *s);

        switch (c) {
        case '\n':
                return mempcpy(out, "\\n", 2);
        case '\r':
                return mempcpy(out, "\\r", 2);
        case '\t':
                return mempcpy(out, "\\t", 2);
        case '\\':
                return mempcpy(out, "\\\\", 2);
        }
        if (c < 0xa0 && is_unprintable(c))
                return out + snprintf(out, ESCAPED_MAX, "\\x%02X", (unsigned) c);
        if (is_invisible(c))
                return out + snprintf(out, ESCAPED_MAX, "\\u{%04X}", (unsigned) c);
        return mempcpy(out, s, n);
}

char *text_escape(const char *s) {
        size_t length = strlen(s);
        char *text, *out;

        if (length >= SIZE_MAX / ESCAPED_MAX || !(text = malloc((length + 1) * ESCAPED_MAX)))
                return NULL;

        for (out = text; *s;) {
                uint32_t c = 0;
                size_t n = utf8_decode(s, &c);

                out = escape_one(out, s, n, c);
                s += MAX(n, (size_t) 1);
        }
        *out = '\0';

        char *fitted = realloc(text, (size_t) (out - text) + 1);
        return fitted ?: text;
}

static char *escape_one_json(char *out, uint32_t c) {
        if (c < 0x10000)
                return out + snprintf(out, ESCAPED_JSON_MAX, "\\u%04x", (unsigned) c);
        c -= 0x10000;
        return out + snprintf(out, ESCAPED_JSON_MAX, "\\u%04x\\u%04x", 0xd800 + (unsigned) (c >> 10),
                              0xdc00 + (unsigned) (c & 0x3ff));
}

char *text_escape_json(const char *json) {
        size_t length = strlen(json);
        char *text, *out;

        /* The shortest that grows is DEL, one byte that becomes six. */
        if (length > (SIZE_MAX - 1) / ESCAPED_JSON_MAX || !(text = malloc(ESCAPED_JSON_MAX * length + 1)))
                return NULL;

        for (out = text; *json;) {
                uint32_t c = 0;
                size_t n = utf8_decode(json, &c);

                /* Below 0x20 only the blanks between the values are left: the strings' own are escaped already. */
                out = n > 0 && c >= 0x20 && is_unprintable(c) ? escape_one_json(out, c)
                                                              : mempcpy(out, json, MAX(n, 1U));
                json += MAX(n, (size_t) 1);
        }
        *out = '\0';

        char *fitted = realloc(text, (size_t) (out - text) + 1);
        return fitted ?: text;
}

char *text_shell_word(const char *text) {
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

char *text_strip(const char *s) {
        static const char blanks[] = " \t\n\v\f\r";
        const char *start = s + strspn(s, blanks);
        size_t length = strlen(start);

        while (length > 0 && strchr(blanks, start[length - 1]))
                length--;
        return strndup(start, length);
}

static uint64_t tenths_of(uint64_t bytes, unsigned power, bool up) {
        uint64_t unit = UINT64_C(1) << (10 * power);

        return (uint64_t) (((unsigned __int128) bytes * 10 + (up ? unit - 1 : unit / 2)) / unit);
}

static const char *format_size(uint64_t bytes, bool up, char *buf) {
        static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
        unsigned i = 0;

        /* Rounded first, so that 1048575 is "1 MiB" and not "1024 KiB". */
        while (i + 1 < ELEMENTSOF(units) && tenths_of(bytes, i, up) >= 10240)
                i++;

        uint64_t rounded = tenths_of(bytes, i, up);
        if (rounded % 10 == 0)
                snprintf(buf, TEXT_SIZE_MAX, "%" PRIu64 " %s", rounded / 10, units[i]);
        else
                snprintf(buf, TEXT_SIZE_MAX, "%" PRIu64 ".%" PRIu64 " %s", rounded / 10, rounded % 10, units[i]);
        return buf;
}

const char *text_format_size(uint64_t bytes, char *buf) {
        return format_size(bytes, false, buf);
}

const char *text_format_size_up(uint64_t bytes, char *buf) {
        return format_size(bytes, true, buf);
}

const char *text_format_count(double value, char *buf) {
        static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };
        unsigned i = 0;

        if (!isfinite(value)) {
                snprintf(buf, TEXT_SIZE_MAX, "-");
                return buf;
        }

        /* 999.5 has three digits no more. */
        while (i + 1 < ELEMENTSOF(units) && fabs(value) >= 999.5) {
                value /= 1000;
                i++;
        }

        double size = fabs(value);
        int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
        if (i == 0)
                snprintf(buf, TEXT_SIZE_MAX, "%.3g", value);
        else if (size < 1e6)
                snprintf(buf, TEXT_SIZE_MAX, "%.*f%s", decimals, value, units[i]);
        else
                snprintf(buf, TEXT_SIZE_MAX, "%.3g%s", value, units[i]);
        return buf;
}

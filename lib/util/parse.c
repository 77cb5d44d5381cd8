/* SPDX-License-Identifier: MIT */

/*
 * fio reads numbers with strtoll() and looks at the letters that follow; whatever it does not
 * know it drops. What a job means must not hang on a typing error that nobody is told
 * of, so everything here either has fio's value or is refused.
 */

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "util/cleanup.h"
#include "util/macro.h"
#include "util/parse.h"

typedef struct Unit {
        const char *suffix;
        uint64_t factor;
} Unit;

static bool is_digit(char c) {
        return c >= '0' && c <= '9';
}

static int digit_value(char c) {
        if (is_digit(c))
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Reads the digits at *s and leaves *s behind them. On overflow too, so that the form can still be judged. */
static int scan_digits(const char **s, unsigned base, uint64_t *ret) {
        const char *p = *s;
        uint64_t value = 0;
        bool overflow = false;

        for (unsigned digit; (digit = (unsigned) digit_value(*p)) < base; p++)
                if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value))
                        overflow = true;
        if (p == *s)
                return -EINVAL;

        *s = p;
        if (overflow)
                return -ERANGE;
        *ret = value;
        return 0;
}

int parse_u64(const char *s, uint64_t *ret) {
        uint64_t value;
        int r;

        if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
                s += 2;
                r = scan_digits(&s, 16, &value);
        } else
                r = scan_digits(&s, 10, &value);
        if (*s != '\0')
                return -EINVAL;
        if (r < 0)
                return r;

        *ret = value;
        return 0;
}

int parse_u64_range(const char *s, uint64_t min, uint64_t max, uint64_t *ret) {
        uint64_t value;
        int r = parse_u64(s, &value);

        if (r < 0)
                return r;
        if (value < min || value > max)
                return -ERANGE;

        *ret = value;
        return 0;
}

/* The unit of that suffix; NULL for none. */
static const Unit *find_unit(const char *suffix, const Unit *units, size_t n_units) {
        for (size_t i = 0; i < n_units; i++)
                if (strcasecmp(suffix, units[i].suffix) == 0)
                        return &units[i];
        return NULL;
}

static int parse_with_unit(const char *s, const Unit *units, size_t n_units, uint64_t *ret) {
        uint64_t value;
        int r = scan_digits(&s, 10, &value);
        const Unit *unit = r == -EINVAL ? NULL : find_unit(s, units, n_units);

        if (!unit)
                return -EINVAL;
        if (r < 0 || __builtin_mul_overflow(value, unit->factor, &value))
                return -ERANGE;
        *ret = value;
        return 0;
}

int parse_size(const char *s, uint64_t *ret_bytes) {
        static const Unit units[] = {
                { "", 1 },
                { "b", 1 },
                { "k", KIB },
                { "kb", KIB },
                { "kib", UINT64_C(1000) },
                { "m", MIB },
                { "mb", MIB },
                { "mib", UINT64_C(1000000) },
                { "g", GIB },
                { "gb", GIB },
                { "gib", UINT64_C(1000000000) },
                { "t", TIB },
                { "tb", TIB },
                { "tib", UINT64_C(1000000000000) },
                { "p", TIB * 1024 },
                { "pb", TIB * 1024 },
                { "pib", UINT64_C(1000000000000000) },
        };

        if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
                return parse_u64(s, ret_bytes);
        return parse_with_unit(s, units, ELEMENTSOF(units), ret_bytes);
}

int parse_count(const char *s, uint64_t *ret) {
        static const Unit units[] = {
                { "", 1 },
                { "k", UINT64_C(1000) },
                { "m", UINT64_C(1000000) },
                { "g", UINT64_C(1000000000) },
        };

        return parse_with_unit(s, units, ELEMENTSOF(units), ret);
}

static const Unit time_units[] = {
        { "", NSEC_PER_SEC },
        { "us", NSEC_PER_USEC },
        { "usec", NSEC_PER_USEC },
        { "ms", NSEC_PER_MSEC },
        { "msec", NSEC_PER_MSEC },
        { "s", NSEC_PER_SEC },
        { "m", 60 * NSEC_PER_SEC },
        { "h", 3600 * NSEC_PER_SEC },
        { "d", 86400 * NSEC_PER_SEC },
};

int parse_duration(const char *s, uint64_t *ret_ns) {
        return parse_with_unit(s, time_units, ELEMENTSOF(time_units), ret_ns);
}

#define SCALE_MAX UINT64_C(100000000000000) /* a nanosecond is some parts of that in a day, the longest unit */

static int parse_fraction(const char *s, const Unit *units, size_t n_units, uint64_t *ret) {
        uint64_t whole, fraction = 0, scale = 1;

        int r = scan_digits(&s, 10, &whole);
        if (r == -EINVAL)
                return r;
        if (*s == '.') {
                if (!is_digit(s[1]))
                        return -EINVAL;
                for (s++; is_digit(*s); s++)
                        if (scale < SCALE_MAX) {
                                fraction = fraction * 10 + (uint64_t) digit_value(*s);
                                scale *= 10;
                        }
        }
        const Unit *unit = find_unit(s, units, n_units);
        if (!unit)
                return -EINVAL;
        uint64_t part = (uint64_t) ((unsigned __int128) fraction * unit->factor / scale);
        if (r < 0 || __builtin_mul_overflow(whole, unit->factor, &whole) || __builtin_add_overflow(whole, part, &whole))
                return -ERANGE;
        *ret = whole;
        return 0;
}

int parse_span(const char *s, uint64_t *ret_ns) {
        return parse_fraction(s, time_units, ELEMENTSOF(time_units), ret_ns);
}

int parse_fills(const char *s, uint64_t *ret_thousandths) {
        static const Unit units[] = { { "fill", 1000 }, { "fills", 1000 }, { " fill", 1000 }, { " fills", 1000 } };

        return parse_fraction(s, units, ELEMENTSOF(units), ret_thousandths);
}

static locale_t c_locale;

static void c_locale_make(void) {
        c_locale = newlocale(LC_ALL_MASK, "C", NULL);
}

int parse_double(const char *s, double *ret) {
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        /* strtod() would also take blanks, hexadecimal, "inf" and "nan". */
        if (s[0] == '\0' || s[strspn(s, "0123456789+-.eE")] != '\0')
                return -EINVAL;

        pthread_once(&once, c_locale_make);
        if (!c_locale)
                return -ENOMEM;

        char *end;
        double value = strtod_l(s, &end, c_locale);

        if (*end != '\0')
                return -EINVAL;
        if (!isfinite(value))
                return -ERANGE;

        *ret = value;
        return 0;
}

#define WORD_MAX 63

/* Damerau-Levenshtein distance (each pair of neighbours swapped at most once) of words of at most WORD_MAX bytes. */
static size_t word_distance(const char *a, const char *b) {
        size_t rows[3][WORD_MAX + 1];
        size_t *before = rows[0], *above = rows[1], *row = rows[2];
        size_t n_a = strlen(a), n_b = strlen(b);

        for (size_t j = 0; j <= n_b; j++)
                above[j] = j;

        for (size_t i = 1; i <= n_a; i++) {
                row[0] = i;
                for (size_t j = 1; j <= n_b; j++) {
                        size_t substituted = above[j - 1] + (a[i - 1] != b[j - 1]);
                        size_t edited = MIN(above[j], row[j - 1]) + 1;

                        row[j] = MIN(substituted, edited);
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                row[j] = MIN(row[j], before[j - 2] + 1);
                }

                size_t *spare = before;
                before = above;
                above = row;
                row = spare;
        }
        return above[n_b];
}

const char *nearest_word(const char *s, const char *const *candidates, size_t n) {
        size_t length = strlen(s);
        const char *best = NULL;

        /* What is longer is no typing error, and would take long. */
        if (length == 0 || length > WORD_MAX)
                return NULL;

        size_t allowed = MAX(length / 3, (size_t) 1);
        for (size_t i = 0; i < n; i++) {
                if (strlen(candidates[i]) > WORD_MAX)
                        continue;

                size_t distance = word_distance(s, candidates[i]);
                if (distance > allowed || (best && distance == allowed))
                        continue;
                best = candidates[i];
                allowed = distance;
                if (distance == 0)
                        break;
        }
        return best;
}

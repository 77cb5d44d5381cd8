/* SPDX-License-Identifier: MIT */

/*
 * fio replaces its keywords and hands the rest to bc(1), if there is one. Here it is a
 * descent over the same operators, whole numbers only, that no input can make overflow.
 */

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "spec/expression.h"
#include "util/macro.h"
#include "util/parse.h"

#define DEPTH_MAX 32

typedef struct Cursor {
        const char *s;
        unsigned depth;
} Cursor;

static int read_sum(Cursor *cursor, uint64_t *ret);

static void skip_blanks(Cursor *cursor) {
        cursor->s += strspn(cursor->s, " \t");
}

static int read_keyword(Cursor *cursor, uint64_t *ret) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
        const char *word = cursor->s + 1;
        size_t length = strspn(word, letters);
        long value;

        if (length == strlen("ncpus") && strncmp(word, "ncpus", length) == 0)
                value = sysconf(_SC_NPROCESSORS_ONLN);
        else if (length == strlen("pagesize") && strncmp(word, "pagesize", length) == 0)
                value = sysconf(_SC_PAGESIZE);
        else if (length == strlen("mb_memory") && strncmp(word, "mb_memory", length) == 0)
                value = sysconf(_SC_PHYS_PAGES) / (long) (MIB / (uint64_t) sysconf(_SC_PAGESIZE));
        else
                return -EINVAL;
        if (value < 0)
                return -EINVAL;

        cursor->s = word + length;
        *ret = (uint64_t) value;
        return 0;
}

static int read_number(Cursor *cursor, uint64_t *ret) {
        char digits[sizeof("18446744073709551615")];
        size_t length = strspn(cursor->s, "0123456789");

        if (length == 0)
                return -EINVAL;
        if (length >= sizeof(digits))
                return -ERANGE;

        *(char *) mempcpy(digits, cursor->s, length) = '\0';
        cursor->s += length;
        return parse_u64(digits, ret);
}

static int read_factor(Cursor *cursor, uint64_t *ret) {
        skip_blanks(cursor);
        if (*cursor->s == '$')
                return read_keyword(cursor, ret);
        if (*cursor->s != '(')
                return read_number(cursor, ret);
        if (cursor->depth == DEPTH_MAX)
                return -EINVAL;

        cursor->s++;
        cursor->depth++;
        int r = read_sum(cursor, ret);
        if (r < 0)
                return r;
        if (*cursor->s != ')')
                return -EINVAL;
        cursor->s++;
        cursor->depth--;
        return 0;
}

static int apply(char operator, uint64_t a, uint64_t b, uint64_t *ret) {
        switch (operator) {
        case '+':
                return __builtin_add_overflow(a, b, ret) ? -ERANGE : 0;
        case '-':
                return __builtin_sub_overflow(a, b, ret) ? -ERANGE : 0;
        case '*':
                return __builtin_mul_overflow(a, b, ret) ? -ERANGE : 0;
        }
        if (b == 0)
                return -EINVAL;
        *ret = operator == '/' ? a / b : a % b;
        return 0;
}

/* Operands joined by any of operators, from the left. Stops at the first other character. */
static int read_chain(Cursor *cursor, const char *operators, int (*read)(Cursor *, uint64_t *), uint64_t *ret) {
        uint64_t value;
        int r = read(cursor, &value);

        for (;;) {
                if (r < 0)
                        return r;

                skip_blanks(cursor);
                if (*cursor->s == '\0' || !strchr(operators, *cursor->s)) {
                        *ret = value;
                        return 0;
                }

                char operator = *cursor->s++;
                uint64_t operand;
                r = read(cursor, &operand);
                if (r >= 0)
                        r = apply(operator, value, operand, &value);
        }
}

static int read_product(Cursor *cursor, uint64_t *ret) {
        return read_chain(cursor, "*/%", read_factor, ret);
}

static int read_sum(Cursor *cursor, uint64_t *ret) {
        return read_chain(cursor, "+-", read_product, ret);
}

static bool is_expression(const char *s) {
        return strchr(s, '$');
}

static int evaluate(const char *s, uint64_t *ret) {
        Cursor cursor = { .s = s };
        uint64_t value;

        int r = read_sum(&cursor, &value);
        if (r < 0)
                return r;
        if (*cursor.s != '\0')
                return -EINVAL;

        *ret = value;
        return 0;
}

int expression_evaluate(const char *s, uint64_t *ret) {
        return is_expression(s) ? evaluate(s, ret) : parse_size(s, ret);
}

int expression_evaluate_time(const char *s, uint64_t *ret_ns) {
        uint64_t seconds, ns;

        if (!is_expression(s))
                return parse_duration(s, ret_ns);

        int r = evaluate(s, &seconds);
        if (r < 0)
                return r;
        if (__builtin_mul_overflow(seconds, NSEC_PER_SEC, &ns))
                return -ERANGE;

        *ret_ns = ns;
        return 0;
}

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Numbers as fio writes them. All return 0, -EINVAL (not of the form) or
 * -ERANGE (too large for the result), and touch *ret only on success. The whole
 * string must be used up; blanks around it are an error.
 */

#include <stddef.h>
#include <stdint.h>

/* Decimal or 0x hexadecimal, no sign. */
int parse_u64(const char *s, uint64_t *ret);

/* As parse_u64, and within [min, max] (else -ERANGE). */
int parse_u64_range(const char *s, uint64_t min, uint64_t max, uint64_t *ret);

/*
 * Bytes: a number with an optional suffix k, m, g, t, p in powers of 1024, in
 * either case, each optionally followed by b or ib ("4k", "4KiB", "4kb"), or a bare
 * "b": fio's reading with its default kb_base of 1024.
 */
int parse_size(const char *s, uint64_t *ret_bytes);

/*
 * A time: a number with d, h, m, s, ms, us (or usec, msec, sec …, as fio takes them)
 * and s if there is none. ret in nanoseconds.
 */
int parse_duration(const char *s, uint64_t *ret_ns);

/* A finite decimal number, locale-independent, with the whole string used. */
int parse_double(const char *s, double *ret);

/*
 * The entry of candidates (n of them) nearest to s in Damerau-Levenshtein
 * distance, or NULL if none is near enough to be what was meant (distance at most
 * max(1, length/3)). For "did you mean".
 */
const char *nearest_word(const char *s, const char *const *candidates, size_t n);

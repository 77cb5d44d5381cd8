/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Numbers as fio writes them. All return 0, -EINVAL (not of the form) or
 * -ERANGE (too large for the result), and touch *ret only on success. The whole
 * string must be used up, and blanks around it are an error: where fio drops what it
 * does not understand ("1.5g" is one byte to it, "10sec" ten microseconds), these refuse.
 */

#include <stddef.h>
#include <stdint.h>

/* Decimal or 0x hexadecimal, no sign. */
int parse_u64(const char *s, uint64_t *ret);

/* As parse_u64, and within [min, max] (else -ERANGE). */
int parse_u64_range(const char *s, uint64_t min, uint64_t max, uint64_t *ret);

/*
 * Bytes: a number, or a decimal one with a suffix in either case: k, m, g, t, p or kb … pb
 * for powers of 1024; kib … pib for powers of 1000, since with fio's default kb_base=1024 the
 * units are the opposite of SI's and IEC's, for old scripts' sake; b for bytes.
 */
int parse_size(const char *s, uint64_t *ret_bytes);

/* What is counted and is no bytes, as IOPS: a decimal number, k, m or g in either case for powers of 1000. */
int parse_count(const char *s, uint64_t *ret);

/* A time: a decimal number with d, h, m, s, ms or msec, us or usec in either case; s if there is none. */
int parse_duration(const char *s, uint64_t *ret_ns);

/* Likewise, and with a fraction, which fio's jobs cannot have: "6.5", "1.5h"; what is below a nanosecond is cut off. */
int parse_span(const char *s, uint64_t *ret_ns);

/* A device's size so many times, in thousandths: "3 fills", "2.5fills", "1 fill"; what is below is cut off. */
int parse_fills(const char *s, uint64_t *ret_thousandths);

/* A finite decimal number, whatever the locale. -ENOMEM if there was none for that. */
int parse_double(const char *s, double *ret);

/*
 * The entry of candidates (n of them) nearest to s in Damerau-Levenshtein
 * distance, or NULL if none is near enough to be what was meant (distance at most
 * max(1, length/3)). For "did you mean".
 */
const char *nearest_word(const char *s, const char *const *candidates, size_t n);

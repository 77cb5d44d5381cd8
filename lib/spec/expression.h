/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/*
 * A number as an option takes it: what parse_size() takes, or, as in fio, an integer
 * expression of + - * / % and parentheses over numbers and this machine's $ncpus (CPUs online),
 * $pagesize (bytes) and $mb_memory (MiB); at least one of the three makes it an expression. 0, -EINVAL (not of the
 * form, or a division by 0), -ERANGE (a part is negative or too large).
 */
int expression_evaluate(const char *s, uint64_t *ret);

/* The same of a time: what parse_duration() takes, or an expression, in seconds. */
int expression_evaluate_time(const char *s, uint64_t *ret_ns);

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* A keyed bijection of [0, n), n at least 1, in constant memory and constant expected time. */
typedef struct Permutation {
        uint64_t n;
        unsigned half_bits;
} Permutation;

Permutation permutation_of(uint64_t n);
uint64_t permutation_at(const Permutation *permutation, uint64_t key, uint64_t place);

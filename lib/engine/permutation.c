/* SPDX-License-Identifier: MIT */

/*
 * A balanced Feistel network over the next even power of two, walked until it lands inside: in fewer than four steps
 * on average.
 */

#include "engine/permutation.h"

#include "util/hash.h"

#define FEISTEL_ROUNDS 6

Permutation permutation_of(uint64_t n) {
        unsigned bits = 2;

        while (bits < 64 && (n - 1) >> bits)
                bits += 2;
        return (Permutation){ .n = n, .half_bits = bits / 2 };
}

static uint64_t feistel(uint64_t x, unsigned half_bits, uint64_t key) {
        uint64_t mask = (UINT64_C(1) << half_bits) - 1;
        uint64_t left = x >> half_bits, right = x & mask;

        for (unsigned round = 0; round < FEISTEL_ROUNDS; round++) {
                uint64_t mixed = left ^ (hash_mix64(key + (right << 3) + round) & mask);
                left = right;
                right = mixed;
        }
        return left << half_bits | right;
}

uint64_t permutation_at(const Permutation *permutation, uint64_t key, uint64_t place) {
        do
                place = feistel(place, permutation->half_bits, key);
        while (place >= permutation->n);
        return place;
}

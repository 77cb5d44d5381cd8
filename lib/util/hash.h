/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/*
 * The finalizer of SplitMix64 (Steele, Lea, Flood 2014; Stafford's variant 13):
 * a bijection of 64 bits whose output passes BigCrush for counters as input.
 * Everything random in a run is this function of (seed, index), so nothing needs state.
 */
static inline uint64_t hash_mix64(uint64_t x) {
        x += UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
        return x ^ (x >> 31);
}

static inline uint64_t hash_mix64_2(uint64_t a, uint64_t b) {
        return hash_mix64(hash_mix64(a) ^ b);
}

/* Uniform in [0, n) from 64 random bits, without division (Lemire 2019); the bias is below n / 2^64. */
static inline uint64_t hash_below(uint64_t random, uint64_t n) {
        return (uint64_t) (((unsigned __int128) random * n) >> 64);
}

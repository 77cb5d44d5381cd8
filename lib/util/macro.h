/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ELEMENTSOF(x) (sizeof(x) / sizeof((x)[0]))

#define MIN(a, b)                                \
        ({                                       \
                __typeof__(a) _a = (a);          \
                __typeof__(b) _b = (b);          \
                _a < _b ? _a : _b;               \
        })

#define MAX(a, b)                                \
        ({                                       \
                __typeof__(a) _a = (a);          \
                __typeof__(b) _b = (b);          \
                _a > _b ? _a : _b;               \
        })

/* The greatest common divisor; gcd_u64(0, b) is b. */
static inline uint64_t gcd_u64(uint64_t a, uint64_t b) {
        while (b > 0) {
                uint64_t rest = a % b;

                a = b;
                b = rest;
        }
        return a;
}

#define NSEC_PER_USEC UINT64_C(1000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_SEC UINT64_C(1000000000)
#define USEC_PER_SEC UINT64_C(1000000)

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define TIB (GIB * 1024)

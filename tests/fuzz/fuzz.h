/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Fuzz targets have libFuzzer's entry point and abort when a promise is broken. To fuzz one,
 * from the root of the source, with new findings collected in a folder of your own:
 *
 *     clang -g -O1 -std=gnu17 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -Ilib -o fuzz-job \
 *             tests/fuzz/fuzz-job.c lib/spec/[a-z]*.c lib/util/[a-z]*.c -lm
 *     ./fuzz-job -max_len=4096 -max_total_time=300 FOUND tests/fuzz/corpus/job
 *
 * The ordinary build links each target to replay.c, and the quick tests run it over the corpus.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fuzz_require(condition)                  \
        do {                                     \
                if (!(condition))                \
                        abort();                 \
        } while (0)

/* SPDX-License-Identifier: MIT */

#include "engine/payload.h"

#include <lz4.h>
#include <lz4hc.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"

#define RUN_TAG UINT64_C(0x1234567890abcdef)
#define CHUNK_MAX (4 * MIB)

static _Alignas(64) uint8_t data[CHUNK_MAX], again[CHUNK_MAX];
static uint8_t packed[CHUNK_MAX + CHUNK_MAX / 8];

static Payload *payload;

static void setup(void) {
        ck_assert_int_eq(payload_new(&payload, RUN_TAG), 0);
}

static void teardown(void) {
        payload = payload_free(payload);
}

static size_t pack_zstd(size_t n) {
        size_t packed_bytes = ZSTD_compress(packed, sizeof packed, data, n, 3);
        ck_assert(!ZSTD_isError(packed_bytes));
        return packed_bytes;
}

static size_t pack_zstd_hard(size_t n) {
        size_t packed_bytes = ZSTD_compress(packed, sizeof packed, data, n, 12);
        ck_assert(!ZSTD_isError(packed_bytes));
        return packed_bytes;
}

static size_t pack_lz4(size_t n) {
        int packed_bytes = LZ4_compress_default((char *) data, (char *) packed, (int) n, (int) sizeof packed);
        ck_assert_int_gt(packed_bytes, 0);
        return (size_t) packed_bytes;
}

static size_t pack_lz4hc(size_t n) {
        int packed_bytes = LZ4_compress_HC((char *) data, (char *) packed, (int) n, (int) sizeof packed, 9);
        ck_assert_int_gt(packed_bytes, 0);
        return (size_t) packed_bytes;
}

static size_t pack_zlib(size_t n) {
        uLongf packed_bytes = sizeof packed;
        ck_assert_int_eq(compress2(packed, &packed_bytes, data, n, 9), Z_OK);
        return packed_bytes;
}

static const struct {
        const char *name;
        size_t (*pack)(size_t n);
} packers[] = {
        { "zstd", pack_zstd },       { "zstd -12", pack_zstd_hard }, { "lz4", pack_lz4 },
        { "lz4 -9", pack_lz4hc },    { "zlib -9", pack_zlib },
};

static void assert_incompressible(size_t n) {
        for (size_t i = 0; i < ELEMENTSOF(packers); i++) {
                size_t packed_bytes = packers[i].pack(n);

                ck_assert_msg(packed_bytes * 100 >= n * 98, "%s saves more than 2 %% of %zu bytes: %zu",
                              packers[i].name, n, packed_bytes);
        }
}

/* n blocks one behind the other, as a drive sees them: at random places, or all at one. */
static void write_blocks(size_t n, size_t block_bytes, uint64_t first_index, bool one_place) {
        for (size_t i = 0; i < n; i++) {
                uint64_t place = one_place ? 7 : hash_mix64(first_index + i) % (64 * TIB / block_bytes);

                payload_fill(payload, data + i * block_bytes, block_bytes, place * block_bytes, first_index + i);
        }
}

static const size_t block_sizes[] = { 512, 4 * KIB, 128 * KIB };

START_TEST(single_blocks_do_not_compress) {
        for (size_t i = 0; i < ELEMENTSOF(block_sizes); i++)
                for (uint64_t index = 0; index < 50; index++) {
                        write_blocks(1, block_sizes[i], index * 1000003, false);
                        assert_incompressible(block_sizes[i]);
                }
}
END_TEST

START_TEST(many_blocks_together_do_not_compress) {
        for (size_t i = 0; i < ELEMENTSOF(block_sizes); i++)
                for (unsigned one_place = 0; one_place <= 1; one_place++)
                        for (size_t chunk = 128 * KIB; chunk <= CHUNK_MAX; chunk *= 32) {
                                write_blocks(chunk / block_sizes[i], block_sizes[i], 1000, one_place);
                                assert_incompressible(chunk);
                        }
}
END_TEST

static int compare_sectors(const void *a, const void *b) {
        return memcmp(a, b, PAYLOAD_SECTOR);
}

/* Not even behind the header, for a drive that deduplicates by parts. */
static int compare_bodies(const void *a, const void *b) {
        return memcmp((const uint8_t *) a + 32, (const uint8_t *) b + 32, PAYLOAD_SECTOR - 32);
}

START_TEST(no_two_sectors_are_alike) {
        for (size_t i = 0; i < ELEMENTSOF(block_sizes); i++)
                for (unsigned one_place = 0; one_place <= 1; one_place++) {
                        size_t n = CHUNK_MAX / PAYLOAD_SECTOR;

                        write_blocks(CHUNK_MAX / block_sizes[i], block_sizes[i], 0, one_place);
                        qsort(data, n, PAYLOAD_SECTOR, compare_bodies);
                        for (size_t k = 1; k < n; k++)
                                ck_assert(compare_bodies(data + (k - 1) * PAYLOAD_SECTOR, data + k * PAYLOAD_SECTOR) !=
                                          0);
                        qsort(data, n, PAYLOAD_SECTOR, compare_sectors);
                        for (size_t k = 1; k < n; k++)
                                ck_assert(compare_sectors(data + (k - 1) * PAYLOAD_SECTOR, data + k * PAYLOAD_SECTOR) !=
                                          0);
                }
}
END_TEST

/* Eight bytes that came before are what block deduplication and LZ matching live on. */
START_TEST(words_repeat_no_more_than_in_noise) {
        static uint64_t words[CHUNK_MAX / 8];
        unsigned n_repeated = 0;

        write_blocks(CHUNK_MAX / 4096, 4096, 0, true);
        memcpy(words, data, sizeof words);
        /* The low halves of half a million words: n^2 / 2^33 = 32 expected in noise. */
        static uint8_t seen[UINT32_MAX / 8 + 1];
        for (size_t i = 0; i < ELEMENTSOF(words); i++) {
                uint32_t low = (uint32_t) words[i];

                n_repeated += seen[low / 8] >> (low % 8) & 1;
                seen[low / 8] |= (uint8_t) (1U << (low % 8));
        }
        ck_assert_uint_lt(n_repeated, 80);
}
END_TEST

START_TEST(stamp_reads_back) {
        static const uint64_t offsets[] = { 0, 4096, 64 * TIB - 128 * KIB, UINT64_MAX / 2 / 4096 * 4096 };
        static const uint64_t indices[] = { 0, 1, UINT64_C(1) << 40, UINT64_MAX };

        for (size_t i = 0; i < ELEMENTSOF(offsets); i++)
                for (size_t k = 0; k < ELEMENTSOF(indices); k++) {
                        payload_fill(payload, data, 128 * KIB, offsets[i], indices[k]);
                        for (size_t s = 0; s < 256; s++) {
                                PayloadStamp stamp;

                                payload_read_stamp(data + s * PAYLOAD_SECTOR, &stamp);
                                ck_assert(stamp.run_tag == RUN_TAG);
                                ck_assert(stamp.index == indices[k]);
                                ck_assert(stamp.sector == offsets[i] / PAYLOAD_SECTOR + s);
                        }
                }
}
END_TEST

START_TEST(fill_is_a_function_of_its_arguments) {
        Payload *other;

        payload_fill(payload, data, 128 * KIB, GIB, 5);
        payload_fill(payload, again, 128 * KIB, GIB, 5);
        ck_assert_mem_eq(data, again, 128 * KIB);

        ck_assert_int_eq(payload_new(&other, RUN_TAG), 0);
        payload_fill(other, again, 128 * KIB, GIB, 5);
        ck_assert_mem_eq(data, again, 128 * KIB);
        payload_free(other);

        ck_assert_int_eq(payload_new(&other, RUN_TAG + 1), 0);
        payload_fill(other, again, 128 * KIB, GIB, 5);
        for (size_t i = 0; i < 256; i++)
                for (size_t k = 0; k < PAYLOAD_SECTOR; k += 8)
                        ck_assert(memcmp(data + i * PAYLOAD_SECTOR + k, again + i * PAYLOAD_SECTOR + k, 8) != 0);
        payload_free(other);
}
END_TEST

START_TEST(fill_stays_inside) {
        for (size_t n = PAYLOAD_SECTOR; n <= 8 * PAYLOAD_SECTOR; n += PAYLOAD_SECTOR) {
                memset(data, 0xa5, n + 64);
                payload_fill(payload, data, n, 0, 1);
                for (size_t i = n; i < n + 64; i++)
                        ck_assert_uint_eq(data[i], 0xa5);
        }
}
END_TEST

START_TEST(bytes_are_uniform) {
        uint64_t bins[256] = {};
        double chi = 0, expected = CHUNK_MAX / 256.0;

        write_blocks(CHUNK_MAX / 4096, 4096, 77, false);
        for (size_t i = 0; i < CHUNK_MAX; i++)
                bins[data[i]]++;
        for (size_t i = 0; i < 256; i++)
                chi += ((double) bins[i] - expected) * ((double) bins[i] - expected) / expected;
        ck_assert_double_lt(chi, 255 + 5 * 22.6);
}
END_TEST

/* Blocks of one I/O size, all as write after write at random places. */
static void write_for(const PhasePlan *phase, size_t block_bytes, size_t n_bytes, uint64_t first_index) {
        for (size_t at = 0; at < n_bytes; at += block_bytes, first_index++)
                payload_fill_for(payload, phase, data + at, block_bytes,
                                 hash_mix64(first_index) % (TIB / block_bytes) * block_bytes, first_index);
}

#define N_CHUNKS UINT64_C(64)

/* The brief packers of drives and file systems; each block for itself. */
START_TEST(compressible_blocks_save_what_is_asked_for) {
        static const unsigned percents[] = { 1, 10, 33, 50, 75, 90, JOB_COMPRESS_PERCENT_MAX };

        for (size_t i = 0; i < ELEMENTSOF(block_sizes); i++)
                for (size_t k = 0; k < ELEMENTSOF(percents); k++)
                        for (size_t p = 0; p < ELEMENTSOF(packers); p++) {
                                PhasePlan phase = { .content = { .compress_percent = (uint8_t) percents[k] } };
                                size_t n = block_sizes[i], n_chunks = MIN(N_CHUNKS, CHUNK_MAX / n / 8), saved = 0;

                                for (size_t c = 0; c < n_chunks; c++) {
                                        write_for(&phase, n, n, 1000 * c);
                                        saved += n - MIN(packers[p].pack(n), n);
                                }
                                double percent = 100.0 * (double) saved / (double) (n * n_chunks);
                                ck_assert_msg(percent > percents[k] - 3.0 && percent < percents[k] + 3.0,
                                              "%s saves %.1f %% of %zu bytes, not %u", packers[p].name, percent, n,
                                              percents[k]);
                        }
}
END_TEST

START_TEST(compressible_sectors_keep_their_stamps) {
        PhasePlan phase = { .content = { .compress_percent = JOB_COMPRESS_PERCENT_MAX } };

        for (size_t i = 0; i < ELEMENTSOF(block_sizes); i++) {
                uint64_t offset = 5 * GIB;

                payload_fill_for(payload, &phase, data, block_sizes[i], offset, 77);
                for (size_t at = 0; at < block_sizes[i]; at += PAYLOAD_SECTOR) {
                        PayloadStamp stamp;

                        payload_read_stamp(data + at, &stamp);
                        ck_assert_uint_eq(stamp.run_tag, RUN_TAG);
                        ck_assert_uint_eq(stamp.index, 77);
                        ck_assert_uint_eq(stamp.sector, (offset + at) / PAYLOAD_SECTOR);
                }
        }
}
END_TEST

static int compare_pages(const void *a, const void *b) {
        return memcmp(a, b, 4096);
}

/* One content has its share of all pieces; no other comes twice. */
START_TEST(deduplicable_pieces_are_as_many_as_asked_for) {
        static const unsigned percents[] = { 0, 1, 30, 70, 100 };
        enum { N = CHUNK_MAX / 4096 };

        for (size_t i = 0; i < ELEMENTSOF(percents); i++)
                for (size_t io = 4096; io <= 64 * KIB; io *= 16) {
                        PhasePlan phase = {
                                .block_bytes = { [DIRECTION_WRITE] = 4096 },
                                .content = { .dedupe_percent = (uint8_t) percents[i] },
                        };
                        unsigned n_alike = 0;
                        PayloadStamp stamp;

                        write_for(&phase, io, CHUNK_MAX, 5);
                        qsort(data, N, 4096, compare_pages);
                        for (unsigned k = 1; k < N; k++)
                                if (compare_pages(data + (k - 1) * 4096, data + k * 4096) == 0) {
                                        payload_read_stamp(data + k * 4096, &stamp);
                                        ck_assert_uint_eq(stamp.run_tag, RUN_TAG);
                                        ck_assert_uint_eq(stamp.index, PAYLOAD_INDEX_SHARED);
                                        n_alike++;
                                }
                        if (percents[i] % 100 == 0)
                                ck_assert_uint_eq(n_alike, percents[i] == 0 ? 0 : N - 1);
                        else
                                ck_assert_double_eq_tol(100.0 * n_alike / N, percents[i], 5);
                }
}
END_TEST

START_TEST(zeros_are_zeros) {
        PhasePlan phase = { .content = { .is_zero = true, .dedupe_percent = 50 } };

        memset(data, 0xff, 8192);
        payload_fill_for(payload, &phase, data, 4096, 4096, 1);
        for (unsigned i = 0; i < 4096; i++)
                ck_assert_uint_eq(data[i], 0);
        ck_assert_uint_eq(data[4096], 0xff);
}
END_TEST

START_TEST(without_options_it_is_the_plain_payload) {
        PhasePlan phase = {};

        payload_fill(payload, again, 128 * KIB, GIB, 9);
        payload_fill_for(payload, &phase, data, 128 * KIB, GIB, 9);
        ck_assert_mem_eq(data, again, 128 * KIB);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("payload");
        TCase *c = tcase_create("payload");

        tcase_set_timeout(c, 100);
        tcase_add_checked_fixture(c, setup, teardown);
        tcase_add_test(c, single_blocks_do_not_compress);
        tcase_add_test(c, many_blocks_together_do_not_compress);
        tcase_add_test(c, no_two_sectors_are_alike);
        tcase_add_test(c, words_repeat_no_more_than_in_noise);
        tcase_add_test(c, stamp_reads_back);
        tcase_add_test(c, fill_is_a_function_of_its_arguments);
        tcase_add_test(c, fill_stays_inside);
        tcase_add_test(c, bytes_are_uniform);
        tcase_add_test(c, compressible_blocks_save_what_is_asked_for);
        tcase_add_test(c, compressible_sectors_keep_their_stamps);
        tcase_add_test(c, deduplicable_pieces_are_as_many_as_asked_for);
        tcase_add_test(c, zeros_are_zeros);
        tcase_add_test(c, without_options_it_is_the_plain_payload);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

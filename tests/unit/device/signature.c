/* SPDX-License-Identifier: MIT */

/*
 * Which contents count as somebody's data. The probing asks nothing of a device but to be read, so
 * files in memory stand for it; what mkfs and its like really write is tried on loop devices.
 */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/check.h"
#include "util/hash.h"
#include "util/macro.h"
#include "unit.h"

#define SIZE (8 * MIB)

static int fd;
static DeviceInfo info = { .path = (char *) "/dev/test", .size_bytes = SIZE };

static void make(void) {
        fd = memfd_create("disk", MFD_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(ftruncate(fd, SIZE), 0);
}

static void drop(void) {
        close(fd);
}

static void put(uint64_t offset, const void *data, size_t size) {
        ck_assert_int_eq(pwrite(fd, data, size, (off_t) offset), (ssize_t) size);
}

static void find(Reasons *reasons) {
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_eq(device_check_signatures(&info, fd, reasons, &error), 0);
}

static void expect(const char *const *texts, size_t n) {
        _cleanup_reasons_ Reasons found = {};

        find(&found);
        for (size_t i = 0; i < found.n && i < n; i++) {
                ck_assert_int_eq((int) found.items[i].kind, REASON_SIGNATURE);
                ck_assert_str_eq(found.items[i].text, texts[i]);
        }
        ck_assert_uint_eq(found.n, n);
}

#define EXPECT(...)                                              \
        expect((const char *const[]) { __VA_ARGS__ },            \
               ELEMENTSOF(((const char *const[]) { __VA_ARGS__ })))

static void put_swap(const char *label) {
        struct {
                uint32_t version, last_page, n_bad;
                uint8_t uuid[16];
                char label[16];
        } header = { .version = 1, .last_page = 100 };

        snprintf(header.label, sizeof(header.label), "%s", label);
        put(1024, &header, sizeof(header));
        put(4086, "SWAPSPACE2", 10);
}

static void put_luks(void) {
        put(0, "LUKS\xba\xbe\0\1", 8);
}

static void put_dos(void) {
        static const uint8_t entry[16] = { 0, 0, 2, 0, 0x83, 0xff, 0xff, 0xff, 0x00, 8, 0, 0, 0, 0x10, 0, 0 };

        put(446, entry, sizeof(entry));
        put(510, "\x55\xaa", 2);
}

static uint32_t crc32(const void *data, size_t size) {
        const uint8_t *bytes = data;
        uint32_t crc = UINT32_MAX;

        for (size_t i = 0; i < size; i++) {
                crc ^= bytes[i];
                for (unsigned bit = 0; bit < 8; bit++)
                        crc = (crc >> 1) ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
        }
        return ~crc;
}

/* The header in the last sector, with an empty table of 128 entries before it. */
static void put_backup_gpt(void) {
        static const uint8_t entries[128 * 128];
        struct {
                char signature[8];
                uint32_t revision, header_bytes, header_crc, zero;
                uint64_t my_lba, other_lba, first_lba, last_lba;
                uint8_t guid[16];
                uint64_t entries_lba;
                uint32_t n_entries, entry_bytes, entries_crc;
                uint32_t rest[105];
        } header = {
                .revision = 0x10000,
                .header_bytes = 92,
                .my_lba = SIZE / 512 - 1,
                .other_lba = 1,
                .first_lba = 34,
                .last_lba = SIZE / 512 - 34,
                .entries_lba = SIZE / 512 - 33,
                .n_entries = 128,
                .entry_bytes = 128,
        };

        memcpy(header.signature, "EFI PART", 8);
        header.entries_crc = crc32(entries, sizeof(entries));
        header.header_crc = crc32(&header, header.header_bytes);
        put(SIZE - 512, &header, sizeof(header));
}

static void fill_random(uint64_t seed) {
        static uint64_t words[SIZE / 8];

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                words[i] = hash_mix64_2(seed, i);
        put(0, words, sizeof(words));
}

START_TEST(test_empty) {
        _cleanup_reasons_ Reasons found = {};
        static uint8_t ones[64 * KIB];

        find(&found);
        memset(ones, 0xff, sizeof(ones));
        for (uint64_t offset = 0; offset < SIZE; offset += sizeof(ones))
                put(offset, ones, sizeof(ones));
        find(&found);
        ck_assert_uint_eq(found.n, 0);
}
END_TEST

/* What a run leaves behind must not look like data of somebody. */
START_TEST(test_random) {
        for (uint64_t seed = 0; seed < 8; seed++) {
                _cleanup_reasons_ Reasons found = {};
                fill_random(seed);
                find(&found);
                ck_assert_msg(found.n == 0, "%s", found.n > 0 ? found.items[0].text : "");
        }
}
END_TEST

START_TEST(test_swap_with_label) {
        put_swap("fast\n\033[1m");
        EXPECT("holds a signature (swap, \"fast\n\033[1m\") at byte 4086");
}
END_TEST

START_TEST(test_luks) {
        put_luks();
        EXPECT("holds an encrypted volume (crypto_LUKS) at byte 0");
}
END_TEST

START_TEST(test_partition_table) {
        put_dos();
        EXPECT("holds a partition table (dos) at byte 510");
}
END_TEST

START_TEST(test_backup_gpt_alone) {
        put_backup_gpt();
        EXPECT("holds a partition table (gpt) at byte 8388096");
}
END_TEST

START_TEST(test_broken_checksum_counts) {
        struct {
                char id[8];
                uint64_t sector;
                uint32_t crc, offset;
                char type[8];
        } label = { .sector = 1, .crc = 0xbadbad, .offset = 32 };

        memcpy(label.id, "LABELONE", 8);
        memcpy(label.type, "LVM2 001", 8);
        put(512, &label, sizeof(label));
        EXPECT("holds a RAID or volume manager member (LVM2_member) at byte 536");
}
END_TEST

START_TEST(test_several_at_once) {
        put_swap("");
        put_dos();
        put_backup_gpt();
        EXPECT("holds a signature (swap) at byte 4086", "holds a partition table (dos) at byte 510",
               "holds a partition table (gpt) at byte 8388096");
}
END_TEST

START_TEST(test_unreadable_is_no_proof) {
        _cleanup_reasons_ Reasons found = {};
        _cleanup_error_ Error error = ERROR_INIT;
        int pipes[2];

        ck_assert_int_eq(pipe(pipes), 0);
        ck_assert_int_eq(device_check_signatures(&info, pipes[0], &found, &error), 0);
        ck_assert_uint_eq(found.n, 1);
        ck_assert_int_eq((int) found.items[0].kind, REASON_UNREADABLE);
        close(pipes[0]);
        close(pipes[1]);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("signature");
        TCase *tests = tcase_create("contents");

        tcase_add_checked_fixture(tests, make, drop);
        tcase_add_test(tests, test_empty);
        tcase_add_test(tests, test_random);
        tcase_add_test(tests, test_swap_with_label);
        tcase_add_test(tests, test_luks);
        tcase_add_test(tests, test_partition_table);
        tcase_add_test(tests, test_backup_gpt_alone);
        tcase_add_test(tests, test_broken_checksum_counts);
        tcase_add_test(tests, test_several_at_once);
        tcase_add_test(tests, test_unreadable_is_no_proof);
        suite_add_tcase(suite, tests);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

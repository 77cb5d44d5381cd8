/* SPDX-License-Identifier: MIT */

/* Which of several drives is the one that was expected; none of them exists. */

#include <string.h>

#include "device/find.h"
#include "unit.h"
#include "util/macro.h"

static const DeviceInfo ssd = {
        .path = (char *) "/dev/sda", .name = (char *) "sda", .disk_name = (char *) "sda",
        .model = (char *) "MTFDDAK480", .serial = (char *) "1735A2B7", .wwn = (char *) "naa.500a07511735a2b7",
        .diskseq = 9, .size_bytes = 480103981056, .logical_block_bytes = 512,
};

static const DeviceInfo loop = {
        .path = (char *) "/dev/loop0", .name = (char *) "loop0", .disk_name = (char *) "loop0",
        .diskseq = 31, .size_bytes = 1 << 26, .logical_block_bytes = 512,
};

/* A bridge as it is sold: all of them tell the same. */
static const DeviceInfo bridge = {
        .path = (char *) "/dev/sdb", .name = (char *) "sdb", .disk_name = (char *) "sdb",
        .model = (char *) "USB3.0 Bridge", .serial = (char *) "0123456789ABCDEF",
        .wwn = (char *) "eui.0000000000000000", .diskseq = 10, .size_bytes = 480103981056, .logical_block_bytes = 512,
};

START_TEST(defaults_are_nobodys_own) {
        static const char *const none[] = {
                "", " ", "0", "00000000000000000000", "ffffffffffff", "0000-0000-0000", "---", "0123456789",
                "123456789012", "0123456789ABCDEF", "01234567890123456789", "eui.0000000000000000",
                "naa.0000000000000000", "0x0000000000000000", "uuid.00000000-0000-0000-0000-000000000000", "None",
                "UNKNOWN", "To Be Filled By O.E.M.", "default",
        };
        static const char *const own[] = {
                "1735A2B7", "S3Z8NB0K", "naa.500a07511735a2b7", "eui.002538b471b0c0f1", "12345", "01234567a",
                "DEADBEEF", "10000000", "WD-WCC4N0123456",
        };

        ck_assert(!identity_is_own(NULL));
        for (size_t i = 0; i < ELEMENTSOF(none); i++)
                ck_assert_msg(!identity_is_own(none[i]), "%s", none[i]);
        for (size_t i = 0; i < ELEMENTSOF(own); i++)
                ck_assert_msg(identity_is_own(own[i]), "%s", own[i]);
}
END_TEST

START_TEST(name_and_sequence_number_do_not_matter_to_a_serial_number) {
        DeviceInfo found = ssd;

        found.path = (char *) "/dev/sdz";
        found.diskseq = 77;
        found.firmware = (char *) "new";
        ck_assert_int_eq(device_likeness(&ssd, false, &found), LIKENESS_STRONG);
        ck_assert_int_eq(device_likeness(&ssd, true, &found), LIKENESS_STRONG);
        ck_assert_int_eq(device_likeness(&ssd, true, &ssd), LIKENESS_SAME);
        ck_assert_int_eq(device_likeness(&ssd, false, &ssd), LIKENESS_STRONG);
}
END_TEST

START_TEST(each_part_of_an_identity_counts) {
        DeviceInfo found[6];

        for (size_t i = 0; i < ELEMENTSOF(found); i++)
                found[i] = ssd;
        found[0].model = (char *) "other";
        found[1].serial = (char *) "1735A2B8";
        found[2].wwn = (char *) "naa.500a07511735a2b8";
        found[3].partition = 1;
        found[4].namespace_id = 2;
        found[5].serial = found[5].wwn = NULL;
        for (size_t i = 0; i < ELEMENTSOF(found); i++)
                ck_assert_msg(device_likeness(&ssd, false, &found[i]) == LIKENESS_NONE, "%zu", i);
}
END_TEST

START_TEST(what_only_one_side_tells_decides_nothing) {
        DeviceInfo found = ssd;

        found.wwn = NULL;
        ck_assert_int_eq(device_likeness(&ssd, false, &found), LIKENESS_STRONG);
        ck_assert_int_eq(device_likeness(&found, false, &ssd), LIKENESS_STRONG);
        found.model = NULL;
        ck_assert_int_eq(device_likeness(&ssd, false, &found), LIKENESS_STRONG);
}
END_TEST

START_TEST(another_size_is_a_change) {
        DeviceInfo smaller = ssd, sectors = ssd, other = bridge;

        smaller.size_bytes -= 4096;
        sectors.logical_block_bytes = 4096;
        other.size_bytes -= 4096;
        ck_assert_int_eq(device_likeness(&ssd, false, &smaller), LIKENESS_CHANGED);
        ck_assert_int_eq(device_likeness(&ssd, false, &sectors), LIKENESS_CHANGED);
        ck_assert_int_eq(device_likeness(&bridge, false, &other), LIKENESS_NONE); /* just another one */
        ck_assert_int_eq(device_likeness(&bridge, true, &other), LIKENESS_CHANGED);
}
END_TEST

START_TEST(device_without_identity_is_known_by_its_boot_only) {
        DeviceInfo again = loop;

        ck_assert_int_eq(device_likeness(&loop, true, &loop), LIKENESS_SAME);
        ck_assert_int_eq(device_likeness(&loop, false, &loop), LIKENESS_NONE);
        again.diskseq++;
        ck_assert_int_eq(device_likeness(&loop, true, &again), LIKENESS_NONE);

        /* Kernels without sequence numbers. */
        DeviceInfo old = loop;
        old.diskseq = 0;
        ck_assert_int_eq(device_likeness(&old, true, &old), LIKENESS_NONE);
}
END_TEST

START_TEST(default_serial_numbers_are_weak) {
        DeviceInfo found = bridge;

        found.diskseq++;
        ck_assert_int_eq(device_likeness(&bridge, true, &found), LIKENESS_WEAK);
        found.serial = NULL; /* then all of them must tell as much */
        ck_assert_int_eq(device_likeness(&bridge, true, &found), LIKENESS_NONE);
        found = bridge;
        found.wwn = (char *) "eui.002538b471b0c0f1";
        ck_assert_int_eq(device_likeness(&bridge, false, &found), LIKENESS_NONE);
        DeviceInfo expected = found;
        ck_assert_int_eq(device_likeness(&expected, false, &found), LIKENESS_STRONG); /* the WWN alone is its own */
}
END_TEST

/* The kernel makes a WWN of NVMe's serial number where the drive has none. */
START_TEST(composed_wwn_is_as_good_as_the_serial_number_in_it) {
        DeviceInfo drive = ssd;

        drive.serial = (char *) "00000000";
        drive.wwn = (char *) "nvme.1234-3030303030303030-4d-00000001";
        ck_assert_int_eq(device_likeness(&drive, false, &drive), LIKENESS_WEAK);
        drive.wwn = (char *) "naa.500a07511735a2b7";
        ck_assert_int_eq(device_likeness(&drive, false, &drive), LIKENESS_STRONG);
}
END_TEST

/* --- choosing --- */

static int choose(const DeviceInfo *expected, bool same_boot, DeviceInfo *const *candidates, size_t n,
                  size_t *ret_index, Error *error) {
        Likeness likeness;

        *ret_index = SIZE_MAX;
        return device_choose(expected, same_boot, candidates, n, ret_index, &likeness, error);
}

static void expect_error(const Error *error, ErrorKind kind, const char *part) {
        ck_assert_int_eq(error->kind, kind);
        ck_assert_msg(strstr(error_message(error), part) != NULL, "%s", error_message(error));
}

START_TEST(drive_is_found_among_others) {
        DeviceInfo moved = ssd, other = ssd, small = ssd;
        DeviceInfo *const candidates[] = { (DeviceInfo *) &loop, &other, &small, &moved, (DeviceInfo *) &bridge };
        size_t index;

        moved.path = (char *) "/dev/sdq";
        moved.diskseq = 50;
        other.serial = (char *) "1735A2B8";
        other.wwn = NULL;
        small.size_bytes = 512; /* a serial number that was given twice */
        ck_assert_int_eq(choose(&ssd, false, candidates, ELEMENTSOF(candidates), &index, NULL), 0);
        ck_assert_uint_eq(index, 3);
}
END_TEST

START_TEST(two_that_are_alike_are_refused) {
        DeviceInfo twin = ssd;
        DeviceInfo *const candidates[] = { (DeviceInfo *) &ssd, (DeviceInfo *) &loop, &twin };
        _cleanup_error_ Error error = ERROR_INIT;
        size_t index;

        twin.path = (char *) "/dev/sdt";
        twin.diskseq = 50;
        ck_assert_int_eq(choose(&ssd, false, candidates, 3, &index, &error), -ENOTUNIQ);
        expect_error(&error, ERROR_REFUSED, "/dev/sda and /dev/sdt cannot be told apart");
        ck_assert_uint_eq(index, SIZE_MAX);

        /* Unless this boot has seen which one it is. */
        ck_assert_int_eq(choose(&ssd, true, candidates, 3, &index, NULL), 0);
        ck_assert_uint_eq(index, 0);
}
END_TEST

START_TEST(weak_likeness_gives_way_to_a_strong_one) {
        DeviceInfo expected = ssd, weak = ssd, strong = ssd;
        DeviceInfo *const candidates[] = { &strong, &weak };
        size_t index;

        expected.wwn = (char *) "eui.0000000000000000";
        strong.wwn = NULL;
        weak.serial = expected.serial;
        weak.wwn = expected.wwn;
        weak.size_bytes++; /* the same serial number, but changed */
        ck_assert_int_eq(choose(&expected, false, candidates, 2, &index, NULL), 0);
        ck_assert_uint_eq(index, 0);
}
END_TEST

START_TEST(absent_drive_may_come_yet) {
        DeviceInfo *const candidates[] = { (DeviceInfo *) &loop, (DeviceInfo *) &bridge };
        _cleanup_error_ Error error = ERROR_INIT;
        size_t index;

        ck_assert_int_eq(choose(&ssd, false, candidates, 2, &index, &error), -ENODEV);
        expect_error(&error, ERROR_NOT_FOUND, "expected model MTFDDAK480, serial 1735A2B7, WWN naa.500a07511735a2b7, "
                     "480103981056 bytes in sectors of 512, last known as /dev/sda");
}
END_TEST

START_TEST(device_of_another_boot_never_comes) {
        DeviceInfo *const candidates[] = { (DeviceInfo *) &loop };
        _cleanup_error_ Error error = ERROR_INIT;
        size_t index;

        ck_assert_int_eq(choose(&loop, false, candidates, 1, &index, &error), -ENODEV);
        expect_error(&error, ERROR_REFUSED, "/dev/loop0 is gone: expected disk sequence number 31");
}
END_TEST

START_TEST(changed_drive_is_told_with_both_sizes) {
        DeviceInfo found = ssd;
        DeviceInfo *const candidates[] = { &found };
        _cleanup_error_ Error error = ERROR_INIT;
        size_t index;

        found.size_bytes = 240000000000;
        found.path = (char *) "/dev/sdc";
        ck_assert_int_eq(choose(&ssd, false, candidates, 1, &index, &error), -ESTALE);
        expect_error(&error, ERROR_REFUSED, "/dev/sdc has changed: expected");
        expect_error(&error, ERROR_REFUSED, "480103981056");
        expect_error(&error, ERROR_REFUSED, "240000000000");
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("find");
        TCase *tc = tcase_create("find");

        tcase_add_test(tc, defaults_are_nobodys_own);
        tcase_add_test(tc, name_and_sequence_number_do_not_matter_to_a_serial_number);
        tcase_add_test(tc, each_part_of_an_identity_counts);
        tcase_add_test(tc, what_only_one_side_tells_decides_nothing);
        tcase_add_test(tc, another_size_is_a_change);
        tcase_add_test(tc, device_without_identity_is_known_by_its_boot_only);
        tcase_add_test(tc, default_serial_numbers_are_weak);
        tcase_add_test(tc, composed_wwn_is_as_good_as_the_serial_number_in_it);
        tcase_add_test(tc, drive_is_found_among_others);
        tcase_add_test(tc, two_that_are_alike_are_refused);
        tcase_add_test(tc, weak_likeness_gives_way_to_a_strong_one);
        tcase_add_test(tc, absent_drive_may_come_yet);
        tcase_add_test(tc, device_of_another_boot_never_comes);
        tcase_add_test(tc, changed_drive_is_told_with_both_sizes);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

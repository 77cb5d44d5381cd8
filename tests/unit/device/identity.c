/* SPDX-License-Identifier: MIT */

/* What is read from sysfs, on trees laid out as the kernel lays them out for each kind of drive. */

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/identity.h"
#include "unit.h"

static char root[] = P_tmpdir "/plateau-sysfs-XXXXXX";
static int root_fd;

static void make_tree(void) {
        ck_assert_ptr_nonnull(mkdtemp(root));
        root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(root_fd, 0);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        return remove(path);
}

static void remove_tree(void) {
        close(root_fd);
        ck_assert_int_eq(nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
        memcpy(root + strlen(root) - 6, "XXXXXX", 6);
}

static void make_parents(const char *path) {
        char copy[512];

        snprintf(copy, sizeof(copy), "%s", path);
        for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                ck_assert(mkdirat(root_fd, copy, 0755) == 0 || errno == EEXIST);
                *slash = '/';
        }
}

static void put_bytes(const char *path, const void *data, size_t size) {
        make_parents(path);
        int fd = openat(root_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, data, size), (ssize_t) size);
        close(fd);
}

static void put(const char *dir, const char *attribute, const char *text) {
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", dir, attribute);
        put_bytes(path, text, strlen(text));
}

/* A link at dir/name to the absolute place `target` of the tree. */
static void put_link(const char *dir, const char *name, const char *target) {
        char path[512], to[600];

        snprintf(path, sizeof(path), "%s/%s", dir, name);
        snprintf(to, sizeof(to), "%s/%s", root, target);
        make_parents(path);
        ck_assert_int_eq(symlinkat(to, root_fd, path), 0);
}

static void put_disk(const char *dir, const char *number) {
        char link[64];

        put(dir, "size", "2097152\n");
        put(dir, "ro", "0\n");
        put(dir, "diskseq", "17\n");
        put(dir, "queue/logical_block_size", "512\n");
        put(dir, "queue/physical_block_size", "4096\n");
        put(dir, "queue/rotational", "0\n");
        put(dir, "queue/zoned", "none\n");
        put(dir, "queue/read_ahead_kb", "128\n");
        put(dir, "queue/nr_requests", "1023\n");
        put(dir, "queue/write_cache", "write back\n");
        put(dir, "queue/scheduler", "none [mq-deadline] kyber\n");
        snprintf(link, sizeof(link), "%s", number);
        put_link("dev/block", link, dir);
}

static void put_pci(const char *dir, const char *driver, const char *speed, const char *width) {
        char target[64];

        put_link(dir, "subsystem", "bus/pci");
        snprintf(target, sizeof(target), "bus/pci/drivers/%s", driver);
        put_link(dir, "driver", target);
        put(dir, "current_link_speed", speed);
        put(dir, "current_link_width", width);
}

static DeviceInfo *fill(uint32_t major, uint32_t minor) {
        DeviceInfo *info = calloc(1, sizeof(*info));

        ck_assert_ptr_nonnull(info);
        info->major = major;
        info->minor = minor;
        ck_assert_int_eq(device_info_fill(info, root_fd), 0);
        return info;
}

#define SLOT "devices/pci0000:00/0000:00:1d.0/0000:01:00.0"
#define NVME SLOT "/nvme/nvme0"

static void put_nvme(void) {
        put_pci(SLOT, "nvme", "8.0 GT/s PCIe\n", "4\n");
        put_link(NVME, "subsystem", "class/nvme");
        put(NVME, "model", "Samsung SSD 970 EVO Plus 1TB            \n");
        put(NVME, "serial", "S4EWNX0N123456      \n");
        put(NVME, "firmware_rev", "2B2QEXM7\n");
        put_disk(NVME "/nvme0n1", "259:0");
        put_link(NVME "/nvme0n1", "device", NVME);
        put(NVME "/nvme0n1", "wwid", "eui.0025385791b04175\n");
        put(NVME "/nvme0n1", "nsid", "1\n");
}

START_TEST(test_nvme) {
        put_nvme();
        put(NVME "/nvme0n1", "discard_alignment", "4096\n");
        _cleanup_device_info_ DeviceInfo *info = fill(259, 0);

        ck_assert_uint_eq(info->discard_alignment_bytes, 4096);
        ck_assert_str_eq(info->name, "nvme0n1");
        ck_assert_str_eq(info->disk_name, "nvme0n1");
        ck_assert_str_eq(info->model, "Samsung SSD 970 EVO Plus 1TB");
        ck_assert_str_eq(info->serial, "S4EWNX0N123456");
        ck_assert_str_eq(info->wwn, "eui.0025385791b04175");
        ck_assert_str_eq(info->firmware, "2B2QEXM7");
        ck_assert_str_eq(info->transport, "nvme");
        ck_assert_str_eq(info->link, "PCIe 8.0 GT/s x4");
        ck_assert_str_eq(info->host_driver, "nvme");
        ck_assert_uint_eq(info->namespace_id, 1);
        ck_assert_uint_eq(info->n_namespaces, 1);

        _cleanup_free_ char *confirmation = device_confirmation(info);
        ck_assert_str_eq(confirmation, "S4EWNX0N123456");
}
END_TEST

START_TEST(test_limits) {
        put_nvme();
        _cleanup_device_info_ DeviceInfo *info = fill(259, 0);

        ck_assert_uint_eq(info->size_bytes, UINT64_C(2097152) * 512);
        ck_assert_uint_eq(info->diskseq, 17);
        ck_assert_uint_eq(info->logical_block_bytes, 512);
        ck_assert_uint_eq(info->physical_block_bytes, 4096);
        ck_assert_uint_eq(info->read_ahead_kib, 128);
        ck_assert_uint_eq(info->nr_requests, 1023);
        ck_assert_str_eq(info->scheduler, "mq-deadline");
        ck_assert_str_eq(info->write_cache, "write back");
        ck_assert(!info->rotational && !info->read_only && !info->zoned);
}
END_TEST

START_TEST(test_limits_that_refuse) {
        put_nvme();
        put(NVME "/nvme0n1", "queue/zoned", "host-managed\n");
        put(NVME "/nvme0n1", "queue/rotational", "1\n");
        put(NVME "/nvme0n1", "ro", "1\n");
        put(NVME "/nvme0n1", "queue/scheduler", "none\n");
        _cleanup_device_info_ DeviceInfo *info = fill(259, 0);

        ck_assert(info->rotational && info->read_only && info->zoned);
        ck_assert_str_eq(info->scheduler, "none");
}
END_TEST

/* Without diskseq, WWN and the rest (older kernels): nothing is made up. */
START_TEST(test_missing_attributes) {
        put_nvme();
        unlinkat(root_fd, NVME "/nvme0n1/diskseq", 0);
        unlinkat(root_fd, NVME "/nvme0n1/wwid", 0);
        unlinkat(root_fd, NVME "/nvme0n1/queue/zoned", 0);
        unlinkat(root_fd, NVME "/nvme0n1/queue/physical_block_size", 0);
        put(NVME, "serial", "                    \n");
        _cleanup_device_info_ DeviceInfo *info = fill(259, 0);

        ck_assert_uint_eq(info->diskseq, 0);
        ck_assert_ptr_null(info->wwn);
        ck_assert_ptr_null(info->serial);
        ck_assert(!info->zoned);
        ck_assert_uint_eq(info->physical_block_bytes, 512);
        _cleanup_free_ char *confirmation = device_confirmation(info);
        ck_assert_str_eq(confirmation, "nvme0n1");
}
END_TEST

START_TEST(test_sizes_do_not_overflow) {
        put_nvme();
        put(NVME "/nvme0n1", "size", "36028797018963968\n"); /* 2^55 sectors are 2^64 bytes */
        DeviceInfo *info = calloc(1, sizeof(*info));
        info->major = 259;
        ck_assert_int_eq(device_info_fill(info, root_fd), -ERANGE);
        device_info_free(info);
}
END_TEST

/* A shared namespace lies below its subsystem; the controllers are links there, their paths to it hidden names. */
START_TEST(test_nvme_multipath) {
        const char *subsystem = "devices/virtual/nvme-subsystem/nvme-subsys0";

        put_pci(SLOT, "nvme", "16.0 GT/s PCIe\n", "2\n");
        put_link(NVME, "subsystem", "class/nvme");
        put(subsystem, "model", "KIOXIA CM7\n");
        put(subsystem, "serial", "X1\n");
        put(subsystem, "firmware_rev", "0104\n");
        put_link(subsystem, "subsystem", "class/nvme-subsystem");
        put_link(subsystem, "nvme0", NVME);
        put(subsystem, "nvme0c0n1/size", "1\n");
        put_disk("devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "259:1");
        put_disk("devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n2", "259:3");
        put_link("devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n2", "device", subsystem);
        put("devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n2", "nsid", "2\n");
        _cleanup_device_info_ DeviceInfo *info = fill(259, 3);

        ck_assert_str_eq(info->model, "KIOXIA CM7");
        ck_assert_str_eq(info->transport, "nvme");
        ck_assert_str_eq(info->link, "PCIe 16.0 GT/s x2");
        ck_assert_uint_eq(info->n_namespaces, 2);
        _cleanup_free_ char *confirmation = device_confirmation(info);
        ck_assert_str_eq(confirmation, "X1-n2");
}
END_TEST

#define AHCI "devices/pci0000:00/0000:00:17.0"
#define SATA AHCI "/ata3/host2/target2:0:0/2:0:0:0"

static void put_scsi(const char *dir, const char *disk, const char *number) {
        put_link(dir, "subsystem", "bus/scsi");
        put_link(dir, "driver", "bus/scsi/drivers/sd");
        put_disk(disk, number);
        put_link(disk, "device", dir);
}

static void put_ata_string(uint8_t *identify, unsigned word, unsigned n_words, const char *text) {
        for (unsigned i = 0; i < 2 * n_words; i++)
                identify[2 * word + (i ^ 1)] = i < strlen(text) ? (uint8_t) text[i] : ' ';
}

static void put_sata(void) {
        static const uint8_t serial_page[] = "\0\x80\0\x14" "      S3Z1NB0K123456";
        uint8_t page[572] = { 0, 0x89, 572 >> 8, (572 - 4) & 0xff };

        put_ata_string(page + 60, 10, 10, "S3Z1NB0K123456");
        put_ata_string(page + 60, 23, 4, "RVT04B6Q");
        put_ata_string(page + 60, 27, 20, "Samsung SSD 860 EVO 500GB");
        put_link(AHCI, "subsystem", "bus/pci");
        put_link(AHCI, "driver", "bus/pci/drivers/ahci");
        put(AHCI "/ata3/link3/ata_link/link3", "sata_spd", "6.0 Gbps\n");
        put_scsi(SATA, SATA "/block/sda", "8:0");
        put(SATA, "vendor", "ATA     \n");
        put(SATA, "model", "Samsung SSD 860 \n");
        put(SATA, "rev", "4B6Q\n");
        put(SATA, "wwid", "naa.5002538e40a1b2c3\n");
        put_bytes(SATA "/vpd_pg80", serial_page, sizeof(serial_page) - 1);
        put_bytes(SATA "/vpd_pg89", page, sizeof(page));
}

START_TEST(test_sata) {
        put_sata();
        _cleanup_device_info_ DeviceInfo *info = fill(8, 0);

        ck_assert_str_eq(info->model, "Samsung SSD 860 EVO 500GB");
        ck_assert_str_eq(info->serial, "S3Z1NB0K123456");
        ck_assert_str_eq(info->firmware, "RVT04B6Q");
        ck_assert_str_eq(info->wwn, "naa.5002538e40a1b2c3");
        ck_assert_str_eq(info->transport, "sata");
        ck_assert_str_eq(info->link, "6.0 Gbps");
        ck_assert_str_eq(info->host_driver, "ahci");
}
END_TEST

/* A page that is cut, or another one under that name, is not taken for what it is not. */
START_TEST(test_sata_without_pages) {
        uint8_t page[572] = { 0, 0x83, 2, 56 };

        put_sata();
        put_ata_string(page + 60, 27, 20, "Not this");
        put_bytes(SATA "/vpd_pg89", page, sizeof(page));
        put_bytes(SATA "/vpd_pg80", page, 3);
        _cleanup_device_info_ DeviceInfo *info = fill(8, 0);

        ck_assert_str_eq(info->model, "Samsung SSD 860");
        ck_assert_str_eq(info->firmware, "4B6Q");
        ck_assert_ptr_null(info->serial);
}
END_TEST

START_TEST(test_serial_page_claims_more_than_it_has) {
        put_sata();
        unlinkat(root_fd, SATA "/vpd_pg89", 0);
        put_bytes(SATA "/vpd_pg80", "\0\x80\xff\xff" "AB", 6);
        _cleanup_device_info_ DeviceInfo *info = fill(8, 0);
        ck_assert_str_eq(info->serial, "AB");
}
END_TEST

/* Bytes are kept as they are: whoever shows them escapes them. */
START_TEST(test_hostile_bytes_are_kept) {
        put_nvme();
        put(NVME, "serial", "a\033[2J\xff'%s\n");
        put(NVME, "model", " x\ny \n");
        _cleanup_device_info_ DeviceInfo *info = fill(259, 0);

        ck_assert_str_eq(info->serial, "a\033[2J\xff'%s");
        ck_assert_str_eq(info->model, "x\ny");
}
END_TEST

#define PARTITION SATA "/block/sda/sda2"

START_TEST(test_partition) {
        put_sata();
        put(PARTITION, "partition", "2\n");
        put(PARTITION, "size", "2048\n");
        put(PARTITION, "ro", "0\n");
        put_link("dev/block", "8:2", PARTITION);
        _cleanup_device_info_ DeviceInfo *info = fill(8, 2);

        ck_assert_str_eq(info->name, "sda2");
        ck_assert_str_eq(info->disk_name, "sda");
        ck_assert_uint_eq(info->partition, 2);
        ck_assert_uint_eq(info->size_bytes, 2048 * 512);
        ck_assert_uint_eq(info->diskseq, 17);
        ck_assert_str_eq(info->transport, "sata");
        _cleanup_free_ char *confirmation = device_confirmation(info);
        ck_assert_str_eq(confirmation, "S3Z1NB0K123456-part2");
}
END_TEST

START_TEST(test_partition_of_read_only_disk) {
        put_sata();
        put(PARTITION, "partition", "2\n");
        put(PARTITION, "size", "2048\n");
        put(PARTITION, "ro", "0\n");
        put(SATA "/block/sda", "ro", "1\n");
        put_link("dev/block", "8:2", PARTITION);
        _cleanup_device_info_ DeviceInfo *info = fill(8, 2);
        ck_assert(info->read_only);
}
END_TEST

#define HBA "devices/pci0000:00/0000:00:03.0/0000:02:00.0"
#define PORT HBA "/host0/port-0:0"
#define SAS PORT "/end_device-0:0/target0:0:0/0:0:0:0"

START_TEST(test_sas) {
        put_pci(HBA, "mpt3sas", "8.0 GT/s PCIe\n", "8\n");
        put(PORT "/phy-0:0/sas_phy/phy-0:0", "negotiated_linkrate", "12.0 Gbit\n");
        put_scsi(SAS, SAS "/block/sdb", "8:16");
        put(SAS, "vendor", "SEAGATE \n");
        put(SAS, "model", "ST600MM0006     \n");
        put(SAS, "rev", "LS0A\n");
        _cleanup_device_info_ DeviceInfo *info = fill(8, 16);

        ck_assert_str_eq(info->model, "SEAGATE ST600MM0006");
        ck_assert_str_eq(info->firmware, "LS0A");
        ck_assert_str_eq(info->transport, "sas");
        ck_assert_str_eq(info->link, "12.0 Gbit");
        ck_assert_str_eq(info->host_driver, "mpt3sas");
        ck_assert_ptr_null(info->serial);
}
END_TEST

/* A logical drive of a RAID card has no link of its own: the card's slot is what limits it. */
START_TEST(test_raid_card) {
        put_pci(HBA, "megaraid_sas", "8.0 GT/s PCIe\n", "8\n");
        put_scsi(HBA "/host0/target0:2:0/0:2:0:0", HBA "/host0/target0:2:0/0:2:0:0/block/sdc", "8:32");
        _cleanup_device_info_ DeviceInfo *info = fill(8, 32);

        ck_assert_str_eq(info->transport, "scsi");
        ck_assert_str_eq(info->link, "PCIe 8.0 GT/s x8");
        ck_assert_str_eq(info->host_driver, "megaraid_sas");
}
END_TEST

START_TEST(test_sata_link_unknown) {
        put_sata();
        put(AHCI "/ata3/link3/ata_link/link3", "sata_spd", "<unknown>\n");
        put(AHCI, "current_link_speed", "Unknown\n");
        put(AHCI, "current_link_width", "0\n");
        _cleanup_device_info_ DeviceInfo *info = fill(8, 0);
        ck_assert_ptr_null(info->link);
}
END_TEST

#define USB "devices/pci0000:00/0000:00:14.0/usb2/2-1"
#define USB_DISK USB "/2-1:1.0/host6/target6:0:0/6:0:0:0"

START_TEST(test_usb) {
        put_pci("devices/pci0000:00/0000:00:14.0", "xhci_hcd", "Unknown\n", "0\n");
        put_link(USB, "subsystem", "bus/usb");
        put_link(USB, "driver", "bus/usb/drivers/usb");
        put(USB, "speed", "5000\n");
        put_link(USB "/2-1:1.0", "subsystem", "bus/usb");
        put_link(USB "/2-1:1.0", "driver", "bus/usb/drivers/uas");
        put_scsi(USB_DISK, USB_DISK "/block/sdd", "8:48");
        put(USB_DISK, "vendor", "ASMT    \n");
        put(USB_DISK, "model", "2115            \n");
        _cleanup_device_info_ DeviceInfo *info = fill(8, 48);

        ck_assert_str_eq(info->model, "ASMT 2115");
        ck_assert_str_eq(info->transport, "usb");
        ck_assert_str_eq(info->link, "USB 5000 Mbps");
        ck_assert_str_eq(info->host_driver, "uas");
}
END_TEST

#define VIRTIO "devices/pci0000:00/0000:00:02.0/virtio1"

START_TEST(test_virtio) {
        put_pci("devices/pci0000:00/0000:00:02.0", "virtio-pci", "Unknown\n", "0\n");
        put_link(VIRTIO, "subsystem", "bus/virtio");
        put_link(VIRTIO, "driver", "bus/virtio/drivers/virtio_blk");
        put_disk(VIRTIO "/block/vda", "254:0");
        put_link(VIRTIO "/block/vda", "device", VIRTIO);
        put(VIRTIO "/block/vda", "serial", "disk-1");
        _cleanup_device_info_ DeviceInfo *info = fill(254, 0);

        ck_assert_str_eq(info->serial, "disk-1");
        ck_assert_ptr_null(info->model);
        ck_assert_str_eq(info->transport, "virtio");
        ck_assert_ptr_null(info->link);
        ck_assert_str_eq(info->host_driver, "virtio_blk");
}
END_TEST

#define CARD "devices/pci0000:00/0000:00:1a.0/mmc_host/mmc0/mmc0:0001"

START_TEST(test_mmc) {
        put_pci("devices/pci0000:00/0000:00:1a.0", "sdhci-pci", "Unknown\n", "0\n");
        put_link(CARD, "subsystem", "bus/mmc");
        put_link(CARD, "driver", "bus/mmc/drivers/mmcblk");
        put(CARD, "name", "DG4032\n");
        put(CARD, "serial", "0x1a2b3c4d\n");
        put(CARD, "fwrev", "0x4\n");
        put_disk(CARD "/block/mmcblk0", "179:0");
        put_link(CARD "/block/mmcblk0", "device", CARD);
        _cleanup_device_info_ DeviceInfo *info = fill(179, 0);

        ck_assert_str_eq(info->model, "DG4032");
        ck_assert_str_eq(info->serial, "0x1a2b3c4d");
        ck_assert_str_eq(info->firmware, "0x4");
        ck_assert_str_eq(info->transport, "mmc");
        ck_assert_str_eq(info->host_driver, "sdhci-pci");
}
END_TEST

START_TEST(test_virtual) {
        put_disk("devices/virtual/block/dm-0", "253:0");
        _cleanup_device_info_ DeviceInfo *info = fill(253, 0);

        ck_assert_str_eq(info->transport, "dm");
        ck_assert_ptr_null(info->serial);
        ck_assert_ptr_null(info->host_driver);
        _cleanup_free_ char *confirmation = device_confirmation(info);
        ck_assert_str_eq(confirmation, "dm-0");
}
END_TEST

START_TEST(test_no_such_device) {
        DeviceInfo *info = calloc(1, sizeof(*info));
        info->major = 8;
        ck_assert_int_eq(device_info_fill(info, root_fd), -ENODEV);
        device_info_free(info);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("identity");
        TCase *tests = tcase_create("trees");

        tcase_add_checked_fixture(tests, make_tree, remove_tree);
        tcase_add_test(tests, test_nvme);
        tcase_add_test(tests, test_limits);
        tcase_add_test(tests, test_limits_that_refuse);
        tcase_add_test(tests, test_missing_attributes);
        tcase_add_test(tests, test_sizes_do_not_overflow);
        tcase_add_test(tests, test_nvme_multipath);
        tcase_add_test(tests, test_sata);
        tcase_add_test(tests, test_sata_without_pages);
        tcase_add_test(tests, test_serial_page_claims_more_than_it_has);
        tcase_add_test(tests, test_hostile_bytes_are_kept);
        tcase_add_test(tests, test_partition);
        tcase_add_test(tests, test_partition_of_read_only_disk);
        tcase_add_test(tests, test_sas);
        tcase_add_test(tests, test_raid_card);
        tcase_add_test(tests, test_sata_link_unknown);
        tcase_add_test(tests, test_usb);
        tcase_add_test(tests, test_virtio);
        tcase_add_test(tests, test_mmc);
        tcase_add_test(tests, test_virtual);
        tcase_add_test(tests, test_no_such_device);
        suite_add_tcase(suite, tests);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

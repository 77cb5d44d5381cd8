/* SPDX-License-Identifier: MIT */

/*
 * Who the drive says it is. udev's database is no source, for udev may be absent, so this reads
 * what the kernel itself has asked the drive: NVMe's identify strings, SCSI's vital product data
 * pages, the attributes of virtio and MMC. For ATA drives behind libata or a SAS adapter the
 * SCSI model is cut to 16 characters; the whole of it stands in page 0x89 (SAT: ATA information), which
 * carries the drive's IDENTIFY DEVICE data.
 */

#include <string.h>

#include "device/identity.h"
#include "device/sysfs.h"
#include "util/macro.h"
#include "util/text.h"

#define VPD_HEADER_BYTES 4
#define VPD_BYTES_MAX 4096

/* SAT-4, 12.4.2: IDENTIFY DEVICE data from byte 60 of the page; ATA8-ACS, 7.16: its strings, in words of two bytes. */
#define ATA_IDENTIFY_OFFSET 60
#define ATA_SERIAL_WORD 10
#define ATA_SERIAL_WORDS 10
#define ATA_FIRMWARE_WORD 23
#define ATA_FIRMWARE_WORDS 4
#define ATA_MODEL_WORD 27
#define ATA_MODEL_WORDS 20
#define ATA_INFORMATION_BYTES 572

/* Replaces *field by an attribute if there is one; only running out of memory is an error. */
static int take_text(char **field, int dir_fd, const char *attribute) {
        _cleanup_free_ char *text = NULL;
        int r = sysfs_read_text(dir_fd, attribute, &text);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        free(*field);
        *field = TAKE_PTR(text);
        return 0;
}

/* Takes text, stripped, unless it is empty. */
static int take_string(char **field, const char *text) {
        _cleanup_free_ char *stripped = text_strip(text);

        if (!stripped)
                return -ENOMEM;
        if (stripped[0] == '\0')
                return 0;
        free(*field);
        *field = TAKE_PTR(stripped);
        return 0;
}

/* The bytes of vital product data page `page`, its header checked; how many, 0 if it is not there or not sane. */
static size_t read_vpd(int device_fd, const char *attribute, uint8_t page, uint8_t buf[static VPD_BYTES_MAX]) {
        ssize_t n = sysfs_read(device_fd, attribute, buf, VPD_BYTES_MAX);

        if (n < VPD_HEADER_BYTES || buf[1] != page)
                return 0;
        size_t length = VPD_HEADER_BYTES + ((size_t) buf[2] << 8 | buf[3]);
        return MIN(length, (size_t) n);
}

static int take_unit_serial(DeviceInfo *info, int device_fd) {
        uint8_t page[VPD_BYTES_MAX + 1];
        size_t n = read_vpd(device_fd, "vpd_pg80", 0x80, page);

        if (n == 0)
                return 0;
        page[n] = '\0';
        return take_string(&info->serial, (const char *) page + VPD_HEADER_BYTES);
}

/* ATA strings have the two bytes of each word swapped. */
static int take_ata_string(char **field, const uint8_t *identify, unsigned word, unsigned n_words) {
        char text[2 * ATA_MODEL_WORDS + 1];

        for (unsigned i = 0; i < n_words; i++) {
                text[2 * i] = (char) identify[2 * (word + i) + 1];
                text[2 * i + 1] = (char) identify[2 * (word + i)];
        }
        text[2 * n_words] = '\0';
        return take_string(field, text);
}

static int take_ata_information(DeviceInfo *info, int device_fd) {
        uint8_t page[VPD_BYTES_MAX];

        if (read_vpd(device_fd, "vpd_pg89", 0x89, page) < ATA_INFORMATION_BYTES)
                return 0;

        const uint8_t *identify = page + ATA_IDENTIFY_OFFSET;
        int r = take_ata_string(&info->model, identify, ATA_MODEL_WORD, ATA_MODEL_WORDS);
        if (r < 0)
                return r;
        r = take_ata_string(&info->firmware, identify, ATA_FIRMWARE_WORD, ATA_FIRMWARE_WORDS);
        if (r < 0)
                return r;
        return info->serial ? 0 : take_ata_string(&info->serial, identify, ATA_SERIAL_WORD, ATA_SERIAL_WORDS);
}

/* "VENDOR MODEL"; where libata or a SAS adapter puts "ATA" for the vendor, the model alone. */
static int take_scsi_model(DeviceInfo *info, int device_fd) {
        _cleanup_free_ char *vendor = NULL, *model = NULL;
        int r = take_text(&vendor, device_fd, "vendor");

        if (r < 0)
                return r;
        r = take_text(&model, device_fd, "model");
        if (r < 0)
                return r;
        if (!vendor || strcmp(vendor, "ATA") == 0) {
                info->model = TAKE_PTR(model);
                return 0;
        }
        if (asprintf(&info->model, "%s%s%s", vendor, model ? " " : "", model ?: "") < 0) {
                info->model = NULL;
                return -ENOMEM;
        }
        return 0;
}

static int fill_scsi(DeviceInfo *info, int disk_fd, int device_fd) {
        int r = take_scsi_model(info, device_fd);

        if (r < 0)
                return r;
        r = take_text(&info->firmware, device_fd, "rev");
        if (r < 0)
                return r;
        r = take_text(&info->wwn, device_fd, "wwid");
        if (r < 0)
                return r;
        r = take_unit_serial(info, device_fd);
        if (r < 0)
                return r;
        return take_ata_information(info, device_fd);
}

/* nvme0n1; not nvme0c0n1, the hidden name of one path to it. */
static int count_namespace(int dir_fd, const char *name, void *userdata) {
        uint32_t *n = userdata;
        unsigned controller, namespace;
        int used = 0;

        if (sscanf(name, "nvme%un%u%n", &controller, &namespace, &used) == 2 && name[used] == '\0')
                (*n)++;
        return 0;
}

static int fill_nvme(DeviceInfo *info, int disk_fd, int device_fd) {
        int r = take_text(&info->model, device_fd, "model");

        if (r < 0)
                return r;
        r = take_text(&info->serial, device_fd, "serial");
        if (r < 0)
                return r;
        r = take_text(&info->firmware, device_fd, "firmware_rev");
        if (r < 0)
                return r;
        r = take_text(&info->wwn, disk_fd, "wwid");
        if (r < 0)
                return r;
        (void) sysfs_read_u32(disk_fd, "nsid", &info->namespace_id);
        (void) sysfs_foreach(device_fd, ".", count_namespace, &info->n_namespaces);
        return 0;
}

static int fill_virtio(DeviceInfo *info, int disk_fd, int device_fd) {
        return take_text(&info->serial, disk_fd, "serial");
}

static int fill_mmc(DeviceInfo *info, int disk_fd, int device_fd) {
        int r = take_text(&info->model, device_fd, "name");

        if (r < 0)
                return r;
        r = take_text(&info->serial, device_fd, "serial");
        if (r < 0)
                return r;
        return take_text(&info->firmware, device_fd, "fwrev");
}

static const struct {
        const char *subsystem; /* of the directory that the disk's "device" link leads to */
        int (*fill)(DeviceInfo *info, int disk_fd, int device_fd);
} sources[] = {
        { "scsi",           fill_scsi   },
        { "nvme",           fill_nvme   },
        { "nvme-subsystem", fill_nvme   }, /* a namespace that several controllers share */
        { "virtio",         fill_virtio },
        { "mmc",            fill_mmc    },
};

int identity_fill(DeviceInfo *info, int disk_fd) {
        _cleanup_close_ int device_fd = sysfs_open(disk_fd, "device");
        _cleanup_free_ char *subsystem = NULL;

        if (device_fd < 0)
                return 0; /* a device of the kernel's own making: loop, zram, dm */

        int r = sysfs_read_link(device_fd, "subsystem", &subsystem);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        for (size_t i = 0; i < ELEMENTSOF(sources); i++)
                if (strcmp(subsystem, sources[i].subsystem) == 0)
                        return sources[i].fill(info, disk_fd, device_fd);
        return 0;
}

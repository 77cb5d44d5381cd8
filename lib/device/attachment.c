/* SPDX-License-Identifier: MIT */

/*
 * How the drive is attached: a walk from the disk's device up towards the root of the
 * device tree. The nearest level that names a bus gives the transport, the nearest driver that is
 * not the disk layer's own is the host driver, and the link is the bus's negotiated rate, else
 * that of the PCI slot the controller sits in. A SATA drive behind a SAS adapter is "sas", as lsblk says.
 */

#include <string.h>

#include "device/identity.h"
#include "device/sysfs.h"
#include "util/macro.h"

/* Deeper than any device tree; a bound against a tree that does not end. */
#define LEVELS_MAX 48

typedef struct Bus {
        const char *subsystem; /* of the level; NULL: told by its name */
        const char *prefix;    /* of the level's name, followed by a digit */
        const char *transport;
        int (*read_link)(int level_fd, char **ret);
} Bus;

static bool rate_is_known(const char *rate) {
        return strncasecmp(rate, "unknown", strlen("unknown")) != 0 && rate[0] != '<'; /* "<unknown>" of libata */
}

static int take_rate(int dir_fd, const char *path, char **ret) {
        _cleanup_free_ char *rate = NULL;
        int r = sysfs_read_text(dir_fd, path, &rate);

        if (r < 0)
                return r;
        if (!rate_is_known(rate))
                return -ENODATA;
        *ret = TAKE_PTR(rate);
        return 0;
}

typedef struct RateSearch {
        const char *prefix; /* of the entries' names */
        const char *class;  /* the attribute is at ENTRY/class/ENTRY/attribute */
        const char *attribute;
        char **ret;
} RateSearch;

static int read_rate_entry(int dir_fd, const char *name, void *userdata) {
        const RateSearch *search = userdata;
        _cleanup_free_ char *path = NULL;

        if (!sysfs_is_numbered(name, search->prefix))
                return 0;
        if (asprintf(&path, "%s/%s/%s/%s", name, search->class, name, search->attribute) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        int r = take_rate(dir_fd, path, search->ret);
        if (r == -ENOMEM)
                return r;
        return r < 0 ? 0 : 1;
}

/* ata1/link1/ata_link/link1/sata_spd */
static int read_ata_link(int level_fd, char **ret) {
        RateSearch search = { "link", "ata_link", "sata_spd", ret };

        return sysfs_foreach(level_fd, ".", read_rate_entry, &search);
}

/* port-0:0/phy-0:0/sas_phy/phy-0:0/negotiated_linkrate, the end device being port-0:0/end_device-0:0. */
static int read_sas_link(int level_fd, char **ret) {
        RateSearch search = { "phy-", "sas_phy", "negotiated_linkrate", ret };

        return sysfs_foreach(level_fd, "..", read_rate_entry, &search);
}

/* The interface has none, the device above it has: megabits a second. */
static int read_usb_link(int level_fd, char **ret) {
        _cleanup_free_ char *speed = NULL;
        char *link;
        int r = take_rate(level_fd, "speed", &speed);

        if (r < 0)
                return r;
        if (asprintf(&link, "USB %s Mbps", speed) < 0)
                return -ENOMEM;
        *ret = link;
        return 0;
}

/* "8.0 GT/s PCIe" and "4", from 5.x kernels on; older ones said "8 GT/s". */
static int read_pci_link(int level_fd, char **ret) {
        _cleanup_free_ char *speed = NULL, *width = NULL;
        char *link;
        int r = take_rate(level_fd, "current_link_speed", &speed);

        if (r < 0)
                return r;
        r = take_rate(level_fd, "current_link_width", &width);
        if (r < 0)
                return r;
        if (strcmp(width, "0") == 0 || strcmp(width, "255") == 0)
                return -ENODATA; /* chip-set functions that sit on no link */

        char *suffix = strstr(speed, " PCIe");
        if (suffix)
                *suffix = '\0';
        if (asprintf(&link, "PCIe %s x%s", speed, width) < 0)
                return -ENOMEM;
        *ret = link;
        return 0;
}

static const Bus buses[] = {
        { .prefix = "end_device-",  .transport = "sas",    .read_link = read_sas_link },
        { .prefix = "ata",          .transport = "sata",   .read_link = read_ata_link },
        { .prefix = "rport-",       .transport = "fc"                                 },
        { .prefix = "session",      .transport = "iscsi"                              },
        { .subsystem = "usb",       .transport = "usb",    .read_link = read_usb_link },
        { .subsystem = "virtio",    .transport = "virtio"                             },
        { .subsystem = "mmc",       .transport = "mmc"                                },
        { .subsystem = "nvme",      .transport = "nvme"                               },
};

static const Bus *bus_find(const char *name, const char *subsystem) {
        for (size_t i = 0; i < ELEMENTSOF(buses); i++) {
                const Bus *bus = buses + i;
                if (bus->subsystem ? strcmp(subsystem, bus->subsystem) == 0 : sysfs_is_numbered(name, bus->prefix))
                        return bus;
        }
        return NULL;
}

/* Drivers of the disk itself, above which the controller's is looked for. */
static bool driver_is_host(const char *subsystem) {
        return strcmp(subsystem, "scsi") != 0 && strcmp(subsystem, "mmc") != 0;
}

/* What is not there is no error; memory that is not there is. */
static int tolerate(int r) {
        return r == -ENOMEM ? r : 0;
}

static int take_level(DeviceInfo *info, int level_fd, const char *name, const char *subsystem) {
        const Bus *bus = bus_find(name, subsystem);
        int r;

        if (bus && !info->transport) {
                info->transport = strdup(bus->transport);
                if (!info->transport)
                        return -ENOMEM;
        }
        if (bus && bus->read_link && !info->link && strcmp(info->transport, bus->transport) == 0) {
                r = tolerate(bus->read_link(level_fd, &info->link));
                if (r < 0)
                        return r;
        }
        if (!info->host_driver && driver_is_host(subsystem)) {
                r = tolerate(sysfs_read_link(level_fd, "driver", &info->host_driver));
                if (r < 0)
                        return r;
        }
        if (!info->link && strcmp(subsystem, "pci") == 0)
                return tolerate(read_pci_link(level_fd, &info->link));
        return 0;
}

/* Goes on above the first PCI device only while that gave no driver: what is beyond it are bridges. */
static int walk_up(DeviceInfo *info, int device_fd) {
        _cleanup_close_ int fd = sysfs_open(device_fd, ".");

        for (unsigned level = 0; fd >= 0 && level < LEVELS_MAX; level++) {
                _cleanup_free_ char *name = NULL, *subsystem = NULL;
                int r = sysfs_name(fd, &name);
                if (r < 0)
                        return tolerate(r);
                if (strcmp(name, "devices") == 0)
                        return 0;
                r = tolerate(sysfs_read_link(fd, "subsystem", &subsystem));
                if (r < 0)
                        return r;
                r = take_level(info, fd, name, subsystem ?: "");
                if (r < 0)
                        return r;
                if (subsystem && strcmp(subsystem, "pci") == 0 && info->host_driver)
                        return 0;

                int parent = sysfs_open(fd, "..");
                fd_close(fd);
                fd = parent;
        }
        return 0;
}

/* Of a namespace that several controllers share, the first controller speaks for all. */
static int find_controller(int dir_fd, const char *name, void *userdata) {
        int *fd = userdata;

        if (!sysfs_is_numbered(name, "nvme") || strpbrk(name + strlen("nvme"), "nc"))
                return 0;
        *fd = sysfs_open(dir_fd, name);
        return *fd >= 0;
}

/* "loop3" is a "loop", "dm-0" a "dm": what no bus carries is named for its driver. */
static int name_virtual(DeviceInfo *info) {
        size_t n = strcspn(info->disk_name, "0123456789-");

        info->transport = strndup(info->disk_name, n);
        return info->transport ? 0 : -ENOMEM;
}

int attachment_fill(DeviceInfo *info, int disk_fd) {
        _cleanup_close_ int device_fd = sysfs_open(disk_fd, "device");
        _cleanup_close_ int controller_fd = -EBADF;
        _cleanup_free_ char *subsystem = NULL;
        int r;

        if (device_fd < 0)
                return name_virtual(info);

        r = tolerate(sysfs_read_link(device_fd, "subsystem", &subsystem));
        if (r < 0)
                return r;
        if (subsystem && strcmp(subsystem, "nvme-subsystem") == 0)
                (void) sysfs_foreach(device_fd, ".", find_controller, &controller_fd);

        r = walk_up(info, controller_fd >= 0 ? controller_fd : device_fd);
        if (r < 0 || info->transport)
                return r;
        info->transport = strdup(subsystem ?: "unknown");
        return info->transport ? 0 : -ENOMEM;
}

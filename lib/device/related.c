/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "device/related.h"
#include "device/sysfs.h"

static int related_add(Related *related, dev_t number, const char *name, const char *kind) {
        RelatedDevice *items = reallocarray(related->items, related->n + 1, sizeof(*items));
        _cleanup_free_ char *copy = NULL, *subject = NULL;

        if (!items)
                return -ENOMEM;
        related->items = items;
        copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        if (kind ? asprintf(&subject, "%s %s is ", kind, name) < 0 : !(subject = strdup("")))
                return -ENOMEM;
        items[related->n++] = (RelatedDevice) {
                .number = number,
                .name = TAKE_PTR(copy),
                .subject = TAKE_PTR(subject),
        };
        return 0;
}

/* The "dev" attribute: "8:16". */
static int read_number(int dir_fd, dev_t *ret) {
        _cleanup_free_ char *text = NULL;
        unsigned major, minor;
        int r = sysfs_read_text(dir_fd, "dev", &text);

        if (r < 0)
                return r;
        if (sscanf(text, "%u:%u", &major, &minor) != 2)
                return -EINVAL;
        *ret = makedev(major, minor);
        return 0;
}

DeviceNumbers device_numbers_read(dev_t device) {
        DeviceNumbers numbers = { .device = device, .disk = device };
        RelatedDevice self = { .number = device };
        _cleanup_close_ int fd = device != 0 ? related_open(&self) : -EBADF;
        uint64_t partition;

        if (fd < 0 || sysfs_read_u64(fd, "partition", &partition) < 0)
                return numbers;
        _cleanup_close_ int disk_fd = sysfs_open(fd, "..");
        if (disk_fd >= 0)
                (void) read_number(disk_fd, &numbers.disk);
        return numbers;
}

bool device_numbers_overlap(const DeviceNumbers *a, const DeviceNumbers *b) {
        if (a->device == 0 || b->device == 0 || a->disk != b->disk)
                return false;
        return a->device == b->device || a->device == a->disk || b->device == b->disk;
}

static int add_partition(int dir_fd, const char *name, void *userdata) {
        _cleanup_close_ int fd = sysfs_open(dir_fd, name);
        uint64_t number;
        dev_t device;

        if (fd < 0 || sysfs_read_u64(fd, "partition", &number) < 0 || read_number(fd, &device) < 0)
                return 0;
        return related_add(userdata, device, name, "partition");
}

static int add_relatives(Related *related, const DeviceInfo *info) {
        dev_t disk;
        int r = related_add(related, makedev(info->major, info->minor), info->name, NULL);

        if (r < 0)
                return r;

        _cleanup_close_ int fd = related_open(related->items);
        if (fd < 0)
                return fd;
        if (info->partition == 0)
                return sysfs_foreach(fd, ".", add_partition, related);

        _cleanup_close_ int disk_fd = sysfs_open(fd, "..");
        if (disk_fd < 0)
                return disk_fd;
        r = read_number(disk_fd, &disk);
        return r < 0 ? r : related_add(related, disk, info->disk_name, "its disk");
}

int related_read(Related *ret, const DeviceInfo *info) {
        _cleanup_related_ Related related = {};
        int r = add_relatives(&related, info);

        if (r < 0)
                return r;
        *ret = related;
        related = (Related) {};
        return 0;
}

void related_clear(Related *related) {
        for (size_t i = 0; i < related->n; i++) {
                free(related->items[i].name);
                free(related->items[i].subject);
        }
        free(related->items);
        *related = (Related) {};
}

char *device_node_path(const char *name) {
        char *path;

        if (asprintf(&path, "/dev/%s", name) < 0)
                return NULL;
        for (char *c = path; *c; c++)
                if (*c == '!')
                        *c = '/';
        return path;
}

const RelatedDevice *related_find(const Related *related, dev_t number) {
        for (size_t i = 0; i < related->n; i++)
                if (related->items[i].number == number)
                        return related->items + i;
        return NULL;
}

/* AT_STATX_DONT_SYNC: what a network file system that does not answer has cached will do. */
const RelatedDevice *related_find_path(const Related *related, const char *path) {
        struct statx st;

        if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0 || !S_ISBLK(st.stx_mode))
                return NULL;
        return related_find(related, makedev(st.stx_rdev_major, st.stx_rdev_minor));
}

int related_open(const RelatedDevice *device) {
        char path[64];

        snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(device->number), minor(device->number));
        return sysfs_open(AT_FDCWD, path);
}

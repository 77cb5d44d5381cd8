/* SPDX-License-Identifier: MIT */

/*
 * The path decides what is meant, once: it is resolved with O_PATH, which opens no device, and
 * from there on the device number is what counts. The node that is used is the kernel's own /dev/NAME where
 * that has the number, because file locks belong to a node and everybody else locks that one.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "device/identity.h"
#include "device/sysfs.h"
#include "util/macro.h"
#include "util/text.h"

/* sysfs counts in these, whatever the device's blocks are. */
#define SYSFS_SECTOR_BYTES 512

DeviceInfo *device_info_free(DeviceInfo *info) {
        if (!info)
                return NULL;
        free(info->path);
        free(info->name);
        free(info->disk_name);
        free(info->model);
        free(info->serial);
        free(info->wwn);
        free(info->firmware);
        free(info->transport);
        free(info->link);
        free(info->host_driver);
        free(info->scheduler);
        free(info->write_cache);
        free(info);
        return NULL;
}

static const char *file_kind(mode_t mode) {
        switch (mode & S_IFMT) {
        case S_IFREG:
                return "a regular file";
        case S_IFDIR:
                return "a directory";
        case S_IFCHR:
                return "a character device";
        case S_IFIFO:
                return "a pipe";
        case S_IFSOCK:
                return "a socket";
        default:
                return "no block device";
        }
}

static int refuse_missing(const char *path, int errnum, Error *error) {
        char target[PATH_MAX];
        ssize_t n = readlink(path, target, sizeof(target) - 1);

        if (errnum != ENOENT && errnum != ENOTDIR && errnum != ELOOP)
                return error_set(error, errnum == EACCES ? ERROR_NOT_PERMITTED : ERROR_FAILED, errnum,
                                 "%s cannot be looked at: %s", path, strerror(errnum));
        if (n < 0)
                return error_set(error, ERROR_NOT_FOUND, ENOENT,
                                 "there is no device %s; plateau devices lists those there are", path);
        target[n] = '\0';
        return error_set(error, ERROR_REFUSED, ENOENT,
                         "%s is a symbolic link that leads nowhere (to %s); name the device itself", path, target);
}

/* What path leads to, without opening a device or making anything. */
static int resolve(const char *path, struct stat *ret_stat, char **ret_path, Error *error) {
        _cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
        char link[sizeof("/proc/self/fd/") + 10], target[PATH_MAX];
        struct stat st;

        if (fd < 0)
                return refuse_missing(path, errno, error);
        if (fstat(fd, &st) < 0)
                return error_set(error, ERROR_FAILED, errno, "%s cannot be looked at: %s", path, strerror(errno));
        if (!S_ISBLK(st.st_mode))
                return error_set(error, ERROR_REFUSED, ENOTBLK,
                                 "%s is %s, not a block device; plateau writes to whole disks and partitions only",
                                 path, file_kind(st.st_mode));

        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, target, sizeof(target) - 1);
        if (n < 0)
                return error_set(error, ERROR_FAILED, errno, "%s cannot be resolved: %s", path, strerror(errno));
        target[n] = '\0';

        char *resolved = strdup(target);
        if (!resolved)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        *ret_path = resolved;
        *ret_stat = st;
        return 0;
}

/* The kernel's name for the node, "cciss/c0d0" for cciss!c0d0; from DEVNAME= of uevent. */
static int read_node_name(int dir_fd, char **ret) {
        _cleanup_free_ char *uevent = NULL;
        int r = sysfs_read_text(dir_fd, "uevent", &uevent);

        if (r < 0)
                return r;
        for (char *line = uevent, *next; line; line = next) {
                next = strchr(line, '\n');
                if (next)
                        *next++ = '\0';
                if (strncmp(line, "DEVNAME=", strlen("DEVNAME=")) != 0)
                        continue;
                char *name = strdup(line + strlen("DEVNAME="));
                if (!name)
                        return -ENOMEM;
                *ret = name;
                return 0;
        }
        return -ENODATA;
}

/* Puts /dev/NAME in place of info->path if it is the same device. */
static int prefer_kernel_node(DeviceInfo *info, int dir_fd) {
        _cleanup_free_ char *name = NULL, *path = NULL;
        struct stat st;
        int r = read_node_name(dir_fd, &name);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (asprintf(&path, "/dev/%s", name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (stat(path, &st) < 0 || !S_ISBLK(st.st_mode) || st.st_rdev != makedev(info->major, info->minor))
                return 0;
        free(info->path);
        info->path = TAKE_PTR(path);
        return 0;
}

/* "none [mq-deadline] kyber": the one in brackets; with a single choice it stands alone. */
static int read_scheduler(DeviceInfo *info, int queue_fd) {
        _cleanup_free_ char *text = NULL;
        int r = sysfs_read_text(queue_fd, "scheduler", &text);

        if (r < 0)
                return r == -ENOMEM ? r : 0;

        const char *open = strchr(text, '[');
        const char *close = open ? strchr(open, ']') : NULL;
        info->scheduler = close ? strndup(open + 1, (size_t) (close - open - 1)) : strdup(text);
        return info->scheduler ? 0 : -ENOMEM;
}

static int fill_queue(DeviceInfo *info, int disk_fd) {
        _cleanup_close_ int queue_fd = sysfs_open(disk_fd, "queue");
        _cleanup_free_ char *zoned = NULL;
        uint64_t rotational = 0;
        int r;

        if (queue_fd < 0)
                return queue_fd;
        r = sysfs_read_u32(queue_fd, "logical_block_size", &info->logical_block_bytes);
        if (r < 0)
                return r;
        if (sysfs_read_u32(queue_fd, "physical_block_size", &info->physical_block_bytes) < 0)
                info->physical_block_bytes = info->logical_block_bytes;
        (void) sysfs_read_u64(queue_fd, "rotational", &rotational);
        info->rotational = rotational != 0;
        (void) sysfs_read_u32(queue_fd, "read_ahead_kb", &info->read_ahead_kib);
        (void) sysfs_read_u32(queue_fd, "nr_requests", &info->nr_requests);
        (void) sysfs_read_u64(queue_fd, "discard_max_bytes", &info->discard_max_bytes);
        (void) sysfs_read_u32(queue_fd, "discard_granularity", &info->discard_granularity_bytes);

        r = sysfs_read_text(queue_fd, "zoned", &zoned);
        if (r == -ENOMEM)
                return r;
        info->zoned = zoned && strcmp(zoned, "none") != 0;

        r = sysfs_read_text(queue_fd, "write_cache", &info->write_cache);
        if (r == -ENOMEM)
                return r;
        return read_scheduler(info, queue_fd);
}

static int fill_size(DeviceInfo *info, int dir_fd, int disk_fd) {
        uint64_t sectors, ro = 0, disk_ro = 0;
        int r = sysfs_read_u64(dir_fd, "size", &sectors);

        if (r < 0)
                return r;
        if (__builtin_mul_overflow(sectors, SYSFS_SECTOR_BYTES, &info->size_bytes))
                return -ERANGE;
        (void) sysfs_read_u32(dir_fd, "discard_alignment", &info->discard_alignment_bytes);
        (void) sysfs_read_u64(dir_fd, "ro", &ro);
        (void) sysfs_read_u64(disk_fd, "ro", &disk_ro);
        info->read_only = ro != 0 || disk_ro != 0;
        (void) sysfs_read_u64(disk_fd, "diskseq", &info->diskseq);
        return 0;
}

static int fill_disk(DeviceInfo *info, int disk_fd) {
        int r = sysfs_name(disk_fd, &info->disk_name);

        if (r < 0)
                return r;
        r = fill_queue(info, disk_fd);
        if (r < 0)
                return r;
        r = identity_fill(info, disk_fd);
        if (r < 0)
                return r;
        return attachment_fill(info, disk_fd);
}

int device_info_fill(DeviceInfo *info, int sysfs_fd) {
        char path[64];

        snprintf(path, sizeof(path), "dev/block/%" PRIu32 ":%" PRIu32, info->major, info->minor);
        _cleanup_close_ int dir_fd = sysfs_open(sysfs_fd, path);
        if (dir_fd < 0)
                return -ENODEV;

        int r = sysfs_name(dir_fd, &info->name);
        if (r < 0)
                return r;
        (void) sysfs_read_u32(dir_fd, "partition", &info->partition);

        /* A partition's directory lies in its disk's. */
        _cleanup_close_ int disk_fd = sysfs_open(dir_fd, info->partition > 0 ? ".." : ".");
        if (disk_fd < 0)
                return disk_fd;
        r = fill_disk(info, disk_fd);
        if (r < 0)
                return r;
        r = fill_size(info, dir_fd, disk_fd);
        if (r < 0)
                return r;
        return prefer_kernel_node(info, dir_fd);
}

int device_info_read(DeviceInfo **ret, const char *path, Error *error) {
        _cleanup_device_info_ DeviceInfo *info = calloc(1, sizeof(*info));
        struct stat st;

        if (!info)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        int r = resolve(path, &st, &info->path, error);
        if (r < 0)
                return r;
        info->major = major(st.st_rdev);
        info->minor = minor(st.st_rdev);

        _cleanup_close_ int sysfs_fd = sysfs_open(AT_FDCWD, "/sys");
        r = sysfs_fd < 0 ? sysfs_fd : device_info_fill(info, sysfs_fd);
        if (r == -ENODEV)
                return error_set(error, ERROR_NOT_FOUND, ENODEV,
                                 "%s is a node without a device: the kernel knows none with number "
                                 "%" PRIu32 ":%" PRIu32, path, info->major, info->minor);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "%s cannot be read from sysfs: %s", path, strerror(-r));
        *ret = TAKE_PTR(info);
        return 0;
}

PlanTarget device_plan_target(const DeviceInfo *info) {
        return (PlanTarget){
                .size_bytes = info->size_bytes,
                .logical_block_bytes = info->logical_block_bytes,
                .can_discard = info->discard_max_bytes > 0,
        };
}

void strv_free(char **strings) {
        for (char **s = strings; s && *s; s++)
                free(*s);
        free(strings);
}

typedef struct DeviceNames {
        char **items; /* NULL-terminated once there is one */
        size_t n;
} DeviceNames;

static void names_clear(DeviceNames *names) {
        strv_free(names->items);
}

static int names_add(DeviceNames *names, int dir_fd) {
        _cleanup_free_ char *node = NULL;
        char *path;
        int r = read_node_name(dir_fd, &node);

        if (r < 0)
                return r == -ENOMEM ? r : 0; /* it went away meanwhile */
        char **items = reallocarray(names->items, names->n + 2, sizeof(*items));
        if (!items)
                return -ENOMEM;
        names->items = items;
        if (asprintf(&path, "/dev/%s", node) < 0)
                return -ENOMEM;
        items[names->n++] = path;
        items[names->n] = NULL;
        return 0;
}

static int list_partition(int dir_fd, const char *name, void *userdata) {
        _cleanup_close_ int fd = sysfs_open(dir_fd, name);
        uint64_t number;

        if (fd < 0 || sysfs_read_u64(fd, "partition", &number) < 0)
                return 0;
        return names_add(userdata, fd);
}

static int list_disk(int dir_fd, const char *name, void *userdata) {
        _cleanup_close_ int fd = sysfs_open(dir_fd, name);
        uint64_t size = 0, hidden = 0;

        if (fd < 0)
                return 0;
        (void) sysfs_read_u64(fd, "size", &size);
        (void) sysfs_read_u64(fd, "hidden", &hidden); /* one path of a multipath namespace: has no node */
        if (size == 0 || hidden != 0)
                return 0;
        int r = names_add(userdata, fd);
        if (r < 0)
                return r;
        r = sysfs_foreach(fd, ".", list_partition, userdata);
        return r == -ENOMEM ? r : 0;
}

/* Natural order for names that differ in one number or in a suffix of letters: sda, sdb, sdaa; loop2, loop10. */
static int compare_names(const void *a, const void *b) {
        const char *x = *(char *const *) a, *y = *(char *const *) b;
        size_t m = strcspn(x, "0123456789"), n = strcspn(y, "0123456789");

        /* sdaa is after sdz, but only within one family: sd, nvme */
        if (m != n && strncmp(x, y, strlen("/dev/xx")) == 0)
                return m < n ? -1 : 1;
        return strverscmp(x, y);
}

int device_list(char ***ret_paths, Error *error) {
        _cleanup_(names_clear) DeviceNames names = {};
        int r = sysfs_foreach(AT_FDCWD, "/sys/block", list_disk, &names);

        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "/sys/block cannot be read: %s", strerror(-r));
        if (!names.items) {
                names.items = calloc(1, sizeof(*names.items));
                if (!names.items)
                        return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        }
        qsort(names.items, names.n, sizeof(*names.items), compare_names);
        *ret_paths = TAKE_PTR(names.items);
        return 0;
}

char *device_confirmation(const DeviceInfo *info) {
        char namespace[16] = "", partition[16] = "", *text;

        if (!info->serial)
                return strdup(info->name);
        if (info->n_namespaces > 1)
                snprintf(namespace, sizeof(namespace), "-n%" PRIu32, info->namespace_id);
        if (info->partition > 0)
                snprintf(partition, sizeof(partition), "-part%" PRIu32, info->partition);
        if (asprintf(&text, "%s%s%s", info->serial, namespace, partition) < 0)
                return NULL;
        return text;
}

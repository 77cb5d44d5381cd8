/* SPDX-License-Identifier: MIT */

/*
 * A file system may be mounted where we do not look: in a container, in a service's
 * private namespace. So mountinfo is read once for each pair of mount namespace and root directory that a
 * process has (a process in a chroot is shown only what lies below it). A device of many mounts is
 * told once, as our own view has it if it does: each container and each service with a private namespace has a copy.
 *
 * The device number in mountinfo is the file system's, which for btrfs belongs to no device; hence its source is
 * looked at as well.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device/process.h"
#include "device/sysfs.h"
#include "device/usage.h"

typedef struct View {
        char namespace[64]; /* "mnt:[4026531841]" */
        uint64_t root_inode;
        uint32_t root_major, root_minor;
} View;

typedef struct Mount {
        char *point; /* NULL: not mounted */
        pid_t pid;   /* who sees it there; 0: we do */
        bool more;   /* the same process sees it at other places too */
} Mount;

typedef struct MountScan {
        const Related *related;
        Mount *mounts; /* one for each related device */
        View *views;
        size_t n_views;
        unsigned n_denied;
} MountScan;

static void scan_clear(MountScan *scan) {
        for (size_t i = 0; scan->mounts && i < scan->related->n; i++)
                free(scan->mounts[i].point);
        free(scan->mounts);
        free(scan->views);
}

/* Undoes the kernel's \ooo for blanks and backslashes, in place. */
static void unescape(char *s) {
        char *to = s;

        for (const char *from = s; *from; to++) {
                unsigned value;
                if (sscanf(from, "\\%3o", &value) == 1 && value < 256) {
                        *to = (char) value;
                        from += 4;
                } else
                        *to = *from++;
        }
        *to = '\0';
}

static const RelatedDevice *find_mounted(const MountScan *scan, const char *number, char *source) {
        unsigned major, minor;

        if (sscanf(number, "%u:%u", &major, &minor) == 2) {
                const RelatedDevice *device = related_find(scan->related, makedev(major, minor));
                if (device)
                        return device;
        }
        if (!source || strncmp(source, "/dev/", strlen("/dev/")) != 0)
                return NULL;
        unescape(source);
        return related_find_path(scan->related, source);
}

/* "36 35 98:0 /root /mnt/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue", as proc(5) has it. */
static int take_line(MountScan *scan, char *line, pid_t pid) {
        char *fields[5], *save = NULL;
        char *rest = strstr(line, " - ");

        if (!rest)
                return 0;
        *rest = '\0';
        fields[0] = strtok_r(line, " ", &save);
        for (size_t i = 1; i < 5; i++)
                fields[i] = strtok_r(NULL, " ", &save);
        if (!fields[4])
                return 0;

        char *source = strtok_r(rest + strlen(" - "), " ", &save) ? strtok_r(NULL, " ", &save) : NULL;
        const RelatedDevice *device = find_mounted(scan, fields[2], source);
        if (!device)
                return 0;

        Mount *mount = scan->mounts + (device - scan->related->items);
        if (mount->point) {
                mount->more = mount->more || mount->pid == pid;
                return 0;
        }
        unescape(fields[4]);
        mount->pid = pid;
        mount->point = strdup(fields[4]);
        return mount->point ? 0 : -ENOMEM;
}

static int read_mountinfo(MountScan *scan, int proc_fd, pid_t pid) {
        int fd = openat(proc_fd, "mountinfo", O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return -errno;

        _cleanup_fclose_ FILE *file = fdopen(fd, "re");
        if (!file) {
                int r = -errno;
                fd_close(fd);
                return r;
        }

        _cleanup_free_ char *line = NULL;
        size_t size = 0;
        while (getline(&line, &size, file) >= 0) {
                int r = take_line(scan, line, pid);
                if (r < 0)
                        return r;
        }
        return ferror(file) ? -EIO : 0;
}

static int read_view(int proc_fd, View *ret) {
        View view = {};
        struct statx st;

        if (readlinkat(proc_fd, "ns/mnt", view.namespace, sizeof(view.namespace) - 1) < 0)
                return -errno;
        if (statx(proc_fd, "root", AT_STATX_DONT_SYNC, STATX_INO, &st) < 0)
                return -errno;
        view.root_inode = st.stx_ino;
        view.root_major = st.stx_dev_major;
        view.root_minor = st.stx_dev_minor;
        *ret = view;
        return 0;
}

/* 1 if the view is new. */
static int add_view(MountScan *scan, const View *view) {
        for (size_t i = 0; i < scan->n_views; i++)
                if (memcmp(scan->views + i, view, sizeof(*view)) == 0)
                        return 0;

        View *views = reallocarray(scan->views, scan->n_views + 1, sizeof(*views));
        if (!views)
                return -ENOMEM;
        scan->views = views;
        views[scan->n_views++] = *view;
        return 1;
}

static int visit(int proc_fd, pid_t pid, void *userdata) {
        MountScan *scan = userdata;
        View view;
        int r = read_view(proc_fd, &view);

        /* A view that cannot be told from others may be a new one. */
        r = r < 0 ? 1 : add_view(scan, &view);
        if (r <= 0)
                return r;
        r = read_mountinfo(scan, proc_fd, pid);
        if (r == -EACCES || r == -EPERM)
                scan->n_denied++;
        return r == -ENOMEM ? r : 0;
}

static int visit_own(MountScan *scan) {
        _cleanup_close_ int proc_fd = sysfs_open(AT_FDCWD, "/proc/self");

        return proc_fd < 0 ? proc_fd : visit(proc_fd, 0, scan);
}

static int report(const MountScan *scan, Reasons *reasons) {
        for (size_t i = 0; i < scan->related->n; i++) {
                const Mount *mount = scan->mounts + i;
                char where[64] = "";

                if (!mount->point)
                        continue;
                if (mount->pid > 0)
                        snprintf(where, sizeof(where), " in the mount namespace of process %d", mount->pid);
                int r = reasons_add(reasons, REASON_MOUNTED, "%smounted at %s%s%s; unmount it first",
                                    scan->related->items[i].subject, mount->point, where,
                                    mount->more ? " and elsewhere too" : "");
                if (r < 0)
                        return r;
        }
        if (scan->n_denied > 0 && !process_sees_all())
                return reasons_add(reasons, REASON_UNREADABLE,
                                   "the mounts that %u processes see could not be looked at; run as root",
                                   scan->n_denied);
        return 0;
}

int usage_scan_mounts(const Related *related, Reasons *reasons) {
        _cleanup_(scan_clear) MountScan scan = {
                .related = related,
                .mounts = calloc(related->n, sizeof(Mount)),
        };

        if (!scan.mounts)
                return -ENOMEM;
        int r = visit_own(&scan);
        if (r < 0)
                return r;
        r = process_foreach(visit, &scan);
        return r < 0 ? r : report(&scan, reasons);
}

/* SPDX-License-Identifier: MIT */

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "device/sysfs.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

/* sysfs attributes are at most a page. */
#define ATTRIBUTE_BYTES_MAX 4096

static void dir_closep(DIR **dir) {
        if (*dir)
                closedir(*dir);
}

int sysfs_open(int dir_fd, const char *path) {
        int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

ssize_t sysfs_read(int dir_fd, const char *attribute, void *buf, size_t size) {
        _cleanup_close_ int fd = openat(dir_fd, attribute, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        size_t n = 0;

        if (fd < 0)
                return -errno;
        while (n < size) {
                ssize_t r = read(fd, (char *) buf + n, size - n);
                if (r < 0 && errno == EINTR)
                        continue;
                if (r < 0)
                        return -errno;
                if (r == 0)
                        break;
                n += (size_t) r;
        }
        return (ssize_t) n;
}

int sysfs_read_text(int dir_fd, const char *attribute, char **ret) {
        char buf[ATTRIBUTE_BYTES_MAX + 1];
        ssize_t n = sysfs_read(dir_fd, attribute, buf, ATTRIBUTE_BYTES_MAX);

        if (n < 0)
                return (int) n;
        buf[n] = '\0';

        _cleanup_free_ char *text = text_strip(buf);
        if (!text)
                return -ENOMEM;
        if (text[0] == '\0')
                return -ENODATA;
        *ret = TAKE_PTR(text);
        return 0;
}

int sysfs_read_u64(int dir_fd, const char *attribute, uint64_t *ret) {
        _cleanup_free_ char *text = NULL;
        int r = sysfs_read_text(dir_fd, attribute, &text);

        return r < 0 ? r : parse_u64(text, ret);
}

int sysfs_read_u32(int dir_fd, const char *attribute, uint32_t *ret) {
        uint64_t value;
        int r = sysfs_read_u64(dir_fd, attribute, &value);

        if (r < 0)
                return r;
        if (value > UINT32_MAX)
                return -ERANGE;
        *ret = (uint32_t) value;
        return 0;
}

static int last_component(const char *path, char **ret) {
        const char *slash = strrchr(path, '/');
        char *name = strdup(slash ? slash + 1 : path);

        if (!name)
                return -ENOMEM;
        *ret = name;
        return 0;
}

int sysfs_read_link(int dir_fd, const char *link, char **ret) {
        char target[PATH_MAX];
        ssize_t n = readlinkat(dir_fd, link, target, sizeof(target) - 1);

        if (n < 0)
                return -errno;
        target[n] = '\0';
        return last_component(target, ret);
}

int sysfs_name(int dir_fd, char **ret) {
        char path[sizeof("/proc/self/fd/") + 10];

        snprintf(path, sizeof(path), "/proc/self/fd/%d", dir_fd);
        return sysfs_read_link(AT_FDCWD, path, ret);
}

int sysfs_foreach(int dir_fd, const char *path, SysfsHandler handler, void *userdata) {
        int fd = sysfs_open(dir_fd, path);

        if (fd < 0)
                return fd;

        __attribute__((cleanup(dir_closep))) DIR *dir = fdopendir(fd);
        if (!dir) {
                int r = -errno;
                fd_close(fd);
                return r;
        }
        for (;;) {
                errno = 0;
                const struct dirent *entry = readdir(dir);
                if (!entry)
                        return -errno;
                if (entry->d_name[0] == '.')
                        continue;
                int r = handler(dirfd(dir), entry->d_name, userdata);
                if (r != 0)
                        return r;
        }
}

bool sysfs_is_numbered(const char *name, const char *prefix) {
        size_t n = strlen(prefix);

        return strncmp(name, prefix, n) == 0 && isdigit((unsigned char) name[n]);
}

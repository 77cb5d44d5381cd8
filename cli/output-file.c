/* SPDX-License-Identifier: MIT */

/*
 * O_TMPFILE, since whatever ends this process then leaves nothing behind. File systems without it get a file under its
 * final name that is removed after an error.
 */

#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>

#include "output-file.h"

#define FILE_MODE 0666

static int cannot_write(const char *path, int errnum, Error *error) {
        if (errnum == EEXIST)
                return error_set(error, ERROR_USAGE, EEXIST, "%s exists already; remove it first, or name another file",
                                 path);
        return error_set(error, ERROR_FAILED, errnum, "cannot write %s: %s", path, strerror(errnum));
}

static int open_unnamed(const char *path) {
        _cleanup_free_ char *copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        int fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, FILE_MODE);
        return fd < 0 ? -errno : fd;
}

int output_file_open(OutputFile *ret, const char *path, Error *error) {
        _cleanup_(output_file_done) OutputFile file = {};
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        /* Told before anything is written; at the end the kernel has the last word. */
        if (lstat(path, &st) == 0)
                return cannot_write(path, EEXIST, error);
        fd = open_unnamed(path);
        if (fd == -EOPNOTSUPP || fd == -EISDIR) {
                fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, FILE_MODE);
                fd = fd < 0 ? -errno : fd;
                file.named = fd >= 0;
        }
        if (fd < 0)
                return cannot_write(path, -fd, error);

        file.path = strdup(path);
        file.f = fdopen(fd, "we");
        if (!file.path || !file.f)
                return -ENOMEM;
        TAKE_FD(fd);
        *ret = file;
        file = (OutputFile){};
        return 0;
}

static int give_name(OutputFile *file) {
        char unnamed[64];

        if (file->named)
                return 0;
        snprintf(unnamed, sizeof(unnamed), "/proc/self/fd/%d", fileno(file->f));
        if (linkat(AT_FDCWD, unnamed, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) < 0)
                return -errno;
        file->named = true;
        return 0;
}

int output_file_keep(OutputFile *file, int r, Error *error) {
        if (r < 0 && !ferror(file->f))
                return r;
        /* What was not written is tried once more, for the reason. */
        if ((r >= 0 || r == -EIO) && (fflush(file->f) != 0 || fsync(fileno(file->f)) < 0))
                r = -errno;
        else if (r >= 0)
                r = ferror(file->f) ? -EIO : give_name(file);
        if (r < 0)
                return cannot_write(file->path, -r, error);
        fclose(file->f);
        file->f = NULL;
        return 0;
}

void output_file_remove(OutputFile *file) {
        if (file->path && file->named)
                unlink(file->path);
        output_file_done(file);
}

void output_file_done(OutputFile *file) {
        /* Still open: it was not kept. */
        if (file->f) {
                fclose(file->f);
                if (file->named)
                        unlink(file->path);
        }
        free(file->path);
        *file = (OutputFile){};
}

/* SPDX-License-Identifier: MIT */

/*
 * The service's lock lies beside the database and not in it, because SQLite's own locks come and
 * go with its transactions. An open-file-description lock ends with the process that holds it, however it ends, and
 * may be asked for through a descriptor that was opened for reading only.
 */

#include "store/store-internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* The lock belongs to the file that a link leads to: its own path, if it does not exist yet. */
static char *lock_path(const char *path) {
        _cleanup_free_ char *real = realpath(path, NULL);
        char *result;

        return asprintf(&result, "%s-lock", real ?: path) < 0 ? NULL : result;
}

int store_service_lock(const char *path, Error *error) {
        _cleanup_free_ char *name = lock_path(path);
        if (!name)
                return store_out_of_memory(error);

        _cleanup_close_ int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
        if (fd < 0)
                return error_set(error, ERROR_UNREACHABLE, errno, "cannot open %s: %m", name);

        /* Whatever the umask is, the group may ask whether the service lives. */
        if (fchmod(fd, 0640) < 0)
                return error_set(error, ERROR_UNREACHABLE, errno, "cannot set the mode of %s: %m", name);

        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
                if (errno == EAGAIN || errno == EACCES)
                        return error_set(error, ERROR_FAILED, EBUSY, "another plateaud works with %s", path);
                return error_set(error, ERROR_UNREACHABLE, errno, "cannot lock %s: %m", name);
        }

        return TAKE_FD(fd);
}

bool store_service_is_alive(const char *path) {
        _cleanup_free_ char *name = lock_path(path);
        if (!name)
                return false;

        _cleanup_close_ int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return false;

        struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
        return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
}

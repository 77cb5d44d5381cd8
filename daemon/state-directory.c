/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <sys/stat.h>

#include "state-directory.h"

int state_directory_prepare(const char *path, Error *error) {
        struct stat st;

        if (mkdir(path, 0750) < 0 && errno != EEXIST)
                return error_set(error, ERROR_UNREACHABLE, errno, "%s: the state directory cannot be made: %m", path);
        if (stat(path, &st) < 0)
                return error_set(error, ERROR_UNREACHABLE, errno, "%s: the state directory cannot be looked at: %m",
                                 path);

        if (!S_ISDIR(st.st_mode))
                return error_set(error, ERROR_UNREACHABLE, ENOTDIR, "%s: the state directory is no directory", path);
        if (st.st_mode & (S_IWGRP | S_IWOTH))
                return error_set(error, ERROR_REFUSED, EPERM,
                                 "%s: others may write into the state directory (mode %04o); chmod go-w it",
                                 path, st.st_mode & 07777);
        if (st.st_uid != 0 && st.st_uid != geteuid())
                return error_set(error, ERROR_REFUSED, EPERM, "%s: the state directory belongs to another user (%u)",
                                 path,
                                 (unsigned) st.st_uid);
        return 0;
}

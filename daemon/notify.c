/* SPDX-License-Identifier: MIT */

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "notify.h"
#include "util/cleanup.h"

int notify_manager(const char *assignments) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        const char *path = getenv("NOTIFY_SOCKET");
        size_t length = path ? strlen(path) : 0;

        if (length == 0)
                return 0;
        if ((path[0] != '/' && path[0] != '@') || length >= sizeof(address.sun_path))
                return -EINVAL;
        memcpy(address.sun_path, path, length);
        if (path[0] == '@')
                address.sun_path[0] = '\0'; /* abstract */

        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        socklen_t size = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length);
        if (fd < 0 || sendto(fd, assignments, strlen(assignments), MSG_NOSIGNAL, (const struct sockaddr *) &address,
                             size) < 0)
                return -errno;
        return 0;
}

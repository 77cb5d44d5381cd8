/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/syscall.h>

#include "device/process.h"
#include "device/sysfs.h"
#include "util/cleanup.h"
#include "util/parse.h"

#define SERVICE_NAME "plateaud"
#define WORKER_NAME "plateau-worker"
#define WORKER_USER "plateau" /* else nobody: as a worker gives up being root */
#define ID_NOBODY 65534

typedef struct Walk {
        ProcessHandler handler;
        void *userdata;
} Walk;

static int visit(int dir_fd, const char *name, void *userdata) {
        const Walk *walk = userdata;
        uint64_t pid;

        if (parse_u64_range(name, 1, INT32_MAX, &pid) < 0)
                return 0;

        _cleanup_close_ int proc_fd = sysfs_open(dir_fd, name);
        if (proc_fd < 0)
                return 0;
        return walk->handler(proc_fd, (pid_t) pid, walk->userdata);
}

int process_foreach(ProcessHandler handler, void *userdata) {
        Walk walk = { handler, userdata };

        return sysfs_foreach(AT_FDCWD, "/proc", visit, &walk);
}

bool process_sees_all(void) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

        if (syscall(SYS_capget, &header, data) < 0)
                return false;
        return data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE);
}

static int stop_at_first(int dir_fd, const char *name, void *userdata) {
        return 1;
}

bool process_is_dead(pid_t pid) {
        char path[64];

        snprintf(path, sizeof(path), "/proc/%d/fd", pid);
        int r = sysfs_foreach(AT_FDCWD, path, stop_at_first, NULL);
        return r == 0 || r == -ENOENT || r == -ESRCH;
}

/* A number from its status; key is as in "\nUid:", for the program's name stands there, too. */
static int process_status(pid_t pid, const char *key, unsigned *ret) {
        _cleanup_free_ char *status = NULL;
        char path[64];

        snprintf(path, sizeof(path), "/proc/%d/status", pid);
        int r = sysfs_read_text(AT_FDCWD, path, &status);
        if (r < 0)
                return r;
        const char *line = strstr(status, key);
        return line && sscanf(line + strlen(key), "%u", ret) == 1 ? 0 : -EBADMSG;
}

bool process_is_worker(pid_t pid) {
        _cleanup_free_ char *name = process_name(pid);
        uid_t uid;

        if (!name || strcmp(name, WORKER_NAME) != 0 || process_status(pid, "\nUid:", &uid) < 0)
                return false;
        if (uid == 0 || uid == ID_NOBODY || uid == geteuid())
                return true;
        const struct passwd *user = getpwnam(WORKER_USER);
        return user && user->pw_uid == uid;
}

bool process_is_former_worker(pid_t pid) {
        unsigned parent;

        if (process_status(pid, "\nPPid:", &parent) < 0)
                return false;
        _cleanup_free_ char *name = process_name((pid_t) parent);
        return name && strcmp(name, SERVICE_NAME) != 0;
}

char *process_name(pid_t pid) {
        _cleanup_free_ char *comm = NULL;
        char path[64];

        snprintf(path, sizeof(path), "/proc/%d/comm", pid);
        return sysfs_read_text(AT_FDCWD, path, &comm) < 0 ? strdup("?") : TAKE_PTR(comm);
}

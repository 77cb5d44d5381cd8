/* SPDX-License-Identifier: MIT */

/*
 * Capabilities and the bounding set belong to a thread, and capset() reaches only the caller. So what a thread
 * inherits is dropped before the ring's threads are made; what they have by being root goes with setresuid(), which
 * glibc carries to all of them; and the filter reaches all by TSYNC.
 */

#include "worker/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/macro.h"

#define USER_NAME "plateau"
#define ID_NOBODY 65534

static int fail(Error *error, int errnum, const char *what) {
        return error_set(error, ERROR_FAILED, errnum, "cannot give up privileges: %s: %s", what, strerror(errnum));
}

static void limits_set(void) {
        struct rlimit memlock;

        /* I/O buffers are locked by registering them. Who may not lift the hard limit has at least all of it. */
        if (setrlimit(RLIMIT_MEMLOCK, &(struct rlimit) { RLIM_INFINITY, RLIM_INFINITY }) < 0 &&
            getrlimit(RLIMIT_MEMLOCK, &memlock) == 0) {
                memlock.rlim_cur = memlock.rlim_max;
                setrlimit(RLIMIT_MEMLOCK, &memlock);
        }
        setrlimit(RLIMIT_CORE, &(struct rlimit) { 0, 0 });
}

/* The service's protection is not the worker's, which has all the buffers. Where it had none nothing changes. */
static void oom_protection_drop(void) {
        _cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
        char score[16];

        if (fd >= 0 && read(fd, score, sizeof(score)) > 0 && score[0] == '-')
                (void) !pwrite(fd, "0", 1, 0);
}

/* Keeps what is effective if `keep`, and nothing for those it might start. */
static int capabilities_drop(bool keep) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

        if (keep && syscall(SYS_capget, &header, data) < 0)
                return -errno;
        for (size_t i = 0; i < ELEMENTSOF(data); i++)
                data[i].inheritable = 0;
        return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static bool bounding_set_drop(void) {
        for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
                if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
                        return false;
        return true;
}

int sandbox_prepare(Sandbox *ret, const char **ret_notice, Error *error) {
        bool is_root = geteuid() == 0;
        const struct passwd *user = is_root ? getpwnam(USER_NAME) : NULL;
        Sandbox sandbox = { .uid = user ? user->pw_uid : ID_NOBODY, .gid = user ? user->pw_gid : ID_NOBODY };

        limits_set();
        oom_protection_drop();
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return fail(error, errno, "no new privileges");
        if (is_root && (prctl(PR_GET_SECUREBITS) & (SECBIT_NO_SETUID_FIXUP | SECBIT_KEEP_CAPS)))
                return fail(error, EPERM, "the secure bits keep capabilities across a change of user");

        const char *notice = NULL;
        if (is_root && !bounding_set_drop())
                notice = "the capability bounding set stays as it is (no CAP_SETPCAP); nothing can be gained from it, "
                         "since no program can be started and no privileges can be gained";

        int r = capabilities_drop(is_root);
        if (r < 0)
                return fail(error, -r, "capabilities");

        *ret = sandbox;
        *ret_notice = notice;
        return 0;
}

static int ids_drop(const Sandbox *sandbox, Error *error) {
        if (setgroups(0, NULL) < 0)
                return fail(error, errno, "supplementary groups");
        if (setresgid(sandbox->gid, sandbox->gid, sandbox->gid) < 0)
                return fail(error, errno, "group");
        if (setresuid(sandbox->uid, sandbox->uid, sandbox->uid) < 0)
                return fail(error, errno, "user");
        return 0;
}

/* Calls that need no look at their arguments. */
static const int calls_allowed[] = {
        /* engine: the ring, the buffers' end, threads */
        SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(futex), SCMP_SYS(madvise), SCMP_SYS(munmap),
        SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_yield),
        /* sampler, link, events; all on descriptors that are open already */
        SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(sendmsg),
        SCMP_SYS(recvmsg), SCMP_SYS(timerfd_settime), SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep),
        SCMP_SYS(nanosleep), SCMP_SYS(close),
        /* malloc() for what the link queues */
        SCMP_SYS(brk), SCMP_SYS(mremap),
        /* signals and the end */
        SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction), SCMP_SYS(restart_syscall),
        SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(exit), SCMP_SYS(exit_group),
#ifdef __SANITIZE_ADDRESS__
        SCMP_SYS(sigaltstack), SCMP_SYS(openat), SCMP_SYS(readlink), SCMP_SYS(newfstatat), SCMP_SYS(fstat),
        SCMP_SYS(lseek), SCMP_SYS(prctl), SCMP_SYS(sched_getaffinity), SCMP_SYS(getrusage),
#endif
};

/* What a process without capabilities may ask of the device it holds. */
static const unsigned long ioctls_allowed[] = { BLKGETSIZE64, BLKROGET, BLKGETDISKSEQ };

/* Of a run that trims, of the one device. */
static int trims_allow(scmp_filter_ctx filter, int fd) {
        return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 2,
                                SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, (scmp_datum_t) fd),
                                SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, BLKDISCARD));
}

static int calls_allow(scmp_filter_ctx filter) {
        for (size_t i = 0; i < ELEMENTSOF(calls_allowed); i++) {
                int r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls_allowed[i], 0);
                if (r < 0)
                        return r;
        }

        for (size_t i = 0; i < ELEMENTSOF(ioctls_allowed); i++) {
                int r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                                         SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, ioctls_allowed[i]));
                if (r < 0)
                        return r;
        }

        /* Memory, but no code. */
        int r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
        if (r < 0)
                return r;
        r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
        if (r < 0)
                return r;

        /* abort(), to itself. */
        return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                                SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t) getpid()));
}

static void filter_release(scmp_filter_ctx *filter) {
        if (*filter)
                seccomp_release(*filter);
}

static int filter_load(int trim_fd) {
        _cleanup_(filter_release) scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
        if (!filter)
                return -ENOMEM;

        int r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
        if (r >= 0)
                r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
        if (r >= 0)
                r = calls_allow(filter);
        if (r >= 0 && trim_fd >= 0)
                r = trims_allow(filter, trim_fd);
        return r < 0 ? r : seccomp_load(filter);
}

int sandbox_enter(const Sandbox *sandbox, int trim_fd, Error *error) {
        if (geteuid() == 0) {
                int r = ids_drop(sandbox, error);
                if (r < 0)
                        return r;
        }

        int r = capabilities_drop(false);
        if (r < 0)
                return fail(error, -r, "capabilities");
        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
                return fail(error, errno, "dumpable");

        r = filter_load(trim_fd);
        if (r < 0)
                return fail(error, -r, "system-call filter");
        return 0;
}

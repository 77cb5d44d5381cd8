/* SPDX-License-Identifier: MIT */

/*
 * Claims of a real block device: a loop device on a file in memory, which detaches itself when the test's
 * process ends, however that happens.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/claim.h"
#include "device/open.h"
#include "device/related.h"
#include "util/macro.h"
#include "unit.h"

#define SIZE (16 * MIB)

static int file_fd, loop_fd;
static char path[32], partition_path[40];
static uint8_t *content, *before;

static void attach(void) {
        struct loop_config config = { .info.lo_flags = LO_FLAGS_AUTOCLEAR };
        int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), number = -1;

        ck_assert_int_ge(control, 0);
        config.fd = (uint32_t) file_fd;
        for (unsigned i = 0; i < 100 && loop_fd < 0; i++) { /* somebody else may take the same free one */
                number = ioctl(control, LOOP_CTL_GET_FREE);
                ck_assert_int_ge(number, 0);
                snprintf(path, sizeof(path), "/dev/loop%d", number);
                int fd = open(path, O_RDWR | O_CLOEXEC);
                if (fd >= 0 && ioctl(fd, LOOP_CONFIGURE, &config) == 0)
                        loop_fd = fd;
                else
                        fd_close(fd);
        }
        ck_assert_int_ge(loop_fd, 0);
        close(control);
        snprintf(partition_path, sizeof(partition_path), "%sp1", path);
}

/* Partitions and the read-only flag outlive an attachment: those of this test, and of one that died. */
static void tidy(void) {
        struct blkpg_partition partition = { .pno = 1 };
        struct blkpg_ioctl_arg request = {
                .op = BLKPG_DEL_PARTITION, .datalen = sizeof(partition), .data = &partition,
        };
        int off = 0;

        ck_assert_int_eq(ioctl(loop_fd, BLKROSET, &off), 0);
        ck_assert(ioctl(loop_fd, BLKPG, &request) == 0 || errno == ENXIO);
}

static void make(void) {
        file_fd = memfd_create("disk", MFD_CLOEXEC);
        loop_fd = -EBADF;
        ck_assert_int_eq(ftruncate(file_fd, SIZE), 0);
        content = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file_fd, 0);
        before = malloc(SIZE);
        ck_assert(content != MAP_FAILED && before);
        memset(content, 0xa5, SIZE);
        attach();
        tidy();
        memcpy(before, content, SIZE);
}

static void drop(void) {
        tidy();
        munmap(content, SIZE);
        free(before);
        close(loop_fd);
        close(file_fd);
}

static void put_luks(void) {
        memcpy(content, "LUKS\xba\xbe\0\1", 8);
        memcpy(before, content, SIZE);
}

static const char *confirmation(void) {
        return path + strlen("/dev/");
}

static bool is_untouched(void) {
        return memcmp(content, before, SIZE) == 0;
}

static Claim *claim(bool erase) {
        const char *const confirmations[] = { "another", confirmation(), NULL };
        _cleanup_error_ Error error = ERROR_INIT;
        Claim *claimed = NULL;

        int r = claim_new(&claimed, &(ClaimRequest) { path, confirmations, erase }, &error);
        ck_assert_msg(r == 0, "%s", error_message(&error));
        return claimed;
}

/* Refused, with these words and nothing written. */
static void expect_refusal(const char *target, const char *confirm, const char *words) {
        const char *const confirmations[] = { confirm, NULL };
        _cleanup_error_ Error error = ERROR_INIT;
        Claim *claimed = NULL;

        int r = claim_new(&claimed, &(ClaimRequest) { target, confirmations, false }, &error);
        ck_assert_int_lt(r, 0);
        ck_assert_ptr_null(claimed);
        ck_assert_int_eq((int) error.kind, ERROR_REFUSED);
        ck_assert_msg(strstr(error_message(&error), words) != NULL, "%s", error_message(&error));
        ck_assert_int_eq(strncmp(error_message(&error), target, strlen(target)), 0);
        ck_assert(is_untouched());
}

static DeviceInfo *read_info(const char *target) {
        _cleanup_error_ Error error = ERROR_INIT;
        DeviceInfo *info = NULL;

        ck_assert_msg(device_info_read(&info, target, &error) == 0, "%s", error_message(&error));
        return info;
}

/* A process that does something with the device and then waits to be killed; it is ready when this returns. */
static pid_t spawn(void (*use)(void)) {
        int ready[2];
        char byte;

        ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                close(loop_fd);
                use();
                (void) !write(ready[1], "", 1);
                for (;;)
                        pause();
        }
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
        return pid;
}

static void end(pid_t pid) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
}

static void hold_open(void) {
        if (open(path, O_RDONLY) < 0)
                _exit(1);
}

static void hold_partition_open(void) {
        if (open(partition_path, O_RDONLY) < 0)
                _exit(1);
}

static void hold_locked(void) {
        if (flock(open(path, O_RDONLY), LOCK_SH) < 0)
                _exit(1);
}

static void pretend(void) {
        prctl(PR_SET_NAME, "plateau-worker");
        hold_open();
        if (setresuid(12345, 12345, 12345) < 0)
                _exit(1);
}

static int exclusive_fd;
static pid_t latecomer;
static sem_t judged;

static void come_late(void) {
        close(exclusive_fd); /* as inherited */
        hold_open();
}

static int thread_ready[2];

static void *hold_open_in_own_table(void *unused) {
        if (unshare(CLONE_FILES) < 0 || open(path, O_RDONLY) < 0)
                _exit(1);
        (void) !write(thread_ready[1], "", 1);
        for (;;)
                pause();
        return NULL;
}

static void hold_open_in_thread(void) {
        pthread_t thread;
        char byte;

        if (pipe(thread_ready) < 0 || pthread_create(&thread, NULL, hold_open_in_own_table, NULL) != 0 ||
            read(thread_ready[0], &byte, 1) != 1)
                _exit(1);
}

/* Opens and locks it, and ends while the claim waits between its scans: udev, as a claim meets it. */
static void pass_by(void) {
        hold_locked();
        alarm(1);
        signal(SIGALRM, SIG_DFL);
}

static int relay_end[2];

/* As one ends the next one opens it, so each scan sees another process. */
static void relay(void) {
        pid_t first = getpid();
        char byte;

        if (fork() == 0) {
                close(relay_end[1]);
                (void) poll(NULL, 0, 500); /* between the two scans */
                hold_open();
                kill(first, SIGKILL);
                (void) !read(relay_end[0], &byte, 1);
                _exit(0);
        }
        close(relay_end[1]);
        hold_open();
}

static void add_partition(void) {
        struct blkpg_partition partition = { .start = (long long) MIB, .length = (long long) MIB * 8, .pno = 1 };
        struct blkpg_ioctl_arg request = {
                .op = BLKPG_ADD_PARTITION, .datalen = sizeof(partition), .data = &partition,
        };

        ck_assert_int_eq(ioctl(loop_fd, BLKPG, &request), 0);
}

static void expect_named(const char *target, const char *subject, void (*use)(void), const char *what) {
        char words[200];
        pid_t pid = spawn(use);

        snprintf(words, sizeof(words), ": %s%s by process %d (", subject, what, pid);
        expect_refusal(target, target + strlen("/dev/"), words);
        end(pid);
}

START_TEST(test_claim_holds) {
        _cleanup_claim_ Claim *claimed = claim(false);
        int other = open(path, O_RDONLY | O_CLOEXEC);

        ck_assert_int_eq(fcntl(claimed->fd, F_GETFL) & (O_ACCMODE | O_DIRECT), O_RDWR | O_DIRECT);
        ck_assert_int_eq(fcntl(claimed->fd, F_GETFD), FD_CLOEXEC);
        ck_assert_int_lt(open(path, O_RDONLY | O_EXCL), 0);
        ck_assert_int_eq(errno, EBUSY);
        ck_assert_int_lt(flock(other, LOCK_SH | LOCK_NB), 0);
        ck_assert_int_eq(errno, EWOULDBLOCK);
        ck_assert_uint_eq(claimed->signatures.n, 0);
        ck_assert_int_eq(claim_settle(claimed, NULL), 0);
        ck_assert(is_untouched());
        close(other);
}
END_TEST

START_TEST(test_confirmation) {
        char words[64];

        snprintf(words, sizeof(words), "confirm with --confirm %s", confirmation());
        expect_refusal(path, NULL, words);
        expect_refusal(path, NULL, "not confirmed");
        expect_refusal(path, "loop", words);
        expect_refusal(path, "", "no confirmation given is this device's");
}
END_TEST

START_TEST(test_signature) {
        put_luks();
        expect_refusal(path, confirmation(), "holds an encrypted volume (crypto_LUKS) at byte 0");
        expect_refusal(path, confirmation(), "--erase-existing");
        expect_refusal(path, NULL, "not confirmed"); /* told together */
}
END_TEST

START_TEST(test_erasing_waits_for_settle) {
        put_luks();
        memcpy(content + MIB, "\x0d\xd0\x01\xc0", 4); /* VMFS: lies beyond the ends */
        memcpy(before, content, SIZE);
        _cleanup_claim_ Claim *claimed = claim(true);
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_reasons_ Reasons left = {};

        ck_assert_uint_eq(claimed->signatures.n, 2);
        ck_assert(is_untouched());
        ck_assert_msg(claim_settle(claimed, &error) == 0, "%s", error_message(&error));
        ck_assert_uint_eq(claimed->signatures.n, 0);
        ck_assert_int_eq(device_check_signatures(claimed->info, claimed->fd, &left, &error), 0);
        ck_assert_uint_eq(left.n, 0);
        for (size_t i = 0; i < MIB; i++)
                ck_assert(content[i] == 0 && content[SIZE - 1 - i] == 0);
        ck_assert_int_eq(memcmp(content + MIB + 4, before + MIB + 4, SIZE - 2 * MIB - 4), 0);
}
END_TEST

START_TEST(test_erasing_drops_partitions) {
        put_luks();
        add_partition();
        ck_assert_int_eq(access(partition_path, F_OK), 0);
        _cleanup_claim_ Claim *claimed = claim(true);
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_msg(claim_settle(claimed, &error) == 0, "%s", error_message(&error));
        ck_assert_int_lt(access(partition_path, F_OK), 0);
}
END_TEST

START_TEST(test_opener) {
        expect_named(path, "", hold_open, "held open");
}
END_TEST

START_TEST(test_opener_in_a_thread_of_its_own_table) {
        expect_named(path, "", hold_open_in_thread, "held open");
}
END_TEST

START_TEST(test_lock_holder) {
        char words[100];
        pid_t pid = spawn(hold_locked);

        snprintf(words, sizeof(words), "locked (FLOCK) by process %d (", pid);
        expect_refusal(path, confirmation(), words);
        end(pid);
}
END_TEST

START_TEST(test_opener_in_passing) {
        pid_t pid = spawn(pass_by);
        _cleanup_claim_ Claim *claimed = claim(false);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(test_opener_seen_once_only) {
        ck_assert_int_eq(pipe2(relay_end, O_CLOEXEC), 0);
        pid_t pid = spawn(relay);
        _cleanup_device_info_ DeviceInfo *info = read_info(path);
        _cleanup_reasons_ Reasons reasons = {};

        ck_assert_int_eq(device_check_usage(info, getpid(), &reasons, NULL), 0);
        ck_assert_uint_eq(reasons.n, 0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        close(relay_end[0]);
        close(relay_end[1]);
}
END_TEST

START_TEST(test_partition) {
        const char *const confirmations[] = { partition_path + strlen("/dev/"), NULL };
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_claim_ Claim *claimed = NULL;

        add_partition();
        expect_refusal(partition_path, confirmation(), "no confirmation given");
        int r = claim_new(&claimed, &(ClaimRequest) { partition_path, confirmations, false }, &error);
        ck_assert_msg(r == 0, "%s", error_message(&error));
        ck_assert_uint_eq(claimed->info->size_bytes, 8 * MIB);
        ck_assert_int_eq(flock(loop_fd, LOCK_EX | LOCK_NB), 0); /* the disk is locked during the checks only */
}
END_TEST

START_TEST(test_relatives_are_looked_at) {
        char subject[64];

        add_partition();
        snprintf(subject, sizeof(subject), "partition %s is ", partition_path + strlen("/dev/"));
        expect_named(path, subject, hold_partition_open, "held open");
        snprintf(subject, sizeof(subject), "its disk %s is ", confirmation());
        expect_named(partition_path, subject, hold_open, "held open");
}
END_TEST

static DeviceNumbers numbers_of(const char *node) {
        struct stat st;

        ck_assert_int_eq(stat(node, &st), 0);
        return device_numbers_read(st.st_rdev);
}

START_TEST(test_partitions_overlap_with_their_disk_alone) {
        add_partition();
        DeviceNumbers disk = numbers_of(path), partition = numbers_of(partition_path), unknown = {};
        DeviceNumbers sibling = { .device = partition.device + 1, .disk = partition.disk };

        ck_assert(device_numbers_overlap(&disk, &disk));
        ck_assert(device_numbers_overlap(&disk, &partition));
        ck_assert(device_numbers_overlap(&partition, &disk));
        ck_assert(!device_numbers_overlap(&partition, &sibling));
        ck_assert(!device_numbers_overlap(&unknown, &unknown));
}
END_TEST

/* Our own open is what no scan tells; so this is how a claim looks that only the exclusive open can refuse. */
START_TEST(test_busy_without_culprit) {
        int holder = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);

        ck_assert_int_ge(holder, 0);
        expect_refusal(path, confirmation(), "in exclusive use by something that no scan finds");
        close(holder);
}
END_TEST

/* Ends the exclusive use while the claim waits for it. */
static void *close_later(void *holder) {
        (void) poll(NULL, 0, 500);
        close(*(int *) holder);
        return NULL;
}

START_TEST(test_busy_is_tried_again) {
        int holder = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, close_later, &holder), 0);
        _cleanup_claim_ Claim *claimed = claim(false);
        pthread_join(thread, NULL);
}
END_TEST

static void expect_changed(DeviceInfo *info) {
        _cleanup_reasons_ Reasons reasons = {};
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_eq(device_open(info, O_RDONLY | O_EXCL, 0, &reasons, &error), -EBADF);
        ck_assert_uint_eq(reasons.n, 1);
        ck_assert_int_eq((int) reasons.items[0].kind, REASON_CHANGED);
}

/* Comes while the claim waits for the exclusive use of another to end, after its look at who has the device open. */
static void *open_then_close(void *unused) {
        (void) poll(NULL, 0, 500);
        latecomer = spawn(come_late);
        close(exclusive_fd);
        sem_wait(&judged); /* its child lives no longer than this thread */
        return NULL;
}

START_TEST(test_opener_between_look_and_open) {
        pthread_t thread;
        char words[100];

        sem_init(&judged, 0, 0);
        exclusive_fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
        ck_assert_int_ge(exclusive_fd, 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, open_then_close, NULL), 0);
        expect_refusal(path, confirmation(), "held open by process ");
        snprintf(words, sizeof(words), "held open by process %d (", latecomer);
        expect_refusal(path, confirmation(), words);
        end(latecomer);
        sem_post(&judged);
        pthread_join(thread, NULL);
}
END_TEST

/* Else udev looks at it anew, and takes into use what it finds. */
START_TEST(test_refused_device_was_not_open_for_writing) {
        _cleanup_close_ int watch_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        char event[sizeof(struct inotify_event)];

        put_luks();
        ck_assert_int_ge(inotify_add_watch(watch_fd, path, IN_CLOSE_WRITE), 0);
        expect_refusal(path, confirmation(), "holds an encrypted volume");
        expect_refusal(path, NULL, "not confirmed");
        ck_assert_int_eq((int) read(watch_fd, event, sizeof(event)), -1);
        ck_assert_int_eq(errno, EAGAIN);

        close(open(path, O_WRONLY | O_CLOEXEC));
        ck_assert_int_eq((int) read(watch_fd, event, sizeof(event)), sizeof(event));
}
END_TEST

static Claim *claim_for_reading(void) {
        const char *const confirmations[] = { confirmation(), NULL };
        _cleanup_error_ Error error = ERROR_INIT;
        Claim *claimed = NULL;
        const ClaimRequest request = {
                .path = path, .confirmations = confirmations, .erase_existing = true, .for_reading = true,
        };

        ck_assert_msg(claim_new(&claimed, &request, &error) == 0, "%s", error_message(&error));
        return claimed;
}

/* It may be somebody else's yet: udev must not take it into use because it was looked at. */
START_TEST(test_claim_for_reading_is_not_open_for_writing) {
        _cleanup_close_ int watch_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        char event[sizeof(struct inotify_event)];

        ck_assert_int_ge(inotify_add_watch(watch_fd, path, IN_CLOSE_WRITE), 0);
        Claim *claimed = claim_for_reading();
        ck_assert_int_eq(fcntl(claimed->fd, F_GETFL) & (O_ACCMODE | O_DIRECT), O_RDONLY | O_DIRECT);
        claim_free(claimed);
        ck_assert_int_eq((int) read(watch_fd, event, sizeof(event)), -1);
        ck_assert_int_eq(errno, EAGAIN);
}
END_TEST

START_TEST(test_claim_made_writable_holds) {
        _cleanup_claim_ Claim *claimed = claim_for_reading();
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_close_ int other = open(path, O_RDONLY | O_CLOEXEC);

        ck_assert_msg(claim_make_writable(claimed, &error) == 0, "%s", error_message(&error));
        ck_assert_int_eq(fcntl(claimed->fd, F_GETFL) & (O_ACCMODE | O_DIRECT), O_RDWR | O_DIRECT);
        ck_assert_int_lt(open(path, O_RDONLY | O_EXCL), 0);
        ck_assert_int_eq(errno, EBUSY);
        ck_assert_int_lt(flock(other, LOCK_SH | LOCK_NB), 0);
        ck_assert_int_eq(errno, EWOULDBLOCK);
        ck_assert_int_eq(claim_verify(claimed, NULL), 0);
}
END_TEST

START_TEST(test_claim_made_writable_still_erases) {
        put_luks();
        _cleanup_claim_ Claim *claimed = claim_for_reading();
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_msg(claim_make_writable(claimed, &error) == 0, "%s", error_message(&error));
        ck_assert(is_untouched());
        ck_assert_msg(claim_settle(claimed, &error) == 0, "%s", error_message(&error));
        ck_assert_uint_eq(content[0], 0);
}
END_TEST

/* As if another medium had come under the name since. */
START_TEST(test_another_device_is_not_made_writable) {
        _cleanup_claim_ Claim *claimed = claim_for_reading();
        _cleanup_error_ Error error = ERROR_INIT;

        claimed->info->diskseq++;
        ck_assert_int_lt(claim_make_writable(claimed, &error), 0);
        ck_assert_ptr_nonnull(strstr(error_message(&error), "another device or medium"));
        ck_assert_int_eq(fcntl(claimed->fd, F_GETFL) & O_ACCMODE, O_RDONLY);
}
END_TEST

/* All in one line, who uses it first; each reason can be told from the next. */
START_TEST(test_every_reason_is_told) {
        static const char further[] = " | holds an encrypted volume (crypto_LUKS) at byte 0"
                                      " | to wipe what it holds, start with --erase-existing"
                                      " | not confirmed; confirm with --confirm ";
        char words[400];
        pid_t pid = spawn(hold_open);

        put_luks();
        snprintf(words, sizeof(words), ": held open by process %d (unit-device-cla); end it first%s", pid, further);
        expect_refusal(path, NULL, words);
        end(pid);

        int holder = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
        snprintf(words, sizeof(words), "release the device%s", further);
        expect_refusal(path, NULL, words);
        close(holder);
}
END_TEST

static void work(void) {
        prctl(PR_SET_NAME, "plateau-worker");
        hold_locked();
}

static void work_as_nobody(void) {
        work();
        if (setresuid(65534, 65534, 65534) < 0)
                _exit(1);
}

/* Nobody is to be told to kill the run of last night; and what it measures is not read in passing. */
START_TEST(test_own_worker) {
        static void (*const works[])(void) = { work, work_as_nobody };
        const char *const none[] = { NULL };
        _cleanup_error_ Error error = ERROR_INIT;
        Claim *claimed = NULL;
        prctl(PR_SET_NAME, "plateaud");
        pid_t pid = spawn(works[_i]);

        put_luks();
        ck_assert_int_lt(claim_new(&claimed, &(ClaimRequest) { path, none, false }, &error), 0);
        const char *told = strstr(error_message(&error), ": under test by plateau itself; 'plateau list'");
        ck_assert_msg(told != NULL, "%s", error_message(&error));
        ck_assert_ptr_null(strstr(told + strlen(": under test"), "under test"));
        ck_assert_ptr_null(strstr(error_message(&error), "end it first"));
        ck_assert_ptr_null(strstr(error_message(&error), "LUKS"));
        end(pid);
}
END_TEST

START_TEST(test_worker_whose_service_is_gone) {
        char words[100];
        pid_t pid = spawn(work);

        snprintf(words, sizeof(words), ": still held by a former worker of plateau (process %d), whose service", pid);
        expect_refusal(path, NULL, words);
        end(pid);
}
END_TEST

START_TEST(test_what_only_bears_the_name_is_no_worker) {
        pid_t pid = spawn(pretend);

        expect_refusal(path, NULL, "held open by process ");
        end(pid);
}
END_TEST

START_TEST(test_settle_writes_to_the_claimed_device_only) {
        put_luks();
        _cleanup_claim_ Claim *claimed = claim(true);
        _cleanup_error_ Error error = ERROR_INIT;

        claimed->info->diskseq--;
        ck_assert_int_eq(claim_settle(claimed, &error), -ESTALE);
        ck_assert(is_untouched());
}
END_TEST

START_TEST(test_changed_between_check_and_open) {
        _cleanup_device_info_ DeviceInfo *info = read_info(path);

        info->diskseq--;
        expect_changed(info);
        info->diskseq++;
        info->size_bytes -= 512;
        expect_changed(info);
        info->size_bytes += 512;
        info->minor++;
        expect_changed(info);
}
END_TEST

static void expect_verify(const Claim *claimed, int errnum, const char *words) {
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_eq(claim_verify(claimed, &error), -errnum);
        if (errnum != 0)
                ck_assert_msg(strstr(error_message(&error), words) != NULL, "%s", error_message(&error));
}

START_TEST(test_verify) {
        _cleanup_claim_ Claim *claimed = claim(false);
        int on = 1, off = 0;

        expect_verify(claimed, 0, NULL);
        ck_assert_int_eq(ioctl(loop_fd, BLKROSET, &on), 0);
        expect_verify(claimed, EROFS, "read-only");
        ck_assert_int_eq(ioctl(loop_fd, BLKROSET, &off), 0);
        claimed->info->diskseq--;
        expect_verify(claimed, ESTALE, "another device");
        claimed->info->diskseq++;
        ck_assert_int_eq(ftruncate(file_fd, SIZE / 2), 0);
        ck_assert_int_eq(ioctl(loop_fd, LOOP_SET_CAPACITY), 0);
        expect_verify(claimed, ESTALE, "size");
        ck_assert_int_eq(ftruncate(file_fd, 0), 0);
        ck_assert_int_eq(ioctl(loop_fd, LOOP_SET_CAPACITY), 0);
        expect_verify(claimed, ENODEV, "gone");
        ck_assert_int_eq(ftruncate(file_fd, SIZE), 0); /* the mapping is compared no more, but unmapped */
}
END_TEST

START_TEST(test_read_only) {
        int on = 1;

        ck_assert_int_eq(ioctl(loop_fd, BLKROSET, &on), 0);
        expect_refusal(path, confirmation(), "read-only");
}
END_TEST

START_TEST(test_examine_tells_what_a_claim_would) {
        _cleanup_device_info_ DeviceInfo *info = read_info(path);
        _cleanup_reasons_ Reasons free_reasons = {}, reasons = {}, busy = {};
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_eq(device_examine(info, &free_reasons, &error), 0);
        ck_assert_uint_eq(free_reasons.n, 0);
        put_luks();
        ck_assert_int_eq(device_examine(info, &reasons, &error), 0);
        ck_assert_uint_eq(reasons.n, 1);
        ck_assert_int_eq((int) reasons.items[0].kind, REASON_SIGNATURE);

        int holder = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
        ck_assert_int_eq(device_examine(info, &busy, &error), 0);
        ck_assert_uint_eq(busy.n, 2);
        ck_assert_int_eq((int) busy.items[0].kind, REASON_BUSY);
        ck_assert_int_eq((int) busy.items[1].kind, REASON_SIGNATURE);
        close(holder);
        ck_assert(is_untouched());
}
END_TEST

/* A privilege is missing: told as such, before anything is looked at. */
START_TEST(test_not_root) {
        const char *const confirmations[] = { confirmation(), NULL };
        _cleanup_error_ Error error = ERROR_INIT;
        Claim *claimed = NULL;

        ck_assert_int_eq(seteuid(65534), 0);
        ck_assert_int_lt(claim_new(&claimed, &(ClaimRequest) { path, confirmations, false }, &error), 0);
        ck_assert_int_eq((int) error.kind, ERROR_NOT_PERMITTED);
        ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* Its processes cannot be looked into by everybody: then that is the reason. */
START_TEST(test_examine_without_root) {
        _cleanup_device_info_ DeviceInfo *info = read_info(path);
        _cleanup_reasons_ Reasons reasons = {};
        _cleanup_error_ Error error = ERROR_INIT;

        ck_assert_int_eq(seteuid(65534), 0);
        ck_assert_int_eq(device_examine(info, &reasons, &error), 0);
        ck_assert_uint_ge(reasons.n, 1);
        ck_assert_int_eq((int) reasons.items[0].kind, REASON_UNREADABLE);
        ck_assert_ptr_nonnull(strstr(reasons.items[0].text, "run as root"));
        ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("claim");
        TCase *tests = tcase_create("loop");

        tcase_set_timeout(tests, 60);
        tcase_add_checked_fixture(tests, make, drop);
        tcase_add_test(tests, test_claim_holds);
        tcase_add_test(tests, test_confirmation);
        tcase_add_test(tests, test_signature);
        tcase_add_test(tests, test_erasing_waits_for_settle);
        tcase_add_test(tests, test_erasing_drops_partitions);
        tcase_add_test(tests, test_opener);
        tcase_add_test(tests, test_opener_in_a_thread_of_its_own_table);
        tcase_add_test(tests, test_lock_holder);
        tcase_add_test(tests, test_opener_in_passing);
        tcase_add_test(tests, test_opener_seen_once_only);
        tcase_add_test(tests, test_partition);
        tcase_add_test(tests, test_relatives_are_looked_at);
        tcase_add_test(tests, test_partitions_overlap_with_their_disk_alone);
        tcase_add_test(tests, test_busy_without_culprit);
        tcase_add_test(tests, test_busy_is_tried_again);
        tcase_add_test(tests, test_opener_between_look_and_open);
        tcase_add_test(tests, test_refused_device_was_not_open_for_writing);
        tcase_add_test(tests, test_claim_for_reading_is_not_open_for_writing);
        tcase_add_test(tests, test_claim_made_writable_holds);
        tcase_add_test(tests, test_claim_made_writable_still_erases);
        tcase_add_test(tests, test_another_device_is_not_made_writable);
        tcase_add_test(tests, test_every_reason_is_told);
        tcase_add_loop_test(tests, test_own_worker, 0, 2);
        tcase_add_test(tests, test_worker_whose_service_is_gone);
        tcase_add_test(tests, test_what_only_bears_the_name_is_no_worker);
        tcase_add_test(tests, test_settle_writes_to_the_claimed_device_only);
        tcase_add_test(tests, test_changed_between_check_and_open);
        tcase_add_test(tests, test_verify);
        tcase_add_test(tests, test_read_only);
        tcase_add_test(tests, test_examine_tells_what_a_claim_would);
        tcase_add_test(tests, test_not_root);
        tcase_add_test(tests, test_examine_without_root);
        suite_add_tcase(suite, tests);
        return suite;
}

int main(void) {
        if (geteuid() != 0 || access("/dev/loop-control", R_OK | W_OK) < 0) {
                puts("1..0 # SKIP needs root and loop devices");
                return EXIT_SUCCESS;
        }

        SRunner *runner = srunner_create(make_suite());
        srunner_set_tap(runner, "-");
        srunner_run_all(runner, CK_SILENT);
        int failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

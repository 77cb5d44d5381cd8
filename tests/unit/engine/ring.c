/* SPDX-License-Identifier: MIT */

#include "engine/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "unit.h"
#include "util/macro.h"
#include "util/time.h"

#define BLOCK 4096U
#define DEPTH 64U

static uint8_t *memory;
static struct iovec buffers[2];
static Ring *ring;

static void make_ring(int fd, uint32_t depth) {
        _cleanup_error_ Error error = ERROR_INIT;

        memory = mmap(NULL, 2 * DEPTH * BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(memory, MAP_FAILED);
        for (unsigned i = 0; i < 2; i++)
                buffers[i] = (struct iovec){ .iov_base = memory + i * DEPTH * BLOCK, .iov_len = DEPTH * BLOCK };

        ck_assert_msg(ring_new(&ring, RING_URING, fd, depth, buffers, 2, &error) == 0, "%s", error_message(&error));
        ck_assert_msg(ring_enable(ring, &error) == 0, "%s", error_message(&error));
}

static void end_ring(void) {
        ring = ring_free(ring);
        munmap(memory, 2 * DEPTH * BLOCK);
}

static int memory_file(uint64_t n_bytes) {
        int fd = memfd_create("device", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(ftruncate(fd, (off_t) n_bytes), 0);
        return fd;
}

/* Waits for n completions, and checks that each slot comes back once with this result. */
static void await(unsigned n, int32_t result) {
        RingCompletion completions[DEPTH];
        bool seen[DEPTH] = {};

        for (unsigned left = n; left > 0;) {
                ck_assert_int_eq(ring_submit_and_wait(ring, 1, NSEC_PER_SEC), 0);

                unsigned taken = ring_reap(ring, completions, 5);
                ck_assert_uint_le(taken, left);
                for (unsigned i = 0; i < taken; i++) {
                        ck_assert_int_eq(completions[i].result, result);
                        ck_assert_uint_lt(completions[i].slot, n);
                        ck_assert(!seen[completions[i].slot]);
                        seen[completions[i].slot] = true;
                }
                left -= taken;
        }
        ck_assert_uint_eq(ring_reap(ring, completions, 5), 0);
}

START_TEST(writes_and_reads_in_both_buffers) {
        _cleanup_close_ int fd = memory_file(DEPTH * BLOCK);

        make_ring(fd, DEPTH);
        for (unsigned i = 0; i < DEPTH; i++) {
                memset(memory + i * BLOCK, (int) i + 1, BLOCK);
                ring_prepare(ring, DIRECTION_WRITE, memory + i * BLOCK, 0, BLOCK, i * BLOCK, i);
        }
        await(DEPTH, BLOCK);
        for (unsigned i = 0; i < DEPTH; i++)
                ring_prepare(ring, DIRECTION_READ, memory + (DEPTH + i) * BLOCK, 1, BLOCK, i * BLOCK, i);
        await(DEPTH, BLOCK);
        ck_assert_mem_eq(memory, memory + DEPTH * BLOCK, DEPTH * BLOCK);
        end_ring();
}
END_TEST

/* What is no block device knows no BLKDISCARD; that a real one trims is for the tests of devices. */
START_TEST(a_trim_comes_back_with_what_the_device_said) {
        _cleanup_close_ int fd = memory_file(DEPTH * BLOCK);

        make_ring(fd, DEPTH);
        for (unsigned i = 0; i < 2; i++) {
                ring_prepare(ring, DIRECTION_TRIM, NULL, 0, BLOCK, 0, 0);
                await(1, -ENOTTY);
        }
        end_ring();
}
END_TEST

START_TEST(a_buffer_that_is_not_the_one_named_is_refused) {
        _cleanup_close_ int fd = memory_file(DEPTH * BLOCK);

        make_ring(fd, DEPTH);
        ring_prepare(ring, DIRECTION_WRITE, memory, 1, BLOCK, 0, 0);
        await(1, -EFAULT);
        end_ring();
}
END_TEST

START_TEST(results_of_the_device_come_through) {
        _cleanup_close_ int fd = memory_file(BLOCK + 512);

        make_ring(fd, DEPTH);
        ring_prepare(ring, DIRECTION_READ, memory, 0, BLOCK, BLOCK, 0);
        await(1, 512);
        ring_prepare(ring, DIRECTION_READ, memory, 0, BLOCK, 2 * BLOCK, 0);
        await(1, 0);
        end_ring();
}
END_TEST

START_TEST(the_wait_ends_without_a_completion) {
        int fds[2];

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        make_ring(fds[0], DEPTH);
        ring_prepare(ring, DIRECTION_READ, memory, 0, 512, 0, 0);

        uint64_t before = time_monotonic_ns();
        RingCompletion completion;
        ck_assert_int_eq(ring_submit_and_wait(ring, 1, 5 * NSEC_PER_MSEC), 0);
        ck_assert_uint_ge(time_monotonic_ns() - before, 5 * NSEC_PER_MSEC);
        ck_assert_uint_eq(ring_reap(ring, &completion, 1), 0);
        ck_assert_int_eq(ring_submit_and_wait(ring, 1, 1 * NSEC_PER_MSEC), 0);
        ck_assert_int_eq(ring_submit_and_wait(ring, 0, NSEC_PER_SEC), 0);
        ck_assert_uint_eq(ring_reap(ring, &completion, 1), 0);

        ck_assert_int_eq(write(fds[1], memory, 512), 512);
        await(1, 512);
        end_ring();
        close(fds[0]);
        close(fds[1]);
}
END_TEST

START_TEST(the_deepest_queue_goes_out_at_once) {
        enum { DEEPEST = 16384 };
        _cleanup_close_ int fd = memory_file(DEEPEST * 512);
        RingCompletion completions[256];
        unsigned n = 0, taken;

        make_ring(fd, DEEPEST);
        for (unsigned i = 0; i < DEEPEST; i++)
                ring_prepare(ring, DIRECTION_WRITE, memory, 0, 512, i * 512, i);
        while (n < DEEPEST) {
                ck_assert_int_eq(ring_submit_and_wait(ring, 1, NSEC_PER_SEC), 0);
                while ((taken = ring_reap(ring, completions, ELEMENTSOF(completions))) > 0)
                        for (unsigned i = 0; i < taken; i++, n++)
                                if (completions[i].result != 512)
                                        ck_abort_msg("slot %u: %d", completions[i].slot, completions[i].result);
        }
        end_ring();
}
END_TEST

/* The number of the process's only io_uring. */
static int find_uring(void) {
        DIR *d = opendir("/proc/self/fd");
        int found = -1;

        ck_assert_ptr_nonnull(d);
        for (struct dirent *e; (e = readdir(d));) {
                char target[64] = {};

                if (readlinkat(dirfd(d), e->d_name, target, sizeof target - 1) > 0 &&
                    strcmp(target, "anon_inode:[io_uring]") == 0)
                        found = atoi(e->d_name);
        }
        closedir(d);
        return found;
}

/* As somebody who has taken over the process would: straight into the queue. */
START_TEST(anything_but_its_reads_and_writes_is_refused) {
        static const struct {
                uint8_t opcode, flags;
        } forbidden[] = {
                { IORING_OP_NOP, IOSQE_FIXED_FILE },     { IORING_OP_READ, IOSQE_FIXED_FILE },
                { IORING_OP_WRITE, IOSQE_FIXED_FILE },   { IORING_OP_OPENAT, 0 },
                { IORING_OP_FALLOCATE, IOSQE_FIXED_FILE }, { IORING_OP_SEND, IOSQE_FIXED_FILE },
                { IORING_OP_URING_CMD, IOSQE_FIXED_FILE }, { IORING_OP_WRITE_FIXED, 0 },
                { IORING_OP_WRITE_FIXED, IOSQE_FIXED_FILE | IOSQE_ASYNC },
        };
        _cleanup_close_ int fd = memory_file(DEPTH * BLOCK);

        make_ring(fd, DEPTH);
        struct io_uring_sqe *sqes = mmap(NULL, DEPTH * sizeof *sqes, PROT_READ | PROT_WRITE, MAP_SHARED, find_uring(),
                                         IORING_OFF_SQES);
        ck_assert_ptr_ne(sqes, MAP_FAILED);
        for (unsigned i = 0; i < ELEMENTSOF(forbidden); i++) {
                ring_prepare(ring, DIRECTION_WRITE, memory, 0, BLOCK, 0, 0);
                sqes[i].opcode = forbidden[i].opcode;
                sqes[i].flags = forbidden[i].flags;
                await(1, -EACCES);
        }
        munmap(sqes, DEPTH * sizeof *sqes);
        end_ring();
}
END_TEST

START_TEST(no_other_file_or_buffer_can_be_registered) {
        static const unsigned ops[] = {
                IORING_REGISTER_FILES,         IORING_REGISTER_FILES_UPDATE, IORING_REGISTER_BUFFERS,
                IORING_REGISTER_BUFFERS_UPDATE, IORING_REGISTER_PERSONALITY, IORING_REGISTER_RESTRICTIONS,
        };
        _cleanup_close_ int fd = memory_file(BLOCK), other = memory_file(BLOCK);

        make_ring(fd, DEPTH);
        for (unsigned i = 0; i < ELEMENTSOF(ops); i++) {
                ck_assert_int_eq(syscall(__NR_io_uring_register, find_uring(), ops[i], &other, 1), -1);
                ck_assert_msg(errno == EACCES || errno == EBADFD, "operation %u: %s", ops[i], strerror(errno));
        }
        end_ring();
}
END_TEST

/* Lets every io_uring_setup() fail with errnum from now on. */
static void forbid_io_uring(unsigned errnum) {
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = ELEMENTSOF(code), .filter = code };

        ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void assert_setup_fails(unsigned errnum, const char *words) {
        _cleanup_error_ Error error = ERROR_INIT;
        struct iovec buffer = { .iov_base = &error, .iov_len = sizeof error };

        forbid_io_uring(errnum);
        ck_assert_int_eq(ring_new(&ring, RING_URING, 0, 8, &buffer, 1, &error), -(int) errnum);
        ck_assert_int_eq(error.kind, ERROR_FAILED);
        ck_assert_msg(strstr(error_message(&error), words) != NULL, "%s", error_message(&error));
        ck_assert_ptr_null(ring);
}

START_TEST(a_kernel_without_io_uring_is_told) {
        assert_setup_fails(ENOSYS, "no io_uring");
}
END_TEST

START_TEST(forbidden_io_uring_is_told) {
        assert_setup_fails(EPERM, "kernel.io_uring_disabled");
}
END_TEST

START_TEST(an_old_kernel_is_told) {
        assert_setup_fails(EINVAL, "too old");
}
END_TEST

START_TEST(nothing_is_left_open) {
        _cleanup_close_ int fd = memory_file(BLOCK);

        make_ring(fd, DEPTH);
        ck_assert_int_ge(find_uring(), 0);
        end_ring();
        ck_assert_int_lt(find_uring(), 0);
}
END_TEST

START_TEST(the_noop_ring_completes_what_was_submitted) {
        RingCompletion completions[8];
        bool seen[3] = {};

        ck_assert_int_eq(ring_new(&ring, RING_NOOP, -EBADF, 3, NULL, 0, NULL), 0);
        ck_assert_int_eq(ring_enable(ring, NULL), 0);
        for (unsigned i = 0; i < 3; i++)
                ring_prepare(ring, DIRECTION_WRITE, NULL, 0, 512 + i, 0, i);
        ck_assert_uint_eq(ring_reap(ring, completions, 8), 0);
        ck_assert_int_eq(ring_submit_and_wait(ring, 3, NSEC_PER_SEC), 0);
        ck_assert_uint_eq(ring_reap(ring, completions, 2), 2);
        ck_assert_uint_eq(ring_reap(ring, completions + 2, 6), 1);
        for (unsigned i = 0; i < 3; i++) {
                ck_assert_int_eq(completions[i].result, 512 + (int) completions[i].slot);
                ck_assert(!seen[completions[i].slot]);
                seen[completions[i].slot] = true;
        }
        ring = ring_free(ring);
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("ring");
        TCase *c = tcase_create("ring");

        tcase_set_timeout(c, 60);
        tcase_add_test(c, writes_and_reads_in_both_buffers);
        tcase_add_test(c, a_trim_comes_back_with_what_the_device_said);
        tcase_add_test(c, a_buffer_that_is_not_the_one_named_is_refused);
        tcase_add_test(c, results_of_the_device_come_through);
        tcase_add_test(c, the_wait_ends_without_a_completion);
        tcase_add_test(c, the_deepest_queue_goes_out_at_once);
        tcase_add_test(c, anything_but_its_reads_and_writes_is_refused);
        tcase_add_test(c, no_other_file_or_buffer_can_be_registered);
        tcase_add_test(c, a_kernel_without_io_uring_is_told);
        tcase_add_test(c, forbidden_io_uring_is_told);
        tcase_add_test(c, an_old_kernel_is_told);
        tcase_add_test(c, nothing_is_left_open);
        tcase_add_test(c, the_noop_ring_completes_what_was_submitted);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)

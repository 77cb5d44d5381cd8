/* SPDX-License-Identifier: MIT */

/*
 * What the flags buy: with SINGLE_ISSUER and DEFER_TASKRUN a completion interrupts nobody; the kernel collects
 * them and posts them when the thread asks, many in one go. Registered file, buffers and ring fd save the look-up,
 * pin and count of each. Older kernels get what they know.
 *
 * The restrictions are what makes the rest of the process harmless to other devices: even a worker that was taken
 * over can ask this ring for nothing but reads, writes and flushes of the one registered file, into the
 * registered buffers. Trims are beside that, by a call on the file: as of 6.12 a ring could ask for them too, but not
 * on kernels that people have, and fio does it in this way as well. They are set by the raw system call, since not
 * every liburing exports the wrapper.
 */

#include "engine/ring.h"

#include <errno.h>
#include <liburing.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "util/macro.h"

struct Ring {
        RingKind kind;
        struct io_uring uring; /* RING_URING */
        bool is_closed;

        int fd;        /* for trims */
        bool has_trim; /* one is queued: */
        uint32_t trim_slot;
        uint64_t trim_range[2]; /* offset, length: what BLKDISCARD takes */
        bool has_trimmed;       /* one was done: */
        RingCompletion trimmed;

        RingCompletion *done; /* RING_NOOP: queued and, after the next submit, completed */
        uint32_t n_done;
        uint32_t n_submitted;
};

static int setup_error(int r, Error *error) {
        switch (-r) {
        case ENOSYS:
                return error_set(error, ERROR_FAILED, ENOSYS,
                                 "this kernel has no io_uring; plateau needs Linux 5.11 or later with CONFIG_IO_URING");
        case EPERM:
        case EACCES:
                return error_set(error, ERROR_FAILED, -r,
                                 "io_uring is forbidden here; look at the sysctl kernel.io_uring_disabled and at the "
                                 "system-call filter of the container or service");
        case EINVAL:
                return error_set(error, ERROR_FAILED, EINVAL,
                                 "the io_uring of this kernel is too old; plateau needs Linux 5.11 or later");
        case ENOMEM:
                return error_set(
                        error, ERROR_FAILED, ENOMEM,
                        "not enough memory, or too low a limit of locked memory (RLIMIT_MEMLOCK), for io_uring");
        default:
                return error_set(error, ERROR_FAILED, -r, "cannot set up io_uring: %s", strerror(-r));
        }
}

/* The most that this kernel knows. Each kernel refuses flags that it does not know with EINVAL. */
static int queue_init(struct io_uring *uring, uint32_t depth) {
        static const unsigned flag_sets[] = {
                IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN |
                        IORING_SETUP_TASKRUN_FLAG,                 /* 6.1 */
                IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, /* 5.19 */
                0,
        };
        int r = -EINVAL;

        for (size_t i = 0; i < ELEMENTSOF(flag_sets) && r == -EINVAL; i++) {
                struct io_uring_params params = { .flags = flag_sets[i] | IORING_SETUP_R_DISABLED };

                r = io_uring_queue_init_params(depth, uring, &params);
                if (r == 0 && !(params.features & IORING_FEAT_EXT_ARG)) {
                        io_uring_queue_exit(uring);
                        return -EINVAL;
                }
        }
        return r;
}

static int uring_register(const struct io_uring *uring, unsigned op, const void *arg, unsigned n) {
        return syscall(__NR_io_uring_register, uring->ring_fd, op, arg, n) < 0 ? -errno : 0;
}

static int restrict_ring(const struct io_uring *uring) {
        static const uint8_t sqe_ops[] = { IORING_OP_READ_FIXED, IORING_OP_WRITE_FIXED, IORING_OP_FSYNC };
        static const uint8_t register_ops[] = {
                IORING_REGISTER_ENABLE_RINGS,  IORING_REGISTER_RING_FDS,   IORING_UNREGISTER_RING_FDS,
                IORING_UNREGISTER_BUFFERS, IORING_UNREGISTER_FILES,
        };
        struct io_uring_restriction list[ELEMENTSOF(sqe_ops) + ELEMENTSOF(register_ops) + 1] = {};
        unsigned n = 0;

        for (size_t i = 0; i < ELEMENTSOF(sqe_ops); i++)
                list[n++] = (struct io_uring_restriction){
                        .opcode = IORING_RESTRICTION_SQE_OP,
                        .sqe_op = sqe_ops[i],
                };
        for (size_t i = 0; i < ELEMENTSOF(register_ops); i++)
                list[n++] = (struct io_uring_restriction){
                        .opcode = IORING_RESTRICTION_REGISTER_OP,
                        .register_op = register_ops[i],
                };
        list[n++] = (struct io_uring_restriction){
                .opcode = IORING_RESTRICTION_SQE_FLAGS_REQUIRED,
                .sqe_flags = IOSQE_FIXED_FILE,
        };

        return uring_register(uring, IORING_REGISTER_RESTRICTIONS, list, n);
}

static int uring_new(struct io_uring *uring, int fd, uint32_t depth, const struct iovec *buffers, unsigned n_buffers) {
        int r;

        r = queue_init(uring, depth);
        if (r < 0)
                return r;

        r = io_uring_register_files(uring, &fd, 1);
        if (r >= 0)
                r = io_uring_register_buffers(uring, buffers, n_buffers);
        if (r >= 0)
                r = restrict_ring(uring);
        if (r < 0)
                io_uring_queue_exit(uring);
        return r;
}

int ring_new(Ring **ret, RingKind kind, int fd, uint32_t depth, const struct iovec *buffers, unsigned n_buffers,
             Error *error) {
        _cleanup_free_ Ring *ring = calloc(1, sizeof *ring);
        int r = 0;

        if (!ring)
                return setup_error(-ENOMEM, error);

        ring->kind = kind;
        ring->fd = fd;
        switch (kind) {
        case RING_URING:
                r = uring_new(&ring->uring, fd, depth, buffers, n_buffers);
                break;
        case RING_NOOP:
                ring->done = calloc(depth, sizeof *ring->done);
                if (!ring->done)
                        r = -ENOMEM;
                break;
        }
        if (r < 0)
                return setup_error(r, error);

        *ret = TAKE_PTR(ring);
        return 0;
}

int ring_enable(Ring *ring, Error *error) {
        int r;

        if (ring->kind == RING_NOOP)
                return 0;

        r = uring_register(&ring->uring, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
        if (r < 0)
                return setup_error(r, error);

        /* Saves a little on every call where the kernel has it (5.18); no harm where not. */
        (void) io_uring_register_ring_fd(&ring->uring);
        return 0;
}

/* An entry is always free, here and for flushes: there are as many as slots, and no slot is used twice at a time. */
void ring_prepare(Ring *ring, Direction direction, void *buf, unsigned buffer, uint32_t length, uint64_t offset,
                  uint32_t slot) {
        if (ring->kind == RING_NOOP) {
                ring->done[ring->n_done++] = (RingCompletion){ .slot = slot, .result = (int32_t) length };
                return;
        }

        if (direction == DIRECTION_TRIM) {
                ring->has_trim = true;
                ring->trim_slot = slot;
                ring->trim_range[0] = offset;
                ring->trim_range[1] = length;
                return;
        }

        struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring); /* there is one for each slot */
        if (direction == DIRECTION_READ)
                io_uring_prep_read_fixed(sqe, 0, buf, length, offset, (int) buffer);
        else
                io_uring_prep_write_fixed(sqe, 0, buf, length, offset, (int) buffer);
        io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
        io_uring_sqe_set_data64(sqe, slot);
}

void ring_prepare_flush(Ring *ring, uint32_t slot) {
        if (ring->kind == RING_NOOP) {
                ring->done[ring->n_done++] = (RingCompletion){ .slot = slot };
                return;
        }

        struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);
        io_uring_prep_fsync(sqe, 0, IORING_FSYNC_DATASYNC);
        io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
        io_uring_sqe_set_data64(sqe, slot);
}

static void trim(Ring *ring) {
        int r = ioctl(ring->fd, BLKDISCARD, ring->trim_range) < 0 ? -errno : (int) ring->trim_range[1];

        ring->has_trim = false;
        ring->has_trimmed = true;
        ring->trimmed = (RingCompletion){ .slot = ring->trim_slot, .result = r };
}

int ring_submit_and_wait(Ring *ring, unsigned wait_nr, uint64_t timeout_ns) {
        struct __kernel_timespec timeout = {
                .tv_sec = (int64_t) (timeout_ns / NSEC_PER_SEC),
                .tv_nsec = (int64_t) (timeout_ns % NSEC_PER_SEC),
        };
        struct io_uring_cqe *cqe;
        int r;

        if (ring->kind == RING_NOOP) {
                ring->n_submitted = ring->n_done;
                return 0;
        }

        if (ring->has_trim) {
                trim(ring);
                wait_nr = 0;
        }
        if (wait_nr == 0)
                r = io_uring_submit(&ring->uring);
        else
                r = io_uring_submit_and_wait_timeout(&ring->uring, &cqe, wait_nr, &timeout, NULL);
        return r >= 0 || r == -ETIME || r == -EINTR ? 0 : r;
}

static unsigned noop_reap(Ring *ring, RingCompletion *ret, unsigned n) {
        n = MIN(n, ring->n_submitted);
        ring->n_submitted -= n;
        ring->n_done -= n;
        memcpy(ret, ring->done + ring->n_done, n * sizeof *ret);
        return n;
}

unsigned ring_reap(Ring *ring, RingCompletion *ret, unsigned n) {
        struct io_uring_cqe *cqe;
        unsigned head, taken = 0;

        if (ring->kind == RING_NOOP)
                return noop_reap(ring, ret, n);

        if (ring->has_trimmed && n > 0) {
                ring->has_trimmed = false;
                ret[0] = ring->trimmed;
                return 1;
        }

        io_uring_for_each_cqe(&ring->uring, head, cqe) {
                if (taken == n)
                        break;
                ret[taken++] = (RingCompletion){ .slot = (uint32_t) cqe->user_data, .result = cqe->res };
        }
        io_uring_cq_advance(&ring->uring, taken);
        return taken;
}

void ring_close(Ring *ring) {
        if (ring->kind == RING_NOOP || ring->is_closed)
                return;

        (void) io_uring_unregister_files(&ring->uring);
        (void) io_uring_unregister_buffers(&ring->uring);
        io_uring_queue_exit(&ring->uring);
        ring->is_closed = true;
}

Ring *ring_free(Ring *ring) {
        if (!ring)
                return NULL;

        ring_close(ring);
        free(ring->done);
        free(ring);
        return NULL;
}

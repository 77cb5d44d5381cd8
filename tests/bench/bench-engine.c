/* SPDX-License-Identifier: MIT */

/*
 * Runs the engine alone, as a worker would (a sample each second, encoded), and prints one JSON object of what it
 * did and what it cost. tests/bench/engine makes the device that it is given and compares.
 *
 *     bench-engine noop|PATH rw=randwrite|randread bs=BYTES depth=N seconds=N workers=N
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "engine/engine.h"
#include "util/macro.h"
#include "util/parse.h"
#include "util/time.h"

typedef struct Options {
        const char *path;
        RwMode rw;
        uint64_t block_bytes;
        uint64_t depth;
        uint64_t seconds;
        uint64_t workers;
} Options;

static int parse_option(Options *options, const char *arg) {
        if (strcmp(arg, "rw=randread") == 0)
                options->rw = RW_RANDREAD;
        else if (strcmp(arg, "rw=randwrite") == 0)
                options->rw = RW_RANDWRITE;
        else if (strncmp(arg, "bs=", 3) == 0)
                return parse_u64_range(arg + 3, 512, JOB_BLOCK_BYTES_MAX, &options->block_bytes);
        else if (strncmp(arg, "depth=", 6) == 0)
                return parse_u64_range(arg + 6, 1, JOB_OUTSTANDING_MAX, &options->depth);
        else if (strncmp(arg, "seconds=", 8) == 0)
                return parse_u64_range(arg + 8, 1, 86400, &options->seconds);
        else if (strncmp(arg, "workers=", 8) == 0)
                return parse_u64_range(arg + 8, 1, JOB_WORKERS_MAX, &options->workers);
        else
                return -EINVAL;
        return 0;
}

static int parse_options(Options *ret, int argc, char **argv) {
        Options options = { .rw = RW_RANDWRITE, .block_bytes = 4096, .depth = 32, .seconds = 10, .workers = 1 };
        int r = argc < 2 ? -EINVAL : 0;

        for (int i = 2; i < argc && r == 0; i++)
                r = parse_option(&options, argv[i]);
        if (r < 0)
                return r;
        if (options.workers > options.depth)
                return -EINVAL;

        options.path = argv[1];
        *ret = options;
        return 0;
}

/* Exclusively, so that nobody else can be using it. */
static int open_target(const Options *options, uint64_t *ret_bytes) {
        if (strcmp(options->path, "noop") == 0) {
                *ret_bytes = TIB;
                return 0;
        }

        _cleanup_close_ int fd = open(options->path, O_RDWR | O_DIRECT | O_EXCL | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (ioctl(fd, BLKGETSIZE64, ret_bytes) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static PhasePlan plan_phase(const Options *options, uint64_t device_bytes) {
        PhasePlan phase = {
                .rw = options->rw,
                .read_percent = options->rw == RW_RANDREAD ? 100 : 0,
                .iodepth = (uint32_t) options->depth,
                .numjobs = 1,
                .workers = (uint32_t) options->workers,
                .region_bytes = device_bytes,
                .limit_bytes = UINT64_MAX,
                .runtime_ns = options->seconds * NSEC_PER_SEC,
                .seed = 4711,
        };

        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                phase.block_bytes[d] = options->block_bytes;
                phase.n_blocks[d] = device_bytes / options->block_bytes;
        }
        return phase;
}

static uint64_t timeval_ns(struct timeval t) {
        return (uint64_t) t.tv_sec * NSEC_PER_SEC + (uint64_t) t.tv_usec * NSEC_PER_USEC;
}

/* Until the phase has ended, a sample a second. */
static void watch_phase(Engine *engine) {
        static Counters now, before;
        static Sample sample;
        static uint8_t buf[SAMPLE_ENCODED_MAX];
        struct pollfd event = { .fd = engine_event_fd(engine), .events = POLLIN };

        while (engine_state(engine) != ENGINE_IDLE) {
                uint64_t n_events;

                if (poll(&event, 1, 1000) > 0 && read(event.fd, &n_events, sizeof n_events) > 0)
                        continue;
                engine_counters(engine, &now);
                sample_set_difference(&sample, &now, &before);
                engine_in_flight(engine, &sample.in_flight, &sample.oldest_ns);
                (void) sample_encode(&sample, buf, sizeof buf);
                before = now;
        }
}

static uint64_t percentile(const Histogram *h, double fraction) {
        uint64_t ns = 0;

        (void) histogram_percentile(h, fraction, &ns);
        return ns;
}

/* Of this program since it began; getrusage() would tell what its parent had before the exec. */
static uint64_t peak_memory_bytes(void) {
        _cleanup_fclose_ FILE *f = fopen("/proc/self/status", "re");
        uint64_t kib = 0;
        char line[256];

        while (f && fgets(line, sizeof line, f))
                if (sscanf(line, "VmHWM: %" SCNu64, &kib) == 1)
                        break;
        return kib * KIB;
}

static void print_result(Engine *engine, const PhasePlan *phase, const struct rusage *start) {
        Direction direction = rw_mode_direction(phase->rw);
        static Counters totals;
        struct rusage end;

        getrusage(RUSAGE_SELF, &end);
        engine_counters(engine, &totals);

        uint64_t ns = engine_phase_running_ns(engine), ios = totals.ios[direction];
        uint64_t user_ns = timeval_ns(end.ru_utime) - timeval_ns(start->ru_utime);
        uint64_t system_ns = timeval_ns(end.ru_stime) - timeval_ns(start->ru_stime);
        uint64_t memory = peak_memory_bytes(), buffers = phase->iodepth * phase->block_bytes[direction];

        printf("{\"ios\": %" PRIu64 ", \"errors\": %" PRIu64 ", \"iops\": %.1f, \"user_ns_per_io\": %.1f, "
               "\"system_ns_per_io\": %.1f, \"latency_p50_ns\": %" PRIu64 ", \"latency_p99_ns\": %" PRIu64
               ", \"memory_beyond_buffers_bytes\": %" PRIu64 "}\n",
               ios, totals.errors, (double) ios / ((double) ns / 1e9),
               (double) user_ns / (double) MAX(ios, UINT64_C(1)), (double) system_ns / (double) MAX(ios, UINT64_C(1)),
               percentile(&totals.latency[direction], 0.5), percentile(&totals.latency[direction], 0.99),
               memory - MIN(memory, buffers));
}

static int run(const Options *options, Error *error) {
        _cleanup_engine_ Engine *engine = NULL;
        _cleanup_close_ int fd = -EBADF;
        struct rusage start;
        uint64_t device_bytes;
        int r;

        fd = open_target(options, &device_bytes);
        if (fd < 0)
                return error_set(error, ERROR_FAILED, -fd, "cannot open %s: %s", options->path, strerror(-fd));

        PhasePlan phase = plan_phase(options, device_bytes);
        r = engine_new(&engine, &(EngineConfig){
                .plan = &(Plan){ .n_phases = 1, .phases = &phase },
                .fd = fd,
                .ring_kind = strcmp(options->path, "noop") == 0 ? RING_NOOP : RING_URING,
                .run_tag = UINT64_C(0x706c617465617500),
        }, error);
        if (r < 0)
                return r;

        getrusage(RUSAGE_SELF, &start);
        r = engine_start_phase(engine, 0);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "cannot start: %s", strerror(-r));
        watch_phase(engine);
        print_result(engine, &phase, &start);
        return engine_ring_error(engine);
}

int main(int argc, char **argv) {
        _cleanup_error_ Error error = ERROR_INIT;
        Options options;

        if (parse_options(&options, argc, argv) < 0) {
                fprintf(stderr,
                        "usage: bench-engine noop|PATH [rw=randwrite|randread] [bs=BYTES] [depth=N] [seconds=N] "
                        "[workers=N]\n");
                return 2;
        }
        if (run(&options, &error) < 0) {
                fprintf(stderr, "bench-engine: %s\n", error_message(&error));
                return 1;
        }
        return 0;
}

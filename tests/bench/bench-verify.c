/* SPDX-License-Identifier: MIT */

/*
 * The engine writes all of a device in order, with verification or without, and reads all of it back in the same
 * blocks, checked or not. For tests/bench/engine.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "engine/engine.h"
#include "render/json.h"
#include "util/cleanup.h"
#include "util/macro.h"

static int await_idle(Engine *engine) {
        struct pollfd event = { .fd = engine_event_fd(engine), .events = POLLIN };
        uint64_t n_events;

        while (engine_state(engine) != ENGINE_IDLE)
                if (poll(&event, 1, 1000) > 0 && read(event.fd, &n_events, sizeof n_events) < 0)
                        return -errno;
        return engine_ring_error(engine);
}

static uint64_t user_ns(void) {
        struct rusage usage;

        getrusage(RUSAGE_SELF, &usage);
        return (uint64_t) usage.ru_utime.tv_sec * NSEC_PER_SEC + (uint64_t) usage.ru_utime.tv_usec * NSEC_PER_USEC;
}

/* A phase from its beginning to its end, into results. */
static int measure(Engine *engine, unsigned index, const char *name, bool tracks, json_object *results) {
        static Counters counters;
        uint64_t user_before_ns = user_ns(), bytes;
        History history;

        int r = engine_start_phase(engine, index);
        if (r >= 0)
                r = await_idle(engine);
        if (r < 0)
                return r;
        if (tracks)
                engine_history(engine, 0, &history);
        engine_counters(engine, &counters);
        bytes = counters.bytes[DIRECTION_READ] + counters.bytes[DIRECTION_WRITE];
        uint64_t ns = MAX(engine_phase_running_ns(engine), UINT64_C(1));
        json_object *result = json_object_new_object();
        json_add_u64(result, "bytes", bytes);
        json_add_u64(result, "errors", counters.errors);
        json_add_double(result, "bytes_per_s", (double) bytes * 1e9 / (double) ns);
        json_add_double(result, "user_ns_per_mib",
                        (double) (user_ns() - user_before_ns) * MIB / (double) MAX(bytes, UINT64_C(1)));
        json_add(results, name, result);
        return 0;
}

static int make_plan(Plan **ret, const char *block, const char *depth, const char *verify, uint64_t size_bytes,
                     Error *error) {
        _cleanup_job_ Job *job = NULL;
        char text[256];

        snprintf(text, sizeof(text), "[global]\nbs=%s\niodepth=%s\nverify=%s\n[w]\nrw=write\ndo_verify=0\n"
                 "[r]\nrw=read\n", block, depth, verify);
        int r = job_parse(&job, "bench", text, strlen(text), error);
        if (r < 0)
                return r;
        return plan_new(ret, job, &(PlanTarget){ .size_bytes = size_bytes, .logical_block_bytes = 512 }, 1, error);
}

static int run(char **argv, Error *error) {
        static const uint32_t n_shares[] = { 1, 1 };
        _cleanup_close_ int fd = open(argv[1], O_RDWR | O_DIRECT | O_EXCL | O_CLOEXEC);
        _cleanup_plan_ Plan *plan = NULL;
        _cleanup_engine_ Engine *engine = NULL;
        _cleanup_json_ json_object *results = json_object_new_object();
        uint64_t size_bytes;

        if (fd < 0 || ioctl(fd, BLKGETSIZE64, &size_bytes) < 0)
                return error_set(error, ERROR_FAILED, errno, "cannot open %s: %s", argv[1], strerror(errno));
        int r = make_plan(&plan, argv[2], argv[3], argv[4], size_bytes, error);
        if (r < 0)
                return r;

        Histories *histories = histories_new(n_shares, ELEMENTSOF(n_shares));
        if (!histories)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        r = engine_new(&engine, &(EngineConfig){
                .plan = plan, .fd = fd, .ring_kind = RING_URING, .run_tag = UINT64_C(0x706c617465617500),
                .histories = histories,
        }, error);
        if (r >= 0)
                r = measure(engine, 0, "write", plan->phases[0].is_tracked, results);
        if (r >= 0)
                r = measure(engine, 1, "read", false, results);
        if (r >= 0) {
                Verification verification = {};

                if (plan->phases[1].is_checked)
                        engine_verification(engine, &verification);
                json_add_u64(results, "checked_bytes", verification.checked_bytes);
                json_add_u64(results, "mismatches", verification_errors(&verification));
                r = json_print(results, true, stdout);
        }
        engine = engine_free(engine);
        histories_free(histories);
        return r;
}

int main(int argc, char **argv) {
        _cleanup_error_ Error error = ERROR_INIT;

        if (argc != 5) {
                fprintf(stderr, "usage: bench-verify PATH BS DEPTH crc32c|0\n");
                return 2;
        }
        if (run(argv, &error) < 0) {
                fprintf(stderr, "bench-verify: %s\n", error_message(&error));
                return 1;
        }
        return 0;
}

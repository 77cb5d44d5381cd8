/* SPDX-License-Identifier: MIT */

/*
 * Writes a database for the tests of the command, through the store, as told by lines on standard input,
 * fields separated by tabs:
 *
 *     size    BYTES              of the device of the runs that follow; 1 GiB
 *     expect  LINE...            [expect] of the jobs that follow; none
 *     job     LINE...            the lines of the jobs that follow, whatever their PHASEs; none: these again
 *     run     NAME LABEL MODEL SERIAL PHASE...   a run with these phases; the lines below are about the last one
 *     state   STATE
 *     phase   INDEX STATE
 *     samples N PHASE DURATION_NS WRITES READS ERRORS LATENCY_NS   N times
 *     noisy   N PHASE WRITES PERCENT   N samples of a second, up and down by as much, without order
 *     temperature CELSIUS        of the samples that follow; unknown
 *     cpu     PERCENT [WORKER RING]   of host, worker and busiest ring thread, in the samples that follow; unknown
 *     event   KIND DETAIL
 *     errno   NUMBER COUNT
 *     verified PHASE BYTES CORRUPT MISPLACED TORN LOST   what came of reading all of it back
 *     hold    commit, then be the living service: prints "ready"; the lines after it are each committed
 *
 * An empty LABEL, MODEL or SERIAL is none. It ends with its input.
 */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "store/store.h"
#include "util/hash.h"
#include "util/macro.h"
#include "util/parse.h"

#define N_FIELDS_MAX 32
#define START_NS INT64_C(1772399645123000000) /* 2026-03-01 21:14:05.123 UTC */
#define BLOCK_BYTES 4096U

typedef struct Maker {
        Store *store;
        const char *path;
        uint32_t run;
        uint64_t seq;
        uint64_t elapsed_ns;
        uint64_t size_bytes;
        double temperature_c;
        double cpu_percent, worker_cpu_percent, ring_cpu_percent, held_percent;
        char *expect; /* lines */
        char *job;    /* lines, or NULL */
        bool held;
        Error error;
} Maker;

_Noreturn static void die(Maker *maker, const char *what) {
        fprintf(stderr, "make-db: %s: %s\n", what, error_message(&maker->error));
        exit(EXIT_FAILURE);
}

static void check(Maker *maker, int r, const char *what) {
        if (r < 0)
                die(maker, what);
}

static uint64_t number(Maker *maker, const char *s) {
        uint64_t value;

        check(maker, s ? parse_u64(s, &value) : -EINVAL, "number");
        return value;
}

static int64_t now_ns(const Maker *maker) {
        return START_NS + (int64_t) maker->elapsed_ns;
}

static char *none_if_empty(char *s) {
        return s && *s ? s : NULL;
}

static char *join_lines(const char *first, char **lines) {
        char *text = NULL;
        size_t length;

        FILE *f = open_memstream(&text, &length);
        fputs(first, f);
        for (; *lines; lines++)
                fprintf(f, "%s\n", *lines);
        fclose(f);
        return text;
}

static void make_expect(Maker *maker, char **fields) {
        free(maker->expect);
        maker->expect = join_lines("[expect]\n", fields + 1);
}

static void take_job(Maker *maker, char **fields) {
        free(maker->job);
        maker->job = fields[1] ? join_lines("", fields + 1) : NULL;
}

static void make_job(Maker *maker, const char *name, char **phases, Job **ret) {
        _cleanup_free_ char *text = NULL;
        size_t length;

        FILE *f = open_memstream(&text, &length);
        fputs(maker->job ?: "[global]\nbs=4k\niodepth=32\n", f);
        for (; !maker->job && *phases; phases++)
                fprintf(f, "[%s]\nrw=randwrite\nruntime=60\ntime_based\n", *phases);
        fputs(maker->expect ?: "", f);
        fclose(f);
        check(maker, job_parse(ret, name, text, length, &maker->error), "job");
}

static void make_run(Maker *maker, char **fields) {
        DeviceInfo device = {
                .path = (char *) "/dev/sdx",
                .name = (char *) "sdx",
                .disk_name = (char *) "sdx",
                .model = none_if_empty(fields[3]),
                .serial = none_if_empty(fields[4]),
                .size_bytes = maker->size_bytes,
                .logical_block_bytes = 512,
                .physical_block_bytes = 4096,
                .transport = (char *) "sata",
                .scheduler = (char *) "none",
                .read_ahead_kib = 128,
                .nr_requests = 64,
        };
        const PlanTarget target = { .size_bytes = maker->size_bytes, .logical_block_bytes = 512 };
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = NULL;

        make_job(maker, fields[1], fields + 5, &job);
        check(maker, plan_new(&plan, job, &target, 0, &maker->error), "plan");
        const StoreNewRun run = {
                .label = none_if_empty(fields[2]), .job = job, .plan = plan, .device = &device, .run_tag = 1, .seed = 1,
                .created_at_ns = START_NS, .boot_id = "boot", .host = "rack7 6.1.0",
        };
        maker->seq = 0;
        maker->elapsed_ns = 0;
        check(maker, store_insert_run(maker->store, &run, &maker->run, &maker->error), "run");
}

/* The rest follows from its counts and duration. */
static void add_sample(Maker *maker, Sample *sample, uint64_t latency_ns) {
        for (unsigned d = 0; d < N_DIRECTIONS; d++) {
                sample->bytes[d] = sample->ios[d] * BLOCK_BYTES;
                sample->latency[d].buckets[histogram_bucket(latency_ns)] = sample->ios[d];
        }
        maker->elapsed_ns += sample->duration_ns;
        sample->seq = maker->seq++;
        sample->elapsed_ns = maker->elapsed_ns;
        sample->at_ns = now_ns(maker);
        sample->in_flight = 32;
        sample->cpu_percent = maker->cpu_percent;
        sample->worker_cpu_percent = maker->worker_cpu_percent;
        sample->ring_cpu_percent = maker->ring_cpu_percent;
        sample->held_percent = maker->held_percent;
        sample->temperature_c = maker->temperature_c;
        check(maker, store_insert_sample(maker->store, maker->run, sample, &maker->error), "sample");
}

static void make_samples(Maker *maker, char **fields) {
        static Sample sample;
        uint64_t latency_ns = number(maker, fields[7]);

        memset(&sample, 0, sizeof(sample));
        sample.phase = (uint32_t) number(maker, fields[2]);
        sample.duration_ns = number(maker, fields[3]);
        sample.ios[DIRECTION_WRITE] = number(maker, fields[4]);
        sample.ios[DIRECTION_READ] = number(maker, fields[5]);
        sample.errors = number(maker, fields[6]);
        for (uint64_t n = number(maker, fields[1]); n > 0; n--)
                add_sample(maker, &sample, latency_ns);
}

/* Latency as of a queue of 32. */
static void make_noisy(Maker *maker, char **fields) {
        static Sample sample;
        uint64_t writes = number(maker, fields[3]), percent = number(maker, fields[4]);
        uint64_t latency_ns = 32 * NSEC_PER_SEC / MAX(writes, UINT64_C(1));

        memset(&sample, 0, sizeof(sample));
        sample.phase = (uint32_t) number(maker, fields[2]);
        sample.duration_ns = NSEC_PER_SEC;
        for (uint64_t n = number(maker, fields[1]); n > 0; n--) {
                uint64_t per_mille = 1000 - 10 * percent + hash_mix64_2(maker->run, maker->seq) % (20 * percent + 1);
                sample.ios[DIRECTION_WRITE] = writes * per_mille / 1000;
                add_sample(maker, &sample, latency_ns);
        }
}

static void make_phase_state(Maker *maker, char **fields) {
        PhaseState state = PHASE_PENDING;

        while (state < N_PHASE_STATES && strcmp(phase_state_name(state), fields[2]) != 0)
                state++;
        check(maker, store_set_phase_state(maker->store, maker->run, (uint32_t) number(maker, fields[1]), state,
                                           now_ns(maker),
                                           &maker->error), "phase");
}

static void make_errno(Maker *maker, char **fields) {
        const EngineErrno e = {
                .errnum = (int) number(maker, fields[1]),
                .count = number(maker, fields[2]),
                .first_at_ns = START_NS,
                .last_at_ns = now_ns(maker),
                .first_offset = 4096,
                .last_offset = 8192,
        };

        check(maker, store_set_errno(maker->store, maker->run, &e, &maker->error), "errno");
}

static void make_verified(Maker *maker, char **fields) {
        Verification verification = { .asked_bytes = number(maker, fields[2]),
                                      .checked_bytes = number(maker, fields[2]) };

        for (unsigned i = 0; i < N_MISMATCHES; i++)
                verification.n_blocks[i] = number(maker, fields[3 + i]);
        check(maker,
              store_set_verification(maker->store, maker->run, (uint32_t) number(maker, fields[1]), &verification,
                                     &maker->error),
              "verified");
}

static void hold(Maker *maker) {
        check(maker, store_commit(maker->store, &maker->error), "commit");
        check(maker, store_service_lock(maker->path, &maker->error), "lock");
        maker->held = true;
        check(maker, store_begin(maker->store, &maker->error), "begin");
        puts("ready");
        fflush(stdout);
}

static void make_event(Maker *maker, char **fields) {
        int kind = event_kind_from_name(fields[1]);

        check(maker, kind, "event");
        check(maker, store_insert_event(maker->store, maker->run, now_ns(maker), maker->elapsed_ns, (EventKind) kind,
                                        fields[2], &maker->error), "event");
}

static void make_state(Maker *maker, char **fields) {
        int state = run_state_from_name(fields[1]);

        check(maker, state, "state");
        check(maker, store_set_run_state(maker->store, maker->run, (RunState) state, now_ns(maker), &maker->error),
              "state");
}

static void take_cpu(Maker *maker, char **fields, bool own) {
        maker->cpu_percent = (double) number(maker, fields[1]);
        maker->worker_cpu_percent = own ? (double) number(maker, fields[2]) : NAN;
        maker->ring_cpu_percent = own ? (double) number(maker, fields[3]) : NAN;
}

static void obey(Maker *maker, char **fields, size_t n) {
        if (strcmp(fields[0], "run") == 0 && n >= 6)
                make_run(maker, fields);
        else if (strcmp(fields[0], "size") == 0 && n == 2)
                maker->size_bytes = number(maker, fields[1]);
        else if (strcmp(fields[0], "expect") == 0)
                make_expect(maker, fields);
        else if (strcmp(fields[0], "job") == 0)
                take_job(maker, fields);
        else if (strcmp(fields[0], "cpu") == 0 && (n == 2 || n == 4))
                take_cpu(maker, fields, n == 4);
        else if (strcmp(fields[0], "held") == 0 && n == 2)
                maker->held_percent = (double) number(maker, fields[1]);
        else if (strcmp(fields[0], "temperature") == 0 && n == 2)
                maker->temperature_c = (double) number(maker, fields[1]);
        else if (strcmp(fields[0], "noisy") == 0 && n == 5)
                make_noisy(maker, fields);
        else if (strcmp(fields[0], "samples") == 0 && n == 8)
                make_samples(maker, fields);
        else if (strcmp(fields[0], "state") == 0 && n == 2)
                make_state(maker, fields);
        else if (strcmp(fields[0], "phase") == 0 && n == 3)
                make_phase_state(maker, fields);
        else if (strcmp(fields[0], "event") == 0 && n == 3)
                make_event(maker, fields);
        else if (strcmp(fields[0], "errno") == 0 && n == 3)
                make_errno(maker, fields);
        else if (strcmp(fields[0], "verified") == 0 && n == 3 + N_MISMATCHES)
                make_verified(maker, fields);
        else if (strcmp(fields[0], "hold") == 0 && n == 1)
                hold(maker);
        else
                die(maker, fields[0]);
}

static void obey_line(Maker *maker, char *line) {
        char *fields[N_FIELDS_MAX + 1];
        size_t n = 0;

        line[strcspn(line, "\n")] = '\0';
        while (n < N_FIELDS_MAX && (fields[n] = strsep(&line, "\t")))
                n++;
        fields[n] = NULL;
        obey(maker, fields, n);
}

int main(int argc, char **argv) {
        Maker maker = { .path = argv[1], .size_bytes = GIB, .temperature_c = NAN, .cpu_percent = NAN,
                        .worker_cpu_percent = NAN, .ring_cpu_percent = NAN, .held_percent = NAN };
        _cleanup_free_ char *line = NULL;
        size_t size = 0;

        if (argc != 2)
                die(&maker, "usage: make-db FILE");
        check(&maker, store_open_writer(&maker.store, maker.path, &maker.error), "open");
        check(&maker, store_begin(maker.store, &maker.error), "begin");
        while (getline(&line, &size, stdin) >= 0) {
                obey_line(&maker, line);
                if (!maker.held)
                        continue;
                check(&maker, store_commit(maker.store, &maker.error), "commit");
                check(&maker, store_begin(maker.store, &maker.error), "begin");
        }
        check(&maker, store_commit(maker.store, &maker.error), "commit");
        store_close(maker.store);
        free(maker.expect);
        free(maker.job);
        return EXIT_SUCCESS;
}

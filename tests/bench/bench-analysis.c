/* SPDX-License-Identifier: MIT */

/*
 * What judging a curve costs, and a database to judge: called by tests/bench/analysis, prints one JSON object.
 *
 *     bench-analysis offline CURVE SAMPLES     everything that analyze computes, in this process
 *     bench-analysis online CURVE SAMPLES      the decision while a run goes on, sample by sample
 *     bench-analysis database CURVE SAMPLES FILE
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "analysis/analysis.h"
#include "analysis/criteria.h"
#include "analysis/online.h"
#include "curve.h"
#include "store/store.h"
#include "util/hash.h"
#include "util/macro.h"
#include "util/parse.h"
#include "util/time.h"

#define CAPACITY_BYTES (UINT64_C(120) * 1000 * 1000 * 1000)
#define BLOCK_BYTES 4096

/*
 * Shapes that cost in different ways: nothing to find, a fall, noise that looks like changes, falls without end, and
 * ways down without noise, where every block could begin a regime, the longer the less it falls.
 */
typedef struct Shape {
        const char *name;
        CurveNoise noise;
        CurveStep steps[4];
        size_t n_steps;
} Shape;

static const Shape shapes[] = {
        { .name = "flat", .noise = { .sigma = 0.05 } },
        { .name = "collapse", .noise = { .sigma = 0.2, .heavy_tails = true }, .n_steps = 4,
          .steps = { { 120, 9000, 20 }, { 1200, 1500, 600 }, { 7200, 900, 1 }, { 14400, 700, 1 } } },
        { .name = "correlated", .noise = { .sigma = 0.2, .phi = 0.95 } },
        { .name = "cycle", .noise = { .sigma = 0.05, .period_s = 900, .amplitude = 0.6 } },
        { .name = "decline", .n_steps = 1, .steps = { { 0, 700, 1e6 } } },
        { .name = "slight-decline", .n_steps = 1, .steps = { { 0, 31000, 1e6 } } },
        { .name = "fall-and-slight-decline", .n_steps = 2, .steps = { { 10000, 20000, 1 }, { 10001, 19500, 1e6 } } },
        /* Rounds that are as long as the period are all alike, and only a look at every block tells. */
        { .name = "quick-cycle", .noise = { .sigma = 0.05, .period_s = 120, .amplitude = 0.6 } },
};

static uint64_t cpu_ns(void) {
        struct timespec ts;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
        return (uint64_t) ts.tv_sec * NSEC_PER_SEC + (uint64_t) ts.tv_nsec;
}

/* Largest resident set of this process so far. */
static uint64_t peak_bytes(void) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        return (uint64_t) usage.ru_maxrss * 1024;
}

static int offline(const Curve *curve) {
        SniaResult snia;
        FioResult fio;
        Series series;
        Analysis *analysis = NULL;
        uint64_t begin_ns = cpu_ns();

        int r = series_init(&series, curve->points, curve->n);
        if (r < 0)
                return r;
        r = analysis_new(&analysis, &series, CAPACITY_BYTES);
        if (r >= 0)
                r = snia_judge(&series, &snia);
        if (r >= 0)
                r = fio_judge(&series, &FIO_CRITERION_DEFAULT, &fio);
        if (r >= 0)
                printf("{\"seconds\": %.4f, \"peak_bytes\": %" PRIu64 ", \"regimes\": %zu, \"verdict\": \"%s\"}\n",
                       (double) (cpu_ns() - begin_ns) / NSEC_PER_SEC, peak_bytes(), analysis->n_regimes,
                       collapse_verdict_name(analysis->collapse));
        analysis_free(analysis);
        series_done(&series);
        return r;
}

/* Nanoseconds a sample of points [from, to). */
static int online_part(SteadyDetector *detector, const Curve *curve, size_t from, size_t to, double *ret_ns) {
        SteadyDecision decision;
        uint64_t begin_ns = cpu_ns();

        for (size_t i = from; i < to; i++) {
                int r = steady_detector_add(detector, &curve->points[i], &decision);
                if (r < 0)
                        return r;
        }
        *ret_ns = (double) (cpu_ns() - begin_ns) / (double) MAX(to - from, (size_t) 1);
        return 0;
}

static int online(const Curve *curve) {
        SteadyDetector *detector = NULL;
        size_t tenth = curve->n / 10;
        double first_ns, middle_ns, last_ns;

        int r = steady_detector_new(&detector, CAPACITY_BYTES, 1);
        if (r >= 0)
                r = online_part(detector, curve, 0, tenth, &first_ns);
        if (r >= 0)
                r = online_part(detector, curve, tenth, curve->n - tenth, &middle_ns);
        if (r >= 0)
                r = online_part(detector, curve, curve->n - tenth, curve->n, &last_ns);
        if (r >= 0)
                printf("{\"first_tenth_ns\": %.1f, \"middle_ns\": %.1f, \"last_tenth_ns\": %.1f}\n",
                       first_ns, middle_ns, last_ns);
        steady_detector_free(detector);
        return r;
}

/* --- a database as the service writes it --- */

static int insert_run(Store *store, uint64_t n_samples, uint32_t *ret, Error *error) {
        JobPhase job_phase = { .name = (char *) "torture" };
        Job job = { .name = (char *) "overnight", .text = (char *) "[torture]\nrw=randwrite\n",
                    .sample_interval_ns = NSEC_PER_SEC, .n_phases = 1, .phases = &job_phase };
        PhasePlan phase = { .rw = RW_RANDWRITE, .block_bytes = { BLOCK_BYTES, BLOCK_BYTES, BLOCK_BYTES }, .iodepth = 32,
                            .numjobs = 1, .workers = 1, .region_bytes = CAPACITY_BYTES, .has_planned_time = true,
                            .planned_ns = n_samples * NSEC_PER_SEC };
        Plan plan = { .n_phases = 1, .phases = &phase };
        DeviceInfo device = { .path = (char *) "/dev/sdz", .name = (char *) "sdz", .disk_name = (char *) "sdz",
                              .size_bytes = CAPACITY_BYTES, .logical_block_bytes = 512, .physical_block_bytes = 4096 };
        StoreNewRun run = { .job = &job, .plan = &plan, .device = &device, .created_at_ns = 1, .boot_id = "-",
                            .host = "-" };

        int r = store_insert_run(store, &run, ret, error);
        if (r >= 0)
                r = store_set_phase_state(store, *ret, 0, PHASE_RUNNING, 1, error);
        return r;
}

/* A histogram as a drive gives them: some two hundred buckets, with a tail. */
static void set_latencies(Histogram *h, uint64_t ios, double iops, uint64_t seed) {
        memset(h, 0, sizeof(*h));
        double mean_ns = 32e9 / fmax(iops, 1);
        for (uint64_t i = 0; i < ios; i++) {
                double u = (double) (hash_mix64_2(seed, i) >> 11) * 0x1p-53;
                h->buckets[histogram_bucket((uint64_t) (mean_ns * (0.5 - 0.5 * log(1 - u))))]++;
        }
}

static int insert_samples(Store *store, uint32_t run, const Curve *curve, Error *error) {
        static Sample sample;
        int r = 0;

        for (size_t i = 0; i < curve->n && r >= 0; i++) {
                const SeriesPoint *p = &curve->points[i];
                uint64_t ios = (uint64_t) p->ios;

                sample = (Sample) { .seq = i, .at_ns = (int64_t) (i * NSEC_PER_SEC),
                                    .elapsed_ns = (i + 1) * NSEC_PER_SEC, .duration_ns = NSEC_PER_SEC,
                                    .in_flight = 32, .cpu_percent = 12, .temperature_c = NAN };
                sample.ios[DIRECTION_WRITE] = ios;
                sample.bytes[DIRECTION_WRITE] = ios * BLOCK_BYTES;
                set_latencies(&sample.latency[DIRECTION_WRITE], ios, p->ios, i);
                r = store_insert_sample(store, run, &sample, error);
        }
        return r;
}

static int write_database(const Curve *curve, const char *path) {
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_store_ Store *store = NULL;
        uint32_t run = 0;

        int r = store_open_writer(&store, path, &error);
        if (r >= 0)
                r = store_begin(store, &error);
        if (r >= 0)
                r = insert_run(store, curve->n, &run, &error);
        if (r >= 0)
                r = insert_samples(store, run, curve, &error);
        if (r >= 0)
                r = store_set_phase_state(store, run, 0, PHASE_DONE, (int64_t) (curve->n * NSEC_PER_SEC), &error);
        if (r >= 0)
                r = store_set_run_state(store, run, RUN_DONE, (int64_t) (curve->n * NSEC_PER_SEC), &error);
        if (r >= 0)
                r = store_commit(store, &error);
        if (r >= 0)
                printf("{\"run\": %" PRIu32 "}\n", run);
        else
                fprintf(stderr, "%s\n", error_message(&error));
        return r;
}

/* --- */

static const Shape *shape_find(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(shapes); i++)
                if (strcmp(shapes[i].name, name) == 0)
                        return &shapes[i];
        return NULL;
}

static int work(int argc, char **argv) {
        const Shape *shape = argc >= 4 ? shape_find(argv[2]) : NULL;
        uint64_t n;

        if (!shape || parse_u64_range(argv[3], 10, 100000000, &n) < 0)
                return -EINVAL;

        Curve curve = curve_make(35000, shape->steps, shape->n_steps, &shape->noise, (double) n, 1, 1);
        int r = -EINVAL;
        if (argc == 4 && strcmp(argv[1], "offline") == 0)
                r = offline(&curve);
        else if (argc == 4 && strcmp(argv[1], "online") == 0)
                r = online(&curve);
        else if (argc == 5 && strcmp(argv[1], "database") == 0)
                r = write_database(&curve, argv[4]);
        curve_done(&curve);
        return r;
}

int main(int argc, char **argv) {
        int r = work(argc, argv);

        if (r < 0)
                fprintf(stderr, "bench-analysis offline|online|database CURVE SAMPLES [FILE]: %s\n", strerror(-r));
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

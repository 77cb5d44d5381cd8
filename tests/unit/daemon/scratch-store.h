/* SPDX-License-Identifier: MIT */
#pragma once

/* A database of a test's own, in memory if there is a place for that, with one run in it. */

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/store.h"
#include "util/macro.h"

typedef struct Scratch {
        char directory[64];
        char path[96];
        Job *job;
        Plan *plan;
        DeviceInfo device;
        StoreNewRun run;
} Scratch;

static inline void scratch_setup(Scratch *scratch) {
        static const char text[] = "[w]\nrw=randwrite\nbs=4k\nruntime=60\ntime_based\n";
        PlanTarget target = { .size_bytes = 64 * MIB, .logical_block_bytes = 512 };

        *scratch = (Scratch){ .device = {
                .path = (char *) "/dev/none", .name = (char *) "none", .disk_name = (char *) "none",
                .size_bytes = 64 * MIB, .logical_block_bytes = 512, .physical_block_bytes = 512,
        } };
        snprintf(scratch->directory, sizeof(scratch->directory), "%s/plateau-unit-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(scratch->directory));
        snprintf(scratch->path, sizeof(scratch->path), "%s/plateau.db", scratch->directory);

        ck_assert_int_eq(job_parse(&scratch->job, "unit", text, strlen(text), NULL), 0);
        ck_assert_int_eq(plan_new(&scratch->plan, scratch->job, &target, 1, NULL), 0);
        scratch->run = (StoreNewRun){
                .job = scratch->job, .plan = scratch->plan, .device = &scratch->device,
                .run_tag = 1, .seed = 1, .created_at_ns = 1, .boot_id = "boot", .host = "host",
        };
}

static inline void scratch_teardown(Scratch *scratch) {
        static const char *const suffixes[] = { "", "-wal", "-shm", "-lock" };

        plan_free(scratch->plan);
        job_free(scratch->job);
        for (size_t i = 0; i < ELEMENTSOF(suffixes); i++) {
                char path[128];
                snprintf(path, sizeof(path), "%s%s", scratch->path, suffixes[i]);
                unlink(path);
        }
        rmdir(scratch->directory);
}

/* A row for tests of what comes after it. */
static inline uint32_t scratch_insert_run(Scratch *scratch) {
        _cleanup_store_ Store *store = NULL;
        uint32_t id;

        ck_assert_int_eq(store_open_writer(&store, scratch->path, NULL), 0);
        ck_assert_int_eq(store_begin(store, NULL), 0);
        ck_assert_int_eq(store_insert_run(store, &scratch->run, &id, NULL), 0);
        ck_assert_int_eq(store_commit(store, NULL), 0);
        return id;
}

/* Second `seq` of a run that began at 0. */
static inline void scratch_sample(Sample *ret, uint64_t seq) {
        *ret = (Sample){
                .seq = seq,
                .at_ns = (int64_t) ((seq + 1) * NSEC_PER_SEC),
                .elapsed_ns = (seq + 1) * NSEC_PER_SEC,
                .duration_ns = NSEC_PER_SEC,
                .ios[DIRECTION_WRITE] = 1,
                .bytes[DIRECTION_WRITE] = 4096,
        };
        ret->latency[DIRECTION_WRITE].buckets[histogram_bucket(1000)] = 1;
}

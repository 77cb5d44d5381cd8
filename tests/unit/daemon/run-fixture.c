/* SPDX-License-Identifier: MIT */

#include "run-fixture.h"

#include <string.h>

#include "fakes.h"
#include "scratch-store.h"
#include "unit.h"
#include "util/macro.h"
#include "util/time.h"

Manager *manager;
const char *run_job;
static sd_event *event;
static char directory[FAKE_DIRECTORY_MAX];

void open_manager(void) {
        ck_assert_int_eq(manager_new(&manager, event, directory, NULL), 0);
}

void run_setup(void) {
        fakes_reset();
        run_job = JOB;
        fake_directory_make(directory);
        ck_assert_int_ge(sd_event_new(&event), 0);
}

void run_teardown(void) {
        manager_free(manager);
        sd_event_unref(event);
        fake_directory_remove(directory);
}

static void on_started(const uint32_t *ids, size_t n, const Error *error, void *userdata) {
        ck_assert_ptr_null(error);
}

/* --- what a worker says --- */

int report(const char *path, const char *proof) {
        Message message = { .type = MESSAGE_REPORT, .report = { .info = calloc(1, sizeof(DeviceInfo)) } };

        *message.report.info = (DeviceInfo){
                .path = strdup(path), .name = strdup("fake"), .disk_name = strdup("fake"), .diskseq = 8,
                .size_bytes = 64 * MIB, .logical_block_bytes = 512, .physical_block_bytes = 512,
        };
        message.report.proof = proof ? strdup(proof) : NULL;
        return fake_say(&message);
}

void refuse(Refusal why) {
        ck_assert_int_eq(fake_say(&(Message){
                .type = MESSAGE_REFUSED,
                .refused = { .why = why, .kind = ERROR_REFUSED, .text = strdup("for a reason") },
        }), 0);
}

void begin(uint32_t phase) {
        ck_assert_int_eq(fake_say(&(Message){ .type = MESSAGE_STARTED, .started = { 77 } }), 0);
        ck_assert_int_eq(fake_say(&(Message){
                .type = MESSAGE_PHASE, .phase = { .index = phase, .mark = PHASE_MARK_STARTED, .at_ns = 1 },
        }), 0);
}

int sample_of(uint32_t phase, uint64_t seq, uint64_t elapsed_s) {
        Message message = { .type = MESSAGE_SAMPLE, .sample = calloc(1, sizeof(Sample)) };

        fake_now_ns += NSEC_PER_SEC;
        message.sample->seq = seq;
        message.sample->phase = phase;
        message.sample->at_ns = (int64_t) seq;
        message.sample->elapsed_ns = elapsed_s * NSEC_PER_SEC;
        message.sample->duration_ns = NSEC_PER_SEC;
        message.sample->ios[DIRECTION_WRITE] = 100;
        message.sample->bytes[DIRECTION_WRITE] = 100 * 4096;
        message.sample->positions.n = 1;
        message.sample->positions.of[0].low_index = message.sample->positions.of[0].next_index = 100 * (seq + 1);
        return fake_say(&message);
}

int sample(uint64_t seq, uint64_t elapsed_s) {
        return sample_of(0, seq, elapsed_s);
}

void die(void) {
        fake_end(&(WorkerEnd){ .status = SIGKILL });
}

/* --- the run --- */

void told_to_go(void) {
        const char *const devices[] = { "/nonexistent/fake", NULL }, *const none[] = { NULL };
        const StartParameters parameters = {
                .job_name = "unit", .job_text = run_job, .devices = devices, .confirmations = none,
        };

        open_manager();
        ck_assert_int_eq(manager_start_runs(manager, &parameters, on_started, NULL, NULL), 0);
        ck_assert_int_eq(report("/dev/fake", NULL), 0);
        fake_insert_done(7);
}

Run *running(void) {
        told_to_go();
        begin(0);
        ck_assert_int_eq(sample(0, 1), 0);
        return manager_get_run(manager, 7);
}

Run *looking(void) {
        Run *run = running();

        die();
        ck_assert_int_eq(run_state(run), RUN_INTERRUPTED);
        fake_timer_expires(USEC_PER_SEC);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_OPEN);
        return run;
}

void taken_up(void) {
        ck_assert_int_eq(report("/dev/fake", "5 of its blocks read back"), 0);
        ck_assert_int_eq(fake_worker.last_sent, MESSAGE_GO);
}

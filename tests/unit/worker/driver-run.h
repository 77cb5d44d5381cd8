/* SPDX-License-Identifier: MIT */
#pragma once

/* One run of the driver, with a device that a test plays and a service that notes what it is told. */

#include <string.h>
#include <sys/socket.h>

#include "fake-engine.h"
#include "unit.h"
#include "util/macro.h"
#include "worker/driver.h"

static Link *service;

/* --- the device ---------------------------------------------------------------------------- */

static int device_error;
static unsigned n_verified;
static void (*on_verify)(unsigned n);

int claim_verify(const Claim *claim, Error *error) {
        if (on_verify)
                on_verify(++n_verified);
        if (device_error == 0)
                return 0;
        return error_set(error, ERROR_FAILED, -device_error, "device: %s", strerror(-device_error));
}

/* --- the run --------------------------------------------------------------------------------- */

static PhasePlan phases[3];
static uint64_t stop_errors_max, stop_written_max;
static Link *link_of_worker;
static char *detail;
static char heard[4096]; /* what the service was told, a word each: "phase0:started sample paused ..." */
static uint64_t n_writes_heard;

static Standing *standing; /* where it is taken up */

static void setup(void) {
        int fds[2];

        memset(&engine, 0, sizeof(engine));
        engine.event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        ck_assert_int_ge(engine.event_fd, 0);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(link_new(&link_of_worker, fds[0]), 0);
        ck_assert_int_eq(link_new(&service, fds[1]), 0);
        memset(phases, 0, sizeof(phases));
        phases[1].index = 1;
        phases[2].index = 2;
        stop_errors_max = UINT64_MAX;
        stop_written_max = 0;
        standing = NULL;
        device_error = 0;
        n_verified = 0;
        on_verify = NULL;
        heard[0] = '\0';
        n_writes_heard = 0;
}

static void teardown(void) {
        fd_close(engine.event_fd);
        link_free(link_of_worker);
        link_free(service);
        free(detail);
}

static void tell(MessageType type) {
        ck_assert_int_eq(link_send(service, &(Message) { .type = type }), 0);
}

static void tell_end_of_phase(uint32_t index) {
        ck_assert_int_eq(link_send(service, &(Message) { .type = MESSAGE_END_PHASE, .end_phase = { index } }), 0);
}

static void tell_end_of_run(uint32_t index) {
        ck_assert_int_eq(link_send(service, &(Message) { .type = MESSAGE_END_RUN,
                                                         .end_run = { index, (char *) "for a reason" } }), 0);
}

static uint64_t event_elapsed_ns; /* of the last event */
static uint32_t n_pending_heard;
static uint64_t interval_ns = 100 * NSEC_PER_MSEC;

static void hear_word(const Message *message) {
        static const char *const marks[] = { "started", "done", "stopped" };
        static const char *const occurrences[] = { "paused", "resumed", "stalled", "recovered", "read-only",
                                                   "stopping", "outage", "clock" };
        char *end = heard + strlen(heard);
        size_t size = sizeof(heard) - strlen(heard);

        switch (message->type) {
        case MESSAGE_PHASE:
                snprintf(end, size, "phase%u:%s ", message->phase.index, marks[message->phase.mark]);
                break;
        case MESSAGE_EVENT:
                snprintf(end, size, "%s ", occurrences[message->event.kind]);
                event_elapsed_ns = message->event.elapsed_ns;
                break;
        case MESSAGE_ERRNO:
                snprintf(end, size, "errno%d:%u ", message->errnum.errnum, (unsigned) message->errnum.count);
                break;
        case MESSAGE_SAMPLE:
                /* How time is cut is the sampler's; that no count is lost is everybody's. */
                n_writes_heard += message->sample->ios[DIRECTION_WRITE];
                break;
        case MESSAGE_PENDING:
                n_pending_heard = message->pending.n;
                break;
        default:
                snprintf(end, size, "type%u ", message->type);
        }
}

static Outcome run(unsigned n_phases) {
        const Plan plan = { .n_phases = n_phases, .phases = phases, .stop_errors_max = stop_errors_max,
                            .stop_written_max = stop_written_max };
        Reporter reporter = { .link = link_of_worker };
        const DriverConfig config = { .reporter = &reporter, .plan = &plan, .engine = &engine,
                                      .sample_interval_ns = interval_ns, .signal_fd = -1,
                                      .standing = standing };
        _cleanup_driver_ Driver *driver = NULL;

        ck_assert_int_eq(driver_new(&driver, &config, NULL), 0);
        Outcome outcome = driver_run(driver, &detail);

        for (;;) {
                _cleanup_message_ Message message = {};

                if (link_receive(service, &message) <= 0)
                        break;
                hear_word(&message);
        }
        return outcome;
}

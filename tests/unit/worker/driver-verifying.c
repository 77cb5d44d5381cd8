/* SPDX-License-Identifier: MIT */

/* What the driver says of the writes that will be verified, and how it hears how far they may go on. */

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake-engine.h"
#include "util/macro.h"
#include "worker/driver.h"

#define CEILING (2 * HISTORY_RESERVE)

static Link *service;

int claim_verify(const Claim *claim, Error *error) {
        return 0;
}

static void tell_how_far_and_stop(unsigned index) {
        ck_assert_int_eq(link_send(service, &(Message){
                .type = MESSAGE_RECORDED, .recorded = { .phase = index, .share = 0, .ceiling = CEILING },
        }), 0);
        ck_assert_int_eq(link_send(service, &(Message){ .type = MESSAGE_STOP }), 0);
}

/* The database has to know of it before it knows how far the order has come. */
START_TEST(a_history_comes_before_its_sample_and_its_answer_is_heard) {
        PhasePlan phase = { .workers = 1, .is_tracked = _i > 0 };
        const Plan plan = { .n_phases = 1, .phases = &phase, .stop_errors_max = UINT64_MAX };
        unsigned n_histories = 0, n_samples = 0;
        _cleanup_free_ char *detail = NULL;
        Link *worker;
        int fds[2];

        memset(&engine, 0, sizeof(engine));
        engine.event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        engine.on_start = tell_how_far_and_stop;
        engine.history = (History){ .ceiling = CEILING, .flushed = 5 };
        engine.has_history = true;
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(link_new(&worker, fds[0]), 0);
        ck_assert_int_eq(link_new(&service, fds[1]), 0);
        Reporter reporter = { .link = worker };
        Driver *driver;

        ck_assert_int_eq(driver_new(&driver, &(DriverConfig){
                .reporter = &reporter, .plan = &plan, .engine = &engine, .sample_interval_ns = 100 * NSEC_PER_MSEC,
                .signal_fd = -1,
        }, NULL), 0);
        ck_assert_int_eq(driver_run(driver, &detail), OUTCOME_STOPPED);
        ck_assert_uint_eq(engine.allowed, CEILING);

        for (;;) {
                _cleanup_message_ Message message = {};

                if (link_receive(service, &message) <= 0)
                        break;
                if (message.type == MESSAGE_HISTORY) {
                        ck_assert_uint_eq(n_samples, 0);
                        ck_assert_uint_eq(message.history.history.ceiling, CEILING);
                        ck_assert_uint_eq(message.history.history.flushed, 5);
                        n_histories++;
                } else if (message.type == MESSAGE_SAMPLE)
                        n_samples++;
        }
        ck_assert_uint_eq(n_histories, _i > 0);
        ck_assert_uint_gt(n_samples, 0);
        driver_free(driver);
        link_free(worker);
        link_free(service);
        fd_close(engine.event_fd);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("driver-verifying");
        TCase *tc = tcase_create("driver-verifying");

        tcase_add_loop_test(tc, a_history_comes_before_its_sample_and_its_answer_is_heard, 0, 2);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

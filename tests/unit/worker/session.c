/* SPDX-License-Identifier: MIT */

/*
 * What a worker answers to a service that wants a run taken up, where no drive is needed for it. Whether a refusal is
 * for good is what the run's life depends on.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "unit.h"
#include "util/macro.h"
#include "wire/link.h"
#include "worker/session.h"

#define JOB "[w]\nrw=randwrite\nbs=4k\nruntime=60\ntime_based\n"

static Link *service;
static int worker_fd;
static Standing *standing;
static Message answer;
static int parse_error; /* of job_parse(), if not 0 */

int __real_job_parse(Job **ret, const char *name, const char *text, size_t size, Error *error);
int __wrap_job_parse(Job **ret, const char *name, const char *text, size_t size, Error *error);
int __wrap_job_parse(Job **ret, const char *name, const char *text, size_t size, Error *error) {
        if (parse_error < 0)
                return error_set(error, ERROR_FAILED, -parse_error, "out of memory");
        return __real_job_parse(ret, name, text, size, error);
}

static void setup(void) {
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(link_new(&service, fds[0]), 0);
        worker_fd = fds[1];
        parse_error = 0;

        standing = standing_new(1);
        ck_assert_ptr_nonnull(standing);
        *standing->device = (DeviceInfo){
                .path = strdup("/dev/nowhere"), .name = strdup("nowhere"), .disk_name = strdup("nowhere"),
                .serial = strdup("PLATEAU-UNIT-NOWHERE"), .size_bytes = 64 * MIB,
                .logical_block_bytes = 512, .physical_block_bytes = 512,
        };
        standing->boot_id = strdup("another boot");
        standing->run_tag = 1;
}

static void teardown(void) {
        link_free(service);
        standing_free(standing);
        message_clear(&answer);
}

static Message order(const char *job_text) {
        return (Message){
                .type = MESSAGE_OPEN,
                .open = {
                        .version = MESSAGE_VERSION, .path = (char *) "/dev/nowhere", .job_name = (char *) "unit",
                        .job_text = (char *) job_text, .standing = standing,
                },
        };
}

/* The worker has all that it is told before it begins, and says all before it ends. */
static void expect_refused(const Message *message, Refusal why, const char *words) {
        ck_assert_int_eq(link_send(service, message), 0);
        ck_assert_int_eq(session_run(worker_fd, NULL), 0);
        ck_assert_int_eq(link_receive(service, &answer), 1);
        ck_assert_int_eq((int) answer.type, MESSAGE_REFUSED);
        ck_assert_ptr_nonnull(strstr(answer.refused.text, words));
        ck_assert_int_eq((int) answer.refused.why, (int) why);
}

/* An upgrade in the midst of runs: the service of before with the worker of after. */
START_TEST(another_build_is_not_final) {
        Message open = order(JOB);

        open.open.version = MESSAGE_VERSION + 1;
        expect_refused(&open, REFUSAL_BUSY, "different builds");
}
END_TEST

START_TEST(another_word_first_is_not_final) {
        expect_refused(&(Message){ .type = MESSAGE_PAUSE }, REFUSAL_BUSY, "no order to open");
}
END_TEST

START_TEST(want_of_memory_is_not_final) {
        Message open = order(JOB);

        parse_error = -ENOMEM;
        expect_refused(&open, REFUSAL_BUSY, "out of memory");
}
END_TEST

START_TEST(a_job_that_is_none_is_final) {
        Message open = order("[w]\nrw=sideways\n");

        expect_refused(&open, REFUSAL_FINAL, "sideways");
}
END_TEST

START_TEST(a_drive_that_is_not_there_may_come) {
        Message open = order(JOB);

        expect_refused(&open, REFUSAL_ABSENT, "PLATEAU-UNIT-NOWHERE");
}
END_TEST

START_TEST(a_drive_that_cannot_be_known_again_is_final) {
        Message open = order(JOB);

        free(standing->device->serial);
        standing->device->serial = NULL;
        standing->device->diskseq = 1;
        expect_refused(&open, REFUSAL_FINAL, "/dev/nowhere");
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("session");
        TCase *tc = tcase_create("session");

        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_test(tc, another_build_is_not_final);
        tcase_add_test(tc, another_word_first_is_not_final);
        tcase_add_test(tc, want_of_memory_is_not_final);
        tcase_add_test(tc, a_job_that_is_none_is_final);
        tcase_add_test(tc, a_drive_that_is_not_there_may_come);
        tcase_add_test(tc, a_drive_that_cannot_be_known_again_is_final);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

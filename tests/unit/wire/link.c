/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "unit.h"
#include "util/macro.h"
#include "wire/link.h"

static Link *ours, *theirs;

static void setup(void) {
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(link_new(&ours, fds[0]), 0);
        ck_assert_int_eq(link_new(&theirs, fds[1]), 0);
}

static void teardown(void) {
        ours = link_free(ours);
        theirs = link_free(theirs);
}

static int send_event(Link *link, uint64_t number, const char *detail) {
        Message message = { .type = MESSAGE_EVENT, .event = { OCCURRENCE_PAUSED, 0, number, (char *) detail } };

        return link_send(link, &message);
}

static void assert_event(Link *link, uint64_t number) {
        _cleanup_message_ Message message = {};

        ck_assert_int_eq(link_receive(link, &message), 1);
        ck_assert_int_eq(message.type, MESSAGE_EVENT);
        ck_assert_uint_eq(message.event.elapsed_ns, number);
}

/* Text of this length, for one encoded byte more each. */
static char *text_of(size_t length) {
        char *text = malloc(length + 1);

        ck_assert_ptr_nonnull(text);
        for (size_t i = 0; i < length; i++)
                text[i] = (char) ('a' + i % 26);
        text[length] = '\0';
        return text;
}

START_TEST(test_in_order) {
        Message nothing;

        ck_assert_int_eq(link_receive(theirs, &nothing), 0);
        for (uint64_t i = 0; i < 10; i++)
                ck_assert_int_eq(send_event(ours, i, ""), 0);
        for (uint64_t i = 0; i < 10; i++)
                assert_event(theirs, i);
        ck_assert_int_eq(link_receive(theirs, &nothing), 0);
}
END_TEST

/* Sends until something waits in us; returns how many messages were sent. */
static uint64_t fill(const char *detail) {
        uint64_t n = 0;

        while (!(link_events(ours) & POLLOUT))
                ck_assert_int_eq(send_event(ours, n++, detail), 0);
        return n;
}

START_TEST(test_peer_does_not_read) {
        _cleanup_free_ char *detail = text_of(10000);
        uint64_t n = fill(detail);

        ck_assert_int_eq(link_events(theirs), POLLIN);
        for (int i = 0; i < 100; i++)
                ck_assert_int_eq(send_event(ours, n++, detail), 0);
        ck_assert_int_eq(link_flush(ours), 0);

        /* There is room again, but those that wait come first. */
        for (uint64_t i = 0; i < 10; i++)
                assert_event(theirs, i);
        ck_assert_int_eq(send_event(ours, n++, detail), 0);

        for (uint64_t i = 10; i < n; i++) {
                link_flush(ours);
                assert_event(theirs, i);
        }
        ck_assert_int_eq(link_flush(ours), 1);
        ck_assert_int_eq(link_events(ours), POLLIN);
}
END_TEST

START_TEST(test_queue_is_bounded) {
        _cleanup_free_ char *detail = text_of(1000000);
        uint64_t n = 0;
        int r;

        while ((r = send_event(ours, n, detail)) == 0)
                n++;
        ck_assert_int_eq(r, -ENOBUFS);
        ck_assert_uint_ge(n * 1000000, LINK_QUEUE_BYTES_MAX - 2000000);
        ck_assert_uint_le(n * 1000000, LINK_QUEUE_BYTES_MAX + 1000000);

        /* What was taken arrives whole, and there is room again. */
        for (uint64_t i = 0; i < n; i++) {
                _cleanup_message_ Message message = {};

                while (link_receive(theirs, &message) == 0)
                        link_flush(ours);
                ck_assert_uint_eq(message.event.elapsed_ns, i);
                ck_assert_str_eq(message.event.detail, detail);
        }
        ck_assert_int_eq(send_event(ours, n, detail), 0);
}
END_TEST

START_TEST(test_longest_job) {
        _cleanup_free_ char *text = text_of(JOB_TEXT_MAX);
        Message open = { .type = MESSAGE_OPEN,
                         .open = { MESSAGE_VERSION, (char *) "/dev/x", NULL, false, (char *) "x", text } };
        _cleanup_message_ Message message = {};
        int r;

        ck_assert_int_eq(link_send(ours, &open), 0);
        while ((r = link_receive(theirs, &message)) == 0)
                link_flush(ours);
        ck_assert_int_eq(r, 1);
        ck_assert_str_eq(message.open.job_text, text);
}
END_TEST

/* Around the size of one packet: a full one may be the last, and needs no empty one after it. */
START_TEST(test_packet_boundary) {
        _cleanup_free_ char *detail = text_of(64 * 1024 - (1 + 1 + 8 + 8 + 4) + (size_t) _i - 1);

        ck_assert_int_eq(send_event(ours, 1, detail), 0);
        ck_assert_int_eq(send_event(ours, 2, ""), 0);

        _cleanup_message_ Message message = {};
        ck_assert_int_eq(link_receive(theirs, &message), 1);
        ck_assert_str_eq(message.event.detail, detail);
        assert_event(theirs, 2);
}
END_TEST

START_TEST(test_message_too_long) {
        _cleanup_free_ char *detail = text_of(MESSAGE_BYTES_MAX);

        ck_assert_int_eq(send_event(ours, 1, detail), -EMSGSIZE);
        ck_assert_int_eq(send_event(ours, 2, ""), 0);
        assert_event(theirs, 2);
}
END_TEST

START_TEST(test_peer_gone) {
        Message message;

        theirs = link_free(theirs);
        ck_assert_int_eq(link_receive(ours, &message), -EPIPE);
        ck_assert_int_eq(send_event(ours, 0, ""), -EPIPE);
}
END_TEST

START_TEST(test_peer_gone_while_queued) {
        _cleanup_free_ char *detail = text_of(10000);

        fill(detail);
        theirs = link_free(theirs);
        ck_assert_int_eq(link_flush(ours), -EPIPE);
}
END_TEST

/* The last words of a worker must arrive, also when it did not read all that was sent to it. */
START_TEST(test_last_words) {
        ck_assert_int_eq(send_event(theirs, 7, ""), 0);
        ck_assert_int_eq(send_event(ours, 1, "unread"), 0);
        theirs = link_free(theirs);

        Message message;
        assert_event(ours, 7);
        ck_assert_int_eq(link_receive(ours, &message), -EPIPE);
}
END_TEST

static void send_raw(const void *data, size_t length) {
        ck_assert_int_eq(send(link_fd(theirs), data, length, MSG_NOSIGNAL), (ssize_t) length);
}

/* Each is wrong in one way only: what it holds is a good message, as far as it goes. */
START_TEST(test_hostile_packets) {
        static uint8_t data[64 * 1024 + 2];
        static const struct {
                uint8_t mark;
                uint8_t type;
                size_t length; /* of the packet */
        } packets[] = {
                { 0, MESSAGE_STOP, 1 },             /* no part */
                { 0, 0xff, 2 },                     /* an unknown type */
                { 2, MESSAGE_STOP, 2 },             /* an unknown mark */
                { 1, MESSAGE_STOP, 2 },             /* a crumb that says that more follows */
                { 0, MESSAGE_EVENT, sizeof(data) }, /* more than a packet may hold */
        };
        _cleanup_free_ char *detail = text_of(64 * 1024 - (1 + 1 + 8 + 8 + 4));
        Message event = { .type = MESSAGE_EVENT, .event = { .detail = detail } };
        Message message;

        ck_assert_int_eq(message_encode(&event, data + 1, 64 * 1024), 64 * 1024);
        data[0] = packets[_i].mark;
        data[1] = packets[_i].type;
        send_raw(data, packets[_i].length);
        ck_assert_int_eq(link_receive(ours, &message), -EBADMSG);
}
END_TEST

START_TEST(test_endless_message) {
        static uint8_t data[64 * 1024 + 1] = { 1 };
        Message message;
        int r = 0;

        for (size_t sent = 0; r == 0; sent += sizeof(data)) {
                ck_assert_uint_le(sent, MESSAGE_BYTES_MAX + 3 * sizeof(data));
                send_raw(data, sizeof(data));
                r = link_receive(ours, &message);
        }
        ck_assert_int_eq(r, -EBADMSG);
}
END_TEST

START_TEST(test_never_blocks) {
        ck_assert_int_ne(fcntl(link_fd(ours), F_GETFL) & O_NONBLOCK, 0);
}
END_TEST

START_TEST(test_not_an_fd) {
        Link *link = NULL;

        ck_assert_int_eq(link_new(&link, -1), -EBADF);
        ck_assert_ptr_null(link);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("link");
        TCase *tc = tcase_create("link");

        tcase_set_timeout(tc, 60);
        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_test(tc, test_in_order);
        tcase_add_test(tc, test_peer_does_not_read);
        tcase_add_test(tc, test_queue_is_bounded);
        tcase_add_test(tc, test_longest_job);
        tcase_add_loop_test(tc, test_packet_boundary, 0, 4);
        tcase_add_test(tc, test_message_too_long);
        tcase_add_test(tc, test_peer_gone);
        tcase_add_test(tc, test_peer_gone_while_queued);
        tcase_add_test(tc, test_last_words);
        tcase_add_loop_test(tc, test_hostile_packets, 0, 5);
        tcase_add_test(tc, test_endless_message);
        tcase_add_test(tc, test_never_blocks);
        tcase_add_test(tc, test_not_an_fd);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)

/* SPDX-License-Identifier: MIT */

/*
 * A message goes out as one packet, or, as a long job file does, as several: the kernel takes only about
 * 200 KiB at once, and wants a packet's memory in few pieces. A packet is a byte that tells whether more
 * follow, and its part of the message. All but the last are full, so that a hostile peer cannot keep
 * the other side busy with crumbs.
 */

#include "wire/link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "util/macro.h"

#define PART_BYTES_MAX (64U * 1024U)

enum {
        PACKET_LAST,
        PACKET_MORE,
};

typedef struct Packet {
        struct Packet *next;
        size_t length; /* of the part */
        uint8_t mark;
        uint8_t part[];
} Packet;

struct Link {
        int fd;
        Packet *first; /* what waits to be sent */
        Packet **last_next;
        size_t bytes_waiting;
        size_t n_received; /* bytes of the message that is coming in */
        uint8_t incoming[MESSAGE_BYTES_MAX];
        uint8_t outgoing[MESSAGE_BYTES_MAX];
};

int link_new(Link **ret, int fd) {
        int flags = fcntl(fd, F_GETFL);
        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
                return -errno;

        Link *link = malloc(sizeof(*link));
        if (!link)
                return -ENOMEM;

        link->fd = fd;
        link->first = NULL;
        link->last_next = &link->first;
        link->bytes_waiting = 0;
        link->n_received = 0;
        *ret = link;
        return 0;
}

static void link_pop(Link *link) {
        Packet *packet = link->first;

        link->bytes_waiting -= packet->length;
        link->first = packet->next;
        if (!link->first)
                link->last_next = &link->first;
        free(packet);
}

Link *link_free(Link *link) {
        if (!link)
                return NULL;

        while (link->first)
                link_pop(link);
        fd_close(link->fd);
        free(link);
        return NULL;
}

int link_fd(const Link *link) {
        return link->fd;
}

short link_events(const Link *link) {
        return link->first ? POLLIN | POLLOUT : POLLIN;
}

/* 1 if it was sent, 0 if the other side has to read first, -EPIPE. */
static int packet_send(int fd, uint8_t mark, const uint8_t *part, size_t length) {
        struct iovec vectors[] = {
                { .iov_base = &mark, .iov_len = 1 },
                { .iov_base = (void *) part, .iov_len = length },
        };
        struct msghdr header = { .msg_iov = vectors, .msg_iovlen = ELEMENTSOF(vectors) };

        for (;;) {
                if (sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
                        return 1;
                if (errno == EINTR)
                        continue;
                return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? 0 : -EPIPE;
        }
}

static int packet_queue(Link *link, uint8_t mark, const uint8_t *part, size_t length) {
        Packet *packet = malloc(sizeof(*packet) + length);
        if (!packet)
                return -ENOBUFS;

        packet->next = NULL;
        packet->mark = mark;
        packet->length = length;
        memcpy(packet->part, part, length);
        *link->last_next = packet;
        link->last_next = &packet->next;
        link->bytes_waiting += length;
        return 0;
}

int link_send(Link *link, const Message *message) {
        ssize_t n = message_encode(message, link->outgoing, sizeof(link->outgoing));
        if (n < 0)
                return (int) n;

        size_t length = (size_t) n;
        if (link->bytes_waiting + length > LINK_QUEUE_BYTES_MAX)
                return -ENOBUFS;

        for (size_t at = 0; at < length; at += PART_BYTES_MAX) {
                size_t n_part = MIN(length - at, (size_t) PART_BYTES_MAX);
                uint8_t mark = at + n_part < length ? PACKET_MORE : PACKET_LAST;

                int r = link->first ? 0 : packet_send(link->fd, mark, link->outgoing + at, n_part);
                if (r == 0)
                        r = packet_queue(link, mark, link->outgoing + at, n_part);
                if (r < 0)
                        return r;
        }

        return 0;
}

int link_flush(Link *link) {
        while (link->first) {
                int r = packet_send(link->fd, link->first->mark, link->first->part, link->first->length);
                if (r <= 0)
                        return r;
                link_pop(link);
        }

        return 1;
}

/* The length of the part that was received, 0 if no packet is there; -EPIPE, -EBADMSG. */
static ssize_t packet_receive(Link *link, uint8_t *ret_mark) {
        struct iovec vectors[] = {
                { .iov_base = ret_mark, .iov_len = 1 },
                { .iov_base = link->incoming + link->n_received,
                  .iov_len = MIN(sizeof(link->incoming) - link->n_received, (size_t) PART_BYTES_MAX) },
        };
        struct msghdr header = { .msg_iov = vectors, .msg_iovlen = ELEMENTSOF(vectors) };

        for (;;) {
                ssize_t n = recvmsg(link->fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
                if (n == 0)
                        return -EPIPE;
                /* A peer that closed without reading all: told once, then comes what it had sent. */
                if (n < 0 && (errno == EINTR || errno == ECONNRESET))
                        continue;
                if (n < 0)
                        return errno == EAGAIN ? 0 : -EPIPE;
                if (n == 1 || (header.msg_flags & MSG_TRUNC) || *ret_mark > PACKET_MORE)
                        return -EBADMSG;
                return n - 1;
        }
}

int link_receive(Link *link, Message *ret) {
        for (;;) {
                uint8_t mark = PACKET_LAST;
                ssize_t n = packet_receive(link, &mark);
                if (n <= 0)
                        return (int) n;
                link->n_received += (size_t) n;

                if (mark == PACKET_MORE) {
                        if (n != PART_BYTES_MAX)
                                return -EBADMSG;
                        continue;
                }

                size_t length = link->n_received;
                link->n_received = 0;
                int r = message_decode(ret, link->incoming, length);
                return r < 0 ? r : 1;
        }
}

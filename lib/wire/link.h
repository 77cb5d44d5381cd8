/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One end of the pair: messages in and out without blocking. What the other side does not take
 * waits in memory, in order, up to a bound. After any error but -ENOBUFS of link_send() the link is of no more use.
 */

#include "wire/message.h"

/* Encoded bytes that may wait: more than ten hours of samples. Beyond it link_send() says -ENOBUFS. */
#define LINK_QUEUE_BYTES_MAX (64U * 1024U * 1024U)

typedef struct Link Link;

/* Takes over fd (non-blocking from now on), a connected SOCK_SEQPACKET socket; on failure the caller keeps it. */
int link_new(Link **ret, int fd);
Link *link_free(Link *link);
DEFINE_CLEANUP(Link *, link_free)

int link_fd(const Link *link);

/* POLLIN, and POLLOUT while something waits: what to poll the fd for. */
short link_events(const Link *link);

/*
 * Sends now or queues. 0; -EPIPE if the other side is gone; -ENOBUFS if too much waits (nothing of the message was
 * taken then, unless memory ran out); -EMSGSIZE, -EINVAL as message_encode().
 */
int link_send(Link *link, const Message *message);

/* Sends what waits, as far as it goes. 1 if nothing waits any more, 0 if some does, -EPIPE. */
int link_flush(Link *link);

/*
 * 1 and a message (the caller clears it); 0 if none is there; -EPIPE if the other side is gone and all it
 * had sent has been received; -EBADMSG; -ENOMEM.
 */
int link_receive(Link *link, Message *ret);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One plateau-worker: its process, the socket to it, and its end. It inherits standard output
 * and error, /dev/null as input and the socket as fd 3, nothing else. It outlives the service if that
 * dies, and ends by itself then.
 */

#include <systemd/sd-event.h>

#include "wire/link.h"

typedef struct WorkerProcess WorkerProcess;

typedef struct WorkerEnd {
        bool exited;       /* by itself, with `status`; else killed by signal `status` */
        int status;
        const char *fault; /* why it was killed by us; NULL if it was not */
} WorkerEnd;

typedef struct WorkerHandlers {
        /* A message; the handler may move things out of it. Negative: it is nonsense, so the worker is killed. */
        int (*message)(WorkerProcess *worker, Message *message, void *userdata);

        /* After the last message, once: it has ended, or is given up. The worker is freed after this. */
        void (*ended)(WorkerProcess *worker, const WorkerEnd *end, void *userdata);
} WorkerHandlers;

/* Starts one. handlers is static data. ERROR_FAILED if there is no program or process to be had. */
int worker_process_new(WorkerProcess **ret, sd_event *event, const WorkerHandlers *handlers, void *userdata,
                       Error *error);

/* From the next message on, another one is told. */
void worker_process_set_handlers(WorkerProcess *worker, const WorkerHandlers *handlers, void *userdata);

/* 0; -EPIPE if it is gone; -ENOBUFS if it has not listened for long. */
int worker_process_send(WorkerProcess *worker, const Message *message);

/*
 * Closes the socket, so that it stops submitting, drains and ends; with `hard` it is killed too. Whatever it still says
 * is not heard and nobody is told of its end; it is reaped when it has ended, however long its device hangs.
 */
void worker_process_abandon(WorkerProcess *worker, bool hard);

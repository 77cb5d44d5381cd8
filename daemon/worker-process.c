/* SPDX-License-Identifier: MIT */

/*
 * posix_spawn() because the service has threads: between fork and exec nothing of ours runs. A new
 * session keeps the terminal's Ctrl-C (of a service started by hand) from the worker: the service tells it to stop.
 *
 * The end has two signs, the socket's end of file and the process's exit, in either order. Messages are read to the end
 * first. If the socket ends and the process does not, its device may hang: it is killed, and given up if even
 * that does not help, so that the run's state does not depend on a dead drive.
 */

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "config.h"
#include "util/macro.h"
#include "worker-process.h"

#define WORKER_NAME "plateau-worker"
#define WORKER_FD 3

/* From the end of the socket to SIGKILL, and from SIGKILL to giving up. */
#define EXIT_USEC (10 * USEC_PER_SEC)
#define KILL_USEC (3 * USEC_PER_SEC)

/* Messages read at a time, so that a talkative worker does not keep the loop for itself. */
#define N_MESSAGES_A_TURN 64

struct WorkerProcess {
        const WorkerHandlers *handlers;
        void *userdata;
        pid_t pid;
        Link *link; /* NULL after its end */
        sd_event_source *link_source;
        sd_event_source *child_source;
        sd_event_source *timer;
        const char *fault;
        bool killed;
        bool abandoned;
        bool in_handler; /* abandoning waits until it returns */
        bool hard;
};

static void worker_process_close(WorkerProcess *worker) {
        worker->link_source = sd_event_source_disable_unref(worker->link_source);
        worker->timer = sd_event_source_disable_unref(worker->timer);
        if (worker->link)
                worker->link = link_free(worker->link);
}

static WorkerProcess *worker_process_free(WorkerProcess *worker) {
        worker_process_close(worker);
        worker->child_source = sd_event_source_disable_unref(worker->child_source);
        free(worker);
        return NULL;
}
DEFINE_CLEANUP(WorkerProcess *, worker_process_free)

/* --- starting --- */

/* Beside our own executable (a build tree), else where it is installed. */
static int worker_path(char *buf, size_t size) {
        char self[PATH_MAX];
        ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

        if (length > 0) {
                self[length] = '\0';
                char *slash = strrchr(self, '/');
                if (slash && (size_t) snprintf(buf, size, "%.*s/" WORKER_NAME, (int) (slash - self), self) < size &&
                    access(buf, X_OK) == 0)
                        return 0;
        }

        if ((size_t) snprintf(buf, size, "%s/" WORKER_NAME, PLATEAU_LIBEXECDIR) >= size)
                return -ENAMETOOLONG;
        return access(buf, X_OK) == 0 ? 0 : -errno;
}

/* The service's own standing with its manager and bus is nothing for a worker. The strings stay the environment's. */
static char **worker_environment(void) {
        static const char *const kept_back[] = {
                "NOTIFY_SOCKET=", "WATCHDOG_", "LISTEN_", "DBUS_", "STATE_DIRECTORY=",
        };
        size_t n = 0, n_kept = 0;

        while (environ[n])
                n++;
        char **kept = calloc(n + 1, sizeof(char *));
        if (!kept)
                return NULL;

        for (size_t i = 0; i < n; i++) {
                bool keep = true;
                for (size_t k = 0; k < ELEMENTSOF(kept_back) && keep; k++)
                        keep = strncmp(environ[i], kept_back[k], strlen(kept_back[k])) != 0;
                if (keep)
                        kept[n_kept++] = environ[i];
        }
        return kept;
}

static int spawn_attributes(posix_spawnattr_t *attributes) {
        sigset_t none, all;

        sigemptyset(&none);
        sigfillset(&all);
        int r = posix_spawnattr_setsigmask(attributes, &none);
        if (r == 0)
                r = posix_spawnattr_setsigdefault(attributes, &all);
        if (r == 0)
                r = posix_spawnattr_setflags(attributes,
                                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
        return -r;
}

static int spawn_files(posix_spawn_file_actions_t *actions, int fd) {
        int r = posix_spawn_file_actions_adddup2(actions, fd, WORKER_FD);
        if (r == 0)
                r = posix_spawn_file_actions_addclosefrom_np(actions, WORKER_FD + 1);
        if (r == 0)
                r = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        return -r;
}

static int worker_spawn(const char *path, int fd, pid_t *ret_pid) {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        _cleanup_free_ char **environment = worker_environment();
        char *const argv[] = { (char *) WORKER_NAME, NULL };

        if (!environment)
                return -ENOMEM;
        if (posix_spawn_file_actions_init(&actions) != 0)
                return -ENOMEM;
        if (posix_spawnattr_init(&attributes) != 0) {
                posix_spawn_file_actions_destroy(&actions);
                return -ENOMEM;
        }

        int r = spawn_attributes(&attributes);
        if (r >= 0)
                r = spawn_files(&actions, fd);
        if (r >= 0)
                r = -posix_spawn(ret_pid, path, &actions, &attributes, argv, environment);

        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        return r;
}

/* --- giving up --- */

static void worker_process_kill(WorkerProcess *worker) {
        /* By pidfd: never another process that got the same number. */
        (void) sd_event_source_send_child_signal(worker->child_source, SIGKILL, NULL, 0);
        worker->killed = true;
}

static void worker_process_let_go(WorkerProcess *worker) {
        worker_process_close(worker);
        if (worker->hard)
                worker_process_kill(worker);

        /* From now on the loop alone keeps the source, and the source the worker, until there is something to reap. */
        (void) sd_event_source_set_destroy_callback(worker->child_source, free);
        (void) sd_event_source_set_floating(worker->child_source, true);
        worker->child_source = sd_event_source_unref(worker->child_source);
}

void worker_process_abandon(WorkerProcess *worker, bool hard) {
        worker->abandoned = true;
        worker->hard = hard;
        if (!worker->in_handler)
                worker_process_let_go(worker);
}

/* --- the end --- */

/* Tells, and is gone. Without info the process is left to be reaped when it ends. */
static void worker_process_tell_end(WorkerProcess *worker, const siginfo_t *info) {
        WorkerEnd end = { .fault = worker->fault };

        if (info) {
                end.exited = info->si_code == CLD_EXITED;
                end.status = info->si_status;
        }
        worker->handlers->ended(worker, &end, worker->userdata);

        if (info)
                worker_process_free(worker);
        else
                worker_process_abandon(worker, true);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        WorkerProcess *worker = userdata;

        if (worker->killed) {
                worker_process_tell_end(worker, NULL);
                return 0;
        }

        worker->fault = "it closed its socket but did not end";
        worker_process_kill(worker);
        (void) sd_event_source_set_time_relative(source, KILL_USEC);
        (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        return 0;
}

static void worker_process_expect_end(WorkerProcess *worker, uint64_t usec) {
        sd_event *event = sd_event_source_get_event(worker->child_source);

        worker_process_close(worker);
        if (sd_event_add_time_relative(event, &worker->timer, CLOCK_MONOTONIC, usec, 0, on_timer, worker) < 0)
                worker_process_kill(worker); /* no memory for a timer: its exit alone must tell */
}

static void worker_process_fail(WorkerProcess *worker, const char *fault) {
        worker->fault = fault;
        worker_process_kill(worker);
        worker_process_expect_end(worker, KILL_USEC);
}

/* --- talking --- */

static int worker_process_handle(WorkerProcess *worker, Message *message) {
        worker->in_handler = true;
        int r = worker->handlers->message(worker, message, worker->userdata);
        worker->in_handler = false;
        return r;
}

/* False once there is nothing more to be read: the link is closed, or the worker was abandoned meanwhile, so gone. */
static bool worker_process_read(WorkerProcess *worker, unsigned n_messages) {
        for (unsigned i = 0; i < n_messages; i++) {
                _cleanup_message_ Message message = {};
                int r = link_receive(worker->link, &message);

                if (r == 0)
                        return true;
                if (r > 0)
                        r = worker_process_handle(worker, &message);
                if (worker->abandoned) {
                        worker_process_let_go(worker);
                        return false;
                }
                if (r == -EPIPE)
                        worker_process_expect_end(worker, EXIT_USEC);
                else if (r < 0)
                        worker_process_fail(worker, "it sent nonsense");
                else
                        continue;
                return false;
        }
        return true;
}

static void worker_process_watch_link(WorkerProcess *worker) {
        if (worker->link_source)
                (void) sd_event_source_set_io_events(worker->link_source, (uint32_t) link_events(worker->link));
}

static int on_link(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        WorkerProcess *worker = userdata;

        if (revents & EPOLLOUT)
                (void) link_flush(worker->link); /* a broken link shows when it is read */
        if (worker_process_read(worker, N_MESSAGES_A_TURN))
                worker_process_watch_link(worker);
        return 0;
}

static int on_child(sd_event_source *source, const siginfo_t *info, void *userdata) {
        WorkerProcess *worker = userdata;

        if (!worker->abandoned && worker->link)
                (void) worker_process_read(worker, UINT_MAX);
        if (worker->abandoned)
                (void) sd_event_source_set_floating(source, false); /* the last reference: it frees the worker */
        else
                worker_process_tell_end(worker, info);
        return 0;
}

int worker_process_send(WorkerProcess *worker, const Message *message) {
        if (!worker->link)
                return -EPIPE;

        int r = link_send(worker->link, message);
        worker_process_watch_link(worker);
        return r;
}

/* --- beginning --- */

static int worker_process_attach(WorkerProcess *worker, sd_event *event) {
        int r = sd_event_add_child(event, &worker->child_source, worker->pid, WEXITED, on_child, worker);
        if (r >= 0)
                r = sd_event_add_io(event, &worker->link_source, link_fd(worker->link),
                                    (uint32_t) link_events(worker->link), on_link, worker);
        if (r < 0) {
                /* It has been told nothing yet, so it cannot hang. */
                (void) kill(worker->pid, SIGKILL);
                (void) waitpid(worker->pid, NULL, 0);
        }
        return r;
}

int worker_process_new(WorkerProcess **ret, sd_event *event, const WorkerHandlers *handlers, void *userdata,
                       Error *error) {
        _cleanup_(worker_process_freep) WorkerProcess *worker = calloc(1, sizeof(*worker));
        char path[PATH_MAX];
        int pair[2];

        if (!worker)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        worker->handlers = handlers;
        worker->userdata = userdata;

        int r = worker_path(path, sizeof(path));
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "%s: %s: plateau is not installed completely", path,
                                 strerror(-r));

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
                return error_set(error, ERROR_FAILED, errno, "cannot make a socket for a worker: %m");
        _cleanup_close_ int theirs = pair[1];
        _cleanup_close_ int ours = pair[0];

        r = link_new(&worker->link, ours);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "cannot talk to a worker: %s", strerror(-r));
        ours = -EBADF;

        r = worker_spawn(path, theirs, &worker->pid);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "cannot start %s: %s", path, strerror(-r));

        r = worker_process_attach(worker, event);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "cannot watch a worker: %s", strerror(-r));

        *ret = TAKE_PTR(worker);
        return 0;
}

void worker_process_set_handlers(WorkerProcess *worker, const WorkerHandlers *handlers, void *userdata) {
        worker->handlers = handlers;
        worker->userdata = userdata;
}

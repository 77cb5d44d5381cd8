/* SPDX-License-Identifier: MIT */

/*
 * A child sends what sysfs tells at once, so that a drive which hangs afterwards can still be named, and a
 * second report with the reasons, each after the number of its kind. A child that does not answer is
 * killed and not waited for: one that hangs in the kernel does not die.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/configuration.h"
#include "probe.h"
#include "util/macro.h"
#include "util/parse.h"
#include "util/time.h"
#include "wire/link.h"

#define STRINGIFY_EXPANDED(x) #x
#define STRINGIFY(x) STRINGIFY_EXPANDED(x)

typedef struct Child {
        pid_t pid;  /* 0: there is none */
        Link *link; /* NULL once it has said all it has to say */
} Child;

static void send_all(Link *link, const Message *message) {
        if (link_send(link, message) < 0)
                _exit(EXIT_FAILURE);
        while (link_flush(link) == 0) {
                struct pollfd p = { .fd = link_fd(link), .events = link_events(link) };
                (void) poll(&p, 1, -1);
        }
}

static void send_info(Link *link, DeviceInfo *info, char **notices) {
        const Message message = { .type = MESSAGE_REPORT, .report = { .info = info, .notices = notices } };
        send_all(link, &message);
}

static void send_reasons(Link *link, DeviceInfo *info, const Reasons *reasons) {
        char **texts = calloc(reasons->n + 1, sizeof(*texts));

        for (size_t i = 0; texts && i < reasons->n; i++)
                if (asprintf(&texts[i], "%u %s", (unsigned) reasons->items[i].kind, reasons->items[i].text) < 0)
                        _exit(EXIT_FAILURE);
        if (!texts)
                _exit(EXIT_FAILURE);
        send_info(link, info, texts);
}

static void send_refusal(Link *link, const Error *error) {
        const Message message = {
                .type = MESSAGE_REFUSED,
                .refused = { .kind = error->kind ?: ERROR_FAILED, .text = (char *) error_message(error) },
        };
        send_all(link, &message);
}

/* A child that hangs for good keeps its files open: none that somebody waits for the end of. */
static void forget_standard_files(void) {
        int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

        for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
                if (fd < 0 || dup2(fd, i) < 0)
                        _exit(EXIT_FAILURE);
}

/* Also what the service would say of it; with a configuration that is of no use it would not even start. */
static int examine(const DeviceInfo *info, Reasons *reasons, Error *error) {
        _cleanup_configuration_ Configuration configuration = {};
        int r = configuration_read(&configuration, getenv("PLATEAU_CONFIG"), error);

        if (r >= 0)
                r = device_check_denied(info, (const char *const *) configuration.deny, reasons);
        return r < 0 ? r : device_examine(info, reasons, error);
}

_Noreturn static void child_main(int fd, const char *path) {
        Error error = ERROR_INIT;
        Reasons reasons = {};
        DeviceInfo *info;
        Link *link;

        forget_standard_files();
        if (link_new(&link, fd) < 0)
                _exit(EXIT_FAILURE);
        if (device_info_read(&info, path, &error) < 0) {
                send_refusal(link, &error);
                _exit(EXIT_SUCCESS);
        }

        send_info(link, info, (char *[]) { NULL });
        if (examine(info, &reasons, &error) < 0 &&
            reasons_add(&reasons, REASON_UNREADABLE, "%s", error_message(&error)) < 0)
                _exit(EXIT_FAILURE);
        send_reasons(link, info, &reasons);
        _exit(EXIT_SUCCESS);
}

static int child_start(Child *child, const char *path, Error *error) {
        _cleanup_close_ int ours = -EBADF;
        int fds[2], r;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return error_set(error, ERROR_FAILED, errno, "cannot look at %s: %s", path, strerror(errno));
        ours = fds[0];

        pid_t pid = fork();
        if (pid == 0) {
                close(fds[0]);
                child_main(fds[1], path);
        }
        int saved = errno;
        close(fds[1]);
        if (pid < 0)
                return error_set(error, ERROR_FAILED, saved, "cannot make a process to look at %s: %s", path,
                                 strerror(saved));

        child->pid = pid;
        r = link_new(&child->link, ours);
        if (r < 0)
                return r;
        TAKE_FD(ours);
        return 0;
}

static void child_end(Child *child) {
        if (child->pid > 0) {
                kill(child->pid, SIGKILL);
                waitpid(child->pid, NULL, WNOHANG);
        }
        child->link = link_free(child->link);
        child->pid = 0;
}

static int take_reasons(Probe *probe, char **texts) {
        int r = 0;

        for (; r >= 0 && *texts; texts++) {
                char *space = strchr(*texts, ' ');
                uint64_t kind;

                if (!space)
                        return -EBADMSG;
                *space = '\0';
                if (parse_u64_range(*texts, 0, N_REASON_KINDS - 1, &kind) < 0)
                        return -EBADMSG;
                r = reasons_add(&probe->reasons, (ReasonKind) kind, "%s", space + 1);
        }
        return r;
}

/* 1 once nothing more will come. */
static int take_message(Probe *probe, Message *message) {
        switch (message->type) {
        case MESSAGE_REFUSED:
                error_set(&probe->error, message->refused.kind, EINVAL, "%s", message->refused.text);
                return 1;
        case MESSAGE_REPORT:
                if (!probe->info) {
                        probe->info = TAKE_PTR(message->report.info);
                        return 0;
                }
                return take_reasons(probe, message->report.notices) < 0 ? -EBADMSG : 1;
        default:
                return -EBADMSG;
        }
}

static int receive(Probe *probe, Child *child) {
        int r;

        do {
                _cleanup_message_ Message message = {};

                r = link_receive(child->link, &message);
                if (r > 0)
                        r = take_message(probe, &message);
                else if (r == 0)
                        return 0;
        } while (r == 0);
        return r;
}

static int fail(Probe *probe, const char *why) {
        if (probe->info)
                return reasons_add(&probe->reasons, REASON_UNREADABLE, "%s", why);
        error_set(&probe->error, ERROR_FAILED, EIO, "%s: %s", probe->path, why);
        return 0;
}

static void child_read(Probe *probe, Child *child) {
        int r = receive(probe, child);

        if (r == 0)
                return;
        if (r < 0)
                (void) fail(probe, "the process that looked at it died");
        child->link = link_free(child->link);
}

/* Until all have answered or the time is over. */
static void collect(Probe *probes, Child *children, struct pollfd *fds, size_t n) {
        const uint64_t deadline_ns = time_monotonic_ns() + PROBE_TIMEOUT_S * NSEC_PER_SEC;

        for (;;) {
                uint64_t now_ns = time_monotonic_ns();
                size_t n_open = 0;

                for (size_t i = 0; i < n; i++) {
                        fds[i] = (struct pollfd) { .fd = children[i].link ? link_fd(children[i].link) : -1,
                                .events = POLLIN };
                        n_open += children[i].link != NULL;
                }
                if (n_open == 0 || now_ns >= deadline_ns)
                        return;

                int r = poll(fds, n, (int) ((deadline_ns - now_ns) / NSEC_PER_MSEC) + 1);
                for (size_t i = 0; r > 0 && i < n; i++)
                        if (fds[i].revents)
                                child_read(&probes[i], &children[i]);
        }
}

static int look(Probes *probes, Error *error) {
        _cleanup_free_ Child *children = NULL;
        _cleanup_free_ struct pollfd *fds = NULL;
        int r = 0;

        children = calloc(probes->n + 1, sizeof(*children));
        fds = calloc(probes->n + 1, sizeof(*fds));
        if (!children || !fds)
                return -ENOMEM;

        for (size_t i = 0; r >= 0 && i < probes->n; i++)
                r = child_start(&children[i], probes->items[i].path, error);
        if (r >= 0)
                collect(probes->items, children, fds, probes->n);

        for (size_t i = 0; i < probes->n; i++) {
                if (r >= 0 && children[i].link)
                        r = fail(&probes->items[i], "did not answer within " STRINGIFY(PROBE_TIMEOUT_S) " s");
                child_end(&children[i]);
        }
        return r;
}

int probes_new(Probes *ret, const char *const *paths, Error *error) {
        _cleanup_probes_ Probes probes = {};
        size_t n = 0;

        while (paths[n])
                n++;
        probes.items = calloc(n + 1, sizeof(*probes.items));
        if (!probes.items)
                return -ENOMEM;
        for (; probes.n < n; probes.n++)
                probes.items[probes.n].path = paths[probes.n];

        int r = look(&probes, error);
        if (r < 0)
                return r;
        *ret = probes;
        probes = (Probes) {};
        return 0;
}

void probes_clear(Probes *probes) {
        for (size_t i = 0; i < probes->n; i++) {
                Probe *probe = &probes->items[i];

                if (probe->info)
                        device_info_free(probe->info);
                reasons_clear(&probe->reasons);
                error_clear(&probe->error);
        }
        free(probes->items);
        *probes = (Probes) {};
}

bool probe_is_eligible(const Probe *probe) {
        return probe->info && probe->reasons.n == 0;
}

bool probe_is_erasable(const Probe *probe) {
        for (size_t i = 0; i < probe->reasons.n; i++)
                if (probe->reasons.items[i].kind != REASON_SIGNATURE)
                        return false;
        return probe->info && probe->reasons.n > 0;
}

char *probe_reasons_text(const Probe *probe) {
        char *text = NULL;
        size_t length;

        FILE *f = open_memstream(&text, &length);
        if (!f)
                return NULL;
        for (size_t i = 0; i < probe->reasons.n; i++)
                fprintf(f, "%s%s", i > 0 ? "; " : "", probe->reasons.items[i].text);
        if (fclose(f) != 0) {
                free(text);
                return NULL;
        }
        return text;
}

int probe_check_name(const char *name, Error *error) {
        _cleanup_free_ char *path = NULL;

        if (*name == '\0' || strchr(name, '/') || access(name, F_OK) == 0)
                return 0;
        if (asprintf(&path, "/dev/%s", name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (access(path, F_OK) < 0)
                return 0;
        return error_set(error, ERROR_NOT_FOUND, ENOENT, "%s: no such file here; did you mean %s?", name, path);
}

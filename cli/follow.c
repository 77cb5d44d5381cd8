/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "follow.h"
#include "live.h"
#include "output.h"
#include "run/state.h"
#include "util/macro.h"
#include "util/time.h"

#define REFRESH_MS 1000

typedef struct Follow {
        const Cli *cli;
        BusClient *client;
        const uint32_t *runs;
        size_t n;
        bool *ended;
        bool bad; /* one ended badly */
        bool line_open; /* a progress line is on the terminal */
} Follow;

/* Whether nothing more is to be waited for; an interrupted run has no worker that could end it. */
static bool has_ended(const char *name) {
        int state = run_state_from_name(name);
        return state >= 0 && (run_state_is_final((RunState) state) || state == RUN_INTERRUPTED);
}

static char *progress(uint32_t id, const BusRun *run) {
        const LiveStatus status = {
                .run = id,
                .state = run->state,
                .phase = run->phase,
                .elapsed_ns = run->elapsed_ns,
                .planned_ns = run->planned_ns,
                .iops = run->elapsed_ns > 0 ? run->iops : NAN,
                .bytes_per_second = NAN,
                .in_flight = run->in_flight,
                .oldest_io_ns = run->oldest_io_ns,
        };
        return live_format(&status);
}

static void end_line(Follow *follow) {
        if (follow->line_open)
                live_end(stderr);
        follow->line_open = false;
}

static int print_end(Follow *follow, uint32_t id, const BusRun *run) {
        char span[TIME_SPAN_MAX];

        end_line(follow);
        if (follow->cli->json)
                return 0;
        if (printf("run %" PRIu32 " %s after %s; 'plateau show %" PRIu32 "' tells more\n", id, run->state,
                   time_format_span(run->elapsed_ns, span), id) < 0 || fflush(stdout) != 0)
                return -EIO;
        return 0;
}

/* Appends what is to be said of a run that goes on; notes one that has ended. */
static int look(Follow *follow, size_t i, FILE *line, Error *error) {
        _cleanup_bus_run_ BusRun run = {};
        _cleanup_free_ char *text = NULL;

        int r = bus_client_get_run(follow->client, follow->runs[i], &run, error);
        if (r < 0)
                return r;
        if (!has_ended(run.state)) {
                text = progress(follow->runs[i], &run);
                if (!text)
                        return -ENOMEM;
                fprintf(line, "%s%s", ftell(line) > 0 ? " | " : "", text);
                return 0;
        }

        follow->ended[i] = true;
        if (strcmp(run.state, "done") != 0 && strcmp(run.state, "stopped") != 0)
                follow->bad = true;
        return print_end(follow, follow->runs[i], &run);
}

/* 1 if all have ended. */
static int look_at_all(Follow *follow, Error *error) {
        _cleanup_free_ char *text = NULL;
        size_t length = 0, n_open = 0;
        int r = 0;

        FILE *line = open_memstream(&text, &length);
        if (!line)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < follow->n; i++) {
                if (!follow->ended[i])
                        r = look(follow, i, line, error);
                n_open += !follow->ended[i];
        }
        if (fclose(line) != 0 && r >= 0)
                r = -ENOMEM;
        if (r < 0)
                return r;

        if (n_open > 0 && isatty(STDERR_FILENO)) {
                follow->line_open = true;
                (void) live_print(stderr, text);
        }
        return n_open == 0;
}

static void tell_detached(const Follow *follow) {
        for (size_t i = 0; i < follow->n; i++)
                if (!follow->ended[i])
                        output_notice("run %" PRIu32 " goes on; 'plateau watch' shows it, 'plateau stop' ends it",
                                      follow->runs[i]);
}

/* Found out by its signal, or by a call that it did not answer. */
static int service_gone(Error *error) {
        error_clear(error);
        return error_set(error, ERROR_UNREACHABLE, ENOTCONN,
                         "the service went away; 'plateau list' shows what became of its runs");
}

static int follow_loop(Follow *follow, int interrupt_fd, Error *error) {
        for (;;) {
                int r = look_at_all(follow, error);
                if (r < 0)
                        return r == -ENOTCONN ? service_gone(error) : r;
                if (r > 0)
                        return follow->bad ? EXIT_STATUS_BAD_RUN : 0;

                r = bus_client_wait(follow->client, interrupt_fd, REFRESH_MS, error);
                if (r < 0)
                        return r;
                if (r == BUS_WAKE_VANISHED)
                        return service_gone(error);
                if (r == BUS_WAKE_INTERRUPTED) {
                        end_line(follow);
                        tell_detached(follow);
                        return EXIT_STATUS_INTERRUPTED;
                }
        }
}

int follow_runs(const Cli *cli, BusClient *client, const uint32_t *runs, size_t n, Error *error) {
        Follow follow = { .cli = cli, .client = client, .runs = runs, .n = n };
        _cleanup_close_ int interrupt_fd = -EBADF;
        _cleanup_free_ bool *ended = NULL;

        ended = calloc(n, sizeof(*ended));
        if (!ended)
                return -ENOMEM;
        follow.ended = ended;
        interrupt_fd = live_interrupt_fd();
        if (interrupt_fd < 0)
                return interrupt_fd;

        int r = follow_loop(&follow, interrupt_fd, error);
        end_line(&follow);
        return r;
}

/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "follow.h"
#include "live.h"
#include "output.h"
#include "run/status.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

#define REFRESH_MS 1000

typedef struct Follow {
        const Cli *cli;
        BusClient *client;
        FollowedRun *runs;
        size_t n;
        BusRun *seen; /* as each was when it was last asked for */
        Live live;
} Follow;

static void follow_clear(Follow *follow) {
        for (size_t i = 0; follow->seen && i < follow->n; i++)
                bus_run_clear(&follow->seen[i]);
        free(follow->seen);
}

/* Whether nothing more is to be waited for; an interrupted run is taken up again by itself, if it waits for no user. */
static bool has_ended(const FollowedRun *run) {
        return run->needs_user || run_state_is_final(run->state);
}

static LiveStatus live_status(const Follow *follow, size_t i) {
        const BusRun *run = &follow->seen[i];

        return (LiveStatus) {
                .run = follow->runs[i].id,
                .state = run->state,
                .device = run->device,
                .phase = run->phase,
                .phase_index = run->phase_index,
                .n_phases = run->n_phases,
                .elapsed_ns = run->elapsed_ns,
                .planned_ns = run->planned_ns,
                .iops = run->elapsed_ns > 0 ? run->iops : NAN,
                .bytes_per_s = NAN,
                .in_flight = run->in_flight,
                .oldest_io_ns = run->oldest_io_ns,
        };
}

static int tell_what_it_waits_for(Follow *follow, size_t i) {
        _cleanup_free_ char *what = text_escape(follow->seen[i].waits_for);

        if (!what)
                return -ENOMEM;
        live_clear(&follow->live);
        output_notice("run %" PRIu32 " is %s and waits for %s", follow->runs[i].id, follow->seen[i].state, what);
        return 0;
}

static int print_end(Follow *follow, size_t i) {
        const FollowedRun *run = &follow->runs[i];
        char span[TIME_SPAN_MAX];

        live_clear(&follow->live);
        if (follow->cli->json)
                return 0;
        if (printf("run %" PRIu32 " %s after %s%s; 'plateau show %" PRIu32 "' tells more\n", run->id,
                   run->state == RUN_STOPPED ? "was stopped" : run_state_name(run->state),
                   time_format_span(follow->seen[i].elapsed_ns, span),
                   run->state == RUN_STOPPED ? " and did not come to its end" : "", run->id) < 0 || fflush(stdout) != 0)
                return -EIO;
        return 0;
}

static int look(Follow *follow, size_t i, Error *error) {
        BusRun *seen = &follow->seen[i];

        bus_run_clear(seen);
        int r = bus_client_get_run(follow->client, follow->runs[i].id, seen, error);
        if (r < 0)
                return r;
        int state = run_state_from_name(seen->state);
        if (state < 0)
                return error_set(error, ERROR_FAILED, EBADMSG, "the service's answer is not understood: state '%s'",
                                 seen->state);
        follow->runs[i].state = (RunState) state;
        follow->runs[i].needs_user = state == RUN_INTERRUPTED && *seen->waits_for; /* told a moment before it is */
        if (follow->runs[i].needs_user)
                return tell_what_it_waits_for(follow, i);
        return has_ended(&follow->runs[i]) ? print_end(follow, i) : 0;
}

/* How many have not ended. */
static int look_at_all(Follow *follow, Error *error) {
        _cleanup_free_ LiveStatus *statuses = calloc(follow->n, sizeof(*statuses));
        size_t n_open = 0;

        if (!statuses)
                return -ENOMEM;
        for (size_t i = 0; i < follow->n; i++) {
                if (has_ended(&follow->runs[i]))
                        continue;
                int r = look(follow, i, error);
                if (r < 0)
                        return r;
                if (!has_ended(&follow->runs[i]))
                        statuses[n_open++] = live_status(follow, i);
        }
        if (n_open > 0 && isatty(STDERR_FILENO))
                (void) live_show(&follow->live, statuses, n_open);
        return n_open > 0;
}

static void tell_detached(const Follow *follow) {
        for (size_t i = 0; i < follow->n; i++)
                if (!has_ended(&follow->runs[i]))
                        output_notice("run %" PRIu32 " goes on; 'plateau watch' shows it, 'plateau stop' ends it",
                                      follow->runs[i].id);
}

/* Found out by its signal, or by a call that it did not answer. */
static int service_gone(const Follow *follow, Error *error) {
        _cleanup_free_ char *text = NULL;
        size_t length;

        FILE *f = open_memstream(&text, &length);
        if (!f)
                return -ENOMEM;
        for (size_t i = 0; i < follow->n; i++)
                fprintf(f, "%s %" PRIu32, i > 0 ? "," : "", follow->runs[i].id);
        if (fclose(f) != 0)
                return -ENOMEM;

        error_clear(error);
        return error_set(error, ERROR_UNREACHABLE, ENOTCONN,
                         "the service went away; 'plateau list' shows what became of run%s%s", follow->n > 1 ? "s" : "",
                         text);
}

static int exit_status(const Follow *follow) {
        int worst = 0;

        for (size_t i = 0; i < follow->n; i++) {
                int status = status_exit_of_run(follow->runs[i].state);

                if (status == STATUS_EXIT_BAD)
                        return status;
                worst = MAX(worst, status);
        }
        return worst;
}

static int follow_loop(Follow *follow, int interrupt_fd, Error *error) {
        for (;;) {
                int r = look_at_all(follow, error);
                if (r < 0)
                        return r == -ENOTCONN ? service_gone(follow, error) : r;
                if (r == 0)
                        return exit_status(follow);

                r = bus_client_wait(follow->client, interrupt_fd, REFRESH_MS, error);
                if (r < 0)
                        return r;
                if (r == BUS_WAKE_VANISHED)
                        return service_gone(follow, error);
                if (r == BUS_WAKE_INTERRUPTED) {
                        live_end(&follow->live);
                        tell_detached(follow);
                        return EXIT_STATUS_INTERRUPTED;
                }
        }
}

int follow_runs(const Cli *cli, BusClient *client, FollowedRun *runs, size_t n, Error *error) {
        _cleanup_(follow_clear) Follow follow = {
                .cli = cli,
                .client = client,
                .runs = runs,
                .n = n,
                .seen = calloc(n, sizeof(BusRun)),
                .live.f = stderr,
        };
        _cleanup_close_ int interrupt_fd = -EBADF;

        if (!follow.seen)
                return -ENOMEM;
        interrupt_fd = live_interrupt_fd();
        if (interrupt_fd < 0)
                return interrupt_fd;

        int r = follow_loop(&follow, interrupt_fd, error);
        live_end(&follow.live);
        return r;
}

/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <string.h>

#include "control.h"
#include "output.h"
#include "run/state.h"
#include "util/macro.h"
#include "util/time.h"

#define WAIT_MS 5000
#define POLL_MS 250 /* figures are not signalled */

/* An I/O of that age is none that ends in a moment, and so it is with an answer: whoever waits is told so now. */
#define HELD_UP_NS NSEC_PER_SEC

typedef bool (*Arrived)(const Control *control, const BusRun *run);

/* In the state that was asked for, or in one from which it never gets there. */
static bool has_arrived(const Control *control, const BusRun *run) {
        int state = run_state_from_name(run->state);

        return strcmp(run->state, control->reached) == 0 ||
               (state >= 0 && run_state_is_final((RunState) state));
}

static bool has_begun(const Control *control, const BusRun *run) {
        return strcmp(run->state, run_state_name(RUN_QUEUED)) != 0;
}

static bool is_silent(const BusRun *run) {
        return run->unanswered_ns >= HELD_UP_NS;
}

static bool is_held_up(const BusRun *run) {
        return is_silent(run) || (run->in_flight > 0 && run->oldest_io_ns >= HELD_UP_NS);
}

/* Until it has or is held up by its drive or worker, at most WAIT_MS; *ret is how the run was at the end. */
static int wait_for(BusClient *client, uint32_t id, const Control *control, Arrived arrived, BusRun *ret,
                    Error *error) {
        uint64_t deadline_ns = time_monotonic_ns() + WAIT_MS * NSEC_PER_MSEC;

        for (;;) {
                _cleanup_bus_run_ BusRun run = {};

                int r = bus_client_get_run(client, id, &run, error);
                if (r < 0)
                        return r;

                uint64_t now_ns = time_monotonic_ns();
                if (arrived(control, &run) || is_held_up(&run) || now_ns >= deadline_ns) {
                        *ret = run;
                        run = (BusRun) {};
                        return 0;
                }
                int left_ms = (int) ((deadline_ns - now_ns) / NSEC_PER_MSEC) + 1;
                r = bus_client_wait(client, -1, MIN(left_ms, POLL_MS), error);
                if (r < 0)
                        return r;
                if (r == BUS_WAKE_VANISHED)
                        return error_set(error, ERROR_UNREACHABLE, ENOTCONN,
                                         "the service went away while run %" PRIu32 " was %s", id, control->doing);
        }
}

static int call_and_wait(BusClient *client, uint32_t id, const Control *control, BusRun *ret, Error *error) {
        _cleanup_bus_run_ BusRun before = {};

        int r = control->needs_begun ? wait_for(client, id, control, has_begun, &before, error) : 0;
        if (r >= 0)
                r = control->call(client, id, error);
        if (r >= 0)
                r = wait_for(client, id, control, has_arrived, ret, error);
        return r;
}

static int print_result(Cli *cli, uint32_t id, const Control *control, const BusRun *run) {
        bool arrived = has_arrived(control, run);

        if (cli->json) {
                _cleanup_json_ json_object *document = json_object_new_object();

                if (!document)
                        return -ENOMEM;
                json_add_u64(document, "run", id);
                json_add_string(document, "state", run->state);
                json_add_u64(document, "in_flight", run->in_flight);
                return output_json(cli, document, true);
        }
        if (arrived)
                return printf("run %" PRIu32 " is %s\n", id, run->state) < 0 ? -EIO : 0;
        if (run->in_flight == 0)
                return printf("run %" PRIu32 " is %s%s\n", id, control->doing,
                              is_silent(run) ? ": its worker process does not answer" : "") < 0 ? -EIO : 0;
        return printf("run %" PRIu32 " is %s: %" PRIu32 " I/Os are still pending\n", id, control->doing,
                      run->in_flight) < 0 ? -EIO : 0;
}

int control_run(Cli *cli, const char *which, const Control *control, Error *error) {
        _cleanup_bus_client_ BusClient *client = NULL;
        _cleanup_bus_run_ BusRun run = {};
        uint32_t id;

        int r = bus_client_new(&client, cli->session_bus, error);
        if (r >= 0)
                r = bus_client_find_run(client, which, &id, error);
        if (r >= 0)
                r = bus_client_subscribe(client, error);
        if (r >= 0)
                r = call_and_wait(client, id, control, &run, error);
        if (r < 0)
                return r;
        r = print_result(cli, id, control, &run);
        return r < 0 ? r : 0;
}

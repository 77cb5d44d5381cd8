/* SPDX-License-Identifier: MIT */

/*
 * Looks into the database once a second: so it also works for who may read it but not speak to the
 * service, shows what is safely written, and ends when there is no service to go on.
 */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "live.h"
#include "output.h"
#include "query.h"
#include "run/status.h"
#include "util/macro.h"
#include "util/text.h"

#define REFRESH_MS 1000

typedef struct Watch {
        Cli *cli;
        Live live;
        Store *store;
        StoreRun run;
        QueryPhases phases; /* for their names, which never change */
        RunState shown_state;
        uint64_t shown_verify_errors;
        bool shown;
        uint64_t next_seq; /* of the first sample not seen yet */
        bool has_sample;
        Sample sample;     /* the newest */
        StoreLatency latency;
} Watch;

static void watch_free(Watch *watch) {
        store_closep(&watch->store);
        store_run_clear(&watch->run);
        query_phases_clear(&watch->phases);
        free(watch);
}
DEFINE_CLEANUP(Watch *, watch_free)

static int on_sample(const Sample *sample, const StoreLatency *latency, void *userdata) {
        Watch *watch = userdata;

        watch->sample = *sample;
        watch->latency = *latency;
        watch->has_sample = true;
        watch->next_seq = sample->seq + 1;
        return 0;
}

/* 1 if there is anything new. */
static int refresh(Watch *watch, Error *error) {
        const StoreSampleQuery query = { .run = watch->run.id, .phase = -1, .first_seq = watch->next_seq,
                .to_ns = UINT64_MAX };
        uint64_t seen = watch->next_seq;
        StoreRun run = {};

        int r = store_get_run(watch->store, watch->run.id, &run, error);
        if (r < 0)
                return r;
        store_run_clear(&watch->run);
        watch->run = run;

        r = store_each_sample(watch->store, &query, on_sample, watch, error);
        if (r < 0)
                return r;

        bool news = !watch->shown || watch->shown_state != run.state || watch->next_seq != seen ||
                    watch->shown_verify_errors != run.verify_errors;
        watch->shown = true;
        watch->shown_state = run.state;
        watch->shown_verify_errors = run.verify_errors;
        return news;
}

/* With the phase and the figures of the newest sample, while they say how the run goes. */
static LiveStatus watch_status(const Watch *watch) {
        const Sample *s = &watch->sample;
        bool has_phase = watch->has_sample && s->phase < watch->phases.n;
        LiveStatus status = {
                .run = watch->run.id,
                .state = run_state_name(watch->run.state),
                .device = watch->run.device_path,
                .phase = has_phase ? watch->phases.items[s->phase].name : watch->run.phase_name,
                .phase_index = has_phase ? s->phase : 0,
                .n_phases = watch->run.n_phases,
                .elapsed_ns = watch->run.elapsed_ns,
                .planned_ns = watch->run.has_planned_time ? watch->run.planned_ns : 0,
                .iops = NAN,
                .bytes_per_s = NAN,
                .has_errors = watch->has_sample && watch->run.errors_known,
                .errors = watch->run.io_errors,
                .wrong_blocks = watch->run.verify_errors,
        };

        if (watch->has_sample && run_state_is_active(watch->run.state)) {
                status.iops = watch->run.last_iops;
                status.bytes_per_s = query_rate(query_sum(s->bytes), s->duration_ns);
                status.has_p99 = watch->latency.known;
                status.p99_ns = watch->latency.p99_ns;
                status.in_flight = s->in_flight;
                status.oldest_io_ns = s->oldest_ns;
        }
        return status;
}

static int print_text(Watch *watch) {
        const LiveStatus status = watch_status(watch);

        return live_show(&watch->live, &status, 1);
}

static int print_json(const Watch *watch) {
        _cleanup_json_ json_object *o = query_run_json(&watch->run);
        const LiveStatus status = watch_status(watch);

        if (!o)
                return -ENOMEM;
        json_add_time(o, "at", watch->has_sample ? watch->sample.at_ns : 0);
        json_add_double(o, "bytes_per_s", status.bytes_per_s);
        json_add_u64_if(o, "latency_p99_ns", status.has_p99, status.p99_ns);
        json_add_u64_if(o, "errors", watch->run.errors_known, status.errors);
        json_add_u64(o, "in_flight", status.in_flight);
        json_add_u64(o, "oldest_io_ns", status.oldest_io_ns);
        return output_json(watch->cli, o, true);
}

/* An interrupted run goes on by itself, if a service is there to take it up and it waits for no user. */
static bool may_go_on(const Watch *watch) {
        return run_state_is_active(watch->run.state) ||
               (watch->run.state == RUN_INTERRUPTED && !watch->run.waits_for &&
                store_service_is_alive(watch->cli->database));
}

static int tell_what_it_waits_for(Watch *watch) {
        _cleanup_free_ char *what = text_escape(watch->run.waits_for);

        if (!what)
                return -ENOMEM;
        live_end(&watch->live);
        output_notice("run %" PRIu32 " waits for %s", watch->run.id, what);
        return 0;
}

/* The exit status. */
static int watch_end(Watch *watch, Error *error) {
        const StoreRun *run = &watch->run;
        int r = run->waits_for ? tell_what_it_waits_for(watch) : 0;

        if (r < 0)
                return r;
        if (run_state_is_final(run->state) || run->waits_for)
                return status_exit_of_run(run->state);
        return error_set(error, ERROR_UNREACHABLE, ENOTCONN,
                         "run %" PRIu32 " is interrupted, and no service is there to go on with it", run->id);
}

/* Until nothing more will happen: the run has ended, or nobody is there to go on with it. */
static int watch_loop(Watch *watch, int interrupt_fd, Error *error) {
        for (;;) {
                int r = refresh(watch, error);
                if (r < 0)
                        return r;
                if (r > 0)
                        r = watch->cli->json ? print_json(watch) : print_text(watch);
                if (r < 0)
                        return r;

                if (!may_go_on(watch))
                        return watch_end(watch, error);
                if (live_wait(interrupt_fd, REFRESH_MS) > 0)
                        return EXIT_STATUS_INTERRUPTED;
        }
}

static int watch_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(watch_freep) Watch *watch = NULL; /* too large for the stack: histograms */
        _cleanup_close_ int interrupt_fd = -EBADF;

        watch = calloc(1, sizeof(*watch));
        if (!watch)
                return -ENOMEM;
        watch->cli = cli;
        watch->live.f = stdout;

        int r = query_open_run(cli, arguments->n_words > 0 ? arguments->words[0] : NULL, &watch->store, &watch->run.id,
                               error);
        if (r >= 0)
                r = store_get_phases(watch->store, watch->run.id, &watch->phases.items, &watch->phases.n, error);
        if (r < 0)
                return r;
        interrupt_fd = live_interrupt_fd();
        if (interrupt_fd < 0)
                return interrupt_fd;

        r = watch_loop(watch, interrupt_fd, error);
        live_end(&watch->live);
        return r;
}

const Verb verb_watch = {
        .name = "watch",
        .summary = "a run as it goes on",
        .words = "[RUN]",
        .description = "Shows how a run (the newest, if none is named) is going, refreshed every second, until it "
                       "ends; an interrupted one is waited for, unless it waits for a user itself. Piped, each refresh "
                       "is a line; with --json, a document on a line. The exit status is as of 'start --wait': 0 if "
                       "the run is done or was stopped, by a user or by [stop], 1 if it failed, lost its device or "
                       "waits for a user, 3 if it was refused, 5 if no service is there to go on with it, 130 after "
                       "Ctrl-C.",
        .n_words_max = 1,
        .uses_database = true,
        .options = (const Option[]) { {} },
        .run = watch_run,
};

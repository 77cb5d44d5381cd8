/* SPDX-License-Identifier: MIT */

#include "worker/driver.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include "engine/pattern.h"
#include "spec/share.h"
#include "util/macro.h"
#include "util/time.h"
#include "worker/clocks.h"
#include "worker/faults.h"
#include "worker/sampler.h"
#include "worker/verifying.h"

/* The loop turns at least as often as this: a turn that took much longer is one in which this thread did not run. */
#define TURN_MS 500
#define TURN_NS_MAX (TURN_MS * NSEC_PER_MSEC + ENGINE_ASLEEP_NS_MIN)

struct Driver {
        DriverConfig config;
        Sampler sampler;
        Faults faults;
        Clocks clocks;
        Verifying verifying;
        int timer_fd;
        uint64_t woke_at_ns; /* monotonic */
        uint64_t awake_ns;
        uint64_t looked_at_ns; /* monotonic: for what is outstanding, with a sample or between two */

        bool want_paused; /* the service's last word on it */
        bool is_pausing;  /* the engine was told, and has not drained yet */
        bool is_paused;   /* drained, and told so */
        bool in_phase;
        unsigned phase;   /* its index */
        bool phase_is_over; /* before its time, as the service said */
        char *end_reason;   /* why the run is done, as the service said, when that phase is; NULL: it goes on */
        unsigned last_phase;
        bool is_ending;   /* no I/O is submitted any more, no further phase begins */
        Outcome outcome;
        char *detail;
};

static void driver_take_up(Driver *driver, const Standing *standing) {
        bool in_phase = standing->phase < standing->n_phases;

        driver->want_paused = standing->paused;
        sampler_take_up(&driver->sampler, standing->next_seq, standing->elapsed_ns,
                        in_phase ? standing->phases[standing->phase].elapsed_ns : 0);
}

int driver_new(Driver **ret, const DriverConfig *config, Error *error) {
        _cleanup_driver_ Driver *driver = calloc(1, sizeof(*driver));
        if (!driver)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");

        driver->config = *config;
        driver->woke_at_ns = time_monotonic_ns();
        clocks_init(&driver->clocks);
        sampler_init(&driver->sampler, config->engine, config->sample_interval_ns);
        verifying_init(&driver->verifying, config->reporter, config->engine, config->plan, config->standing);
        if (config->standing)
                driver_take_up(driver, config->standing);
        driver->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (driver->timer_fd < 0)
                return error_set(error, ERROR_FAILED, errno, "cannot make the sample timer: %s", strerror(errno));

        *ret = TAKE_PTR(driver);
        return 0;
}

Driver *driver_free(Driver *driver) {
        if (!driver)
                return NULL;

        sampler_done(&driver->sampler);
        fd_close(driver->timer_fd);
        free(driver->detail);
        free(driver->end_reason);
        free(driver);
        return NULL;
}

/* Submits nothing more. The first reason to end is the one that is told. */
static void driver_end(Driver *driver, Outcome outcome, const char *format, ...) _printf_(3, 4);
static void driver_end(Driver *driver, Outcome outcome, const char *format, ...) {
        va_list args;

        if (driver->is_ending)
                return;

        driver->is_ending = true;
        driver->outcome = outcome;
        va_start(args, format);
        if (vasprintf(&driver->detail, format, args) < 0)
                driver->detail = NULL;
        va_end(args);
        if (engine_state(driver->config.engine) != ENGINE_IDLE)
                engine_stop_phase(driver->config.engine);
}

static void timer_arm(Driver *driver) {
        uint64_t deadline = driver->sampler.running ? sampler_deadline_ns(&driver->sampler) : 0;
        struct itimerspec spec = { .it_value = { .tv_sec = (time_t) (deadline / NSEC_PER_SEC),
                                                 .tv_nsec = (long) (deadline % NSEC_PER_SEC) } };

        timerfd_settime(driver->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* What the job's [stop] says is an end as good as any other. */
static void driver_look_stop(Driver *driver) {
        const Standing *standing = driver->config.standing;
        uint64_t n_max = driver->config.plan->stop_errors_max;
        uint64_t n = driver->faults.n_errors + (standing ? standing->n_errors : 0);

        if (n > n_max)
                driver_end(driver, OUTCOME_DONE, "[stop] errors_max=%" PRIu64 ": %" PRIu64 " I/Os have failed", n_max,
                           n);
}

static void driver_look(Driver *driver, const Sample *sample) {
        const DriverConfig *config = &driver->config;
        _cleanup_error_ Error error = ERROR_INIT;

        if (faults_look(&driver->faults, config->reporter, config->engine, config->claim, sample, &error) < 0)
                driver_end(driver, OUTCOME_LOST, "%s", error_message(&error));
        driver_look_stop(driver);
}

static void driver_tell_outage(Driver *driver, const Sample *sample) {
        char span[TIME_SPAN_MAX];

        if (driver->sampler.asleep_ns > 0)
                reporter_event(driver->config.reporter, OCCURRENCE_OUTAGE, sample->elapsed_ns,
                               "the worker did not run for %s: it was stopped, or the machine was too busy",
                               time_format_span(driver->sampler.asleep_ns, span));
        clocks_look(&driver->clocks, driver->config.reporter, sample->elapsed_ns);
}

static void driver_sample(Driver *driver) {
        const Sample *sample = sampler_take(&driver->sampler, time_monotonic_ns());

        if (sample) {
                driver->looked_at_ns = time_monotonic_ns();
                verifying_look(&driver->verifying);
                reporter_send(driver->config.reporter,
                              &(Message) { .type = MESSAGE_SAMPLE, .sample = (Sample *) sample });
                driver_tell_outage(driver, sample);
                driver_look(driver, sample);
        }
        timer_arm(driver);
}

static void driver_tell_pending(Driver *driver) {
        Message message = { .type = MESSAGE_PENDING };

        engine_in_flight(driver->config.engine, &message.pending.n, &message.pending.oldest_ns);
        reporter_send(driver->config.reporter, &message);
        faults_look_stalled(&driver->faults, driver->config.reporter, message.pending.oldest_ns,
                            sampler_elapsed_ns(&driver->sampler, time_monotonic_ns()));
}

/* Where samples are far apart, a drive that hangs is one all the same. */
static void driver_look_pending(Driver *driver) {
        uint64_t now = time_monotonic_ns();

        if (!driver->sampler.running || now - driver->looked_at_ns < PENDING_INTERVAL_NS)
                return;
        driver->looked_at_ns = now;
        driver_tell_pending(driver);
}

/* One that is paused, or is about to be, ends when it is resumed. */
static void driver_end_phase(Driver *driver, uint32_t index) {
        if (!driver->in_phase || driver->phase != index)
                return; /* it has ended by itself meanwhile */

        driver->phase_is_over = true;
        if (!driver->want_paused)
                engine_stop_phase(driver->config.engine);
}

/* As to fio, data that is not what was written fails the run, unless the job goes on after it (continue_on_error). */
static void driver_look_verified(Driver *driver) {
        uint64_t n = verifying_n_errors(&driver->verifying);

        if (n > 0)
                driver_end(driver, OUTCOME_FAILED, "%" PRIu64 " %s read back not as written (EILSEQ): the device does "
                           "not keep its data", n, n == 1 ? "block was" : "blocks were");
}

/* Also a result, but not one for which blocks that were wrong are forgotten. */
static void driver_end_done(Driver *driver, const char *reason) {
        driver_look_verified(driver);
        driver_end(driver, OUTCOME_DONE, "%s", reason);
}

/* That the last phase is over may be heard of when the next one has begun. */
static void driver_look_last(Driver *driver) {
        bool is_over = driver->phase > driver->last_phase ||
                       (driver->phase == driver->last_phase && !driver->in_phase);

        if (driver->end_reason && is_over)
                driver_end_done(driver, driver->end_reason);
}

static void driver_end_run(Driver *driver, Message *message) {
        free(driver->end_reason);
        driver->end_reason = TAKE_PTR(message->end_run.detail);
        driver->last_phase = message->end_run.index;
        driver_look_last(driver);
}

static void driver_resume(Driver *driver) {
        driver->want_paused = false;
        if (!driver->is_paused)
                return; /* not drained yet: goes on when it is */

        driver->is_paused = false;
        if (engine_state(driver->config.engine) == ENGINE_PAUSED) {
                sampler_resume(&driver->sampler, time_monotonic_ns());
                engine_resume(driver->config.engine);
                timer_arm(driver);
        }
        if (driver->phase_is_over)
                engine_stop_phase(driver->config.engine);
        reporter_event(driver->config.reporter, OCCURRENCE_RESUMED, driver->sampler.elapsed_ns, "%s", "");
}

static void driver_tell_paused(Driver *driver) {
        driver->is_paused = true;
        reporter_event(driver->config.reporter, OCCURRENCE_PAUSED, driver->sampler.elapsed_ns, "%s", "");
}

static void driver_stop(Driver *driver, const char *why) {
        uint32_t n_pending;
        uint64_t oldest_ns;

        if (driver->is_ending)
                return;

        driver_end(driver, OUTCOME_STOPPED, "%s", why);
        engine_in_flight(driver->config.engine, &n_pending, &oldest_ns);
        reporter_event(driver->config.reporter, OCCURRENCE_STOPPING,
                       sampler_elapsed_ns(&driver->sampler, time_monotonic_ns()),
                       "%" PRIu32 " %s pending", n_pending, n_pending == 1 ? "I/O is" : "I/Os are");
}

/* If the engine has drained for a pause: ends the sample. */
static void driver_look_paused(Driver *driver) {
        if (!driver->is_pausing || engine_state(driver->config.engine) != ENGINE_PAUSED)
                return;

        driver->is_pausing = false;
        driver_sample(driver);
        sampler_suspend(&driver->sampler);
        timer_arm(driver);
        if (driver->is_ending)
                return; /* the sample has shown why */
        driver_tell_paused(driver);
        if (!driver->want_paused)
                driver_resume(driver);
}

static void driver_pause(Driver *driver) {
        driver->want_paused = true;
        if (driver->is_paused || driver->is_ending || engine_state(driver->config.engine) == ENGINE_IDLE)
                return;

        driver->is_pausing = true;
        engine_pause(driver->config.engine);
        /* Told to pause before it woke up from the last one, it stays paused without an event. */
        driver_look_paused(driver);
        if (driver->is_pausing)
                driver_tell_pending(driver);
}

static void handle_engine(Driver *driver) {
        uint64_t n_changes;

        if (read(engine_event_fd(driver->config.engine), &n_changes, sizeof(n_changes)) == sizeof(n_changes))
                driver_look_paused(driver);
}

static void handle_timer(Driver *driver) {
        uint64_t n_expirations;

        if (read(driver->timer_fd, &n_expirations, sizeof(n_expirations)) == sizeof(n_expirations))
                driver_sample(driver);
}

static void handle_signal(Driver *driver) {
        struct signalfd_siginfo info;

        if (read(driver->config.signal_fd, &info, sizeof(info)) == sizeof(info))
                driver_stop(driver, "the worker was told to end by a signal");
}

static void handle_message(Driver *driver, Message *message) {
        switch (message->type) {
        case MESSAGE_PAUSE:
                driver_pause(driver);
                break;
        case MESSAGE_RESUME:
                driver_resume(driver);
                break;
        case MESSAGE_END_PHASE:
                driver_end_phase(driver, message->end_phase.index);
                break;
        case MESSAGE_END_RUN:
                driver_end_run(driver, message);
                break;
        case MESSAGE_RECORDED:
                verifying_recorded(&driver->verifying, message);
                break;
        case MESSAGE_STOP:
                driver_stop(driver, "stopped on request");
                break;
        default:
                driver_end(driver, OUTCOME_FAILED, "the service sent a message that makes no sense during a run");
        }
}

static void handle_link(Driver *driver) {
        Reporter *reporter = driver->config.reporter;

        for (;;) {
                _cleanup_message_ Message message = {};

                int r = link_receive(reporter->link, &message);
                if (r < 0)
                        reporter->error = r;
                if (r <= 0)
                        break;
                handle_message(driver, &message);
        }

        if (reporter->error == 0) {
                int r = link_flush(reporter->link);
                if (r < 0)
                        reporter->error = r;
        }
}

static void driver_beat(Driver *driver) {
        uint64_t now = time_monotonic_ns(), turn_ns = now - driver->woke_at_ns;

        driver->woke_at_ns = now;
        if (turn_ns > TURN_NS_MAX) {
                sampler_overslept(&driver->sampler, turn_ns);
                driver->looked_at_ns = now; /* what is outstanding has not been pending for all of that */
        } else
                driver->awake_ns += turn_ns;
        engine_beat(driver->config.engine, driver->awake_ns);
}

/* Waits for something to happen, and deals with it. */
static void driver_wait(Driver *driver) {
        const DriverConfig *config = &driver->config;
        Reporter *reporter = config->reporter;
        struct pollfd fds[] = {
                { .fd = engine_event_fd(config->engine), .events = POLLIN },
                { .fd = driver->timer_fd, .events = POLLIN },
                { .fd = config->signal_fd, .events = POLLIN },
                /* A link that is broken would be ready for ever. */
                { .fd = reporter->error == 0 ? link_fd(reporter->link) : -1, .events = link_events(reporter->link) },
        };

        int n = poll(fds, ELEMENTSOF(fds), TURN_MS);
        driver_beat(driver);
        if (n < 0)
                return; /* EINTR, or ENOMEM for a moment */

        if (fds[1].revents)
                handle_timer(driver);
        driver_look_pending(driver);
        if (fds[0].revents)
                handle_engine(driver);
        if (fds[2].revents)
                handle_signal(driver);
        if (fds[3].revents)
                handle_link(driver);
        if (reporter->error < 0)
                driver_end(driver, OUTCOME_STOPPED, "nobody listens any more: %s", strerror(-reporter->error));
}

/* What is true between phases; a device that is another one by now must not be written to. */
static void driver_verify(Driver *driver, const PhasePlan *next) {
        const DriverConfig *config = &driver->config;
        _cleanup_error_ Error error = ERROR_INIT;

        if (faults_verify(&driver->faults, config->reporter, config->claim, driver->sampler.elapsed_ns, &error) < 0)
                driver_end(driver, OUTCOME_LOST, "%s", error_message(&error));
        else if (next && driver->faults.read_only && rw_mode_direction(next->rw) != DIRECTION_READ)
                driver_end(driver, OUTCOME_FAILED, "the device became read-only, and the next phase %s",
                           rw_mode_trims(next->rw) ? "trims" : "writes");
}

/* A pause that comes as a phase ends is kept before the next one begins. */
static void driver_wait_to_begin(Driver *driver) {
        driver->is_pausing = false;
        if (driver->want_paused && !driver->is_ending)
                driver_tell_paused(driver);
        while (driver->is_paused && !driver->is_ending)
                driver_wait(driver);
}

/* Of a device that is gone that is told, not which of its I/Os was the first to fail. */
static void driver_look_failed(Driver *driver) {
        EngineFailure failure = engine_failure(driver->config.engine);

        if (failure.errnum == EILSEQ)
                driver_end(driver, OUTCOME_FAILED, "what was read at offset %" PRIu64 " is not what was written "
                           "(EILSEQ), and the job does not continue on that error (continue_on_error)", failure.offset);
        else if (failure.errnum > 0)
                driver_end(driver, OUTCOME_FAILED, "a %s at offset %" PRIu64 " failed with %s (%s), and the job does "
                           "not continue on that error", direction_name(failure.direction), failure.offset,
                           errno_name(failure.errnum), strerror(failure.errnum));
}

static void driver_look_written(Driver *driver) {
        char reason[128];
        uint64_t n_bytes;

        if (!engine_has_written_all(driver->config.engine, &n_bytes))
                return;
        snprintf(reason, sizeof(reason), "[stop] written_max=%" PRIu64 ": %" PRIu64 " bytes are written",
                 driver->config.plan->stop_written_max, n_bytes);
        driver_end_done(driver, reason);
}

/* The phase that was interrupted goes on where it stood; the others begin. */
static int driver_start_phase(Driver *driver, unsigned index) {
        Standing *standing = driver->config.standing;
        const PhasePlan *phase = &driver->config.plan->phases[index];
        Positions at;

        if (!standing || index != standing->phase)
                return engine_start_phase(driver->config.engine, index);

        at = standing->phases[index].positions;
        at.n = phase->workers; /* zeros, where nothing is known yet */
        for (uint32_t i = 0; i < at.n; i++) {
                PhasePlan share;

                phase_plan_share(&share, phase, i);
                pattern_take_up(&share, standing->drained, &at.of[i]);
        }
        standing_take_up(standing, phase, &at);
        return engine_take_up_phase(driver->config.engine, index, &at, standing->phases[index].elapsed_ns);
}

static void driver_run_phase(Driver *driver, unsigned index) {
        const DriverConfig *config = &driver->config;

        driver->in_phase = true;
        driver->phase = index;
        reporter_phase(config->reporter, index, PHASE_MARK_STARTED);
        sampler_begin_phase(&driver->sampler, index, config->plan->phases[index].runtime_ns, time_monotonic_ns());
        int r = driver_start_phase(driver, index);
        if (r < 0) {
                driver_end(driver, OUTCOME_FAILED, "cannot start phase %u: %s", index, strerror(-r));
                sampler_suspend(&driver->sampler);
        } else
                verifying_begin_phase(&driver->verifying, index);

        timer_arm(driver);
        driver->looked_at_ns = time_monotonic_ns();
        while (engine_state(config->engine) != ENGINE_IDLE)
                driver_wait(driver);

        r = engine_ring_error(config->engine);
        if (r < 0)
                driver_end(driver, OUTCOME_FAILED, "io_uring failed: %s", strerror(-r));
        driver_sample(driver);
        verifying_end_phase(&driver->verifying);
        driver_look_failed(driver);
        driver_look_written(driver);
        sampler_suspend(&driver->sampler);
        timer_arm(driver);
        driver->in_phase = driver->phase_is_over = false;
        reporter_phase(config->reporter, index, driver->is_ending ? PHASE_MARK_STOPPED : PHASE_MARK_DONE);
}

Outcome driver_run(Driver *driver, char **ret_detail) {
        const Plan *plan = driver->config.plan;

        driver_look_written(driver);
        for (unsigned i = driver->config.standing ? driver->config.standing->phase : 0; i < plan->n_phases; i++) {
                driver_verify(driver, &plan->phases[i]);
                driver_wait_to_begin(driver);
                if (driver->is_ending)
                        break;
                driver_run_phase(driver, i);
                driver_look_last(driver);
                if (driver->is_ending)
                        break;
        }

        driver_verify(driver, NULL);
        driver_look_verified(driver);
        driver_end(driver, OUTCOME_DONE, "%s", "");
        *ret_detail = TAKE_PTR(driver->detail);
        return driver->outcome;
}

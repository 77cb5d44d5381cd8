/* SPDX-License-Identifier: MIT */

#include "worker/session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "device/claim.h"
#include "device/find.h"
#include "engine/engine.h"
#include "engine/pattern.h"
#include "spec/job.h"
#include "spec/plan.h"
#include "spec/share.h"
#include "util/macro.h"
#include "util/time.h"
#include "worker/driver.h"
#include "worker/notices.h"
#include "worker/proof.h"
#include "worker/reporter.h"
#include "worker/sandbox.h"

/* A service that started us has the first message ready; one that has not is broken. */
#define OPEN_DEADLINE_NS (30 * NSEC_PER_SEC)

typedef struct Session {
        Link *link;
        Reporter reporter;
        int signal_fd;
        Message open;
        Job *job;
        Plan *plan;
        Claim *claim;
        Histories *histories; /* of a new run */
        Engine *engine;
        Driver *driver;
        char *proof;
        Refusal why; /* of a run that is taken up; whoever finds it to be final says so */
} Session;

/* Everything that holds the device, in the order that lets go of it without a trace. */
static void session_free_device(Session *session) {
        driver_freep(&session->driver);
        session->driver = NULL;
        engine_freep(&session->engine);
        session->engine = NULL;
        claim_freep(&session->claim);
        session->claim = NULL;
}

static void session_done(Session *session) {
        session_free_device(session);
        histories_free(session->histories);
        plan_freep(&session->plan);
        job_freep(&session->job);
        free(session->proof);
        message_clear(&session->open);
        fd_close(session->signal_fd);
        link_freep(&session->link);
}

static int signals_open(void) {
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGHUP);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;

        int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return fd < 0 ? -errno : fd;
}

/* poll()'s timeout until the deadline, rounded up. UINT64_MAX: none. */
static int timeout_ms(uint64_t deadline_ns) {
        if (deadline_ns == UINT64_MAX)
                return -1;

        uint64_t now = time_monotonic_ns();
        return now >= deadline_ns ? 0 : (int) MIN((deadline_ns - now) / NSEC_PER_MSEC + 1, UINT64_C(1000000));
}

/* Waits for the next message. -EPIPE (the service is gone), -EINTR (a signal), -ETIMEDOUT, -EBADMSG. */
static int session_receive(Session *session, uint64_t deadline_ns, Message *ret) {
        for (;;) {
                int r = link_receive(session->link, ret);
                if (r != 0)
                        return r < 0 ? r : 0;

                struct pollfd fds[] = {
                        { .fd = link_fd(session->link), .events = link_events(session->link) },
                        { .fd = session->signal_fd, .events = POLLIN },
                };
                r = poll(fds, ELEMENTSOF(fds), timeout_ms(deadline_ns));
                if (r < 0 && errno != EINTR)
                        return -errno;
                if (r == 0)
                        return -ETIMEDOUT;
                if (r > 0 && fds[1].revents)
                        return -EINTR;
                if (link_flush(session->link) < 0)
                        return -EPIPE;
        }
}

static int open_receive(Session *session, Error *error) {
        int r = session_receive(session, time_monotonic_ns() + OPEN_DEADLINE_NS, &session->open);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "no job came from the service: %s", strerror(-r));
        if (session->open.type != MESSAGE_OPEN)
                return error_set(error, ERROR_FAILED, EBADMSG, "the service's first message is no order to open");
        if (session->open.open.version != MESSAGE_VERSION)
                return error_set(error, ERROR_FAILED, EPROTO,
                                 "plateaud speaks version %" PRIu32 " with its workers, and plateau-worker version %d: "
                                 "they are of different builds; install both anew and restart the service",
                                 session->open.open.version, MESSAGE_VERSION);
        return 0;
}

static int plan_bind(Session *session, uint64_t seed, Error *error) {
        const PlanTarget target = device_plan_target(session->claim->info);
        Plan *plan;

        int r = plan_new(&plan, session->job, &target, seed, error);
        if (r < 0)
                return r;

        plan_freep(&session->plan);
        session->plan = plan;
        return 0;
}

/* The drive was confirmed when the run began; what it holds is for the proof to judge. */
static int claim_again(Session *session, const DeviceInfo *found, Error *error) {
        _cleanup_free_ char *word = NULL, *twin = NULL;
        int r = device_confirmation_here(found, &word, &twin, error);

        if (r < 0)
                return r;
        const char *const confirmations[] = { word, NULL };
        const ClaimRequest request = {
                .path = found->path,
                .confirmations = confirmations,
                .deny = (const char *const *) session->open.open.deny,
                .erase_existing = true,
                .for_reading = true,
        };

        return claim_new(&session->claim, &request, error);
}

/* What is wrong with a job stays wrong; a want of memory does not. */
static int session_judge_job(Session *session, int r) {
        if (r < 0 && r != -ENOMEM)
                session->why = REFUSAL_FINAL;
        return r;
}

/* A newer plateau may read the text of the job in another way. */
static int plan_bind_again(Session *session, const Standing *standing, Error *error) {
        int r = session_judge_job(session, plan_bind(session, standing->seed, error));
        if (r < 0)
                return r;
        if (session->plan->n_phases == standing->n_phases)
                return 0;

        session->why = REFUSAL_FINAL;
        return error_set(error, ERROR_REFUSED, EPROTO,
                         "the run was begun with %" PRIu32 " phases and this version of plateau reads %zu in its job; "
                         "start it anew", standing->n_phases, session->plan->n_phases);
}

/*
 * Finds the drive, claims it and proves that it carries the run. Nothing is written; nor is it open for writing before
 * it is proven, for udev looks at a drive anew that was, and this one may be somebody else's.
 */
static int session_take_up(Session *session, const Standing *standing, Error *error) {
        _cleanup_device_info_ DeviceInfo *found = NULL;
        Likeness likeness;

        int r = device_find(standing->device, standing->same_boot, &found, &likeness, error);
        if (r < 0) {
                session->why = error->kind == ERROR_NOT_FOUND ? REFUSAL_ABSENT
                             : error->kind == ERROR_REFUSED   ? REFUSAL_FINAL
                                                              : REFUSAL_BUSY;
                return r;
        }

        r = claim_again(session, found, error);
        if (r < 0)
                return r;
        if (device_likeness(standing->device, standing->same_boot, session->claim->info) != likeness)
                return error_set(error, ERROR_FAILED, ESTALE, "%s changed while it was looked at", found->path);

        r = plan_bind_again(session, standing, error);
        if (r >= 0)
                r = proof_try(session->claim, session->plan, standing, likeness, &session->proof, &session->why, error);
        reasons_clear(&session->claim->signatures); /* nothing of it is to be erased */
        return r < 0 ? r : claim_make_writable(session->claim, error);
}

/* Parses, claims and binds: everything that may refuse, and nothing that writes. */
static int session_claim(Session *session, Error *error) {
        const Message *open = &session->open;
        const ClaimRequest request = {
                .path = open->open.path,
                .confirmations = (const char *const *) open->open.confirmations,
                .deny = (const char *const *) open->open.deny,
                .erase_existing = open->open.erase_existing,
        };

        int r = job_parse(&session->job, open->open.job_name, open->open.job_text, strlen(open->open.job_text), error);
        if (session_judge_job(session, r) < 0)
                return r;
        if (open->open.standing)
                return session_take_up(session, open->open.standing, error);
        r = claim_new(&session->claim, &request, error);
        if (r < 0)
                return r;
        /* The seed comes with the go, and decides nothing about whether the job fits. */
        r = plan_bind(session, 0, error);
        if (r < 0 && error->kind == ERROR_USAGE)
                error->kind = ERROR_REFUSED; /* the job is one, and this device is none for it */
        return r;
}

static int session_report(Session *session, Error *error) {
        Message report = { .type = MESSAGE_REPORT, .report = { .info = session->claim->info } };

        report.report.proof = session->proof;
        report.report.notices = notices_new(session->claim, session->plan);
        if (!report.report.notices)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        int r = link_send(session->link, &report);
        strv_free(report.report.notices);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "cannot tell the service about %s: %s",
                                 session->claim->info->path, strerror(-r));
        return 0;
}

/* Waits as long as the service takes: it may have other devices to ask. */
static int go_receive(Session *session, Message *ret, Error *error) {
        int r = session_receive(session, UINT64_MAX, ret);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "released %s without having written to it: %s",
                                 session->claim->info->path,
                                 r == -EPIPE ? "the service gave it up" : strerror(-r));
        if (ret->type == MESSAGE_GO || ret->type == MESSAGE_STOP)
                return 0;

        message_clear(ret);
        return error_set(error, ERROR_FAILED, EBADMSG, "the service sent a message that makes no sense before a run");
}

/* Above all that the run has numbered, told or not: each ring thread counts on by itself. */
static uint64_t first_write(const Plan *plan, const Standing *standing) {
        if (!standing)
                return 0;
        return standing_next_write(standing) + (standing->drained ? 0 : PATTERN_JUMP * plan_workers_max(plan));
}

/* Which writes of the run are certain, from its beginning or as far as was told. */
static int session_know_history(Session *session, Standing *standing, Error *error) {
        uint32_t n_shares[JOB_N_PHASES_MAX];

        if (standing) {
                standing_look_back(standing, session->plan, session->claim->info->write_cache);
                standing_end_histories(standing, session->plan);
                return 0;
        }
        for (size_t i = 0; i < session->plan->n_phases; i++)
                n_shares[i] = session->plan->phases[i].workers;
        session->histories = histories_new(n_shares, (uint32_t) session->plan->n_phases);
        return session->histories ? 0 : error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
}

/* The first writes are the erasing's, if it was ordered; the privileges go before the first I/O of the job. */
static int session_prepare(Session *session, const Message *go, Error *error) {
        Sandbox sandbox;
        Standing *standing = session->open.open.standing;
        const char *notice;

        int r = plan_bind(session, go->go.seed, error);
        if (r < 0)
                return r;
        r = session_know_history(session, standing, error);
        if (r < 0)
                return r;
        r = claim_settle(session->claim, error);
        if (r < 0)
                return r;
        r = sandbox_prepare(&sandbox, &notice, error);
        if (r < 0)
                return r;
        if (notice)
                fprintf(stderr, "plateau-worker: %s\n", notice);

        r = engine_new(&session->engine, &(EngineConfig) {
                .plan = session->plan,
                .fd = session->claim->fd,
                .ring_kind = RING_URING,
                .run_tag = go->go.run_tag,
                .first_write = first_write(session->plan, standing),
                .written_bytes = standing ? standing->written_bytes : 0,
                .histories = standing ? standing->histories : session->histories,
        }, error);
        if (r < 0)
                return r;
        r = driver_new(&session->driver, &(DriverConfig) {
                .reporter = &session->reporter,
                .plan = session->plan,
                .engine = session->engine,
                .claim = session->claim,
                .standing = standing,
                .sample_interval_ns = session->job->sample_interval_ns,
                .signal_fd = session->signal_fd,
        }, error);
        if (r < 0)
                return r;

        return sandbox_enter(&sandbox, plan_trims(session->plan) ? session->claim->fd : -1, error);
}

/* The device is free before the service hears of the end, so that a next run can start at once. */
static void session_run_job(Session *session, const Message *go) {
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_free_ char *detail = NULL;

        if (session_prepare(session, go, &error) < 0) {
                session_free_device(session);
                reporter_finished(&session->reporter, OUTCOME_FAILED, error_message(&error));
                return;
        }

        reporter_started(&session->reporter);
        Outcome outcome = driver_run(session->driver, &detail);
        session_free_device(session);
        reporter_finished(&session->reporter, outcome, detail ?: "");
}

/* Until the service has taken the last word, or is gone, or a signal says that it is enough. */
static int session_flush(Session *session, Error *error) {
        int r = session->reporter.error;

        while (r == 0) {
                r = link_flush(session->link);
                if (r > 0)
                        return 0;
                if (r < 0)
                        break;

                struct pollfd fds[] = {
                        { .fd = link_fd(session->link), .events = POLLOUT },
                        { .fd = session->signal_fd, .events = POLLIN },
                };
                if (poll(fds, ELEMENTSOF(fds), -1) > 0 && fds[1].revents)
                        r = -EINTR;
        }

        return error_set(error, ERROR_FAILED, -r, "the service did not take all that was to be said: %s", strerror(-r));
}

static int session_talk(Session *session, Error *error) {
        _cleanup_message_ Message go = {};
        _cleanup_error_ Error refusal = ERROR_INIT;

        int r = open_receive(session, &refusal);
        if (r >= 0)
                r = session_claim(session, &refusal);
        if (r >= 0)
                r = session_report(session, &refusal);
        if (r < 0) {
                session_free_device(session);
                reporter_refused(&session->reporter, session->why, &refusal);
                if (session_flush(session, NULL) >= 0)
                        return 0;
                error_move(error, &refusal); /* the journal hears it instead */
                return r;
        }

        r = go_receive(session, &go, error);
        if (r < 0)
                return r;
        if (go.type == MESSAGE_STOP) {
                session_free_device(session);
                reporter_finished(&session->reporter, OUTCOME_STOPPED, "stopped before it began");
        } else
                session_run_job(session, &go);
        return session_flush(session, error);
}

int session_run(int fd, Error *error) {
        _cleanup_(session_done) Session session = { .signal_fd = signals_open() };
        if (session.signal_fd < 0) {
                fd_close(fd);
                return error_set(error, ERROR_FAILED, -session.signal_fd, "cannot take signals: %s",
                                 strerror(-session.signal_fd));
        }

        int r = link_new(&session.link, fd);
        if (r < 0) {
                fd_close(fd);
                return error_set(error, ERROR_FAILED, -r, "cannot use the socket to the service: %s", strerror(-r));
        }

        session.reporter.link = session.link;
        return session_talk(&session, error);
}

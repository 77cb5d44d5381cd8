/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What plateaud and a worker say to each other over a SOCK_SEQPACKET pair (wire/link.h), both ends of the
 * same build (a version in the first message makes sure).
 *
 *     daemon                         worker
 *     OPEN    what to run on what ->
 *                                 <- REPORT   the device, checked and held; or REFUSED, and it exits
 *     GO      tag, seed           ->
 *                                 <- STARTED  privileges are gone, I/O begins
 *     PAUSE, RESUME, STOP,
 *     END_PHASE, END_RUN          ->
 *     RECORDED                    <- HISTORY
 *                                 <- PHASE, SAMPLE, ERRNO, EVENT ... FINISHED, and it exits
 *
 * Encoded as: u8 type, then the fields in order; numbers little endian at full width, strings and
 * blobs as u32 length and bytes (wire/codec.h). A worker may have been taken over by a hostile device, so the
 * daemon takes every message as hostile: message_decode() never reads past the message, and refuses
 * unknown types, impossible values and bytes left over with -EBADMSG.
 *
 * OPEN with a standing takes a run up that was interrupted: the worker looks for its drive, whatever name that has now,
 * claims it, and proves that it still carries the run's blocks. The tag and seed of GO are those of the standing.
 *
 * HISTORY tells what else has to be known of a share of a phase for its contents to be verified; it comes before the
 * SAMPLE that it goes with. RECORDED answers it when the database holds it: only then is anything submitted up to its
 * ceiling. VERIFICATION and FINDING tell what came of checking.
 *
 * END_PHASE ends that phase as its time would, and means nothing if it has ended already. END_RUN says, for a reason
 * that FINISHED is to tell, that the run is done when that phase is: at once, if that has been.
 *
 * STOP is answered with OCCURRENCE_STOPPING at once, the first time; a device that hangs then holds up FINISHED
 * until it has answered, with SAMPLEs of zeros meanwhile. SIGTERM to the worker is the same as STOP. STOP
 * instead of GO: FINISHED, and nothing was written. FINISHED is the last message; the device is free by then.
 */

#include "device/info.h"
#include "engine/engine.h"
#include "sample/sample.h"
#include "spec/job.h"
#include "wire/standing.h"

#define MESSAGE_VERSION 14
#define MESSAGE_BYTES_MAX (JOB_TEXT_MAX + 1536U * 1024U) /* encoded: the longest job file, or any sample */

typedef enum MessageType {
        MESSAGE_OPEN,
        MESSAGE_REPORT,
        MESSAGE_REFUSED,
        MESSAGE_GO,
        MESSAGE_STARTED,
        MESSAGE_PAUSE,
        MESSAGE_RESUME,
        MESSAGE_STOP,
        MESSAGE_PHASE,
        MESSAGE_SAMPLE,
        MESSAGE_ERRNO,
        MESSAGE_EVENT,
        MESSAGE_FINISHED,
        MESSAGE_END_PHASE,
        MESSAGE_HISTORY,
        MESSAGE_RECORDED,
        MESSAGE_VERIFICATION,
        MESSAGE_FINDING,
        MESSAGE_END_RUN,
        MESSAGE_PENDING,
        N_MESSAGE_TYPES,
} MessageType;

/* Of a run that is taken up, whether it may be tried again. A new run is refused whatever the reason. */
typedef enum Refusal {
        REFUSAL_BUSY,   /* it cannot be had now; first, for it is what holds until something else was decided */
        REFUSAL_ABSENT, /* the drive is not there, or not yet */
        REFUSAL_FINAL,  /* the wrong drive, or one that cannot be told from another, or put to another use */
        N_REFUSALS,
} Refusal;

/* How a worker ended. */
typedef enum Outcome {
        OUTCOME_DONE,
        OUTCOME_STOPPED, /* as it was told */
        OUTCOME_FAILED,
        OUTCOME_LOST,    /* the device went away */
        N_OUTCOMES,
} Outcome;

/* What a worker may report besides phases, samples and errnos; the daemon makes events of it. */
typedef enum Occurrence {
        OCCURRENCE_PAUSED,    /* drained */
        OCCURRENCE_RESUMED,
        OCCURRENCE_STALLED,   /* the oldest I/O is older than 5 s */
        OCCURRENCE_RECOVERED,
        OCCURRENCE_READ_ONLY,
        OCCURRENCE_STOPPING,  /* told to stop; the detail says how many I/Os are pending */
        OCCURRENCE_OUTAGE,    /* nothing was measured for a while, which is no running time */
        OCCURRENCE_CLOCK,     /* the wall clock was set */
        N_OCCURRENCES,
} Occurrence;

/*
 * While a phase goes on, what is outstanding is told at least so often, by samples or MESSAGE_PENDING; and at once
 * where a pause has to wait for it.
 */
#define PENDING_INTERVAL_NS (UINT64_C(1) * 1000 * 1000 * 1000)

typedef enum PhaseMark {
        PHASE_MARK_STARTED,
        PHASE_MARK_DONE,
        PHASE_MARK_STOPPED, /* by stop, or by a fault */
        N_PHASE_MARKS,
} PhaseMark;

/* Strings and arrays are owned by the Message; string arrays are NULL-terminated. */
typedef struct Message {
        MessageType type;
        union {
                struct {
                        uint32_t version; /* if it is not MESSAGE_VERSION, nothing else was decoded */
                        char *path;
                        char **confirmations;
                        bool erase_existing;
                        char *job_name;
                        char *job_text;
                        char **deny; /* patterns of the configuration */
                        Standing *standing; /* of a run that is taken up: its drive is looked for; NULL: a new one */
                } open;
                struct {
                        DeviceInfo *info;
                        char **notices; /* about the device: no NOWAIT, depth capped, what will be erased */
                        char *proof;    /* of a run that is taken up: by what its drive was known; else NULL */
                } report;
                struct {
                        Refusal why;
                        ErrorKind kind;
                        char *text;
                } refused;
                struct {
                        uint64_t run_tag; /* not 0 */
                        uint64_t seed;    /* for phases with randrepeat=0 */
                } go;
                struct {
                        int64_t at_ns; /* realtime, as all of these */
                } started;
                struct {
                        uint32_t index;
                        PhaseMark mark;
                        int64_t at_ns;
                } phase;
                struct {
                        uint32_t index;
                } end_phase;
                struct {
                        uint32_t index; /* of the last phase */
                        char *detail;
                } end_run;
                struct {
                        uint32_t phase, share;
                        History history; /* without its end */
                } history;
                struct {
                        uint32_t phase, share;
                        uint64_t ceiling;
                } recorded;
                struct {
                        uint32_t phase;
                        Verification so_far; /* of all of the phase, by whatever workers */
                } verification;
                struct {
                        uint32_t phase;
                        Mismatch kind;
                        uint64_t offset, bytes;
                        char *detail; /* for a person */
                } finding;
                struct {
                        uint32_t n;         /* I/Os outstanding */
                        uint64_t oldest_ns; /* age of the oldest; 0: there is none */
                } pending;
                Sample *sample;
                EngineErrno errnum;
                struct {
                        Occurrence kind;
                        int64_t at_ns;
                        uint64_t elapsed_ns; /* running time of the run at that moment */
                        char *detail; /* may be empty */
                } event;
                struct {
                        Outcome outcome;
                        char *detail;
                } finished;
        };
} Message;

/*
 * Encodes into buf (size bytes; MESSAGE_BYTES_MAX always holds a sample) and returns the length; -EMSGSIZE if it does
 * not fit, -EINVAL for a message that message_decode() would refuse.
 */
ssize_t message_encode(const Message *message, uint8_t *buf, size_t size);

/* -EBADMSG for anything that message_encode() could not have made, -ENOMEM; *ret is then empty. */
int message_decode(Message *ret, const void *data, size_t length);

void message_clear(Message *message);
#define _cleanup_message_ _cleanup_(message_clear)

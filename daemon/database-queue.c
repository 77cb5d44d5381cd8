/* SPDX-License-Identifier: MIT */

/*
 * One list in order of arrival, since a phase's state, its samples and the events between them only make
 * sense in that order. Samples and events are linked a second time, run by run, so that the oldest of a run is found
 * without a walk through everybody else's. Samples wait encoded: a second is a few hundred bytes then, not 90 KB.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "database-queue.h"
#include "util/macro.h"
#include "util/time.h"

typedef enum ChangeKind {
        CHANGE_RUN_STATE,
        CHANGE_STOP_ASKED,
        CHANGE_DRAINED,
        CHANGE_WAITS_FOR,
        CHANGE_PLACE,
        CHANGE_PHASE_STATE,
        CHANGE_SAMPLE,
        CHANGE_GAP,
        CHANGE_EVENT,
        CHANGE_ERRNO,
        CHANGE_HISTORY,
        CHANGE_VERIFICATION,
        CHANGE_FINDING,
} ChangeKind;

typedef struct SampleFacts {
        uint64_t seq;
        uint64_t from_ns, to_ns; /* elapsed */
} SampleFacts;

/* What went: the samples from the first to the last one, if any, and how many events. */
typedef struct GapFacts {
        bool has_samples;
        SampleFacts first, last;
        uint64_t n_events;
} GapFacts;

struct Change {
        Change *next, *previous;
        uint64_t position;
        Change *next_of_run; /* in the chain of its quota; NULL for gaps */
        Quota *quota;        /* samples, events, errnos and gaps */
        ChangeKind kind;
        uint32_t run;
        bool pinned;
        int64_t at_ns;
        size_t bytes; /* of the allocation */
        union {
                RunState run_state;
                struct {
                        uint32_t index;
                        PhaseState state;
                } phase;
                SampleFacts sample;
                GapFacts gap;
                struct {
                        uint64_t elapsed_ns;
                        EventKind kind;
                } event;
                EngineErrno errnum;
                uint64_t diskseq; /* of a place */
                struct {
                        uint32_t phase, share;
                } share;  /* of a history, a verification */
                StoreFinding finding; /* without its detail */
        };
        size_t length;  /* of data */
        _Alignas(uint64_t) uint8_t data[]; /* sample: encoded; event: its detail and a NUL; place: four strings;
                         * waits for: text and a NUL, or nothing; history, verification: itself; finding: its detail
                         * and a NUL */
};

typedef struct Chain {
        Change *first, *last;
} Chain;

struct Quota {
        Quota *next;
        uint32_t run;
        uint64_t bytes;   /* of those in `recorded` */
        Chain recorded;   /* samples and events */
        Chain errnos;     /* each errno once, and once more while the older figures are pinned */
        Change *gap;      /* the one that may still grow, not pinned */
        size_t n_changes; /* that point here */
};

void queue_init(Queue *queue, uint64_t run_bytes_max) {
        *queue = (Queue){ .run_bytes_max = run_bytes_max };
}

void queue_clear(Queue *queue) {
        for (Change *change = queue->first, *next; change; change = next) {
                next = change->next;
                free(change);
        }
        for (Quota *quota = queue->quotas, *next; quota; quota = next) {
                next = quota->next;
                free(quota);
        }
        queue_init(queue, queue->run_bytes_max);
}

static Change *change_new(ChangeKind kind, uint32_t run, int64_t at_ns, const void *data, size_t length) {
        Change *change = calloc(1, sizeof(*change) + length);
        if (!change)
                return NULL;

        change->kind = kind;
        change->run = run;
        change->at_ns = at_ns;
        change->bytes = sizeof(*change) + length;
        change->length = length;
        if (length > 0)
                memcpy(change->data, data, length);
        return change;
}

static void queue_append(Queue *queue, Change *change) {
        change->previous = queue->last;
        if (queue->last)
                queue->last->next = change;
        else
                queue->first = change;
        queue->last = change;
        queue->n_changes++;
        change->position = ++queue->n_pushed;
        queue->bytes += change->bytes;
}

static void queue_unlink(Queue *queue, Change *change) {
        if (change->previous)
                change->previous->next = change->next;
        else
                queue->first = change->next;
        if (change->next)
                change->next->previous = change->previous;
        else
                queue->last = change->previous;
        queue->n_changes--;
        queue->bytes -= change->bytes;
}

int queue_push_run_state(Queue *queue, uint32_t run, RunState state, int64_t at_ns) {
        Change *change = change_new(CHANGE_RUN_STATE, run, at_ns, NULL, 0);
        if (!change)
                return -ENOMEM;
        change->run_state = state;
        queue_append(queue, change);
        return 0;
}

int queue_push_stop_asked(Queue *queue, uint32_t run, int64_t at_ns) {
        Change *change = change_new(CHANGE_STOP_ASKED, run, at_ns, NULL, 0);
        if (!change)
                return -ENOMEM;
        queue_append(queue, change);
        return 0;
}

/* One that says the same of an earlier moment and still waits; what comes before what it goes with may be newer. */
static Change *find_waiting(const Queue *queue, ChangeKind kind, uint32_t run, uint32_t phase, uint32_t share) {
        for (Change *change = queue->last; change && !change->pinned; change = change->previous)
                if (change->kind == kind && change->run == run && change->share.phase == phase &&
                    change->share.share == share)
                        return change;
        return NULL;
}

static int push_of_share(Queue *queue, ChangeKind kind, uint32_t run, uint32_t phase, uint32_t share, const void *data,
                         size_t length) {
        Change *change = find_waiting(queue, kind, run, phase, share);

        if (change) {
                memcpy(change->data, data, length);
                return 0;
        }
        change = change_new(kind, run, 0, data, length);
        if (!change)
                return -ENOMEM;
        change->share.phase = phase;
        change->share.share = share;
        queue_append(queue, change);
        return 0;
}

int queue_push_history(Queue *queue, uint32_t run, uint32_t phase, uint32_t share, const History *history) {
        return push_of_share(queue, CHANGE_HISTORY, run, phase, share, history, sizeof(*history));
}

int queue_push_verification(Queue *queue, uint32_t run, uint32_t phase, const Verification *verification) {
        return push_of_share(queue, CHANGE_VERIFICATION, run, phase, 0, verification, sizeof(*verification));
}

int queue_push_finding(Queue *queue, uint32_t run, const StoreFinding *finding) {
        Change *change = change_new(CHANGE_FINDING, run, 0, finding->detail, strlen(finding->detail) + 1);
        if (!change)
                return -ENOMEM;
        change->finding = *finding;
        queue_append(queue, change);
        return 0;
}

int queue_push_drained(Queue *queue, uint32_t run) {
        Change *change = change_new(CHANGE_DRAINED, run, 0, NULL, 0);
        if (!change)
                return -ENOMEM;
        queue_append(queue, change);
        return 0;
}

/* As data, or none for NULL. */
int queue_push_waits_for(Queue *queue, uint32_t run, const char *waits_for) {
        Change *change = change_new(CHANGE_WAITS_FOR, run, 0, waits_for, waits_for ? strlen(waits_for) + 1 : 0);
        if (!change)
                return -ENOMEM;
        queue_append(queue, change);
        return 0;
}

int queue_push_place(Queue *queue, uint32_t run, const DeviceInfo *device, const char *boot_id) {
        _cleanup_free_ char *data = NULL;
        int n = asprintf(&data, "%s%c%s%c%s%c%s", device->path, '\0', device->name, '\0', device->disk_name, '\0',
                         boot_id);
        if (n < 0) {
                data = NULL;
                return -ENOMEM;
        }

        Change *change = change_new(CHANGE_PLACE, run, 0, data, (size_t) n + 1);
        if (!change)
                return -ENOMEM;
        change->diskseq = device->diskseq;
        queue_append(queue, change);
        return 0;
}

static int place_write(const Change *change, Store *store, Error *error) {
        char *path = (char *) change->data, *name = path + strlen(path) + 1, *disk_name = name + strlen(name) + 1;
        const DeviceInfo device = { .path = path, .name = name, .disk_name = disk_name, .diskseq = change->diskseq };

        return store_set_place(store, change->run, &device, disk_name + strlen(disk_name) + 1, error);
}

int queue_push_phase_state(Queue *queue, uint32_t run, uint32_t phase, PhaseState state, int64_t at_ns) {
        Change *change = change_new(CHANGE_PHASE_STATE, run, at_ns, NULL, 0);
        if (!change)
                return -ENOMEM;
        change->phase.index = phase;
        change->phase.state = state;
        queue_append(queue, change);
        return 0;
}

static Quota *queue_quota(Queue *queue, uint32_t run) {
        for (Quota *quota = queue->quotas; quota; quota = quota->next)
                if (quota->run == run)
                        return quota;

        Quota *quota = calloc(1, sizeof(*quota));
        if (!quota)
                return NULL;
        quota->run = run;
        quota->next = queue->quotas;
        queue->quotas = quota;
        return quota;
}

static void queue_forget_quota(Queue *queue, Quota *quota) {
        if (quota->n_changes > 0)
                return;

        for (Quota **at = &queue->quotas; *at; at = &(*at)->next)
                if (*at == quota) {
                        *at = quota->next;
                        free(quota);
                        return;
                }
}

static void chain_append(Chain *chain, Change *change) {
        if (chain->last)
                chain->last->next_of_run = change;
        else
                chain->first = change;
        chain->last = change;
}

/* All before it in the chain are pinned, or there are few, so the walk is short. */
static void chain_remove(Chain *chain, Change *change) {
        Change *before = NULL;
        for (Change *at = chain->first; at != change; at = at->next_of_run)
                before = at;

        if (before)
                before->next_of_run = change->next_of_run;
        else
                chain->first = change->next_of_run;
        if (chain->last == change)
                chain->last = before;
        change->next_of_run = NULL;
}

static void quota_remove(Quota *quota, Change *change) {
        if (change->kind == CHANGE_ERRNO)
                chain_remove(&quota->errnos, change);
        else if (change->kind == CHANGE_SAMPLE || change->kind == CHANGE_EVENT) {
                chain_remove(&quota->recorded, change);
                quota->bytes -= change->bytes;
        } else if (quota->gap == change)
                quota->gap = NULL;
}

static Change *quota_oldest_unpinned(const Quota *quota) {
        Change *change = quota->recorded.first;
        while (change && change->pinned)
                change = change->next_of_run;
        return change;
}

static void gap_add(GapFacts *gap, const GapFacts *more) {
        gap->n_events += more->n_events;
        if (!more->has_samples)
                return;
        if (!gap->has_samples || more->first.seq < gap->first.seq)
                gap->first = more->first;
        if (!gap->has_samples || more->last.seq > gap->last.seq)
                gap->last = more->last;
        gap->has_samples = true;
}

/* What is dropped is remembered in the gap, and takes its place if there is none yet to grow. */
static void queue_drop(Queue *queue, Quota *quota, Change *change) {
        GapFacts facts = { .n_events = 1 };

        if (change->kind == CHANGE_SAMPLE) {
                facts = (GapFacts){ .has_samples = true, .first = change->sample, .last = change->sample };
                queue->n_dropped++;
        }
        quota_remove(quota, change);

        if (quota->gap) {
                gap_add(&quota->gap->gap, &facts);
                queue_unlink(queue, change);
                free(change);
                quota->n_changes--;
                return;
        }

        /* Turned into the gap where it stands: this must not need memory. */
        change->kind = CHANGE_GAP;
        change->gap = facts;
        quota->gap = change;
}

/* A new change of a run's quota, in the queue but in no chain yet. NULL if memory ran out. */
static Change *queue_append_of_run(Queue *queue, ChangeKind kind, uint32_t run, int64_t at_ns, const void *data,
                                   size_t length) {
        Quota *quota = queue_quota(queue, run);
        if (!quota)
                return NULL;

        Change *change = change_new(kind, run, at_ns, data, length);
        if (!change) {
                queue_forget_quota(queue, quota);
                return NULL;
        }
        change->quota = quota;
        quota->n_changes++;
        queue_append(queue, change);
        return change;
}

static void queue_record(Queue *queue, Change *change) {
        Quota *quota = change->quota;

        chain_append(&quota->recorded, change);
        quota->bytes += change->bytes;
        while (quota->bytes > queue->run_bytes_max) {
                Change *oldest = quota_oldest_unpinned(quota);
                if (!oldest || oldest == change)
                        break;
                queue_drop(queue, quota, oldest);
        }
}

int queue_push_sample(Queue *queue, uint32_t run, const Sample *sample) {
        uint8_t encoded[SAMPLE_ENCODED_MAX];
        size_t length = sample_encode(sample, encoded, sizeof(encoded));
        if (length == 0)
                return -EMSGSIZE;

        Change *change = queue_append_of_run(queue, CHANGE_SAMPLE, run, sample->at_ns, encoded, length);
        if (!change)
                return -ENOMEM;
        change->sample = (SampleFacts){
                .seq = sample->seq,
                .from_ns = sample->elapsed_ns - MIN(sample->duration_ns, sample->elapsed_ns),
                .to_ns = sample->elapsed_ns,
        };
        queue_record(queue, change);
        return 0;
}

int queue_push_event(Queue *queue, uint32_t run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind,
                     const char *detail) {
        Change *change = queue_append_of_run(queue, CHANGE_EVENT, run, at_ns, detail, strlen(detail) + 1);
        if (!change)
                return -ENOMEM;
        change->event.elapsed_ns = elapsed_ns;
        change->event.kind = kind;
        queue_record(queue, change);
        return 0;
}

static Change *quota_waiting_errno(const Quota *quota, int errnum) {
        for (Change *change = quota->errnos.first; change; change = change->next_of_run)
                if (!change->pinned && change->errnum.errnum == errnum)
                        return change;
        return NULL;
}

int queue_push_errno(Queue *queue, uint32_t run, const EngineErrno *errnum) {
        Quota *quota = queue_quota(queue, run);
        Change *change = quota ? quota_waiting_errno(quota, errnum->errnum) : NULL;

        if (!change) {
                change = queue_append_of_run(queue, CHANGE_ERRNO, run, errnum->last_at_ns, NULL, 0);
                if (!change)
                        return -ENOMEM;
                chain_append(&change->quota->errnos, change);
        }
        change->errnum = *errnum;
        return 0;
}

uint64_t queue_settled(const Queue *queue) {
        return queue->first ? queue->first->position - 1 : queue->n_pushed;
}

Change *queue_pin(Queue *queue, uint64_t max_bytes, size_t *ret_n) {
        uint64_t bytes = 0;

        for (Change *change = queue->first; change; change = change->next) {
                if (bytes > 0 && bytes + change->bytes > max_bytes)
                        break;
                bytes += change->bytes;
                change->pinned = true;
                queue->n_pinned++;
                if (change->kind == CHANGE_GAP && change->quota->gap == change)
                        change->quota->gap = NULL;
        }
        *ret_n = queue->n_pinned;
        return queue->first;
}

Change *change_next(const Change *change) {
        return change->next;
}

static void queue_remove(Queue *queue, Change *change) {
        Quota *quota = change->quota;

        if (quota)
                quota_remove(quota, change);
        queue_unlink(queue, change);
        free(change);
        if (quota) {
                quota->n_changes--;
                queue_forget_quota(queue, quota);
        }
}

void queue_settle(Queue *queue) {
        for (; queue->n_pinned > 0; queue->n_pinned--)
                queue_remove(queue, queue->first);
}

void queue_unpin(Queue *queue) {
        Change *change = queue->first;

        for (; queue->n_pinned > 0; queue->n_pinned--, change = change->next)
                change->pinned = false;
}

void queue_reject(Queue *queue, Change *change) {
        queue_unpin(queue);
        if (change->kind == CHANGE_SAMPLE)
                queue->n_dropped++;
        queue_remove(queue, change);
}

uint32_t change_run(const Change *change) {
        return change->run;
}

bool change_ends_run(const Change *change) {
        return change->kind == CHANGE_RUN_STATE && run_state_is_final(change->run_state);
}

static int gap_write(const Change *change, Store *store, Error *error) {
        const GapFacts *gap = &change->gap;
        char detail[256], from[TIME_SPAN_MAX], to[TIME_SPAN_MAX], samples[128] = "", events[32] = "";

        if (gap->has_samples)
                snprintf(samples, sizeof(samples), "samples %" PRIu64 " to %" PRIu64 " (%s to %s)", gap->first.seq,
                         gap->last.seq, time_format_span(gap->first.from_ns, from),
                         time_format_span(gap->last.to_ns, to));
        if (gap->n_events > 0)
                snprintf(events, sizeof(events), "%" PRIu64 " events", gap->n_events);
        snprintf(detail, sizeof(detail), "%s%s%s are lost: the database was not writable for too long", samples,
                 gap->has_samples && gap->n_events > 0 ? " and " : "", events);
        return store_insert_event(store, change->run, change->at_ns, gap->last.to_ns, EVENT_DATABASE, detail, error);
}

static int finding_write(const Change *change, Store *store, Error *error) {
        StoreFinding finding = change->finding;

        finding.detail = (char *) change->data;
        return store_insert_finding(store, change->run, &finding, error);
}

int change_write(const Change *change, Store *store, Sample *scratch, Error *error) {
        int r;

        switch (change->kind) {
        case CHANGE_RUN_STATE:
                return store_set_run_state(store, change->run, change->run_state, change->at_ns, error);
        case CHANGE_STOP_ASKED:
                return store_set_stop_asked(store, change->run, change->at_ns, error);
        case CHANGE_DRAINED:
                return store_set_drained(store, change->run, error);
        case CHANGE_WAITS_FOR:
                return store_set_waits_for(store, change->run, change->length > 0 ? (const char *) change->data : NULL,
                                           error);
        case CHANGE_PLACE:
                return place_write(change, store, error);
        case CHANGE_PHASE_STATE:
                return store_set_phase_state(store, change->run, change->phase.index, change->phase.state,
                                             change->at_ns, error);
        case CHANGE_SAMPLE:
                r = sample_decode(scratch, change->data, change->length);
                if (r < 0)
                        return error_set(error, ERROR_FAILED, EINVAL, "a waiting sample cannot be decoded");
                return store_insert_sample(store, change->run, scratch, error);
        case CHANGE_GAP:
                return gap_write(change, store, error);
        case CHANGE_EVENT:
                return store_insert_event(store, change->run, change->at_ns, change->event.elapsed_ns,
                                          change->event.kind, (const char *) change->data, error);
        case CHANGE_ERRNO:
                return store_set_errno(store, change->run, &change->errnum, error);
        case CHANGE_HISTORY:
                return store_set_history(store, change->run, change->share.phase, change->share.share,
                                         (const History *) change->data, error);
        case CHANGE_VERIFICATION:
                return store_set_verification(store, change->run, change->share.phase,
                                              (const Verification *) change->data, error);
        case CHANGE_FINDING:
                return finding_write(change, store, error);
        }
        return -EINVAL;
}

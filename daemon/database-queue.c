/* SPDX-License-Identifier: MIT */

/*
 * One list in order of arrival, since a phase's state, its samples and the events between them only make
 * sense in that order. Samples are linked a second time, run by run, so that the oldest of a run is found
 * without a walk through everybody else's. They wait encoded: a second is a few hundred bytes then, not 90 KB.
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
        CHANGE_PHASE_STATE,
        CHANGE_SAMPLE,
        CHANGE_GAP,
        CHANGE_EVENT,
        CHANGE_ERRNO,
} ChangeKind;

typedef struct SampleFacts {
        uint64_t seq;
        uint64_t from_ns, to_ns; /* elapsed */
} SampleFacts;

typedef struct GapFacts {
        uint64_t first_seq, last_seq;
        uint64_t from_ns, to_ns; /* elapsed */
} GapFacts;

struct Change {
        Change *next, *previous;
        Change *next_sample; /* of the same run; samples only */
        Quota *quota;        /* samples and gaps */
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
        };
        size_t length;  /* of data */
        uint8_t data[]; /* sample: encoded; event: its detail and a NUL */
};

struct Quota {
        Quota *next;
        uint32_t run;
        uint64_t bytes;       /* of the samples */
        Change *first, *last; /* samples */
        Change *gap;          /* the one that may still grow, not pinned */
        size_t n_changes;     /* samples and gaps that point here */
};

void queue_init(Queue *queue, uint64_t sample_bytes_max) {
        *queue = (Queue){ .sample_bytes_max = sample_bytes_max };
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
        queue_init(queue, queue->sample_bytes_max);
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
        queue->n_pushed++;
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
        queue->n_settled++;
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

int queue_push_phase_state(Queue *queue, uint32_t run, uint32_t phase, PhaseState state, int64_t at_ns) {
        Change *change = change_new(CHANGE_PHASE_STATE, run, at_ns, NULL, 0);
        if (!change)
                return -ENOMEM;
        change->phase.index = phase;
        change->phase.state = state;
        queue_append(queue, change);
        return 0;
}

int queue_push_event(Queue *queue, uint32_t run, int64_t at_ns, uint64_t elapsed_ns, EventKind kind,
                     const char *detail) {
        Change *change = change_new(CHANGE_EVENT, run, at_ns, detail, strlen(detail) + 1);
        if (!change)
                return -ENOMEM;
        change->event.elapsed_ns = elapsed_ns;
        change->event.kind = kind;
        queue_append(queue, change);
        return 0;
}

int queue_push_errno(Queue *queue, uint32_t run, const EngineErrno *errnum) {
        Change *change = change_new(CHANGE_ERRNO, run, errnum->last_at_ns, NULL, 0);
        if (!change)
                return -ENOMEM;
        change->errnum = *errnum;
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

/* Takes a sample out of its run's chain. All samples before it in the chain are pinned, so the walk is short. */
static void quota_remove(Quota *quota, Change *sample) {
        Change *before = NULL;
        for (Change *at = quota->first; at != sample; at = at->next_sample)
                before = at;

        if (before)
                before->next_sample = sample->next_sample;
        else
                quota->first = sample->next_sample;
        if (quota->last == sample)
                quota->last = before;
        sample->next_sample = NULL;
        quota->bytes -= sample->bytes;
}

static Change *quota_oldest_unpinned(const Quota *quota) {
        Change *sample = quota->first;
        while (sample && sample->pinned)
                sample = sample->next_sample;
        return sample;
}

/* The sample goes; what it was about is remembered in the gap, which takes its place if there is none yet to grow. */
static void queue_drop_sample(Queue *queue, Quota *quota, Change *sample) {
        SampleFacts facts = sample->sample;

        quota_remove(quota, sample);
        queue->n_dropped++;

        if (quota->gap) {
                GapFacts *gap = &quota->gap->gap;
                gap->first_seq = MIN(gap->first_seq, facts.seq);
                gap->last_seq = MAX(gap->last_seq, facts.seq);
                gap->from_ns = MIN(gap->from_ns, facts.from_ns);
                gap->to_ns = MAX(gap->to_ns, facts.to_ns);
                queue_unlink(queue, sample);
                free(sample);
                quota->n_changes--;
                return;
        }

        /* Turned into the gap where it stands: this must not need memory. */
        sample->kind = CHANGE_GAP;
        sample->gap = (GapFacts){ facts.seq, facts.seq, facts.from_ns, facts.to_ns };
        quota->gap = sample;
}

int queue_push_sample(Queue *queue, uint32_t run, const Sample *sample) {
        uint8_t encoded[SAMPLE_ENCODED_MAX];
        size_t length = sample_encode(sample, encoded, sizeof(encoded));
        if (length == 0)
                return -EMSGSIZE;

        Quota *quota = queue_quota(queue, run);
        Change *change = quota ? change_new(CHANGE_SAMPLE, run, sample->at_ns, encoded, length) : NULL;
        if (!change) {
                if (quota)
                        queue_forget_quota(queue, quota);
                return -ENOMEM;
        }

        change->quota = quota;
        change->sample = (SampleFacts){
                .seq = sample->seq,
                .from_ns = sample->elapsed_ns - MIN(sample->duration_ns, sample->elapsed_ns),
                .to_ns = sample->elapsed_ns,
        };
        queue_append(queue, change);
        if (quota->last)
                quota->last->next_sample = change;
        else
                quota->first = change;
        quota->last = change;
        quota->bytes += change->bytes;
        quota->n_changes++;

        while (quota->bytes > queue->sample_bytes_max) {
                Change *oldest = quota_oldest_unpinned(quota);
                if (!oldest || oldest == change)
                        break;
                queue_drop_sample(queue, quota, oldest);
        }
        return 0;
}

Change *queue_pin(Queue *queue, uint64_t max_bytes) {
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
        return queue->first;
}

Change *change_next_pinned(Change *change) {
        return change->next && change->next->pinned ? change->next : NULL;
}

static void queue_remove(Queue *queue, Change *change) {
        Quota *quota = change->quota;

        if (change->kind == CHANGE_SAMPLE)
                quota_remove(quota, change);
        else if (quota && quota->gap == change)
                quota->gap = NULL;
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

static int gap_write(const Change *change, Store *store, Error *error) {
        const GapFacts *gap = &change->gap;
        char detail[256], from[TIME_SPAN_MAX], to[TIME_SPAN_MAX];

        snprintf(detail, sizeof(detail),
                 "samples %" PRIu64 " to %" PRIu64 " (%s to %s) are lost: the database was not writable for too long",
                 gap->first_seq, gap->last_seq, time_format_span(gap->from_ns, from), time_format_span(gap->to_ns, to));
        return store_insert_event(store, change->run, change->at_ns, gap->to_ns, EVENT_DATABASE, detail, error);
}

int change_write(const Change *change, Store *store, Sample *scratch, Error *error) {
        int r;

        switch (change->kind) {
        case CHANGE_RUN_STATE:
                return store_set_run_state(store, change->run, change->run_state, change->at_ns, error);
        case CHANGE_STOP_ASKED:
                return store_set_stop_asked(store, change->run, change->at_ns, error);
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
        }
        return -EINVAL;
}

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A run on a simulated drive: any job, writes that fail, processes that die and have done more than they told, as far
 * as the limits of their phase and of later ones let them. A map is kept of what lies there for certain, sector by
 * sector, so that it can be held against what is made up without one. For one test program: all of it is its own.
 */

#include <stdio.h>
#include <string.h>

#include "engine/check.h"
#include "engine/pattern.h"
#include "spec/share.h"
#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"
#include "wire/standing.h"

#define TAG UINT64_C(0x1234567890abcdef)
#define DRIVE_BYTES (512U * 1024U)
#define N_SECTORS (DRIVE_BYTES / 512U)

typedef struct Model {
        uint64_t random; /* state */
        Plan *plan;
        Payload *payload;
        Histories *histories; /* the standing's */
        Standing *standing;
        uint64_t n_issued[JOB_WORKERS_MAX]; /* of each share of the phase; by expectation, where it was taken up */
        uint8_t *drive, *older; /* the older: as each sector was before its newest certain write */
        uint64_t certain[N_SECTORS]; /* newest certain write; GRANULE_UNWRITTEN, GRANULE_UNKNOWN */
        bool is_doubtful[N_SECTORS]; /* a maybe has come since */
        bool has_older[N_SECTORS];
        uint8_t *data; /* of one I/O */
} Model;

static uint64_t draw(Model *m, uint64_t n) {
        m->random = hash_mix64(m->random);
        return hash_below(m->random, n);
}

static const char *pick(Model *m, const char *const *words, size_t n) {
        return words[draw(m, n)];
}

static void print_phase(Model *m, FILE *f, unsigned i, bool last) {
        static const char *const modes[] = { "write", "randwrite", "randwrite", "rw", "randrw", "trim", "randtrim" };
        static const char *const sizes[] = { "bs=512", "bs=4k", "bs=1k,2k", "bs=8k", "bs=1536", "bssplit=512/30:4k/70",
                                             "bssplit=2k/50:8k/50" };
        static const char *const contents[] = { "", "", "buffer_compress_percentage=50", "dedupe_percentage=40",
                                                "zero_buffers" };
        static const char *const maps[] = { "", "", "norandommap=0", "random_distribution=zipf:1.2",
                                            "random_distribution=zoned:60/10:30/20:10/70" };
        static const char *const regions[] = { "", "size=200k", "offset=64k", "offset=3k\nsize=150k" };
        static const char *const limits[] = { "loops=3", "loops=3", "number_ios=150", "io_size=60k",
                                              "time_based\nruntime=5" };
        const char *content = pick(m, contents, last ? 4 : 5), *limit = pick(m, limits, ELEMENTSOF(limits));

        fprintf(f, "[p%u]\nrw=%s\n%s\n%s\n%s\n%s\niodepth=8\n%s\nrandseed=%u\n", i,
                pick(m, modes, ELEMENTSOF(modes) - 2 * last), pick(m, sizes, ELEMENTSOF(sizes)), content,
                pick(m, maps, ELEMENTSOF(maps)), pick(m, regions, ELEMENTSOF(regions)), limit,
                (unsigned) draw(m, 1000));
        if (draw(m, 4) == 0)
                fprintf(f, "numjobs=2\noffset_increment=160k\nsize=100k\n");
        else if (draw(m, 4) == 0)
                fprintf(f, "workers=2\nrandom_distribution=random\n");
        if (last)
                fprintf(f, "verify=crc32c\n");
}

static Plan *make_plan(Model *m) {
        char text[4096] = {};
        FILE *f = fmemopen(text, sizeof(text) - 1, "w");
        unsigned n = 1 + (unsigned) draw(m, 3);
        Error error = ERROR_INIT;
        Plan *plan;
        Job *job;

        for (unsigned i = 0; i < n; i++)
                print_phase(m, f, i, i + 1 == n);
        fclose(f);
        if (job_parse(&job, "random.fio", text, strlen(text), &error) < 0) {
                error_clear(&error); /* zipf with norandommap, say */
                return NULL;
        }
        if (plan_new(&plan, job, &(PlanTarget){ DRIVE_BYTES, 512, true }, 1, &error) < 0)
                ck_abort_msg("%s\n%s", error_message(&error), text);
        job_free(job);
        return plan;
}

/* --- what the drive does --- */

/* Of a trim zeros are put; a drive need not do that. */
static void put(Model *m, const PhasePlan *share, const PatternOp *op, uint64_t number, uint64_t from, uint64_t to) {
        if (op->direction == DIRECTION_WRITE)
                payload_fill_for(m->payload, share, m->data, op->length, op->offset, number);
        else
                memset(m->data, 0, op->length);
        memcpy(m->drive + op->offset + from, m->data + from, to - from);
}

static void do_certain(Model *m, const PhasePlan *share, const PatternOp *op, uint64_t number) {
        if (op->direction == DIRECTION_READ)
                return;
        if (op->direction == DIRECTION_TRIM)
                number = GRANULE_UNKNOWN;
        for (uint64_t s = op->offset / 512; s < (op->offset + op->length) / 512; s++) {
                memcpy(m->older + s * 512, m->drive + s * 512, 512);
                m->has_older[s] = m->certain[s] < GRANULE_UNKNOWN && !m->is_doubtful[s] && m->certain[s] != number;
                m->certain[s] = number;
                m->is_doubtful[s] = false;
        }
        put(m, share, op, number, 0, op->length);
}

/* All, nothing, or some of its sectors. */
static void do_maybe(Model *m, const PhasePlan *share, const PatternOp *op, uint64_t number) {
        if (op->direction == DIRECTION_READ)
                return;
        for (uint64_t s = op->offset / 512; s < (op->offset + op->length) / 512; s++)
                m->is_doubtful[s] = true;
        switch (draw(m, 3)) {
        case 0:
                put(m, share, op, number, 0, op->length);
                break;
        case 1:
                for (uint64_t at = 0; at < op->length; at += 512)
                        if (draw(m, 2) == 0)
                                put(m, share, op, number, at, at + 512);
                break;
        default:
                break;
        }
}

typedef struct Share {
        PhasePlan plan;
        Pattern pattern;
        History *history;
        uint64_t number;
} Share;

static void share_of(Model *m, uint32_t phase, uint32_t k, Share *ret) {
        phase_plan_share(&ret->plan, &m->plan->phases[phase], k);
        pattern_init(&ret->pattern, &ret->plan, k);
        ret->history = histories_at(m->histories, phase, k);
        ret->number = write_number(phase, k, 0);
}

/* As the engine ends a share. */
static bool has_left(const Model *m, const PhasePlan *phase, const Share *share, const Positions *at, uint32_t k) {
        uint64_t done = at->of[k].done_bytes;

        for (uint32_t i = 0; phase_plan_pools(phase) && i < at->n; i++)
                done += i == k ? 0 : at->of[i].done_bytes;
        return done < share->plan.limit_bytes &&
               (share->plan.limit_ios == 0 || m->n_issued[k] < share->plan.limit_ios);
}

static void count_one(Model *m, Position *at, uint32_t k, uint32_t length) {
        at->low_index = ++at->next_index;
        at->done_bytes += length;
        m->n_issued[k]++;
}

/* What nobody heard of: as much as the limits allow, or less. */
static void do_unheard(Model *m, uint32_t phase, Positions *at, uint64_t n_max) {
        for (uint32_t k = 0; k < at->n; k++) {
                Share share;

                share_of(m, phase, k, &share);
                for (uint64_t n = n_max; n > 0 && has_left(m, &m->plan->phases[phase], &share, at, k); n--) {
                        PatternOp op = pattern_at(&share.pattern, at->of[k].next_index);

                        do_maybe(m, &share.plan, &op, share.number + at->of[k].next_index);
                        count_one(m, &at->of[k], k, op.length);
                }
        }
}

static void count_issued(Model *m, uint32_t phase, const Positions *at) {
        for (uint32_t k = 0; k < at->n; k++) {
                Share share;

                share_of(m, phase, k, &share);
                m->n_issued[k] = phase_plan_ios(&share.plan, at->of[k].done_bytes);
        }
}

/* Also of phases that begin when this one is through. */
static void do_all_unheard(Model *m, uint32_t phase, Positions *at) {
        if (draw(m, 3) > 0 || m->plan->phases[phase].limit_bytes == UINT64_MAX) {
                do_unheard(m, phase, at, draw(m, 30));
                return;
        }
        do_unheard(m, phase, at, UINT64_MAX);
        for (uint32_t p = phase + 1; p + 1 < m->plan->n_phases && draw(m, 3) > 0; p++) {
                Positions later = { .n = m->plan->phases[p].workers };

                count_issued(m, p, &later);
                do_unheard(m, p, &later, draw(m, 100));
        }
}

/* As a worker does it, which tells of what may be there before it goes on. */
static void take_up(Model *m, uint32_t phase, bool drained, Positions *at) {
        Share share;

        m->standing->phase = phase;
        m->standing->drained = drained;
        standing_look_back(m->standing, m->plan, "write through");
        standing_end_histories(m->standing, m->plan);
        for (uint32_t k = 0; k < at->n; k++) {
                share_of(m, phase, k, &share);
                pattern_take_up(&share.plan, drained, &at->of[k]);
        }
        standing_take_up(m->standing, &m->plan->phases[phase], at);
        for (uint32_t k = 0; k < at->n; k++) {
                share_of(m, phase, k, &share);
                if (at->of[k].next_index + HISTORY_RESERVE / 2 > share.history->ceiling)
                        share.history->ceiling = at->of[k].next_index + HISTORY_RESERVE;
        }
        count_issued(m, phase, at);
}

/* The last sample was told while some were outstanding. */
static void leave_outstanding(Model *m, uint32_t phase, Positions *told, Positions *at) {
        for (uint32_t k = 0; k < at->n; k++) {
                Share share;

                share_of(m, phase, k, &share);
                for (uint64_t n = draw(m, 3); n > 0 && has_left(m, &m->plan->phases[phase], &share, at, k); n--) {
                        uint64_t index = told->of[k].next_index++;
                        PatternOp op = pattern_at(&share.pattern, index);

                        do_maybe(m, &share.plan, &op, share.number + index);
                        count_one(m, &at->of[k], k, op.length);
                }
        }
}

/* Some of those that take it up die, too, before a sample tells of it. */
static void die(Model *m, uint32_t phase) {
        Positions *told = &m->standing->phases[phase].positions, at = *told;

        leave_outstanding(m, phase, told, &at);
        do {
                do_all_unheard(m, phase, &at);
                at = *told;
                take_up(m, phase, false, &at);
        } while (draw(m, 3) == 0);
        *told = at;
}

static void run_share(Model *m, uint32_t phase, uint32_t k) {
        Positions *at = &m->standing->phases[phase].positions;
        uint64_t interruptions = draw(m, 3), fault_percent = draw(m, 2) * 5, n_ios = 40 + draw(m, 1200);
        Share share;

        share_of(m, phase, k, &share);
        for (uint64_t n = 0; n < n_ios && has_left(m, &m->plan->phases[phase], &share, at, k); n++) {
                if (interruptions > 0 && draw(m, n_ios / 2) == 0) {
                        interruptions--;
                        if (draw(m, 3) > 0)
                                die(m, phase);
                        else
                                take_up(m, phase, true, at);
                        continue;
                }
                uint64_t index = at->of[k].next_index;
                PatternOp op = pattern_at(&share.pattern, index);

                if (draw(m, 100) < fault_percent) {
                        history_add_maybe(share.history, index, index + 1);
                        do_maybe(m, &share.plan, &op, share.number + index);
                } else
                        do_certain(m, &share.plan, &op, share.number + index);
                count_one(m, &at->of[k], k, op.length);
        }
}

static void run_phase(Model *m, uint32_t phase) {
        PhaseStanding *standing = &m->standing->phases[phase];

        m->standing->phase = phase;
        standing->positions.n = m->plan->phases[phase].workers;
        count_issued(m, phase, &standing->positions);
        for (uint32_t k = 0; k < standing->positions.n; k++)
                run_share(m, phase, k);
        for (uint32_t k = 0; k < standing->positions.n; k++)
                histories_at(m->histories, phase, k)->end = standing->positions.of[k].low_index;
}

static void stand(Model *m) {
        m->standing = standing_new((uint32_t) m->plan->n_phases);
        ck_assert_ptr_nonnull(m->standing);
        ck_assert_int_eq(standing_note_plan(m->standing, m->plan), 0);
        m->standing->same_boot = true;
        m->histories = m->standing->histories;
}

static bool model_run(Model *m, uint64_t seed) {
        m->random = hash_mix64(seed);
        m->plan = make_plan(m);
        if (!m->plan)
                return false;
        stand(m);
        for (uint32_t i = 0; i < N_SECTORS * 64; i++)
                ((uint64_t *) m->drive)[i] = draw(m, 8) == 0 ? 0 : hash_mix64_2(seed, i);
        for (uint32_t s = 0; s < N_SECTORS; s++) {
                m->certain[s] = GRANULE_UNWRITTEN;
                m->is_doubtful[s] = m->has_older[s] = false;
        }
        for (uint32_t p = 0; p + 1 < m->plan->n_phases; p++)
                run_phase(m, p);
        return true;
}

static void model_end(Model *m) {
        standing_free(m->standing);
        plan_free(m->plan);
}

/* Reads the region of the read-back, by windows of any size, in pieces of n_sectors; 0: of any size. */
static void read_back_by(Model *m, Check *check, uint64_t window_granules, uint64_t n_sectors) {
        const PhasePlan *back = &m->plan->phases[m->plan->n_phases - 1];
        const Replay replay = { m->plan, m->histories, m->payload, (uint32_t) m->plan->n_phases - 1 };
        uint64_t granule_bytes = m->plan->granule_bytes, end = back->region_offset + back->region_bytes, granules[2048];
        _Atomic unsigned turn = 0;

        check_begin(check, (uint32_t) m->plan->n_phases - 1);
        for (uint64_t at = back->region_offset; at < end;) {
                Window window = { at / granule_bytes, MIN(window_granules, (uint64_t) ELEMENTSOF(granules)), granules };
                uint64_t to = MIN((window.first + window.n) * granule_bytes, end);

                ck_assert(replay_window(&replay, &window, &turn, 0));
                for (uint64_t n; at < to; at += n) {
                        n = MIN((n_sectors > 0 ? n_sectors : 1 + draw(m, 64)) * 512, to - at);
                        check_data(check, &window, m->drive + at, at, (uint32_t) n);
                }
        }
}

static void read_back(Model *m, Check *check, uint64_t window_granules) {
        read_back_by(m, check, window_granules, 0);
}

static void model_new(Model *m) {
        *m = (Model){
                .drive = aligned_alloc(64, DRIVE_BYTES), .older = aligned_alloc(64, DRIVE_BYTES),
                .data = aligned_alloc(64, MIB),
        };
        ck_assert_int_eq(payload_new(&m->payload, TAG), 0);
}

static void model_free(Model *m) {
        payload_free(m->payload);
        free(m->drive);
        free(m->older);
        free(m->data);
}

/* SPDX-License-Identifier: MIT */

/*
 * The usual case is one fill and one comparison a granule. Only where they differ is each sector looked at: its stamp
 * says of which write it claims to be, and that write is made again and compared, so that a stamp alone proves nothing.
 *
 * Blocks of 4 KiB are judged each for itself, whatever size is written and read: no write need be atomic beyond that.
 * Of smaller granules those of a block whose newest write is the same are judged together: an older one is a torn
 * write.
 */

#include "engine/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/pattern.h"
#include "spec/share.h"
#include "util/cleanup.h"
#include "util/macro.h"

#define N_CACHED 32U /* orders of shares that are ready to be asked */
#define FILL_BYTES (64U * KIB)
#define BLOCK_BYTES (4U * KIB)
#define CACHED_BYTES (8U * KIB) /* what is made and compared at a time stays in the first-level cache */

typedef struct CachedShare {
        bool is_used;
        uint32_t phase, share;
        PhasePlan plan;
        Pattern pattern;
} CachedShare;

struct Check {
        Replay replay;
        uint64_t granule_bytes;
        _Atomic uint64_t checked_bytes, n_blocks[N_MISMATCHES];
        _Atomic unsigned n_findings;
        CheckFinding findings[CHECK_N_FINDINGS_MAX];
        CheckFinding open; /* of the data that is being checked; no bytes: none */
        CachedShare cached[N_CACHED];
        uint8_t *fill;
};

int check_new(Check **ret, const Replay *replay) {
        Check *c = calloc(1, sizeof(*c));

        if (!c)
                return -ENOMEM;
        c->replay = *replay;
        c->granule_bytes = replay->plan->granule_bytes;
        c->fill = aligned_alloc(64, FILL_BYTES);
        if (!c->fill) {
                free(c);
                return -ENOMEM;
        }
        *ret = c;
        return 0;
}

Check *check_free(Check *c) {
        if (c)
                free(c->fill);
        free(c);
        return NULL;
}

void check_begin(Check *c, uint32_t n_phases) {
        c->replay.n_phases = n_phases;
        c->open.bytes = 0;
        atomic_store_explicit(&c->checked_bytes, 0, memory_order_relaxed);
        for (unsigned i = 0; i < N_MISMATCHES; i++)
                atomic_store_explicit(&c->n_blocks[i], 0, memory_order_relaxed);
        atomic_store_explicit(&c->n_findings, 0, memory_order_relaxed);
}

/* --- what a number says --- */

/* NULL if there is no such share whose writes are told. */
static const CachedShare *share_of(Check *c, uint64_t number) {
        uint32_t phase = write_number_phase(number), share = write_number_share(number);
        CachedShare *cached = &c->cached[(phase + share * 7U) % N_CACHED];

        if (cached->is_used && cached->phase == phase && cached->share == share)
                return cached;
        if (phase >= c->replay.plan->n_phases || !c->replay.plan->phases[phase].is_tracked ||
            share >= c->replay.plan->phases[phase].workers)
                return NULL;
        phase_plan_share(&cached->plan, &c->replay.plan->phases[phase], share);
        pattern_init(&cached->pattern, &cached->plan, share);
        cached->phase = phase;
        cached->share = share;
        cached->is_used = true;
        return cached;
}

/* Makes what write `number` has put to [offset, offset + n), which it covers. Else false, and nothing is made. */
static bool make_again(Check *c, uint64_t number, uint64_t offset, uint32_t n) {
        const CachedShare *share = share_of(c, number);

        if (!share)
                return false;
        PatternOp op = pattern_at(&share->pattern, write_number_index(number));

        if (op.direction != DIRECTION_WRITE || offset < op.offset || offset + n > op.offset + op.length)
                return false;
        payload_fill_part(c->replay.payload, &share->plan, c->fill, offset - op.offset, n, op.length, op.offset,
                          number);
        return true;
}

static bool has_been_submitted(const Check *c, uint64_t number) {
        const History *history = histories_at(c->replay.histories, write_number_phase(number),
                                              write_number_share(number));

        return history && write_number_index(number) < MAX(history->end, history->reach);
}

/* --- one sector --- */

typedef enum SectorState {
        SECTOR_RIGHT,
        SECTOR_LOST,
        SECTOR_CORRUPT,
        SECTOR_MISPLACED,
} SectorState;

typedef struct Sector {
        SectorState state;
        FoundKind found;
        PayloadStamp stamp;
} Sector;

static bool is_blank(const uint8_t *data, size_t n) {
        return data[0] == 0 && memcmp(data, data + 1, n - 1) == 0;
}

/* Whether some phase wrote zeros, or this piece that is alike in many places. */
static bool is_unstamped_of_run(Check *c, const uint8_t *data, const Sector *sector) {
        const Plan *plan = c->replay.plan;
        uint64_t at = sector->stamp.sector * PAYLOAD_SECTOR;

        for (uint32_t p = 0; p < plan->n_phases; p++) { /* a later one may have begun before a process died */
                const PhasePlan *phase = &plan->phases[p];

                if (!phase->is_tracked)
                        continue;
                if (phase->content.is_zero && sector->found == FOUND_ZEROS)
                        return true;
                if (phase->content.dedupe_percent == 0 || sector->found != FOUND_SHARED ||
                    sector->stamp.sector >= phase->block_bytes[DIRECTION_WRITE] / PAYLOAD_SECTOR)
                        continue;
                payload_fill_shared(c->replay.payload, phase, c->fill, at);
                if (memcmp(c->fill, data, PAYLOAD_SECTOR) == 0)
                        return true;
        }
        return false;
}

static FoundKind identify(Check *c, const uint8_t *data, uint64_t offset, const PayloadStamp *stamp) {
        bool is_in_place = stamp->sector == offset / PAYLOAD_SECTOR;

        if (is_blank(data, PAYLOAD_SECTOR))
                return FOUND_ZEROS;
        if (stamp->run_tag != payload_run_tag(c->replay.payload))
                return is_in_place && payload_stamp_is_whole(data, stamp) ? FOUND_OTHER_RUN : FOUND_OTHER;
        if (stamp->index == PAYLOAD_INDEX_SHARED)
                return FOUND_SHARED;
        if (stamp->sector > UINT64_MAX / PAYLOAD_SECTOR || !has_been_submitted(c, stamp->index) ||
            !make_again(c, stamp->index, stamp->sector * PAYLOAD_SECTOR, PAYLOAD_SECTOR))
                return FOUND_DAMAGED;
        return memcmp(c->fill, data, PAYLOAD_SECTOR) == 0 ? FOUND_WRITE : FOUND_DAMAGED;
}

/* Of a sector of a granule, where the newest certain write would not have left this. */
static Sector judge_other(Check *c, const uint8_t *data, uint64_t offset, uint64_t granule) {
        uint64_t expected = granule & ~GRANULE_MAYBE_UNSTAMPED;
        bool was_written = expected != GRANULE_UNWRITTEN;
        Sector s = { .state = SECTOR_CORRUPT };

        payload_read_stamp(data, &s.stamp);
        s.found = identify(c, data, offset, &s.stamp);
        if ((s.found == FOUND_ZEROS || s.found == FOUND_SHARED) && is_unstamped_of_run(c, data, &s)) {
                if (granule & GRANULE_MAYBE_UNSTAMPED)
                        s.state = SECTOR_RIGHT;
                else if (s.found == FOUND_SHARED)
                        s.state = was_written ? SECTOR_LOST : SECTOR_MISPLACED;
        } else if (s.found == FOUND_OTHER_RUN)
                s.state = SECTOR_LOST;
        else if (s.found == FOUND_WRITE && s.stamp.sector != offset / PAYLOAD_SECTOR)
                s.state = SECTOR_MISPLACED;
        else if (s.found == FOUND_WRITE) /* a newer one than the newest certain is a maybe */
                s.state = !was_written || s.stamp.index > expected ? SECTOR_RIGHT : SECTOR_LOST;

        /* Nothing of ours was to be there: what else is, is no matter. */
        if (!was_written && s.state != SECTOR_MISPLACED)
                s.state = SECTOR_RIGHT;
        return s;
}

/* --- blocks, and what is said of them --- */

static void close_finding(Check *c) {
        unsigned n = atomic_load_explicit(&c->n_findings, memory_order_relaxed);

        if (c->open.bytes > 0 && n < CHECK_N_FINDINGS_MAX) {
                c->findings[n] = c->open;
                atomic_store_explicit(&c->n_findings, n + 1, memory_order_release);
        }
        c->open.bytes = 0;
}

static void add_to(_Atomic uint64_t *counter, uint64_t n) {
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* One wrong block; the finding tells its first wrong sector. */
static void report(Check *c, const CheckFinding *block) {
        CheckFinding *open = &c->open;

        add_to(&c->n_blocks[block->kind], 1);
        if (open->bytes > 0 && open->kind == block->kind && open->offset + open->bytes == block->offset) {
                open->bytes += block->bytes;
                return;
        }
        close_finding(c);
        *open = *block;
}

/* Those of one write in one block: whether they are lost or torn shows when all have been seen. */
typedef struct Stretch {
        uint64_t granule, block; /* what is expected there, and where it began */
        bool has_right;
        uint64_t n_lost;
        CheckFinding lost;
} Stretch;

static void end_stretch(Check *c, Stretch *e) {
        e->lost.kind = e->has_right ? MISMATCH_TORN : MISMATCH_LOST;
        if (e->n_lost > 0) {
                add_to(&c->n_blocks[e->lost.kind], e->n_lost - 1);
                report(c, &e->lost);
        }
}

static void go_to(Check *c, Stretch *e, uint64_t granule, uint64_t offset) {
        uint64_t block = offset / BLOCK_BYTES;

        if (granule == e->granule && block == e->block)
                return;
        end_stretch(c, e);
        *e = (Stretch){ .granule = granule, .block = block };
}

/* Of a granule that is not as expected so much as lies in one block. */
static void judge_part(Check *c, Stretch *e, const uint8_t *data, uint64_t offset, uint32_t n) {
        static const Mismatch kinds[] = {
                [SECTOR_CORRUPT] = MISMATCH_CORRUPT,
                [SECTOR_MISPLACED] = MISMATCH_MISPLACED,
        };
        CheckFinding block = { .expected = e->granule & ~GRANULE_MAYBE_UNSTAMPED };
        bool is_expected[BLOCK_BYTES / PAYLOAD_SECTOR] = {};
        SectorState worst = SECTOR_RIGHT;
        uint64_t last = 0;

        if (block.expected != GRANULE_UNWRITTEN && make_again(c, block.expected, offset, n))
                for (uint32_t at = 0; at < n; at += PAYLOAD_SECTOR)
                        is_expected[at / PAYLOAD_SECTOR] = memcmp(data + at, c->fill + at, PAYLOAD_SECTOR) == 0;
        for (uint32_t at = 0; at < n; at += PAYLOAD_SECTOR) {
                Sector s = is_expected[at / PAYLOAD_SECTOR] ? (Sector){ .state = SECTOR_RIGHT } :
                                                              judge_other(c, data + at, offset + at, e->granule);

                if (s.state == SECTOR_RIGHT) {
                        e->has_right = true;
                        continue;
                }
                last = offset + at + PAYLOAD_SECTOR;
                if (s.state <= worst)
                        continue;
                worst = s.state;
                block.offset = offset + at;
                block.found = s.found;
                block.found_write = s.stamp.index;
                block.found_sector = s.stamp.sector;
        }
        if (worst == SECTOR_RIGHT)
                return;
        block.bytes = last - block.offset;
        if (worst != SECTOR_LOST) {
                block.kind = kinds[worst];
                report(c, &block);
        } else if (e->n_lost++ == 0)
                e->lost = block;
        else
                e->lost.bytes = last - e->lost.offset;
}

static bool is_right(Check *c, uint64_t granule, const uint8_t *data, uint64_t offset, uint32_t n) {
        uint64_t expected = granule & ~GRANULE_MAYBE_UNSTAMPED;

        if (expected == GRANULE_UNWRITTEN)
                return false;
        for (uint32_t at = 0, part; at < n; at += part) {
                part = MIN(n - at, (uint32_t) CACHED_BYTES);
                if (!make_again(c, expected, offset + at, part) || memcmp(c->fill, data + at, part) != 0)
                        return false;
        }
        return true;
}

static void judge_granule(Check *c, Stretch *e, const uint8_t *data, uint64_t offset, uint32_t n) {
        for (uint32_t at = 0, part; at < n; at += part) {
                part = c->granule_bytes > BLOCK_BYTES ?
                        MIN(n - at, (uint32_t) (BLOCK_BYTES - (offset + at) % BLOCK_BYTES)) : n;
                go_to(c, e, e->granule, offset + at);
                judge_part(c, e, data + at, offset + at, part);
        }
}

bool check_data(Check *c, const Window *window, const void *data, uint64_t offset, uint32_t length) {
        Stretch stretch = { .granule = GRANULE_UNKNOWN };
        uint64_t checked = 0;
        Verification before, after;

        check_result(c, &before);
        for (uint32_t at = 0; at < length;) {
                uint64_t number = (offset + at) / c->granule_bytes;
                uint64_t granule = window->granules[number - window->first];
                uint64_t end = MIN((number + 1) * c->granule_bytes, offset + length);
                uint32_t n = (uint32_t) MIN(end - offset - at, (uint64_t) FILL_BYTES);

                go_to(c, &stretch, granule, offset + at);
                if ((granule & ~GRANULE_MAYBE_UNSTAMPED) != GRANULE_UNKNOWN) {
                        const uint8_t *piece = (const uint8_t *) data + at;

                        if (is_right(c, granule, piece, offset + at, n))
                                stretch.has_right = true;
                        else
                                judge_granule(c, &stretch, piece, offset + at, n);
                        checked += (granule & ~GRANULE_MAYBE_UNSTAMPED) != GRANULE_UNWRITTEN ? n : 0;
                }
                at += n;
        }
        end_stretch(c, &stretch);
        close_finding(c);
        add_to(&c->checked_bytes, checked);
        check_result(c, &after);
        return verification_errors(&after) == verification_errors(&before);
}

void check_result(const Check *c, Verification *ret) {
        ret->checked_bytes = atomic_load_explicit(&c->checked_bytes, memory_order_relaxed);
        for (unsigned i = 0; i < N_MISMATCHES; i++)
                ret->n_blocks[i] = atomic_load_explicit(&c->n_blocks[i], memory_order_relaxed);
}

const CheckFinding *check_findings(const Check *c, unsigned *ret_n) {
        *ret_n = atomic_load_explicit(&c->n_findings, memory_order_acquire);
        return c->findings;
}

/* --- for a person --- */

#define WRITE_TEXT_MAX 96

static const char *write_text(uint64_t number, char buf[static WRITE_TEXT_MAX]) {
        if (number == GRANULE_UNWRITTEN)
                return "nothing of the run";
        snprintf(buf, WRITE_TEXT_MAX, "I/O %" PRIu64 " of phase %" PRIu32 " (ring thread %" PRIu32 ")",
                 write_number_index(number), write_number_phase(number), write_number_share(number));
        return buf;
}

char *finding_text(const CheckFinding *f) {
        static const char *const others[] = {
                [FOUND_OTHER] = "something that no write of the run made",
                [FOUND_ZEROS] = "zeros",
                [FOUND_SHARED] = "a piece that the run writes to many places (dedupe_percentage)",
                [FOUND_OTHER_RUN] = "what another run of plateau wrote there",
        };
        char expected[WRITE_TEXT_MAX], found[WRITE_TEXT_MAX], what[2 * WRITE_TEXT_MAX], *text;

        if (f->found == FOUND_WRITE)
                snprintf(what, sizeof(what), "%s, which belongs to offset %" PRIu64, write_text(f->found_write, found),
                         f->found_sector * PAYLOAD_SECTOR);
        else if (f->found == FOUND_DAMAGED)
                snprintf(what, sizeof(what), "a damaged sector that has the stamp of %s",
                         write_text(f->found_write, found));
        else
                snprintf(what, sizeof(what), "%s", others[f->found]);
        if (asprintf(&text, "%s at offset %" PRIu64 ", %" PRIu64 " bytes: expected %s, found %s",
                     mismatch_name(f->kind), f->offset, f->bytes, write_text(f->expected, expected), what) < 0)
                return NULL;
        return text;
}
